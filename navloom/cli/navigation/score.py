"""``navloom score`` and ``navloom compare``: score trajectories, and compare two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from navloom.cli.common import print_json
from navloom.cli.options import CommandApp, Json, with_options
from navloom.evals.option import Opt
from navloom.models.redaction import print_err, print_out

app = CommandApp()
By = Annotated[
    Literal["path", "episode"],
    Opt(
        "What the bootstrap draws: whole paths or episodes one by one. The instructions of one path"
        " are no independent tries."
    ),
]
BootstrapSeed = Annotated[int, Opt("Seed of the bootstrap.", min=0)]


@app.command()
@with_options()
def score(
    source: Annotated[
        Path,
        Opt(
            "The folder of a run, or a submission: a JSON list of {instr_id, trajectory}.",
            metavar="RUN|FILE",
            argument=True,
        ),
    ],
    form: Annotated[
        str | None,
        Opt(
            "What a FILE is a submission to: r2r, r4r or reverie.",
            flag="--format",
            metavar="TASK",
            shown="r2r",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        Opt(
            "The dataset's folder, with connectivity/ and r2r/.",
            metavar="DIR",
            env="NAVLOOM_DATA_DIR",
            shown="$NAVLOOM_DATA/mp3d, or where the run had it",
        ),
    ] = None,
    split: Annotated[
        str | None, Opt("The split that a FILE is of.", metavar="NAME", shown="val_unseen")
    ] = None,
    partial: Annotated[
        bool,
        Opt("Score only the instructions that a FILE has; otherwise missing ones have failed."),
    ] = False,
    by: By = "path",
    seed: BootstrapSeed = 0,
    as_json: Json = False,
) -> None:
    """Score a submission file, or score the finished trajectories of a run again.

    TL NE SR OSR SPL SoftSPL nDTW SDTW CLS and more with the field's definitions, 95 % intervals,
    and by name every episode that counts as failed because nobody can have walked its trajectory.
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
        print_out("\n\n".join(table.markdown() for table in sheet.tables()))
    if sheet.faults:
        missing = sum(fault.what.reason == "missing" for fault in sheet.faults)
        hint = " (--partial scores only those that are there)" if missing else ""
        print_err(f"{source}: {len(sheet.faults):,} invalid, {missing:,} of them missing{hint}")


@app.command()
@with_options()
def compare(
    run_a: Annotated[Path, Opt("The folder of a run.", metavar="RUN_A", argument=True)],
    run_b: Annotated[Path, Opt("Another, of the same samples.", metavar="RUN_B", argument=True)],
    by: By = "path",
    seed: BootstrapSeed = 0,
    as_json: Json = False,
) -> None:
    """Compare two runs on the samples that both have: B minus A."""
    from navloom.errors import UsageError
    from navloom.evals.report.run_comparison import compare_runs

    if run_a.resolve() == run_b.resolve():
        raise UsageError(f"{run_a} and {run_b} are one run: give two to compare")
    found = compare_runs(run_a, run_b, by=by, seed=seed)
    if as_json:
        print_json(found.record())
    else:
        print_out("\n\n".join(table.markdown() for table in found.tables()))
