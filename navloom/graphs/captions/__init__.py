"""Agent that writes captions for all viewpoints of a scene, and its baselines."""

POLICIES = {
    "heuristic": {
        "marker_captions": "navloom.graphs.captions.caption_baseline:heuristic_markers",
        "viewpoint_summary": "navloom.graphs.captions.caption_baseline:heuristic_summary",
    },
    "random": {
        "marker_captions": "navloom.graphs.captions.caption_baseline:random_markers",
        "viewpoint_summary": "navloom.graphs.captions.caption_baseline:random_summary",
    },
}
"""Policies of the builtin models for this agent: model -> job -> ``module:function``."""
