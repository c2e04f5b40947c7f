"""Agent that names the type of unlabelled rooms, and its baselines."""

POLICIES = {
    "heuristic": {"room_type": "navloom.graphs.annotation.room_typing:heuristic_room"},
    "random": {"room_type": "navloom.graphs.annotation.room_typing:random_room"},
}
"""Policies of the builtin models for this agent: model -> job -> ``module:function``."""
