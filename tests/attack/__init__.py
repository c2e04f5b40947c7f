"""Attacks on the product: ``python -m tests.attack`` prints one counted row per attack."""
