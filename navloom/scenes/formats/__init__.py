"""Where scenes come from: one file a format, each with ``list_ids`` and ``load``."""
