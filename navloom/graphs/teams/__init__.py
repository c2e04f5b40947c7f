"""Agents that plan for teams: any number of robots, of errands, of handoffs."""

POLICIES = {
    "heuristic": {"team_plan": "navloom.graphs.teams.team_baseline:heuristic_team"},
    "random": {"team_plan": "navloom.graphs.teams.team_baseline:random_team"},
}
"""What builtin models do with this subject's prompts: model -> job -> ``module:function``."""
