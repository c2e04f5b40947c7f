"""What a scene looks like: pictures from a pose, from above and of one thing, and words of them.

A renderer answers, which is another package's: each function below asks the entry point of its name
in the group ``navloom.viewers``, imported when it is first asked for. ``navloom-worlds`` has them
all; without it nothing can be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom.plugins import plugin, plugins
from navloom.scenes.plan_svg import FromAbove
from navloom.scenes.scene import Scene
from navloom.sim.protocol import CaptionSource, Simulator

GROUP = "navloom.viewers"
EYE_M = 1.5
"""How high an eye is above the floor where a viewpoint does not say it, in metres."""


class Portrait(Protocol):
    """One thing as it is seen."""

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """(height, width, 3), the thing ringed in red."""
        ...


def can_look(scene: Scene) -> bool:
    """Whether pictures of a scene can be made: it has geometry, and a renderer is installed."""
    return "can_look" in plugins(GROUP) and bool(_ask("can_look")(scene))


def look_from(scene: Scene, place: str, *, light: str = "baked") -> bytes:
    """The panorama from a place: Left, Front, Right and Back in a row, a PNG file.

    Args:
        scene: with geometry.
        place: a viewpoint's id, whose ways on are marked by numbers, ``ID,heading``, or
            ``x,z``, ``x,z,heading`` or ``x,y,z,heading`` in metres and degrees clockwise from -z.
            A room is seen from the viewpoint in it with the most before it. Where no heading is
            said, Front is where there is most to see.
        light: ``baked``, worked out once a home, or ``flat``, which takes no time.

    Raises:
        SimulatorError: there is no such place or light, or no geometry.
    """
    return bytes(_ask("look")(scene, place, light=light))


def panorama_at(
    scene: Scene,
    viewpoint: str,
    heading: float,
    options: Sequence[str] | None = None,
    *,
    size: int = 512,
    at: Sequence[float] | None = None,
    light: str = "baked",
) -> bytes:
    """The panorama from a viewpoint with its ways on numbered, a PNG file.

    Args:
        scene: with geometry.
        viewpoint: where.
        heading: radians; it is brought to its quarter.
        options: the viewpoints next to it in the order of their numbers; clockwise from north
            unless given.
        size: pixels that a view is wide and high.
        at: another place to look from, x, y of the floor and z, whence no ways are numbered.
        light: ``baked`` or ``flat``.

    Raises:
        SimulatorError: the scene has no such viewpoint, or no geometry.
    """
    made = _ask("panorama")(scene, viewpoint, heading, options, size=size, at=at, light=light)
    return bytes(made)


def looking(scene: Scene, size: int, *, light: str = "baked") -> Simulator:
    """A simulator whose four level views are squares of so many pixels; to be closed.

    Raises:
        SimulatorError: there is no geometry, or no such light.
    """
    made: Simulator = _ask("eye")(scene, size, light=light)
    return made


def floors_from_above(
    scene: Scene, floors: Iterable[int] | None = None, *, a_metre: int = 80
) -> dict[int, FromAbove]:
    """Floors from straight above with their ceilings off, each made once per scene.

    Args:
        scene: with geometry.
        floors: these; all by default.
        a_metre: pixels a metre.
    """
    return dict(_ask("above")(scene, floors, a_metre=a_metre))


def portrait(scene: Scene, item: str) -> Portrait | None:
    """A thing from the viewpoint near it that shows most of it; None where none shows it.

    Args:
        scene: with geometry.
        item: the thing's id.
    """
    made: Portrait | None = _ask("portrait")(scene, item)
    return made


def seen_words(scene: Scene) -> CaptionSource:
    """Captions of what is in sight, made once per scene.

    Args:
        scene: one that :func:`can_look` says can be looked at.
    """
    made: CaptionSource = _ask("words")(scene)
    return made


def rig_for_views(views: int) -> str | None:
    """The rig that gives so many views; None without a renderer.

    Args:
        views: one of :data:`navloom.sim.views.FORMS`.
    """
    return str(_ask("rig_for_views")(views)) if "rig_for_views" in plugins(GROUP) else None


def check_rig(rig: str) -> None:
    """Refuse a name that is no rig's.

    Raises:
        SimulatorError: there is none of that name, or its file is broken.
    """
    if "rig" in plugins(GROUP):
        _ask("rig")(rig)


def draw_kinds(*, assets: bool, objects: bool, labels: bool) -> tuple[Any, int]:
    """A sheet of kinds of things, each alone: a picture of pillow's, and how many there are."""
    made: tuple[Any, int] = _ask("kinds")(assets=assets, objects=objects, labels=labels)
    return made


@cache
def _ask(name: str) -> Any:
    return plugin(GROUP, name, "A picture of a scene", SimulatorError)
