"""The agent that names rooms nobody named, and its rule-based baseline."""
