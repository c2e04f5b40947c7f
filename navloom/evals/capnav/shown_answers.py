"""What a page shows of a CapNav run: one question of one body, and the report's tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.capnav.answer_columns import TRUTH, score_of
from navloom.evals.capnav.data import Benchmark, Question, load_benchmark
from navloom.evals.capnav.passages_map import ground_of, passages_map
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
from navloom.evals.run_folder import read_run
from navloom.evals.run_scenes import run_scene
from navloom.files import formed
from navloom.scenes.traverse.traverse_table import Passage
from navloom.tools.capnav.feasible import Feasibility

_KEPT = 8
_MOST_ANSWERS = 200_000_000
_WORDS = {True: "open", False: "blocked", None: "unlabelled"}
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
        blocks: list[Block] = [
            _said(text, score, result, {} if benchmark is None else _names(benchmark, score)),
            _worth(score, result),
        ]
        if benchmark is None or question is None or question.problem:
            problem = why or (question and question.problem) or "the question is there no more"
            blocks.append(Prose(title="Map", text=f"The map is missing: {problem}", tone="bad"))
        else:
            blocks += _shown(run, benchmark, question, score, result)
        blocks += [*_judged(result), *_edges(result), *_rest(result)]
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


def _names(benchmark: Benchmark, score: AnswerScore) -> Mapping[str, str]:
    return benchmark.traversability[score.scene].names


def _said(
    text: str, score: AnswerScore, result: Mapping[str, Any], names: Mapping[str, str]
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
    said = (Said(who="the question", text=text), *reply, truth)
    return Transcript(title="Asked and answered", said=said)


def _worth(score: AnswerScore, result: Mapping[str, Any]) -> Facts:
    right: Tone = "plain" if score.right is None else "good" if score.right else "bad"
    faults = ", ".join(each.replace("_", " ") for each in score.faults)
    unscored = score.answer == "no" and score.reason_valid is None
    facts = (
        Fact(name="outcome", value=score.bucket or "the truth is not known", tone=right),
        Fact(name="PV", value=_share(score.valid), note=faults or "path validity"),
        Fact(name="RTA", value=_share(score.traversable), note="of a yes with a valid path"),
        Fact(
            name="RV",
            value="unscored" if unscored else _share(score.reason_valid),
            note="of a no: whether its reason is right",
        ),
        Fact(name="in the way", value=", ".join(score.barriers) or NOTHING),
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
    run: Path, benchmark: Benchmark, question: Question, score: AnswerScore, result: Any
) -> list[Block]:
    """The map for the body that was asked about and for the others, and what is in the way."""
    table = benchmark.traversability[question.scene]

    def load(name: str) -> Any:
        return run_scene(run, name)

    ends = str(question.start), str(question.end)
    try:
        ground = ground_of(benchmark.folder, benchmark.scenes[question.scene], load)
        found = {body: benchmark.truth(question, body) for body in table.bodies}
        own = score.body if score.body in found else next(iter(found))
        nodes = [each if isinstance(each, str) else None for each in result["nodes"] or ()]
        maps: list[tuple[str, SceneMap]] = [
            (f"{body} (asked)", passages_map(ground, table, body, of, ends, nodes))
            if body == own
            else (body, passages_map(ground, table, body, of, ends))
            for body, of in sorted(found.items(), key=lambda each: each[0] != own)
        ]
    except NavloomError as error:
        return [Prose(title="Map", text=f"It cannot be drawn: {error}", tone="bad")]
    variants = tuple((f"{body}: {_can(found, body)}", (one,)) for body, one in maps)
    profile = benchmark.by_body.get(score.body)
    told = () if profile is None else tuple(profile.model_dump(exclude={"name"}).items())
    facts = tuple(Fact(name=key.replace("_", " "), value=_said_of(value)) for key, value in told)
    return [
        Variants(title="Passages, by body", variants=variants),
        *_in_the_way(found[own], table.names),
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


def _in_the_way(found: Feasibility, names: Mapping[str, str]) -> list[Block]:
    """What bars a body, with the annotators' notes; or on what the answer hangs."""
    if found.answer is None:
        note = "The answer hangs on these: nobody said whether the body can use them."
        return [_passages("Not labelled", note, found.unlabelled, names)]
    if found.answer:
        return []
    if not found.connected:
        return [Prose(title="In the way", text="No passages lead there at all.", tone="bad")]
    note = "A minimum cut: the fewest blocked passages of which every route crosses at least one."
    ways = tuple(
        (str(k), " and ".join(_between(p, names) for p in each))
        for k, each in enumerate(found.alternatives, 1)
    )
    mends = Table(
        "What would open a way", "Each by itself; opening less of it opens none.",
        ("", "open"), ways, folded=f"{len(ways)} way{'s' if len(ways) != 1 else ''} to mend it",
    )  # fmt: skip
    return [_passages("In the way", note, found.blocking, names), Grid(table=mends, private=True)]


def _between(passage: Passage, names: Mapping[str, str]) -> str:
    return f"{names.get(passage.a, passage.a)} → {names.get(passage.b, passage.b)}"


def _passages(title: str, note: str, passages: Sequence[Passage], names: Mapping[str, str]) -> Grid:
    rows = tuple(
        (_between(p, names), _WORDS[p.traversable], p.note or NOTHING, p.source) for p in passages
    )
    return Grid(table=Table(title, note, ("passage", "is", "note", "said by"), rows), private=True)


def _judged(result: Mapping[str, Any]) -> list[Block]:
    verdict = result.get("verdict")
    if not verdict:
        return []
    right = verdict.get("correct")
    word = {True: "correct", False: "not correct"}.get(right, "no verdict")
    tone: Tone = "good" if right else "plain" if right is None else "bad"
    named = ", ".join(map(str, verdict.get("named") or ())) or NOTHING
    false = ", ".join(map(str, verdict.get("false") or ())) or NOTHING
    facts = (
        Fact(name="verdict", value=word, tone=tone),
        Fact(name="share of barriers", value=_share(verdict.get("partial"))),
        Fact(name="named rightly", value=named),
        Fact(name="claimed and not so", value=false),
    )
    words = str(verdict.get("explanation") or "")
    said = [Said(who="the judge was told", text=str(each)) for each in verdict.get("prompt") or ()]
    said += [Said(who="the judge", text=str(each)) for each in verdict.get("replies") or ()]
    return [
        Facts(title="The judge on the reason", note=words, facts=facts),
        Transcript(said=tuple(said), folded="what the judge was told and said", private=True),
    ]


def _edges(result: Mapping[str, Any]) -> list[Block]:
    """The passages of the path that was answered."""
    record = result.get("record")
    if not record:
        return []
    rows = tuple(
        (
            f"{each['from_name']} → {each['to_name']}",
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
