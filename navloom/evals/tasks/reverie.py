"""REVERIE v1 and v2: go to a thing named from afar (Qi et al. 2020; VLN-MME A.1, coarse-grained).

    DATA/reverie/REVERIE_SPLIT.json   a list of targets, each with a path and 1 to 3 instructions
    DATA/reverie/BBox                 what each viewpoint sees: :mod:`navloom.evals.tasks.visible`
    DATA/connectivity, DATA/regions   the scans, as :mod:`navloom.scenes.formats.mp3d` reads them

v1 says ``distance``, ``ix`` and ``instructions_l`` besides; what both share is all that is read. An
episode is one instruction of one record: ``PATHID_OBJID_K``, the id that submissions use.

Two things count as success and are kept apart. ``goals`` is where the published path ends:
REVERIE's navigation error and VLN-MME's 3 m are measured to it. ``visible_from`` is every viewpoint
that sees the target: REVERIE's own success is to stop on one of them.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from navloom.errors import UsageError, did_you_mean
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.evals.tasks.matterport import (
    Number,
    PathItem,
    Scans,
    Sieve,
    find,
    is_blank,
    read_records,
    used,
)
from navloom.evals.tasks.visible import Target, read_visible
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene

SPLITS = ("train", "val_seen", "val_unseen")
DEFAULT_SPLIT = "val_unseen"
SOURCE = "YuankaiQi/REVERIE"

Goals = Literal["path", "visible"]


class ReverieItem(PathItem):
    """One target, the path to it and what is said of it."""

    objId: Number  # noqa: N815 - the file's own word

    @property
    def name(self) -> str:
        """``PATHID_OBJID``: unique in a split."""
        return f"{self.path_id}_{self.objId}"


_RECORDS = TypeAdapter(Annotated[list[ReverieItem], Field(min_length=1, max_length=2_000_000)])


def read_items(data: Path, split: str) -> tuple[Path, list[ReverieItem]]:
    """The records of a split, and the file they are from.

    Raises:
        DataError: the file is missing or broken.
    """
    path = find(data, "reverie", f"REVERIE_{split}.json")
    return path, read_records(path, _RECORDS, source=SOURCE)


def load(data: Path, split: str, *, goals: Goals = "path") -> TaskData:
    """Load a split.

    Args:
        data: the folder; see the module's docstring.
        split: one of ``SPLITS``.
        goals: ``"path"`` takes the end of the published path as the goal; ``"visible"`` every
            viewpoint that sees the target.

    Returns:
        The episodes in the file's order; ``columns`` has ``item``, ``path_id``, ``object``,
        ``object_name``, ``instruction_index`` and ``path_metres``.

    Raises:
        DataError: a file is missing or broken, or no episode of it can be used.
        UsageError: ``goals`` is something else.
    """
    return load_as("reverie", data, split, goals)


def load_as(task: str, data: Path, split: str, goals: Goals) -> TaskData:
    """REVERIE's episodes under the name of a task; see :func:`load`."""
    if goals not in ("path", "visible"):
        raise UsageError(
            f"goals is '{goals}': expected 'path' or 'visible'."
            + did_you_mean(goals, ("path", "visible"))
        )
    path, records = read_items(data, split)
    scans, sieve, lost = Scans(data), Sieve(), Counter[str]()
    seen = _Seen(data, sieve)
    episodes: list[Episode] = []
    for record in records:
        scene = scans.get(record.scan)
        if scene is None:
            lost[record.scan] += len(record.instructions)
            continue
        name, count = f"record {record.name}", len(record.instructions)
        metres = sieve.way(scene, record.path, name, count)
        if metres is not None:
            target = seen.target(record, scene)
            episodes += _episodes(task, record, target, metres, goals, sieve)
    sieve.lose(scans, lost)
    scenes = scans.uris(used(episodes))
    return sieve.finish(TaskData(task, split, sieve.unique(episodes), scenes), path)


class _Seen:
    """Who sees what, each scan's files read once; what is not known is noted."""

    def __init__(self, data: Path, sieve: Sieve) -> None:
        self._data = data
        self._sieve = sieve
        self._scans: dict[str, dict[int, Target] | None] = {}

    def target(self, record: ReverieItem, scene: Scene) -> Target:
        """A record's target, seen from where a way leads to."""
        scan = record.scan
        if scan not in self._scans:
            self._scans[scan] = read_visible(self._data, scan, scene.viewpoint_by_id)
        objects = self._scans[scan]
        if objects is None:
            what = f"Records of {scan}, which has no BBox file: who sees the target is not known"
            self._sieve.remark(what, record.name)
            return Target("", ())
        if record.objId not in objects:
            self._sieve.remark("Records whose target no viewpoint sees", f"{record.name} ({scan})")
            return Target("", ())
        found, table = objects[record.objId], metre_table(scene, "3d")
        near = [v for v in found.viewpoints if table.distance(record.path[0], v) < math.inf]
        return Target(found.name, tuple(near))


def _episodes(
    task: str, record: ReverieItem, target: Target, metres: float, goals: Goals, sieve: Sieve
) -> list[Episode]:
    made = []
    for k, instruction in enumerate(record.instructions):
        if is_blank(instruction):
            sieve.leave_out("an empty instruction", f"{record.name}_{k}", 1)
            continue
        made.append(
            Episode(
                id=f"{record.name}_{k}",
                task=task,
                scene=f"mp3d:{record.scan}",
                start=record.path[0],
                heading=record.heading,
                instruction=instruction.strip(),
                goals=(goals == "visible" and target.viewpoints) or (record.path[-1],),
                path=tuple(record.path),
                visible_from=target.viewpoints,
                columns={
                    "item": record.name,
                    "path_id": record.path_id,
                    "object": record.objId,
                    "object_name": target.name,
                    "instruction_index": k,
                    "path_metres": round(metres, 4),
                },
            )
        )
    return made
