"""``navloom judge``."""
