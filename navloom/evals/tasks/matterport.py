"""The scans a dataset walks in, each loaded once, and what of the dataset they do not bear out.

Nothing is dropped unseen: what is left out, and what is kept but odd, is counted and named in the
notes of the task.

Files of datasets are found, bounded, checked, and refused in one line that names their source.

REVERIE's boxes say which viewpoints see which object (Qi et al. 2020):

    DATA/reverie/BBox/SCAN.json              one file a scan, or as published
    DATA/reverie/BBox/SCAN_VIEWPOINT.json    one file a viewpoint

Both hold viewpoint -> object number -> ``name``, ``visible_pos`` (which of the 36 views show it)
and ``bbox2d``. An object is listed where it is within 3 m; it is seen where ``visible_pos`` is not
empty, which is REVERIE's own rule of success.
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
from navloom.files import and_more
from navloom.scenes.checked_files import read_json
from navloom.scenes.distances import metre_table, per_scene
from navloom.scenes.formats.mp3d import load
from navloom.scenes.scene import Scene, distance_3d

_SHOWN = 5


class Scans:
    """The Matterport scans of a folder, loaded when they are first asked for.

    Args:
        data: the folder; see :mod:`navloom.scenes.formats.mp3d` for what lies in it.

    Attributes:
        missing: why a scan could not be loaded, by its name.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.missing: dict[str, str] = {}
        self._scenes: dict[str, Scene] = {}

    def get(self, scan: str) -> Scene | None:
        """A scan; None where it cannot be loaded, and ``missing`` says why."""
        if scan not in self._scenes and scan not in self.missing:
            try:
                self._scenes[scan] = load(self.data, scan)
            except SceneError as error:
                self.missing[scan] = str(error)
        return self._scenes.get(scan)

    @property
    def without_rooms(self) -> list[str]:
        """Those of the loaded ones of which nobody says which rooms they have."""
        return [name for name, scene in self._scenes.items() if not scene.regions]

    def uris(self, names: Sequence[str]) -> Mapping[str, str]:
        """Portable name -> the URI it is loaded by, of some of the scans."""
        return {f"mp3d:{name}": f"mp3d:{self.data}/{name}" for name in names}


class Sieve:
    """What was left out of a dataset, what is odd about the rest, and the notes that say so."""

    def __init__(self) -> None:
        self._left: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._odd: dict[str, list[str]] = defaultdict(list)

    def leave_out(self, why: str, name: str, episodes: int) -> None:
        """Say that ``episodes`` episodes of the record ``name`` are left out, and why."""
        self._left[why][name] += episodes

    def remark(self, what: str, name: str) -> None:
        """Say that the record ``name`` is kept, and what is odd about it."""
        self._odd[what].append(name)

    def notes(self) -> tuple[str, ...]:
        """A line a reason, each with its count and its first names."""
        left = [
            f"{sum(names.values())} episodes are left out: {why}: {and_more([*names], _SHOWN)}."
            for why, names in self._left.items()
        ]
        odd = [
            f"{what} ({len(names)}): {and_more(names, _SHOWN)}."
            for what, names in self._odd.items()
        ]
        return (*left, *odd)

    def finish(self, data: TaskData, where: Path) -> TaskData:
        """The task with what is noted here added to its notes.

        Raises:
            DataError: no episode is left.
        """
        notes = self.notes()
        if not data.episodes:
            why = notes[0] if notes else "it holds none."
            raise DataError(f"{where}: expected at least one episode that can be used; {why}")
        return replace(data, notes=(*data.notes, *notes))

    def lose(self, scans: Scans, lost: Mapping[str, int]) -> None:
        """Note the episodes of scans that could not be loaded, and scans without rooms.

        Args:
            scans: the scans.
            lost: scan -> how many episodes it would have had.
        """
        for scan in scans.without_rooms:
            what = "Scans whose rooms are unknown, with no .house and no place in the region file"
            self.remark(what, scan)
        for scan, episodes in lost.items():
            why = f"the scan cannot be loaded ({scans.missing[scan].removesuffix('.')})"
            self.leave_out(why, scan, episodes)

    def unique(self, episodes: Sequence[Episode]) -> tuple[Episode, ...]:
        """The episodes without those whose id was there before, which are noted."""
        kept: dict[str, Episode] = {}
        for episode in episodes:
            if episode.id in kept:
                self.leave_out("an id that stands twice", episode.id, 1)
            kept.setdefault(episode.id, episode)
        return tuple(kept.values())

    def way(self, scene: Scene, path: Sequence[str], name: str, episodes: int) -> float | None:
        """Check a published path against its scan.

        A path with a step between viewpoints that no edge joins is kept, and remarked on. One with
        a viewpoint that is not there, or whose goal no way leads to, is left out.

        Args:
            scene: the scan.
            path: viewpoints.
            name: the record's name, for the notes.
            episodes: how many episodes hang on it.

        Returns:
            Its length in metres, between cameras as R2R measures; None where it is left out.
        """
        unknown = [viewpoint for viewpoint in path if viewpoint not in scene.viewpoint_by_id]
        if unknown:
            self.leave_out(
                "a viewpoint that is not in the scan's graph",
                f"{name} ({scene.id} {unknown[0]})",
                episodes,
            )
            return None
        if metre_table(scene, "3d").path(path[0], path[-1]) is None:
            self.leave_out("no way from the start to the goal", f"{name} ({scene.id})", episodes)
            return None
        graph = per_scene(scene, "navigation_graph", scene.navigation_graph)
        gap = next((f"{a}-{b}" for a, b in pairwise(path) if not graph.has_edge(a, b)), None)
        if gap is not None:
            self.remark("Paths with a step along no edge", f"{name} ({scene.id} {gap})")
        return path_metres(scene, path)


def path_metres(scene: Scene, path: Sequence[str]) -> float:
    """The length of a path of viewpoints, in metres between their positions (3-D)."""
    at = scene.viewpoint_by_id
    return sum(distance_3d(at[a].position, at[b].position) for a, b in pairwise(path))


T = TypeVar("T")

MOST_BYTES = 200_000_000
"""R2R's train split has 10 MB, its augmented form 110 MB."""
MATTERPORT_ID = r"^[A-Za-z0-9]{1,40}$"
"""A scan or a viewpoint: certain to name a file in the folder it is looked up in."""

Scan = Annotated[str, Field(pattern=MATTERPORT_ID)]
ViewpointId = Annotated[str, Field(pattern=MATTERPORT_ID)]
Number = Annotated[int, Field(ge=0, lt=10**12)]
Instruction = Annotated[str, Field(max_length=20_000)]


class PathItem(BaseModel):
    """What R2R and REVERIE records share; what a record says beyond its fields is not read.

    R2R's ``distance`` is not: it is wrong by up to 3.7 m.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    scan: Scan
    path_id: Number
    path: Annotated[list[ViewpointId], Field(min_length=1, max_length=1000)]
    heading: Annotated[float, Field(ge=-7, le=7, allow_inf_nan=False)]
    """Radians, clockwise from where our -z points: R2R's frame and ours agree."""
    instructions: Annotated[list[Instruction], Field(min_length=1, max_length=1000)]

    @property
    def name(self) -> str:
        """What episodes are called by, unique in a split: here ``PATHID``."""
        return str(self.path_id)


def is_blank(instruction: str) -> bool:
    r"""Whether nothing of it can be read: blanks and control characters, no letter or sign.

    >>> is_blank(" \u200b\n"), is_blank("Go.")
    (True, False)
    """
    return not any(c.isprintable() and not c.isspace() for c in instruction)


def find(data: Path, folder: str, name: str) -> Path:
    """A dataset's file in its sub-folder, else in the folder itself (where it need not exist)."""
    inside = data / folder / name
    return inside if inside.is_file() or not (data / name).is_file() else data / name


def read_records(path: Path, adapter: TypeAdapter[T], *, source: str) -> T:
    """What a dataset's JSON file says.

    Args:
        path: the file.
        adapter: what is expected of it.
        source: where it comes from, for the message where it is missing.

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


def walks(
    task: str,
    split: str,
    scans: Scans,
    records: Iterable[P],
    where: Path,
    *,
    what: str = "path",
    more: Callable[[P, Scene, Sieve], Mapping[str, Any]] | None = None,
) -> TaskData:
    """A split of records with a path each: an episode an instruction, in the file's order.

    Args:
        task: the dataset's name.
        split: which part.
        scans: where the paths lead.
        records: what the file holds.
        where: the file, for a message.
        what: what notes call a record.
        more: further fields of a record's episodes; its ``columns`` go between ``path_id`` and
            ``instruction_index``.

    Raises:
        DataError: no episode can be used.
    """
    sieve, lost = Sieve(), Counter[str]()
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
    sieve.lose(scans, lost)
    scenes = scans.uris(list(dict.fromkeys(e.scene.removeprefix("mp3d:") for e in episodes)))
    return sieve.finish(TaskData(task, split, sieve.unique(episodes), scenes), where)


def _told(
    task: str, record: PathItem, metres: float, own: Mapping[str, Any], sieve: Sieve
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


class _Seen(TypedDict):
    name: Annotated[str, Field(max_length=200)]
    visible_pos: Annotated[list[Annotated[int, Field(ge=0, lt=36)]], Field(max_length=36)]


_ObjectNumber = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
_BOXES = TypeAdapter(dict[ViewpointId, dict[_ObjectNumber, _Seen]])


@dataclass(frozen=True)
class Target:
    """An object that somebody can see.

    Attributes:
        name: in words, as the source has it but for ``#`` between words; untrusted.
        headings: of each viewpoint that sees it, in the file's order, where it lies from there:
            the mean of the views that show it, radians clockwise from -z.
    """

    name: str
    headings: Mapping[str, float]

    @property
    def viewpoints(self) -> tuple[str, ...]:
        """Those that see it."""
        return tuple(self.headings)


def read_visible(data: Path, scan: str, among: Collection[str]) -> dict[int, Target] | None:
    """The objects of a scan that some viewpoint sees.

    Args:
        data: the dataset's folder.
        scan: the scan.
        among: the viewpoints that count: those of the scan's graph.

    Returns:
        Targets by object number; None where there is no file for the scan.

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
    return {number: Target(names[number], seers[number]) for number in seers}


def _heading(views: Sequence[int]) -> float:
    """The middle of some of the 36 views: twelve a round, 30 degrees apart, in three rows."""
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
