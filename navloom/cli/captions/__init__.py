"""Command ``navloom caption``."""
