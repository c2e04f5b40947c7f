"""Whether a body may use a passage: annotated, by rule, and driven."""
