"""What a page shows of questions that were made (``synth capnav``): what is true of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.capnav.answer_columns import TRUTH
from navloom.evals.capnav.collect import read_balance
from navloom.evals.capnav.passages_map import Ground, must_open, own_ground, passages_map
from navloom.evals.report.blocks import (
    Bars,
    Block,
    Detail,
    Fact,
    Facts,
    Grid,
    Prose,
    Said,
    Segment,
    Tone,
    Transcript,
    Variants,
)
from navloom.evals.report.document import NOTHING, Table, number
from navloom.evals.report.line_columns import Column, Line, Pairing
from navloom.evals.report.talks import talk_of
from navloom.evals.run_scenes import run_scene
from navloom.files import formed
from navloom.scenes.traverse.traverse_table import Traversability
from navloom.tools.capnav.feasible import feasible, kinds_of
from navloom.tools.capnav.named_places import truth_of

_COUNTS = (
    *("asked", "accepted", "short", "spare", "duplicates_dropped"),
    *("verified", "unverifiable", "told_apart"),
)


def columns(run: Mapping[str, Any]) -> list[Column]:
    """What a conversation about a scene has of its own."""
    del run
    return [
        Column(name="questions", of=lambda line: len(line["result"]["questions"]), form="count"),
        Column(name="asked", of=lambda line: line["asked"], form="count", help="asked for"),
        Column(name="round", of=lambda line: line["round"], form="count", facet=True),
        Column(
            name="rejected",
            of=lambda line: line["result"]["rejected_in_all"],
            form="count",
            better="less",
            help="questions that broke a rule",
        ),
        Column(
            name="rule",
            of=lambda line: sorted(
                {
                    str(fault["code"])
                    for each in line["result"]["rejected"]
                    for fault in each["violations"]
                }
            ),
            form="tags",
            facet=True,
            help="the rules that were broken",
        ),
        Column(
            name="repairs", of=lambda line: line["result"]["repairs"], form="count", better="less"
        ),
        Column(name="turns", of=lambda line: line["result"]["turns"], form="count", shown=False),
        Column(
            name="first",
            of=lambda line: line["result"]["questions"][0]["question"],
            form="text",
            help="its first question",
        ),
    ]


def detail(run: Path, line: Mapping[str, Any]) -> Detail:
    """One conversation: its questions, each with its map by body, and what was sent back.

    Raises:
        RunError: the line has not the form of a conversation.
    """
    name = str(line.get("id"))
    with formed(f"{run}: sample {name}", "a conversation about questions"):
        result, said = line.get("result") or {}, list[Block]()
        if line.get("status") != "ok":
            why = " · ".join(str(line[key]) for key in ("reason", "message") if line.get(key))
            said.append(Prose(title="Ended badly", text=why or "nothing is said", tone="bad"))
        ground: Ground | None = None
        truth: Traversability | None = None
        try:
            scene = run_scene(run, str(line["scene"]))
            ground, truth = own_ground(scene), truth_of(scene)
        except NavloomError as error:
            said.append(Prose(title="Map", text=f"The map is missing: {error}", tone="bad"))
        shown = [
            (f"question {k}", tuple(_question(each, about, ground, truth)))
            for k, (each, about) in enumerate(
                zip(result.get("questions", ()), result.get("grounding", ()), strict=True), 1
            )
        ]
        if shown:
            said.append(Variants(title="Questions", variants=tuple(shown)))
        said += [*_rejected(result), _made(line, result)]
        if talk := talk_of(run, name):
            said.append(Transcript(said=talk, folded="what was said in turn", private=True))
        count = f"{len(shown)} questions of {line.get('asked', '?')} that were asked for"
        return Detail(title=name, headline=count, blocks=tuple(said))


def _question(
    question: Mapping[str, Any],
    grounding: Mapping[str, Any],
    ground: Ground | None,
    truth: Traversability | None,
) -> list[Block]:
    ends = question["nodes_involved"]
    words = [Said(who="the question", text=str(question["question"]))]
    words += [Said(who="why it", text=str(question["reason"]))] if question.get("reason") else []
    name = str if ground is None else ground.name
    facts = [
        Fact(name="from", value=f"{name(ends['start'])}: {ends['start_detail']}"),
        Fact(name="by", value=", ".join(map(name, ends["intermediate"])) or NOTHING),
        Fact(name="to", value=f"{name(ends['end'])}: {ends['end_detail']}"),
    ]
    for key in ("start_detail", "end_detail"):
        found = grounding[key]
        fits = f"fits {found['fits']} things" if found.get("fits") is not None else ""
        value = str(found["status"])
        tone: Tone = "good" if value == "verified" else "plain"
        facts.append(Fact(name=key.replace("_", " "), value=value, tone=tone, note=fits))
    blocks: list[Block] = [Transcript(said=tuple(words)), Facts(facts=tuple(facts))]
    if ground is None or truth is None:
        return blocks
    pair = str(ends["start"]), str(ends["end"])
    try:
        found_for = {body: feasible(truth, body, *pair) for body in truth.bodies}
    except NavloomError as error:
        return [*blocks, Prose(title="What is true", text=str(error), tone="bad")]
    rows = tuple(
        (
            body,
            TRUTH[found.answer],
            " → ".join(map(name, found.path)) or NOTHING,
            " and ".join(
                f"{name(p.a)} → {name(p.b)}: {p.note or 'no note'}"
                for p in must_open(truth, body, found, pair)[0]
            )
            or NOTHING,
            ", ".join(kinds_of(found.blocking)) or NOTHING,
        )
        for body, found in found_for.items()
    )
    header = ("body", "can", "by way of", "must open", "every way meets")
    maps = tuple(
        (f"{body}: {TRUTH[found.answer]}", (passages_map(ground, truth, body, found, pair),))
        for body, found in found_for.items()
    )
    note = (
        "Must open: the fewest blocked passages that make a way once all of them are open. Every"
        " way meets: the kinds of barrier of a minimum cut, of which each way crosses one."
    )
    return [
        *blocks,
        Grid(table=Table("What is true of it", note, header, rows), private=True),
        Variants(title="Passages, by body", variants=maps),
    ]


def _rejected(result: Mapping[str, Any]) -> list[Block]:
    """Questions that broke a rule, and what was said of each."""
    said: list[Said] = []
    for each in result.get("rejected") or ():
        words = each["said"]
        text = words.get("question") if isinstance(words, Mapping) else words
        said.append(Said(who="the model", text=str(text).strip("'")))
        said += [
            Said(
                who=f"the checks: {fault['code']}", text=str(fault.get("message") or ""), tone="bad"
            )
            for fault in each["violations"]
        ]
    return [Transcript(title="Sent back", said=tuple(said))] if said else []


def _made(line: Line, result: Mapping[str, Any]) -> Facts:
    keys = ("turns", "tool_calls", "repairs", "rejected_in_all", "frames", "why")
    facts = [Fact(name="round", value=str(line.get("round", NOTHING)))]
    facts += [
        Fact(name=key.replace("_", " "), value=str(result[key]))
        for key in keys
        if result.get(key) is not None
    ]
    return Facts(title="How it was made", facts=tuple(facts))


def tables(run: Path) -> list[Block]:
    """What the questions of a run add up to.

    Raises:
        RunError: the folder has no ``balance.json``, or a broken one.
    """
    said = read_balance(run)
    with formed(f"{run}/balance.json", "a balance of questions"):
        balance, numbers = said["balance"], {**said, **said["details"]}
        facts = tuple(
            Fact(name=key.replace("_", " "), value=number(numbers[key])) for key in _COUNTS
        )
        even = balance["imbalance"]
        note = "0: each body can do half of what is known; 1: each can do all or nothing."
        worth = Fact(name="imbalance", value=NOTHING if even is None else f"{even:.2f}", note=note)
        blocks: list[Block] = [
            Facts(title="Questions", facts=(*facts, worth)),
            _bars("Who can do them", balance["bodies"], "questions"),
            _bars("Passages of the shortest route", {"questions": balance["lengths"]}, "questions"),
        ]
        if balance["kinds"]:
            kinds = {kind: {"pairs": count} for kind, count in balance["kinds"].items()}
            blocks.append(_bars("What is in the way", kinds, "questions and bodies"))
        broken: Sequence[tuple[str, int]] = sorted(said["rules_broken"].items())
        if broken:
            rows = tuple((code.replace("_", " "), str(count)) for code, count in broken)
            blocks.append(Grid(table=Table("Rules broken", "", ("rule", "questions"), rows)))
        return blocks


def _bars(title: str, counted: Mapping[str, Mapping[str, int]], unit: str) -> Bars:
    bars = tuple(
        (str(name), tuple(Segment(name=str(k), count=n) for k, n in of.items() if n))
        for name, of in counted.items()
    )
    return Bars(title=title, bars=bars, unit=unit)


def pairing() -> Pairing:
    """Two runs by scene and conversation."""

    def scores(line: Line) -> dict[str, float | None]:
        result = line["result"]
        keys = ("rejected_in_all", "repairs", "turns", "tool_calls")
        return {"questions": float(len(result["questions"]))} | {k: result.get(k) for k in keys}

    return Pairing(
        identity=lambda line: [line["scene"], line["attempt"], line["asked"]],
        scores=scores,
        what="a conversation",
        less=frozenset({"rejected_in_all", "repairs", "turns", "tool_calls"}),
        cluster=lambda line: line["scene"],
        cluster_name="scene",
    )
