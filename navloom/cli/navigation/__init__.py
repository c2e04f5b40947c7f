"""``navloom eval``, ``score``, ``compare`` and ``subset``."""
