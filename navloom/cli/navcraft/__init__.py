"""``navloom synth``."""
