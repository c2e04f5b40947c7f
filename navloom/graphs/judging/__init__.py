"""Judges as agents: of explanations, of reasoning steps, of failures, and of task pairs."""

POLICIES = {
    "heuristic": {
        "judge_reasoning": "navloom.graphs.judging.judge_baseline:heuristic_reasoning",
        "judge_rubric": "navloom.graphs.judging.judge_baseline:heuristic_rubric",
        "judge_preference": "navloom.graphs.judging.judge_baseline:heuristic_preference",
    },
    "random": {
        "judge_reasoning": "navloom.graphs.judging.judge_baseline:random_reasoning",
        "judge_rubric": "navloom.graphs.judging.judge_baseline:random_rubric",
        "judge_failure": "navloom.graphs.judging.judge_baseline:random_failure",
        "judge_preference": "navloom.graphs.judging.judge_baseline:random_preference",
    },
}
"""Policies of the builtin models for these agents: model -> job -> ``module:function``."""
