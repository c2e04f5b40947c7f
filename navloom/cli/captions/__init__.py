"""``navloom caption``."""
