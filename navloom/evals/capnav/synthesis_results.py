"""Report blocks of synthesised CapNav questions: passage maps, truth by body, totals.

A benchmark's scene is only a graph of places, without a floor plan. A scene exported from a home
(``navloom scenes export home:7 --format capnav``) names it in ``notes/ID.json``; then the home's
plan is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError, SceneError
from navloom.evals.call_log import conversation_of
from navloom.evals.capnav.answer_scoring import TRUTH
from navloom.evals.capnav.question_set import read_balance
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, format_number
from navloom.evals.run_scenes import load_run_scene, viewpoints_on_plan
from navloom.files import check_format
from navloom.scenes.formats.capnav_nodes import region_nodes
from navloom.scenes.plan_style import to_words
from navloom.scenes.scene import Scene
from navloom.scenes.traversability_table import Passage, Traversability
from navloom.tools.capnav import feasibility
from navloom.tools.capnav.named_places import traversability_of

_MOST_NOTES = 20_000_000
_NAMES = {True: "open", False: "blocked", None: "unlabelled"}
_STYLES: dict[bool | None, ui.RouteStyle] = {True: "other", False: "cut", None: "unknown"}


@dataclass(frozen=True)
class QuestionMap:
    """Positions and names of a question's nodes on a floor plan.

    Attributes:
        scene: URI of the plan's scene.
        spots: position of each node.
        doors: position of the door between two nodes, in both orders, where known.
        names: name of each node on the plan, used in the page's own texts.
    """

    scene: str
    spots: dict[str, ui.Spot]
    doors: Mapping[tuple[str, str], ui.Spot] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, node: object) -> str:
        """Return a node's name on the plan; the node's id if it has no name."""
        return self.names.get(str(node), str(node))

    def between(self, a: str, b: str) -> tuple[ui.Spot, ...]:
        """Return the path between two nodes: straight, or through the door on their floor."""
        here, there = self.spots[a], self.spots[b]
        door = self.doors.get((a, b))
        return (here, there) if door is None or here[0] != there[0] else (here, door, there)


def find_question_map(folder: Path, scene: Scene, load: Callable[[str], Scene]) -> QuestionMap:
    """Return the map of a benchmark scene, on its source home's plan if possible.

    Args:
        folder: the benchmark's folder.
        scene: the scene, loaded by :mod:`navloom.scenes.formats.capnav`.
        load: loads a scene by its portable name, or raises a SceneError.
    """
    own = scene_question_map(scene)
    made_from = _made_from(str(folder), scene.id)
    if made_from is None:
        return own
    try:
        home = load(made_from)
    except SceneError:
        return own
    by_region = scene_question_map(home)
    name_of = {region: node.id for region, node in region_nodes(home).items()}
    found = {name: by_region.spots[region] for region, name in name_of.items()}
    # The home may have changed: all nodes must be where the graph has them.
    same = all(
        name in found and abs(found[name][1] - x) + abs(found[name][2] - z) < 1e-3
        for name, (_, x, z) in own.spots.items()
    )
    doors = {(name_of[a], name_of[b]): spot for (a, b), spot in by_region.doors.items()}
    names = {name_of[region]: name for region, name in by_region.names.items()}
    return QuestionMap(home.uri, found, doors, names) if same else own


def scene_question_map(scene: Scene) -> QuestionMap:
    """Return the map of a scene's own places: benchmark nodes, else regions."""
    if scene.source == "capnav":
        places = {v.id: at for v in scene.viewpoints for at in viewpoints_on_plan(scene, [v.id])}
        names = {v.id: to_words(v.region) for v in scene.viewpoints if v.region is not None}
        return QuestionMap(scene.uri, places, names=names)
    spots = {
        region: (scene.region_by_id[region].floor, node.position[0], node.position[2])
        for region, node in region_nodes(scene).items()
    }
    doors = {
        pair: (scene.region_by_id[link.a].floor, link.point[0], link.point[2])
        for link in scene.links
        if link.point is not None
        for pair in ((link.a, link.b), (link.b, link.a))
    }
    return QuestionMap(scene.uri, spots, doors, {region: to_words(region) for region in spots})


@lru_cache(maxsize=64)
def _made_from(folder: str, scene: str) -> str | None:
    """Return the home that a benchmark's scene was exported from, by its notes; None: none."""
    file = Path(folder) / "notes" / f"{scene}.json"
    try:
        if file.stat().st_size > _MOST_NOTES:
            return None
        name = json.loads(file.read_bytes())["asked"]["scene"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return name if isinstance(name, str) and name.startswith(("home:", "demo:")) else None


def passages_map(
    ground: QuestionMap,
    truth: Traversability,
    body: str,
    found: feasibility.Feasibility,
    ends: tuple[str, str],
    answered: Sequence[str | None] = (),
) -> ui.SceneMap:
    """Return a map of the passages that a body can and cannot use, and of the relevant paths.

    Args:
        ground: positions of nodes.
        truth: table of all passages.
        body: name of the body.
        found: feasibility from the question's start to its end.
        ends: start and end node.
        answered: nodes of the answered path, None for unknown nodes.
    """
    spots = ground.spots
    routes = [
        ui.MapRoute(f"{_NAMES[can]} to {body}", _STYLES[can], ground.between(a, b))
        for a, b, can in _both_ways(truth, body)
        if a in spots and b in spots
    ]
    if found.path:
        name = {True: "the way there is", None: "a way, if what is unlabelled is open"}.get(
            found.answer, "a way"
        )
        routes += _way(ground, found.path, name, "true")
    must, way = required_openings(truth, body, found, ends)
    routes += _way(ground, way, "the way, once these are open", "true")
    said = [node for node in answered if node is not None]
    routes += _way(ground, said, "the way that was answered", "walk")
    marks = [
        ui.MapMark(kind, spots[node])
        for kind, node in (("start", ends[0]), ("goal", ends[1]))
        if node in spots
    ]
    marks += _barred(ground, found, must)
    return ui.SceneMap(scene=ground.scene, routes=tuple(routes), marks=tuple(marks))


def required_openings(
    truth: Traversability, body: str, found: feasibility.Feasibility, ends: tuple[str, str]
) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """Return the fewest blocked passages to open, in order along the path, and that path.

    Args:
        truth: traversability of the scene's passages.
        body: the body's name.
        found: feasibility of the route for this body.
        ends: first and last node of the route.

    Returns:
        The passages, and the nodes of the path; both empty if there are none to open.
    """
    fewest = found.alternatives[0] if found.alternatives else ()
    way = feasibility.path_once_open(truth, body, *ends, fewest) if fewest else ()
    steps = list(pairwise(way))
    return tuple(sorted(fewest, key=lambda p: steps.index((p.a, p.b)))), way


def _barred(
    ground: QuestionMap, found: feasibility.Feasibility, must: Sequence[Passage]
) -> Iterator[ui.MapMark]:
    """Yield marks of the passages to open, numbered, and of other minimum-cut passages."""

    def at(passage: Passage) -> Iterator[ui.Spot]:
        if passage.a in ground.spots and passage.b in ground.spots:
            yield _middle(ground.between(passage.a, passage.b))

    for at_number, passage in enumerate(must, 1):
        kinds = ", ".join(feasibility.barrier_kinds(passage.note))
        yield from (ui.MapMark("barrier", spot, f"{at_number}: {kinds}") for spot in at(passage))
    for passage in found.blocking:
        if passage not in must:
            yield from (ui.MapMark("cut", spot) for spot in at(passage))


def _both_ways(truth: Traversability, body: str) -> Iterator[tuple[str, str, bool | None]]:
    """Yield each passage once; blocked if one direction is."""
    for a, b in truth.edges:
        there, back = (truth.passage(body, *pair).traversable for pair in ((a, b), (b, a)))
        both = {there, back}
        yield a, b, False if False in both else None if None in both else True


def _way(
    ground: QuestionMap, nodes: Sequence[str], name: str, style: ui.RouteStyle
) -> Iterator[ui.MapRoute]:
    known = [node for node in nodes if node in ground.spots]
    legs = [ground.between(a, b) for a, b in pairwise(known)]
    if legs:
        points = (legs[0][0], *(spot for leg in legs for spot in leg[1:]))
        yield ui.MapRoute(name, style, points)


def _middle(way: Sequence[ui.Spot]) -> ui.Spot:
    """Return the position of a passage: its door, else its midpoint; on stairs, its start."""
    a, b = way[0], way[-1]
    if len(way) > 2 or a[0] != b[0]:
        return way[len(way) - 2]
    return a[0], (a[1] + b[1]) / 2, (a[2] + b[2]) / 2


_COUNTS = (
    *("asked", "accepted", "short", "spare", "duplicates_dropped"),
    *("verified", "unverifiable", "told_apart"),
)


def _rules(line: ui.Line) -> list[str]:
    rejected = line["result"]["rejected"]
    return sorted({str(fault["code"]) for each in rejected for fault in each["violations"]})


def columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the columns of a conversation about a scene."""
    del run
    return [
        ui.Column("questions", lambda line: len(line["result"]["questions"]), "count"),
        ui.Column("asked", lambda line: line["asked"], "count", help="asked for"),
        ui.Column("round", lambda line: line["round"], "count", facet=True),
        ui.Column("rejected", lambda line: line["result"]["rejected_in_all"], "count",
                  better="less", help="questions that broke a rule"),
        ui.Column("rule", _rules, "tags", facet=True, help="the rules that were broken"),
        ui.Column("repairs", lambda line: line["result"]["repairs"], "count", better="less"),
        ui.Column("turns", lambda line: line["result"]["turns"], "count", shown=False),
        ui.Column("first", lambda line: line["result"]["questions"][0]["question"],
                  "text", help="its first question"),
    ]  # fmt: skip


def detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of one conversation: questions with maps by body, and rejections.

    Raises:
        RunError: the line does not have the form of a conversation.
    """
    name = str(line.get("id"))
    with check_format(f"{run}: sample {name}", "a conversation about questions"):
        result, said = line.get("result") or {}, list[ui.Block]()
        if line.get("status") != "ok":
            why = " · ".join(str(line[key]) for key in ("reason", "message") if line.get(key))
            said.append(ui.Prose(title="Ended badly", text=why or "nothing is said", tone="bad"))
        ground: QuestionMap | None = None
        truth: Traversability | None = None
        try:
            scene = load_run_scene(run, str(line["scene"]))
            ground, truth = scene_question_map(scene), traversability_of(scene)
        except NavloomError as error:
            said.append(ui.Prose(title="Map", text=f"The map is missing: {error}", tone="bad"))
        shown = [
            (f"question {k}", tuple(_question(each, about, ground, truth)))
            for k, (each, about) in enumerate(
                zip(result.get("questions", ()), result.get("grounding", ()), strict=True), 1
            )
        ]
        if shown:
            said.append(ui.Variants(title="Questions", variants=tuple(shown)))
        said += [*_rejected(result), _made(line, result)]
        if talk := conversation_of(run, name):
            said.append(ui.Transcript(said=talk, folded="what was said in turn", private=True))
        count = f"{len(shown)} questions of {line.get('asked', '?')} that were asked for"
        return ui.SampleDetail(title=name, headline=count, blocks=tuple(said))


def _question(
    question: Mapping[str, Any],
    grounding: Mapping[str, Any],
    ground: QuestionMap | None,
    truth: Traversability | None,
) -> list[ui.Block]:
    ends = question["nodes_involved"]
    words = [ui.Utterance("the question", str(question["question"]))]
    words += [ui.Utterance("why it", str(question["reason"]))] if question.get("reason") else []
    name = str if ground is None else ground.name
    facts = [
        ui.Fact("from", f"{name(ends['start'])}: {ends['start_detail']}"),
        ui.Fact("by", ", ".join(map(name, ends["intermediate"])) or NOTHING),
        ui.Fact("to", f"{name(ends['end'])}: {ends['end_detail']}"),
    ]
    for key in ("start_detail", "end_detail"):
        found = grounding[key]
        fits = f"fits {found['fits']} things" if found.get("fits") is not None else ""
        value = str(found["status"])
        tone: ui.Tone = "good" if value == "verified" else "plain"
        facts.append(ui.Fact(key.replace("_", " "), value, tone=tone, note=fits))
    blocks: list[ui.Block] = [ui.Transcript(said=tuple(words)), ui.Facts(facts=tuple(facts))]
    if ground is None or truth is None:
        return blocks
    pair = str(ends["start"]), str(ends["end"])
    try:
        answers = {body: feasibility.check_feasibility(truth, body, *pair) for body in truth.bodies}
    except NavloomError as error:
        return [*blocks, ui.Prose(title="What is true", text=str(error), tone="bad")]
    rows = tuple(
        (
            body,
            TRUTH[found.answer],
            " → ".join(map(name, found.path)) or NOTHING,
            " and ".join(
                f"{name(p.a)} → {name(p.b)}: {p.note or 'no note'}"
                for p in required_openings(truth, body, found, pair)[0]
            )
            or NOTHING,
            ", ".join(feasibility.blocking_kinds(found.blocking)) or NOTHING,
        )
        for body, found in answers.items()
    )
    header = ("body", "can", "by way of", "must open", "every way meets")
    maps = tuple(
        (f"{body}: {TRUTH[found.answer]}", (passages_map(ground, truth, body, found, pair),))
        for body, found in answers.items()
    )
    note = (
        "Must open: the fewest blocked passages that make a way once all of them are open. Every"
        " way meets: the kinds of barrier of a minimum cut, of which each way crosses one."
    )
    return [
        *blocks,
        ui.Grid(Table("What is true of it", note, header, rows), private=True),
        ui.Variants(title="Passages, by body", variants=maps),
    ]


def _rejected(result: Mapping[str, Any]) -> list[ui.Block]:
    """Return rejected questions with the rule violations of each."""
    said: list[ui.Utterance] = []
    for each in result.get("rejected") or ():
        words = each["said"]
        text = words.get("question") if isinstance(words, Mapping) else words
        said.append(ui.Utterance("the model", str(text).strip("'")))
        said += [
            ui.Utterance(
                f"the checks: {fault['code']}", str(fault.get("message") or ""), tone="bad"
            )
            for fault in each["violations"]
        ]
    return [ui.Transcript(title="Sent back", said=tuple(said))] if said else []


def _made(line: ui.Line, result: Mapping[str, Any]) -> ui.Facts:
    keys = ("turns", "tool_calls", "repairs", "rejected_in_all", "frames", "why")
    facts = [ui.Fact("round", str(line.get("round", NOTHING)))]
    facts += [
        ui.Fact(key.replace("_", " "), str(result[key]))
        for key in keys
        if result.get(key) is not None
    ]
    return ui.Facts(title="How it was made", facts=tuple(facts))


def tables(run: Path) -> list[ui.Block]:
    """Return the balance of the questions of a run as blocks.

    Raises:
        RunError: the folder has no ``balance.json``, or a broken one.
    """
    said = read_balance(run)
    with check_format(f"{run}/balance.json", "a balance of questions"):
        balance, numbers = said["balance"], {**said, **said["details"]}
        facts = tuple(ui.Fact(k.replace("_", " "), format_number(numbers[k])) for k in _COUNTS)
        even = balance["imbalance"]
        note = "0: each body can do half of what is known; 1: each can do all or nothing."
        worth = ui.Fact("imbalance", NOTHING if even is None else f"{even:.2f}", note=note)
        blocks: list[ui.Block] = [
            ui.Facts(title="Questions", facts=(*facts, worth)),
            _bars("Who can do them", balance["bodies"], "questions"),
            _bars("Passages of the shortest route", {"questions": balance["lengths"]}, "questions"),
        ]
        if balance["kinds"]:
            kinds = {kind: {"pairs": count} for kind, count in balance["kinds"].items()}
            blocks.append(_bars("What is in the way", kinds, "questions and bodies"))
        broken: Sequence[tuple[str, int]] = sorted(said["rules_broken"].items())
        if broken:
            rows = tuple((code.replace("_", " "), str(count)) for code, count in broken)
            blocks.append(ui.Grid(Table("Rules broken", "", ("rule", "questions"), rows)))
        return blocks


def _bars(title: str, counted: Mapping[str, Mapping[str, int]], unit: str) -> ui.Bars:
    bars = tuple(
        (str(name), tuple(ui.Segment(str(k), n) for k, n in of.items() if n))
        for name, of in counted.items()
    )
    return ui.Bars(title=title, bars=bars, unit=unit)


def pairing() -> ui.Pairing:
    """Return the rules for comparing two runs by scene and conversation."""

    def scores(line: ui.Line) -> dict[str, float | None]:
        result = line["result"]
        keys = ("rejected_in_all", "repairs", "turns", "tool_calls")
        return {"questions": float(len(result["questions"]))} | {k: result.get(k) for k in keys}

    return ui.Pairing(
        identity=lambda line: [line["scene"], line["attempt"], line["asked"]],
        scores=scores,
        what="a conversation",
        less=frozenset({"rejected_in_all", "repairs", "turns", "tool_calls"}),
        cluster=lambda line: line["scene"],
        cluster_name="scene",
    )
