"""Commands ``navloom eval``, ``score``, ``compare`` and ``subset``."""
