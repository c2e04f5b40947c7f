"""Tasks, metrics and runs. Floor 5: uses everything below."""
