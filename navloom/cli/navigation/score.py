"""``navloom score`` and ``navloom compare``: how good trajectories are, and which run is better."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from navloom.cli.common import JsonOption, print_json, say

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True)

ByOption = Annotated[
    Literal["path", "episode"],
    typer.Option(
        "--by",
        envvar="NAVLOOM_BY",
        help="What the bootstrap draws: whole paths (the instructions of one path are no"
        " independent tries) or episodes one by one.",
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", envvar="NAVLOOM_SEED", min=0, help="Seed of the bootstrap.")
]


@app.command()
def score(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE",
            help="The folder of a run, or a submission: a JSON list of {instr_id, trajectory}.",
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            envvar="NAVLOOM_FORMAT",
            help="What a FILE is a submission to: r2r or reverie.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            envvar="NAVLOOM_DATA_DIR",
            metavar="DIR",
            help="The dataset's folder, with connectivity/ and r2r/; $NAVLOOM_DATA/mp3d, or where"
            " the run had it, unless given.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            envvar="NAVLOOM_SPLIT",
            help="The split that a FILE is of; val_unseen unless given.",
            show_default=False,
        ),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            envvar="NAVLOOM_PARTIAL",
            help="Score only the instructions that a FILE has; otherwise missing ones have failed.",
        ),
    ] = False,
    by: ByOption = "path",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Score a submission file, anyone's, or a run's finished trajectories anew.

    TL NE SR OSR SPL nDTW SDTW CLS with the field's definitions, 95 % intervals, and by name every
    episode that counts as failed because nobody can have walked its trajectory.
    """
    from navloom.errors import UsageError
    from navloom.evals.navigation.rescore import score_run, score_submission

    if source.is_dir():
        if form is not None or split is not None or partial:
            raise UsageError(
                f"{source} is a folder: --format, --split and --partial go with a FILE"
            )
        sheet = score_run(source, data=data, by=by, seed=seed)
    else:
        sheet = score_submission(
            source, form=form or "r2r", data=data, split=split, partial=partial, by=by, seed=seed
        )
    if as_json:
        print_json(sheet.record())
    else:
        print("\n\n".join(table.markdown() for table in sheet.tables()))
    if sheet.faults:
        missing = sum(fault.what.reason == "missing" for fault in sheet.faults)
        hint = " (--partial scores only those that are there)" if missing else ""
        say(f"{source}: {len(sheet.faults):,} invalid, {missing:,} of them missing{hint}")


@app.command()
def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The folder of a run.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Another, of the same episodes.")],
    by: ByOption = "path",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say how one run differs from another on the samples that both have: B minus A."""
    from navloom.errors import UsageError
    from navloom.evals.navigation.compare import compare_runs

    if run_a.resolve() == run_b.resolve():
        raise UsageError(f"{run_a} and {run_b} are one run: give two to compare")
    found = compare_runs(run_a, run_b, by=by, seed=seed)
    if as_json:
        print_json(found.record())
    else:
        print("\n\n".join(table.markdown() for table in found.tables()))
