"""Chat agent that people talk through a home, and its rule-based baseline."""

POLICIES = {
    "heuristic": {"chat": "navloom.graphs.chat.baseline:heuristic_chat"},
    "random": {"chat": "navloom.graphs.chat.baseline:random_chat"},
}
"""Rule-based policies of builtin models: model -> job -> ``module:function``."""
