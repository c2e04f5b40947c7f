"""HM3D homes as rooms, connections and objects: one JSON file a home (``docs/formats/hm3d.md``).

The file has no navigation graph, no geometry of connections and no sizes of objects. The scene's
``notes`` say what is approximated: viewpoints (:mod:`navloom.scenes.box_graph`), and for each
connection the point half-way between the nearest points of its two rooms' boxes.

The module also has notes that the loaders of several formats add to a scene.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

import networkx as nx
import shapely
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.errors import SceneError
from navloom.scenes import safe_files
from navloom.scenes.box_graph import build_box_graph
from navloom.scenes.formats.scan_files import find_hm3d_homes, load_scan
from navloom.scenes.formats.scene_json import load_file
from navloom.scenes.lexicon import classify, count_unlisted
from navloom.scenes.scene import (
    UNKNOWN,
    Box,
    Floor,
    Item,
    Link,
    Point3,
    Region,
    Scene,
    prompt_name,
    region_id,
)

_MOST_NAMES = 20


def unlisted_note(names: Iterable[str]) -> Iterator[str]:
    """Yield a note on item names that the lexicon does not know; nothing if all are known."""
    strange = count_unlisted(names)
    if strange:
        shown = [f"{prompt_name(name)} ({n})" for name, n in strange.most_common(_MOST_NAMES)]
        more = len(strange) - _MOST_NAMES
        rest = f" and {more} more names" if more > 0 else ""
        yield (
            f"{sum(strange.values())} things are kept out of tasks as structure, since the lexicon "
            f"does not know their kind: {', '.join(shown)}{rest}."
        )


def parts_note(regions: Iterable[str], links: Iterable[Link]) -> Iterator[str]:
    """Yield a note if links do not join all regions (given by id) into one part."""
    graph: nx.Graph[str] = nx.Graph((link.a, link.b) for link in links)
    graph.add_nodes_from(regions)
    parts = nx.number_connected_components(graph)
    if parts > 1:
        yield f"The home falls into {parts} parts that no link joins."


FLOOR_GAP = 1.5
"""Height in metres above a storey's lowest room from which a room is on the next storey."""
STAIRS_RISE = 1.0
"""Height difference in metres between two rooms' bottoms above which their link is stairs."""
LEAST_STEP = 0.15
"""Least step in metres. Boxes on one floor differ by less, by rugs, thresholds and scan holes."""
_SKIN = 0.01
"""Tolerance in metres of an item outside its room's box. A room's box is spanned by the centres of
its items, so some lie on its surface up to rounding (2.7 % of all items in 35 homes)."""
_MOST_BYTES = 20_000_000
_MOST_AREA = 10_000.0
"""Most square metres of all rooms together: the distance table grows with the square of the area.
The largest of 35 real homes has 620."""
_MOST_FLOORS = 99

_Metres = Annotated[float, Field(ge=-10_000, le=10_000, allow_inf_nan=False)]
_Length = Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)]
_Id = Annotated[int, Field(ge=-1, le=10_000_000)]
_Words = Annotated[str, Field(min_length=1, max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SourceRoom(_Strict):
    """Room: an axis-aligned box, y up, metres."""

    id: Annotated[int, Field(ge=0, le=1_000_000)]
    label: _Words | None
    """Type in the source's words, ``/`` between the types of a compound; null: unknown."""
    centroid: tuple[_Metres, _Metres, _Metres]
    dims: tuple[_Length, _Length, _Length]
    """Full sizes along x, y and z."""

    @property
    def box(self) -> Box:
        """Box of the room."""
        return Box(center=self.centroid, size=self.dims)

    @property
    def region(self) -> str:
        """Id of the room as a region."""
        return region_id(self.label or UNKNOWN, self.id)


class SourceObject(_Strict):
    """Object of the source: a name with a position."""

    id: _Id
    name: _Words
    position: tuple[_Metres, _Metres, _Metres]
    """Its centre."""
    hm3dsem_region: _Id | None = None
    """Region number in HM3DSem. Not used: it is no room id; see ``docs/formats/hm3d.md``."""


class HM3DHome(_Strict):
    """Content of a home's JSON file: its rooms, connections between rooms, and objects."""

    scene: Annotated[str, Field(min_length=1, max_length=100)]
    rooms: Annotated[tuple[SourceRoom, ...], Field(min_length=1, max_length=1_000)]
    connections: Annotated[tuple[tuple[_Id, _Id], ...], Field(max_length=20_000)]
    """Pairs of connected room ids; once or in both directions."""
    objects: Annotated[tuple[SourceObject, ...], Field(max_length=50_000)]

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        _once("rooms", [room.id for room in self.rooms])
        _once("objects", [thing.id for thing in self.objects])
        known = {room.id for room in self.rooms}
        for i, (a, b) in enumerate(self.connections):
            for end in (a, b):
                if end not in known:
                    raise ValueError(
                        f"connections[{i}]: expected ids of two rooms, and there is no room {end}"
                    )
            if a == b:
                raise ValueError(f"connections[{i}]: expected two rooms, found {a} twice")
        area = sum(room.dims[0] * room.dims[2] for room in self.rooms)
        if area > _MOST_AREA:
            raise ValueError(
                f"rooms: expected at most {_MOST_AREA:,.0f} square metres, found {area:,.0f}"
            )
        return self


HOME = TypeAdapter(HM3DHome)


def _once(field: str, ids: list[int]) -> None:
    seen: set[int] = set()
    for i, each in enumerate(ids):
        if each in seen:
            raise ValueError(f"{field}[{i}].id: expected each id once, and {each} stands twice")
        seen.add(each)


def list_ids(folder: Path) -> list[str]:
    """Return the sorted ids of the homes in a folder: ``*.json`` files and release homes."""
    # Habitat's configs lie among the release's homes.
    told = {
        each
        for each in safe_files.list_file_ids(folder, ".json")
        if not each.endswith("_dataset_config")
    }
    return sorted({*told, *find_hm3d_homes(folder)})


def whole_id(name: str, ids: Sequence[str]) -> str:
    """Return the full id of a home given without its number (``TEEsavR23oF``), if unique."""
    held = [each for each in ids if re.fullmatch(r"\d+-" + re.escape(name), each)]
    return held[0] if len(held) == 1 and name not in ids else name


def load(folder: Path, scene_id: str) -> Scene:
    """Load one home of a folder as a scene.

    Args:
        folder: where the JSON files are.
        scene_id: the file's name without ``.json``.

    Returns:
        The scene. An item belongs to the smallest room box that contains it, else to the nearest.
        Its kind is the lexicon's. Unknown names become structure, so that no task asks to carry
        them, and are listed in ``notes``.

    Raises:
        SceneError: the file is missing, too large or broken (its path, the field, what was
            expected and what was found), or the id would lead out of the folder.
    """
    path = folder / f"{safe_files.check_scene_id(scene_id, what='hm3d')}.json"
    files = find_hm3d_homes(folder).get(scene_id)
    if files is None:
        return _scene(_read(path, scene_id), path)
    # The mesh reader is imported only if there is a mesh.
    path = files.folder.with_name(f"{scene_id}.json")
    if not path.is_file():
        return load_scan(files)
    if _is_scene(path):
        # Saved from the release with results that are costly to compute; the mesh is the release's.
        with safe_files.scene_errors(path):
            return load_file(path).replace(id=scene_id, source="hm3d")
    return load_scan(files, room_labels(_read(path, scene_id)))


def _is_scene(path: Path) -> bool:
    content = safe_files.parse_json(safe_files.read_bytes(path), path)
    return isinstance(content, dict) and str(content.get("version")).startswith("navloom.scene/")


def _read(path: Path, scene_id: str) -> HM3DHome:
    home = safe_files.read_json(path, HOME, most=_MOST_BYTES)
    if home.scene != scene_id:
        raise SceneError(
            f"{path}: scene: expected {scene_id!r}, as the file is called, found {home.scene!r}."
        )
    return home


def room_labels(home: HM3DHome) -> Callable[[Mapping[int, Region]], dict[int, str]]:
    """Return a function that labels release rooms by the JSON room with most overlap."""

    def named(regions: Mapping[int, Region]) -> dict[int, str]:
        out = {}
        boxes = [(shapely.Polygon(r.box.corners()), r) for r in home.rooms if r.label is not None]
        for number, region in regions.items():
            own = shapely.Polygon(region.outline)
            level = region.center[1] + 1
            near = ((b.intersection(own).area, r) for b, r in boxes if _reaches(r.box, level))
            most, room = max(near, key=lambda each: each[0], default=(0.0, None))
            if room is not None and room.label is not None and most > own.area / 2:
                out[number] = room.label
        return out

    return named


def _reaches(box: Box, level: float) -> bool:
    return box.bottom - 1 <= level <= box.top + 1


def _scene(home: HM3DHome, path: Path) -> Scene:
    floors, floor_of = _floors(home.rooms)
    if len(floors) > _MOST_FLOORS:
        raise SceneError(f"{path}: rooms: expected at most {_MOST_FLOORS} storeys.")
    regions = tuple(
        Region(
            id=room.region,
            label=room.label or UNKNOWN,
            floor=floor_of[room.id],
            center=(room.centroid[0], room.box.bottom, room.centroid[2]),
            box=room.box,
        )
        for room in home.rooms
    )
    boxes = [(room.region, room.box) for room in home.rooms]
    links = _links(home)
    viewpoints, edges = build_box_graph(regions, links)
    return Scene(
        id=home.scene,
        source="hm3d",
        floors=floors,
        regions=regions,
        links=links,
        items=tuple(
            Item(
                id=str(thing.id),
                name=thing.name,
                kind=classify(thing.name) or "structure",
                region=_room_of(thing.position, boxes),
                position=thing.position,
            )
            for thing in home.objects
        ),
        viewpoints=viewpoints,
        edges=edges,
        notes=tuple(_notes(home, links)),
    )


def _floors(rooms: tuple[SourceRoom, ...]) -> tuple[tuple[Floor, ...], dict[int, int]]:
    """Return the storeys found in the heights of the rooms' bottoms, and each room's storey.

    The gap is measured from a storey's lowest room, not from the room just below: a chain of
    half-landings would merge two storeys into one.
    """
    storeys: list[list[SourceRoom]] = []
    for room in sorted(rooms, key=lambda r: (r.box.bottom, r.id)):
        if not storeys or room.box.bottom - storeys[-1][0].box.bottom > FLOOR_GAP:
            storeys.append([])
        storeys[-1].append(room)
    floors = tuple(
        Floor(id=i, height=statistics.median_low(room.box.bottom for room in storey))
        for i, storey in enumerate(storeys[:_MOST_FLOORS], start=1)
    )
    return floors, {room.id: i for i, storey in enumerate(storeys, start=1) for room in storey}


def _links(home: HM3DHome) -> tuple[Link, ...]:
    rooms = {room.id: room for room in home.rooms}
    pairs = sorted({(min(pair), max(pair)) for pair in home.connections})
    return tuple(_link(rooms[a], rooms[b]) for a, b in pairs)


def _link(a: SourceRoom, b: SourceRoom) -> Link:
    rise = b.box.bottom - a.box.bottom
    return Link(
        a=a.region,
        b=b.region,
        kind="stairs" if abs(rise) > STAIRS_RISE else "opening",
        point=crossing_point(a.box, b.box),
        step=known_step(rise),
    )


def known_step(rise: float) -> float | None:
    """Return the height of the step between two rooms, in metres; None if too small to tell.

    Args:
        rise: height difference of the bottoms of their boxes, in metres. Below ``LEAST_STEP`` it
            may come from rugs or gaps in the scan.
    """
    return rise if abs(rise) >= LEAST_STEP else None


def crossing_point(a: Box, b: Box) -> Point3:
    """Return the point half-way between the nearest points of two boxes, or inside their overlap.

    Its height is at a walker's feet: the higher of the two floors if the boxes share that height,
    else half-way between the lower box's top and the higher one's bottom.
    """

    def shared(axis: int) -> tuple[float, float]:
        sides = [(box.center[axis] - box.size[axis] / 2, box.size[axis]) for box in (a, b)]
        return max(low for low, _ in sides), min(low + size for low, size in sides)

    x, z = (sum(shared(axis)) / 2 for axis in (0, 2))
    low, high = shared(1)
    return x, low if low <= high else (low + high) / 2, z


def _room_of(position: Point3, boxes: list[tuple[str, Box]]) -> str:
    around = [(box.volume, region) for region, box in boxes if box.distance(position) <= _SKIN]
    if around:
        return min(around, key=lambda each: each[0])[1]
    return min(boxes, key=lambda each: each[1].distance(position))[0]


def step_note(links: Sequence[Link]) -> Iterable[str]:
    """Yield a note if room boxes are too similar in height to tell steps."""
    if count := sum(link.step is None for link in links):
        yield (
            f"{count} of {len(links)} links join rooms whose boxes differ by less than"
            f" {LEAST_STEP} m in height: that is taken for no step."
        )


def _notes(home: HM3DHome, links: tuple[Link, ...]) -> Iterable[str]:
    yield (
        "The navigation graph is approximate: it was built from the rooms' boxes and links, "
        "without walls or furniture."
    )
    yield "Sizes of items, widths of links and states of doors are not known."
    yield from step_note(links)
    yield from parts_note((room.region for room in home.rooms), links)
    yield from unlisted_note(thing.name for thing in home.objects)
