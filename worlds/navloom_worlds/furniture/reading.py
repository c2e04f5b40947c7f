"""What is read and written: books, magazines, newspapers, letters, folders, and their like."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.artworks import MOTIFS
from navloom_worlds.furniture.making import STEEL, Builder, has, shade, size_of
from navloom_worlds.furniture.shaping import (
    BRASS,
    BRIGHT,
    MUTED,
    PAPER,
    WHITE,
    face,
    fitted,
    look,
    pick,
    relief,
    roll,
    top_face,
)
from navloom_worlds.furniture.turnery import tube
from navloom_worlds.furniture.wall_hangings import art_of, print_of
from navloom_worlds.geometry.solids import Part, Surface, box, floats


def _volume(w: float, h: float, d: float, cover: Surface, spine_bands: bool = True) -> list[Part]:
    """A book that stands: spine to the front (-z), w thick, h tall, d deep; on 0."""
    board = min(0.004, w * 0.15)
    leaf = min(0.005, h * 0.03)
    x, z = w / 2, d / 2
    parts = [
        box((-x, 0, -z), (-x + board, h, z), cover),
        box((x - board, 0, -z), (x, h, z), cover),
        box((-x, 0, -z), (x, h, -z + board), cover),
        box((-x + board, leaf, -z + board), (x - board, h - leaf, z - leaf), PAPER, sides="bukl"),
    ]
    if spine_bands and w > 0.008:
        band = shade(cover, 0.55) if sum(cover.rgb) > 1.6 else BRASS
        for low, high in ((0.12, 0.15), (0.62, 0.80), (0.86, 0.88)):
            parts.append(face(w * 0.8, h * low, h * high, -z - 0.0004, band))
    return parts


def _row(item: Item, w: float, h: float, d: float) -> list[Part]:
    # Books side by side, as on a shelf.
    dice = Random(roll(item, "row"))
    own = look(item, *MUTED, *BRIGHT, plain=True)
    parts: list[Part] = []
    x = -w / 2
    while x < w / 2 - 0.012:
        thick = min(dice.uniform(0.016, 0.042), w / 2 - x)
        tall, deep = h * dice.uniform(0.8, 1.0), d * dice.uniform(0.85, 1.0)
        rgb = dice.choice((own.rgb, own.rgb, *MUTED, *BRIGHT, WHITE.rgb))
        book = _volume(thick * 0.97, tall, deep, Surface(rgb))
        parts += [p.moved(x + thick / 2, 0, (deep - d) / 2) for p in book]
        x += thick
    return fitted(parts, (w, h, d))


def _stack(item: Item, w: float, h: float, d: float) -> list[Part]:
    dice = Random(roll(item, "stack"))
    parts: list[Part] = []
    y = 0.0
    while y < h - 0.005:
        thick = min(dice.uniform(0.02, 0.04), h - y)
        thick = h - y if h - y - thick < 0.012 else thick
        cover = Surface(dice.choice((*MUTED, *BRIGHT)))
        lying = _lying(w * dice.uniform(0.8, 0.95), thick, d * dice.uniform(0.8, 0.95), cover)
        parts += [p.turned(dice.uniform(-0.12, 0.12)).moved(0, y, 0) for p in lying]
        y += thick
    return fitted(parts, (w, h, d))


def _lying(w: float, h: float, d: float, cover: Surface) -> list[Part]:
    # On its back cover, the spine on the left of who stands before it.
    book = _volume(h, d, w, cover)
    turned = [part.turned(math.pi / 2).tilted(math.pi / 2, "x") for part in book]
    return fitted(turned, (w, h, d))


def _open_book(w: float, h: float, d: float, cover: Surface, pages: Surface) -> list[Part]:
    board = h * 0.2
    parts = [box((-w / 2, 0, -d / 2), (w / 2, board, d / 2), cover)]
    swell = h * (0.35 + 0.65 * np.abs(np.sin(np.linspace(-math.pi, math.pi, 9))) ** 0.6)
    block = relief(w * 0.96, d * 0.95, np.repeat(swell[:, None], 2, axis=1), PAPER)
    parts.append(block)
    for side in (-1, 1):
        parts.append(top_face(w * 0.38, d * 0.85, h * 1.01, pages, x=side * w * 0.23))
    return fitted(parts, (w, h, d))


def _book(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    cover = look(item, *MUTED, *BRIGHT, plain=True)
    if has(item, "open"):
        return _open_book(w, h, d, cover, print_of(item, "text", 0.75))
    if h >= 0.6 * min(w, d) and h > 0.1:
        return _row(item, w, h, d) if w > 0.05 else fitted(_volume(w, h, d, cover), (w, h, d))
    if h > 0.05:
        return _stack(item, w, h, d)
    own = _lying(w, h, d, cover)
    art = print_of(item, "cover", 0.75, _tone(item))
    return fitted([*own, top_face(w * 0.94, d * 0.94, h + 0.0004, art)], (w, h, d))


def _tone(item: Item) -> str:
    return item.colour or pick(item, ("blue", "red", "green", "brown", ""), "tone")


def _magazine(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    dice = Random(roll(item, "stack"))
    count = max(1, min(6, round(h / 0.006)))
    parts: list[Part] = []
    for k in range(count):
        low, high, last = h * k / count, h * (k + 1) / count, k == count - 1
        art = print_of(item, "cover", 0.75, _tone(item))
        sheet = [box((-w / 2, low, -d / 2), (w / 2, high, d / 2), art if last else PAPER)]
        if last:
            sheet = [box((-w / 2, low, -d / 2), (w / 2, high, d / 2), PAPER)]
            sheet.append(top_face(w, d, high + 0.0003, art))
        parts += [part.turned(dice.uniform(-0.1, 0.1) * (count > 1)) for part in sheet]
    return fitted(parts, (w, h, d))


def _paper_like(name: str, *, folded: bool = False) -> Builder:
    def build(item: Item) -> list[Part]:
        w, h, d = size_of(item)
        paper = look(item, PAPER.rgb, plain=True) if not folded else Surface((0.86, 0.85, 0.81))
        parts = [box((-w / 2, 0, -d / 2), (w / 2, h, d / 2), paper)]
        if folded:
            layer = h / 3
            parts = [
                box((-w / 2, layer * k, -d / 2), (w / 2, layer * (k + 0.8), d / 2), paper)
                for k in range(3)
            ]
        top = parts[-1].vertices[:, 1].max()
        parts.append(top_face(w * 0.98, d * 0.98, float(top) + 3e-4, print_of(item, name, 0.75)))
        return fitted(parts, (w, h, d))

    return build


def _envelope(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    paper = look(item, (0.93, 0.91, 0.86), (0.78, 0.68, 0.52), plain=True)
    y = h + 0.0004
    parts = [box((-w / 2, 0, -d / 2), (w / 2, h, d / 2), paper)]
    flap = floats([[w / 2, y, d / 2], [-w / 2, y, d / 2], [0, y, -d * 0.05]])
    parts.append(Part(flap, np.array([[0, 1, 2]], dtype=np.int32), shade(paper, 0.86)))
    stamp = Surface(pick(item, BRIGHT, "stamp"))
    parts.append(top_face(w * 0.1, d * 0.16, y, stamp, x=-w * 0.4, z=-d * 0.36))
    return fitted(parts, (w, h, d))


def _folder(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    card = look(item, (0.85, 0.72, 0.42), (0.25, 0.4, 0.65), plain=True)
    thin = h * 0.2
    parts = [
        box((-w / 2, 0, -d / 2), (w / 2, thin, d / 2), card),
        box((-w * 0.47, thin, -d * 0.47), (w * 0.49, h - thin, d * 0.46), PAPER),
        box((-w / 2, h - thin, -d / 2), (w / 2, h, d * 0.44), card),
        top_face(w * 0.4, d * 0.15, h + 0.0004, WHITE, z=d * 0.1),
    ]
    return fitted(parts, (w, h, d))


def _binder(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    card = look(item, (0.15, 0.3, 0.6), (0.12, 0.12, 0.13), (0.7, 0.15, 0.15), plain=True)
    parts = _volume(w, h, d, card, spine_bands=False)
    label = face(w * 0.65, h * 0.45, h * 0.85, -d / 2 - 0.0004, WHITE)
    hole = tube(
        [(w * 0.2 * math.cos(a), h * 0.2 + w * 0.2 * math.sin(a), -d / 2 - 0.001) for a in _RING],
        w * 0.08,
        STEEL,
        sides=4,
    )
    return fitted([*parts, label, hole], (w, h, d))


_RING = np.linspace(0, 2 * math.pi, 11)


def _case(item: Item) -> list[Part]:
    # Film or music in plastic cases, flat and stacked.
    w, h, d = size_of(item)
    plastic = look(item, (0.1, 0.1, 0.12), (0.15, 0.3, 0.6), plain=True)
    count = max(1, round(h / 0.015))
    dice = Random(roll(item, "stack"))
    parts: list[Part] = []
    for k in range(count):
        low, high = h * k / count, h * (k + 0.94) / count
        part = box((-w / 2, low, -d / 2), (w / 2, high, d / 2), shade(plastic, 1 - 0.25 * (k % 2)))
        parts.append(part.turned(dice.uniform(-0.08, 0.08) * (count > 1)))
    art = art_of(item, MOTIFS, w, d, "multicoloured")
    parts.append(top_face(w * 0.9, d * 0.9, h, art))
    return fitted(parts, (w, h, d))


def _album(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    leather = look(item, (0.4, 0.24, 0.14), (0.1, 0.1, 0.1))
    parts = _lying(w, h, d, leather)
    photo = art_of(item, MOTIFS, 1.33, 1, "multicoloured")
    parts.append(top_face(w * 0.45, d * 0.35, h + 0.0004, photo, z=d * 0.1))
    return fitted(parts, (w, h, d))


def _notebook(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    cover = look(item, *MUTED, *BRIGHT, plain=True)
    parts = [box((-w * 0.47, 0, -d / 2), (w / 2, h * 0.8, d / 2), PAPER)]
    parts.append(box((-w * 0.47, h * 0.8, -d / 2), (w / 2, h * 0.95, d / 2), cover))
    for z in np.linspace(-d * 0.42, d * 0.42, 9):
        coil = box((-w * 0.5, 0, z - d * 0.012), (-w * 0.43, h, z + d * 0.012), STEEL)
        parts.append(coil.scaled(-1, 1, 1))
    parts = [part.scaled(-1, 1, 1) for part in parts]
    parts.append(top_face(w * 0.5, d * 0.15, h * 0.97, WHITE, z=d * 0.15))
    return fitted(parts, (w, h, d))


def _wallet(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    leather = look(item, (0.35, 0.2, 0.12), (0.08, 0.08, 0.08))
    parts = [
        box((-w / 2, 0, -d / 2), (w / 2, h * 0.45, d / 2), leather),
        box((-w * 0.46, h * 0.45, -d * 0.48), (w * 0.46, h * 0.55, d * 0.44), WHITE),
        box((-w / 2, h * 0.55, -d / 2), (w / 2, h, d / 2), leather),
        box((-w * 0.08, h * 0.4, -d / 2 - d * 0.03), (w * 0.08, h, -d * 0.3), shade(leather, 0.7)),
    ]
    return fitted(parts, (w, h, d))


BY_NAME: dict[str, Builder] = {
    "book": _book,
    "cookbook": _book,
    "photo_album": _album,
    "magazine": _magazine,
    "newspaper": _paper_like("newspaper", folded=True),
    "paper": _paper_like("text"),
    "document": _paper_like("text"),
    "sheet_music": _paper_like("music"),
    "letter": _envelope,
    "mail": _envelope,
    "folder": _folder,
    "binder": _binder,
    "dvd": _case,
    "notebook": _notebook,
    "wallet": _wallet,
}
BY_SHAPE: dict[str, Builder] = {"book": _book}
