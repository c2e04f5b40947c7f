"""``navloom score`` and ``navloom compare``: how good trajectories are, and which run is better."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from navloom.cli import options
from navloom.cli.common import print_json, say
from navloom.cli.options import argument, option, takes

app = typer.Typer(no_args_is_help=True)
By = Literal["path", "episode"]
_BOOTSTRAP = (
    option(
        "by",
        By,
        "path",
        "What the bootstrap draws: whole paths (the instructions of one path are no independent"
        " tries) or episodes one by one.",
    ),
    options.SEED.but("Seed of the bootstrap.", min=0),
    options.JSON,
)


@app.command()
@takes(
    argument(
        "source",
        Path,
        "RUN|FILE",
        "The folder of a run, or a submission: a JSON list of {instr_id, trajectory}.",
    ),
    option(
        "form",
        str | None,
        None,
        "What a FILE is a submission to: r2r or reverie.",
        flag="--format",
        show_default=False,
    ),
    options.DATA.but(
        "The dataset's folder, with connectivity/ and r2r/; $NAVLOOM_DATA/mp3d, or where the run"
        " had it, unless given.",
        show_default=False,
    ),
    options.SPLIT.but("The split that a FILE is of; val_unseen unless given.", show_default=False),
    option(
        "partial",
        bool,
        False,
        "Score only the instructions that a FILE has; otherwise missing ones have failed.",
    ),
    *_BOOTSTRAP,
)
def score(
    source: Path,
    form: str | None,
    data: Path | None,
    split: str | None,
    partial: bool,
    by: By,
    seed: int,
    as_json: bool,
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
@takes(
    argument("run_a", Path, "RUN_A", "The folder of a run."),
    argument("run_b", Path, "RUN_B", "Another, of the same episodes."),
    *_BOOTSTRAP,
)
def compare(run_a: Path, run_b: Path, by: By, seed: int, as_json: bool) -> None:
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
