"""CapNav: its benchmark as runs, its scores by both sets of rules, and questions by the batch."""
