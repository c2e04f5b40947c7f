"""What a page shows of a CapNav run: one question of one body, and the report's tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.capnav.answer_columns import TRUTH, columns, score_of
from navloom.evals.capnav.data import Benchmark, Question, load_benchmark
from navloom.evals.capnav.passages_map import Ground, ground_of, must_open, passages_map
from navloom.evals.capnav.rules import AnswerScore
from navloom.evals.capnav.scores import read_capnav
from navloom.evals.capnav.tables import report_tables
from navloom.evals.judging.rows import ANSWERS
from navloom.evals.report.blocks import (
    Bars,
    Block,
    Detail,
    Fact,
    Facts,
    Grid,
    Prose,
    Said,
    SceneMap,
    Segment,
    Tone,
    Transcript,
    Variants,
    to_samples,
)
from navloom.evals.report.document import NOTHING, Table, percent
from navloom.evals.report.line_columns import meaning_of, meanings
from navloom.evals.run_folder import read_run
from navloom.evals.run_scenes import run_scene
from navloom.files import formed
from navloom.scenes.traverse.traverse_table import Passage
from navloom.tools.capnav.feasible import Feasibility

_KEPT = 8
_MOST_ANSWERS = 200_000_000
_WORDS = {True: "open", False: "blocked", None: "unlabelled"}
_MEANS = meanings(
    [
        (
            "outcome",
            "",
            "T is right and F wrong, P is a yes and N a no: TP and TN are right, FP says yes where"
            " the body does not get there, FN says no where it does.",
        ),
        *(meaning_of(each) for each in columns({}) if each.name in ("PV", "RTA", "RV")),
    ]
)
_FAULTS = {
    "empty_path": "no path was answered",
    "unknown_node": "it names a place that is not there",
    "wrong_start": "it begins elsewhere",
    "wrong_end": "it ends elsewhere",
    "repeated_node": "it comes to a place twice",
    "missing_edge": "it goes where there is no passage",
}
_OUTCOMES = {
    "TP": "yes, rightly",
    "TN": "no, rightly",
    "FP": "yes, wrongly",
    "FN": "no, wrongly",
    "unknown": "truth not known",
}


def detail(run: Path, line: Mapping[str, Any]) -> Detail:
    """One question of one body: what was answered and why, what is true, where, the judge's words.

    Raises:
        RunError: the line has not the form of an answer.
    """
    name = str(line.get("id"))
    with formed(f"{run}: sample {name}", "an answer"):
        result, score = line["result"], score_of(line)
        benchmark, why = _benchmark(run, score.scene)
        question = None if benchmark is None else benchmark.by_id.get(score.question_id)
        text = _asked(run, name) if question is None else question.text
        ground = None
        if benchmark is None or question is None or question.problem:
            problem = why or (question and question.problem) or "the question is there no more"
            shown: list[Block] = [_missing(problem)]
        else:
            try:
                ground = ground_of(
                    benchmark.folder, benchmark.scenes[question.scene], partial(run_scene, run)
                )
                shown = _shown(benchmark, question, score, result, ground)
            except NavloomError as error:
                shown = [_missing(str(error))]
        names = {} if ground is None else ground.names
        ends = () if ground is None or question is None else (question.start, question.end)
        blocks: list[Block] = [_said(text, score, result, names, ends), _worth(score, result)]
        blocks += [
            _MEANS,
            *shown,
            *_judged(result, score, names),
            *_edges(result, names),
            *_rest(result),
        ]
        return Detail(
            title=f"{score.question_id} · {score.body}",
            headline=text.replace("[Agent]", score.body),
            blocks=tuple(blocks),
        )


def _benchmark(run: Path, scene: str) -> tuple[Benchmark | None, str]:
    """The benchmark's one scene, where the run had it; else why not."""
    where = read_run(run).get("where") or {}
    folder, bodies = where.get("data"), where.get("bodies")
    if not isinstance(folder, str):
        return None, f"{run}/run.json does not say where the benchmark was"
    try:
        return _loaded(folder, scene, bodies if isinstance(bodies, str) else None), ""
    except NavloomError as error:
        return None, str(error)


@lru_cache(maxsize=_KEPT)
def _loaded(folder: str, scene: str, bodies: str | None) -> Benchmark:
    return load_benchmark(folder, scenes=[scene], bodies=bodies)


def _asked(run: Path, name: str) -> str:
    """A question's words from the run's own answers, where the benchmark is gone."""
    file = run / ANSWERS
    try:
        if file.stat().st_size > _MOST_ANSWERS:
            return name
        with file.open("rb") as lines:
            for each in lines:
                if name.encode() in each and (found := json.loads(each)).get("id") == name:
                    return str(found["question"])
    except (OSError, ValueError, KeyError, RecursionError):
        return name
    return name


def _missing(problem: str) -> Prose:
    return Prose(title="Map", text=f"The map is missing: {problem}", tone="bad")


def _said(
    text: str,
    score: AnswerScore,
    result: Mapping[str, Any],
    names: Mapping[str, str],
    ends: Sequence[object],
) -> Transcript:
    answer = result["answer"]
    tone: Tone = "plain" if score.right is None else "good" if score.right else "bad"
    if answer is None:
        reply = [Said(who="the model", text="The reply could not be read.", tone="bad")]
    else:
        way = " → ".join(names.get(str(node), str(node)) for node in answer["path"])
        reply = [Said(who="the model", text=str(answer["answer"]), tone=tone)]
        reply += [Said(who="by way of", text=way)] if way else []
        reply += [Said(who="because", text=str(answer["reason"]))] if answer["reason"] else []
    truth = Said(who="the truth", text=TRUTH[score.truth])
    asked = [Said(who="the question", text=text)]
    if ends:
        # A dataset has its own names of rooms; the map and all below have the plan's.
        start, end = (names.get(str(each), str(each)) for each in ends)
        asked.append(Said(who="on the plan", text=f"from {start} to {end}"))
    return Transcript(title="Asked and answered", said=(*asked, *reply, truth))


def _worth(score: AnswerScore, result: Mapping[str, Any]) -> Facts:
    right: Tone = "plain" if score.right is None else "good" if score.right else "bad"
    faults = "; ".join(_FAULTS.get(each, each) for each in score.faults)
    unscored = score.answer == "no" and score.reason_valid is None
    facts = (
        Fact(
            name="outcome",
            value=score.bucket or "the truth is not known",
            tone=right,
            note=_OUTCOMES[score.bucket] if score.bucket else "",
        ),
        Fact(name="PV", value=_share(score.valid), note=faults or "path validity"),
        Fact(name="RTA", value=_share(score.traversable), note="of a yes with a valid path"),
        Fact(
            name="RV",
            value="unscored" if unscored else _share(score.reason_valid),
            note="of a no: whether its reason is right",
        ),
        Fact(
            name="barriers",
            value=", ".join(score.barriers) or NOTHING,
            note="kinds that every way meets" if score.barriers else "",
        ),
        Fact(name="passages", value=str(score.hops or NOTHING), note="of the shortest route"),
        Fact(
            name="calls",
            value=str(result["asks"]),
            note="of the model, replies sent back among them",
        ),
        Fact(name="pictures", value=str(result["frames"] or "none")),
    )
    return Facts(title="What it is worth", facts=facts)


def _share(value: float | bool | None) -> str:
    return NOTHING if value is None else percent(float(value))


def _shown(
    benchmark: Benchmark, question: Question, score: AnswerScore, result: Any, ground: Ground
) -> list[Block]:
    """The map for the body that was asked about and for the others, and what is in the way."""
    table = benchmark.traversability[question.scene]
    ends = str(question.start), str(question.end)
    found = {body: benchmark.truth(question, body) for body in table.bodies}
    own = score.body if score.body in found else next(iter(found))
    nodes = [each if isinstance(each, str) else None for each in result["nodes"] or ()]
    maps: list[tuple[str, SceneMap]] = [
        (f"{body} (asked)", passages_map(ground, table, body, of, ends, nodes))
        if body == own
        else (body, passages_map(ground, table, body, of, ends))
        for body, of in sorted(found.items(), key=lambda each: each[0] != own)
    ]
    variants = tuple((f"{body}: {_can(found, body)}", (one,)) for body, one in maps)
    profile = benchmark.by_body.get(score.body)
    told = () if profile is None else tuple(profile.model_dump(exclude={"name"}).items())
    facts = tuple(Fact(name=key.replace("_", " "), value=_said_of(value)) for key, value in told)
    must, _ = must_open(table, own, found[own], ends)
    return [
        *_in_the_way(own, found[own], must, ground),
        Variants(title="Passages, by body", variants=variants),
        Facts(title=score.body, facts=facts, folded=f"the body: {score.body}"),
    ]


def _can(found: Mapping[str, Feasibility], body: str) -> str:
    return TRUTH[found[body.removesuffix(" (asked)")].answer]


def _said_of(value: Any) -> str:
    return (
        {True: "yes", False: "no", None: NOTHING}[value]
        if value is None or isinstance(value, bool)
        else str(value)
    )


def _in_the_way(
    body: str, found: Feasibility, must: Sequence[Passage], ground: Ground
) -> list[Block]:
    """What must open for a body, with the annotators' notes; or on what the answer hangs."""
    if found.answer is None:
        note = "The answer hangs on these: nobody said whether the body can use them."
        return [_passages("Not labelled", note, found.unlabelled, ground)]
    if found.answer:
        return []
    if not found.connected:
        return [Prose(title="In the way", text="No passages lead there at all.", tone="bad")]
    note = (
        f"{body} gets through once this one is open."
        if len(must) == 1
        else f"{body} gets through once all {len(must)} are open, and not before: they come one"
        " after another. No way has fewer. Numbers are those on the map."
    )
    blocks: list[Block] = [_passages("In the way", note, must, ground)]
    if ways := found.alternatives[1:]:
        rows = tuple((" and ".join(_between(p, ground) for p in each),) for each in ways)
        others = Table(
            "Or open one of these instead",
            "Each row is another way: all that it names must open. Opening less of it opens none.",
            ("open",), rows, folded=f"other ways to get through: {len(ways)}",
        )  # fmt: skip
        blocks.append(Grid(table=others, private=True))
    note = (
        "A minimum cut: whichever way is taken, it meets one of these blocked passages, so nothing"
        " helps while all of them stay shut; to open one may not yet be enough. The kinds of"
        " barrier that scores and filters go by are those of these notes."
    )
    cut = _passages("What every way meets", note, found.blocking, ground)
    lid = "what every way meets (minimum cut)"
    return [*blocks, replace(cut, table=replace(cut.table, folded=lid))]


def _between(passage: Passage, ground: Ground) -> str:
    return f"{ground.name(passage.a)} → {ground.name(passage.b)}"


def _passages(title: str, note: str, passages: Sequence[Passage], ground: Ground) -> Grid:
    rows = tuple(
        (f"{k}: {_between(p, ground)}", p.note or NOTHING, p.source)
        for k, p in enumerate(passages, 1)
    )
    header = ("passage", "why not", "said by")
    return Grid(table=Table(title, note, header, rows), private=True)


def _judged(result: Mapping[str, Any], score: AnswerScore, names: Mapping[str, str]) -> list[Block]:
    verdict = result.get("verdict")
    if not verdict:
        return []
    right = verdict.get("correct")
    word = {True: "correct", False: "not correct"}.get(right, "no verdict")
    tone: Tone = "good" if right else "plain" if right is None else "bad"
    facts = [Fact(name="verdict", value=word, tone=tone)]
    words = str(verdict.get("explanation") or "")
    if score.truth:
        # The judge is shown the answered path alone: what bars that bars nothing.
        words = (
            f"The truth is yes: {score.body} gets there, so there is no barrier to name, and no"
            " reason for a no is right."
        )
    else:
        said_of = (
            ("share of barriers", _share(verdict.get("partial")), "of the path that was answered"),
            ("named rightly", _steps(verdict.get("named"), names), ""),
            ("claimed and not so", _listed(list(verdict.get("false") or ())), ""),
        )
        facts += [Fact(name=name, value=value, note=note) for name, value, note in said_of]
    said = [Said(who="the judge was told", text=str(each)) for each in verdict.get("prompt") or ()]
    said += [Said(who="the judge", text=str(each)) for each in verdict.get("replies") or ()]
    return [
        Facts(title="The judge on the reason", note=words, facts=tuple(facts)),
        Transcript(said=tuple(said), folded="what the judge was told and said", private=True),
    ]


def _steps(steps: Any, names: Mapping[str, str]) -> str:
    """Passages that a judge names as ``node_1->node_2``, as the plan has them."""
    ends = [str(each).split("->") for each in steps or ()]
    return ", ".join(" → ".join(names.get(end, end) for end in pair) for pair in ends) or NOTHING


def _edges(result: Mapping[str, Any], names: Mapping[str, str]) -> list[Block]:
    """The passages of the path that was answered."""
    record = result.get("record")
    if not record:
        return []
    rows = tuple(
        (
            " → ".join(names.get(each[end], each[f"{end}_name"]) for end in ("from", "to")),
            _WORDS[each["traversable"]] if each["exists"] else "not there",
            str(each["note"] or NOTHING),
        )
        for each in record["edges"]
    )
    note = "What is true of each passage of the path that was answered, for this body."
    table = Table("Along the answered path", note, ("passage", "is", "note"), rows)
    return [Grid(table=table, private=True)]


def _rest(result: Mapping[str, Any]) -> list[Block]:
    """The raw reply, its faults, and what the public scorer makes of it."""
    blocks: list[Block] = []
    if faults := result.get("faults"):
        sent = tuple(Said(who="sent back", text=str(each), tone="bad") for each in faults)
        blocks.append(Transcript(title="Sent back", said=sent))
    raw = str(result.get("raw") or "")
    blocks.append(Prose(text=raw, exact=True, folded=f"the reply as it came ({result['form']})"))
    for each in result.get("official") or ():
        facts = tuple(Fact(name=str(k), value=_listed(v)) for k, v in each.items())
        blocks.append(Facts(facts=facts, folded="by the public scorer's rules"))
    return blocks


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) or NOTHING if isinstance(value, list) else str(value)


def tables(run: Path) -> list[Block]:
    """The report's tables of one run, and its answers by body.

    Raises:
        RunError: the folder is no run of this evaluation, or is broken.
    """
    scores = read_capnav(run)
    counted: dict[str, dict[str, int]] = {}
    for each in scores.scores:
        of = counted.setdefault(each.body, dict.fromkeys(_OUTCOMES, 0))
        of[each.bucket or "unknown"] += 1
    bars = tuple(
        (
            body,
            tuple(
                Segment(name=words, count=of[key], to=to_samples(body=body, outcome=key))
                for key, words in _OUTCOMES.items()
                if of[key]
            ),
        )
        for body, of in counted.items()
    )
    note = "A reply that could not be read is a no where the truth is yes, and a yes where not."
    found = report_tables({run.resolve().name: scores})
    return [
        Bars(title="Answers by body", note=note, bars=bars, unit="answers"),
        *(Grid(table=table) for table in found),
    ]
