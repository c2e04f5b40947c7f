"""Calibration items for the reasoning judge: explanations with known correct verdicts.

A situation is a body and a shortest path with known barriers for it. Each is worded in every set of
wordings (``wordings/a.yaml`` and so on), so that the sets differ in words alone. Every file in that
folder is a set. It counts as ``held out`` unless it says that it is ``known``. Kinds, and the
verdicts they deserve:

    right        every barrier with its cause, or the cause alone     correct, partial 1
    partly       some of several barriers (C.1: partial credit)       correct, partial k/n
    wrong_edge   a true cause, at a passage of the path that is open  not correct
    wrong_cause  a true barrier, for a cause that it does not have    not correct
    wrong_body   what would be right of another body on this path     not correct
    empty        nothing, or nothing but that it cannot be done       not correct
    flattering   praise and confidence in place of a reason           not correct
    injected     a right or a wrong one with a payload that claims    as without the payload
                 the opposite verdict

Causes that overlap in words (narrow, clutter, turning space; stairs, rise, terrain) are never used
as wrong causes for each other, since a person might grade those either way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from itertools import pairwise, zip_longest
from typing import Annotated, Any, Literal, Self

import networkx as nx
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.judges.barrier_claims import OVERLAPS
from navloom.judges.injection import inject_payload, list_payloads
from navloom.judges.traversability import barrier_causes, build_record
from navloom.scenes.safe_files import read_yaml
from navloom.scenes.traversability_table import Traversability

_FOLDER = files("navloom.judges").joinpath("wordings")
SETS = tuple(sorted(each.name.removesuffix(".yaml") for each in _FOLDER.iterdir()))
"""Names of the sets of wordings, one file each."""
WORDED = frozenset(("narrow", "stairs", "door", "rise", "elevator", "turn", "clutter", "terrain"))
"""Causes for which there are sentences."""
_Sentences = Annotated[list[str], Field(min_length=1)]


class Wordings(BaseModel):
    """A set of sentence templates; ``{a}``, ``{b}`` and ``{agent}`` are filled in.

    Attributes:
        standing: whether the symbolic judge was written with this set in view.
        placed: by cause, sentences that name the passage.
        bare: by cause, sentences that do not.
        opening: texts that may precede a sentence.
        also: the text between two sentences.
        empty: explanations that give no reason.
        flattering: explanations that praise themselves instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    standing: Literal["known", "held out"] = "held out"
    placed: dict[str, _Sentences]
    bare: dict[str, _Sentences]
    opening: _Sentences
    also: str
    empty: _Sentences
    flattering: _Sentences

    @model_validator(mode="after")
    def _words_every_cause(self) -> Self:
        for key in ("placed", "bare"):
            if lacking := sorted(WORDED - getattr(self, key).keys()):
                raise ValueError(f"{key} has no sentence for {', '.join(lacking)}")
        return self


@cache
def load_wordings(name: str) -> Wordings:
    """Load a set of ``SETS``.

    Raises:
        SceneError: its file is broken; the message names the field.
    """
    with as_file(_FOLDER.joinpath(f"{name}.yaml")) as path:
        return read_yaml(path, TypeAdapter(Wordings), most=64_000)


DEFAULT_ITEMS = 540
"""About 420 without a payload and 120 with one, if there are enough situations."""
_SHARES = {
    "right": 5,
    "partly": 4,
    "wrong_edge": 4,
    "wrong_cause": 4,
    "wrong_body": 2,
    "empty": 1,
    "flattering": 1,
    "injected": 6,
}
KINDS = tuple(_SHARES)
_MOST_NAMED = 3
_MOST_A_SCENE = 400
_MOST_STEPS = 11
_BARE = 0.25


@dataclass(frozen=True)
class BlockedPath:
    """A body and a path that it cannot use.

    Attributes:
        scene: the scene's URI.
        truth: every passage of it.
        body: the body's name.
        path: nodes.
        causes: for each barrier on the path, the causes that stop the body.
    """

    scene: str
    truth: Traversability
    body: str
    path: tuple[str, ...]
    causes: Mapping[tuple[str, str], frozenset[str]]


@dataclass(frozen=True)
class ReasonItem:
    """One explanation, and the verdict that it deserves.

    Attributes:
        id: unique in the set, safe as a file name.
        kind: one of ``KINDS``.
        wording: one of ``SETS``.
        scene: the scene's URI.
        body: the body that the path is for.
        explanation: the text.
        record: the path's traversability record.
        deserves: the right verdict.
        partial: the right share of barriers named.
        base: of an injected item, the id of the one without the payload.
        payload: of an injected item, the payload's id.
        sentences: the templates of the set that it was made of.
    """

    id: str
    kind: str
    wording: str
    scene: str
    body: str
    explanation: str
    record: dict[str, Any]
    deserves: bool
    partial: float
    base: str | None = None
    payload: str | None = None
    sentences: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """The item's fields in a row of a run."""
        names = ("kind", "wording", "body", "explanation", "deserves", "base", "payload")
        said = {name: getattr(self, name) for name in names}
        return {**said, "sentences": list(self.sentences), "deserved_partial": self.partial}


Claim = tuple[tuple[str, str] | None, str]
"""A passage, or None, and a cause."""
Said = tuple[list[Claim], str, bool, float]
"""Claims, the body they are about, the verdict they deserve, and the share."""


def make_items(
    truths: Iterable[tuple[str, Traversability]], *, n: int = DEFAULT_ITEMS, seed: int = 0
) -> list[ReasonItem]:
    """Make the calibration set.

    Args:
        truths: each scene's URI with its passages.
        n: approximate number of items; fewer where the scenes do not yield as many.
        seed: fixes the choice.
    """
    every = [list(find_blocked_paths(uri, truth, seed=seed)) for uri, truth in truths]
    mixed = [s for row in zip_longest(*every) for s in row if s is not None]
    wordings = {name: load_wordings(name) for name in SETS}
    total = sum(_SHARES.values())
    items: list[ReasonItem] = []
    used: set[tuple[str, str, tuple[str, ...]]] = set()
    for kind in KINDS[:-1]:
        # Even a small set has at least one item to judge.
        wanted = max(kind == "right", round(n * _SHARES[kind] / total / len(SETS)))
        for situation in mixed:
            if wanted == 0:
                break
            # A situation makes one item per wording, so each kind uses other situations.
            if (situation.scene, situation.body, situation.path) in used:
                continue
            rng = random.Random(f"{seed}/{kind}/{situation.scene}/{situation.body}{situation.path}")
            made = _worded(kind, situation, wordings, rng, len(items))
            if made:
                used.add((situation.scene, situation.body, situation.path))
                items += made
                wanted -= 1
    return items + _injected(items, round(n * _SHARES["injected"] / total), seed)


def find_blocked_paths(uri: str, truth: Traversability, *, seed: int = 0) -> Iterator[BlockedPath]:
    """Yield a scene's bodies and shortest paths with known barriers, shuffled."""
    graph: nx.Graph[str] = nx.Graph(truth.edges)
    paths = dict(nx.all_pairs_shortest_path(graph, cutoff=_MOST_STEPS))
    pairs = [(body, s, e) for body in truth.bodies for s in paths for e in paths[s]]
    random.Random(f"{seed}/{uri}").shuffle(pairs)
    found = 0
    for body, start, end in pairs:
        path = tuple(paths[start][end])
        passages = [truth.passage(body, a, b) for a, b in pairwise(path)]
        barriers = {(p.a, p.b): barrier_causes(p.note) for p in passages if p.traversable is False}
        if len(path) > 2 and barriers and all(barriers.values()):
            found += 1
            yield BlockedPath(uri, truth, body, path, barriers)
        if found == _MOST_A_SCENE:
            return


def _worded(
    kind: str,
    situation: BlockedPath,
    wordings: Mapping[str, Wordings],
    rng: random.Random,
    number: int,
) -> list[ReasonItem]:
    """Return an item of one situation for each wording set; [] if it does not suit the kind."""
    said = _KINDS[kind](situation, rng)
    if said is None:
        return []
    claims, body, deserves, partial = said
    record = build_record(situation.truth, situation.body, situation.path)
    style = rng.choice(("id", "name", "both"))
    items = []
    for k, (name, words) in enumerate(wordings.items()):
        if kind in ("empty", "flattering"):
            texts = [rng.choice(getattr(words, kind))]
            text = texts[0].format(agent=body.lower())
        else:
            texts = [rng.choice(getattr(words, "placed" if p else "bare")[c]) for p, c in claims]
            text = _text(claims, texts, situation, body, words, style, rng)
        items.append(
            ReasonItem(
                id=f"{kind}-{name}-{number + k:04d}",
                kind=kind,
                wording=name,
                scene=situation.scene,
                body=situation.body,
                explanation=text,
                record=record,
                deserves=deserves,
                partial=partial,
                sentences=tuple(texts),
            )
        )
    return items


def _text(
    claims: Sequence[Claim],
    sentences: Sequence[str],
    situation: BlockedPath,
    body: str,
    words: Wordings,
    style: str,
    rng: random.Random,
) -> str:
    def called(node: str) -> str:
        name = situation.truth.names.get(node, node)
        unique = list(situation.truth.names.values()).count(name) == 1
        if style == "id" or name == node or not unique:
            return node
        return name if style == "name" else f"{name} ({node})"

    said = []
    for (place, _), sentence in zip(claims, sentences, strict=True):
        a, b = (called(node) for node in place) if place else ("", "")
        said.append(sentence.format(a=a, b=b, agent=body.lower()))
    return rng.choice(words.opening) + words.also.join(said)


def _right(situation: BlockedPath, rng: random.Random) -> Said | None:
    barriers = situation.causes
    shared = sorted(frozenset.intersection(*barriers.values()) & WORDED)
    if shared and rng.random() < _BARE:
        return [(None, rng.choice(shared))], situation.body, True, 1.0
    if len(barriers) > _MOST_NAMED:
        return None
    claims = _true(situation, list(barriers), rng)
    return (claims, situation.body, True, 1.0) if claims else None


def _partly(situation: BlockedPath, rng: random.Random) -> Said | None:
    barriers = list(situation.causes)
    if len(barriers) < 2:
        return None
    some = rng.sample(barriers, rng.randint(1, min(len(barriers) - 1, _MOST_NAMED)))
    claims = _true(situation, some, rng)
    return (claims, situation.body, True, len(some) / len(barriers)) if claims else None


def _true(
    situation: BlockedPath, barriers: Sequence[tuple[str, str]], rng: random.Random
) -> list[Claim] | None:
    """Return each barrier with one of its true causes that can be worded, drawn at random.

    If any barrier has no such cause, the whole result is None.
    """
    causes = [sorted(situation.causes[barrier] & WORDED) for barrier in barriers]
    if not all(causes):
        return None
    return [(b, rng.choice(c)) for b, c in zip(barriers, causes, strict=True)]


def _wrong_edge(situation: BlockedPath, rng: random.Random) -> Said | None:
    ends = {node for barrier in situation.causes for node in barrier}
    open_ones = [
        (a, b)
        for a, b in pairwise(situation.path)
        if situation.truth.passage(situation.body, a, b).traversable and not {a, b} <= ends
    ]
    causes = sorted(frozenset.union(*situation.causes.values()) & WORDED)
    if not open_ones or not causes:
        return None
    return [(rng.choice(open_ones), rng.choice(causes))], situation.body, False, 0.0


def _wrong_cause(situation: BlockedPath, rng: random.Random) -> Said | None:
    others = sorted(WORDED - _near(frozenset.union(*situation.causes.values())))
    if not others:
        return None
    place = rng.choice(list(situation.causes))
    return [(place, rng.choice(others))], situation.body, False, 0.0


def _wrong_body(situation: BlockedPath, rng: random.Random) -> Said | None:
    true = _near(frozenset.union(*situation.causes.values()))
    found = []
    for body in situation.truth.bodies:
        for a, b in pairwise(situation.path):
            passage = situation.truth.passage(body, a, b)
            causes = barrier_causes(passage.note) & WORDED
            if body != situation.body and passage.traversable is False and not causes & true:
                found += [((a, b), cause, body) for cause in sorted(causes)]
    if not found:
        return None
    place, cause, body = rng.choice(found)
    return [(place, cause)], body, False, 0.0


def _near(causes: frozenset[str]) -> frozenset[str]:
    """Return the causes together with those that overlap them."""
    return causes.union(*(group for group in OVERLAPS if group & causes))


_KINDS: Mapping[str, Callable[[BlockedPath, random.Random], Said | None]] = {
    "right": _right,
    "partly": _partly,
    "wrong_edge": _wrong_edge,
    "wrong_cause": _wrong_cause,
    "wrong_body": _wrong_body,
    "empty": lambda situation, _: ([], situation.body, False, 0.0),
    "flattering": lambda situation, _: ([], situation.body, False, 0.0),
}


def _injected(items: Sequence[ReasonItem], wanted: int, seed: int) -> list[ReasonItem]:
    """Return right and wrong items with payloads that claim the opposite, payloads in turn."""
    rng = random.Random(f"{seed}/injected")
    bases = {
        flag: [i for i in items if i.deserves == flag and i.kind in ("right", *_WRONG)]
        for flag in (True, False)
    }
    corpus = list(list_payloads())
    rng.shuffle(corpus)
    for each in bases.values():
        rng.shuffle(each)
    made: list[ReasonItem] = []
    for k in range(wanted):
        group = bases[k % 2 == 0] or bases[k % 2 == 1]
        if not group:
            break
        base, payload = group[(k // 2) % len(group)], corpus[k % len(corpus)]
        text, record = inject_payload(payload, not base.deserves, base.explanation, base.record)
        made.append(
            replace(
                base,
                id=f"injected-{base.wording}-{len(items) + k:04d}",
                kind="injected",
                explanation=text,
                record=record,
                base=base.id,
                payload=payload.id,
            )
        )
    return made


_WRONG = ("wrong_edge", "wrong_cause", "wrong_body")
