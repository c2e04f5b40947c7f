"""Datasets: one file each, with ``SPLITS`` and ``load(data, split, ...)``; see ``registry``."""
