"""What a mend changes, close up: every place before and after, with the figures that changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from navloom.scenes.mend.changes import Change
from navloom.scenes.mend.route_drive import Drive
from navloom.scenes.parts import Box, Link
from navloom.scenes.plan_building import draw_building
from navloom.scenes.plan_data import plan_data
from navloom.scenes.plan_legend import Rect
from navloom.scenes.rebuild import ramp_over
from navloom.scenes.scene import Scene

MOST = 4
"""Places that are shown; a mend of more has its dearest shown."""
_HALF = 1.25
"""Metres to each side of a place."""
_BESIDE = 0.4
_INK, _WAY = "#d6303a", "#1f5fbf"
_SIDE, _GAP, _SAID = 1.55, 0.12, 0.35
"""Inches: of a picture, beside it, of the words over it."""
HIGH = _SIDE + _SAID + _GAP


@dataclass(frozen=True)
class Place:
    """Where something is changed.

    Attributes:
        numbers: of the changes, from 1 on.
        changes: what is done there.
        floor: its floor's id.
        x: its middle; z likewise.
        z: see x.
        half: metres to each side that are worth a look.
    """

    numbers: tuple[int, ...]
    changes: tuple[Change, ...]
    floor: int
    x: float
    z: float
    half: float = _HALF

    @property
    def label(self) -> str:
        """Its numbers as they are written."""
        return ", ".join(map(str, self.numbers))


def places_of(scene: Scene, changes: Sequence[Change]) -> list[Place]:
    """The places of changes, those that are made to one link as one; a lift has two."""
    found: dict[tuple[int, float, float], Place] = {}
    for number, change in enumerate(changes, start=1):
        for floor, x, z, half in _where(scene, change):
            key = floor, round(x, 2), round(z, 2)
            known = found.get(key)
            numbers = (*known.numbers, number) if known else (number,)
            made = (*known.changes, change) if known else (change,)
            found[key] = Place(numbers, made, floor, x, z, half)
    return list(found.values())


def _where(scene: Scene, change: Change) -> Iterator[tuple[int, float, float, float]]:
    if change.item is not None:
        item = scene.item_by_id[change.item]
        region = scene.region_by_id[str(item.region)]
        wide = math.hypot(item.size[0], item.size[2]) / 2 if item.size else 0.0
        yield region.floor, item.position[0], item.position[2], max(_HALF, wide + _BESIDE)
    elif change.ends is not None and change.at is not None:
        for each in change.ends:
            yield scene.region_by_id[each].floor, *change.at, _HALF
    elif (link := scene.links[change.link or 0]).point is not None:
        x, _, z = link.point
        half = max(_HALF, (link.width or 0.0) / 2 + 2 * _BESIDE)
        yield scene.region_by_id[link.a].floor, x, z, half


def draw_details(
    figure: Figure,
    rect: Rect,
    homes: tuple[Scene, Scene],
    drives: tuple[Drive, Drive | None],
    places: Sequence[Place],
) -> None:
    """Draw places before and after, side by side, in a row.

    Args:
        figure: the figure to draw on.
        rect: where on it, in inches.
        homes: as it is and as it will be.
        drives: how the body drove in each.
        places: the first :data:`MOST` are drawn.
    """
    left, bottom, width, _ = rect
    shown = places[:MOST]
    wide = 2 * _SIDE + _GAP
    apart = (width - len(shown) * wide) / (len(shown) + 1)
    size = figure.get_figwidth(), figure.get_figheight()
    for k, place in enumerate(shown):
        start = left + apart + k * (wide + apart)
        for number, (home, drive) in enumerate(zip(homes, drives, strict=True)):
            x = start + number * (_SIDE + _GAP)
            axes = figure.add_axes(
                (x / size[0], bottom / size[1], _SIDE / size[0], _SIDE / size[1])
            )
            _close_up(axes, home, place, drive)
            _marked(axes, homes[0], home, place, before=number == 0)
            said = "\n".join(_said(homes[0], each)[number] for each in place.changes[:2])
            axes.set_title(said, fontsize=7, pad=3, parse_math=False)
        at = (start - 0.06) / size[0], (bottom + _SIDE) / size[1]
        figure.text(*at, place.label, ha="right", va="top", fontsize=9, color=_INK)


def _close_up(axes: Axes, home: Scene, place: Place, drive: Drive | None) -> None:
    axes.set_xlim(place.x - place.half, place.x + place.half)
    axes.set_ylim(-place.z - place.half, -place.z + place.half)
    axes.set_aspect("equal")
    axes.set(xticks=[], yticks=[])
    (data,) = plan_data(home, floors=[place.floor]).floors
    draw_building(axes, data, items=True, graph=False)
    high = next(each.height for each in home.floors if each.id == place.floor)
    for leg in drive.path if drive else ():
        near = [(x, -z) for x, y, z in leg if abs(y - high) < 1.0]
        axes.plot([x for x, _ in near], [y for _, y in near], color=_WAY, lw=1.2, zorder=3)


def _marked(axes: Axes, first: Scene, home: Scene, place: Place, *, before: bool) -> None:
    """The changed thing or doorway in red, and how wide the doorway is."""
    for change in place.changes:
        if change.item is not None:
            item = first.item_by_id[change.item]
            if item.size is not None:
                box = Box(center=item.position, size=item.size, yaw=item.yaw)
                ring = [(x, -z) for x, z in box.corners()]
                style = "-" if before else ":"
                xs, ys = zip(*ring, ring[0], strict=True)
                axes.plot(xs, ys, style, color=_INK, lw=1.2, zorder=4)
    for link in {each.link for each in place.changes} - {None}:
        _measured(axes, home.links[link or 0])


def _measured(axes: Axes, link: Link) -> None:
    """A line from jamb to jamb with its length."""
    if link.jambs is None or link.width is None:
        return
    (ax, az), (bx, bz) = link.jambs
    look = {"arrowstyle": "<->", "color": _INK, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (bx, -bz), xytext=(ax, -az), arrowprops=look, zorder=4)
    axes.annotate(
        f"{link.width * 100:.0f} cm",
        ((ax + bx) / 2, -(az + bz) / 2),
        xytext=(7, 7),
        textcoords="offset points",
        fontsize=7.5,
        color=_INK,
        weight="bold",
        zorder=5,
        bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8},
    )


def _said(scene: Scene, change: Change) -> tuple[str, str]:
    """A change in a word before and a word after."""
    if change.item is not None:
        return change.item, "taken away"
    if change.ends is not None:
        return "floor", "platform lift"
    link = scene.links[change.link or 0]
    now = f"{(link.width or 0.0) * 100:.0f} cm wide"
    if change.kind == "ramp":
        ramp = ramp_over(scene, link)
        return f"step of {ramp.rise * 100:.0f} cm", f"ramp of 1:{ramp.slope}"
    said: dict[str, tuple[str, str]] = {
        "open": (f"door {link.door}", "door open"),
        "slide": ("door folds" if link.leaf == "folding" else "door swings", "door slides"),
        "level": (f"sill of {(link.threshold or 0.0) * 100:.1f} cm", "no sill"),
        "widen": (now, f"{(change.width or 0.0) * 100:.0f} cm wide"),
    }
    return said[change.kind]
