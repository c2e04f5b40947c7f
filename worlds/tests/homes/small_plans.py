"""Handmade floor plans for tests: rows of rooms along a hallway, each with a door and windows."""

from __future__ import annotations

from navloom_worlds.homes.floorplan import (
    Doorway,
    Floorplan,
    Outline,
    PlannedRoom,
    PlannedStorey,
    Window,
)

WALL = 100


def box(x0: int, z0: int, x1: int, z1: int) -> Outline:
    """Return a rectangle as an outline."""
    return (x0, z0), (x1, z0), (x1, z1), (x0, z1)


def rows(above: list[tuple[str, int]], below: list[tuple[str, int]], deep: int = 3800) -> Floorplan:
    """Build a plan with rooms of these types and widths (mm) on both sides of a hallway.

    Every room has a hinged door to the hallway that swings into the room, and a window opposite.
    The hallway has a door to the outside at its left end. The second room of the upper row is
    L-shaped if it is at least 4 m wide: a niche of 1 m is cut off at its outer right corner.
    """
    rooms: list[PlannedRoom] = []
    doors: list[Doorway] = []
    windows: list[Window] = []
    hall_top, hall_bottom = deep + WALL, deep + WALL + 1400
    for row, top, bottom in (
        (above, 0, deep),
        (below, hall_bottom + WALL, hall_bottom + WALL + deep),
    ):
        x = 0
        for i, (kind, wide) in enumerate(row):
            number = len(rooms) + 1
            outline = box(x, top, x + wide, bottom)
            if row is above and i == 1 and wide >= 4000:
                right = x + wide
                outline = (
                    (x, top), (right - 1000, top), (right - 1000, top + 1000), (right, top + 1000),
                    (right, bottom), (x, bottom),
                )  # fmt: skip
            rooms.append(PlannedRoom(number, kind, "private", 1, outline, 0))
            upper = row is above
            middle = bottom + WALL // 2 if upper else top - WALL // 2
            low = x + 300
            high = low + 800
            face = bottom if upper else top
            away = face - 800 if upper else face + 800
            doors.append(
                Doorway(
                    number,
                    100,
                    "hinged",
                    ((low, middle), (high, middle)),
                    WALL,
                    state="open",
                    hinge=0,
                    swings_into=number,
                    swing=((low, face), (high, face), (high, away), (low, away)),
                )
            )
            outer = top - WALL // 2 if upper else bottom + WALL // 2
            if wide >= 2400:
                centre = x + wide // 2 - 300
                windows.append(
                    Window(number, ((centre - 500, outer), (centre + 500, outer)), WALL, 900, 2100)
                )
            x += wide + WALL
    length = max(x for room in rooms for x, _ in room.outline)
    rooms.append(
        PlannedRoom(100, "hallway", "circulation", 1, box(0, hall_top, length, hall_bottom), 0)
    )
    middle = (hall_top + hall_bottom) // 2
    doors.append(
        Doorway(
            100, None, "hinged", ((-50, middle - 450), (-50, middle + 450)), WALL, state="closed"
        )
    )
    storey = PlannedStorey(
        1, 0, 2600, box(-WALL, -WALL, length + WALL, hall_bottom + 2 * WALL + deep)
    )
    return Floorplan((storey,), tuple(rooms), tuple(doors), tuple(windows), (), ())


HOME = rows(
    [("living room", 5200), ("bedroom", 4200), ("bathroom", 2200), ("office", 3000),
     ("nursery", 3200)],
    [("kitchen", 4000), ("dining room", 3600), ("bedroom", 3400), ("toilet", 1200),
     ("laundry", 2200), ("closet", 1600), ("garage", 5600)],
)  # fmt: skip
MORE = rows(
    [("kitchen/living room", 7800), ("library", 4000), ("gym", 3900), ("balcony", 2500)],
    [("media room", 4200), ("pantry", 1700), ("entryway", 2400), ("dressing room", 2600),
     ("lounge", 3600), ("bedroom", 2600), ("stairs", 2200)],
)  # fmt: skip
