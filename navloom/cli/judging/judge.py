"""``navloom judge``: grade reasons, traces and failures, and measure the grader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from navloom.cli.common import end_session, print_json, run_folder, show_dry_run
from navloom.cli.help_pages import Commands
from navloom.cli.options import How, Json, OutOrMade, takes
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.option import Opt
from navloom.evals.session import Session
from navloom.terminal import say, tell

if TYPE_CHECKING:
    from navloom.evals.judging.rows import Answers
    from navloom.evals.progress import Summary
    from navloom.evals.report.document import Table

app = Commands("Grade reasons, traces and failures, and measure the grader.")
calibrate = Commands("Measure a judge on items of known truth.")
app.add_typer(calibrate, name="calibrate")

_MOST_SAID = 3


@app.command()
@takes("rubric", "n", kind="judge_reasoning")
def reasoning(
    *,
    out: OutOrMade = None,
    file: Annotated[
        Path, Opt("One JSON object a line: id, explanation, record.", metavar="FILE", argument=True)
    ],
    request: JudgeRequest,
    session: Session,
    how: How,
) -> None:
    """Grade explanations of why a path cannot be used against the truth about it.

    Takes anyone's file, and what `navloom eval capnav` wrote. Lines that cannot be judged are named
    in OUT/left.jsonl. The same command on the same folder goes on with a run that was stopped.
    """
    from dataclasses import asdict

    from navloom.evals.judging.rows import read_answers
    from navloom.evals.judging.run import totals
    from navloom.evals.kinds import run_kind

    request, answers = replace(request, of=str(file)), read_answers(file)
    if how.dry_run:
        _say_left(answers)
        show_dry_run(request, session, as_json=how.as_json)
        return
    out = run_folder(out, "judged", request)
    summary = run_kind(request, out, session)
    found = totals(out)
    _say_left(answers, out / "left.jsonl")
    if how.as_json:
        print_json(
            {"run": str(out), **asdict(found), "not_judged": answers.counts(), **summary.record()}
        )
    else:
        from navloom.evals.report.document import percent

        tell(
            f"{found.items} explanations: {found.correct} correct, {found.wrong} not,"
            f" {found.unscored} unscored; share of barriers named {percent(found.partial)}"
        )
    _end(summary, out)


@app.command()
@takes("n", kind="judge_trace")
def trace(
    *,
    out: OutOrMade = None,
    where: Annotated[
        Path, Opt("A navigation run, or a file of its lines.", metavar="RUN|FILE", argument=True)
    ],
    request: JudgeRequest,
    session: Session,
    how: How,
) -> None:
    """Grade a navigator's reasoning, step by step, by the criteria of a rubric.

    The steps are those of a run that gave reasons (`navloom eval ... --cot`).
    """
    from collections import Counter

    from navloom.evals.judging.run import read_steps
    from navloom.evals.kinds import run_kind
    from navloom.evals.run_folder import read_samples

    request = replace(request, of=str(where))
    out = run_folder(out, "traces", request)
    _, faults = read_steps(where)
    if how.dry_run:
        _say_faults(faults)
        show_dry_run(request, session, as_json=how.as_json)
        return
    summary = run_kind(request, out, session)
    _say_faults(faults)
    counted: dict[str, Counter[str]] = {}
    for row in read_samples(out):
        for name, each in row["result"]["criteria"].items():
            counted.setdefault(name, Counter())[each["grade"] or "unscored"] += 1
    if how.as_json:
        grades = {name: dict(each) for name, each in counted.items()}
        print_json({"run": str(out), "grades": grades, "not_read": faults, **summary.record()})
    for name, each in () if how.as_json else counted.items():
        words = ", ".join(f"{each[g]} {g}" for g in ("yes", "no", "na", "unscored"))
        tell(f"{name}: {words}")
    _end(summary, out)


@app.command()
@takes("rubric", "n", kind="judge_failures")
def failures(
    *,
    out: OutOrMade = None,
    where: Annotated[
        Path, Opt("A navigation run, or a file of its lines.", metavar="RUN|FILE", argument=True)
    ],
    request: JudgeRequest,
    session: Session,
    how: How,
) -> None:
    """Say why each failed walk of a run left the right way, by the causes of docs/errors.md.

    A model reads what a person would be given to label; builtin/heuristic is the rules themselves.
    OUT/labels.jsonl holds the labels.
    """
    from collections import Counter

    from navloom.evals.judging.labelling import read_failed
    from navloom.evals.kinds import run_kind
    from navloom.evals.run_folder import read_samples

    request = replace(request, of=str(where))
    out = run_folder(out, "labels", request)
    _, faults = read_failed(where)
    _say_faults(faults)
    if how.dry_run:
        show_dry_run(request, session, as_json=how.as_json)
        return
    summary = run_kind(request, out, session)
    results = [row["result"] for row in read_samples(out)]
    counted = Counter(each["cause"] or "unscored" for each in results)
    same = sum(each["cause"] == each["rules"] for each in results)
    if how.as_json:
        causes = dict(counted.most_common())
        print_json(
            {"run": str(out), "causes": causes, "as_the_rules": same, "not_read": faults}
            | summary.record()
        )
    else:
        said = ", ".join(f"{count} {cause}" for cause, count in counted.most_common())
        tell(f"{len(results)} failed walks: {said}; as the rules {same}")
    _end(summary, out)


@calibrate.command("reasoning")
@takes("rubric", "sample_id", kind="calibrate_reasoning")
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
    how: How,
) -> None:
    """Measure a judge of reasons on explanations whose deserved verdict is known.

    Accuracy, kappa, verdicts by kind and by set of wordings, and how often an injected text turns
    the verdict. Tables and picture are in OUT/calibration.*; the same command goes on.
    """
    from navloom.evals.judging import calibration as scored
    from navloom.evals.judging import calibration_tables as shown
    from navloom.evals.judging.calibration import measured
    from navloom.evals.kinds import run_kind

    request = replace(request, of=spec or scored.default_spec())
    if injections:
        request = replace(request, kind="calibrate_injections")
    if how.dry_run:
        show_dry_run(request, session, as_json=how.as_json)
        return
    name = "injections" if injections else "calibration"
    out = run_folder(out, name, request)
    summary = run_kind(request, out, session)
    if injections:
        found = measured(request, out)
        record = {name: {d: f.record() for d, f in by.items()} for name, by in found.items()}
        tables, drawn = [shown.injection_table(found)], None
    else:
        made = scored.score_reasoning(out, request.model, summary)
        record, tables, drawn = made.record(), shown.reasoning_tables(made), shown.picture(made)
    shown.write_calibration(out, record, tables, drawn)
    _show(record, tables, how.as_json)
    _end(summary, out)


@calibrate.command("trace")
@takes("sample_id", kind="calibrate_trace")
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
    """Measure a rubric judge on steps that were spoiled in known ways."""
    from navloom.evals.judging import calibration as scored
    from navloom.evals.judging import calibration_tables as shown
    from navloom.evals.kinds import run_kind

    request = replace(request, of=str(where or ""))
    out = run = run_folder(out, "trace-calibration", request)
    if where is None:
        run = out / "judging"
        request = replace(request, of=str(scored.walked(out / "navigation", session)))
    summary = run_kind(request, run, session)
    made = scored.score_trace(run, request.model, summary)
    tables = shown.trace_tables(made)
    shown.write_calibration(out, made.record(), tables)
    _show(made.record(), tables, as_json)
    _end(summary, out)


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
        tell("\n\n".join(table.markdown() for table in tables) + "\n")


def _end(summary: Summary, out: Path) -> None:
    """Leave with the session's exit code; an unscored item is a finding, not a failure."""
    if summary.error or summary.left:
        end_session(summary, out)
    say(f"{out}: {summary.samples} items, {summary.failed} unscored")
