"""REVERIE's episodes for agents that may ask (VLNVerse 5.4), with the same instructions and ids.

Only the run differs: an oracle answers questions. Scores compare directly with REVERIE's.
"""

from __future__ import annotations

from pathlib import Path

from navloom.evals.tasks import reverie
from navloom.evals.tasks.episode import TaskData
from navloom.evals.tasks.reverie import Goals, load_as

SPLITS, DEFAULT_SPLIT, SOURCE = reverie.SPLITS, reverie.DEFAULT_SPLIT, reverie.SOURCE


def load(data: Path, split: str, *, goals: Goals = "path") -> TaskData:
    """Load a split; see :func:`navloom.evals.tasks.reverie.load`.

    Args:
        data: the folder of REVERIE's files.
        split: one of ``SPLITS``.
        goals: ``"path"`` or ``"visible"``.

    Raises:
        DataError: a file is missing or broken, or has no usable episode.
        UsageError: ``goals`` is another value.
    """
    return load_as("dialogue", data, split, goals)
