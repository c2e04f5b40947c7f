"""Mends of a home as a report: what was changed, what it costs, before and after on the plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from navloom.errors import SceneError
from navloom.evals.report.blocks import Block, Grid, Picture, Prose
from navloom.evals.report.document import Table
from navloom.evals.report.writers import KeptReport, keep_report, write_markdown
from navloom.files import make_folder, write_whole
from navloom.scenes.formats.scene_json import save
from navloom.scenes.mend.changes import mended_copy
from navloom.scenes.mend.mend_plan import draw_mend
from navloom.scenes.mend.search import Mend
from navloom.scenes.scene import Scene

_MOST_DRAWN = 40


def write_mends(scene: Scene, found: Sequence[Mend], folder: Path) -> list[str]:
    """Write ``report.md``, ``report.json``, ``mends.json``, and of each mend a plan and a copy.

    Args:
        scene: the home as it is.
        found: mends of it.
        folder: is made where there is none.

    Returns:
        Lines that a person should read.

    Raises:
        RunError: a file cannot be written.
    """
    make_folder(folder)
    said: list[str] = []
    pictures: list[Picture] = []
    for number, each in enumerate(_proven(found)[:_MOST_DRAWN], start=1):
        drawn = draw_mend(scene, each).png()
        write_whole(folder / f"mend-{number}.png", drawn)
        numbered = enumerate(each.changes, start=1)
        listed = "; ".join(f"{k}. {c.words} ({c.cost:,.0f})" for k, c in numbered)
        title = f"{number}. {each.body}: {each.start} to {each.goal}"
        pictures.append(
            Picture(
                title=title,
                data=drawn,
                alt=f"Before and after of {title}",
                note=listed,
                private=True,
            )
        )
        try:
            copy = mended_copy(scene, each.changes, f"{scene.id}-mended-{number}")
            save(copy, folder / f"mend-{number}.json")
        except SceneError as error:
            said.append(f"mend {number}: no copy of the home is written: {error}")
    blocks: list[Block] = [_summary(scene, found), Grid(table=mends_table(found)), *pictures]
    write_markdown(folder, blocks)
    said_of = KeptReport(
        title="Ways to mend", what="mends", blocks=tuple(blocks), scenes=(scene.uri,)
    )
    keep_report(folder, said_of)
    record = {"scene": scene.uri, "mends": [each.record() for each in found]}
    write_whole(folder / "mends.json", (json.dumps(record, indent=1) + "\n").encode())
    return said


def _proven(found: Sequence[Mend]) -> list[Mend]:
    return [each for each in found if each.proven]


def mends_table(found: Sequence[Mend]) -> Table:
    """A line a pair: what is done, what it costs."""
    rows = []
    for each in found:
        if each.before.arrived:
            what, cost = "nothing: it gets there", "0"
        elif each.proven:
            what, cost = "; ".join(c.words for c in each.changes), f"{each.cost:,.0f}"
        else:
            what, cost = f"no mend was found: {each.why}", "–"
        rows.append((f"{each.start} to {each.goal}", each.body, cost, what))
    note = "Costs are those of the table that was given, or rough prices in euros."
    return Table("Mends", note, ("rooms", "body", "cost", "what is done"), tuple(rows))


def _summary(scene: Scene, found: Sequence[Mend]) -> Prose:
    blocked = [each for each in found if not each.before.arrived]
    headline = (
        f"{scene.uri}: of {len(found)} pairs of rooms {len(blocked)} are blocked, and for"
        f" {len(_proven(found))} of these a mend was found and proven: the body fails in the home"
        " as it is and arrives in the changed one, driven by its exact shape. Costs are a table's."
    )
    return Prose(title="Ways to mend", text=headline)
