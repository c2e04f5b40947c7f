"""What people exercise on and ride: treadmills, exercise bikes, rowing machines, bicycles, cars."""

from __future__ import annotations

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import (
    BLACK,
    BLACK_GLASS,
    CHROME,
    IRON,
    RUBBER,
    STEEL,
    Builder,
    has,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import prism, ring, rounded, slab, tube, wheel
from navloom_worlds.geometry.solids import Part, Surface, beam, box

_SCREEN_ON = Surface((0.3, 0.75, 1.0), glow=0.9)


def treadmill(item: Item) -> list[Part]:
    """A belt between two rails, two posts at its head with arms and a display."""
    w, h, d = size_of(item)
    dark, grey = BLACK, Surface((0.4, 0.41, 0.43), gloss=0.3)
    deck = 0.16
    z = d * 0.36
    parts = [
        slab(w, d * 0.96, 0.03, deck - 0.04, grey),
        slab(w * 0.62, d * 0.94, deck - 0.05, deck, RUBBER),
        rounded((-w / 2, 0.0, d * 0.3), (w / 2, deck + 0.12, d / 2), 0.05, grey),
    ]
    for s in (-1, 1):
        x0, x1 = sorted((s * w / 2, s * w * 0.33))
        parts.append(box((x0, deck - 0.06, -d * 0.47), (x1, deck + 0.02, d * 0.32), dark))
        post = s * (w / 2 - 0.05)
        parts += [
            beam((post, 0.1, z), (post, h - 0.16, z + d * 0.03), 0.06, grey),
            tube(
                [(post, h - 0.2, z), (post, h - 0.24, z - d * 0.1), (post, h - 0.26, z - d * 0.24)],
                0.045,
                dark,
            ),
        ]
    for k in range(6):
        y = -d * 0.4 + k * d * 0.11
        parts.append(box((-w * 0.3, deck, y), (w * 0.3, deck + 0.002, y + 0.012), shade(grey, 0.6)))
    panel = rounded((-w / 2, -0.03, -0.14), (w / 2, 0.04, 0.14), 0.025, dark, steps=1).tilted(0.7)
    parts.append(panel.moved(0, h - 0.15, z - 0.02))
    face = _SCREEN_ON if has(item, "on") else BLACK_GLASS
    screen = box((-w * 0.25, 0.04, -0.08), (w * 0.25, 0.048, 0.1), face).tilted(0.7)
    parts.append(screen.moved(0, h - 0.15, z - 0.02))
    # A face that looks at who runs, towards -z.
    parts.append(box((-w * 0.28, h - 0.2, z - 0.15), (w * 0.28, h - 0.18, z - 0.13), grey))
    parts.append(beam((-w / 2 + 0.05, h - 0.28, z), (w / 2 - 0.05, h - 0.28, z), 0.05, grey))
    return parts


def exercise_bike(item: Item) -> list[Part]:
    """A flywheel in a frame, a saddle, pedals, handlebars with a display; on two feet."""
    w, h, d = size_of(item)
    red = Surface((0.72, 0.13, 0.12), gloss=0.3)
    near, far = -d / 2, d / 2
    axle, r = h * 0.27, min(h * 0.2, d * 0.22)
    front = near + d * 0.28
    crank = (0, h * 0.26, near + d * 0.58)
    parts = [
        beam(
            (-w / 2 + 0.02, 0.035, near + 0.06),
            (w / 2 - 0.02, 0.035, near + 0.06),
            0.07,
            BLACK,
            sides=8,
        ),
        beam(
            (-w / 2 + 0.02, 0.035, far - 0.06),
            (w / 2 - 0.02, 0.035, far - 0.06),
            0.07,
            BLACK,
            sides=8,
        ),
        beam((0, 0.05, near + 0.06), (0, 0.05, far - 0.06), 0.06, red),
        wheel((0, axle, front), r, 0.06, IRON, sides=24),
        ring((0, axle, front), r, 0.035, CHROME, around=24),
        wheel((0, axle, front), r * 0.3, 0.08, red, sides=14),
        beam((0, axle, front), (0, h * 0.68, near + d * 0.34), 0.05, red),
        beam((0, axle, front), crank, 0.05, red),
        beam(crank, (0, h * 0.5, near + d * 0.36), 0.05, red),
        beam((0, 0.05, near + d * 0.62), (0, h * 0.66, near + d * 0.74), 0.055, red),
        beam((0, h * 0.55, near + d * 0.72), (0, h * 0.7, near + d * 0.75), 0.035, CHROME, sides=8),
        beam((0, h * 0.66, near + d * 0.34), (0, h * 0.88, near + d * 0.3), 0.035, CHROME, sides=8),
        wheel(crank, 0.09, 0.05, STEEL, sides=16),
    ]
    y, z = h * 0.72, near + d * 0.78
    outline = [
        (-0.09, z + 0.12),
        (0.09, z + 0.12),
        (0.08, z + 0.02),
        (0.03, z - 0.08),
        (0.02, z - 0.15),
        (-0.02, z - 0.15),
        (-0.03, z - 0.08),
        (-0.08, z + 0.02),
    ]
    parts.append(prism(outline, y - 0.02, y + 0.04, BLACK, axis="y"))
    for s in (-1, 1):
        end = (s * 0.11, crank[1] + s * 0.1, crank[2] + s * 0.1)
        parts.append(beam((s * 0.06, crank[1], crank[2]), (s * 0.06, end[1], end[2]), 0.025, STEEL))
        parts.append(
            box(
                (end[0] - 0.05, end[1] - 0.012, end[2] - 0.05),
                (end[0] + 0.05, end[1] + 0.012, end[2] + 0.05),
                BLACK,
            )
        )
        bar = [
            (0, h * 0.88, near + d * 0.3),
            (s * w * 0.35, h * 0.88, near + d * 0.3),
            (s * w * 0.42, h * 0.92, near + d * 0.2),
            (s * w * 0.42, h * 0.97, near + d * 0.14),
        ]
        parts.append(tube(bar, 0.032, BLACK))
    parts.append(box((-0.09, h * 0.88, near + d * 0.27), (0.09, h, near + d * 0.31), BLACK))
    parts.append(
        box((-0.07, h * 0.9, near + d * 0.31), (0.07, h * 0.985, near + d * 0.315), _SCREEN_ON)
    )
    return parts


def rowing_machine(item: Item) -> list[Part]:
    """A long rail with a sliding seat, foot plates, a fan in its cage, a handle on a chain."""
    w, h, d = size_of(item)
    near, far = -d / 2, d / 2
    rail = h * 0.36
    fan = far - min(0.28, h * 0.3)
    r = min(h * 0.27, 0.26)
    parts = [
        beam((0, rail, near + 0.05), (0, rail, fan - r), 0.06, STEEL),
        box((-0.03, rail + 0.03, near + 0.05), (0.03, rail + 0.04, fan - r), CHROME),
        beam(
            (-w / 2 + 0.02, 0.03, near + 0.08),
            (w / 2 - 0.02, 0.03, near + 0.08),
            0.05,
            BLACK,
            sides=8,
        ),
        beam((0, 0.03, near + 0.08), (0, rail, near + 0.12), 0.05, STEEL),
        beam(
            (-w / 2 + 0.02, 0.03, far - 0.1), (w / 2 - 0.02, 0.03, far - 0.1), 0.05, BLACK, sides=8
        ),
        beam((0, 0.03, far - 0.1), (0, r + 0.08, fan), 0.06, BLACK),
        beam((0, rail, fan - r - 0.02), (0, r + 0.08, fan), 0.08, BLACK),
        wheel((0, r + 0.08, fan), r * 0.9, 0.14, IRON, sides=24),
        wheel((0, r + 0.08, fan), r * 0.35, 0.17, STEEL, sides=16),
        rounded(
            (-0.16, rail + 0.05, near + d * 0.3),
            (0.16, rail + 0.12, near + d * 0.3 + 0.24),
            0.03,
            BLACK,
        ),
    ]
    for k in range(4):
        parts.append(ring((-0.09 + 0.06 * k, r + 0.08, fan), r, 0.014, BLACK, around=24, sides=4))
    for s in (-1, 1):
        plate = box((-0.06, 0, -0.01), (0.06, 0.3, 0.01), BLACK).tilted(-0.6)
        parts.append(plate.moved(s * 0.13, rail - 0.03, fan - r - 0.12))
        strap = box((-0.065, 0.12, -0.03), (0.065, 0.16, 0.012), Surface((0.8, 0.5, 0.1))).tilted(
            -0.6
        )
        parts.append(strap.moved(s * 0.13, rail - 0.03, fan - r - 0.12))
    y = rail + 0.22
    parts += [
        beam((-0.24, y, fan - r - 0.15), (0.24, y, fan - r - 0.15), 0.035, BLACK, sides=8),
        beam((0, y, fan - r - 0.15), (0, r + 0.2, fan - 0.05), 0.012, CHROME),
        beam((0, r + 0.1, fan), (0, h - 0.1, fan - 0.22), 0.04, BLACK),
        box((-0.1, h - 0.14, fan - 0.26), (0.1, h, fan - 0.22), BLACK),
        box((-0.08, h - 0.12, fan - 0.263), (0.08, h - 0.02, fan - 0.26), _SCREEN_ON),
    ]
    return parts


BY_NAME: dict[str, Builder] = {
    "treadmill": treadmill,
    "exercise_bike": exercise_bike,
    "stationary_bike": exercise_bike,
    "rowing_machine": rowing_machine,
}
BY_SHAPE: dict[str, Builder] = {}
