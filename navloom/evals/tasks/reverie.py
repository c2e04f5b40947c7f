"""REVERIE v1 and v2: find a remote object (Qi et al. 2020; VLN-MME A.1, coarse-grained).

    DATA/reverie/REVERIE_SPLIT.json   a list of targets, each with a path and 1 to 3 instructions
    DATA/reverie/BBox                 objects seen from each viewpoint; see :func:`read_visible`
    DATA/connectivity, DATA/regions   the scans, as :mod:`navloom.scenes.formats.mp3d` reads them

v1 also has ``distance``, ``ix`` and ``instructions_l``; only fields of both versions are read. An
episode is one instruction of one record: ``PATHID_OBJID_K``, the id that submissions use.

There are two criteria of success. ``goals`` is the end of the published path: REVERIE's navigation
error and VLN-MME's 3 m are measured to it. ``visible_from`` holds every viewpoint that sees the
target: REVERIE's own success is to stop at one of them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from navloom.errors import UsageError, did_you_mean
from navloom.evals.tasks import matterport
from navloom.evals.tasks.episode import TaskData
from navloom.scenes.distances import metre_table
from navloom.scenes.safe_files import find_file
from navloom.scenes.scene import Scene
from navloom.tools.navigation.visible_objects import VisibleObject

SPLITS = ("train", "val_seen", "val_unseen")
DEFAULT_SPLIT = "val_unseen"
SOURCE = "YuankaiQi/REVERIE"

Goals = Literal["path", "visible"]


class ReverieItem(matterport.PathItem):
    """One target, its path and its instructions."""

    objId: matterport.Number  # noqa: N815 - the file's own word

    @property
    def name(self) -> str:
        """``PATHID_OBJID``: unique in a split."""
        return f"{self.path_id}_{self.objId}"


_RECORDS = TypeAdapter(Annotated[list[ReverieItem], Field(min_length=1, max_length=2_000_000)])


def read_items(data: Path, split: str) -> tuple[Path, list[ReverieItem]]:
    """Return the path of a split's file, and its records.

    Raises:
        DataError: the file is missing or broken.
    """
    path = find_file(data, "reverie", f"REVERIE_{split}.json")
    return path, matterport.read_records(path, _RECORDS, source=SOURCE)


def load(data: Path, split: str, *, goals: Goals = "path", grounding: bool = True) -> TaskData:
    """Load a split.

    Args:
        data: the folder; see the module's docstring.
        split: one of ``SPLITS``.
        goals: ``"path"`` takes the end of the published path as the goal; ``"visible"`` every
            viewpoint that sees the target.
        grounding: whether to add the objects that each viewpoint sees, so that the agent is asked
            at the end which object is meant.

    Returns:
        The episodes in the file's order; ``columns`` has ``item``, ``path_id``, ``object``,
        ``object_name``, ``instruction_index`` and ``path_metres``.

    Raises:
        DataError: a file is missing or broken, or has no usable episode.
        UsageError: ``goals`` is another value.
    """
    return load_as("reverie", data, split, goals, grounding=grounding)


def load_as(
    task: str, data: Path, split: str, goals: Goals, *, grounding: bool = False
) -> TaskData:
    """Load REVERIE's episodes under the name of a task; see :func:`load`."""
    if goals not in ("path", "visible"):
        raise UsageError(
            f"goals is '{goals}': expected 'path' or 'visible'."
            + did_you_mean(goals, ("path", "visible"))
        )
    path, records = read_items(data, split)
    seen = _TargetLookup(data, goals)
    made = matterport.build_split(
        task, split, matterport.ScanCache(data), records, path, what="record", more=seen.fields
    )
    return replace(made, things=seen.things()) if grounding else made


class _TargetLookup:
    """Lookup of the viewpoints that see a record's target; unknown ones are noted."""

    def __init__(self, data: Path, goals: Goals) -> None:
        self._data = data
        self._goals = goals
        self._scans: dict[str, dict[int, matterport.BBoxObject] | None] = {}

    def fields(
        self, record: ReverieItem, scene: Scene, sieve: matterport.EpisodeFilter
    ) -> dict[str, Any]:
        """Return the target fields of a record's episodes."""
        target = self._target(record, scene, sieve)
        return {
            "goals": (self._goals == "visible" and target.viewpoints) or (record.path[-1],),
            "visible_from": target.viewpoints,
            "columns": {"object": record.objId, "object_name": target.name},
        }

    def things(self) -> dict[str, dict[str, list[VisibleObject]]]:
        """Return the visible objects by scene and viewpoint, of scans that have a BBox file."""
        found: dict[str, dict[str, list[VisibleObject]]] = {}
        for scan, objects in self._scans.items():
            if objects is None:
                continue
            places = found.setdefault(f"mp3d:{scan}", {})
            for number, target in objects.items():
                for viewpoint, heading in target.headings.items():
                    thing = VisibleObject(id=str(number), name=target.name, heading=heading)
                    places.setdefault(viewpoint, []).append(thing)
        return found

    def _target(
        self, record: ReverieItem, scene: Scene, sieve: matterport.EpisodeFilter
    ) -> matterport.BBoxObject:
        """Return a record's target with the viewpoints that are reachable from the start."""
        scan = record.scan
        if scan not in self._scans:
            self._scans[scan] = matterport.read_visible(self._data, scan, scene.viewpoint_by_id)
        objects = self._scans[scan]
        if objects is None:
            what = f"Records of {scan}, which has no BBox file: who sees the target is not known"
            sieve.note_oddity(what, record.name)
            return matterport.BBoxObject("", {})
        if record.objId not in objects:
            sieve.note_oddity("Records whose target no viewpoint sees", f"{record.name} ({scan})")
            return matterport.BBoxObject("", {})
        found, table = objects[record.objId], metre_table(scene, "3d")
        start = record.path[0]
        near = {v: h for v, h in found.headings.items() if table.distance(start, v) < math.inf}
        return matterport.BBoxObject(found.name, near)
