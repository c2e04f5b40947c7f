"""CapNav agents: one answers whether a body can get somewhere, one designs such questions."""

POLICIES = {
    "heuristic": {
        "capnav_answer": "navloom.graphs.capnav.baseline:heuristic_answer",
        "capnav_tasks": "navloom.graphs.capnav.designer_baseline:heuristic_tasks",
        "capnav_task_choice": "navloom.graphs.capnav.designer_baseline:heuristic_choice",
    },
    "random": {
        "capnav_answer": "navloom.graphs.capnav.baseline:random_answer",
        "capnav_tasks": "navloom.graphs.capnav.designer_baseline:random_tasks",
        "capnav_task_choice": "navloom.graphs.capnav.designer_baseline:random_choice",
    },
    "always-yes": {"capnav_answer": "navloom.graphs.capnav.baseline:always_yes"},
    "always-no": {"capnav_answer": "navloom.graphs.capnav.baseline:always_no"},
}
"""Rule-based policies of builtin models: model -> job -> ``module:function``."""
