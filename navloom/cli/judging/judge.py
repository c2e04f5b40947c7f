"""``navloom judge``: grade reasons and traces, and measure the grader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from navloom.cli import options
from navloom.cli.common import end_session, print_json, run_folder, say, show_dry_run
from navloom.cli.options import argument, asked, option, takes
from navloom.cli.session import model_of_roles, with_session

if TYPE_CHECKING:
    from navloom.evals.judging.rows import Answers
    from navloom.evals.judging.run import JudgeRequest, Judging
    from navloom.evals.report.table import Table
    from navloom.evals.session import Session
    from navloom.evals.summary import Summary

app = typer.Typer(no_args_is_help=True, help="Grade reasons and traces, and measure the grader.")
calibrate = typer.Typer(no_args_is_help=True, help="Measure a judge on items of known truth.")
app.add_typer(calibrate, name="calibrate")

ROLES = ("judge",)
"""What models are used for here."""
_MOST_SAID = 3
RUBRIC = option("rubric", str, "trace", "The rubric: trace, or a .yaml file.", metavar="NAME|FILE")
ITEMS = option("n", int, 320, "Items, about.", min=8, envvar=None)
_JUDGE = (options.MODEL, options.MODEL_ROLE)
_HOW = (
    options.MAX_REASKS.but(
        "How often a reply without a verdict is asked for again; then it is unscored.", max=10
    ),
    options.CONSTRAIN,
    options.SEED,
)
_LAST = (options.DRY_RUN, options.JSON)


@app.command()
@with_session()
@takes(
    argument("file", Path, "FILE", "One JSON object a line: id, explanation, record."),
    options.OUT_OR_DEFAULT,
    *_JUDGE,
    *_HOW,
    *_LAST,
)
def reasoning(session: Session, **given: Any) -> None:
    """Grade explanations of why a path cannot be used against the truth about it.

    Takes anyone's file, and what `navloom eval capnav` wrote. Lines that cannot be judged are named
    in OUT/left.jsonl. The same command on the same folder goes on with a run that was stopped.
    """
    from dataclasses import asdict

    from navloom.evals.judging.run import REASONING, judge_answers, plan_answers, totals

    file, as_json, request = given["file"], given["as_json"], _request(given)
    if given["dry_run"]:
        planned, answers = plan_answers(file, request)
        _say_left(answers)
        _show_dry(planned, session, as_json)
        return
    out = run_folder(given["out"], "judged", [request.record(REASONING), str(file.resolve())])
    summary, answers = judge_answers(file, out, request, session)
    found = totals(out)
    _say_left(answers, out / "left.jsonl")
    if as_json:
        print_json(
            {"run": str(out), **asdict(found), "not_judged": answers.counts(), **asdict(summary)}
        )
    else:
        share = "–" if found.partial is None else f"{found.partial:.3f}"
        print(
            f"{found.items} explanations: {found.correct} correct, {found.wrong} not,"
            f" {found.unscored} unscored; share of barriers named {share}"
        )
    _end(summary, out)


@app.command()
@with_session()
@takes(
    argument("where", Path, "RUN|FILE", "A navigation run, or a file of its lines."),
    options.OUT_OR_DEFAULT,
    RUBRIC,
    *_JUDGE,
    *_HOW,
    *_LAST,
)
def trace(session: Session, **given: Any) -> None:
    """Grade a navigator's reasoning, step by step, by the criteria of a rubric.

    The steps are those of a run that gave reasons (`navloom eval ... --cot`).
    """
    from collections import Counter
    from dataclasses import asdict

    from navloom.evals.judging.run import TRACE, judge_traces, plan_traces
    from navloom.evals.run_folder import read_samples

    where, as_json, request = given["where"], given["as_json"], _request(given)
    if given["dry_run"]:
        planned, faults = plan_traces(where, request)
        _say_faults(faults)
        _show_dry(planned, session, as_json)
        return
    out = run_folder(given["out"], "traces", [request.record(TRACE), str(where.resolve())])
    summary, faults = judge_traces(where, out, request, session)
    _say_faults(faults)
    counted: dict[str, Counter[str]] = {}
    for row in read_samples(out):
        for name, each in row["result"]["criteria"].items():
            counted.setdefault(name, Counter())[each["grade"] or "unscored"] += 1
    if as_json:
        grades = {name: dict(each) for name, each in counted.items()}
        print_json({"run": str(out), "grades": grades, "not_read": faults, **asdict(summary)})
    for name, each in () if as_json else counted.items():
        words = ", ".join(f"{each[g]} {g}" for g in ("yes", "no", "na", "unscored"))
        print(f"{name}: {words}")
    _end(summary, out)


@calibrate.command("reasoning")
@with_session(picks=("limit", "retry"))
@takes(
    options.OUT_OR_DEFAULT,
    argument(
        "spec",
        str | None,
        "[SPEC]",
        "The scenes whose passages are the truth: capnav:DIR, or any homes.",
        show_default="capnav: where $NAVLOOM_DATA has it, else demo:",
    ).but(default=None),
    *_JUDGE,
    ITEMS.but(
        "Items, or payloads.",
        kind=int | None,
        default=None,
        show_default="540; with --injections all",
    ),
    option(
        "injections",
        bool,
        False,
        "Instead: the corpus of injected payloads, with the defences and without, for this judge"
        " and for two gullible ones.",
        envvar=None,
    ),
    *_HOW,
    *_LAST,
)
def calibrate_reasoning(session: Session, **given: Any) -> None:
    """Measure a judge of reasons on explanations whose deserved verdict is known.

    Accuracy, kappa, verdicts by kind and by set of wordings, and how often an injected text turns
    the verdict. Tables and picture are in OUT/calibration.*; the same command goes on.
    """
    from navloom.evals.judging import calibration as runs
    from navloom.evals.judging import calibration_tables as shown
    from navloom.evals.judging.injections import measure_injections, plan_injections
    from navloom.evals.judging.run import REASONING
    from navloom.judges.reason_items import DEFAULT_ITEMS

    n, as_json, request = given["n"], given["as_json"], _request(given)
    where, items = given["spec"] or runs.default_spec(), n or DEFAULT_ITEMS
    if given["dry_run"]:
        if given["injections"]:
            planned = plan_injections(where, request, n=n)
        else:
            planned = runs.plan_reasoning(where, request, n=items)
        _show_dry(planned, session, as_json)
        return
    name = "injections" if given["injections"] else "calibration"
    out = run_folder(given["out"], name, [request.record(REASONING), where, n])
    if given["injections"]:
        summary, found = measure_injections(where, out, request, session, n=n)
        table = shown.injection_table(found)
        record = {name: {d: f.record() for d, f in by.items()} for name, by in found.items()}
        shown.write_calibration(out, record, [table])
        _show(record, [table], as_json)
    else:
        summary, made = runs.calibrate_reasoning(where, out, request, session, n=items)
        tables = shown.reasoning_tables(made)
        shown.write_calibration(out, made.record(), tables, shown.picture(made))
        _show(made.record(), tables, as_json)
    _end(summary, out)


@calibrate.command("trace")
@with_session(picks=("limit", "retry"))
@takes(
    options.OUT_OR_DEFAULT,
    argument(
        "where",
        Path | None,
        "[RUN]",
        "A navigation run with reasons, whose steps are spoiled.",
        show_default="the baseline's run over demo:, made in OUT/navigation",
    ).but(default=None),
    RUBRIC,
    *_JUDGE,
    ITEMS,
    *_HOW,
    options.JSON,
)
def calibrate_trace(session: Session, **given: Any) -> None:
    """Measure a rubric judge on steps that were spoiled in known ways."""
    from navloom.evals.judging import calibration as runs
    from navloom.evals.judging import calibration_tables as shown
    from navloom.evals.judging.run import TRACE

    where, n, request = given["where"], given["n"], _request(given)
    out = run_folder(
        given["out"], "trace-calibration", [request.record(TRACE), str(where or ""), n]
    )
    summary, made = runs.calibrate_trace(where, out, request, session, n=n)
    tables = shown.trace_tables(made)
    shown.write_calibration(out, made.record(), tables)
    _show(made.record(), tables, given["as_json"])
    _end(summary, out)


def _request(given: dict[str, Any]) -> JudgeRequest:
    from navloom.evals.judging.run import JudgeRequest

    model = model_of_roles(given["model"], given["model_role"], ROLES)["judge"]
    return asked(JudgeRequest, given, model=model)


def _say_left(answers: Answers, named: Path | None = None) -> None:
    """The lines that cannot be judged, and the file that names them all."""
    for each in answers.left[:_MOST_SAID]:
        say(f"  line {each.line}: {each.fault}")
    if answers.left:
        counts = ", ".join(f"{count} {kind}" for kind, count in answers.counts().items())
        where = f": {named}" if named else ""
        say(f"  {len(answers.left)} lines are not judged ({counts}){where}")


def _say_faults(faults: list[str]) -> None:
    for fault in faults[:_MOST_SAID]:
        say(f"  not read: {fault}")


def _show_dry(judging: Judging, session: Session, as_json: bool) -> None:
    show_dry_run(judging.dry_run(session), "items", "scenes", most=1, as_json=as_json)


def _show(record: dict[str, Any], tables: list[Table], as_json: bool) -> None:
    if as_json:
        print_json(record)
    else:
        print("\n\n".join(table.markdown() for table in tables) + "\n")


def _end(summary: Summary, out: Path) -> None:
    """Leave with the session's exit code; an unscored item is a finding, not a failure."""
    if summary.error or summary.left:
        end_session(summary, out, exports=False)
    say(f"{out}: {summary.samples} items, {summary.failed} unscored")
