"""Pictures as a model is shown them: the four-view strip, or 12, 24 or 36 single views.

Source: VLN-MME 3.3 and C.1 (the strip, heading correction), C.2 (36, 24 and 4 images compared),
B.1 (numbered green circles). The strip is Left, Front, Right, Back in a row, each with its name
above. The agent's heading is brought to the nearest quarter first, h in [45, 135) to 90, and the
views that belong to it are taken from the observation, whatever else it holds.

    n     headings               elevations
    4     quarters               level              one picture, the strip
    12    every 30 degrees       level
    24    every 45 degrees       30 up, level, 30 down    (NavGPT's, which C.2 refers to)
    36    every 30 degrees       30 up, level, 30 down    (Matterport3DSimulator's)

A panel is at most ``PANEL`` pixels wide, so that every form is small enough for every provider.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from navloom.errors import SimulatorError
from navloom.scenes.distances import turn_between, wrapped
from navloom.sim.protocol import Candidate, Observation, View

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont


DIRECTIONS = ("Left", "Front", "Right", "Back")
"""The order of the strip's panels."""
FORMS: dict[int, tuple[int, tuple[int, ...]]] = {
    0: (0, ()),
    4: (4, (0,)),
    12: (12, (0,)),
    24: (8, (30, 0, -30)),
    36: (12, (30, 0, -30)),
}
"""How many headings and which elevations, in degrees, a form has; 0 shows nothing."""
PANEL = 512
"""Pixels a panel is wide at most."""
_BAND = 32
_GREEN = (0, 150, 0)
_QUARTER = math.pi / 2


def quarter(heading: float) -> float:
    """The quarter a heading belongs to: 0, 90, 180 or 270 degrees, in radians (VLN-MME C.1).

    Args:
        heading: radians; [45, 135) degrees gives 90.
    """
    # Rounded, since a heading that was worked out as 45 degrees may be a hair less.
    degrees = round(math.degrees(wrapped(heading)), 6)
    return math.radians((math.floor((degrees + 45) / 90) % 4) * 90)


def direction_of(heading: float, target: float) -> str:
    """In which panel of the strip a direction lies: Left, Front, Right or Back.

    Args:
        heading: the agent's, radians; brought to its quarter first.
        target: the direction's, radians in the scene's frame.
    """
    turns = round(quarter(quarter(target) - quarter(heading)) / _QUARTER) % 4
    return ("Front", "Right", "Back", "Left")[turns]


def strip(
    observation: Observation, heading: float, n: int = 4, *, markers: bool = False
) -> list[bytes]:
    """What a model is shown of an observation.

    Args:
        observation: its ``images["rgb"]`` are drawn from; without any, nothing is shown.
        heading: the agent's, radians.
        n: 0, 4, 12, 24 or 36 views; see the module's docstring.
        markers: put numbered green circles where the candidates are, 1 for the first of
            ``observation.candidates``.

    Returns:
        PNG files: one strip of four panels, or n single views, upper ones first, clockwise from
        the agent's heading. Every panel has its direction written above it.

    Raises:
        SimulatorError: another n; the observation has pictures and lacks one the form needs; or a
            picture is not (height, width, 3) uint8.
    """
    if n not in FORMS:
        forms = ", ".join(str(each) for each in FORMS)
        raise SimulatorError(f"{n} views cannot be shown: expected one of {forms}.")
    views = observation.images.get("rgb", ())
    if not views or n == 0:
        return []
    marked = tuple(enumerate(observation.candidates, start=1)) if markers else ()
    chosen = _quarters(views, heading) if n == 4 else _sweep(views, heading, n)
    panels = [_panel(view, label, marked) for view, label in chosen]
    return [_png(_in_a_row(panels))] if n == 4 else [_png(panel) for panel in panels]


def _quarters(views: Sequence[View], heading: float) -> list[tuple[View, str]]:
    front = _nearest(views, quarter(heading), 0.0, math.radians(45))
    turns = {"Left": 3, "Front": 0, "Right": 1, "Back": 2}
    return [
        (_nearest(views, front.heading + turns[name] * _QUARTER, 0.0, math.radians(45)), name)
        for name in DIRECTIONS
    ]


def _sweep(views: Sequence[View], heading: float, n: int) -> list[tuple[View, str]]:
    count, elevations = FORMS[n]
    apart = 2 * math.pi / count
    first = math.floor(wrapped(heading) / apart + 0.5)
    chosen = []
    for degrees in elevations:
        elevation = math.radians(degrees)
        for k in range(first, first + count):
            view = _nearest(views, wrapped(k * apart), elevation, apart / 2)
            chosen.append((view, _label(turn_between(heading, k * apart), degrees)))
    return chosen


def _label(turn: float, elevation: int) -> str:
    degrees = round(math.degrees(turn))
    side = f"Right {degrees}°" if degrees > 0 else f"Left {-degrees}°" if degrees else "Front"
    tilt = f", up {elevation}°" if elevation > 0 else f", down {-elevation}°" if elevation else ""
    return side + tilt


def _nearest(views: Sequence[View], heading: float, elevation: float, within: float) -> View:
    def off(view: View) -> tuple[float, float]:
        turn = turn_between(heading, view.heading)
        # Of two that are equally far the clockwise one, as [45, 135) has it.
        return round(math.hypot(turn, view.elevation - elevation), 6), -turn

    best = min(views, key=off)
    if off(best)[0] > within + 1e-3:
        raise SimulatorError(
            f"The observation has no picture at heading {math.degrees(wrapped(heading)):.0f}, "
            f"elevation {math.degrees(elevation):.0f} degrees, nor within "
            f"{math.degrees(within):.0f} of it ({len(views)} pictures): show fewer views."
        )
    return best


def _panel(view: View, label: str, marked: Sequence[tuple[int, Candidate]]) -> Image:
    from PIL import Image, ImageDraw

    pixels = view.image
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise SimulatorError(
            f"A picture of shape {pixels.shape} and type {pixels.dtype}: expected (height, width, "
            "3) uint8."
        )
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    if picture.width > PANEL:
        height = max(1, round(picture.height * PANEL / picture.width))
        picture = picture.resize((PANEL, height))
    for number, candidate in marked:
        _mark(picture, view, number, candidate)
    panel = Image.new("RGB", (picture.width, picture.height + _BAND), "white")
    panel.paste(picture, (0, _BAND))
    draw = ImageDraw.Draw(panel)
    draw.text((panel.width / 2, _BAND / 2), label, fill="black", font=_font(20), anchor="mm")
    return panel


def _mark(picture: Image, view: View, number: int, candidate: Candidate) -> None:
    from PIL import ImageDraw

    place = _project(view, candidate, picture.width, picture.height)
    if place is None:
        return
    size = max(10, picture.width // 32)
    x, y = place
    draw = ImageDraw.Draw(picture)
    draw.ellipse((x - size, y - size, x + size, y + size), fill=_GREEN, outline="white", width=2)
    draw.text((x, y), str(number), fill="white", font=_font(size), anchor="mm")


def _project(
    view: View, candidate: Candidate, width: int, height: int
) -> tuple[float, float] | None:
    """Where a direction lies in a picture; None where the picture is turned elsewhere.

    One that lies above or below the picture is marked at its edge.
    """
    turn = turn_between(view.heading, candidate.heading)
    if abs(turn) > min(view.fov / 2, math.radians(80)):
        return None
    focal = width / 2 / math.tan(view.fov / 2)
    level = math.cos(candidate.elevation)
    ahead, right, up = level * math.cos(turn), level * math.sin(turn), math.sin(candidate.elevation)
    tilt = view.elevation
    depth = ahead * math.cos(tilt) + up * math.sin(tilt)
    rise = up * math.cos(tilt) - ahead * math.sin(tilt)
    if depth <= 1e-6:
        return None
    return (
        min(max(width / 2 + focal * right / depth, 0.0), width - 1.0),
        min(max(height / 2 - focal * rise / depth, 0.0), height - 1.0),
    )


def _in_a_row(panels: Sequence[Image]) -> Image:
    from PIL import Image

    row = Image.new("RGB", (sum(p.width for p in panels), max(p.height for p in panels)), "white")
    left = 0
    for panel in panels:
        row.paste(panel, (left, 0))
        left += panel.width
    return row


def _font(size: int) -> FreeTypeFont | ImageFont:
    from PIL.ImageFont import load_default

    return load_default(size)


def _png(picture: Image) -> bytes:
    out = BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
