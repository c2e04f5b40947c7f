"""What stands on and in furniture: lamps on tables, books in shelves, pillows at a bed's head."""

from __future__ import annotations

from navloom_worlds.homes.catalogue import Entry, catalogue
from navloom_worlds.homes.placed import Placed, Setting, Size
from navloom_worlds.homes.walk_grid import Rect

_TRIES = 7
_BOARD = 30
"""mm: how thick a shelf's boards are."""
_INSIDE = frozenset({"shelf", "cabinet", "basket", "bowl", "box", "rack", "appliance"})
"""Shapes that things are in, where they stand below its upper side."""


def fill(room: Setting) -> None:
    """Put objects on and in everything of a room that has a place for them."""
    done = 0
    while done < len(room.placed):
        holder = room.placed[done]
        done += 1
        if holder.entry.top is None:
            continue
        # Some tables are bare, some are full.
        mood = room.full * room.dice.pick((0.2, 0.5, 0.8, 1.0, 1.2, 1.6))
        for entry, number in catalogue().carried_by(holder.entry.name, room.keys):
            if not all_there(room, entry):
                continue
            rate = number * room.dressing.likes(entry.name) * (1 if entry.with_ else mood)
            rate *= (0, 1, 2)[room.mess] if entry.clutter else 1
            for _ in range(_number(room, min(rate, 24.0))):
                if put_on(room, entry, holder) is None:
                    break


def _number(room: Setting, rate: float) -> int:
    whole = int(rate)
    return whole + room.dice.chance(rate - whole)


def all_there(room: Setting, entry: Entry) -> bool:
    """Whether what a thing is used with is in the room."""
    return not entry.with_ or any(name in room.by_name for name in entry.with_)


def put_on(room: Setting, entry: Entry, holder: Placed) -> Placed | None:
    """Put one thing of this kind on or in another.

    Args:
        room: the room, which is changed.
        entry: the thing's kind.
        holder: what it is put on; it has a ``top``.

    Returns:
        The thing; None where there is no place for it.
    """
    size = room.draw_size(entry)
    top = holder.entry.top
    if entry.shape == "book" and size[1] > size[0] and top is not None and not top.levels:
        size = size[1], size[0], size[2]  # outside a shelf it lies
    for height, area, room_above in _surfaces(room, holder):
        if size[1] > room_above:
            continue
        for turn in (0, 1) if entry.spot == "any" and size[0] != size[2] else (0,):
            wide, deep = (size[2], size[0]) if turn else (size[0], size[2])
            if wide > area[2] - area[0] or deep > area[3] - area[1]:
                continue
            taken = holder.carries.setdefault(height, [])
            for _ in range(_TRIES):
                u, w = _spot(room, entry, holder, area, wide, deep)
                rect = (u - wide // 2, w - deep // 2, u + wide // 2, w + deep // 2)
                if any(
                    rect[0] < c and a < rect[2] and rect[1] < d and b < rect[3]
                    for a, b, c, d in taken
                ):
                    continue
                thing = _set(room, entry, holder, size, (u, w), height, turn)
                if thing is not None:
                    taken.append(rect)
                    return thing
    return None


def _surfaces(room: Setting, holder: Placed) -> list[tuple[int, Rect, int]]:
    """Heights above the holder's underside, where one can put things there, and how high."""
    top = holder.entry.top
    if top is None:
        return []
    wide, high, deep = holder.size
    side, back, front = top.rim
    area = (-(wide // 2) + side, -(deep // 2) + front, wide // 2 - side, deep // 2 - back)
    if not top.levels:
        return [(int(high * top.at) // 2 * 2, area, top.room)]
    pitch = (high - _BOARD) // top.levels
    levels = [(_BOARD + pitch * i) // 2 * 2 for i in range(top.levels)]
    return room.dice.shuffled([(level, area, pitch - _BOARD) for level in levels])


def _spot(
    room: Setting, entry: Entry, holder: Placed, area: Rect, wide: int, deep: int
) -> tuple[int, int]:
    """Its middle in the holder's own frame."""
    u0, w0 = area[0] + wide // 2, area[1] + deep // 2
    u1, w1 = area[2] - wide // 2, area[3] - deep // 2
    u, w = room.dice.whole(u0, u1), room.dice.whole(w0, w1)
    if entry.spot == "back":
        w = w1 - (w1 - w0) // 8
    elif entry.spot == "front":
        w = w0 + (w1 - w0) // 8
    elif entry.spot == "middle":
        u, w = (u0 + u1) // 2, (w0 + w1) // 2
    elif entry.spot == "side":
        u = room.dice.pick((u0, u1))
    elif entry.spot == "head":
        # Two side by side where there is room for two, the first at either side.
        u = room.dice.pick((-1, 1)) * holder.size[0] // 4 if holder.size[0] >= 2 * wide else 0
        u, w = min(max(u, u0), u1), w1
    return u, w


def _set(
    room: Setting,
    entry: Entry,
    holder: Placed,
    size: Size,
    spot: tuple[int, int],
    height: int,
    turn: int,
) -> Placed | None:
    x, z = holder.place(*spot)
    bottom = holder.bottom + height
    thing = Placed(
        len(room.placed) + 1, entry, size, x, z, bottom, (holder.quarter + turn) % 4,
        tilt=holder.tilt, on=holder, states=room.draw_states(entry),
    )  # fmt: skip
    thing.inside = bottom < holder.top and holder.entry.shape in _INSIDE
    if thing.top > room.ground.ceiling:
        return None
    if thing.top > holder.top and room.ground.hit(thing.rect, bottom, thing.top, holder.rect):
        return None
    room.add(thing)
    return thing
