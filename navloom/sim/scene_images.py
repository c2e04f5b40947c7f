"""Images of a scene: panoramas, top-down floors and single items, and captions of what is visible.

A renderer of another package produces them. Each function below calls an entry point of the group
``navloom.viewers``, imported on first use. ``navloom-worlds`` provides them all; without it nothing
can be rendered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom.plugins import find_plugins, load_plugin
from navloom.scenes.plan_svg import TopDownImage
from navloom.scenes.scene import Scene
from navloom.sim.protocol import CaptionSource, Simulator

GROUP = "navloom.viewers"
EYE_M = 1.5
"""Eye height in metres above the floor for viewpoints without one."""


class ItemImage(Protocol):
    """Image of one item."""

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """Pixels (height, width, 3), the item circled in red."""
        ...


def can_render(scene: Scene) -> bool:
    """Check whether images of a scene can be rendered: it has geometry, and a renderer exists."""
    return "can_look" in find_plugins(GROUP) and bool(_ask("can_look")(scene))


def render_panorama(scene: Scene, place: str, *, light: str = "baked") -> bytes:
    """Render the panorama from a place: Left, Front, Right and Back in a row, as a PNG file.

    Args:
        scene: with geometry.
        place: a viewpoint's id or ``ID,heading``, whose candidates are numbered; a room's id; or
            ``x,z``, ``x,z,heading`` or ``x,y,z,heading`` in metres and degrees clockwise from -z.
            A room is seen from its viewpoint with the widest view. Without a heading, Front is the
            direction with the most to see.
        light: ``baked``, computed once a home, or ``flat``, which takes no time.

    Raises:
        SimulatorError: there is no such place or light, or no geometry.
    """
    return bytes(_ask("look")(scene, place, light=light))


def candidate_panorama(
    scene: Scene,
    viewpoint: str,
    heading: float,
    options: Sequence[str] | None = None,
    *,
    size: int = 512,
    at: Sequence[float] | None = None,
    light: str = "baked",
) -> bytes:
    """Render the panorama from a viewpoint with its candidates numbered, as a PNG file.

    Args:
        scene: with geometry.
        viewpoint: the viewpoint's id.
        heading: radians; it is rounded to a quarter turn.
        options: the candidates in the order of their numbers; clockwise from north unless given.
        size: width and height of a view in pixels.
        at: another position to look from, x, y of the floor and z, without numbered candidates.
        light: ``baked`` or ``flat``.

    Raises:
        SimulatorError: the scene has no such viewpoint, or no geometry.
    """
    made = _ask("panorama")(scene, viewpoint, heading, options, size=size, at=at, light=light)
    return bytes(made)


def four_view_simulator(scene: Scene, size: int, *, light: str = "baked") -> Simulator:
    """Create a simulator with four level views of ``size`` x ``size`` pixels; close it after use.

    Raises:
        SimulatorError: there is no geometry, or no such light.
    """
    made: Simulator = _ask("eye")(scene, size, light=light)
    return made


def render_floors(
    scene: Scene, floors: Iterable[int] | None = None, *, a_metre: int = 80
) -> dict[int, TopDownImage]:
    """Render floors top-down without their ceilings, each once per scene.

    Args:
        scene: with geometry.
        floors: only these; all by default.
        a_metre: pixels a metre.
    """
    return dict(_ask("above")(scene, floors, a_metre=a_metre))


def render_item(scene: Scene, item: str) -> ItemImage | None:
    """Render an item from the nearby viewpoint that shows most of it; None if none shows it.

    Args:
        scene: with geometry.
        item: the item's id.
    """
    made: ItemImage | None = _ask("portrait")(scene, item)
    return made


def sight_captions(scene: Scene) -> CaptionSource:
    """Return the source of captions of what is visible, made once per scene.

    Args:
        scene: one for which :func:`can_render` is true.
    """
    made: CaptionSource = _ask("words")(scene)
    return made


def rig_for_views(views: int) -> str | None:
    """Return the rig that supplies a number of views; None without a renderer.

    Args:
        views: one of :data:`navloom.sim.views.FORMS`.
    """
    return str(_ask("rig_for_views")(views)) if "rig_for_views" in find_plugins(GROUP) else None


def check_rig(rig: str) -> None:
    """Raise an error for an unknown rig.

    Raises:
        SimulatorError: there is none of that name, or its file is broken.
    """
    if "rig" in find_plugins(GROUP):
        _ask("rig")(rig)


def draw_item_kinds(*, assets: bool, objects: bool, labels: bool) -> tuple[Any, int]:
    """Render a sheet of item kinds; return a Pillow image and the number of kinds."""
    made: tuple[Any, int] = _ask("kinds")(assets=assets, objects=objects, labels=labels)
    return made


@cache
def _ask(name: str) -> Any:
    return load_plugin(GROUP, name, "A picture of a scene", SimulatorError)
