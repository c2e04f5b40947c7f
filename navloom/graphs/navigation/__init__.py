"""Navigator and oracle graphs, with rule-based baselines of both."""

POLICIES = {
    "heuristic": {
        "navigator": "navloom.graphs.navigation.baseline.policy:heuristic_navigator",
        "oracle": "navloom.graphs.navigation.baseline.policy:heuristic_oracle",
        "which_thing": "navloom.graphs.navigation.pointing:heuristic_thing",
    },
    "heuristic-no-length": {
        "navigator": "navloom.graphs.navigation.baseline.policy:no_length_navigator",
        "oracle": "navloom.graphs.navigation.baseline.policy:heuristic_oracle",
    },
    "random": {
        "navigator": "navloom.graphs.navigation.baseline.policy:random_navigator",
        "oracle": "navloom.graphs.navigation.baseline.policy:random_oracle",
        "which_thing": "navloom.graphs.navigation.pointing:random_thing",
    },
    "human": {
        "navigator": "navloom.graphs.navigation.baseline.policy:walking_person",
        "oracle": "navloom.graphs.navigation.baseline.policy:ask_person",
        "which_thing": "navloom.graphs.navigation.baseline.policy:pointing_person",
    },
}
"""Rule-based policies of builtin models: model -> job -> ``module:function``."""
