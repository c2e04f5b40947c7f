"""``navloom export``, ``navloom validate``, ``navloom report``: from a run to a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from navloom.cli.common import JsonOption, RunArgument, print_json, say

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
    from navloom.evals.export import export_run

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

    from navloom.evals.validate import check_file

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
            help="Folder for report.md, report.html and contact_sheet.png; else the first run's.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how good runs are, beside the paper's Table 4, with ten tasks to look at."""
    from navloom.evals.report import markdown, write_report
    from navloom.evals.report_tables import score_json

    made, written = write_report(runs, out)
    if as_json:
        print_json({"files": [str(path) for path in written],
                    "runs": [score_json(score) for score in made.scores]})  # fmt: skip
        return
    print(markdown(made), end="")
    for path in written:
        say(f"wrote {path}")
