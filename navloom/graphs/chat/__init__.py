"""The robot that is talked through a home, and its rule-based baseline."""
