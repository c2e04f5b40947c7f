"""Command ``navloom synth``."""
