"""Load the scenes of a run as its ``run.json`` names them, and show a scene as report blocks.

Everything but the counts is under the scene's licence, so its blocks are private.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import networkx as nx
from shapely.geometry import Polygon

from navloom.errors import NavloomError, SceneError
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table
from navloom.evals.run_folder import read_run, recorded_homes
from navloom.files import join_some
from navloom.scenes.lexicon import item_names
from navloom.scenes.scene import Item, Point3, Region, Scene
from navloom.scenes.scene_uri import SCENES_KEPT, SceneLookup
from navloom.sim.graph import nearest_viewpoint

_PLACES = (("spec", "{}"), ("data", "mp3d:{}"), ("data", "capnav:{}"))
_RUNS_KEPT = 16


def scene_lookups(run: Mapping[str, Any]) -> Iterator[SceneLookup]:
    """Yield the lookups for a run's scenes: its own locations, then package and $NAVLOOM_DATA.

    Args:
        run: content of its ``run.json``.
    """
    for said in (run.get("where"), run.get("request")):
        for key, form in _PLACES:
            place = said.get(key) if isinstance(said, Mapping) else None
            if isinstance(place, str):
                try:
                    yield SceneLookup(form.format(place), recorded_homes(run))
                except NavloomError:
                    continue  # the folder has moved
    yield SceneLookup(None, recorded_homes(run))


def load_run_scene(run: Path | str, name: str) -> Scene:
    """Load a scene of a run by its portable name; the last few are cached.

    Raises:
        SceneError: it cannot be found or loaded.
        RunError: the folder is no run.
    """
    path = Path(run)
    try:
        stamp = (path / "run.json").stat().st_mtime_ns
    except OSError:
        stamp = 0
    return _kept(str(path), stamp, name)


@lru_cache(maxsize=SCENES_KEPT)
def _kept(run: str, stamp: int, name: str) -> Scene:
    first: SceneError | None = None
    for names in _names(run, stamp):
        try:
            return names.load(name)
        except SceneError as error:
            first = first or error
    raise first or SceneError(f"{run}: there is no scene '{name}'")


@lru_cache(maxsize=_RUNS_KEPT)
def _names(run: str, stamp: int) -> tuple[SceneLookup, ...]:
    del stamp  # part of the cache key: invalidates the entry when run.json is rewritten
    return tuple(scene_lookups(read_run(run)))


def point_on_plan(scene: Scene, point: Point3) -> ui.Spot:
    """Return a position as (floor, x, z); its floor is that of the nearest viewpoint.

    Args:
        scene: it must have viewpoints.
        point: (x, y, z) in metres.
    """
    nearest, _ = nearest_viewpoint(scene, point)
    return scene.floor_of(scene.viewpoint_by_id[nearest]), point[0], point[2]


def viewpoints_on_plan(scene: Scene, names: Iterable[str]) -> tuple[ui.Spot, ...]:
    """Return viewpoints as (floor, x, z); viewpoints that the scene lacks are left out.

    They may be missing because lines of a run can be older than its scene.
    """
    known = [scene.viewpoint_by_id[name] for name in names if name in scene.viewpoint_by_id]
    return tuple((scene.floor_of(v), v.position[0], v.position[2]) for v in known)


COUNTS = ("floors", "regions", "links", "objects", "assets", "viewpoints", "edges", "components")
"""Counts that :func:`scene_counts` returns, in the order of tables."""
_MOST_ITEMS = 2_000
_MOST_NAMED = 12


def scene_counts(scene: Scene) -> dict[str, Any]:
    """Return a scene's URI (``scene``) and its counts (:data:`COUNTS`).

    ``components`` is the number of connected components of the room graph.
    """
    kinds = Counter(item.kind for item in scene.items)
    return {
        "scene": scene.uri,
        "floors": len(scene.floors),
        "regions": len(scene.regions),
        "links": len(scene.links),
        "objects": kinds["object"],
        "assets": kinds["asset"],
        "viewpoints": len(scene.viewpoints),
        "edges": len(scene.edges),
        "components": nx.number_connected_components(scene.region_graph()),
    }


def scene_rooms(scene: Scene) -> list[dict[str, Any]]:
    """Return each room with its id, floor, neighbours, and names of assets and objects."""
    graph = scene.region_graph()
    return [
        {
            "region": region.id,
            "floor": region.floor,
            "leads_to": sorted(graph[region.id]),
            "assets": item_names(scene, region.id, "asset"),
            "objects": item_names(scene, region.id, "object"),
        }
        for region in scene.regions
    ]


def scene_blocks(scene: Scene, uri: str | None = None) -> list[ui.Block]:
    """Return a scene as report blocks: counts, plan, rooms, links and items.

    Args:
        scene: the scene.
        uri: URI that the map refers to; default: the scene's own.
    """
    sizes = scene_counts(scene)
    area = sum(a for region in scene.regions if (a := _area(region)) is not None)
    facts = [ui.Fact(name, f"{sizes[name]:,}") for name in COUNTS]
    facts.append(ui.Fact("floor area", f"{area:.0f} m²" if area else NOTHING))
    facts.append(ui.Fact("source", scene.source))
    return [
        ui.Facts(title=scene.uri, facts=tuple(facts)),
        *([_notes(scene)] if scene.notes else ()),
        ui.SceneMap(scene=uri or scene.uri, title="Plan"),
        _types(scene),
        _rooms(scene),
        _links(scene),
        _items(scene),
    ]


def _area(region: Region) -> float | None:
    """Return the area of a room's outline in square metres; None without an outline."""
    return None if region.outline is None else float(Polygon(region.outline).area)


def _notes(scene: Scene) -> ui.Prose:
    return ui.Prose(title="The loader's notes", text="\n".join(scene.notes), exact=True)


def _types(scene: Scene) -> ui.Bars:
    """Make bars of the number of rooms of each type, by floor."""
    counted: dict[str, Counter[int]] = {}
    for region in scene.regions:
        counted.setdefault(region.label, Counter())[region.floor] += 1
    bars = tuple(
        (label, tuple(ui.Segment(f"floor {floor}", n) for floor, n in sorted(of.items())))
        for label, of in sorted(counted.items(), key=lambda each: (-each[1].total(), each[0]))
    )
    return ui.Bars(title="Rooms by type", bars=bars, unit="rooms", private=True)


def _rooms(scene: Scene) -> ui.Grid:
    rows = tuple(
        (
            room["region"],
            str(room["floor"]),
            NOTHING if (area := _area(region)) is None else f"{area:.1f}",
            ", ".join(room["leads_to"]) or NOTHING,
            join_some(room["assets"], _MOST_NAMED) or NOTHING,
            join_some(room["objects"], _MOST_NAMED) or NOTHING,
        )
        for room, region in zip(scene_rooms(scene), scene.regions, strict=True)
    )
    header = ("room", "floor", "m²", "leads to", "assets", "objects")
    return ui.Grid(Table("Rooms", "", header, rows), private=True)


def _links(scene: Scene) -> ui.Grid:
    rows = tuple(
        (
            f"{link.a} – {link.b}",
            link.kind,
            _metres(link.width),
            _metres(link.height),
            NOTHING if link.threshold is None else f"{link.threshold:.3f}",
            _metres(link.step),
            NOTHING if link.door is None else str(link.door),
        )
        for link in scene.links
    )
    note = (
        "Metres, as far as they are known: the clear width and height, how high the sill is, and"
        " how much higher the second room's floor lies."
    )
    header = ("rooms", "kind", "width", "height", "sill", "rise", "door")
    return ui.Grid(Table("Links", note, header, rows), private=True)


def _metres(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _items(scene: Scene) -> ui.Grid:
    rows = tuple(_item(item) for item in scene.items[:_MOST_ITEMS])
    more = len(scene.items) - len(rows)
    note = f"{more} more are not listed." if more > 0 else "Sizes are across, up and deep."
    header = ("item", "name", "kind", "room", "on", "size, m")
    lid = f"{len(scene.items):,} items"
    return ui.Grid(Table("Items", note, header, rows, folded=lid), private=True)


def _item(item: Item) -> tuple[str, ...]:
    size = NOTHING if item.size is None else " × ".join(f"{each:.2f}" for each in item.size)
    return item.id, item.name, item.kind, item.region or NOTHING, item.on or NOTHING, size
