"""Agents that plan for teams: any number of robots, of errands, of handoffs."""

POLICIES = {
    "heuristic": {
        "team_plan": "navloom.graphs.teams.team_baseline:heuristic_team",
        "team_choice": "navloom.graphs.teams.team_baseline:heuristic_ways",
    },
    "random": {
        "team_plan": "navloom.graphs.teams.team_baseline:random_team",
        "team_choice": "navloom.graphs.navcraft.baseline:random_choice",
    },
    "first": {"team_choice": "navloom.graphs.navcraft.baseline:first_choice"},
}
"""What builtin models do with this subject's prompts: model -> job -> ``module:function``."""
