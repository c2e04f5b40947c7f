"""Images of an observation as a model sees them: the four-view strip, or 12, 24 or 36 views.

Source: VLN-MME 3.3 and C.1 (the strip, heading correction), C.2 (36, 24 and 4 images compared),
B.1 (numbered green circles). The strip is Left, Front, Right, Back in a row with gaps between, each
with its name above. The agent's heading is first rounded to a quarter turn, h in [45, 135) to 90.
The views of that heading are taken from the observation, which may hold others.

    n     headings               elevations
    4     quarters               level              one image, the strip
    12    every 30 degrees       level
    24    every 45 degrees       30 up, level, 30 down    (NavGPT's, which C.2 refers to)
    36    every 30 degrees       30 up, level, 30 down    (Matterport3DSimulator's)

A panel is at most ``PANEL`` pixels wide, so that every form is small enough for every provider.

A marker is drawn at its candidate, ``MARK_M`` above the floor, if the views have camera positions,
else in its direction. A candidate is hidden if the depth images show something nearer up to a
person's eyes: a wall, a closed door, a wardrobe. Its circle is then white with a green rim. Markers
are moved apart by a few pixels, the nearest candidate first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom.scenes.distances import turn_between, wrap_angle
from navloom.scenes.scene import Point3
from navloom.sim.protocol import Candidate, Observation, Pose, View

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
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
"""Number of headings, and elevations in degrees, of each number of views; 0 shows nothing."""
PANEL = 512
"""Maximum width of a panel in pixels."""
MARK_M = 0.3
"""Height of a marker above the floor, in metres."""
_POST_M = (0.1, 0.5, 1.0, 1.4)
"""Heights in metres above a candidate's floor; it is hidden if none of them is visible."""
_SLACK_M = 0.25
BAND = 32
"""Height in pixels of the label above a panel."""
GAP = 8
"""Pixels between panels, so that walls do not seem to fold at a panel's edge."""
_GREEN = (0, 150, 0)
_QUARTER = math.pi / 2


def quarter_heading(heading: float) -> float:
    """Round a heading to a quarter turn: 0, 90, 180 or 270 degrees, in radians (VLN-MME C.1).

    Args:
        heading: radians; [45, 135) degrees gives 90.
    """
    # Rounded, since a computed heading of 45 degrees may be slightly less.
    degrees = round(math.degrees(wrap_angle(heading)), 6)
    return math.radians((math.floor((degrees + 45) / 90) % 4) * 90)


def panel_name(heading: float, target: float) -> str:
    """Return the strip's panel in which a direction lies: Left, Front, Right or Back.

    Args:
        heading: the agent's, radians; rounded to a quarter turn first.
        target: the direction's, radians in the scene's frame.
    """
    turns = (
        round(quarter_heading(quarter_heading(target) - quarter_heading(heading)) / _QUARTER) % 4
    )
    return ("Front", "Right", "Back", "Left")[turns]


def view_pngs(
    observation: Observation, heading: float, n: int = 4, *, markers: bool = False
) -> list[bytes]:
    """Return an observation's images for a model, as PNG files.

    Args:
        observation: its ``images["rgb"]`` are used; without any, nothing is returned.
        heading: the agent's, radians.
        n: 0, 4, 12, 24 or 36 views; see the module's docstring.
        markers: draw numbered green circles at the candidates, 1 for the first of
            ``observation.candidates``.

    Returns:
        PNG files: one strip of four panels, or n single views, upper ones first, clockwise from
        the agent's heading. Every panel has its direction written above it. The same views and
        candidates give the same bytes.

    Raises:
        SimulatorError: another n; the observation has views but lacks one that is needed; or a view
            is not (height, width, 3) uint8.
    """
    return [_png(picture) for picture in view_images(observation, heading, n, markers=markers)]


def view_images(
    observation: Observation, heading: float, n: int = 4, *, markers: bool = False
) -> list[Image]:
    """Return an observation's images for a model, as Pillow images; see :func:`view_pngs`."""
    if n not in FORMS:
        forms = ", ".join(str(each) for each in FORMS)
        raise SimulatorError(f"{n} views cannot be shown: expected one of {forms}.")
    taken = observation.images.get("rgb", ())
    if not taken or n == 0:
        return []
    views = [view for view in taken if view.projection == "pinhole"]
    if not views:
        raise SimulatorError(
            f"{n} views cannot be cut out of a picture that is {taken[0].projection}: take a rig "
            "such as vln-mme."
        )
    chosen = _quarters(views, heading) if n == 4 else _sweep(views, heading, n)
    shown = [(view, label, _pixels(view)) for view, label in chosen]
    marked = _marked(observation) if markers else []
    if n == 4:
        return [_panels(shown, observation.pose, marked)]
    return [_panels([each], observation.pose, marked) for each in shown]


def split_strip(picture: Image) -> list[Image]:
    """Return the four panels of a strip, without their names; old strips had no gaps.

    Args:
        picture: as :func:`view_pngs` draws it with n = 4.
    """
    pixels = np.asarray(picture.convert("RGB"))
    wide = (picture.width - GAP * (len(DIRECTIONS) - 1)) // len(DIRECTIONS)
    between = [pixels[:, k * (wide + GAP) - GAP : k * (wide + GAP)] for k in range(1, 4)]
    gap = GAP
    if not all((each == 255).all() for each in between):
        wide, gap = picture.width // len(DIRECTIONS), 0
    lefts = [k * (wide + gap) for k in range(len(DIRECTIONS))]
    return [picture.crop((left, BAND, left + wide, picture.height)) for left in lefts]


@dataclass(frozen=True)
class StripPanel:
    """Panel of the strip, with its marker positions apart from the image.

    Attributes:
        name: Left, Front, Right or Back.
        pixels: (height, width, 3) uint8, at most ``PANEL`` wide.
        markers: u from the left and v from the top, 0 to 1, and the candidate's number from 1.
    """

    name: str
    pixels: NDArray[np.uint8]
    markers: tuple[tuple[float, float, int], ...]


def strip_panels(observation: Observation, heading: float) -> list[StripPanel]:
    """Return the strip's panels for callers that draw markers themselves; empty without images.

    Raises:
        SimulatorError: as :func:`view_pngs`.
    """
    views = [view for view in observation.images.get("rgb", ()) if view.projection == "pinhole"]
    found = []
    for view, name in _quarters(views, heading) if views else ():
        pixels = _pixels(view)
        height, width = pixels.shape[:2]
        marked = _placed(view, observation.pose, _marked(observation), width, height)
        places = tuple((x / width, y / height, number) for x, y, number, _ in marked)
        found.append(StripPanel(name, pixels, places))
    return found


def _marked(observation: Observation) -> list[tuple[int, Candidate, bool]]:
    """Return number, candidate and whether it is hidden, the nearest candidate first."""
    hidden = hidden_candidates(observation)
    ways = sorted(enumerate(observation.candidates, 1), key=lambda each: each[1].distance)
    return [(number, way, way.viewpoint in hidden) for number, way in ways]


def hidden_candidates(observation: Observation) -> frozenset[str]:
    """Return the viewpoint ids of the candidates that are not visible from here.

    A candidate's own ``hidden`` counts if it is set, else the depth images decide. Without them
    nothing is hidden.
    """
    depth = [view for view in observation.images.get("depth", ()) if view.projection == "pinhole"]
    return frozenset(
        way.viewpoint
        for way in observation.candidates
        if (_behind(way, observation.pose, depth) if way.hidden is None else way.hidden)
    )


def _behind(way: Candidate, pose: Pose, depth: Sequence[View]) -> bool:
    """Check whether depth images show something nearer at every visible height of a candidate."""
    looked = False
    for view in depth:
        if view.position is None or not _faces(view, way):
            continue
        image = view.image
        height, width = image.shape
        for rise in _POST_M:
            x, y, ahead = _projected(view, _place(way, pose, rise), width, height)
            if not (0 <= x < width and 0 <= y < height and ahead > 0):
                continue
            looked = True
            metres = float(image[int(y), int(x)])
            if metres == 0 or metres >= ahead - _SLACK_M:
                return False
    return looked


def _quarters(views: Sequence[View], heading: float) -> list[tuple[View, str]]:
    front = _nearest(views, quarter_heading(heading), 0.0, math.radians(45))
    turns = {"Left": 3, "Front": 0, "Right": 1, "Back": 2}
    return [
        (_nearest(views, front.heading + turns[name] * _QUARTER, 0.0, math.radians(45)), name)
        for name in DIRECTIONS
    ]


def _sweep(views: Sequence[View], heading: float, n: int) -> list[tuple[View, str]]:
    count, elevations = FORMS[n]
    apart = 2 * math.pi / count
    first = math.floor(wrap_angle(heading) / apart + 0.5)
    chosen = []
    for degrees in elevations:
        elevation = math.radians(degrees)
        for k in range(first, first + count):
            view = _nearest(views, wrap_angle(k * apart), elevation, apart / 2)
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
        # Of two equally near ones the clockwise one wins, consistent with [45, 135).
        return round(math.hypot(turn, view.elevation - elevation), 6), -turn

    best = min(views, key=off)
    if off(best)[0] > within + 1e-3:
        raise SimulatorError(
            f"The observation has no picture at heading {math.degrees(wrap_angle(heading)):.0f}, "
            f"elevation {math.degrees(elevation):.0f} degrees, nor within "
            f"{math.degrees(within):.0f} of it ({len(views)} pictures): show fewer views."
        )
    return best


def _pixels(view: View) -> NDArray[np.uint8]:
    """Return a view's image, at most ``PANEL`` wide."""
    from PIL import Image

    pixels = view.image
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise SimulatorError(
            f"A picture of shape {pixels.shape} and type {pixels.dtype}: expected (height, width, "
            "3) uint8."
        )
    if pixels.shape[1] <= PANEL:
        return pixels
    height = max(1, round(pixels.shape[0] * PANEL / pixels.shape[1]))
    small = Image.fromarray(np.ascontiguousarray(pixels)).resize((PANEL, height))
    return np.asarray(small)


def _panels(
    shown: Sequence[tuple[View, str, NDArray[np.uint8]]],
    pose: Pose,
    marked: Sequence[tuple[int, Candidate, bool]],
) -> Image:
    """Return views in a row, each with its label above and its markers on it."""
    from PIL import Image, ImageDraw

    sizes = [pixels.shape[:2] for _, _, pixels in shown]
    tall = max(h for h, _ in sizes)
    wide = sum(w for _, w in sizes) + GAP * (len(sizes) - 1)
    canvas = np.full((tall + BAND, wide, 3), 255, np.uint8)
    left = 0
    for (_, label, pixels), (height, width) in zip(shown, sizes, strict=True):
        canvas[:BAND, left : left + width] = _band(label, width)
        canvas[BAND : BAND + height, left : left + width] = pixels
        left += width + GAP
    row = Image.fromarray(canvas)
    draw, left = ImageDraw.Draw(row), 0
    for (view, _, _), (height, width) in zip(shown, sizes, strict=True):
        for x, y, number, hidden in _placed(view, pose, marked, width, height):
            _mark(draw, left + x, BAND + y, _radius(width), number, hidden)
        left += width + GAP
    return row


def _placed(
    view: View, pose: Pose, marked: Sequence[tuple[int, Candidate, bool]], width: int, height: int
) -> Iterator[tuple[float, float, int, bool]]:
    """Yield a view's markers: column and row in pixels, number, and whether it is hidden."""
    taken: list[tuple[float, float]] = []
    for number, way, hidden in marked:
        place = _marker(view, way, pose, width, height, taken)
        if place is not None:
            taken.append(place)
            yield *place, number, hidden


def _radius(width: int) -> int:
    return max(10, width // 32)


def _mark(draw: ImageDraw, x: float, y: float, size: int, number: int, hidden: bool) -> None:
    fill, rim = ("white", _GREEN) if hidden else (_GREEN, "white")
    around = (x - size, y - size, x + size, y + size)
    draw.ellipse(around, fill=fill, outline=rim, width=max(2, size // 6))
    draw.text((x, y), str(number), fill=rim, font=_font(size), anchor="mm")


def _marker(
    view: View,
    way: Candidate,
    pose: Pose,
    width: int,
    height: int,
    taken: Sequence[tuple[float, float]],
) -> tuple[float, float] | None:
    """Return the centre of a candidate's circle in a view; None if the view faces elsewhere.

    A circle beyond an edge or under another circle is moved as little as possible.
    """
    if not _faces(view, way):
        return None
    if view.position is None:
        level = math.cos(way.elevation)
        sin, cos = math.sin(way.heading), math.cos(way.heading)
        towards: Point3 = (level * sin, math.sin(way.elevation), -level * cos)
        x, y, ahead = _seen_along(view, towards, width, height)
    else:
        x, y, ahead = _projected(view, _place(way, pose, MARK_M), width, height)
    if ahead <= 1e-6:
        return None
    size = _radius(width)
    apart = 2 * size + 2

    def inside(x: float, y: float) -> tuple[float, float]:
        return (
            min(max(x, float(size)), max(width - 1.0 - size, width / 2)),
            min(max(y, float(size)), max(height - 1.0 - size, height / 2)),
        )

    x, y = inside(x, y)
    around = [(0.0, 0.0)] + [
        (out * math.sin(k * math.pi / 4), -out * math.cos(k * math.pi / 4))
        for out in (apart / 2, apart, 1.5 * apart, 2 * apart)
        for k in (0, 2, 6, 1, 7, 4, 3, 5)
    ]
    for right, down in around:
        moved = inside(x + right, y + down)
        if all(math.dist(moved, other) >= apart - 1 for other in taken):
            return moved
    return x, y


def _faces(view: View, way: Candidate) -> bool:
    """Check whether a view faces a candidate; of adjacent views only one does."""
    half = round(min(view.fov / 2, math.radians(80)), 6)
    return -half <= round(turn_between(view.heading, way.heading), 6) < half


def _place(way: Candidate, pose: Pose, rise: float) -> Point3:
    """Return a point ``rise`` metres above the floor at a candidate."""
    level = way.distance * math.cos(way.elevation)
    x, y, z = pose.position
    return (
        x + level * math.sin(way.heading),
        y + way.distance * math.sin(way.elevation) + rise,
        z - level * math.cos(way.heading),
    )


def _projected(view: View, place: Point3, width: int, height: int) -> tuple[float, float, float]:
    """Return a point's column and row in pixels, possibly outside, and its metres ahead."""
    eye = view.position or (0.0, 0.0, 0.0)
    offset = (place[0] - eye[0], place[1] - eye[1], place[2] - eye[2])
    return _seen_along(view, offset, width, height)


def _seen_along(view: View, offset: Point3, width: int, height: int) -> tuple[float, float, float]:
    sin, cos = math.sin(view.heading), math.cos(view.heading)
    rise, level = math.sin(view.elevation), math.cos(view.elevation)
    x, y, z = offset
    right, straight = x * cos + z * sin, x * sin - z * cos
    ahead, up = straight * level + y * rise, y * level - straight * rise
    if ahead <= 1e-6:
        return math.nan, math.nan, ahead
    focal = width / 2 / math.tan(view.fov / 2)
    return width / 2 + focal * right / ahead, height / 2 - focal * up / ahead, ahead


@lru_cache(maxsize=256)
def _band(label: str, width: int) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    band = Image.new("RGB", (width, BAND), "white")
    draw = ImageDraw.Draw(band)
    draw.text((width / 2, BAND / 2), label, fill="black", font=_font(20), anchor="mm")
    return np.asarray(band)


@lru_cache(maxsize=16)
def _font(size: int) -> FreeTypeFont | ImageFont:
    from PIL.ImageFont import load_default

    return load_default(size)


def _png(picture: Image) -> bytes:
    out = BytesIO()
    # The lowest level: 1.5 times the size of the highest, in a tenth of the time.
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()
