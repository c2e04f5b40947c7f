"""What is in sight of a viewpoint: one cast of rays all around its eye, and what they meet.

The rays are spread evenly over the sphere, so that the share which meets a thing is the solid angle
it takes up; what stands before it hides it, as in a frame of ids. No picture is made of them. What
was found in a scene whose mesh is kept on disk is kept there, too.
"""

from __future__ import annotations

import json
import math
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import IO

import numpy as np
from numpy.typing import NDArray

from navloom.disk_cache import SIGHTS, code_key, content_key
from navloom.scenes.distances import heading_to, per_scene
from navloom.scenes.scene import Link, Point3, Scene, Viewpoint
from navloom.sim.viewer import EYE_M, can_look
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.geometry.mesh import mesh_key
from navloom_worlds.geometry.owners import NOTHING, door_owner, item_owner, owner_name

RAYS = 40_000
"""So that one ray stands for 0.0003 steradians: a cup 4 m away."""
_STERADIANS = 4 * math.pi / RAYS
_FREE_M = 0.25
"""What a ray meets so little before a point is what stands there: a door's leaf, its frame."""
_SIZELESS_M = 12.0
_SIZELESS_SIDE_M = 0.4
"""A thing whose size nobody says is looked for within so many metres, as if it were so large."""
_FRAME_SR = 0.003
_MOST_BYTES = 4_000_000
_AT_HAND_M = 1.0
"""Whoever is so near a way through knows of it."""
_HEIGHTS = (0.3, 1.0, 1.7)
_ACROSS = (-0.35, 0.0, 0.35)


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is seen of one owner.

    Attributes:
        owner: whose it is; see :mod:`navloom_worlds.geometry.owners`.
        steradians: the solid angle of what is not hidden.
        heading: of the middle of what is seen, radians in [0, 2 pi).
        left: how far it goes on to the left of that, radians, at least 0.
        right: how far to the right.
        elevation: of that middle, radians, positive upwards.
        nearest: metres from the eye to its nearest point seen.
        median: half of what is seen of it is nearer than so many metres.
        middle: the mean of the points seen.
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
class Sight:
    """What is in sight of one viewpoint.

    Attributes:
        seen: one of each thing, door and window, the largest first.
        links: places in ``scene.links`` of the ways through, out of its region, that are in sight.
    """

    seen: tuple[Sighting, ...]
    links: frozenset[int]


def eye_of(viewpoint: Viewpoint) -> Point3:
    """Where the eye of somebody is who stands on a viewpoint, in metres."""
    x, y, z = viewpoint.position
    return x, y if viewpoint.eye_height else y + EYE_M, z


def sight_of(scene: Scene, viewpoint: str) -> Sight:
    """What is in sight of a viewpoint; made once per scene and viewpoint.

    Raises:
        SimulatorError: embreex is not installed.
        SceneError: the scene has no geometry, or its mesh file is broken.
    """
    return per_scene(scene, f"sight:{viewpoint}", lambda: _sight(scene, viewpoint))


def _sight(scene: Scene, viewpoint: str) -> Sight:
    mesh = mesh_key(scene) if can_look(scene) else None
    if mesh is None:
        return _look(scene, viewpoint)
    code = code_key(__file__, libraries=("embreex", "numpy"))
    return SIGHTS.kept(
        f"{content_key('navloom sight', code, mesh, viewpoint)}.json",
        lambda: _look(scene, viewpoint),
        _save,
        lambda file: _load(file, scene),
    )


def _save(file: IO[bytes], sight: Sight) -> None:
    rows = [astuple(each) for each in sight.seen]
    file.write(json.dumps([rows, sorted(sight.links)]).encode())


def _load(file: IO[bytes], scene: Scene) -> Sight:
    rows, links = json.loads(file.read(_MOST_BYTES + 1))
    seen = tuple(Sighting(*(*row[:-1], tuple(row[-1]))) for row in rows)
    for each in seen:
        numbers = (*astuple(each)[1:-1], *each.middle)
        named = owner_name(scene, each.owner) and len(each.middle) == len("xyz")
        if not (named and all(map(math.isfinite, numbers))):
            raise ValueError("not what was written")
    if not set(links) <= set(range(len(scene.links))):
        raise ValueError("not what was written")
    return Sight(seen, frozenset(links))


def _look(scene: Scene, viewpoint: str) -> Sight:
    here = scene.viewpoint_by_id[viewpoint]
    eye = np.array(eye_of(here), dtype=np.float64)
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
    # A frame or a leaf that is seen is a door that is seen.
    links = {door_owner(0) - each.owner for each in seen if each.steradians >= _FRAME_SR} & {
        door_owner(0) - owner for owner, _ in aims
    }
    first = RAYS
    for owner, points in aims:
        part = slice(first, first + len(points))
        first = part.stop
        far = np.linalg.norm(rays[part], axis=1)
        # A ray to a point is as long as the way to it: a distance of 1 is there.
        free = bool(np.any((1 - hits.distance[part]) * far <= _FREE_M))
        if owner > 0 and free:
            seen.append(_point(owner, eye, points[0]))
        elif owner < 0:
            beside = math.hypot(*np.mean(rays[part], axis=0)[[0, 2]]) <= _AT_HAND_M
            if free or beside or bool(np.any(owners[part] == owner)):
                links.add(door_owner(0) - owner)
    seen.sort(key=lambda each: (-each.steradians, -each.owner))
    return Sight(tuple(seen), frozenset(links))


@lru_cache(maxsize=1)
def _directions() -> NDArray[np.float64]:
    """(RAYS, 3) unit vectors, as evenly spread as a sunflower's seeds, neighbours side by side."""
    number = np.arange(RAYS) + 0.5
    up = 1 - 2 * number / RAYS
    turn = number * math.pi * (3 - math.sqrt(5)) % (2 * math.pi)
    order = np.lexsort((turn, np.round(up * 60)))
    up, turn = up[order], turn[order]
    level = np.sqrt(1 - up * up)
    return np.stack([level * np.sin(turn), up, -level * np.cos(turn)], axis=1)


def _through(link: Link) -> NDArray[np.float64]:
    """Points in a way through, (n, 3): some heights, and some places across it."""
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


def _sightings(
    eye: NDArray[np.float64],
    rays: NDArray[np.float64],
    metres: NDArray[np.float32],
    owners: NDArray[np.int32],
) -> list[Sighting]:
    order = np.lexsort((metres, owners))
    names, starts, counts = np.unique(owners[order], return_index=True, return_counts=True)
    found = []
    for name, start, count in zip(names.tolist(), starts.tolist(), counts.tolist(), strict=True):
        mine = order[start : start + count]
        found.append(_sighting(int(name), eye, rays[mine], metres[mine].astype(np.float64)))
    return found


def _point(owner: int, eye: NDArray[np.float64], point: NDArray[np.float64]) -> Sighting:
    """A thing of which nobody says how large it is, where nothing hides its middle."""
    x, y, z = (point - eye).tolist()
    far = math.hypot(x, y, z)
    return Sighting(
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


def _sighting(
    owner: int, eye: NDArray[np.float64], rays: NDArray[np.float64], metres: NDArray[np.float64]
) -> Sighting:
    x, y, z = rays.mean(axis=0).tolist()
    heading = heading_to((0.0, 0.0, 0.0), (x, y, z))
    turns = (np.arctan2(rays[:, 0], -rays[:, 2]) - heading + math.pi) % (2 * math.pi) - math.pi
    middle = (eye + (rays * metres[:, None]).mean(axis=0)).tolist()
    return Sighting(
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
