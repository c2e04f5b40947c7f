"""Studies with human raters: forms, assignment of items, ratings, and agreement."""
