"""Captions from visibility: the visible items, their size, direction and distance.

A caption lists items that take up at least ``NOTICED`` steradians around the eye, the largest
first: a sofa at the other end of a room, but no cup there. Items of the next room are listed with
the doorway through which they are seen; a closed door hides them. Captions depend on the scene
alone, not on the agent's backend.

Visibility from a viewpoint is determined by one cast of rays all around its eye. The rays are
spread evenly over the sphere, so that the share which hits an item is its solid angle. Occlusion is
as in a frame of ids. No image is rendered. If the scene's mesh is cached on disk, the result is
cached there, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from typing import IO

import numpy as np

from navloom.disk_cache import SIGHTS, code_key, content_key
from navloom.scenes.distances import heading_to, scene_cached, turn_between
from navloom.scenes.scene import Link, Point3, Scene, Viewpoint, distance_2d
from navloom.sim.caption_composer import CaptionComposer, NearbyObject, item_phrase, one_line
from navloom.sim.protocol import MOST_DESCRIPTION
from navloom.sim.scene_images import EYE_M, can_render
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.geometry.arrays import F32, F64, I32
from navloom_worlds.geometry.mesh import mesh_cache_key
from navloom_worlds.geometry.semantic_ids import (
    NOTHING,
    door_owner,
    item_owner,
    opening_owner,
    owner_name,
)

RAYS = 40_000
"""One ray covers 0.0003 steradians: a cup 4 m away."""
_STERADIANS = 4 * math.pi / RAYS
_FREE_M = 0.25
"""Distance before a point within which a hit counts as that point: a door's leaf or frame."""
_SIZELESS_M = 12.0
_SIZELESS_SIDE_M = 0.4
"""An item of unknown size is searched within this distance, and assumed to have this size."""
_FRAME_SR = 0.003
_MOST_BYTES = 4_000_000
_AT_HAND_M = 1.0
"""Distance within which a doorway counts as visible, m."""
_HEIGHTS = (0.3, 1.0, 1.7)
_ACROSS = (-0.35, 0.0, 0.35)


@dataclass(frozen=True, slots=True)
class OwnerSighting:
    """Visible part of one owner.

    Attributes:
        owner: owner id; see :mod:`navloom_worlds.geometry.semantic_ids`.
        steradians: solid angle of the visible part.
        heading: direction of its centre, radians in [0, 2 pi).
        left: extent to the left of the centre, radians, at least 0.
        right: extent to the right.
        elevation: elevation of the centre, radians, positive upwards.
        nearest: metres from the eye to the nearest visible point.
        median: median distance of the visible points in metres.
        middle: mean of the visible points.
    """

    owner: int
    steradians: float
    heading: float
    left: float
    right: float
    elevation: float
    nearest: float
    median: float
    middle: Point3


@dataclass(frozen=True, slots=True)
class ViewpointSight:
    """Visibility from one viewpoint.

    Attributes:
        seen: one entry for each visible item, door and window, the largest first.
        links: indices in ``scene.links`` of the visible doorways of its region.
    """

    seen: tuple[OwnerSighting, ...]
    links: frozenset[int]


def eye_position(viewpoint: Viewpoint) -> Point3:
    """Return the eye position of a person at a viewpoint, in metres."""
    x, y, z = viewpoint.position
    return x, y if viewpoint.eye_height else y + EYE_M, z


def viewpoint_sight(scene: Scene, viewpoint: str) -> ViewpointSight:
    """Return the visibility from a viewpoint, cached per scene and viewpoint.

    Raises:
        SceneError: the scene has no geometry, or its mesh file is broken.
    """
    return scene_cached(scene, f"sight:{viewpoint}", lambda: _sight(scene, viewpoint))


def _sight(scene: Scene, viewpoint: str) -> ViewpointSight:
    mesh = mesh_cache_key(scene) if can_render(scene) else None
    if mesh is None:
        return _look(scene, viewpoint)
    code = code_key(__file__, libraries=("embreex", "numpy"))
    return SIGHTS.kept(
        f"{content_key('navloom sight', code, mesh, viewpoint)}.json",
        lambda: _look(scene, viewpoint),
        _save,
        lambda file: _load(file, scene),
    )


def _save(file: IO[bytes], sight: ViewpointSight) -> None:
    rows = [astuple(each) for each in sight.seen]
    file.write(json.dumps([rows, sorted(sight.links)]).encode())


def _load(file: IO[bytes], scene: Scene) -> ViewpointSight:
    rows, links = json.loads(file.read(_MOST_BYTES + 1))
    seen = tuple(OwnerSighting(*(*row[:-1], tuple(row[-1]))) for row in rows)
    for each in seen:
        numbers = (*astuple(each)[1:-1], *each.middle)
        named = owner_name(scene, each.owner) and len(each.middle) == len("xyz")
        if not (named and all(map(math.isfinite, numbers))):
            raise ValueError("not what was written")
    if not set(links) <= set(range(len(scene.links))):
        raise ValueError("not what was written")
    return ViewpointSight(seen, frozenset(links))


def _look(scene: Scene, viewpoint: str) -> ViewpointSight:
    here = scene.viewpoint_by_id[viewpoint]
    eye = np.array(eye_position(here), dtype=np.float64)
    aims = [
        (door_owner(index), points)
        for index, link in enumerate(scene.links)
        if here.region in (link.a, link.b) and len(points := _through(link))
    ]
    aims += [
        (item_owner(index), np.array([item.position], dtype=np.float64))
        for index, item in enumerate(scene.items)
        if item.size is None and math.dist(item.position, eye) <= _SIZELESS_M
    ]
    rays = np.concatenate([_directions(), *(points - eye for _, points in aims)])
    mesh = scene_mesh(scene)
    hits = mesh.caster.cast(eye.astype(np.float32), rays.astype(np.float32))
    owners = np.where(hits.face >= 0, mesh.owners[hits.face], NOTHING)
    met = (owners[:RAYS] > NOTHING) | (owners[:RAYS] <= door_owner(0))
    seen = _sightings(eye, rays[:RAYS][met], hits.distance[:RAYS][met], owners[:RAYS][met])
    # A door is visible if its frame or leaf is.
    links = {door_owner(0) - each.owner for each in seen if each.steradians >= _FRAME_SR} & {
        door_owner(0) - owner for owner, _ in aims
    }
    first = RAYS
    for owner, points in aims:
        part = slice(first, first + len(points))
        first = part.stop
        far = np.linalg.norm(rays[part], axis=1)
        # A ray to a point has the length of its distance, so a hit distance of 1 is the point.
        free = bool(np.any((1 - hits.distance[part]) * far <= _FREE_M))
        if owner > 0 and free:
            seen.append(_point(owner, eye, points[0]))
        elif owner < 0:
            beside = math.hypot(*np.mean(rays[part], axis=0)[[0, 2]]) <= _AT_HAND_M
            if free or beside or bool(np.any(owners[part] == owner)):
                links.add(door_owner(0) - owner)
    seen.sort(key=lambda each: (-each.steradians, -each.owner))
    return ViewpointSight(tuple(seen), frozenset(links))


@lru_cache(maxsize=1)
def _directions() -> F64:
    """Return (RAYS, 3) unit vectors, spread evenly in a Fibonacci spiral, neighbours adjacent."""
    number = np.arange(RAYS) + 0.5
    up = 1 - 2 * number / RAYS
    turn = number * math.pi * (3 - math.sqrt(5)) % (2 * math.pi)
    order = np.lexsort((turn, np.round(up * 60)))
    up, turn = up[order], turn[order]
    level = np.sqrt(1 - up * up)
    return np.stack([level * np.sin(turn), up, -level * np.cos(turn)], axis=1)


def _through(link: Link) -> F64:
    """Return points in a doorway, (n, 3): some heights, and some positions across it."""
    if link.point is None:
        return np.zeros((0, 3))
    x, y, z = link.point
    across = np.zeros(2)
    if link.jambs is not None:
        across = np.subtract(link.jambs[1], link.jambs[0])
    top = link.height or max(_HEIGHTS)
    return np.array(
        [
            (x + across[0] * part, y + min(rise, top * 0.9), z + across[1] * part)
            for rise in _HEIGHTS
            for part in (_ACROSS if link.jambs is not None else (0.0,))
        ]
    )


def _sightings(eye: F64, rays: F64, metres: F32, owners: I32) -> list[OwnerSighting]:
    order = np.lexsort((metres, owners))
    names, starts, counts = np.unique(owners[order], return_index=True, return_counts=True)
    found = []
    for name, start, count in zip(names.tolist(), starts.tolist(), counts.tolist(), strict=True):
        mine = order[start : start + count]
        found.append(_sighting(int(name), eye, rays[mine], metres[mine].astype(np.float64)))
    return found


def _point(owner: int, eye: F64, point: F64) -> OwnerSighting:
    """Return the sighting of an item of unknown size whose centre is visible."""
    x, y, z = (point - eye).tolist()
    far = math.hypot(x, y, z)
    return OwnerSighting(
        owner=owner,
        steradians=min(1.0, (_SIZELESS_SIDE_M / max(far, 1e-6)) ** 2),
        heading=heading_to((0.0, 0.0, 0.0), (x, y, z)),
        left=0.0,
        right=0.0,
        elevation=math.atan2(y, math.hypot(x, z)),
        nearest=far,
        median=far,
        middle=(float(point[0]), float(point[1]), float(point[2])),
    )


def _sighting(owner: int, eye: F64, rays: F64, metres: F64) -> OwnerSighting:
    x, y, z = rays.mean(axis=0).tolist()
    heading = heading_to((0.0, 0.0, 0.0), (x, y, z))
    turns = (np.arctan2(rays[:, 0], -rays[:, 2]) - heading + math.pi) % (2 * math.pi) - math.pi
    middle = (eye + (rays * metres[:, None]).mean(axis=0)).tolist()
    return OwnerSighting(
        owner=owner,
        steradians=len(rays) * _STERADIANS,
        heading=heading,
        left=max(0.0, -float(turns.min())),
        right=max(0.0, float(turns.max())),
        elevation=math.atan2(y, math.hypot(x, z)),
        nearest=float(metres[0]),
        median=float(np.median(metres)),
        middle=(middle[0], middle[1], middle[2]),
    )


NOTICED = 0.003
"""Minimum solid angle in steradians of an item in the caption of a sector or a candidate: 17 cm
square at 3 m, 35 cm square at 6 m. Items within 3 m are listed as near regardless of size."""
_MOST_LANDMARKS = 3
_BY_M = 2.0
_ASIDE = math.radians(60)
"""Maximum angle between a candidate's direction and an item that lies in that direction."""
_WIDE_M = 0.4
_SHUT = ("closed", "locked")


_SCENES_KEPT = 4
_kept: list[VisibleCaptions] = []


def scene_captions(scene: Scene) -> VisibleCaptions:
    """Return the visibility captions of a scene, cached per scene.

    A scene that is loaded again is recognised by its content, among the last few.
    """
    return scene_cached(scene, "seen_captions", lambda: _again(scene))


def _again(scene: Scene) -> VisibleCaptions:
    for words in _kept:
        if words.scene == scene:
            _kept.remove(words)
            break
    else:
        words = VisibleCaptions(scene)
    _kept.insert(0, words)
    del _kept[_SCENES_KEPT:]
    return words


class VisibleCaptions(CaptionComposer):
    """Caption source that describes the visible items; see the module's docstring.

    Args:
        scene: with geometry; see :func:`navloom.sim.scene_images.can_render`.
    """

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._next: dict[str, list[str]] = {}
        for edge in scene.edges:
            if edge.a != edge.b:
                self._next.setdefault(edge.a, []).append(edge.b)
                self._next.setdefault(edge.b, []).append(edge.a)
        self._things: dict[str, tuple[NearbyObject, ...]] = {}
        self._marks: dict[str, dict[str, list[NearbyObject]]] = {}

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """Return a candidate's description: destination and items, different for each candidate."""
        if (viewpoint, neighbour) not in self._towards:
            ways = sorted({*self._next.get(viewpoint, ()), neighbour})
            said = {each: super(VisibleCaptions, self).towards(viewpoint, each) for each in ways}
            for each, text in self._apart(viewpoint, said).items():
                self._towards[viewpoint, each] = text
        return self._towards[viewpoint, neighbour]

    def _around(self, here: Viewpoint) -> Sequence[NearbyObject]:
        if here.id not in self._things:
            found = (self._thing(here, each) for each in viewpoint_sight(self.scene, here.id).seen)
            self._things[here.id] = tuple(each for each in found if each is not None)
        return self._things[here.id]

    def _thing(self, here: Viewpoint, sighting: OwnerSighting) -> NearbyObject | None:
        scene = self.scene
        if 0 < sighting.owner <= len(scene.items):
            item = scene.items[sighting.owner - 1]
            if item.kind == "structure":
                return None
            named: tuple[str, str, str, str | None]
            named = (item.id, item_phrase(item), item.kind, item.region)
            position = item.position
        else:
            place = opening_owner(0) - sighting.owner
            if not 0 <= place < len(scene.openings):
                return None
            opening, position = scene.openings[place], sighting.middle
            words = "window" if opening.kind == "window" else "door to the outside"
            named = (f"{opening.kind} {place}", words, "opening", opening.region)
        name, words, kind, region = named
        thing = NearbyObject(
            id=name,
            name=words,
            kind=kind,
            heading=sighting.heading,
            metres=distance_2d(here.position, position),
            position=position,
            region=region,
            told=sighting.steradians >= NOTICED,
            left=sighting.left,
            right=sighting.right,
        )
        if thing.region is None or here.region in (None, thing.region):
            return thing
        through = self._through(here, sighting, thing.region)
        if through is None or through.door in _SHUT:
            return None
        return replace(thing, through=through)

    def _through(self, here: Viewpoint, sighting: OwnerSighting, region: str) -> Link | None:
        """Return the doorway of the own region through which an item of another region is seen.

        A doorway to its region wins, else the one nearest to the line of sight.
        """
        best: tuple[bool, float] | None = None
        found = None
        for link in self._links.get(here.region or "", ()):
            if link.point is None:
                continue
            off = _off_line(eye_position(here), sighting.middle, link.point)
            if off > (link.width or 1.0) / 2 + _WIDE_M:
                continue
            rank = (region not in (link.a, link.b), off)
            if best is None or rank < best:
                best, found = rank, link
        return found

    def _foremost(self, things: Sequence[NearbyObject]) -> Iterable[NearbyObject]:
        return [each for each in things if each.told]

    def _ways_out(self, here: Viewpoint) -> Sequence[Link]:
        """Return the visible doors and openings; stairs and lifts always count as visible."""
        in_sight = {id(self.scene.links[k]) for k in viewpoint_sight(self.scene, here.id).links}
        return [
            link
            for link in self._links.get(here.region or "", ())
            if link.point is None or link.kind not in ("door", "opening") or id(link) in in_sight
        ]

    def _landmarks(self, here: Viewpoint, there: Viewpoint) -> Sequence[str]:
        if here.id not in self._marks:
            self._marks[here.id] = self._marked(here)
        marks = self._marks[here.id].get(there.id, [])
        return list(dict.fromkeys(each.name for each in marks))[:_MOST_LANDMARKS]

    def _way(self, here: Viewpoint, there: Viewpoint) -> str:
        """Describe a candidate; without landmarks, by a nearby item or the doorway ahead."""
        text = super()._way(here, there)
        if there.region is None or self._landmarks(here, there):
            return text
        if there.region == here.region:
            return text + self._on_to(here, there)
        by = [
            (distance_2d(there.position, each.position), each.id, each.name)
            for each in self._around(here)
            if each.told and each.region == here.region and _lies_ahead(here, there, each.heading)
        ]
        metres, _, name = min(by, default=(math.inf, "", ""))
        return f"{text}, by the {name}" if metres <= _BY_M else text

    def _on_to(self, here: Viewpoint, there: Viewpoint) -> str:
        """Return ``, towards the study``: the doorway nearest to a candidate in the same room."""
        ahead = [
            (distance_2d(there.position, link.point), self._beyond(link, here.region))
            for link in self._ways_out(here)
            if link.point is not None
            and distance_2d(there.position, link.point) < distance_2d(here.position, link.point)
            and _lies_ahead(here, there, heading_to(here.position, link.point))
        ]
        if not ahead or not self._lead(here, there).startswith("further"):
            return ""
        return f", towards the {min(ahead)[1]}"

    def _marked(self, here: Viewpoint) -> dict[str, list[NearbyObject]]:
        """Return the visible items at each candidate: each item is at the candidate nearest to it.

        A candidate without an item shares those of others in its direction, the nearest first.
        """
        places = self.scene.viewpoint_by_id
        ends = [places[each] for each in sorted(set(self._next.get(here.id, ())))]
        told = [each for each in self._around(here) if each.told]
        own: dict[str, list[NearbyObject]] = {each.id: [] for each in ends}
        shared: dict[str, list[tuple[float, NearbyObject]]] = {each.id: [] for each in ends}
        for thing in told:
            fit = [
                (distance_2d(end.position, thing.position), end.id)
                for end in ends
                if _lies_that_way(here, end, thing)
            ]
            for metres, end in fit:
                shared[end].append((metres, thing))
            if fit:
                own[min(fit)[1]].append(thing)
        return {
            end: own[end] or [each for _, each in sorted(shared[end], key=lambda s: s[0])]
            for end in own
        }

    def _apart(self, viewpoint: str, said: dict[str, str]) -> dict[str, str]:
        """Make the descriptions of candidates distinct, by adding distances or directions."""
        here = self.scene.viewpoint_by_id[viewpoint]
        alike: dict[str, list[str]] = {}
        for each, text in said.items():
            alike.setdefault(text, []).append(each)
        apart = dict(said)
        for text, ways in alike.items():
            if len(ways) == 1:
                continue
            ends = [self.scene.viewpoint_by_id[each] for each in ways]
            metres = [f"{math.dist(here.position, e.position):.1f} m on" for e in ends]
            degrees = [
                f"at {math.degrees(heading_to(here.position, e.position)):.0f} degrees of the map"
                for e in ends
            ]
            tails = next(
                (tail for tail in (metres, degrees) if len(set(tail)) == len(ways)),
                [f"{a}, {b}" for a, b in zip(metres, degrees, strict=True)],
            )
            for each, tail in zip(ways, tails, strict=True):
                room = MOST_DESCRIPTION - len(tail) - 2
                apart[each] = f"{one_line(text, room)}, {tail}"
        return apart


def _lies_that_way(here: Viewpoint, end: Viewpoint, thing: NearbyObject) -> bool:
    if end.region is not None and end.region != here.region:
        return thing.region == end.region
    if thing.region is not None and end.region is not None and thing.region != end.region:
        return False
    if distance_2d(end.position, thing.position) >= thing.metres:
        return False
    return _lies_ahead(here, end, thing.heading)


def _lies_ahead(here: Viewpoint, end: Viewpoint, heading: float) -> bool:
    return abs(turn_between(heading_to(here.position, end.position), heading)) <= _ASIDE


def _off_line(eye: Point3, seen_at: Point3, point: Point3) -> float:
    """Return the ground-plane distance of a point from the line of sight, in metres."""
    ax, az = seen_at[0] - eye[0], seen_at[2] - eye[2]
    bx, bz = point[0] - eye[0], point[2] - eye[2]
    square = ax * ax + az * az
    part = min(1.0, max(0.0, (ax * bx + az * bz) / square)) if square else 0.0
    return math.hypot(bx - part * ax, bz - part * az)
