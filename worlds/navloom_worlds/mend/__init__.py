"""Modified copies of homes: single edits, and the cheapest edits that let a body pass."""
