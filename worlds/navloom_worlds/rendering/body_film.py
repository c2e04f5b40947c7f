"""Films of moving bodies: the scene cut open above them, seen obliquely by a fixed camera.

A red pin marks a collision for half a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from navloom.scenes.scene import Point3, Scene
from navloom_worlds.geometry.arrays import F64, U8
from navloom_worlds.motion.path_follower import MotionSnapshot
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.embedded import scene_renderer
from navloom_worlds.rendering.other_agents import add_bodies

FILM_SIZE = (640, 400)
CUT_M = 1.1
"""Height above the lowest body's floor at which the scene is cut open."""
_ASLANT = math.radians(-55)
_FOV = math.radians(45)
_MARGIN_M = 1.2
_WIDEST_M = 7.0
"""Extent of the paths above which the camera follows the bodies."""
_SHOWN_S = 0.5
_LEAST_M = 0.02
"""Minimum displacement in metres of a contact that is shown."""


def film_bodies(
    scene: Scene,
    instants: Iterable[MotionSnapshot],
    camera: Camera | None = None,
    *,
    cut: float | None = None,
) -> Iterator[U8]:
    """Render the motion of bodies, frame by frame.

    Args:
        scene: with geometry.
        instants: one per frame; all are read first if no camera is given.
        camera: a fixed one; None shows the whole paths, or follows them if they are long.
        cut: y in metres above which the scene is cut away; used with a given camera.

    Yields:
        (height, width, 3) uint8.

    Raises:
        SceneError: the scene has no geometry.
        SimulatorError: embreex is not installed.
    """
    renderer, recent = scene_renderer(scene), list[tuple[float, Point3]]()
    seen: Iterable[tuple[MotionSnapshot, Camera, float | None]]
    if camera is None:
        shown = list(instants)
        seen = ((now, *view) for now, view in zip(shown, _cameras(shown), strict=True))
    else:
        seen = ((now, camera, cut) for now in instants)
    for now, view, above in seen:
        recent += [(now.second, hit.point) for _, hit in now.bumps if hit.displacement >= _LEAST_M]
        marks = [at for second, at in recent if now.second - second < _SHOWN_S]
        bodies = dict(enumerate(now.bodies.values()))
        yield add_bodies(renderer, bodies, marks=marks, cut=above).frame(view).rgb


def overhead_camera(
    places: Sequence[Point3],
    *,
    heading: float = 0.0,
    elevation: float = _ASLANT,
    margin: float = _MARGIN_M,
    size: tuple[int, int] = FILM_SIZE,
) -> Camera:
    """Return an oblique overhead camera that shows all given floor positions.

    Args:
        places: at least one.
        heading: radians, its direction.
        elevation: radians, below 0.
        margin: metres around them.
        size: pixels wide and high.
    """
    points = np.array(places, dtype=np.float64)
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    middle = (low + high) / 2
    middle[1] = points[:, 1].mean()
    camera = Camera(_point(middle), heading, elevation, *size, fov=_FOV)
    right, up, ahead = camera.axes
    corners = np.array([(x, middle[1], z) for x in (low[0], high[0]) for z in (low[2], high[2])])
    wide = math.tan(_FOV / 2)
    down = wide * size[1] / size[0]
    off = corners - middle
    far = np.max([np.abs(off @ right) / wide - off @ ahead, np.abs(off @ up) / down - off @ ahead])
    return replace(camera, position=_point(middle - ahead * far))


def _point(values: F64) -> Point3:
    return float(values[0]), float(values[1]), float(values[2])


def _cameras(instants: Sequence[MotionSnapshot]) -> list[tuple[Camera, float]]:
    """Return the camera and the cutting height for each instant."""
    places = [[stand.position for _, stand in each.bodies.values()] for each in instants]
    every = [place for each in places for place in each]
    array = np.array(every)
    spread = np.ptp(array, axis=0)
    # The image is wide along the longer side of the paths.
    heading = 0.0 if spread[0] >= spread[2] else math.pi / 2
    if max(spread[0], spread[2]) <= _WIDEST_M and spread[1] < 1.0:
        camera = overhead_camera(every, heading=heading)
        return [(camera, float(array[:, 1].min()) + CUT_M)] * len(instants)
    middles = np.array([np.mean(each, axis=0) for each in places])
    seconds = np.array([each.second for each in instants])
    found = []
    for second in seconds:
        near = np.exp(-np.square(seconds - second))
        middle = (middles * near[:, None]).sum(axis=0) / near.sum()
        camera = overhead_camera([_point(middle)], heading=0.0, margin=_WIDEST_M / 3)
        found.append((camera, float(middle[1]) + CUT_M))
    return found
