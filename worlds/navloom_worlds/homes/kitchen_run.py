"""A kitchen's run of units along its walls: refrigerator, counter, sink, stove, in one line.

What is in it are the catalogue's entries with ``place: run``; those that are wide by need (from a
small to a large ``size``) fill what is left between the others.
"""

from __future__ import annotations

from navloom_worlds.homes.catalogue import Entry
from navloom_worlds.homes.placed import Setting, Size
from navloom_worlds.homes.room_floor import Side
from navloom_worlds.homes.standing import PLACES

_BEFORE = 800
"""mm that stay free before a run."""
_DEEP = 600
_HIGH = 900
_LEAST = 300
"""mm: the narrowest unit that fills a gap."""
_WIDEST = 1800
_SHARE = 450
"""mm of run for each square metre of kitchen."""
_LONGEST = 7000

Unit = tuple[Entry, Size]


def build_run(room: Setting, entries: tuple[Entry, ...]) -> int:
    """Build a kitchen's run.

    Args:
        room: the kitchen, which is changed.
        entries: what a run is made of, first things first.

    Returns:
        How many units found no place.
    """
    fillers = [entry for entry in entries if entry.size[0][1] - entry.size[0][0] >= 600]
    units = [
        (entry, _cut(room.draw_size(entry)))
        for entry in entries
        if entry not in fillers and room.dice.chance(room.share(entry))
    ]
    budget = min(_LONGEST, 2000 + room.ground.area // 1_000_000 * _SHARE)
    taken: list[Side] = []
    for _ in range(4):
        span = _longest(room, taken)
        if span is None or (not units and (budget < _LEAST or len(taken) > 1)):
            break
        side, low, high = span
        length = min(high - low, budget)
        chosen, units = _that_fit(units, length)
        wide = sum(size[0] for _, size in chosen)
        # A third wall is for what found no place on two, and for nothing else.
        spare = max(0, length - wide) if len(taken) < 2 else 0
        row = _row(room, chosen, fillers, spare)
        if low != side.low or (high == side.high and room.dice.chance(0.5)):
            low = high - sum(size[0] for _, size in row)
        missed = _build(room, side, low, row)
        units = [*units, *missed]
        budget -= length
        taken.append(side)
    return sum(not _near(room, entry, size) for entry, size in units)


def _near(room: Setting, entry: Entry, size: Size) -> bool:
    """Put what a run has no room for at an end of it; by itself only what a kitchen must have."""
    names = tuple(dict.fromkeys(t.entry.name for t in room.placed if t.entry.place == "run"))
    at_end = entry.model_copy(update={"to": names, "gap": 2})
    for fitted in dict.fromkeys((size, _cut(room.draw_size(entry, least=True)))):
        if PLACES["beside"](room, at_end, fitted):
            return True
    return entry.turn > 0 or PLACES["wall"](room, entry, size) is not None


def _cut(size: Size) -> Size:
    return size[0], size[1], min(size[2], 700)


def _longest(room: Setting, taken: list[Side]) -> tuple[Side, int, int] | None:
    """The longest free piece of wall; next to what is built already, if there is one."""
    found = [
        ((end - low) + (1500 if _meets(side, taken) else 0), i, low, end)
        for i, side in enumerate(room.ground.sides)
        if side not in taken
        for low, end in room.ground.spans(side, _DEEP, 0, _HIGH, _BEFORE)
        if end - low >= 600
    ]
    if not found:
        return None
    _, i, low, end = max(found)
    return room.ground.sides[i], low, end


def _meets(side: Side, taken: list[Side]) -> bool:
    return any(other.along_x != side.along_x for other in taken)


def _that_fit(units: list[Unit], length: int) -> tuple[list[Unit], list[Unit]]:
    chosen, left = [], []
    for unit in units:
        if unit[1][0] <= length:
            length -= unit[1][0]
            chosen.append(unit)
        else:
            left.append(unit)
    return chosen, left


def _row(room: Setting, chosen: list[Unit], fillers: list[Entry], spare: int) -> list[Unit]:
    """The units with counters between them; what is tall stands at an end."""
    tall = [unit for unit in chosen if unit[1][1] > 1200]
    low = [unit for unit in chosen if unit[1][1] <= 1200]
    gaps = max(1, len(low))
    row = list(tall)
    for i in range(gaps):
        share = spare // (gaps - i) // 20 * 20
        spare -= share
        while share >= _LEAST and fillers:
            filler = room.dice.pick(fillers)
            wide = min(share, filler.size[0][1], _WIDEST)
            _, high, deep = room.draw_size(filler)
            row.append((filler, (wide // 2 * 2, high, deep)))
            share -= wide
        spare += share
        row += low[i : i + 1]
    return row if room.dice.chance(0.5) else row[::-1]


def _build(room: Setting, side: Side, start: int, row: list[Unit]) -> list[Unit]:
    """Put a row of units along a wall.

    Returns:
        Those for which there was no place.
    """
    missed = []
    for entry, size in row:
        rect = side.rect(start, start + size[0], 0, size[2])
        start += size[0]
        spot = ((rect[0] + rect[2]) // 2, (rect[1] + rect[3]) // 2)
        thing = None
        # No unit closes the corner before another that people stand at.
        if room.ground.fits(rect, 0, size[1]):
            thing = room.put(entry, size, spot, 0, side.quarter)
        if thing is None:
            missed.append((entry, size))
    return missed
