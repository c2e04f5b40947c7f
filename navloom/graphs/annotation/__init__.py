"""The agent that names rooms nobody named, and its rule-based baseline."""

POLICIES = {
    "heuristic": {"room_type": "navloom.graphs.annotation.room_typing:heuristic_room"},
    "random": {"room_type": "navloom.graphs.annotation.room_typing:random_room"},
}
"""What builtin models do with this subject's prompts: model -> job -> ``module:function``."""
