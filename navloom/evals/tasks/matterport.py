"""Matterport scans and records of datasets: load, validate, and note what is left out.

Records that are left out, and records that are kept but odd, are counted and named in the notes of
the task. A file that is missing, too large or invalid is refused in one line that names its source.

REVERIE's boxes give the objects that each viewpoint sees (Qi et al. 2020):

    DATA/reverie/BBox/SCAN.json              one file a scan, or as published
    DATA/reverie/BBox/SCAN_VIEWPOINT.json    one file a viewpoint

Both hold viewpoint -> object number -> ``name``, ``visible_pos`` (which of the 36 views show it)
and ``bbox2d``. An object is listed within 3 m; it is seen if ``visible_pos`` is not empty, which is
REVERIE's own criterion of success.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from navloom.errors import DataError, SceneError
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.files import join_some
from navloom.scenes.distances import metre_table, scene_cached
from navloom.scenes.formats.mp3d import load
from navloom.scenes.safe_files import read_json
from navloom.scenes.scene import Scene, distance_3d

_SHOWN = 5


class ScanCache:
    """The Matterport scans of a folder, each loaded on first use.

    Args:
        data: the folder; :mod:`navloom.scenes.formats.mp3d` describes its files.

    Attributes:
        missing: the reason why a scan could not be loaded, by its name.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.missing: dict[str, str] = {}
        self._scenes: dict[str, Scene] = {}

    def get(self, scan: str) -> Scene | None:
        """Return a scan; None if it cannot be loaded, with the reason in ``missing``."""
        if scan not in self._scenes and scan not in self.missing:
            try:
                self._scenes[scan] = load(self.data, scan)
            except SceneError as error:
                self.missing[scan] = str(error)
        return self._scenes.get(scan)

    @property
    def without_rooms(self) -> list[str]:
        """The loaded scans whose rooms are unknown."""
        return [name for name, scene in self._scenes.items() if not scene.regions]

    def uris(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the URIs of some scans, by portable name."""
        return {f"mp3d:{name}": f"mp3d:{self.data}/{name}" for name in names}


class EpisodeFilter:
    """Counts of a dataset's records that are left out or odd, and the notes about them."""

    def __init__(self) -> None:
        self._left: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._odd: dict[str, list[str]] = defaultdict(list)

    def leave_out(self, why: str, name: str, episodes: int) -> None:
        """Add to the count of episodes that are left out for a reason.

        Args:
            why: the reason.
            name: the dataset's record that they belong to: a path, an episode or a scan.
            episodes: how many they are.
        """
        self._left[why][name] += episodes

    def note_oddity(self, what: str, name: str) -> None:
        """Note that the record ``name`` is kept but odd, and why."""
        self._odd[what].append(name)

    def notes(self) -> tuple[str, ...]:
        """Return a line for each reason, with its count and its first names."""
        left = [
            f"{sum(names.values())} episodes are left out: {why}: {join_some([*names], _SHOWN)}."
            for why, names in self._left.items()
        ]
        odd = [f"{what} ({len(n)}): {join_some(n, _SHOWN)}." for what, n in self._odd.items()]
        return (*left, *odd)

    def finish(self, data: TaskData, where: Path) -> TaskData:
        """Return the task with these notes added to its own.

        Raises:
            DataError: no episode is left.
        """
        notes = self.notes()
        if not data.episodes:
            why = notes[0] if notes else "it holds none."
            raise DataError(f"{where}: expected at least one episode that can be used; {why}")
        return replace(data, notes=(*data.notes, *notes))

    def note_missing(self, scans: ScanCache, lost: Mapping[str, int]) -> None:
        """Note the episodes of scans that could not be loaded, and scans without rooms.

        Args:
            scans: the scans.
            lost: scan -> how many episodes it would have had.
        """
        for scan in scans.without_rooms:
            what = "Scans whose rooms are unknown, with no .house and no place in the region file"
            self.note_oddity(what, scan)
        for scan, episodes in lost.items():
            why = f"the scan cannot be loaded ({scans.missing[scan].removesuffix('.')})"
            self.leave_out(why, scan, episodes)

    def unique(self, episodes: Sequence[Episode]) -> tuple[Episode, ...]:
        """Return the episodes without those that repeat an id; repeats are noted."""
        kept: dict[str, Episode] = {}
        for episode in episodes:
            if episode.id in kept:
                self.leave_out("an id that stands twice", episode.id, 1)
            kept.setdefault(episode.id, episode)
        return tuple(kept.values())

    def way(self, scene: Scene, path: Sequence[str], name: str, episodes: int) -> float | None:
        """Check a published path against its scan; return its length if it is kept.

        A path with a step between viewpoints that no edge joins is kept and noted. A path with an
        unknown viewpoint, or whose goal is not reachable, is left out.

        Args:
            scene: the scan.
            path: viewpoints.
            name: the record's name, for the notes.
            episodes: the number of its episodes.

        Returns:
            Its length in metres, between cameras as R2R measures; None if it is left out.
        """
        unknown = [viewpoint for viewpoint in path if viewpoint not in scene.viewpoint_by_id]
        if unknown:
            where = f"{name} ({scene.id} {unknown[0]})"
            self.leave_out("a viewpoint that is not in the scan's graph", where, episodes)
            return None
        if metre_table(scene, "3d").path(path[0], path[-1]) is None:
            self.leave_out("no way from the start to the goal", f"{name} ({scene.id})", episodes)
            return None
        graph = scene_cached(scene, "navigation_graph", scene.navigation_graph)
        gap = next((f"{a}-{b}" for a, b in pairwise(path) if not graph.has_edge(a, b)), None)
        if gap is not None:
            self.note_oddity("Paths with a step along no edge", f"{name} ({scene.id} {gap})")
        return path_metres(scene, path)


def path_metres(scene: Scene, path: Sequence[str]) -> float:
    """Return the length of a path of viewpoints, in metres between their positions (3-D)."""
    at = scene.viewpoint_by_id
    return sum(distance_3d(at[a].position, at[b].position) for a, b in pairwise(path))


T = TypeVar("T")

MOST_BYTES = 200_000_000
"""R2R's train split has 10 MB, its augmented form 110 MB."""
MATTERPORT_ID = r"^[A-Za-z0-9]{1,40}$"
"""Pattern of a scan or viewpoint id: safe as a file name."""

Scan = Annotated[str, Field(pattern=MATTERPORT_ID)]
ViewpointId = Annotated[str, Field(pattern=MATTERPORT_ID)]
Number = Annotated[int, Field(ge=0, lt=10**12)]
Instruction = Annotated[str, Field(max_length=20_000)]


class PathItem(BaseModel):
    """Fields that R2R and REVERIE records share; other fields are ignored.

    R2R's ``distance`` is ignored as well: it is wrong by up to 3.7 m.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    scan: Scan
    path_id: Number
    path: Annotated[list[ViewpointId], Field(min_length=1, max_length=1000)]
    heading: Annotated[float, Field(ge=-7, le=7, allow_inf_nan=False)]
    """Radians, clockwise from our -z: R2R's frame and ours agree."""
    instructions: Annotated[list[Instruction], Field(min_length=1, max_length=1000)]

    @property
    def name(self) -> str:
        """The name of the record's episodes, unique in a split: here ``PATHID``."""
        return str(self.path_id)


def is_blank(instruction: str) -> bool:
    r"""Check whether an instruction has no visible character.

    >>> is_blank(" \u200b\n"), is_blank("Go.")
    (True, False)
    """
    return not any(c.isprintable() and not c.isspace() for c in instruction)


def read_records(path: Path, adapter: TypeAdapter[T], *, source: str) -> T:
    """Read and validate a dataset's JSON file.

    Args:
        path: the file.
        adapter: validates its content.
        source: the file's origin, for the message if it is missing.

    Raises:
        DataError: the file is missing (the message says where it comes from), too large or not
            JSON, or a record is not as expected (the message has its index and its field).
    """
    if not path.is_file():
        raise DataError(
            f"{path}: there is no such file. It comes from {source}; docs/datasets.md says how "
            "to get it and where to put it."
        )
    try:
        return read_json(path, adapter, most=MOST_BYTES)
    except SceneError as error:
        raise DataError(str(error)) from error


P = TypeVar("P", bound=PathItem)


def build_split(
    task: str,
    split: str,
    scans: ScanCache,
    records: Iterable[P],
    where: Path,
    *,
    what: str = "path",
    more: Callable[[P, Scene, EpisodeFilter], Mapping[str, Any]] | None = None,
) -> TaskData:
    """Build a split from records with a path each: one episode for each instruction, in order.

    Args:
        task: the dataset's name.
        split: the split's name.
        scans: the scans of the paths.
        records: the records of the file.
        where: the file, for a message.
        what: the noun for a record in notes.
        more: further fields of a record's episodes; its ``columns`` go between ``path_id`` and
            ``instruction_index``.

    Raises:
        DataError: no episode is usable.
    """
    sieve, lost = EpisodeFilter(), Counter[str]()
    episodes: list[Episode] = []
    for record in records:
        scene = scans.get(record.scan)
        if scene is None:
            lost[record.scan] += len(record.instructions)
            continue
        metres = sieve.way(scene, record.path, f"{what} {record.name}", len(record.instructions))
        if metres is not None:
            own = dict(more(record, scene, sieve)) if more else {}
            episodes += _told(task, record, metres, own, sieve)
    sieve.note_missing(scans, lost)
    scenes = scans.uris(list(dict.fromkeys(e.scene.removeprefix("mp3d:") for e in episodes)))
    return sieve.finish(TaskData(task, split, sieve.unique(episodes), scenes), where)


def _told(
    task: str, record: PathItem, metres: float, own: Mapping[str, Any], sieve: EpisodeFilter
) -> Iterator[Episode]:
    for k, instruction in enumerate(record.instructions):
        name = f"{record.name}_{k}"
        if is_blank(instruction):
            sieve.leave_out("an empty instruction", name, 1)
            continue
        fields = {
            "goals": (record.path[-1],),
            **own,
            "columns": {
                "item": record.name,
                "path_id": record.path_id,
                **own.get("columns", {}),
                "instruction_index": k,
                "path_metres": round(metres, 4),
            },
        }
        yield Episode(
            id=name,
            task=task,
            scene=f"mp3d:{record.scan}",
            start=record.path[0],
            heading=record.heading,
            instruction=instruction.strip(),
            path=tuple(record.path),
            **fields,
        )


SOURCE = "the BBox files of YuankaiQi/REVERIE"
_FOLDERS = ("reverie/BBox", "reverie/bbox", "BBox", "bbox")
_MOST_FILES = 10_000


class _BBoxEntry(TypedDict):
    name: Annotated[str, Field(max_length=200)]
    visible_pos: Annotated[list[Annotated[int, Field(ge=0, lt=36)]], Field(max_length=36)]


_ObjectNumber = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
_BOXES = TypeAdapter(dict[ViewpointId, dict[_ObjectNumber, _BBoxEntry]])


@dataclass(frozen=True)
class BBoxObject:
    """An object of a scan, with the viewpoints that see it.

    Attributes:
        name: as in the source, with spaces instead of ``#``; untrusted.
        headings: the heading from each viewpoint that sees it, in the file's order: the mean of the
            views that show it, radians clockwise from -z.
    """

    name: str
    headings: Mapping[str, float]

    @property
    def viewpoints(self) -> tuple[str, ...]:
        """The viewpoints that see the object."""
        return tuple(self.headings)


def read_visible(data: Path, scan: str, among: Collection[str]) -> dict[int, BBoxObject] | None:
    """Read the objects of a scan that some viewpoint sees, from REVERIE's BBox files.

    Args:
        data: the dataset's folder.
        scan: the scan.
        among: the viewpoints to consider: those of the scan's graph.

    Returns:
        Targets by object number; None if there is no file for the scan.

    Raises:
        DataError: a file is broken.
    """
    names: dict[int, str] = {}
    seers: dict[int, dict[str, float]] = {}
    files = _files(data, scan)
    for path in files:
        for viewpoint, objects in read_records(path, _BOXES, source=SOURCE).items():
            for number, seen in objects.items():
                if seen["visible_pos"] and viewpoint in among:
                    names.setdefault(int(number), seen["name"].replace("#", " ").strip())
                    lies = _heading(seen["visible_pos"])
                    seers.setdefault(int(number), {}).setdefault(viewpoint, lies)
    if not files:
        return None
    return {number: BBoxObject(names[number], seers[number]) for number in seers}


def _heading(views: Sequence[int]) -> float:
    """Return the mean heading of some of the 36 views: three rows of twelve, 30 degrees apart."""
    angles = [math.tau * (view % 12) / 12 for view in views]
    return math.atan2(sum(map(math.sin, angles)), sum(map(math.cos, angles))) % math.tau


def _files(data: Path, scan: str) -> list[Path]:
    for folder in _FOLDERS:
        whole = data / folder / f"{scan}.json"
        if whole.is_file():
            return [whole]
        parts = sorted((data / folder).glob(f"{scan}_*.json"))[:_MOST_FILES]
        if parts:
            return parts
    return []
