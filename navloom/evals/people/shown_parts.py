"""What raters are shown of an item, as blocks: words, ways on the plan, rooms, an errand, views."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.people.form import Form
from navloom.evals.report.blocks import (
    Block,
    Grid,
    MapMark,
    MapRoute,
    Picture,
    Prose,
    Said,
    SceneMap,
    Transcript,
    record_of,
)
from navloom.evals.report.document import NOTHING, Table, photo
from navloom.evals.report.maps import spots_of
from navloom.evals.report.shown_scene import scene_rooms
from navloom.scenes.distances import heading_to
from navloom.scenes.plan_shapes import readable
from navloom.scenes.prompt import item_names
from navloom.scenes.scene import Scene

_VIEWS = 3
"""Views along a way: at its start, in its middle, at its end."""
_WIDE = 1024
"""Pixels of a view's longer side."""


def told_block(text: str, title: str = "Instruction") -> Prose:
    """Words that are asked about, as they are."""
    return Prose(title=title, text=text)


def way_block(scene: Scene, path: Sequence[str]) -> SceneMap:
    """A way on its plan, from its start to its goal; viewpoints that the scene lacks are left out.

    Args:
        scene: where.
        path: viewpoints.
    """
    spots = spots_of(scene, path)
    marks = []
    if spots:
        marks = [MapMark(kind="start", at=spots[0]), MapMark(kind="goal", at=spots[-1])]
    route = (MapRoute(name="the way", style="walk", points=spots),) if len(spots) > 1 else ()
    return SceneMap(title="The way", scene=scene.uri, routes=route, marks=tuple(marks))


def passed_block(scene: Scene, path: Sequence[str]) -> Prose:
    """The rooms of a way, in their order."""
    known = scene.viewpoint_by_id
    regions = (known[name].region for name in path if name in known)
    rooms = [readable(each) for each, _ in groupby(regions) if each is not None]
    return Prose(title="Rooms on the way", text=" → ".join(rooms) or "not known")


def view_blocks(scene: Scene, path: Sequence[str]) -> list[Block]:
    """What is seen along a way, on from there; none where the scene cannot be seen."""
    from navloom.sim.viewer import look_from

    known = [name for name in path if name in scene.viewpoint_by_id]
    if len(known) < 2:
        return []
    places = sorted({0, len(known) // 2, len(known) - 1})[:_VIEWS]
    names = dict(zip(places, ("at the start", "half-way", "at the end"), strict=False))
    blocks: list[Block] = []
    for place in places:
        here, there = known[min(place, len(known) - 2)], known[min(place, len(known) - 2) + 1]
        found = scene.viewpoint_by_id
        heading = math.degrees(heading_to(found[here].position, found[there].position))
        try:
            image = look_from(scene, f"{known[place]},{heading:.1f}")
        except NavloomError:
            return []
        said = f"What is seen {names[place]}: to the left, in front, to the right and behind"
        blocks.append(Picture(data=photo(image, _WIDE), alt=said, note=f"{said}."))
    return blocks


def rooms_block(scene: Scene) -> Grid:
    """The graph of rooms as models read it: where each leads, and the things in it."""
    rows = tuple(
        (
            readable(room["region"]),
            str(room["floor"]),
            ", ".join(map(readable, room["leads_to"])) or NOTHING,
            ", ".join(map(readable, room["assets"])) or NOTHING,
        )
        for room in scene_rooms(scene)
    )
    header = ("room", "floor", "leads to", "things to put something on, and others")
    return Grid(table=Table("", "", header, rows, folded="The rooms in words"))


def places_of(scene: Scene, form: Form) -> dict[str, tuple[str, ...]]:
    """The rooms that hold something, with the things in each; none where no place is asked for."""
    if all(each.kind != "place" for each in form.questions):
        return {}
    found = ((room.id, item_names(scene, room.id, "asset")) for room in scene.regions)
    return {room: tuple(names) for room, names in found if names}


def examples_block(writers: Sequence[tuple[str, Iterable[str]]]) -> Transcript:
    """Other texts of each writer."""
    said = [Said(who=name, text=text) for name, texts in writers for text in texts]
    return Transcript(title="Other texts of both", said=tuple(said))


def records(blocks: Iterable[Block]) -> tuple[dict[str, Any], ...]:
    """Blocks as an item keeps them."""
    return tuple(record_of(each) for each in blocks)
