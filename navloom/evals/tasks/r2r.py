"""R2R: step-by-step instructions, three per path (Anderson et al. 2018; VLN-MME A.1, fine-grained).

    DATA/r2r/R2R_SPLIT.json           a list of paths; also read from DATA itself
    DATA/connectivity, DATA/regions   the scans, as :mod:`navloom.scenes.formats.mp3d` reads them

An episode is one instruction of one path: ``PATHID_K``, the id that submissions use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from navloom.evals.tasks.episode import TaskData
from navloom.evals.tasks.matterport import PathItem, ScanCache, build_split, read_records
from navloom.scenes.safe_files import find_file

SPLITS = ("train", "val_seen", "val_unseen")
DEFAULT_SPLIT = "val_unseen"
SOURCE = "the R2R data of peteanderson80/Matterport3DSimulator (tasks/R2R/data)"

_RECORDS = TypeAdapter(Annotated[list[PathItem], Field(min_length=1, max_length=2_000_000)])


def load(data: Path, split: str) -> TaskData:
    """Load a split.

    Args:
        data: the folder; see the module's docstring.
        split: one of ``SPLITS``.

    Returns:
        The episodes in the file's order; ``columns`` has ``item`` (the path), ``path_id``,
        ``instruction_index`` and ``path_metres``.

    Raises:
        DataError: a file is missing or broken, or has no usable episode.
    """
    path, records = read_items(data, split)
    return build_split("r2r", split, ScanCache(data), records, path)


def read_items(data: Path, split: str) -> tuple[Path, list[PathItem]]:
    """Return the path of a split's file, and its records.

    Raises:
        DataError: the file is missing or broken.
    """
    path = find_file(data, "r2r", f"R2R_{split}.json")
    return path, read_records(path, _RECORDS, source=SOURCE)
