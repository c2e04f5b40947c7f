"""Planner tools: paths, relays and their exact quality (CoNavBench 3.1, A.10, A.11)."""
