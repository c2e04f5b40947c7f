"""Scene formats: one module a format, each with ``list_ids`` and ``load``."""
