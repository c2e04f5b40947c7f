"""Implementation of ``navloom scenes export --format capnav``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from navloom.cli.common import count_noun
from navloom.models.redaction import print_err
from navloom_worlds.cli.tour import with_progress

if TYPE_CHECKING:
    from navloom.evals.capnav.request import CapnavExportOptions


def write_release(
    uris: Sequence[str], out: Path, wanted: CapnavExportOptions, bodies: Path | None, processes: int
) -> None:
    """Write a benchmark's folder and print its statistics."""
    from navloom.evals.video import check_pyav
    from navloom.scenes.bodies import builtin_bodies, load_bodies
    from navloom_worlds.exporting.capnav_release import ReleasedScene, release_scenes, total_answers

    if wanted.tours:
        check_pyav()
    wanted = replace(wanted, bodies=load_bodies(bodies) if bodies else builtin_bodies())
    done: list[ReleasedScene] = []
    for one in with_progress(release_scenes(uris, out, wanted, processes), "writing", len(uris)):
        if not isinstance(one, ReleasedScene):
            print_err(f"navloom: {one}")
            continue
        done.append(one)
        if one.left_out:
            print_err(f"   {one.scene}: no way leads to {', '.join(one.left_out)}: not in its tour")
    kept = sum(one.kept for one in done)
    many = sum(one.questions for one in done)
    print_err(
        f"wrote {count_noun(len(done), 'homes')} to {out}, {kept} were there; {many} questions"
    )
    for body, said in total_answers(done).items():
        print_err(f"  {body}: {said['feasible']} feasible, {said['infeasible']} not")
    print_err(
        f"  next: navloom eval capnav --data {out}" + (f" --videos {out}" if wanted.tours else "")
    )
    if len(done) < len(uris):
        raise typer.Exit(1)
