"""Reader of Matterport ``.house`` files: levels, rooms, panoramas and objects.

The file is text, one record a line; the first word is its kind. Read are ``L`` (levels), ``R``
(rooms), ``P`` (panoramas, which are R2R's viewpoints), ``O`` (objects) and ``C`` (categories).
Surfaces, vertices, images and segments are skipped. The file's frame is z up; everything returned
is in ours, y up: (x, y, z) there is (x, z, -y) here.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from navloom.errors import SceneError
from navloom.files import package_yaml
from navloom.scenes.safe_files import read_bytes
from navloom.scenes.scene import UNKNOWN, Box, Point3

ROOM_LABELS: dict[str, str] = {
    **package_yaml("navloom.scenes.formats", "mp3d_rooms.yaml"),
    "-": UNKNOWN,
}
"""Room type of each letter (Matterport3D's table of region labels, in short words)."""

_NAMELESS = {"", "-", "remove", "unknown", "unlabeled", "void", "misc"}
_UPRIGHT = 0.98
"""Cosine of about 11 degrees: a box tilted further is replaced by the upright box around it."""
_HEAD_WORDS = 29
_COUNTED = {"P": 4, "O": 8, "C": 9, "R": 10, "L": 12}
"""Word of the header (version 1.1) with the number of lines of each kind."""


@dataclass(frozen=True)
class HouseRoom:
    """Room, an ``R`` line: number, storey, label, a point on its floor, and its bounding box."""

    number: int
    level: int
    label: str
    center: Point3
    box: Box


@dataclass(frozen=True)
class HouseObject:
    """Object, an ``O`` line, with its category's name."""

    number: int
    room: int
    name: str
    box: Box


@dataclass(frozen=True)
class House:
    """Content of one file.

    Attributes:
        levels: storey -> height of its floor, in metres.
        rooms: in the file's order.
        room_of: panorama -> room number; panoramas in no room are left out.
        objects: those that have a room and a name.
        skipped: number of objects without a room or a name.
    """

    levels: dict[int, float]
    rooms: tuple[HouseRoom, ...]
    room_of: dict[str, int]
    objects: tuple[HouseObject, ...]
    skipped: int


def y_up(x: float, y: float, z: float) -> Point3:
    """Convert a point from Matterport's frame (z up) to ours (y up)."""
    return x, z, -y


def read_house(path: Path) -> House:
    """Read a ``.house`` file.

    Raises:
        SceneError: path, line and what was expected there, if the file is broken.
    """
    text = read_bytes(path).decode("utf-8", errors="replace")
    lines = text.splitlines()
    if not lines or not lines[0].startswith("ASCII"):
        raise SceneError(f"{path}: line 1: expected 'ASCII 1.x', the head of a .house file.")
    reader = _HouseReader(path)
    for number, line in enumerate(lines, start=1):
        reader.take(number, line.split())
    return reader.house()


class _HouseReader:
    """Parser that collects lines by kind, and knows its current line for messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 0
        self.words: list[str] = []
        self.levels: dict[int, float] = {}
        self.rooms: dict[int, HouseRoom] = {}
        self.room_of: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.objects: list[tuple[int, int, int, Box]] = []
        self.announced: dict[str, int] = {}
        self.found: Counter[str] = Counter()

    def take(self, number: int, words: list[str]) -> None:
        """Parse one line; kinds that a scene does not need are skipped."""
        if not words:
            return
        self.line, self.words = number, words
        self.found[words[0]] += 1
        if words[0] == "H" and len(words) == _HEAD_WORDS:
            self.announced = {kind: self._int(at) for kind, at in _COUNTED.items()}
        elif words[0] == "L":
            self.levels[self._int(1)] = self._point(4)[1]
        elif words[0] == "R":
            self._room()
        elif words[0] == "P":
            self.room_of[self._word(1)] = self._int(3)
        elif words[0] == "C":
            self.names[self._int(1)] = self._word(3).replace("#", " ").strip()
        elif words[0] == "O":
            self.objects.append((self._int(1), self._int(2), self._int(3), self._oriented_box()))

    def house(self) -> House:
        """Return the parsed content, without panoramas and objects of no room."""
        for kind, count in self.announced.items():
            if self.found[kind] < count:
                raise SceneError(
                    f"{self.path}: expected {count} lines that begin '{kind}', as line H says, and"
                    f" found {self.found[kind]}: the file is cut short."
                )
        if not self.rooms:
            raise SceneError(f"{self.path}: expected at least one room (a line that begins 'R').")
        objects = [
            HouseObject(number, room, self.names[category], box)
            for number, room, category, box in self.objects
            if room in self.rooms and self.names.get(category, "").casefold() not in _NAMELESS
        ]
        return House(
            levels=self.levels,
            rooms=tuple(self.rooms.values()),
            room_of={p: room for p, room in self.room_of.items() if room in self.rooms},
            objects=tuple(objects),
            skipped=len(self.objects) - len(objects),
        )

    def _room(self) -> None:
        number, letter = self._int(1), self._word(5)
        if number in self.rooms:
            raise self._broken(1, f"a room number that is new (room {number} was there before)")
        if letter not in ROOM_LABELS:
            raise self._broken(5, f"a room's letter ({' '.join(ROOM_LABELS)})")
        low, high = self._point(9), self._point(12)
        # The sign of -y swaps the low and the high corner's z.
        size = (high[0] - low[0], high[1] - low[1], low[2] - high[2])
        if min(size) < 0:
            raise self._broken(12, "a high corner above the low one")
        middle = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
        self.rooms[number] = HouseRoom(
            number=number,
            level=self._int(2),
            label=ROOM_LABELS[letter],
            center=self._point(6),
            box=Box(center=(middle[0], middle[1], middle[2]), size=size),
        )

    def _oriented_box(self) -> Box:
        first, second = self._point(7), self._point(10)
        (a, b, c), (d, e, f) = first, second
        axes = (first, second, (b * f - c * e, c * d - a * f, a * e - b * d))
        half = [self._number(i) for i in (13, 14, 15)]
        if min(half) < 0:
            raise self._broken(13, "half extents that are not negative")
        up = max(range(3), key=lambda i: abs(axes[i][1]))
        if abs(axes[up][1]) < _UPRIGHT:
            size = tuple(
                2 * sum(abs(a[i]) * h for a, h in zip(axes, half, strict=True)) for i in range(3)
            )
            return Box(center=self._point(4), size=(size[0], size[1], size[2]))
        along, across = (i for i in range(3) if i != up)
        yaw = math.atan2(axes[along][2], axes[along][0])
        size = (2 * half[along], 2 * half[up], 2 * half[across])
        return Box(center=self._point(4), size=size, yaw=yaw)

    def _point(self, at: int) -> Point3:
        return y_up(self._number(at), self._number(at + 1), self._number(at + 2))

    def _word(self, at: int) -> str:
        if at >= len(self.words):
            raise self._broken(at, f"more words than {len(self.words)}")
        return self.words[at]

    def _int(self, at: int) -> int:
        try:
            return int(self._word(at))
        except ValueError:
            raise self._broken(at, "a whole number") from None

    def _number(self, at: int) -> float:
        try:
            number = float(self._word(at))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise self._broken(at, "a finite number")
        return number

    def _broken(self, at: int, expected: str) -> SceneError:
        got = f", got {self.words[at][:40]!r}" if at < len(self.words) else ""
        return SceneError(
            f"{self.path}: line {self.line} ({self.words[0]}), word {at + 1}: "
            f"expected {expected}{got}."
        )
