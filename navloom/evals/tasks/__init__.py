"""Datasets, one module each, with ``SPLITS`` and ``load(data, split, ...)``; see ``registry``."""
