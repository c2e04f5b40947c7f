"""What is carried about and what hangs on walls: each known thing is built, as large as it is."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from navloom.scenes.scene import Item, Wall
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.furniture import belongings, decor, household_items
from navloom_worlds.furniture.item_builders import find_builder, item_parts, placeholder_parts
from navloom_worlds.furniture.procedural_images import MOTIFS
from navloom_worlds.geometry.item_pose import drawn_pose
from navloom_worlds.geometry.solids import Part, TextureImage, parts_bounds
from navloom_worlds.homes.catalogue import active_catalogue

BY_NAME = household_items.BY_NAME | belongings.BY_NAME | decor.BY_NAME
BUDGET = 860
"""Triangles of one thing at most: there are 100 to 200 in a home."""
STATES = ("", "on", "off", "open", "closed", "full", "empty", "folded", "wet")


@cache
def things() -> tuple[Item, ...]:
    """One of each size, shape and state that the catalogue's objects and demo homes know."""
    found = []
    for key, entry in active_catalogue().entries.items():
        if entry.kind == "asset" or key == "curtain":
            continue
        for name in entry.titles:
            for state in dict.fromkeys(("", *(s for group in entry.states for s in group))):
                for k, pick in enumerate((min, max)):
                    w, h, d = (pick(low_high) / 1000 for low_high in entry.size)
                    found.append(
                        Item(
                            id=f"{key}/{name}/{state}/{k}",
                            name=name,
                            kind=entry.kind,
                            position=(0, 0, 0),
                            size=(w, h, d),
                            shape=entry.shape,
                            colour=("red", None)[k],
                            material=("cotton", None)[k],
                            states=(state,) if state else (),
                        )
                    )
    for home in ("flat", "house", "villa"):
        found += [i for i in load_scene(f"demo:{home}").items if i.kind == "object" and i.size]
    return tuple(found)


def test_every_object_has_a_builder_of_its_own_name() -> None:
    names = {item.prompt_name for item in things()}
    missing = [
        name for name in sorted(names) if find_builder(name, None) in (None, placeholder_parts)
    ]
    assert missing == []
    assert len(names) > 200


def test_every_object_keeps_within_its_size_and_its_budget() -> None:
    wrong = []
    for item in things():
        assert item.size is not None
        parts = item_parts(item)
        low, high = parts_bounds(parts)
        w, h, d = item.size
        # An open laptop's lid stands above the box that the closed one is given.
        top = np.inf if item.name == "laptop" and "open" in item.states else h
        inside = (low >= np.array([-w / 2, 0, -d / 2]) - 2e-3).all() and (
            high <= np.array([w / 2, top, d / 2]) + 2e-3
        ).all()
        count = sum(len(part.faces) for part in parts)
        if not inside or not 2 <= count <= BUDGET:
            wrong.append(f"{item.id} {item.size}: {low} {high}, {count} triangles")
    assert wrong == []


def test_every_object_fills_most_of_its_size() -> None:
    small = []
    for item in things():
        low, high = parts_bounds(item_parts(item))
        if ((high - low) < 0.75 * np.array(item.size)).any():
            small.append(f"{item.id}: {high - low} of {item.size}")
    assert small == []


@pytest.mark.some(12)
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_a_thing_of_any_proportions_is_whole(name: str) -> None:
    """Sizes as another format might have them: flat, tall and cubic."""
    for k, size in enumerate(((0.4, 0.02, 0.3), (0.1, 0.9, 0.1), (0.3, 0.3, 0.3))):
        for state in STATES[: 3 if k else None]:
            item = Item(
                id=f"{k}",
                name=name.split("/")[0].replace("_", " "),
                kind="object",
                position=(0, 0, 0),
                size=size,
                shape=name.split("/")[1] if "/" in name else None,
                states=(state,) if state else (),
            )
            for part in item_parts(item):
                assert np.isfinite(part.vertices).all()
                assert part.faces.min() >= 0
                assert part.faces.max() < len(part.vertices)
                assert part.uv is None or len(part.uv) == len(part.vertices)


def _thing(name: str, number: str = "1", **more: object) -> list[Part]:
    fields = {"size": (0.6, 0.5, 0.03), "colour": "blue", "material": "paper", "shape": "picture"}
    item = Item.model_validate(
        {"id": number, "name": name, "kind": "object", "position": (0, 0, 0), **fields, **more}
    )
    return item_parts(item)


def _art(parts: list[Part]) -> list[Part]:
    return [part for part in parts if isinstance(part.surface.texture, TextureImage)]


def test_a_picture_hangs_with_its_art_to_the_room_and_upright() -> None:
    (art,) = _art(_thing("picture"))
    assert art.uv is not None
    assert art.vertices[:, 2].max() < 0, "the front of what hangs is -z"
    top, left = art.vertices[:, 1].argmax(), art.vertices[:, 0].argmax()
    # v grows downwards; who looks along +z has +x on the left.
    assert art.uv[top, 1] == 0
    assert art.uv[left, 0] == 0


@pytest.mark.parametrize("home", ["demo:villa", "demo:house", "home:3"])
def test_pictures_hang_before_their_walls_and_face_the_room(home: str) -> None:
    scene = load_scene(home)
    hung = [i for i in scene.items if i.name in ("picture", "painting", "mirror") and i.size]
    assert len(hung) > 4
    for item in hung:
        assert item.size is not None
        x, z, yaw = drawn_pose(scene, item)
        front = (math.sin(yaw), -math.cos(yaw))
        clear = []
        for way in (1, -1):
            # From the middle of its front, and of its back, to the first wall.
            at = [x + way * front[0] * item.size[2] / 2, z + way * front[1] * item.size[2] / 2]
            clear.append(min(_wall_ahead(wall, at, front, way, item) for wall in scene.walls))
        assert clear[1] < 0.03 < clear[0], (item.id, clear)


def _wall_ahead(
    wall: Wall, at: list[float], front: tuple[float, float], way: int, item: Item
) -> float:
    (ax, az), (bx, bz) = wall.a, wall.b
    long = math.hypot(bx - ax, bz - az)
    ux, uz = (bx - ax) / long, (bz - az) / long
    across = front[0] * -uz + front[1] * ux
    off, along = (at[0] - ax) * -uz + (at[1] - az) * ux, (at[0] - ax) * ux + (at[1] - az) * uz
    level = wall.bottom <= item.position[1] <= wall.bottom + wall.height
    if not level or abs(across) < 0.9 or not 0 <= along <= long:
        return math.inf
    far = -off / (across * way) - wall.thickness / 2
    return far if far > -wall.thickness else math.inf


def test_pictures_differ_among_things_and_never_for_one() -> None:
    seen = {number: _art(_thing("picture", str(number)))[0].surface for number in range(60)}
    pictures = {id(surface.texture) for surface in seen.values()}
    assert len(pictures) > len(MOTIFS)
    assert all(_art(_thing("picture", str(k)))[0].surface == seen[k] for k in (0, 7, 59))


@pytest.mark.parametrize("name", ["lamp", "ceiling lamp", "lantern", "candle", "night light"])
def test_what_is_on_glows(name: str) -> None:
    look = {"size": (0.3, 0.4, 0.3), "shape": "lamp"}
    glow = [max(p.surface.glow for p in _thing(name, states=(s,), **look)) for s in ("on", "off")]
    assert glow[0] > 0.5
    assert glow[1] == 0


def test_what_is_open_or_full_looks_otherwise() -> None:
    def parts(name: str, state: str) -> list[tuple[int, tuple[float, float, float]]]:
        made = _thing(name, size=(0.3, 0.3, 0.3), shape=None, states=(state,))
        return [(len(part.faces), part.surface.rgb) for part in made]

    pairs = {"box": "open", "tool box": "open", "laptop": "open", "cup": "full", "bowl": "full"}
    pairs |= {"trash can": "full", "basket": "full", "wine glass": "full", "jewelry box": "open"}
    same = [name for name, state in pairs.items() if parts(name, state) == parts(name, "closed")]
    assert same == []
