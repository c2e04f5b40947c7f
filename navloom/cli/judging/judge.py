"""``navloom judge``: grade reasons and traces, and measure the grader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from navloom.cli import options
from navloom.cli.common import end_session, print_json, run_folder, say, show_dry_run
from navloom.cli.options import argument, option, takes
from navloom.cli.session import asked, model_of_roles, with_session

if TYPE_CHECKING:
    from navloom.evals.judging.rows import Answers
    from navloom.evals.judging.run import JudgeRequest
    from navloom.evals.progress import Summary
    from navloom.evals.report.document import Table
    from navloom.evals.session import Session

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

    from navloom.evals.judging.rows import read_answers
    from navloom.evals.judging.run import totals
    from navloom.evals.kinds import run_kind

    file, as_json = given["file"], given["as_json"]
    request, answers = _request("judge_reasoning", str(file), given), read_answers(file)
    if given["dry_run"]:
        _say_left(answers)
        show_dry_run(request, session, as_json=as_json)
        return
    out = run_folder(given["out"], "judged", [request.record(), str(file.resolve())])
    summary = run_kind(request, out, session)
    found = totals(out)
    _say_left(answers, out / "left.jsonl")
    if as_json:
        print_json(
            {"run": str(out), **asdict(found), "not_judged": answers.counts(), **summary.record()}
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

    from navloom.evals.judging.run import read_steps
    from navloom.evals.kinds import run_kind
    from navloom.evals.run_folder import read_samples

    where, as_json = given["where"], given["as_json"]
    request = _request("judge_trace", str(where), given)
    asked = request.record()
    _, faults = read_steps(where)
    if given["dry_run"]:
        _say_faults(faults)
        show_dry_run(request, session, as_json=as_json)
        return
    out = run_folder(given["out"], "traces", [asked, str(where.resolve())])
    summary = run_kind(request, out, session)
    _say_faults(faults)
    counted: dict[str, Counter[str]] = {}
    for row in read_samples(out):
        for name, each in row["result"]["criteria"].items():
            counted.setdefault(name, Counter())[each["grade"] or "unscored"] += 1
    if as_json:
        grades = {name: dict(each) for name, each in counted.items()}
        print_json({"run": str(out), "grades": grades, "not_read": faults, **summary.record()})
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
    from navloom.evals.judging import calibration as scored
    from navloom.evals.judging import calibration_tables as shown
    from navloom.evals.judging.calibration import measured
    from navloom.evals.kinds import run_kind

    as_json, injections = given["as_json"], given["injections"]
    kind = "calibrate_injections" if injections else "calibrate_reasoning"
    request = _request(kind, given["spec"] or scored.default_spec(), given)
    if given["dry_run"]:
        show_dry_run(request, session, as_json=as_json)
        return
    name = "injections" if injections else "calibration"
    out = run_folder(given["out"], name, [request.record(), request.of, request.n])
    summary = run_kind(request, out, session)
    if injections:
        found = measured(request, out)
        record = {name: {d: f.record() for d, f in by.items()} for name, by in found.items()}
        tables, drawn = [shown.injection_table(found)], None
    else:
        made = scored.score_reasoning(out, request.model, summary)
        record, tables, drawn = made.record(), shown.reasoning_tables(made), shown.picture(made)
    shown.write_calibration(out, record, tables, drawn)
    _show(record, tables, as_json)
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
    from dataclasses import replace

    from navloom.evals.judging import calibration as scored
    from navloom.evals.judging import calibration_tables as shown
    from navloom.evals.kinds import run_kind

    request = _request("calibrate_trace", str(given["where"] or ""), given)
    named = [request.record(), request.of, request.n]
    out = run = run_folder(given["out"], "trace-calibration", named)
    if given["where"] is None:
        run = out / "judging"
        request = replace(request, of=str(scored.walked(out / "navigation", session)))
    summary = run_kind(request, run, session)
    made = scored.score_trace(run, request.model, summary)
    tables = shown.trace_tables(made)
    shown.write_calibration(out, made.record(), tables)
    _show(made.record(), tables, given["as_json"])
    _end(summary, out)


def _request(kind: str, of: str, given: dict[str, Any]) -> JudgeRequest:
    from navloom.evals.judging.run import JudgeRequest

    model = model_of_roles(given["model"], given["model_role"], ROLES)["judge"]
    return asked(JudgeRequest, given, kind=kind, of=of, model=model)


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
