"""Results of a CapNav run: table columns, score tables, reports, and the page of one answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.capnav import synthesis_results
from navloom.evals.capnav.answer_scoring import TRUTH, AnswerScore
from navloom.evals.capnav.benchmark_data import CapnavBenchmark, CapnavQuestion, load_benchmark
from navloom.evals.capnav.scores import CapnavScores, CapnavTotals, RateEstimate, read_capnav
from navloom.evals.judging.answer_file import ANSWERS
from navloom.evals.progress import Summary
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, percent, run_labels
from navloom.evals.report.intervals import wilson_interval
from navloom.evals.report.report_files import write_markdown
from navloom.evals.run_folder import read_run
from navloom.evals.run_kinds import CommandOutput
from navloom.evals.run_scenes import load_run_scene
from navloom.files import check_format
from navloom.models.model_spec import read_spec
from navloom.scenes.traversability_table import Passage
from navloom.tools.capnav.feasibility import Feasibility


def answer_score(line: ui.Line) -> AnswerScore:
    """Return the score of a line."""
    return AnswerScore.read(line["result"]["score"])


def _scored(take: Callable[[AnswerScore], ui.Cell]) -> Callable[[ui.Line], ui.Cell]:
    return lambda line: take(answer_score(line))


def _as_number(value: float | bool | None) -> float | None:
    return None if value is None else float(value)


def columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the columns of the answers of a CapNav run."""
    del run
    return [
        ui.Column("body", _scored(lambda s: s.body), "text", facet=True),
        ui.Column("answer", _scored(lambda s: s.answer or "unparsed"), "text", facet=True,
                  help="yes, no, or a reply that could not be read"),
        ui.Column("truth", _scored(lambda s: TRUTH[s.truth]), "text", facet=True,
                  help="unknown: it hangs on a passage that nobody labelled"),
        ui.Column("outcome", _scored(lambda s: s.bucket or "unknown"), "text", facet=True,
                  shown=False, help="TP, FP, FN, TN; yes is positive"),
        ui.Column("right", _scored(lambda s: _as_number(s.right)), "share", better="more"),
        ui.Column("PV", _scored(lambda s: _as_number(s.valid)), "share", better="more",
                  help="path validity: 100 % where the answered path goes along passages that are"
                  " there, no place twice, from start to goal"),
        ui.Column("RTA", _scored(lambda s: _as_number(s.traversable)), "share", better="more",
                  help="of a yes with a valid path, the share of its passages that the body can"
                  " use"),
        ui.Column("RV", _scored(lambda s: _as_number(s.reason_valid)), "share",
                  better="more", help="of a no, whether its reason is right, as the judge has it"),
        ui.Column("barrier", _scored(lambda s: list(s.barriers)), "tags", facet=True,
                  help="the kinds of barrier that every way meets, by the notes on a minimum cut"),
        ui.Column("passages", _scored(lambda s: s.hops), "count", facet=True,
                  help="of the shortest route, whatever body"),
        ui.Column("fault", _scored(lambda s: [each.replace("_", " ") for each in s.faults]),
                  "tags", facet=True, help="what is wrong with the path"),
        ui.Column("question", _scored(lambda s: s.question_id), "text", shown=False),
    ]  # fmt: skip


def _spoken(name: str, value: float | None, sign: str) -> str:
    """Format a score as a percentage; every score is a share."""
    del name
    if value is None:
        return NOTHING
    return f"{100 * value:+.1f}" if sign else percent(value)


def pairing() -> ui.Pairing:
    """Return the rules for comparing two runs by question and body."""

    def scores(line: ui.Line) -> dict[str, float | None]:
        found = answer_score(line)
        return {
            "right": _as_number(found.right),
            "yes": None if found.answer is None else float(found.answer == "yes"),
            "PV": _as_number(found.valid),
            "RTA": _as_number(found.traversable),
            "RV": _as_number(found.reason_valid),
        }

    return ui.Pairing(
        identity=lambda line: [answer_score(line).question_id, answer_score(line).body],
        scores=scores,
        what="a question of one body",
        neither=frozenset({"yes"}),
        said=_spoken,
        counted=frozenset({"right", "yes", "PV"}),
        cluster=lambda line: answer_score(line).question_id,
        cluster_name="question",
    )


_SHOWN = ("F1", "precision", "recall", "accuracy", "balanced", "PV", "RTA", "RV", "composite")
_RULES = ("builtin/heuristic", "builtin/random", "builtin/always-yes", "builtin/always-no")
_OF_GROUPS = ("F1", "PV", "RTA", "RV", "composite")
_OF_YES = ("feasible", "F1")
"""Columns that are meaningless where every pair is infeasible."""
_TITLES = {
    "body": "By body",
    "barrier": "By what is in the way (infeasible pairs)",
    "passages": "By passages of the shortest route",
}
_OF_ALL_GROUPS = (
    "Brackets: 95 % intervals, Wilson's for right and PV, bootstrap over questions for the others,"
    " which have none where a group has one question. composite: the mean of {over}; a part that an"
    " answerer gives no occasion for is 0 in it."
)
_NOTES = {
    "body": "",
    "barrier": " A pair stands under every kind that the notes of its blocking passages name, so"
    " rows overlap. Right: the answer was no. No pair is feasible, so F1 is 0 in the composite and"
    " is left out.",
    "passages": " Whatever the body; a longer route has more places to be wrong about.",
}


def run_table(runs: Mapping[str, CapnavScores], *, official: bool = False) -> Table:
    """Return the table of several runs, one row each.

    Args:
        runs: scores of the runs by name.
        official: use the public scorer's rules.
    """
    made = {n: (s.official_totals() if official else s.totals()) for n, s in runs.items()}
    over = sorted({" + ".join(each.over) for each in made.values()})
    title = "By the public scorer's rules" if official else "CapNav"
    note = (
        "Brackets: 95 % bootstrap intervals over questions. balanced: the mean of the shares of"
        " feasible and infeasible pairs answered rightly, 50% for whoever always says the same."
        f" composite: the mean of {' or of '.join(over)}; a part that an answerer gives no occasion"
        " for is 0 in it. RV without a judge is unscored; `navloom judge reasoning RUN` grades"
        " the reasons."
    )
    if any(read_spec(scores.model).bare in _RULES for scores in runs.values()):
        note += " builtin models are baselines: rules, no language models."
    left = sum(each.not_counted for each in made.values())
    if left:
        each = ", ".join(f"{t.not_counted} of {n}" for n, t in made.items() if t.not_counted)
        note += f" Not counted by these rules (docs/capnav.md): {each}."
    rows = []
    for name, found in made.items():
        model, counted = runs[name].model, found.answers - found.not_counted
        shown = (_cell(found.measures[key], found, key) for key in _SHOWN)
        label = name if model in name else f"{name}: {model}"
        said = _part(found.said_yes, counted)
        rows.append((label, str(counted), str(found.unparsed), said, *shown))
    header = ("run", "n", "unparsed", "said yes", *_SHOWN)
    return Table(title, note, header, tuple(rows))


def _cell(measure: RateEstimate, found: CapnavTotals, key: str) -> str:
    if measure.value is None:
        return "unscored" if key == "RV" and found.unscored else NOTHING
    return str(measure)


def _part(hits: int, of: int) -> str:
    return percent(hits / of) if of else NOTHING


def group_tables(scores: CapnavScores) -> Iterator[Table]:
    """Yield tables of one run's answers by body, barrier and route length, and of path faults."""
    for kind, title in _TITLES.items():
        groups = list(scores.by(kind))
        rows = tuple(_group_row(name, found) for name, found in groups)
        if rows:
            over = " + ".join(groups[0][1].over)
            note = _OF_ALL_GROUPS.format(over=over) + _NOTES[kind]
            header = (kind, "n", "feasible", "said yes", "right", *_OF_GROUPS)
            kept = [k for k, name in enumerate(header) if kind != "barrier" or name not in _OF_YES]
            yield Table(title, note, _of(header, kept), tuple(_of(row, kept) for row in rows))
    if scores.faults:
        most = sorted(scores.faults.items(), key=lambda item: (-item[1], item[0]))
        parsed = sum(score.answer is not None for score in scores.scores)
        faults = tuple((n.replace("_", " "), str(c), _part(c, parsed)) for n, c in most)
        note = "Of answers that could be read; a path may have several."
        yield Table("What is wrong with paths", note, ("fault", "answers", "share"), faults)


def _of(row: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(row[k] for k in columns)


def _group_row(name: str, found: CapnavTotals) -> tuple[str, ...]:
    right = found.confusion["TP"] + found.confusion["TN"]
    known = sum(found.confusion.values())
    feasible = found.confusion["TP"] + found.confusion["FN"]
    return (
        name,
        str(found.answers),
        _part(feasible, known),
        _part(found.said_yes, found.answers),
        _wilson(right, known),
        *(_group_cell(found.measures[key], found, key) for key in _OF_GROUPS),
    )


def _group_cell(measure: RateEstimate, found: CapnavTotals, key: str) -> str:
    if key == "PV" and measure.value is not None:
        return _wilson(round(measure.value * measure.n), measure.n)
    return _cell(measure, found, key)


def _wilson(hits: int, of: int) -> str:
    return percent(hits / of, wilson_interval(hits, of)) if of else NOTHING


def report_tables(read: Mapping[str, CapnavScores]) -> list[Table]:
    """Return all tables of the report of several runs, by name."""
    tables = [run_table(read), run_table(read, official=True)]
    for name, scores in read.items():
        tables += [
            table if len(read) == 1 else replace(table, title=f"{name}: {table.title}")
            for table in group_tables(scores)
        ]
    return tables


def ended(run: Path, summary: Summary, *, official: bool = False) -> CommandOutput:
    """Return the output that a finished run's command shows: its row of scores.

    It is empty if no answer was scored.

    Args:
        run: the run's folder.
        summary: the run's summary.
        official: score by the rules of the benchmark's public scorer.
    """
    if not summary.scores["answers"]:
        return CommandOutput()
    found = read_capnav(run)
    return CommandOutput([ui.Grid(run_table({found.model: found}, official=official))], whole=True)


def report(runs: Sequence[Path], out: Path | None = None) -> CommandOutput:
    """Return several runs in one table to be shown, and write ``report.md``.

    Args:
        runs: folders of the runs.
        out: output folder; default: the first run's folder.

    Raises:
        RunError: a folder is no CapNav run, or the report cannot be written.
    """
    read = {name: read_capnav(run) for name, run in zip(run_labels(runs), runs, strict=True)}
    models = ", ".join(dict.fromkeys(scores.model for scores in read.values()))
    counts = " + ".join(str(len(scores.scores)) for scores in read.values())
    title = ui.Prose(title=f"CapNav · {models} · n = {counts}", text="")
    blocks: list[ui.Block] = [title, *map(ui.Grid, report_tables(read))]
    files = [write_markdown(runs[0] if out is None else out, blocks)]
    record = {"runs": [scores.record() for scores in read.values()]}
    return CommandOutput(blocks, record=record, files=files)


_KEPT = 8
_MOST_ANSWERS = 200_000_000
_WORDS = {True: "open", False: "blocked", None: "unlabelled"}
_MEANS = ui.meanings_grid(
    [
        (
            "outcome",
            "",
            "T is right and F wrong, P is a yes and N a no: TP and TN are right, FP says yes where"
            " the body does not get there, FN says no where it does.",
        ),
        *(ui.column_meaning(each) for each in columns({}) if each.name in ("PV", "RTA", "RV")),
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


def detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of one question and body: answer, truth, map and judge.

    Raises:
        RunError: the line does not have the form of an answer.
    """
    name = str(line.get("id"))
    with check_format(f"{run}: sample {name}", "an answer"):
        result, score = line["result"], answer_score(line)
        benchmark, why = _benchmark(run, score.scene)
        question = None if benchmark is None else benchmark.by_id.get(score.question_id)
        text = _asked(run, name) if question is None else question.text
        ground = None
        if benchmark is None or question is None or question.problem:
            problem = why or (question and question.problem) or "the question is there no more"
            shown: list[ui.Block] = [_missing(problem)]
        else:
            try:
                ground = synthesis_results.find_question_map(
                    benchmark.folder, benchmark.scenes[question.scene], partial(load_run_scene, run)
                )
                shown = _shown(benchmark, question, score, result, ground)
            except NavloomError as error:
                shown = [_missing(str(error))]
        names = {} if ground is None else ground.names
        ends = () if ground is None or question is None else (question.start, question.end)
        shown = [_said(text, score, result, names, ends), _worth(score, result), _MEANS, *shown]
        shown += [*_judged(result, score, names), *_edges(result, names), *_rest(result)]
        return ui.SampleDetail(
            title=f"{score.question_id} · {score.body}",
            headline=text.replace("[Agent]", score.body),
            blocks=tuple(shown),
        )


def _benchmark(run: Path, scene: str) -> tuple[CapnavBenchmark | None, str]:
    """Load the benchmark's one scene from where the run had it; else return the reason."""
    where = read_run(run).get("where") or {}
    folder, bodies = where.get("data"), where.get("bodies")
    if not isinstance(folder, str):
        return None, f"{run}/run.json does not say where the benchmark was"
    try:
        return _loaded(folder, scene, bodies if isinstance(bodies, str) else None), ""
    except NavloomError as error:
        return None, str(error)


@lru_cache(maxsize=_KEPT)
def _loaded(folder: str, scene: str, bodies: str | None) -> CapnavBenchmark:
    return load_benchmark(folder, scenes=[scene], bodies=bodies)


def _asked(run: Path, name: str) -> str:
    """Return a question's text from the run's answers, if the benchmark is gone."""
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


def _missing(problem: str) -> ui.Prose:
    return ui.Prose(title="Map", text=f"The map is missing: {problem}", tone="bad")


def _said(
    text: str,
    score: AnswerScore,
    result: Mapping[str, Any],
    names: Mapping[str, str],
    ends: Sequence[object],
) -> ui.Transcript:
    answer = result["answer"]
    tone: ui.Tone = "plain" if score.right is None else "good" if score.right else "bad"
    if answer is None:
        reply = [ui.Utterance("the model", "The reply could not be read.", tone="bad")]
    else:
        way = " → ".join(names.get(str(node), str(node)) for node in answer["path"])
        reply = [ui.Utterance("the model", str(answer["answer"]), tone=tone)]
        reply += [ui.Utterance("by way of", way)] if way else []
        reply += [ui.Utterance("because", str(answer["reason"]))] if answer["reason"] else []
    truth = ui.Utterance("the truth", TRUTH[score.truth])
    asked = [ui.Utterance("the question", text)]
    if ends:
        # Datasets name rooms in their own way; the map and the rest use the plan's names.
        start, end = (names.get(str(each), str(each)) for each in ends)
        asked.append(ui.Utterance("on the plan", f"from {start} to {end}"))
    return ui.Transcript(title="Asked and answered", said=(*asked, *reply, truth))


def _worth(score: AnswerScore, result: Mapping[str, Any]) -> ui.Facts:
    right: ui.Tone = "plain" if score.right is None else "good" if score.right else "bad"
    faults = "; ".join(_FAULTS.get(each, each) for each in score.faults)
    rv = percent(score.reason_valid)
    if score.answer == "no" and score.reason_valid is None:
        rv = "unscored"
    barriers, met = NOTHING, ""
    if score.barriers:
        barriers, met = ", ".join(score.barriers), "kinds that every way meets"
    name = score.bucket or "the truth is not known"
    facts = (
        ui.Fact("outcome", name, tone=right, note=_OUTCOMES.get(name, "")),
        ui.Fact("PV", percent(score.valid), note=faults or "path validity"),
        ui.Fact("RTA", percent(score.traversable), note="of a yes with a valid path"),
        ui.Fact("RV", rv, note="of a no: whether its reason is right"),
        ui.Fact("barriers", barriers, note=met),
        ui.Fact("passages", str(score.hops or NOTHING), note="of the shortest route"),
        ui.Fact("calls", str(result["asks"]), note="of the model, replies sent back among them"),
        ui.Fact("pictures", str(result["frames"] or "none")),
    )
    return ui.Facts(title="What it is worth", facts=facts)


def _shown(
    benchmark: CapnavBenchmark,
    question: CapnavQuestion,
    score: AnswerScore,
    result: Any,
    ground: synthesis_results.QuestionMap,
) -> list[ui.Block]:
    """Return passage maps for the asked body and the others, and the blocking passages."""
    table = benchmark.traversability[question.scene]
    ends = str(question.start), str(question.end)
    found = {body: benchmark.truth(question, body) for body in table.bodies}
    own = score.body if score.body in found else next(iter(found))
    nodes = [each if isinstance(each, str) else None for each in result["nodes"] or ()]
    maps: list[tuple[str, ui.SceneMap]] = [
        (f"{body} (asked)", synthesis_results.passages_map(ground, table, body, of, ends, nodes))
        if body == own
        else (body, synthesis_results.passages_map(ground, table, body, of, ends))
        for body, of in sorted(found.items(), key=lambda each: each[0] != own)
    ]
    variants = tuple((f"{body}: {_can(found, body)}", (one,)) for body, one in maps)
    profile = benchmark.by_body.get(score.body)
    told = () if profile is None else tuple(profile.model_dump(exclude={"name"}).items())
    facts = tuple(ui.Fact(key.replace("_", " "), _said_of(value)) for key, value in told)
    must, _ = synthesis_results.required_openings(table, own, found[own], ends)
    return [
        *_in_the_way(own, found[own], must, ground),
        ui.Variants(title="Passages, by body", variants=variants),
        ui.Facts(title=score.body, facts=facts, folded=f"the body: {score.body}"),
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
    body: str, found: Feasibility, must: Sequence[Passage], ground: synthesis_results.QuestionMap
) -> list[ui.Block]:
    """Return blocks of the passages that must open for a body, or of decisive unlabelled ones."""
    if found.answer is None:
        note = "The answer hangs on these: nobody said whether the body can use them."
        return [_passages("Not labelled", note, found.unlabelled, ground)]
    if found.answer:
        return []
    if not found.connected:
        return [ui.Prose(title="In the way", text="No passages lead there at all.", tone="bad")]
    note = (
        f"{body} gets through once this one is open."
        if len(must) == 1
        else f"{body} gets through once all {len(must)} are open, and not before: they come one"
        " after another. No way has fewer. Numbers are those on the map."
    )
    blocks: list[ui.Block] = [_passages("In the way", note, must, ground)]
    if ways := found.alternatives[1:]:
        rows = tuple((" and ".join(_between(p, ground) for p in each),) for each in ways)
        others = Table(
            "Or open one of these instead",
            "Each row is another way: all that it names must open. Opening less of it opens none.",
            ("open",), rows, folded=f"other ways to get through: {len(ways)}",
        )  # fmt: skip
        blocks.append(ui.Grid(others, private=True))
    note = (
        "A minimum cut: whichever way is taken, it meets one of these blocked passages, so nothing"
        " helps while all of them stay shut; to open one may not yet be enough. The kinds of"
        " barrier that scores and filters go by are those of these notes."
    )
    cut = _passages("What every way meets", note, found.blocking, ground)
    lid = "what every way meets (minimum cut)"
    return [*blocks, replace(cut, table=replace(cut.table, folded=lid))]


def _between(passage: Passage, ground: synthesis_results.QuestionMap) -> str:
    return f"{ground.name(passage.a)} → {ground.name(passage.b)}"


def _passages(
    title: str, note: str, passages: Sequence[Passage], ground: synthesis_results.QuestionMap
) -> ui.Grid:
    rows = tuple(
        (f"{k}: {_between(p, ground)}", p.note or NOTHING, p.source)
        for k, p in enumerate(passages, 1)
    )
    header = ("passage", "why not", "said by")
    return ui.Grid(Table(title, note, header, rows), private=True)


def _judged(
    result: Mapping[str, Any], score: AnswerScore, names: Mapping[str, str]
) -> list[ui.Block]:
    verdict = result.get("verdict")
    if not verdict:
        return []
    right = verdict.get("correct")
    word = {True: "correct", False: "not correct"}.get(right, "no verdict")
    tone: ui.Tone = "good" if right else "plain" if right is None else "bad"
    facts = [ui.Fact("verdict", word, tone=tone)]
    words = str(verdict.get("explanation") or "")
    if score.truth:
        # The judge sees only the answered path; its barriers do not matter if another is free.
        words = (
            f"The truth is yes: {score.body} gets there, so there is no barrier to name, and no"
            " reason for a no is right."
        )
    else:
        said_of = (
            ("share of barriers", percent(verdict.get("partial")), "of the path that was answered"),
            ("named rightly", _steps(verdict.get("named"), names), ""),
            ("claimed and not so", _listed(list(verdict.get("false") or ())), ""),
        )
        facts += [ui.Fact(name, value, note=note) for name, value, note in said_of]
    said = [ui.Utterance("the judge was told", str(each)) for each in verdict.get("prompt") or ()]
    said += [ui.Utterance("the judge", str(each)) for each in verdict.get("replies") or ()]
    return [
        ui.Facts(title="The judge on the reason", note=words, facts=tuple(facts)),
        ui.Transcript(said=tuple(said), folded="what the judge was told and said", private=True),
    ]


def _steps(steps: Any, names: Mapping[str, str]) -> str:
    """Format a judge's passages (``node_1->node_2``) with the plan's names."""
    ends = [str(each).split("->") for each in steps or ()]
    return ", ".join(" → ".join(names.get(end, end) for end in pair) for pair in ends) or NOTHING


def _edges(result: Mapping[str, Any], names: Mapping[str, str]) -> list[ui.Block]:
    """Return the table of the passages along the answered path."""
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
    return [ui.Grid(table, private=True)]


def _rest(result: Mapping[str, Any]) -> list[ui.Block]:
    """Return the raw reply, its faults, and the public scorer's score."""
    blocks: list[ui.Block] = []
    if faults := result.get("faults"):
        sent = tuple(ui.Utterance("sent back", str(each), tone="bad") for each in faults)
        blocks.append(ui.Transcript(title="Sent back", said=sent))
    raw = str(result.get("raw") or "")
    blocks.append(ui.Prose(text=raw, exact=True, folded=f"the reply as it came ({result['form']})"))
    for each in result.get("official") or ():
        facts = tuple(ui.Fact(str(k), _listed(v)) for k, v in each.items())
        blocks.append(ui.Facts(facts=facts, folded="by the public scorer's rules"))
    return blocks


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) or NOTHING if isinstance(value, list) else str(value)


def tables(run: Path) -> list[ui.Block]:
    """Return the report's tables of one run, and its answers by body.

    Raises:
        RunError: the folder is no CapNav run, or is broken.
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
                ui.Segment(words, of[key], to=ui.samples_address(body=body, outcome=key))
                for key, words in _OUTCOMES.items()
                if of[key]
            ),
        )
        for body, of in counted.items()
    )
    note = "A reply that could not be read is a no where the truth is yes, and a yes where not."
    chart = ui.Bars(title="Answers by body", note=note, bars=bars, unit="answers")
    return [chart, *map(ui.Grid, report_tables({run.resolve().name: scores}))]
