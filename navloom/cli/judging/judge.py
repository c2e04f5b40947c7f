"""``navloom judge``: grade reasons, traces and failures, compare tasks, and calibrate judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.common import end_session, pick_run_folder, print_json, show_dry_run
from navloom.cli.options import CommandApp, Json, OutOrMade, RunMode, with_options
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.option import Opt
from navloom.evals.session import Session
from navloom.models.redaction import print_err, print_out

if TYPE_CHECKING:
    from navloom.evals.judging.answer_file import AnswerFile
    from navloom.evals.progress import Summary
    from navloom.evals.report.blocks import Bars
    from navloom.evals.report.formatting import Table

app = CommandApp("Grade reasons, traces and failures, compare tasks, and measure the grader.")
calibrate = CommandApp("Measure a judge on items of known truth.")
app.add_typer(calibrate, name="calibrate")

_MOST_SAID = 3
Walks = Annotated[
    Path, Opt("A navigation run, or a file of its lines.", metavar="RUN|FILE", argument=True)
]
_TASKS = "A run of `synth single` or `collab`, or what `export` made of one"
Tasks = Annotated[Path, Opt(f"{_TASKS}.", metavar="A", argument=True)]
Others = Annotated[Path, Opt("Another.", metavar="B", argument=True)]


@app.command()
@with_options("rubric", "n", kind="judge_reasoning")
def reasoning(
    *,
    out: OutOrMade = None,
    file: Annotated[
        Path,
        Opt(
            "One JSON object a line: id, explanation, record; or a run of `eval capnav`.",
            metavar="FILE|RUN",
            argument=True,
        ),
    ],
    request: JudgeRequest,
    session: Session,
    how: RunMode,
) -> None:
    """Grade explanations of why a path cannot be used against the ground truth.

    Lines that cannot be judged are named
    in OUT/left.jsonl. The same command on the same folder goes on with a run that was stopped.
    """
    from navloom.evals.judging.answer_file import read_answers
    from navloom.evals.judging.scores import sum_reasons
    from navloom.evals.report.formatting import percent

    request, answers = replace(request, of=str(file)), read_answers(file)
    if how.dry_run:
        _say_left(answers)
    out, summary = _carried_out(request, out, "judged", session, how)
    found = sum_reasons(out)
    _say_left(answers, out / "left.jsonl")
    words = (
        f"{found.items} explanations: {found.correct} correct, {found.wrong} not,"
        f" {found.unscored} unscored; share of barriers named {percent(found.partial)}"
    )
    _end(summary, out, how, {**asdict(found), "not_judged": answers.counts()}, words)


@app.command()
@with_options("n", kind="judge_trace")
def trace(
    *, out: OutOrMade = None, where: Walks, request: JudgeRequest, session: Session, how: RunMode
) -> None:
    """Grade a navigator's reasoning, step by step, by the criteria of a rubric.

    The steps are those of a run that gave reasons (`navloom eval ... --cot`).
    """
    from navloom.evals.judging.run import read_steps
    from navloom.evals.judging.scores import count_grades

    faults = read_steps(where)[1]
    request = replace(request, of=str(where))
    out, summary = _carried_out(request, out, "traces", session, how, faults)
    grades = count_grades(out)
    words = [
        f"{name}: {', '.join(f'{each.get(g, 0)} {g}' for g in ('yes', 'no', 'na', 'unscored'))}"
        for name, each in grades.items()
    ]
    _end(summary, out, how, {"grades": grades, "not_read": faults}, "\n".join(words))


@app.command()
@with_options("rubric", "n", kind="judge_failures")
def failures(
    *, out: OutOrMade = None, where: Walks, request: JudgeRequest, session: Session, how: RunMode
) -> None:
    """Label why each failed episode left the right path, by the causes of docs/errors.md.

    A model reads what a person would be given to label; builtin/heuristic is the rules themselves.
    OUT/labels.jsonl holds the labels.
    """
    from navloom.evals.judging.labelling import count_labels, read_failed_episodes

    faults = read_failed_episodes(where)[1]
    request = replace(request, of=str(where))
    out, summary = _carried_out(request, out, "labels", session, how, faults)
    causes, same = count_labels(out)
    said = ", ".join(f"{count} {cause}" for cause, count in causes.items())
    words = f"{sum(causes.values())} failed walks: {said}; as the rules {same}"
    record = {"causes": causes, "as_the_rules": same, "not_read": faults}
    _end(summary, out, how, record, words)


@app.command()
@with_options("rubric", kind="judge_prefer")
def prefer(
    *,
    out: OutOrMade = None,
    first: Tasks,
    second: Others,
    request: JudgeRequest,
    session: Session,
    how: RunMode,
) -> None:
    """Compare two sets of tasks in pairs: which one would a person rather give a robot.

    Each pair is asked in both orders; a judge that takes another task in each shows no preference
    but a leaning to a place, and that is a tie. How far a judge can be trusted with this:
    `navloom judge calibrate prefer`. OUT/preferred.* hold the tables.
    """
    from navloom.evals.judging import scores as scored
    from navloom.evals.judging.task_pairs import read_tasks

    request = replace(request, of=str(first), against=str(second))
    faults = [fault for where in (first, second) for fault in read_tasks(where).faults]
    out, summary = _carried_out(request, out, "preferred", session, how, faults)
    found = scored.score_preference(out, request.model, summary.left + summary.error)
    tables = scored.preference_tables(found, [str(first), str(second)])
    _measured(summary, out, how.as_json, found.record(), tables, name="preferred")


@calibrate.command("reasoning")
@with_options("rubric", "sample_id", kind="calibrate_reasoning")
def calibrate_reasoning(
    *,
    out: OutOrMade = None,
    request: JudgeRequest,
    session: Session,
    spec: Annotated[
        str | None,
        Opt(
            "The scenes whose passages are the truth: capnav:DIR, or any homes.",
            metavar="[SPEC]",
            argument=True,
            shown="capnav: where $NAVLOOM_DATA has it, else demo:",
        ),
    ] = None,
    injections: Annotated[
        bool,
        Opt(
            "Instead, the corpus of injected payloads. With the defences and without, for this"
            " judge and for two gullible ones."
        ),
    ] = False,
    how: RunMode,
) -> None:
    """Measure a reasoning judge on explanations whose correct verdict is known.

    Accuracy, kappa, verdicts by kind and by set of wordings, the wordings without a verdict, and
    how often an injected text turns it. Tables and picture are in OUT/calibration.*; the same
    command goes on.
    """
    from navloom.evals.judging import results as shown
    from navloom.evals.judging import scores as scored
    from navloom.evals.judging.calibration import default_scenes, measure_flips

    request = replace(request, of=spec or default_scenes())
    if injections:
        request = replace(request, kind="calibrate_injections")
    name = "injections" if injections else "calibration"
    out, summary = _carried_out(request, out, name, session, how)
    if injections:
        found = measure_flips(request, out)
        record = {name: {d: f.record() for d, f in by.items()} for name, by in found.items()}
        tables, drawn = [shown.injection_table(found)], None
    else:
        made = scored.score_reasoning(out, request.model, summary)
        record, tables = made.record(), shown.reasoning_tables(made)
        drawn = shown.confusion_bars(made)
    _measured(summary, out, how.as_json, record, tables, drawn)


@calibrate.command("trace")
@with_options("sample_id", kind="calibrate_trace")
def calibrate_trace(
    *,
    out: OutOrMade = None,
    request: JudgeRequest,
    session: Session,
    where: Annotated[
        Path | None,
        Opt(
            "A navigation run with reasons, whose steps are spoiled.",
            metavar="[RUN]",
            argument=True,
            shown="the baseline's run over demo:, made in OUT/navigation",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure a rubric judge on steps that were corrupted in known ways."""
    from navloom.evals.judging import results as shown
    from navloom.evals.judging import scores as scored
    from navloom.evals.judging.calibration import run_baseline
    from navloom.evals.runner import run_request

    request = replace(request, of=str(where or ""))
    out = run = pick_run_folder(out, "trace-calibration", request)
    if where is None:
        run = out / "judging"
        request = replace(request, of=str(run_baseline(out / "navigation", session)))
    summary = run_request(request, run, session)
    made = scored.score_trace(run, request.model, summary)
    _measured(summary, out, as_json, made.record(), shown.trace_tables(made))


@calibrate.command("prefer")
@with_options("rubric", "sample_id", kind="calibrate_prefer")
def calibrate_prefer(
    *,
    out: OutOrMade = None,
    request: JudgeRequest,
    session: Session,
    where: Annotated[
        str,
        Opt(
            f"{_TASKS}, whose sensible tasks are spoiled; or homes, in which things are where they"
            " belong: demo:, hm3d:DIR, ...",
            metavar="[RUN|SPEC]",
            argument=True,
        ),
    ] = "demo:",
    how: RunMode,
) -> None:
    """Measure a preference judge on pairs of known order: a plausible task and a corrupted copy.

    Accuracy, Cohen's kappa, and how far answers hang on the order in which tasks are shown. What a
    task was spoiled by stands in its line. Tables are in OUT/calibration.*.
    """
    from navloom.evals.judging import scores as scored

    request = replace(request, of=where)
    out, summary = _carried_out(request, out, "preference", session, how)
    found = scored.score_known_pairs(out, request.model, summary.left + summary.error)
    tables = scored.calibration_tables(found)
    _measured(summary, out, how.as_json, found.record(), tables)


def _carried_out(
    request: JudgeRequest,
    out: Path | None,
    name: str,
    session: Session,
    how: RunMode,
    faults: Sequence[str] = (),
) -> tuple[Path, Summary]:
    """Run the judging that is asked for, or show a dry run and leave.

    Args:
        request: the request.
        out: the value of ``--out``.
        name: prefix of the run's folder if ``out`` is None.
        session: the execution settings.
        how: dry run and output format.
        faults: lines about input that could not be read.

    Returns:
        The run's folder and its totals.
    """
    from navloom.evals.runner import run_request

    for fault in faults[:_MOST_SAID]:
        print_err(f"  not read: {fault}")
    where = pick_run_folder(out, name, request)
    if how.dry_run:
        show_dry_run(request, session, as_json=how.as_json)
        raise typer.Exit
    return where, run_request(request, where, session)


def _say_left(answers: AnswerFile, named: Path | None = None) -> None:
    """Print the lines that cannot be judged, and the file that lists them all."""
    for each in answers.left[:_MOST_SAID]:
        print_err(f"  line {each.line}: {each.fault}")
    if answers.left:
        counts = ", ".join(f"{count} {kind}" for kind, count in answers.counts().items())
        where = f": {named}" if named else ""
        print_err(f"  {len(answers.left)} lines are not judged ({counts}){where}")


def _measured(
    summary: Summary,
    out: Path,
    as_json: bool,
    record: Mapping[str, Any],
    tables: Sequence[Table],
    drawn: Bars | None = None,
    *,
    name: str = "calibration",
) -> None:
    """Write and print a measurement of a judge, and leave."""
    from navloom.evals.judging.results import write_calibration

    write_calibration(out, record, tables, drawn, name=name)
    if as_json:
        print_json(record)
    else:
        print_out("\n\n".join(table.markdown() for table in tables) + "\n")
    _left(summary, out)


def _end(summary: Summary, out: Path, how: RunMode, record: Mapping[str, Any], words: str) -> None:
    """Print the result of a judging run, and leave."""
    if how.as_json:
        print_json({"run": str(out), **record, **summary.record()})
    else:
        print_out(words)
    _left(summary, out)


def _left(summary: Summary, out: Path) -> None:
    """Leave with the session's exit code; an unscored item is a result, not a failure."""
    if summary.error or summary.left:
        end_session(summary, out)
    print_err(f"{out}: {summary.samples} items, {summary.failed} unscored")
