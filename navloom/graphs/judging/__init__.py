"""Judges as agents: of reasons why a way is blocked, of a navigator's steps and of its failures."""

POLICIES = {
    "heuristic": {
        "judge_reasoning": "navloom.graphs.judging.baseline:heuristic_reasoning",
        "judge_rubric": "navloom.graphs.judging.baseline:heuristic_rubric",
    },
    "random": {
        "judge_reasoning": "navloom.graphs.judging.baseline:random_reasoning",
        "judge_rubric": "navloom.graphs.judging.baseline:random_rubric",
        "judge_failure": "navloom.graphs.judging.baseline:random_failure",
    },
}
"""What builtin models do with this subject's prompts: model -> job -> ``module:function``."""
