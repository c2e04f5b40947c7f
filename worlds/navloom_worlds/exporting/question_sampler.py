"""Questions about a scene with things, made by rules: from a thing in one room to one in another.

Each names two things, each the only one of its room that the words may mean
(:mod:`navloom.scenes.formats.told_apart`). No model is asked; ``navloom synth capnav`` has
questions made by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from navloom.scenes.formats.capnav_nodes import Node, nodes_of
from navloom.scenes.formats.told_apart import landmarks
from navloom.scenes.scene import Scene
from navloom.scenes.traverse_table import Traversability
from navloom.tools.capnav.feasible import route
from navloom.tools.capnav.grounding import AGENT
from navloom.tools.capnav.named_places import found_in, found_outside, load_words, plain, stem

NEAR = "near the "
_MOST_THINGS = 4
"""Things of a room that take turns in its questions."""
_MOST_BETWEEN = 4
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sampled:
    """One question.

    Attributes:
        start: a region's id.
        end: a region's id.
        things: the ids of the things that its details mean.
        question: with the benchmark's keys; places are nodes' ids.
    """

    start: str
    end: str
    things: tuple[str, str]
    question: dict[str, Any]


def nameable(scene: Scene) -> dict[str, list[tuple[str, str]]]:
    """Words and ids of things by which a room can be an end of a question, of rooms that have any.

    Args:
        scene: with items.
    """
    names = [stem(plain(node.name)) for node in nodes_of(scene).values()]
    words, found = load_words(), {}
    for region in scene.regions:
        fine = []
        for said, item in landmarks(scene, region.id):
            told = stem(plain(said))
            # The public scorer finds ends by the names of nodes, and the first "to" divides them.
            clear = not found_in(told, names) and not re.search(r"\b(?:to|from)\b", said)
            if clear and not found_outside(told, words.capability, words.exempt):
                fine.append((said, item.id))
        if fine:
            found[region.id] = fine[:_MOST_THINGS]
    return found


def sample_questions(
    scene: Scene,
    truth: Traversability,
    pairs: Iterable[Pair],
    shown: Mapping[str, str] | None = None,
) -> list[Sampled]:
    """Put pairs of rooms into words; the things of a room take turns.

    Args:
        scene: with items.
        truth: of its regions: its edges make the routes of the reasons.
        pairs: of regions that are :func:`nameable` and joined.
        shown: when a tour shows each region ("00:26"), for the reasons.
    """
    nodes, things = nodes_of(scene), nameable(scene)
    used: Counter[str] = Counter()
    made = []
    for pair in pairs:
        ends = []
        for region in pair:
            ends.append(things[region][used[region] % len(things[region])])
            used[region] += 1
        words = (ends[0][0], ends[1][0])
        question = _question(pair, route(truth, *pair), words, nodes, shown or {})
        made.append(Sampled(*pair, (ends[0][1], ends[1][1]), question))
    return made


def _question(
    pair: Pair,
    route: Sequence[str],
    said: tuple[str, str],
    nodes: Mapping[str, Node],
    shown: Mapping[str, str],
) -> dict[str, Any]:
    start, end = (nodes[region] for region in pair)
    between = [nodes[region] for region in route[1:-1]]
    return {
        "scene_type": "home",
        "question": (
            f"Can {AGENT} move from the {said[0]} in the {start.name} to the {said[1]} in the"
            f" {end.name}?"
        ),
        "reason": _reason(pair, route, nodes, shown),
        "nodes_involved": {
            "start": start.id,
            "start_detail": f"{NEAR}{said[0]}",
            "intermediate": [node.id for node in between] if len(between) <= _MOST_BETWEEN else [],
            "end": end.id,
            "end_detail": f"{NEAR}{said[1]}",
        },
    }


def _reason(
    pair: Pair, route: Sequence[str], nodes: Mapping[str, Node], shown: Mapping[str, str]
) -> str:
    """What the question is drawn from: where the tour shows its ends, and the shortest route."""
    told = ""
    if all(region in shown for region in pair):
        told = (
            f"At {shown[pair[0]]} the video shows the {nodes[pair[0]].name}, at {shown[pair[1]]}"
            f" the {nodes[pair[1]].name}. "
        )
    between = ", ".join(nodes[region].name for region in route[1:-1])
    by = f", by the {between}" if between else ""
    many = len(route) - 1
    return f"{told}The shortest route has {many} passage{'s' * (many != 1)}{by}."
