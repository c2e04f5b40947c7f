"""Small synthetic scenes for the tests of the tools."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import strategies as st

from navloom.scenes.scene import Edge, Floor, Item, Link, Region, Scene, Viewpoint

ROW = ("Bedroom_1", "Hall_2", "Living_room_3", "Study_4", "Pantry_5", "Attic_6")


def row_house(*more: Item) -> Scene:
    """Return six rooms in a row, 4 m each, with a viewpoint at each centre (x = 2, 6, ... 22)."""
    centers = {name: (2.0 + 4 * i, 0.0, 0.0) for i, name in enumerate(ROW)}
    steps = list(pairwise(ROW))
    return Scene(
        id="row",
        source="test",
        floors=(Floor(id=1, height=0.0),),
        regions=tuple(Region(id=n, label=n, center=c) for n, c in centers.items()),
        links=tuple(Link(a=a, b=b, kind="door") for a, b in steps),
        viewpoints=tuple(Viewpoint(id=f"v{n}", position=c, region=n) for n, c in centers.items()),
        edges=tuple(Edge(a=f"v{a}", b=f"v{b}") for a, b in steps),
        items=(
            item("cup", "object", "Study_4", 14, 1),
            item("kitchen counter", "asset", "Hall_2", 6, 3),
            item("coffee table", "asset", "Living_room_3", 10, 2),
            *more,
        ),
    )


def near(expected: Any, **within: Any) -> Any:
    """Return ``pytest.approx`` as a value of any type, for use in fields and tuples."""
    return pytest.approx(expected, **within)


def item(name: str, kind: Any, region: str | None, x: float, z: float, **more: Any) -> Item:
    given = {"id": name.replace(" ", "-"), **more}
    return Item(name=name, kind=kind, region=region, position=(x, 0.5, z), **given)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Draw random scenes of 2 to 7 regions, often disconnected, some regions empty.

    Every edge between two regions has a link and every link with viewpoints at both ends an edge,
    so that hops over H and crossings over G mean the same. Coordinates are whole decimetres.
    """
    count = draw(st.integers(2, 7))
    names = [f"Room_{i}" for i in range(count)]
    place = st.integers(-80, 80).map(lambda n: n / 10)
    viewpoints, items = [], []
    for name in names:
        for k in range(draw(st.integers(0, 3))):
            at = (draw(place), 0.0, draw(place))
            viewpoints.append(Viewpoint(id=f"{name}/{k}", position=at, region=name))
        for k in range(draw(st.integers(0, 3))):
            kind = draw(st.sampled_from(["asset", "object"]))
            called = draw(st.sampled_from(["desk", "coffee table"] if kind == "asset" else ["cup"]))
            items.append(item(called, kind, name, draw(place), draw(place), id=f"{name}.{k}"))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    linked = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=9))
    inside = {name: [v.id for v in viewpoints if v.region == name] for name in names}
    edges = {
        (draw(st.sampled_from(inside[a])), draw(st.sampled_from(inside[b])))
        for a, b in linked
        if inside[a] and inside[b]
    }
    for members in inside.values():
        if draw(st.booleans()):
            edges |= set(pairwise(members))
    return Scene(
        id="random",
        source="test",
        floors=(Floor(id=1, height=0.0),),
        regions=tuple(Region(id=n, center=(draw(place), 0.0, draw(place))) for n in names),
        links=tuple(Link(a=a, b=b) for a, b in linked),
        viewpoints=tuple(viewpoints),
        edges=tuple(Edge(a=a, b=b) for a, b in sorted(edges)),
        items=tuple(items),
    )
