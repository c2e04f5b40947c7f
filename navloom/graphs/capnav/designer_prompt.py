"""Prompts and tools of the CapNav question designer, and the messages that reject its questions.

The tools (``nodes``, ``items``, ``route`` and ``feasible``) are thin LangChain tools over pure
functions on :class:`navloom.tools.capnav.named_places.NamedPlaces`. A wrong argument is answered
with an ``error`` that says what is valid. Descriptions and annotators' notes are untrusted: one
bounded line each.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import create_model

from navloom.errors import SceneError, did_you_mean
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt
from navloom.tools.capnav import feasibility as traverse
from navloom.tools.capnav.landmarks import list_landmarks
from navloom.tools.capnav.named_places import NamedPlaces
from navloom.tools.capnav.question_grounding import AGENT
from navloom.tools.model_output import Violation, name_field, quote, sanitize_line

PROMPT, COMPACT_PROMPT = "capnav_tasks", "capnav_tasks_compact"
_GUIDELINE = "capnav_guideline.md"
_MOST_NODES, _MOST_LINE = 200, 240
_COMPACT_ITEMS, _COMPACT_LINE = 24, 500
_MOST_TAKEN, _COMPACT_TAKEN = 60, 6
_DRAWS = 50
NOWHERE = "doorway"
"""The landmark of a place of which nothing is known, not even its neighbours."""
_MOST_FAULTS = 24
_KEYS = ("start", "start_detail", "end", "end_detail")


@cache
def read_guideline() -> str:
    """Return the guideline document that ships with Navloom."""
    return (
        files("navloom.prompts").joinpath("capnav", _GUIDELINE).read_text(encoding="utf-8").strip()
    )


def guideline_record() -> dict[str, Any]:
    """Return the guideline's name and the hash of its text, for the record of a run."""
    return {"name": _GUIDELINE, "hash": sha256(read_guideline().encode()).hexdigest()[:12]}


def render_prompt(
    places: NamedPlaces,
    *,
    seed: int,
    least: int,
    frames: int,
    routes: Sequence[Sequence[str]] = (),
    taken: Sequence[Mapping[str, Any]] = (),
) -> RenderedPrompt:
    """Render the opening of a designer's conversation.

    Args:
        places: the scene.
        seed: varies the choices.
        least: how many questions to request.
        frames: how many images are sent along.
        routes: preferred (start, end) pairs.
        taken: existing questions of the scene.
    """
    pairs = [{"start": start, "end": end} for start, end in routes]
    known = [{key: q["nodes_involved"][key] for key in _KEYS} for q in taken[-_MOST_TAKEN:]]
    return load_prompt(PROMPT).render(
        guideline=read_guideline(),
        nodes="\n".join(_line(places, place) for place in places.ids[:_MOST_NODES]),
        seed=seed,
        min_questions=least,
        frames=frames,
        routes=json.dumps(pairs) if pairs else "",
        taken=json.dumps(known, ensure_ascii=False) if known else "",
        tools=True,
    )


def render_compact(
    places: NamedPlaces,
    *,
    seed: int,
    frames: int,
    route: Sequence[str],
    taken: Sequence[Mapping[str, Any]] = (),
) -> RenderedPrompt:
    """Render the opening for small models, within about 2,000 characters whatever the scene.

    Args:
        places: the scene.
        seed: varies the choices.
        frames: how many images are sent along.
        route: the fixed start and end of the question.
        taken: existing questions of the scene.
    """
    known = (q["nodes_involved"] for q in taken)
    spots = [
        f"{ends['start_detail']} with {ends['end_detail']}"
        for ends in known
        if [ends["start"], ends["end"]] == list(route)
    ]
    return load_prompt(COMPACT_PROMPT).render(
        nodes="\n".join(_short_line(places, place) for place in route),
        start=route[0],
        end=route[1],
        seed=seed,
        frames=frames,
        taken=sanitize_line("; ".join(spots[-_COMPACT_TAKEN:]), _COMPACT_LINE),
    )


def draw_route(
    places: NamedPlaces, taken: Sequence[Mapping[str, Any]], seed: int
) -> tuple[str, str] | None:
    """Sample two named and joined places by the seed, preferably a pair that is not taken."""
    dice = random.Random(f"route:{seed}")
    named = [place for place in places.ids if places.called(place)]
    known = {(q["nodes_involved"]["start"], q["nodes_involved"]["end"]) for q in taken}
    drawn = [tuple(dice.sample(named, 2)) for _ in range(_DRAWS if len(named) > 1 else 0)]
    joined = [(a, b) for a, b in drawn if places.connected(a, b)]
    return next((pair for pair in joined if pair not in known), joined[0] if joined else None)


def _line(places: NamedPlaces, place: str) -> str:
    """Return a node's line: ``node_12 - Kitchen (with an island)``; a region's id is its name."""
    name, said = places.name(place), places.description(place)
    named = place if name == place else f"{place} - {name or 'no name'}"
    return sanitize_line(f"{named} ({said})" if said else named, _MOST_LINE)


def landmark_choices(places: NamedPlaces, place: str, *, frames: int) -> tuple[str, ...]:
    """Return the items of a place to choose from; () means any item, as only images show them."""
    if frames and places.known(place) != "items":
        return ()
    return list_landmarks(places, place)[:_COMPACT_ITEMS] or (NOWHERE,)


def _short_line(places: NamedPlaces, place: str) -> str:
    said = ", ".join(list_landmarks(places, place)[:_COMPACT_ITEMS])
    line = f"{place} - {places.name(place) or 'no name'}"
    return sanitize_line(f"{line} - {said}" if said else line, _COMPACT_LINE)


def complete_question(choice: Mapping[str, Any], places: NamedPlaces) -> dict[str, Any]:
    """Build a whole question from one small choice; missing parts stay empty for the checks."""
    start, end = (_text(choice, key) for key in ("start", "end"))
    spots = {key: _spot(_text(choice, key)) for key in ("start_detail", "end_detail")}
    names = [_named(places, text) for text in (start, end)]
    question = (
        f"Can {AGENT} move from the {spots['start_detail']} in the {names[0]}"
        f" to the {spots['end_detail']} in the {names[1]}?"
    )
    return {
        "scene_type": choice.get("scene_type", "home"),
        "question": question[:400],
        "reason": f"Both {names[0]} and {names[1]} are places of this scene.",
        "nodes_involved": {"start": start, "intermediate": [], "end": end, **spots},
    }


def _named(places: NamedPlaces, said: str) -> str:
    place = places.resolve(said)
    return " ".join(((places.name(place) or place) if place else said)[:200].split())


def _text(choice: Mapping[str, Any], key: str) -> str:
    said = choice.get(key)
    return " ".join(said.split()) if isinstance(said, str) else ""


def _spot(said: str) -> str:
    first, _, rest = said.partition(" ")
    return rest if first.casefold() in ("the", "a", "an") else said


def repair_message(
    bad: Sequence[tuple[int, Sequence[Violation]]],
    good: Sequence[int],
    still: int,
    *,
    precise: bool,
) -> str:
    """Return the message about an answer in which some questions are wrong.

    Args:
        bad: number of each wrong question, from 1, and its violations.
        good: numbers of the accepted questions.
        still: how many more are needed.
        precise: name the fault of each.
    """
    kept = f"Accepted: question {', '.join(map(str, good))}. " if good else ""
    lines = [
        f"- question {number}: {violation.message}"
        for number, violations in bad
        for violation in (violations if precise else [Violation("", "breaks the guideline")])
    ][:_MOST_FAULTS]
    wrong = f"{kept}These break the rules:\n" + "\n".join(lines) if lines else f"{kept}".strip()
    more = "1 question" if still == 1 else f"{still} questions"
    where = "in their place" if lines else "more"
    return f"{wrong}\nGive {more} {where}, and only those, in the same form.".strip()


def shorten_question(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rejected question, bounded, for the record."""
    involved = given.get("nodes_involved")
    said = {"question": quote(given.get("question", ""))}
    if isinstance(involved, Mapping):
        said |= {key: quote(involved.get(key, "")) for key in _KEYS}
    return said


MOST_NODES, MOST_ITEMS, MOST_BLOCKING = 200, 60, 20
_MOST_WORDS = 200


def find_nodes(places: NamedPlaces) -> dict[str, Any]:
    """List every place: ``nodes`` with id, name and description, and how many are ``left_out``."""
    shown = places.ids[:MOST_NODES]
    nodes = [
        {
            "id": place,
            "name": sanitize_line(places.name(place), _MOST_WORDS),
            "description": sanitize_line(places.description(place), _MOST_WORDS),
        }
        for place in shown
    ]
    return {"nodes": nodes, "left_out": len(places.ids) - len(shown)}


def find_items(places: NamedPlaces, node: str) -> dict[str, Any]:
    """List the known items of a place: ``items``, or null where only a description is known.

    ``landmarks`` are names that a question can use to identify a spot there, best first.
    """
    place = places.resolve(node)
    if place is None:
        return _unknown(places, node)
    listed = places.items(place)
    items = [sanitize_line(item, _MOST_WORDS) for item in listed[:MOST_ITEMS]]
    return {
        "node": place,
        "name": sanitize_line(places.name(place), _MOST_WORDS),
        "description": sanitize_line(places.description(place), _MOST_WORDS),
        "items": items or None,
        "landmarks": [sanitize_line(each, _MOST_WORDS) for each in list_landmarks(places, place)][
            :_COMPACT_ITEMS
        ],
        "left_out": len(listed) - len(items),
    }


def find_route(places: NamedPlaces, a: str, b: str) -> dict[str, Any]:
    """Return the path of fewest passages for any body: ``connect``, ``path_length``, ``path``."""
    ends = [places.resolve(a), places.resolve(b)]
    for said, end in zip((a, b), ends, strict=True):
        if end is None:
            return _unknown(places, said)
    path = traverse.path_any_body(places.truth, str(ends[0]), str(ends[1]))
    return {"connect": bool(path), "path_length": max(0, len(path) - 1), "path": list(path)}


def find_feasible(places: NamedPlaces, body: str, a: str, b: str) -> dict[str, Any]:
    """Check if a body can get there: ``answer`` (null if unknown), ``path`` and ``blocking``."""
    ends = [places.resolve(a), places.resolve(b)]
    for said, end in zip((a, b), ends, strict=True):
        if end is None:
            return _unknown(places, said)
    try:
        found = traverse.check_feasibility(places.truth, body, str(ends[0]), str(ends[1]))
    except SceneError as error:
        return {"error": sanitize_line(str(error), 400)}
    return {
        "body": body,
        "answer": found.answer,
        "path": list(found.path),
        "blocking": [
            {"from": p.a, "to": p.b, "note": sanitize_line(p.note, _MOST_WORDS)}
            for p in found.blocking[:MOST_BLOCKING]
        ],
    }


def _unknown(places: NamedPlaces, said: str) -> dict[str, Any]:
    hint = did_you_mean(str(said)[:100], places.ids)
    return {
        "error": f"no node '{sanitize_line(str(said), 80)}' here.{hint} Call nodes for the list."
    }


def capnav_tools(places: NamedPlaces, *, constrain: bool = True) -> list[BaseTool]:
    """Build the four tools over one scene.

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

    start, end = name_field("Node to start from.", ids), name_field("Node to reach.", ids)
    made: tuple[tuple[Callable[..., Any], str, dict[str, Any]], ...] = (
        (nodes, "List the scene's nodes.", {}),
        (
            items,
            "List what is known to be in a node. items is null where no list exists; landmarks are"
            " what a spot can be named by, best first.",
            {"node": name_field("Node to look into.", ids)},
        ),
        (route, "Give the shortest route between two nodes.", {"a": start, "b": end}),
        (
            feasible,
            "Say whether a body can get from one node to another, and what is in its way.",
            {"body": name_field("Name of the body.", bodies), "a": start, "b": end},
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
