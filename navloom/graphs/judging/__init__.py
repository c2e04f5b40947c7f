"""Judges as agents: of reasons, of a navigator's steps and failures, and of two tasks."""

POLICIES = {
    "heuristic": {
        "judge_reasoning": "navloom.graphs.judging.baseline:heuristic_reasoning",
        "judge_rubric": "navloom.graphs.judging.baseline:heuristic_rubric",
        "judge_preference": "navloom.graphs.judging.baseline:heuristic_preference",
    },
    "random": {
        "judge_reasoning": "navloom.graphs.judging.baseline:random_reasoning",
        "judge_rubric": "navloom.graphs.judging.baseline:random_rubric",
        "judge_failure": "navloom.graphs.judging.baseline:random_failure",
        "judge_preference": "navloom.graphs.judging.baseline:random_preference",
    },
}
"""What builtin models do with this subject's prompts: model -> job -> ``module:function``."""
