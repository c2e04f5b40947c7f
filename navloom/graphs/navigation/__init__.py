"""The navigator and the oracle that it may ask, with the rule-based baselines of both."""
