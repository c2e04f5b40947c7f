"""Command ``navloom judge``."""
