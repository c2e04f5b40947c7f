"""Command ``navloom scenes compare``: statistical comparison of two sets of homes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from navloom.cli.common import load_homes, print_json, print_table, save_figure
from navloom.cli.options import Json, with_options
from navloom.evals.option import Opt
from navloom.evals.request import Seed, Spec
from navloom.models.redaction import print_err, print_out

if TYPE_CHECKING:
    from navloom_worlds.likeness.home_comparison import HomeFigures

_SAID_EVERY = 50
"""Number of homes between progress messages."""


@with_options()
def compare(
    spec: Spec,
    other: Annotated[
        str, Opt("The homes they should be like, real ones.", metavar="OTHER", argument=True)
    ],
    figure: Annotated[
        Path | None,
        Opt("Draw the distributions to this file (.png, .svg, .pdf).", metavar="FILE", env=""),
    ] = None,
    tasks: Annotated[
        int, Opt("Tasks a home whose best relay is found; 0 for none.", min=0, max=1000, env="")
    ] = 10,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare the homes of SPEC with those of OTHER: rooms, graph, objects, tasks, bodies.

    A distance holds where it is no larger than halves of OTHER have between them, or 0.15. A broken
    home is said and skipped; the exit code is then 1.
    """
    from navloom.evals.report.block_chart import draw_chart
    from navloom.files import check_writable
    from navloom_worlds.likeness.home_comparison import compare_homes as hold_against
    from navloom_worlds.likeness.home_comparison import figure_table, likeness_record, type_table
    from navloom_worlds.likeness.likeness_charts import likeness_blocks

    if figure is not None:
        check_writable(figure, folder=False)
    homes, broken = _figures_of(spec, tasks, seed)
    others, more = _figures_of(other, tasks, seed)
    names = (spec, other)
    lines = hold_against(homes, others, seed=seed)
    if figure is not None:
        save_figure(draw_chart([*likeness_blocks(lines, homes, others, names)], across=4), figure)
    if as_json:
        print_json({"first": spec, "second": other, **likeness_record(lines, homes, others)})
    else:
        print_table(figure_table(lines, *names))
        print_out()
        print_table(type_table(homes, others, *names))
    if broken + more:
        raise typer.Exit(1)


def _figures_of(spec: str, tasks: int, seed: int) -> tuple[list[HomeFigures], int]:
    """Return the statistics of the homes that can be loaded, and the number of failures."""
    from navloom.errors import SceneError
    from navloom.scenes.scene_uri import list_scenes
    from navloom_worlds.likeness.home_comparison import home_figures

    found, uris = [], list_scenes(spec)
    for scene in load_homes(uris):
        found.append(home_figures(scene, tasks=tasks, seed=seed))
        if len(found) % _SAID_EVERY == 0:
            print_err(f"{spec}: {len(found)} of {len(uris)} homes")
    if not found:
        raise SceneError(f"{spec}: none of its homes can be loaded.")
    return found, len(uris) - len(found)
