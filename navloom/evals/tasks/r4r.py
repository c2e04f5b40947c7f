"""R4R: pairs of R2R paths joined to one (Jain et al. 2019, "Stay on the Path").

    DATA/r2r/R2R_SPLIT.json   R2R's own file: R4R has none and is generated from it
    DATA/connectivity         the scans, as :mod:`navloom.scenes.formats.mp3d` reads them

The rule is that of google-research's ``r4r_generate_data.py``, which gave the published figures.
Scans come in the order of their first record. In each scan every ordered pair of paths is joined if
the shortest path from the end of the first to the start of the second is at most ``REACH_M`` long
(3-D edge lengths). This shortest path goes between them; the heading is the first path's. Each
instruction of the first is put before each of the second, with nothing between. Joined paths are
numbered from 0 in this order. Ids equal the published ones if the file is complete and every scan
is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from navloom.errors import DataError
from navloom.evals.tasks import r2r
from navloom.evals.tasks.episode import TaskData
from navloom.evals.tasks.matterport import EpisodeFilter, PathItem, ScanCache, build_split
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene

SPLITS, DEFAULT_SPLIT, SOURCE = r2r.SPLITS, r2r.DEFAULT_SPLIT, r2r.SOURCE
REACH_M = 3.0
"""Largest path length, in metres, from the end of the first path to the start of the second."""


class JoinedPath(PathItem):
    """Two R2R paths joined to one; ``path_id`` is its own number."""

    first: int
    second: int
    """R2R's numbers of both paths."""


def load(data: Path, split: str) -> TaskData:
    """Build a split from R2R's file.

    Args:
        data: the folder; see the module's docstring.
        split: one of ``SPLITS``.

    Returns:
        Episodes ``PATHID_K``, in the published order; ``columns`` has ``item`` (the joined path),
        ``path_id``, ``first_path_id``, ``second_path_id``, ``instruction_index``, ``path_metres``.

    Raises:
        DataError: a file is missing or broken, or has no two paths that can be joined.
    """
    path, records = r2r.read_items(data, split)
    scans = ScanCache(data)
    pairs = [*join_paths(records, scans)]
    missing = [f"{scan} ({why.removesuffix('.')})" for scan, why in scans.missing.items()]
    if not pairs:
        raise DataError(
            f"{path}: no two of its {len(records)} paths can be joined: in no scan does one end"
            f" within {REACH_M:g} m of where another starts"
            + (f"; not loaded: {missing[0]}" if missing else "")
        )
    made = build_split("r4r", split, scans, pairs, path, what="joined path", more=_of_both)
    lost = f"Scans that cannot be loaded, whose paths are not joined: {', '.join(missing)}."
    return replace(made, notes=(*made.notes, lost)) if missing else made


def join_paths(records: Sequence[PathItem], scans: ScanCache) -> Iterator[JoinedPath]:
    """Yield the joined paths of R2R's records, scan after scan; see the module's docstring.

    A scan that cannot be loaded gives no paths and is listed in ``scans.missing``. A path whose end
    or start is no viewpoint of its scan is not joined there.
    """
    by_scan: dict[str, list[PathItem]] = {}
    for record in records:
        by_scan.setdefault(record.scan, []).append(record)
    number = 0
    for scan, paths in by_scan.items():
        scene = scans.get(scan)
        for first, second, way in _ways(paths, scene) if scene else ():
            yield JoinedPath(
                scan=scan,
                path_id=number,
                path=[*first.path[:-1], *way, *second.path[1:]],
                heading=first.heading,
                instructions=[a + b for a in first.instructions for b in second.instructions],
                first=first.path_id,
                second=second.path_id,
            )
            number += 1


def _ways(
    paths: Sequence[PathItem], scene: Scene
) -> Iterator[tuple[PathItem, PathItem, Sequence[str]]]:
    """Yield pairs of paths with the shortest path from the end of one to the start of the other."""
    table = metre_table(scene, "3d")
    starts = [(each, each.path[0]) for each in paths if each.path[0] in table.index]
    for first in paths:
        end = first.path[-1]
        for second, start in starts if end in table.index else ():
            way = table.path(end, start) if table.distance(end, start) <= REACH_M else None
            if way is not None:
                yield first, second, way


def _of_both(record: JoinedPath, _: Scene, __: EpisodeFilter) -> dict[str, Any]:
    return {"columns": {"first_path_id": record.first, "second_path_id": record.second}}
