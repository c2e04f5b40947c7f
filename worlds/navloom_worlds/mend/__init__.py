"""Changed copies of homes: single edits, and the cheapest ones that let a body pass."""
