"""``navloom subset``: choose episodes that represent a split, or on which runs failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from navloom.cli.common import print_json, print_table, save_figure
from navloom.cli.options import CommandApp, Json, with_options
from navloom.evals.navigation.request import Data, Split
from navloom.evals.option import Opt
from navloom.evals.request import MOST, Seed
from navloom.models.redaction import print_err

if TYPE_CHECKING:
    from navloom.evals.navigation.subset import CommonFailures, SubsetIndex
    from navloom.evals.tasks.episode import TaskData

app = CommandApp()


@app.command()
@with_options()
def subset(
    task: Annotated[
        str, Opt("r2r, r4r, reverie, objectnav, dialogue or scene.", metavar="TASK", argument=True)
    ],
    more: Annotated[
        tuple[Path, ...],
        Opt("Further runs of --failed-by.", metavar="[RUN...]", argument=True, shown="none"),
    ] = (),
    out: Annotated[Path | None, Opt("The index file to write (.json).", metavar="FILE")] = None,
    n: Annotated[int | None, Opt("How many episodes.", min=1, max=MOST)] = None,
    failed_by: Annotated[
        tuple[Path, ...],
        Opt(
            "Take only episodes that every one of these runs failed on; errors are none.",
            metavar="RUN...",
        ),
    ] = (),
    data: Data = None,
    split: Split = None,
    bins: Annotated[int, Opt("Bins of path length.", min=1)] = 5,
    seed: Seed = 0,
    spec: Annotated[str | None, Opt("scene: its homes.", flag="--scenes", metavar="SPEC")] = None,
    kind: Annotated[str | None, Opt("scene: fine, goal, object or mixed.", metavar="KIND")] = None,
    picture: Annotated[
        Path | None,
        Opt("Draw the comparison to this file (.png, .svg, .pdf).", metavar="FILE", env=""),
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose a representative subset of a split, and show how close its statistics are.

    Strata are scans and bins of path length; of each path one instruction is taken at random, and
    a task with categories is balanced over them (VLN-MME 3.2). With --failed-by the episodes are
    those that every run named failed on (4.4), all of them unless --n says how many.
    """
    from navloom.errors import UsageError
    from navloom.evals.navigation.subset import build_subset
    from navloom.evals.tasks.registry import load_task
    from navloom.files import check_writable

    for file in (out, picture):
        if file is not None:
            check_writable(file, folder=False)
    runs = [*failed_by, *(more if failed_by else ())]
    if more and not failed_by:
        raise UsageError(f"'{more[0]}' is one word too many: runs are named after --failed-by")
    if n is None and not runs:
        raise UsageError("say how many episodes with --n, or which runs failed with --failed-by")
    folder = None if data is None else Path(data)
    own: dict[str, Any] = {
        key: value for key, value in (("spec", spec), ("kind", kind)) if value is not None
    }
    if runs:
        failed = _failed(task, split, runs)
        whole = load_task(task, folder or failed.data, failed.split, **{**failed.options, **own})
        made = _hard(whole, failed, runs)
        if n is not None:
            left, names = made.pick(whole), [str(run) for run in runs]
            made = build_subset(left, n, seed=seed, bins=bins, options=failed.options, runs=names)
    else:
        whole = load_task(task, folder, split, **own)
        made = build_subset(whole, n or 1, seed=seed, bins=bins, options=own)
    _show(whole, made, out, picture, as_json=as_json)


def _failed(task: str, split: str | None, runs: list[Path]) -> CommonFailures:
    """Return the episodes on which every one of the runs failed.

    Raises:
        UsageError: the runs are over another task or split.
    """
    from navloom.errors import UsageError
    from navloom.evals.navigation.subset import read_failures

    failed = read_failures(runs)
    if failed.task != task or split not in (None, failed.split):
        asked = f"{task} {split or ''}".strip()
        raise UsageError(f"the runs are over {failed.task} {failed.split}, and {asked} was asked")
    return failed


def _hard(whole: TaskData, failed: CommonFailures, runs: list[Path]) -> SubsetIndex:
    from navloom.errors import UsageError
    from navloom.evals.navigation.subset import failed_subset

    print_err(
        f"{len(failed.ids)} of {failed.finished} episodes failed in"
        f" {'each of ' if len(runs) > 1 else ''}{len(runs)} run{'s' if len(runs) > 1 else ''}"
        + (f"; {failed.left_out} are not finished in all of them" if failed.left_out else "")
    )
    if not failed.ids:
        raise UsageError("there is no episode that every run failed on, so nothing to write")
    names = [str(run) for run in runs]
    return failed_subset(whole, failed.ids, runs=names, options=failed.options)


def _show(
    whole: TaskData, made: SubsetIndex, out: Path | None, picture: Path | None, *, as_json: bool
) -> None:
    from navloom.evals.navigation import subset as subsets

    part = made.pick(whole).episodes
    axes = subsets.compare_axes(whole.episodes, part, bins=made.bins)
    spreads = subsets.compare_quantiles(whole.episodes, part)
    for note in whole.notes:
        print_err(f"note: {note}")
    if as_json:
        print_json({
            "file": None if out is None else str(out),
            "task": made.task, "split": made.split, "episodes": len(part),
            "of": len(whole.episodes), "sha256": made.sha256,
            "axes": [axis.to_json() for axis in axes],
            "spreads": [spread.to_json() for spread in spreads],
        })  # fmt: skip
    else:
        print_table(subsets.shares_table(axes))
        print_table(subsets.quantile_table(spreads))
    if picture is not None:
        from navloom.evals.report.block_chart import draw_chart

        title = f"{made.task} {made.split}: {len(part)} of {len(whole.episodes)} episodes"
        blocks = subsets.subset_chart(axes, whole.episodes, part)
        save_figure(draw_chart(blocks, title, across=2), picture)
    if out is None:
        print_err("nothing is written: say where with --out subset.json")
    else:
        print_err(
            f"wrote {subsets.save_subset(made, out)}: {len(part)} of {len(whole.episodes)} episodes"
        )
