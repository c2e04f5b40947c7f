"""The agent that writes captions for every viewpoint of a scene, and its baseline."""

POLICIES = {
    "heuristic": {
        "marker_captions": "navloom.graphs.captions.captioner:heuristic_markers",
        "viewpoint_summary": "navloom.graphs.captions.captioner:heuristic_summary",
    },
    "random": {
        "marker_captions": "navloom.graphs.captions.captioner:random_markers",
        "viewpoint_summary": "navloom.graphs.captions.captioner:random_summary",
    },
}
"""What builtin models do with this subject's prompts: model -> job -> ``module:function``."""
