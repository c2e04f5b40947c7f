"""The tools of a question designer: ``nodes``, ``items``, ``route`` and ``feasible``.

Thin LangChain tools over pure functions on :class:`navloom.tools.capnav.named_places.Places`. What
is asked wrongly is answered with an ``error`` that says what would do. Descriptions and annotators'
notes are untrusted: one bounded line each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field, WithJsonSchema, create_model

from navloom.errors import SceneError, did_you_mean
from navloom.tools.capnav import feasible as traverse
from navloom.tools.capnav.named_places import Places
from navloom.tools.untrusted import paragraph

MOST_NODES, MOST_ITEMS, MOST_BLOCKING = 200, 60, 20
_MOST_WORDS = 200


def find_nodes(places: Places) -> dict[str, Any]:
    """Every place: ``nodes`` with id, name and description, and how many are ``left_out``."""
    shown = places.ids[:MOST_NODES]
    nodes = [
        {
            "id": place,
            "name": paragraph(places.name(place), _MOST_WORDS),
            "description": paragraph(places.description(place), _MOST_WORDS),
        }
        for place in shown
    ]
    return {"nodes": nodes, "left_out": len(places.ids) - len(shown)}


def find_items(places: Places, node: str) -> dict[str, Any]:
    """What is known to be in a place: ``items``, or null where only a description is known."""
    place = places.resolve(node)
    if place is None:
        return _unknown(places, node)
    listed = places.items(place)
    items = [paragraph(item, _MOST_WORDS) for item in listed[:MOST_ITEMS]]
    return {
        "node": place,
        "name": paragraph(places.name(place), _MOST_WORDS),
        "description": paragraph(places.description(place), _MOST_WORDS),
        "items": items or None,
        "left_out": len(listed) - len(items),
    }


def find_route(places: Places, a: str, b: str) -> dict[str, Any]:
    """The route of fewest passages: ``connect``, ``path_length`` and ``path``, whatever body."""
    ends = [places.resolve(a), places.resolve(b)]
    for said, end in zip((a, b), ends, strict=True):
        if end is None:
            return _unknown(places, said)
    path = traverse.route(places.truth, str(ends[0]), str(ends[1]))
    return {"connect": bool(path), "path_length": max(0, len(path) - 1), "path": list(path)}


def find_feasible(places: Places, body: str, a: str, b: str) -> dict[str, Any]:
    """Whether a body gets there: ``answer`` (null: nobody knows), ``path`` and ``blocking``."""
    ends = [places.resolve(a), places.resolve(b)]
    for said, end in zip((a, b), ends, strict=True):
        if end is None:
            return _unknown(places, said)
    try:
        found = traverse.feasible(places.truth, body, str(ends[0]), str(ends[1]))
    except SceneError as error:
        return {"error": paragraph(str(error), 400)}
    return {
        "body": body,
        "answer": found.answer,
        "path": list(found.path),
        "blocking": [
            {"from": p.a, "to": p.b, "note": paragraph(p.note, _MOST_WORDS)}
            for p in found.blocking[:MOST_BLOCKING]
        ],
    }


def _unknown(places: Places, said: str) -> dict[str, Any]:
    hint = did_you_mean(str(said)[:100], places.ids)
    return {"error": f"no node '{paragraph(str(said), 80)}' here.{hint} Call nodes for the list."}


def capnav_tools(places: Places, *, constrain: bool = True) -> list[BaseTool]:
    """The four tools over one scene.

    Args:
        places: the scene.
        constrain: enumerate node ids and bodies in the argument schemas.
    """
    ids = list(places.ids) if constrain else None
    bodies = list(places.truth.bodies) if constrain else None

    def nodes() -> dict[str, Any]:
        return find_nodes(places)

    def items(node: str) -> dict[str, Any]:
        return find_items(places, node)

    def route(a: str, b: str) -> dict[str, Any]:
        return find_route(places, a, b)

    def feasible(body: str, a: str, b: str) -> dict[str, Any]:
        return find_feasible(places, body, a, b)

    start, end = _name("Node to start from.", ids), _name("Node to reach.", ids)
    made: tuple[tuple[Callable[..., Any], str, dict[str, Any]], ...] = (
        (nodes, "List the scene's nodes.", {}),
        (
            items,
            "List what is known to be in a node. items is null where no list exists.",
            {"node": _name("Node to look into.", ids)},
        ),
        (route, "Give the shortest route between two nodes.", {"a": start, "b": end}),
        (
            feasible,
            "Say whether a body can get from one node to another, and what is in its way.",
            {"body": _name("Name of the body.", bodies), "a": start, "b": end},
        ),
    )
    return [
        StructuredTool.from_function(
            function,
            name=function.__name__,
            description=text,
            args_schema=create_model(function.__name__, **fields),
        )
        for function, text, fields in made
    ]


def _name(description: str, known: list[str] | None) -> tuple[Any, Any]:
    # A Literal would refuse an unknown name before the tool could answer it helpfully.
    held = Annotated[str, WithJsonSchema({"type": "string", "enum": [*known]})] if known else str
    return held, Field(description=description)
