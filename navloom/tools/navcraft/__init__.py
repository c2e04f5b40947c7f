"""The planner's tools: paths, relays and their exact worth (CoNavBench 3.1, A.10, A.11)."""
