"""NavCraft agents: NavCraft-S designs single-robot errands, NavCraft-C turns them into relays.

A third designs both at once, as the paper tried before (A.13).
"""

_CHOICES = (
    *("errand_object", "errand_end", "errand_fits", "errand_room", "errand_start"),
    "relay_choice",
)
POLICIES = {
    "heuristic": {
        "phase_1": "navloom.graphs.navcraft.baseline:heuristic_single",
        "phase_2": "navloom.graphs.navcraft.baseline:heuristic_collab",
        **dict.fromkeys(_CHOICES, "navloom.graphs.navcraft.baseline:heuristic_choice"),
        "direct_v1": "navloom.graphs.navcraft.direct_baseline:heuristic_v1",
        "direct_v2": "navloom.graphs.navcraft.direct_baseline:heuristic_v2",
    },
    "random": {
        "phase_1": "navloom.graphs.navcraft.baseline:random_single",
        "phase_2": "navloom.graphs.navcraft.baseline:random_collab",
        **dict.fromkeys(_CHOICES, "navloom.graphs.navcraft.baseline:random_choice"),
        "direct_v1": "navloom.graphs.navcraft.direct_baseline:random_v1",
        "direct_v2": "navloom.graphs.navcraft.direct_baseline:random_v2",
    },
    "first": dict.fromkeys(_CHOICES, "navloom.graphs.navcraft.baseline:first_choice"),
}
"""Rule-based policies of builtin models: model -> job -> ``module:function``."""
