"""R2R: three step-by-step instructions a path (Anderson et al. 2018; VLN-MME A.1, fine-grained).

    DATA/r2r/R2R_SPLIT.json           a list of paths; also read from DATA itself
    DATA/connectivity, DATA/regions   the scans, as :mod:`navloom.scenes.formats.mp3d` reads them

An episode is one instruction of one path: ``PATHID_K``, the id that submissions use.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from navloom.evals.tasks.episode import Episode, TaskData
from navloom.evals.tasks.matterport import (
    PathItem,
    Scans,
    Sieve,
    find,
    is_blank,
    read_records,
    used,
)

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
        DataError: a file is missing or broken, or no episode of it can be used.
    """
    path = find(data, "r2r", f"R2R_{split}.json")
    records = read_records(path, _RECORDS, source=SOURCE)
    scans, sieve, lost = Scans(data), Sieve(), Counter[str]()
    episodes: list[Episode] = []
    for record in records:
        scene = scans.get(record.scan)
        if scene is None:
            lost[record.scan] += len(record.instructions)
            continue
        name = f"path {record.path_id}"
        metres = sieve.way(scene, record.path, name, len(record.instructions))
        if metres is not None:
            episodes += _episodes(record, metres, sieve)
    sieve.lose(scans, lost)
    scenes = scans.uris(used(episodes))
    return sieve.finish(TaskData("r2r", split, sieve.unique(episodes), scenes), path)


def _episodes(record: PathItem, metres: float, sieve: Sieve) -> list[Episode]:
    made = []
    for k, instruction in enumerate(record.instructions):
        name = f"{record.path_id}_{k}"
        if is_blank(instruction):
            sieve.leave_out("an empty instruction", name, 1)
            continue
        made.append(
            Episode(
                id=name,
                task="r2r",
                scene=f"mp3d:{record.scan}",
                start=record.path[0],
                heading=record.heading,
                instruction=instruction.strip(),
                goals=(record.path[-1],),
                path=tuple(record.path),
                columns={
                    "item": str(record.path_id),
                    "path_id": record.path_id,
                    "instruction_index": k,
                    "path_metres": round(metres, 4),
                },
            )
        )
    return made
