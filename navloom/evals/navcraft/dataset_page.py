"""Page of a NavCraft dataset file: its lines in the form of a run's samples, with findings.

A row has the form of a NavCraft sample, so that the columns of runs fit files too. Its keys are
``id``, ``scene``, ``status`` (``valid`` or ``not valid``), ``reason`` (the first finding),
``attempt`` (the line's number, from 1), ``result`` (phases and record) and ``findings`` (location
and message of each).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from navloom.errors import RunError
from navloom.evals.navcraft.dataset_check import check_lines
from navloom.evals.navcraft.results import quality_table, variety_table
from navloom.evals.navcraft.scores import measure_quality
from navloom.evals.navcraft.task_results import columns, findings_block, task_detail
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import Table
from navloom.evals.session import is_sample_id
from navloom.files import check_format
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import SCENES_KEPT, SceneLookup

VALID, NOT_VALID = "valid", "not valid"
_MOST_LISTED = 200


def dataset_rows(path: Path | str, scenes: str | Sequence[str] | None = None) -> Iterator[Any]:
    """Yield the lines of a file, checked as by ``navloom validate``.

    Args:
        path: a file of JSON lines in the ``navcraft`` format.
        scenes: location of its scenes, as for
            :func:`navloom.evals.navcraft.dataset_check.check_dataset`.

    Yields:
        Rows as described in the module. A line without ``phase_1`` has no result.

    Raises:
        UsageError: the file cannot be read.
        SceneError: ``scenes`` names no scenes.
    """
    taken: set[str] = set()
    for number, line, found in check_lines(path, scenes):
        whole = line if isinstance(line, dict) else {}
        rest = whole.get("navloom")
        rest = rest if isinstance(rest, dict) else {}
        name = rest.get("id")
        if not isinstance(name, str) or not is_sample_id(name) or name in taken:
            name = f"line-{number}"
        taken.add(name)
        plan = whole.get("phase_2")
        yield {
            "id": name,
            "scene": str(whole.get("scene") or ""),
            "attempt": number,
            "status": NOT_VALID if found else VALID,
            "reason": found[0].problem if found else None,
            "profile": whole.get("profile"),
            "result": {
                **{key: whole[key] for key in ("phase_1", "phase_2") if key in whole},
                "verdict": "relay" if plan else "errand",
                "navloom": rest,
            }
            if "phase_1" in whole
            else None,
            "findings": [(each.where, each.problem) for each in found],
        }


def dataset_columns() -> list[ui.Column]:
    """Return the table columns of a dataset row."""
    faults = ui.Column(
        "faults",
        lambda row: len(row["findings"]),
        "count",
        better="less",
        help="what `navloom validate` finds wrong with it",
    )
    line = ui.Column("line", lambda row: row["attempt"], "count", help="in the file")
    return [line, faults, *(each for each in columns({}) if each.name != "repairs")]


def dataset_detail(
    path: Path | str, row: ui.Line, scenes: str | Sequence[str] | None = None
) -> ui.SampleDetail:
    """Return the page of one task of a file, in the form of a run's sample page.

    Args:
        path: the file.
        row: a row of :func:`dataset_rows`.
        scenes: as for :func:`dataset_rows`.

    Raises:
        RunError: the line does not have the form of a task, though it has no findings.
    """
    named = str(row["id"])
    blocks = (findings_block(row["findings"]),)
    faults = ui.SampleDetail(title=named, headline=f"line {row['attempt']}", blocks=blocks)
    if not row["result"]:
        return faults
    line = {"scene": row["scene"], "profile": row["profile"], **row["result"]}
    made = row["result"]["navloom"].get("homes")
    where = scenes if scenes is None or isinstance(scenes, str) else tuple(scenes)
    try:
        with check_format(f"{path}: line {row['attempt']}", "a NavCraft task"):
            return task_detail(named, line, lambda name: _kept(where, made, name), row["findings"])
    except RunError:
        if row["findings"]:
            return faults
        raise


@lru_cache(maxsize=SCENES_KEPT)
def _kept(scenes: str | tuple[str, ...] | None, homes: Any, name: str) -> Scene:
    return SceneLookup(scenes, None if homes is None else str(homes)).load(name)


def dataset_tables(path: Path | str, rows: Sequence[ui.Line]) -> list[ui.Block]:
    """Return the summary of a file: number of tasks, findings, quality and variety.

    Args:
        path: the file.
        rows: all of :func:`dataset_rows`.
    """
    wrong = [row for row in rows if row["findings"]]
    facts = (
        ui.Fact("tasks", str(len(rows))),
        ui.Fact(VALID, str(len(rows) - len(wrong))),
        ui.Fact("findings", str(sum(len(row["findings"]) for row in wrong))),
        ui.Fact("homes", str(len({row["scene"] for row in rows}))),
    )
    blocks: list[ui.Block] = [ui.Facts(title="As `navloom validate` has it", facts=facts)]
    if wrong:
        listed = [(row, each) for row in wrong for each in row["findings"]]
        cells = tuple((str(r["id"]), str(r["attempt"]), w or "–", p) for r, (w, p) in listed)
        more = len(cells) - _MOST_LISTED
        table = Table(
            "What is wrong",
            f"{more} findings more are shown with their lines." if more > 0 else "",
            ("task", "line", "where", "what"),
            cells[:_MOST_LISTED],
        )
        to = tuple(ui.sample_address(row["id"]) for row, _ in listed[:_MOST_LISTED])
        blocks.append(ui.Grid(table, to=to))
    good = [row["result"] for row in rows if not row["findings"] and row["result"]]
    with check_format(str(path), "NavCraft tasks"):
        found = measure_quality(good)
    name = Path(path).name
    blocks += [ui.Grid(quality_table([(name, found)])), ui.Grid(variety_table([(name, found)]))]
    return blocks
