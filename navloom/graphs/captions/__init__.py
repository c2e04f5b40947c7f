"""The agent that writes captions for every viewpoint of a scene, and its baseline."""

POLICIES = {
    "heuristic": {
        "marker_captions": "navloom.graphs.captions.baseline:heuristic_markers",
        "viewpoint_summary": "navloom.graphs.captions.baseline:heuristic_summary",
    },
    "random": {
        "marker_captions": "navloom.graphs.captions.baseline:random_markers",
        "viewpoint_summary": "navloom.graphs.captions.baseline:random_summary",
    },
}
"""What builtin models do with this subject's prompts: model -> job -> ``module:function``."""
