"""REVERIE's episodes for agents that may ask (VLNVerse 5.4): the same words, places and ids.

What differs is the run: there is an oracle to answer. Scores compare with REVERIE's one to one.
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
        data: the folder REVERIE lies in.
        split: one of ``SPLITS``.
        goals: ``"path"`` or ``"visible"``.

    Raises:
        DataError: a file is missing or broken, or no episode of it can be used.
        UsageError: ``goals`` is something else.
    """
    return load_as("dialogue", data, split, goals)
