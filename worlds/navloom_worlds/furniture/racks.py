"""Racks: for clothes, coats, shoes, wine, umbrellas, firewood and weights; ladders."""

from __future__ import annotations

import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture.contents import clothes_on_rail
from navloom_worlds.furniture.making import BLACK, CHROME, STEEL, Builder, dice_of, shade, size_of
from navloom_worlds.furniture.shelving import board_heights
from navloom_worlds.furniture.turnery import ball, prism, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe


def clothes_rack(item: Item) -> list[Part]:
    """A rail on two stands with castors, clothes on hangers, a shelf of bars below."""
    w, h, d = size_of(item)
    look = surface_of(item)
    x = w / 2 - 0.025
    rail = h - 0.02
    at = h * (0.35 if item.shape else 0.18)
    parts = []
    for s in (-1, 1):
        parts += [
            beam((s * x, 0.05, 0), (s * x, h, 0), 0.03, look, sides=8),
            beam((s * x, 0.06, -d / 2 + 0.03), (s * x, 0.06, d / 2 - 0.03), 0.03, look, sides=8),
            wheel((s * x, 0.025, -d / 2 + 0.04), 0.025, 0.02, BLACK, sides=8),
            wheel((s * x, 0.025, d / 2 - 0.04), 0.025, 0.02, BLACK, sides=8),
            beam((s * x, at - 0.01, -d / 2 + 0.03), (s * x, at - 0.01, d / 2 - 0.03), 0.02, look),
        ]
    parts.append(slab(2 * x, d - 0.06, at - 0.02, at, look))
    parts.append(beam((-x, rail, 0), (x, rail, 0), 0.028, look, sides=8))
    return parts + clothes_on_rail(-x * 0.8, x * 0.7, rail - 0.02, at + 0.1, 0.0, d * 0.75, item)


def coat_rack(item: Item) -> list[Part]:
    """A pole on crossed feet with hooks around its top, a coat, a hat and a scarf on them."""
    w, h, d = size_of(item)
    look = surface_of(item)
    r = min(w, d) / 2
    parts = [
        lathe(
            [(0.035, 0.05), (0.025, h * 0.3), (0.025, h - 0.06), (0.035, h - 0.04), (0.0, h)],
            look,
            sides=10,
        )
    ]
    for k in range(4):
        a = math.pi / 2 * k + math.pi / 4
        c, s = math.cos(a), math.sin(a)
        foot = [(0, 0.12, 0), (c * r * 0.5, 0.08, s * r * 0.5), (c * r * 0.97, 0.015, s * r * 0.97)]
        parts.append(tube(foot, 0.03, look))
    for n, y in enumerate((h - 0.12, h - 0.3)):
        for k in range(4):
            a = math.pi / 2 * k + n * math.pi / 4
            c, s = math.cos(a), math.sin(a)
            hook = [
                (0, y - 0.05, 0),
                (c * r * 0.55, y, s * r * 0.55),
                (c * r * 0.8, y + 0.09, s * r * 0.8),
            ]
            parts.append(tube(hook, 0.018, look))
            parts.append(ball((c * r * 0.8, y + 0.1, s * r * 0.8), (0.016,) * 3, look, sides=6))
    parts += _coat(0.0, h - 0.24, -r * 0.55, h * 0.5, r, Surface((0.32, 0.2, 0.14)))
    parts += _coat(r * 0.3, h - 0.24, r * 0.45, h * 0.58, r, Surface((0.2, 0.3, 0.45)))
    hat = [(0.0, 0.0), (0.14, 0.0), (0.14, 0.012), (0.075, 0.02), (0.07, 0.09), (0.0, 0.1)]
    size = min(1.0, r / 0.16)
    where = (-r * 0.1, h - 0.1, 0)
    parts.append(
        lathe([(a * size, b) for a, b in hat], Surface((0.25, 0.23, 0.22)), sides=14).moved(*where)
    )
    return parts


def _coat(x: float, top: float, z: float, low: float, r: float, look: Surface) -> list[Part]:
    """A coat that hangs by its collar: narrow above, wide below, two sleeves."""
    wide, deep = r * 0.85, 0.05
    body = [
        (-wide * 0.2, top),
        (wide * 0.2, top),
        (wide * 0.55, top - 0.1),
        (wide * 0.62, low),
        (-wide * 0.62, low),
        (-wide * 0.55, top - 0.1),
    ]
    near = z - deep
    parts = [prism(body, near, z + deep, look, axis="z").moved(x, 0, 0)]
    for s in (-1, 1):
        start, end = (x + s * wide * 0.52, top - 0.12, z), (x + s * wide * 0.72, low + 0.22, z)
        parts.append(beam(start, end, 0.07, shade(look, 0.9), sides=6))
    parts.append(
        box((x - 0.004, low, near - 0.004), (x + 0.004, top - 0.04, near), shade(look, 0.5))
    )
    return parts


def shoe_rack(item: Item) -> list[Part]:
    """Three slanting grids one over the other with pairs of shoes on them."""
    w, h, d = size_of(item)
    look = surface_of(item)
    dice = dice_of(item)
    levels = 3
    heights = [max(y, 0.03) for y in board_heights(h, levels)]
    parts = []
    for s in (-1, 1):
        x0, x1 = sorted((s * w / 2, s * (w / 2 - 0.025)))
        parts += [
            box((x0, 0, -d / 2), (x1, h, -d / 2 + 0.03), look),
            box((x0, 0, d / 2 - 0.03), (x1, h, d / 2), look),
            box((x0, h - 0.03, -d / 2), (x1, h, d / 2), look),
        ]
    for y in heights:
        for k in range(5):
            z = -d / 2 + (d - 0.03) * k / 4
            parts.append(box((-w / 2, y - 0.02, z), (w / 2, y, z + 0.03), look))
    parts.append(slab(w, d, h - 0.02, h, look))
    pair = 0.21
    room = heights[1] - heights[0] - 0.03
    for y in heights:
        x = -w / 2 + 0.06
        while x + pair < w / 2:
            if dice.random() < 0.75:
                tint = dice.choice(
                    [
                        (0.15, 0.12, 0.1),
                        (0.45, 0.26, 0.14),
                        (0.85, 0.85, 0.83),
                        (0.7, 0.15, 0.15),
                        (0.2, 0.3, 0.5),
                    ]
                )
                tall = min(room, dice.choice((0.1, 0.1, 0.2)))
                for n in range(2):
                    parts += shoe(
                        x + 0.05 + 0.095 * n, y, 0.0, min(0.26, d * 0.8), tall, Surface(tint)
                    )
            x += pair
    return parts


def shoe(x: float, y: float, z: float, long: float, tall: float, look: Surface) -> list[Part]:
    """One shoe, its toe to the front; tall ones are boots."""
    near, far = z - long / 2, z + long / 2
    side = [
        (near, y + 0.015),
        (far, y + 0.015),
        (far, y + tall),
        (far - long * 0.35, y + tall),
        (far - long * 0.45, y + min(tall, 0.07)),
        (near + long * 0.15, y + 0.05),
        (near, y + 0.035),
    ]
    return [
        prism(side, x - 0.038, x + 0.038, look),
        box((x - 0.04, y, near), (x + 0.04, y + 0.018, far), Surface((0.85, 0.84, 0.8))),
    ]


def wine_rack(item: Item) -> list[Part]:
    """Boards with hollows, bottles lying in them, their necks to the front."""
    w, h, d = size_of(item)
    look = surface_of(item)
    levels = 4
    heights = [max(y, 0.03) for y in board_heights(h, levels)]
    parts = []
    for s in (-1, 1):
        x0, x1 = sorted((s * w / 2, s * (w / 2 - 0.03)))
        parts.append(box((x0, 0, -d / 2), (x1, h, d / 2), look))
    parts.append(slab(w, d, h - 0.03, h, look))
    dice = dice_of(item)
    count = max(2, int((w - 0.08) / 0.1))
    room = heights[1] - heights[0] - 0.03
    for y in heights:
        parts.append(box((-w / 2, y - 0.025, -d / 2 + 0.02), (w / 2, y, d / 2), look))
        parts.append(
            box((-w / 2, y, -d / 2 + 0.05), (w / 2, y + 0.015, -d / 2 + 0.07), shade(look, 0.9))
        )
        rows = 2 if room > 0.19 else 1
        for row in range(rows):
            for k in range(count):
                if dice.random() < 0.22 + 0.3 * row:
                    continue
                x = -w / 2 + 0.05 + (w - 0.1) * (k + 0.5) / count
                parts += _lying_bottle(x, y + 0.05 + row * 0.085, d, dice.random())
    return parts


def _lying_bottle(x: float, y: float, d: float, chance: float) -> list[Part]:
    glass = Surface((0.08, 0.22, 0.1) if chance < 0.6 else (0.3, 0.06, 0.1), gloss=0.6)
    foil = Surface((0.55, 0.1, 0.15) if chance < 0.5 else (0.75, 0.62, 0.3), gloss=0.4)
    near, far = -d / 2 + 0.005, d / 2 - 0.02
    body = [
        (0.0, -far),
        (0.037, -far),
        (0.037, -near - 0.1),
        (0.014, -near - 0.06),
        (0.014, -near - 0.03),
    ]
    top = [(0.016, -near - 0.05), (0.016, -near), (0.0, -near)]
    return [
        lathe(body, glass, sides=7).tilted(-math.pi / 2).moved(x, y, 0),
        lathe(top, foil, sides=6).tilted(-math.pi / 2).moved(x, y, 0),
    ]


def firewood_holder(item: Item) -> list[Part]:
    """An iron frame with split logs piled in it, their cut ends to the front."""
    w, h, d = size_of(item)
    look = surface_of(item)
    x = w / 2 - 0.02
    parts = []
    for z in (-d / 2 + 0.03, d / 2 - 0.03):
        parts += [
            beam((-x, 0, z), (-x, h - 0.02, z), 0.025, look),
            beam((x, 0, z), (x, h - 0.02, z), 0.025, look),
            beam((-x, 0.04, z), (x, 0.04, z), 0.025, look),
        ]
    for s in (-1, 1):
        parts.append(
            beam((s * x, h - 0.02, -d / 2 + 0.03), (s * x, h - 0.02, d / 2 - 0.03), 0.025, look)
        )
        parts.append(beam((s * x * 0.6, 0.03, -d / 2), (s * x * 0.6, 0.03, d / 2), 0.02, look))
    dice = dice_of(item)
    bark, cut = Surface((0.36, 0.25, 0.17)), Surface((0.82, 0.64, 0.42))
    r = 0.055
    row, y = 0, 0.055 + r
    while y + r < h * 0.85:
        count = int((2 * x - 0.06) / (2 * r)) - row % 2
        for k in range(count):
            cx = (k - (count - 1) / 2) * 2 * r
            size = r * dice.uniform(0.85, 1.0)
            near, far = -d / 2 + dice.uniform(0.0, 0.03), d / 2 - 0.01
            log = cylinder(size, -far, -near - 0.003, bark, sides=7).tilted(-math.pi / 2)
            parts.append(log.moved(cx, y, 0))
            parts.append(wheel((cx, y, near + 0.003), size * 0.88, 0.008, cut, axis="z", sides=7))
        y += r * 1.75
        row += 1
    return parts


def dumbbell_rack(item: Item) -> list[Part]:
    """Two slanting shelves on a steel frame with dumbbells in rows, larger below."""
    w, h, d = size_of(item)
    look = surface_of(item)
    heights = board_heights(h, 2)
    parts = []
    for s in (-1, 1):
        x = s * (w / 2 - 0.03)
        parts += [
            beam((x, 0.02, -d / 2 + 0.02), (x, 0.02, d / 2 - 0.02), 0.05, look),
            beam((x, 0, d / 2 - 0.04), (x, h, d / 2 - 0.1), 0.05, look),
        ]
        for y in heights:
            parts.append(
                beam((x, y - 0.02, -d / 2 + 0.02), (x, y - 0.02, d / 2 - 0.06), 0.03, look)
            )
    for k, y in enumerate(heights):
        parts.append(
            box((-w / 2 + 0.03, y - 0.02, -d / 2 + 0.02), (w / 2 - 0.03, y, d / 2 - 0.06), look)
        )
        r = 0.075 - 0.02 * k
        pitch = 2 * r + 0.03
        count = int((w - 0.12) / pitch)
        for n in range(count):
            x = (n - (count - 1) / 2) * pitch
            parts += dumbbell(x, y + r, -d * 0.02, r, min(0.3, d * 0.66))
    top = h
    parts.append(
        box((-w / 2 + 0.03, top - 0.02, -d * 0.1), (w / 2 - 0.03, top, d / 2 - 0.05), look)
    )
    return parts


def dumbbell(x: float, y: float, z: float, r: float, long: float) -> list[Part]:
    """A bar between two hexagonal heads, along z."""
    head = long * 0.3
    return [
        beam((x, y, z - long * 0.3), (x, y, z + long * 0.3), 0.028, CHROME, sides=6),
        wheel((x, y, z - long / 2 + head / 2), r, head, BLACK, axis="z", sides=6),
        wheel((x, y, z + long / 2 - head / 2), r, head, BLACK, axis="z", sides=6),
        wheel((x, y, z - long / 2 - 0.001), r * 0.45, 0.004, STEEL, axis="z", sides=8),
    ]


def rack(item: Item) -> list[Part]:
    """What a rack is that nobody says more of: for clothes where it is high, else for shoes."""
    return clothes_rack(item) if size_of(item)[1] > 1.2 else shoe_rack(item)


BY_NAME: dict[str, Builder] = {
    "clothes_rack": clothes_rack,
    "coat_rack": coat_rack,
    "coat_stand": coat_rack,
    "shoe_rack": shoe_rack,
    "shoe_case": shoe_rack,
    "wine_rack": wine_rack,
    "firewood_holder": firewood_holder,
    "dumbbell_rack": dumbbell_rack,
    "rack": rack,
}
BY_SHAPE: dict[str, Builder] = {"rack": rack}
