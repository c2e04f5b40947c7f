"""``navloom export``, ``navloom validate``, ``navloom report``: from a run to a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from navloom.cli.common import MADE_BY, JsonOption, RunArgument, print_json, say
from navloom.errors import UsageError

__all__ = ["app", "export", "report", "validate"]

app = typer.Typer(no_args_is_help=True)


@app.command()
def export(
    run: RunArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out", envvar="NAVLOOM_OUT", help="The file to write: one JSON object a line."
        ),
    ],
    format: Annotated[  # noqa: A002 - the flag's name is the keyword's
        Literal["navcraft"],
        typer.Option("--format", envvar="NAVLOOM_FORMAT", help="The form of a line."),
    ] = "navcraft",
    as_json: JsonOption = False,
) -> None:
    """Write a run's valid tasks as a dataset.

    Lines are sorted by sample id and never vary: an interrupted run gives the same bytes.
    """
    from navloom.evals.navcraft.export import export_run

    count = export_run(run, out, format)
    if as_json:
        print_json({"file": str(out), "tasks": count})
        return
    say(f"{out}: {count} tasks" + ("" if count else f"; see why: navloom report {run}"))
    if count:
        say(f"  next: navloom validate {out}")


@app.command()
def validate(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A dataset, such as navloom export writes.")
    ],
    scenes: Annotated[
        list[str] | None,
        typer.Option(
            "--scenes",
            envvar="NAVLOOM_SCENES",
            metavar="SPEC",
            help="Where its homes are: hm3d:DIR, a folder of scene.json, ...; may be given several"
            " times. Without it: the package and $NAVLOOM_DATA.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a dataset, anyone's, against the published schema and its scenes.

    One line a finding; exit code 1 where there is any.
    """
    from dataclasses import asdict

    from navloom.evals.navcraft.validate import check_file

    result = check_file(file, scenes)
    if as_json:
        print_json({"file": str(file), **asdict(result)})
    else:
        for finding in result.findings:
            print(finding.text(file))
        if result.left_out:
            print(f"{file}: {result.left_out} more findings are not listed")
        print(result.summary)
        if not result.tasks:
            say(f"navloom: {file} is empty: there was nothing to check")
    if result.findings:
        raise typer.Exit(1)


@app.command()
def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, as --out made them.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            envvar="NAVLOOM_OUT",
            help="Folder for report.md, report.html and pictures; else the first run's.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how good runs are, with some of their samples to look at.

    Runs of `navloom synth` stand together, beside CoNavBench's Table 4; each run of `navloom eval`
    gets a report of its own: scores, what went wrong, episodes step by step. Runs of `navloom eval
    capnav` stand together in one table.
    """
    from navloom.evals.run_folder import read_run

    alone = ("navigate", "capnav", "capnav_tasks")
    for run in runs:
        if maker := MADE_BY.get(str(read_run(run).get("kind"))):
            raise UsageError(
                f"{run} is a run of `navloom {maker}`, of which there is no report: that command"
                " prints its tables once more"
            )
    kinds = {kind if (kind := read_run(run).get("kind")) in alone else "synth" for run in runs}
    if len(kinds) > 1:
        raise UsageError("runs of `navloom synth` and of `navloom eval` have no report in common")
    if kinds == {"capnav_tasks"}:
        from navloom.cli.capnav.synth import report_capnav

        report_capnav(runs, as_json=as_json)
        return
    if kinds == {"navigate"}:
        _of_navigation(runs, out, as_json=as_json)
        return
    if kinds == {"capnav"}:
        _of_capnav(runs, out, as_json=as_json)
        return
    from navloom.evals.navcraft.report import document, write_report
    from navloom.evals.navcraft.tables import score_json

    made, written = write_report(runs, out)
    if as_json:
        print_json({"files": [str(path) for path in written],
                    "runs": [score_json(score) for score in made.scores]})  # fmt: skip
        return
    print(document(made).markdown(), end="")
    for path in written:
        say(f"wrote {path}")


def _of_navigation(runs: list[Path], out: Path | None, *, as_json: bool) -> None:
    from navloom.evals.navigation.report import write_nav_report
    from navloom.evals.navigation.scores import read_scores
    from navloom.files import make_folder

    if out is not None:
        if len(runs) > 1:
            raise UsageError("--out goes with one run of `navloom eval`: each has its own report")
        make_folder(out)
    pages = [write_nav_report(run, out) for run in runs]
    if as_json:
        scores = [read_scores(run).record() for run in runs]
        print_json({"files": [str(page) for page in pages], "runs": scores})
        return
    for page in pages:
        print(page.with_name("report.md").read_text(encoding="utf-8"), end="")
    for page in pages:
        say(f"wrote {page}")


def _of_capnav(runs: list[Path], out: Path | None, *, as_json: bool) -> None:
    from navloom.evals.capnav.scores import read_capnav
    from navloom.evals.capnav.tables import write_capnav_report

    pages = write_capnav_report(runs, out)
    if as_json:
        scores = [read_capnav(run).record() for run in runs]
        print_json({"files": [str(page) for page in pages], "runs": scores})
        return
    print(pages[0].read_text(encoding="utf-8"), end="")
    for page in pages:
        say(f"wrote {page}")
