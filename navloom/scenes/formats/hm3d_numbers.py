"""``ID.semantic.txt`` of the HM3D-Semantics release: which colour is which thing, in which region.

    HM3D Semantic Annotations
    1,87E719,"floor",0
    2,00A1FF,"door, sliding",3

A number, a colour (sRGB, in hex, of any case), a category in quotes, which may hold commas, and
the number of a region; -1 is no region. A category says nothing of its region's type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from navloom.errors import SceneError
from navloom.scenes.checked_files import read_bytes, short

HEAD = "HM3D Semantic Annotations"
MOST_LINES = 100_000
MOST_NUMBER = 10_000_000
MOST_REGION = 100_000
_MOST_NAME = 200
_MOST_BYTES = 20_000_000
_LINE = re.compile(r'\s*(-?\d+)\s*,\s*#?([0-9A-Fa-f]+)\s*,\s*"(.*)"\s*,\s*(-?\d+)\s*')


@dataclass(frozen=True, slots=True)
class NumberLine:
    """One thing of the release.

    Attributes:
        number: its number, 1 and up.
        colour: 0xRRGGBB, sRGB; -1 where things are told apart without colours.
        category: what it is, in the source's words.
        region: the number of its region; -1 for none.
    """

    number: int
    colour: int
    category: str
    region: int

    @property
    def name(self) -> str:
        """The category in plain words."""
        words = " ".join(self.category.replace("_", " ").split()).casefold()
        return words[:_MOST_NAME] or "unknown"


def read_numbers(path: Path) -> tuple[NumberLine, ...]:
    """Read a home's ``ID.semantic.txt``.

    Args:
        path: the file.

    Returns:
        Its lines, in the file's order; each number and each colour once.

    Raises:
        SceneError: path, line and what was expected, where the file is missing or broken.
    """
    text = read_bytes(path, most=_MOST_BYTES).decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    if not lines or HEAD not in lines[0]:
        found = short(lines[0]) if lines else "nothing"
        raise SceneError(f"{path}: line 1: expected '{HEAD}', found {found}.")
    found_lines: list[NumberLine] = []
    numbers: dict[int, int] = {}
    colours: dict[int, int] = {}
    for at, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        one = _line(path, at, line)
        for what, key, seen in (("number", one.number, numbers), ("colour", one.colour, colours)):
            if key in seen:
                shown = f"{key:06X}" if what == "colour" else key
                raise SceneError(
                    f"{path}: line {at}: expected each {what} once, and {shown} is line "
                    f"{seen[key]}'s."
                )
            seen[key] = at
        found_lines.append(one)
        if len(found_lines) > MOST_LINES:
            raise SceneError(f"{path}: expected at most {MOST_LINES:,} things.")
    if not found_lines:
        raise SceneError(f"{path}: there is no thing in it: expected lines below '{HEAD}'.")
    return tuple(found_lines)


def _line(path: Path, at: int, line: str) -> NumberLine:
    match = _LINE.fullmatch(line)
    if match is None:
        raise SceneError(
            f'{path}: line {at}: expected number,RRGGBB,"category",region, found {short(line)}.'
        )
    number, hexed, category, region = match.groups()
    if len(hexed) != 6:
        raise SceneError(
            f"{path}: line {at}: expected a colour of six hex digits, found {short(hexed)}."
        )
    if len(number) > 8 or not 0 < int(number) <= MOST_NUMBER:
        raise SceneError(
            f"{path}: line {at}: expected a number from 1 to {MOST_NUMBER:,}, found {number[:20]}."
        )
    if len(region) > 8 or not -1 <= int(region) <= MOST_REGION:
        raise SceneError(
            f"{path}: line {at}: expected a region from 0 to {MOST_REGION:,}, or -1 for none, "
            f"found {region[:20]}."
        )
    return NumberLine(int(number), int(hexed, 16), category, int(region))
