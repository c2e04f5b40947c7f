"""``navloom export``, ``navloom validate`` and ``navloom report``: datasets and reports of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from navloom.cli.common import print_json, show_blocks, write_page
from navloom.cli.options import CommandApp, Json, RunFolder, WithLicensed, with_options
from navloom.errors import UsageError
from navloom.evals.option import Opt
from navloom.models.redaction import print_err, print_out

if TYPE_CHECKING:
    from navloom.evals.run_kinds import CommandOutput

app = CommandApp()


@app.command()
@with_options()
def export(
    run: RunFolder,
    out: Annotated[Path, Opt("The file to write: one JSON object a line.", metavar="FILE")],
    form: Annotated[Literal["navcraft"], Opt("The form of a line.", flag="--format")] = "navcraft",
    keep: Annotated[
        tuple[str, ...],
        Opt(
            "Only tasks of which this holds, such as 'plausible>=0.6'; may be given several times."
            " Of plausible, carry, room, on, unambiguous (1 or 0), namesakes, doors, storeys, hops,"
            " metres, alpha, g_rate, best_alone, regret_alpha, regret_g.",
            metavar="CONDITION",
        ),
    ] = (),
    as_json: Json = False,
) -> None:
    """Write a run's valid tasks as a dataset.

    Lines are sorted by sample id and never vary: an interrupted run gives the same bytes.
    """
    from navloom.evals.run_kinds import kind_of
    from navloom.files import check_format

    kind = kind_of(run)
    if kind.export is None:
        raise UsageError(f"{run} is a run of `navloom {kind.command}`, which makes no dataset")
    with check_format(f"a sample of {run}", f"one of `navloom {kind.command}`"):
        count = kind.export(run, out, form, keep)
    if as_json:
        print_json({"file": str(out), "tasks": count})
        return
    why = "no task keeps --keep" if keep else f"see why: navloom report {run}"
    print_err(f"{out}: {count} tasks" + ("" if count else f"; {why}"))
    if count:
        print_err(f"  next: navloom validate {out}")


@app.command()
@with_options()
def validate(
    file: Annotated[
        Path, Opt("A dataset, such as navloom export writes.", metavar="FILE", argument=True)
    ],
    scenes: Annotated[
        tuple[str, ...],
        Opt(
            "Where its homes are: hm3d:DIR, a folder of scene.json. May be given several times.",
            metavar="SPEC",
            shown="the package and $NAVLOOM_DATA",
        ),
    ] = (),
    as_json: Json = False,
) -> None:
    """Check any dataset against the published schema and its scenes.

    One line a finding; exit code 1 where there is any.
    """
    from dataclasses import asdict

    from navloom.evals.navcraft.dataset_check import check_dataset

    result = check_dataset(file, scenes)
    if as_json:
        print_json({"file": str(file), **asdict(result)})
    else:
        for finding in result.findings:
            print_out(finding.text(file))
        if result.left_out:
            print_out(f"{file}: {result.left_out} more findings are not listed")
        print_out(result.summary)
        if not result.tasks:
            print_err(f"navloom: {file} is empty: there was nothing to check")
    if result.findings:
        raise typer.Exit(1)


@app.command()
@with_options()
def report(
    runs: Annotated[
        tuple[Path, ...],
        Opt(
            "Folders of runs, as --out made them, or a study of people.",
            metavar="RUN...",
            argument=True,
        ),
    ],
    out: Annotated[
        Path | None,
        Opt(
            "Folder for report.md, report.html and pictures.",
            metavar="DIR",
            shown="the first run's",
        ),
    ] = None,
    with_licensed: WithLicensed = False,
    as_json: Json = False,
) -> None:
    """Report the scores of runs, with their samples to look at.

    Runs of `navloom synth` stand together, beside CoNavBench's Table 4; each run of `navloom eval`
    gets a report.md of its own: scores, what went wrong. Runs of `navloom eval capnav` stand
    together in one table. A study of people has a report by itself: how far they agree, and the
    judge beside them. report.html has the pages of `navloom view` of all these runs, and of two
    that pair their comparison, in one file that needs nothing outside it.
    """
    from navloom.files import check_writable, make_folder

    if out is not None:
        check_writable(out, folder=True)
    shown = _reported(runs, out)
    folder = runs[0] if out is None else out
    make_folder(folder)
    page = write_page(runs, folder, shown=shown, licensed=with_licensed)
    files = [*shown.files[:1], page, *shown.files[1:]]
    if as_json:
        # A kind that writes no files itself lists none.
        said = {"files": [str(path) for path in files]} if shown.files else {}
        print_json({**said, **shown.record})
        return
    show_blocks(shown)
    for path in files:
        print_err(f"wrote {path}")


def _reported(runs: tuple[Path, ...], out: Path | None) -> CommandOutput:
    """Write the report files of the runs' kind, and return the report."""
    from navloom.evals.people.study_folder import is_people_study
    from navloom.evals.run_kinds import kind_of
    from navloom.files import check_format

    if study := next((run for run in runs if is_people_study(run)), None):
        from navloom.evals.people.results import write_people_report

        if len(runs) > 1:
            raise UsageError(f"{study} is a study of people: it has a report by itself")
        return write_people_report(study, study if out is None else out)
    made = set()
    for run in runs:
        kind = kind_of(run)
        if kind.report is None:
            raise UsageError(
                f"{run} is a run of `navloom {kind.command}`, of which there is no report: that"
                " command prints its tables once more"
            )
        made.add(kind.report)
    if len(made) > 1:
        raise UsageError("runs of `navloom synth` and of `navloom eval` have no report in common")
    with check_format(
        f"a sample of {', '.join(map(str, runs))}", f"one of `navloom {kind.command}`"
    ):
        shown: CommandOutput = made.pop()(list(runs), out)
    return shown
