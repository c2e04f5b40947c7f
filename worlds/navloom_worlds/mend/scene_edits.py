"""Edited copies of scenes: doors closed or widened, sills removed, items moved or removed.

The copy stays consistent: objects on a moved item move with it, a relation of which one end moved
is dropped, and edges that are blocked are removed. A closed door stays walkable, for bodies that
can open doors: the link records that it is closed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set

import networkx as nx
import numpy as np
import shapely
from shapely import LineString, Point, Polygon

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.floor_graph import BODY
from navloom.scenes.scene import Box, Item, Link, Region, Scene, prompt_name
from navloom_worlds.homes.catalogue import active_catalogue
from navloom_worlds.homes.viewpoint_placement import FLAT, HEAD, PERSON, place_viewpoints
from navloom_worlds.mend.building_changes import add_ramp, remove_sill, widen_doorway

_STEP = 0.05
"""Spacing in metres of the positions that are tried."""
_DOORSTEP = 0.9
"""Metres in front of a doorway that stay free."""
_MOST_TRIED = 20
_MOST_NAMED = 8
_WIDEST = 20.0


def edit_scene(
    scene: Scene,
    name: str,
    *,
    close: Sequence[str] = (),
    open_: Sequence[str] = (),
    ajar: Sequence[str] = (),
    remove: Sequence[str] = (),
    widen: Sequence[str] = (),
    level: Sequence[str] = (),
    ramp: Sequence[str] = (),
    move: Sequence[str] = (),
) -> Scene:
    """Make an edited copy: doors first, then removals, building work and moves, each in turn.

    Args:
        scene: any scene.
        name: the copy's id; its source is ``scene``, since it differs from the original.
        close: doors, as ``A<->B`` with two regions, or as the number of a door
            (:func:`door_labels`).
        open_: the same.
        ajar: the same; the door is left a hand's breadth open.
        remove: items, by id or by a unique name, with everything on them.
        widen: ``A<->B@METRES``, doorways and their new widths.
        level: doorways whose sill is removed.
        ramp: doorways that get a ramp over their step.
        move: ``THING@PLACE``, where a place is a region's floor, or another item to stand on.

    Raises:
        SceneError: a name is unknown, there is no door, something does not fit, or a person could
            no longer reach all of the home.
    """
    changed, told = scene, []
    for words, state, verb in [
        *((each, "closed", "closed") for each in close),
        *((each, "open", "opened") for each in open_),
        *((each, "ajar", "left ajar") for each in ajar),
    ]:
        door = _door(changed, words)
        told.append(f"{verb} {door.a}<->{door.b}")
        links = (
            each.model_copy(update={"door": state}) if each is door else each
            for each in changed.links
        )
        changed = changed.replace(links=tuple(links))
    for words in remove:
        item = _item(changed, words)
        told.append(f"removed {item.name} {item.id}")
        changed = rebuild_graph(changed, without_item(changed, item))
    for build, verb, each in (
        *((_widened, "widened", words) for words in widen),
        *((_level, "took away the sill of", words) for words in level),
        *((lambda s, w: add_ramp(s, _way(s, w)), "laid a ramp at", words) for words in ramp),
    ):
        changed = rebuild_graph(changed, build(changed, each))
        told.append(f"{verb} {each}")
    for words in move:
        changed = _moved(changed, words)
        told.append(f"moved {words}")
    return name_copy(scene, changed, name, f"A changed copy of {scene.uri}", "; ".join(told))


def name_copy(scene: Scene, changed: Scene, name: str, words: str, told: str) -> Scene:
    """Return an edited scene with its own id, and a last note that lists the edits."""
    fields = {f: getattr(changed, f) for f in Scene.model_fields}
    notes = (*scene.notes, f"{words}: {told or 'nothing changed'}.")
    return Scene(**{**fields, "id": name, "source": "scene", "notes": notes})


def _widened(scene: Scene, words: str) -> Scene:
    way, at, metres = words.rpartition("@")
    try:
        wide = float(metres)
    except ValueError:
        wide = math.nan
    if not at or not 0 < wide < _WIDEST:
        raise SceneError(f"'{words}' is no widening: write A<->B@METRES, such as 'A<->B@0.95'.")
    return widen_doorway(scene, _way(scene, way), wide)


def _level(scene: Scene, words: str) -> Scene:
    link = _way(scene, words)
    if not link.threshold:
        raise SceneError(f"{link.a}<->{link.b} has no sill.")
    return remove_sill(scene, link)


def door_labels(scene: Scene) -> list[str]:
    """Return the doors of a scene as a user may name them: ``"1: Hall_1<->Kitchen_2, open"``."""
    return [
        f"{number}: {link.a}<->{link.b}, {link.door or 'state not known'}"
        for number, link in enumerate(_doors(scene), start=1)
    ]


def _doors(scene: Scene) -> list[Link]:
    return [link for link in scene.links if link.kind == "door"]


def _door(scene: Scene, words: str) -> Link:
    known = _doors(scene)
    if words.isascii() and words.isdecimal() and len(words) < 6:
        if 1 <= int(words) <= len(known):
            return known[int(words) - 1]
        raise SceneError(
            f"door {words}: {scene.uri} has {len(known)} doors.{_shown(door_labels(scene))}"
        )
    a, arrow, b = (part.strip() for part in words.partition("<->"))
    if not arrow:
        raise SceneError(f"'{words}' is no door: write 'A<->B' with two regions, or its number.")
    for region in (a, b):
        _region(scene, region)
    between = [link for link in scene.links if {link.a, link.b} == {a, b}]
    found = [link for link in between if link.kind == "door"]
    if len(found) == 1:
        return found[0]
    if not between:
        raise SceneError(f"{a} and {b} are not linked.{_shown(door_labels(scene))}")
    if not found:
        raise SceneError(f"between {a} and {b} is no door: the way is of kind {between[0].kind}.")
    numbers = [text for text in door_labels(scene) if f" {found[0].a}<->{found[0].b}," in text]
    raise SceneError(f"between {a} and {b} are {len(found)} doors: give a number.{_shown(numbers)}")


def _way(scene: Scene, words: str) -> Link:
    """Return a door, or an opening without one."""
    a, arrow, b = (part.strip() for part in words.partition("<->"))
    if arrow and a in scene.region_by_id and b in scene.region_by_id:
        found = [each for each in scene.links if {each.a, each.b} == {a, b}]
        if len(found) == 1 and found[0].kind == "opening":
            return found[0]
    return _door(scene, words)


def _shown(names: Sequence[str]) -> str:
    more = "" if len(names) <= _MOST_NAMED else f" and {len(names) - _MOST_NAMED} more"
    return f" There are {'; '.join(names[:_MOST_NAMED])}{more}." if names else ""


def _region(scene: Scene, name: str) -> Region:
    if name not in scene.region_by_id:
        near = did_you_mean(name, scene.region_by_id)
        raise SceneError(f"{scene.uri} has no region '{name}'.{near}")
    return scene.region_by_id[name]


def _item(scene: Scene, words: str) -> Item:
    if words in scene.item_by_id:
        return scene.item_by_id[words]
    wanted = prompt_name(words)
    found = [item for item in scene.items if item.prompt_name == wanted]
    if len(found) == 1:
        return found[0]
    if not found:
        near = did_you_mean(wanted, {item.prompt_name for item in scene.items})
        raise SceneError(f"{scene.uri} has no thing '{words}'.{near}")
    ids = [f"{item.id} in {item.region}" for item in found]
    raise SceneError(f"{len(found)} things are called '{words}': give an id.{_shown(ids)}")


def _with_all_on(scene: Scene, item: Item) -> set[str]:
    """Return the ids of an item and of everything on or in it, recursively."""
    held: nx.DiGraph[str] = nx.DiGraph((i.on, i.id) for i in scene.items if i.on is not None)
    held.add_edges_from((r.b, r.a) for r in scene.relations if r.kind == "in")
    held.add_node(item.id)
    return {item.id, *nx.descendants(held, item.id)}


def without_item(scene: Scene, item: Item) -> Scene:
    """Remove an item and everything on it, without recomputing the graph."""
    gone = _with_all_on(scene, item)
    return scene.replace(
        items=tuple(each for each in scene.items if each.id not in gone),
        relations=tuple(r for r in scene.relations if r.a not in gone and r.b not in gone),
    )


def _moved(scene: Scene, words: str) -> Scene:
    thing, at, place = words.rpartition("@")
    if not at or not thing or not place:
        raise SceneError(f"'{words}' is no move: write THING@REGION, or THING@THING to stand on.")
    item = _item(scene, thing)
    group = _with_all_on(scene, item)
    if place in scene.region_by_id:
        return _put(scene, item, group, scene.region_by_id[place], None)
    if prompt_name(place) not in {each.prompt_name for each in scene.items} | set(scene.item_by_id):
        names = [*scene.region_by_id, *(each.prompt_name for each in scene.items)]
        raise SceneError(
            f"{scene.uri} has no region or thing '{place}'.{did_you_mean(place, names)}"
        )
    support = _item(scene, place)
    if support.id in group:
        raise SceneError(f"{item.name} {item.id} cannot stand on itself, nor on what it carries.")
    if support.region is None:
        raise SceneError(f"{support.name} {support.id} is in no region.")
    return _put(scene, item, group, scene.region_by_id[support.region], support)


def _put(scene: Scene, item: Item, group: set[str], region: Region, support: Item | None) -> Scene:
    """Return a scene with an item, and all on it, moved to a region's floor or another item."""
    others = [each for each in scene.items if each.id not in group]
    where = f"{item.name} {item.id}: there is no place for it "
    where += f"on {support.name} {support.id}" if support else f"on the floor of {region.id}"
    reason = "what stands there, the ceiling and the ways to doors leave none"
    for place in _places(scene, item, others, region, support):
        shift = tuple(new - old for new, old in zip(place, item.position, strict=True))
        moved = {
            each.id: each.model_copy(
                update={
                    "position": tuple(
                        round(p + s, 4) for p, s in zip(each.position, shift, strict=True)
                    ),
                    "region": region.id,
                    **({"on": support and support.id} if each is item else {}),
                }
            )
            for each in scene.items
            if each.id in group
        }
        changed = scene.replace(
            items=tuple(moved.get(each.id, each) for each in scene.items),
            relations=tuple(r for r in scene.relations if (r.a in group) == (r.b in group)),
        )
        try:
            return rebuild_graph(scene, changed)
        except SceneError as error:
            reason = str(error).rstrip(".")
    raise SceneError(f"{where}: {reason}.")


def _places(
    scene: Scene, item: Item, others: Sequence[Item], region: Region, support: Item | None
) -> Iterator[tuple[float, float, float]]:
    """Yield positions for an item, the best first: clear of paths, then near the centre."""
    middle = region.center if support is None else support.position
    ground = region.center[1] if support is None else _surface(support, others)
    box = None if support is None else _box(support)
    outline = box.corners() if box is not None else None if support else region.outline
    if item.size is None or outline is None:
        x, _, z = middle
        yield x, round(ground + (item.size[1] / 2 if item.size else 0.0), 4), z
        return
    area = Polygon(outline)
    turned = np.array(Box(center=(0, 0, 0), size=item.size, yaw=item.yaw).corners())
    left, near, right, far = area.bounds
    xs, zs = _lattice(left, right, middle[0]), _lattice(near, far, middle[2])
    spots = np.array([(x, z) for x in xs for z in zs])
    feet = shapely.polygons(spots[:, None, :] + turned[None, :, :])
    low, high = ground + 0.001, ground + item.size[1]
    if region.box is not None and high > region.box.top:
        return
    blocked = [
        Polygon(box.corners())
        for each in others
        if each.region == region.id and each is not support and (box := _box(each)) is not None
        if box.bottom < high and box.top > (ground + FLAT if support is None else low)
    ]
    if support is None:
        blocked += list(_kept_free(scene, region))
    fits = shapely.covers(area.buffer(0.002), feet)
    fits &= ~shapely.intersects(shapely.union_all(blocked), feet)
    fine = np.flatnonzero(fits)
    far_off = np.round(np.abs(spots[fine] - np.array([middle[0], middle[2]])).sum(axis=1), 3)
    ways = shapely.STRtree(_ways(scene, region) if support is None else [])
    met = ways.query(np.atleast_1d(feet[fine]), predicate="intersects")[0]
    order = np.lexsort((fine, far_off, np.bincount(met, minlength=len(fine))))
    # Neighbouring positions block the same paths, so only every third is tried.
    for best in order[: 3 * _MOST_TRIED : 3]:
        x, z = spots[fine[best]]
        yield round(float(x), 3), round(ground + item.size[1] / 2, 4), round(float(z), 3)


def _lattice(low: float, high: float, middle: float) -> list[float]:
    """Return positions along one axis, one of them the centre."""
    first = int((low - middle) / _STEP)
    return [round(middle + i * _STEP, 3) for i in range(first, int((high - middle) / _STEP) + 1)]


def _surface(support: Item, others: Sequence[Item]) -> float:
    """Return the height of an item's surface: by the objects on it, else its kind, else its top."""
    shown = [box.bottom for each in others if each.on == support.id and (box := _box(each))]
    box = _box(support)
    if box is None:
        return support.position[1]
    # An item with a shape is generated, so the catalogue has its kind: a sofa's seat is no top.
    kind = active_catalogue().entries.get(support.name) if support.shape else None
    share = kind.top.at if kind is not None and kind.top is not None else 1.0
    return min(shown, default=round(box.bottom + share * box.size[1], 3))


def _box(item: Item) -> Box | None:
    return None if item.size is None else Box(center=item.position, size=item.size, yaw=item.yaw)


def _kept_free(scene: Scene, region: Region) -> Iterator[Polygon]:
    """Yield the floor that must stay free: in front of doorways, under door swings, on stairs."""
    for link in scene.links:
        if region.id in (link.a, link.b) and link.jambs is not None:
            yield LineString(link.jambs).buffer(_DOORSTEP, cap_style="flat")
    swings = [*(each.swing for each in scene.links), *(each.swing for each in scene.openings)]
    yield from (Polygon(swing) for swing in swings if swing is not None)
    for flight in scene.stairs:
        if region.id in (flight.a, flight.b):
            yield from (Polygon(box.corners()) for box in (*flight.treads, *flight.landings))


def _ways(scene: Scene, region: Region) -> list[Polygon]:
    """Return the floor that people walk on in a region: viewpoints and edges, a body wide."""
    at = {v.id: (v.position[0], v.position[2]) for v in scene.viewpoints if v.region == region.id}
    lines = [LineString([at[e.a], at[e.b]]) for e in scene.edges if e.a in at and e.b in at]
    return [shape.buffer(BODY) for shape in (*lines, *map(Point, at.values()))]


def rebuild_graph(before: Scene, changed: Scene) -> Scene:
    """Return an edited scene with a new graph, or if inexact without what is blocked."""
    built = (before.walls, before.stairs) == (changed.walls, changed.stairs)
    if built and _standing(before) == _standing(changed):
        return changed
    exact = all(link.jambs for link in changed.links if link.kind in ("opening", "door"))
    if exact and changed.links and all(region.polygon for region in changed.regions):
        viewpoints, edges = place_viewpoints(
            changed.regions,
            changed.links,
            changed.items,
            changed.stairs,
            PERSON if before.source == "home" else BODY,
        )
        return changed.replace(viewpoints=viewpoints, edges=edges)
    return _without_blocked(changed, set(_standing(changed)) - set(_standing(before)))


def _standing(scene: Scene) -> list[tuple[str, Box]]:
    return [(i.region, box) for i in scene.items if i.region and (box := _box(i)) is not None]


def _without_blocked(scene: Scene, new: Set[tuple[str, Box]]) -> Scene:
    """Return the scene without viewpoints and edges that a new item blocks.

    Raises:
        SceneError: the graph would be disconnected.
    """
    blocks: dict[str | None, list[Polygon]] = {}
    for region, box in new:
        floor = scene.region_by_id[region].center[1]
        if box.top > floor + FLAT and box.bottom < floor + HEAD:
            blocks.setdefault(region, []).append(Polygon(box.corners()))
    shapes = {region: shapely.union_all(each) for region, each in blocks.items()}
    at = {v.id: v for v in scene.viewpoints}

    def free(*ends: str) -> bool:
        line = LineString([(at[e].position[0], at[e].position[2]) for e in (*ends, ends[-1])])
        return all(
            shapes[str(at[end].region)].distance(line) > 0
            for end in ends
            if at[end].region in shapes
        )

    kept = {name for name in at if free(name)}
    edges = tuple(e for e in scene.edges if e.a in kept and e.b in kept and free(e.a, e.b))
    graph: nx.Graph[str] = nx.Graph((e.a, e.b) for e in edges)
    graph.add_nodes_from(kept)
    parts = nx.number_connected_components(graph)
    lost = {v.region for v in scene.viewpoints} - {at[name].region for name in kept}
    if lost or parts > nx.number_connected_components(scene.navigation_graph()):
        raise SceneError("one could not walk through all of the home any more.")
    return scene.replace(viewpoints=tuple(v for v in scene.viewpoints if v.id in kept), edges=edges)
