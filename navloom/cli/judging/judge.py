"""``navloom judge``: grade reasons and traces, and measure the grader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.common import (
    ConstrainOption,
    DryRunOption,
    JsonOption,
    ModelOption,
    OutOrDefaultOption,
    SeedOption,
    end_session,
    print_json,
    run_folder,
    say,
    show_dry_run,
)
from navloom.cli.session import ModelRoleOption, model_of_roles, with_session

if TYPE_CHECKING:
    from navloom.evals.judging.rows import Answers
    from navloom.evals.judging.run import JudgeRequest, Judging
    from navloom.evals.report.table import Table
    from navloom.evals.session import Session
    from navloom.evals.summary import Summary

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Grade reasons and traces, and measure the grader.")
calibrate = typer.Typer(no_args_is_help=True, help="Measure a judge on items of known truth.")
app.add_typer(calibrate, name="calibrate")

ROLES = ("judge",)
"""What models are used for here."""
HEURISTIC = "builtin/heuristic"
_MOST_SAID = 3
ReasksOption = Annotated[
    int,
    typer.Option(
        "--max-reasks",
        envvar="NAVLOOM_MAX_REASKS",
        min=0,
        max=10,
        help="How often a reply without a verdict is asked for again; then it is unscored.",
    ),
]
RubricOption = Annotated[
    str,
    typer.Option(
        "--rubric",
        envvar="NAVLOOM_RUBRIC",
        metavar="NAME|FILE",
        help="The rubric: trace, or a .yaml file.",
    ),
]
SpecOption = Annotated[
    str | None,
    typer.Argument(
        metavar="[SPEC]",
        show_default="capnav: where $NAVLOOM_DATA has it, else demo:",
        help="The scenes whose passages are the truth: capnav:DIR, or any homes.",
    ),
]


@app.command()
@with_session()
def reasoning(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="One JSON object a line: id, explanation, record."),
    ],
    session: Session,
    out: OutOrDefaultOption = None,
    model: ModelOption = HEURISTIC,
    model_role: ModelRoleOption = None,
    max_reasks: ReasksOption = 1,
    constrain: ConstrainOption = True,
    seed: SeedOption = 0,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Grade explanations of why a path cannot be used against the truth about it.

    Takes anyone's file, and what `navloom eval capnav` wrote. Lines that cannot be judged are named
    in OUT/left.jsonl. The same command on the same folder goes on with a run that was stopped.
    """
    from dataclasses import asdict

    from navloom.evals.judging.run import REASONING, judge_answers, plan_answers, totals

    request = _request(model, model_role, max_reasks, constrain, seed)
    if dry_run:
        planned, answers = plan_answers(file, request)
        _say_left(answers)
        _show_dry(planned, session, as_json)
        return
    out = run_folder(out, "judged", [request.record(REASONING), str(file.resolve())])
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
def trace(
    where: Annotated[
        Path, typer.Argument(metavar="RUN|FILE", help="A navigation run, or a file of its lines.")
    ],
    session: Session,
    out: OutOrDefaultOption = None,
    rubric: RubricOption = "trace",
    model: ModelOption = HEURISTIC,
    model_role: ModelRoleOption = None,
    max_reasks: ReasksOption = 1,
    constrain: ConstrainOption = True,
    seed: SeedOption = 0,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Grade a navigator's reasoning, step by step, by the criteria of a rubric.

    The steps are those of a run that gave reasons (`navloom eval ... --cot`).
    """
    from collections import Counter
    from dataclasses import asdict

    from navloom.evals.judging.run import TRACE, judge_traces, plan_traces
    from navloom.evals.run_folder import read_samples

    request = _request(model, model_role, max_reasks, constrain, seed, rubric)
    if dry_run:
        planned, faults = plan_traces(where, request)
        _say_faults(faults)
        _show_dry(planned, session, as_json)
        return
    out = run_folder(out, "traces", [request.record(TRACE), str(where.resolve())])
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
def calibrate_reasoning(
    session: Session,
    out: OutOrDefaultOption = None,
    spec: SpecOption = None,
    model: ModelOption = HEURISTIC,
    model_role: ModelRoleOption = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n", min=8, show_default="540; with --injections all", help="Items, or payloads."
        ),
    ] = None,
    injections: Annotated[
        bool,
        typer.Option(
            "--injections",
            help="Instead: the corpus of injected payloads, with the defences and without, for this"
            " judge and for two gullible ones.",
        ),
    ] = False,
    max_reasks: ReasksOption = 1,
    constrain: ConstrainOption = True,
    seed: SeedOption = 0,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a judge of reasons on explanations whose deserved verdict is known.

    Accuracy, kappa, verdicts by kind and by set of wordings, and how often an injected text turns
    the verdict. Tables and picture are in OUT/calibration.*; the same command goes on.
    """
    from navloom.evals.judging import calibration as runs
    from navloom.evals.judging import calibration_tables as shown
    from navloom.evals.judging.injections import measure_injections, plan_injections
    from navloom.evals.judging.run import REASONING
    from navloom.judges.reason_items import DEFAULT_ITEMS

    request = _request(model, model_role, max_reasks, constrain, seed)
    where, items = spec or runs.default_spec(), n or DEFAULT_ITEMS
    if dry_run:
        if injections:
            planned = plan_injections(where, request, n=n)
        else:
            planned = runs.plan_reasoning(where, request, n=items)
        _show_dry(planned, session, as_json)
        return
    name = "injections" if injections else "calibration"
    out = run_folder(out, name, [request.record(REASONING), where, n])
    if injections:
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
def calibrate_trace(
    session: Session,
    out: OutOrDefaultOption = None,
    where: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]",
            show_default="the baseline's run over demo:, made in OUT/navigation",
            help="A navigation run with reasons, whose steps are spoiled.",
        ),
    ] = None,
    rubric: RubricOption = "trace",
    model: ModelOption = HEURISTIC,
    model_role: ModelRoleOption = None,
    n: Annotated[int, typer.Option("--n", min=8, help="Items, about.")] = 320,
    max_reasks: ReasksOption = 1,
    constrain: ConstrainOption = True,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure a rubric judge on steps that were spoiled in known ways."""
    from navloom.evals.judging import calibration as runs
    from navloom.evals.judging import calibration_tables as shown
    from navloom.evals.judging.run import TRACE

    request = _request(model, model_role, max_reasks, constrain, seed, rubric)
    out = run_folder(out, "trace-calibration", [request.record(TRACE), str(where or ""), n])
    summary, made = runs.calibrate_trace(where, out, request, session, n=n)
    tables = shown.trace_tables(made)
    shown.write_calibration(out, made.record(), tables)
    _show(made.record(), tables, as_json)
    _end(summary, out)


def _request(
    model: str,
    roles: list[str] | None,
    max_reasks: int,
    constrain: bool,
    seed: int,
    rubric: str = "trace",
) -> JudgeRequest:
    from navloom.evals.judging.run import JudgeRequest

    return JudgeRequest(
        model=model_of_roles(model, roles, ROLES)["judge"],
        max_reasks=max_reasks,
        constrain=constrain,
        seed=seed,
        rubric=rubric,
    )


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
