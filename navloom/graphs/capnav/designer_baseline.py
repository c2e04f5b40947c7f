"""Baselines for the jobs ``capnav_tasks`` and ``capnav_task_choice``: designers of questions.

The heuristic asks the tools for items and routes. It draws pairs of nodes (or takes preferred
ones), names one item of each, and writes the usual sentence. The random one knows only the nodes'
names and guesses their items. Neither sees images, and neither is a language model: their
questions are grounded or not, never interesting.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage

from navloom.errors import ModelError
from navloom.models.builtin import PolicyRequest
from navloom.models.messages import message_text

_MOST_CALLS = 8
_MOST_PAIRS = 400
_MOST_BETWEEN = 4
_COUNT = re.compile(r"Write at least (\d{1,4}) questions")
_MORE = re.compile(r"Give (\d{1,4}) questions?\b")
_ROUTES, _TAKEN = "Routes to prefer, one for each question:", "Questions that exist already:"
_LINE = re.compile(r"^([A-Za-z0-9_]{1,100}) - (.{0,600})$", re.MULTILINE)
_TAKE = re.compile(r"^The start is (\w{1,100}), the end is (\w{1,100})\.", re.MULTILINE)
_ENTRANCE, _NOWHERE = "entrance from the ", "doorway"
_GUESSES = ("bed", "sofa", "table", "sink", "desk", "toilet", "stove", "chair", "bookshelf", "lamp")
_HOME = ("bedroom", "kitchen", "living")
_OFFICE = ("meeting", "office", "workstation", "cubicle", "conference")
Pair = tuple[str, str]


@dataclass(frozen=True)
class _Work:
    """A designer's conversation, as parsed from its messages."""

    request: PolicyRequest

    @cached_property
    def rng(self) -> random.Random:
        # A rejected answer leads to a new draw, a repeated turn to the same one.
        return random.Random(f"{self.request.seed}:{len(self.request.human_texts)}")

    @cached_property
    def names(self) -> dict[str, str] | None:
        """Names by id, as the tool returned them; None where it was not called."""
        for result in self.request.tool_results("nodes"):
            if isinstance(result.result, dict) and "nodes" in result.result:
                return {n["id"]: n["name"] for n in result.result["nodes"] if n.get("name")}
        return None

    @cached_property
    def count(self) -> int:
        """The number of questions that are requested now."""
        last = self.request.human_texts[-1]
        found = _MORE.search(last) if len(self.request.human_texts) > 1 else None
        found = found or _COUNT.search(self.request.first_human)
        if found is None:
            raise ModelError("A builtin model needs the line 'Write at least N questions'.")
        return max(1, int(found[1]))

    @cached_property
    def taken(self) -> set[Pair]:
        """Pairs that exist, or that this conversation has already used."""
        known = self._block(_TAKEN)
        pairs = {(str(q.get("start")), str(q.get("end"))) for q in known if isinstance(q, dict)}
        for message in self.request.messages:
            if isinstance(message, AIMessage) and not message.tool_calls:
                pairs |= set(_answered(message_text(message.content)))
        return pairs

    @cached_property
    def told(self) -> list[Pair]:
        """Preferred pairs that are not taken."""
        routes = self._block(_ROUTES)
        pairs = [(str(r.get("start")), str(r.get("end"))) for r in routes if isinstance(r, dict)]
        return [pair for pair in pairs if pair not in self.taken]

    def _block(self, heading: str) -> list[Any]:
        if heading not in self.request.first_human:
            return []
        value = self.request.json_block(heading)
        return value if isinstance(value, list) else []

    def results(self, tool: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield arguments and result of each answered call of a tool."""
        for each in self.request.tool_results(tool):
            if isinstance(each.result, dict):
                yield each.args, each.result

    @cached_property
    def rooms(self) -> dict[str, dict[str, Any]]:
        """Results of ``items``, by node."""
        return {str(args.get("node")): result for args, result in self.results("items")}

    @cached_property
    def ways(self) -> dict[Pair, list[str]]:
        """Paths returned by ``route``, by pair; empty where there is none."""
        found = self.results("route")
        return {(str(a.get("a")), str(a.get("b"))): list(r.get("path", [])) for a, r in found}

    def pairs(self) -> list[Pair]:
        """Return as many pairs as requested, none of them known to be disconnected."""
        names = self.names or {}
        ids = list(names)
        others = (tuple(self.rng.sample(ids, 2)) for _ in range(_MOST_PAIRS if len(ids) > 1 else 0))
        drawn: dict[Pair, None] = {}
        for a, b in [*self.told, *others]:
            free = (a, b) not in self.taken and a in names and b in names
            if free and self.ways.get((a, b), [a]):
                drawn[a, b] = None
            if len(drawn) == self.count:
                break
        return list(drawn)

    @cached_property
    def scene_type(self) -> str:
        words = " ".join((self.names or {}).values()).casefold()
        homely = any(word in words for word in _HOME)
        return "home" if homely else "office" if any(w in words for w in _OFFICE) else "public"


def heuristic_tasks(request: PolicyRequest) -> AIMessage:
    """List the nodes, inspect those of drawn pairs, check their routes, and write the questions."""
    work = _Work(request)
    if work.names is None:
        return _calls(request, [("nodes", {})])
    pairs = work.pairs()
    wanted = dict.fromkeys(node for pair in pairs for node in pair)
    looks = [("items", {"node": node}) for node in wanted if node not in work.rooms]
    looks += [("route", {"a": a, "b": b}) for a, b in pairs if (a, b) not in work.ways]
    if looks:
        return _calls(request, looks[:_MOST_CALLS])
    return _answer([_grounded(work, pair) for pair in pairs])


def random_tasks(request: PolicyRequest) -> AIMessage:
    """Write questions about randomly drawn nodes and items common in homes."""
    work = _Work(request)
    if work.names is None:
        return _calls(request, [("nodes", {})])
    questions = []
    for pair in work.pairs():
        spots = (work.rng.choice(_GUESSES), work.rng.choice(_GUESSES))
        questions.append(_question(work, pair, spots, [], "Both places are on the list of nodes."))
    return _answer(questions)


def _grounded(work: _Work, pair: Pair) -> dict[str, Any]:
    path = work.ways[pair]
    names = work.names or {}
    others = [names.get(node, node) for node in reversed(pair)]
    known = [work.rooms[node].get("landmarks") or () for node in pair]
    spots = [_spot(each, o, work.rng) for each, o in zip(known, others, strict=True)]
    by = ", ".join(names.get(node, node) for node in path[1:-1])
    reason = f"The shortest route has {len(path) - 1} passages{f', by {by}' if by else ''}."
    between = path[1:-1] if len(path) - 2 <= _MOST_BETWEEN else []
    return _question(work, pair, spots, between, reason)


def _spot(known: Sequence[str], other: str, rng: random.Random) -> str:
    """Sample a landmark: an item if there is one, else an entrance not from the other end."""
    things = [each for each in known if not each.startswith(_ENTRANCE)]
    ways = [each for each in known if each != f"{_ENTRANCE}{other}"]
    return rng.choice(things or ways or [*known, _NOWHERE][:1])


def _question(
    work: _Work, pair: Pair, spots: Sequence[str], between: list[str], reason: str
) -> dict[str, Any]:
    a, b = (f"the {s} in the {(work.names or {})[n]}" for s, n in zip(spots, pair, strict=True))
    return {
        "scene_type": work.scene_type,
        "question": f"Can [Agent] move from {a} to {b}?",
        "reason": reason[:900],
        "nodes_involved": {
            "start": pair[0],
            "start_detail": spots[0],
            "intermediate": between,
            "end": pair[1],
            "end_detail": spots[1],
        },
    }


def _answer(questions: list[dict[str, Any]]) -> AIMessage:
    return AIMessage(json.dumps({"questions": questions}, ensure_ascii=False))


def _answered(text: str) -> Iterator[Pair]:
    try:
        questions = json.loads(text)["questions"]
        yield from ((q["nodes_involved"]["start"], q["nodes_involved"]["end"]) for q in questions)
    except (ValueError, KeyError, TypeError):
        return


def _calls(request: PolicyRequest, wanted: Sequence[tuple[str, dict[str, Any]]]) -> AIMessage:
    before = sum(len(m.tool_calls) for m in request.messages if isinstance(m, AIMessage))
    calls = [
        {"name": name, "args": args, "id": f"call_{before + k}"}
        for k, (name, args) in enumerate(wanted, 1)
    ]
    return AIMessage("", tool_calls=calls)


def heuristic_choice(request: PolicyRequest) -> AIMessage:
    """Choose a listed item at each place."""
    return _choice(request, guess=False)


def random_choice(request: PolicyRequest) -> AIMessage:
    """Choose items common in homes at random."""
    return _choice(request, guess=True)


def _choice(request: PolicyRequest, *, guess: bool) -> AIMessage:
    lines = dict(_LINE.findall(request.first_human))
    if len(lines) < 2:
        raise ModelError("A builtin model needs two lines 'id - name' in its prompt.")
    rng = random.Random(f"{request.seed}:{len(request.messages)}")
    told = _TAKE.search(request.first_human)
    start, end = (told[1], told[2]) if told else rng.sample(sorted(lines), 2)
    made = {"start": start, "end": end, "scene_type": "home"}
    for key, node, other in (("start_detail", start, end), ("end_detail", end, start)):
        said = lines.get(node, "").partition(" - ")[2]
        # The last name may be truncated.
        things = [each for each in said.split(", ") if each and "…" not in each]
        elsewhere = lines.get(other, "").partition(" - ")[0]
        made[key] = rng.choice(_GUESSES) if guess else _spot(things, elsewhere, rng)
    return request.answer(made)
