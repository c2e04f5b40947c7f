"""``navloom study direct``: tasks generated in one answer or in two stages (CoNavBench A.13).

Five arms run over the same homes and seeds: two stages with and without tools, and the paper's
earlier prompts: version 1, version 2, and version 2 with the tools of the two stages. Each arm also
runs with builtin/random as its baseline. Each arm is an ordinary run in the study's folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.direct_results import DirectScore, direct_tables, score_direct
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.scores import PUBLISHED
from navloom.evals.report.formatting import NOTHING, Table, percent
from navloom.evals.report.report_files import save_study
from navloom.evals.request import RunRequest
from navloom.evals.session import Session
from navloom.evals.study import StudyRuns, check_arms, check_study_folder

RANDOM = "builtin/random"
BESIDE = ", random"
"""Suffix of the random baseline's arm, after the name of the arm it belongs to."""
ARMS: dict[str, dict[str, Any]] = {
    "two stages": {"kind": "collab", "tools": "check"},
    "two stages, no tools": {"kind": "collab", "tools": "none"},
    "V1": {"variant": "v1"},
    "V2": {"variant": "v2"},
    "V2 with tools": {"variant": "v2", "tools": "check"},
}
"""Request settings of each arm. An arm with a ``kind`` has two stages."""


@dataclass(frozen=True, kw_only=True)
class DirectStudy:
    """Settings of the study.

    Attributes:
        spec: spec of the homes.
        model: model that generates the tasks.
        n: number of attempts of each arm.
        homes: number of homes to use, the first of the spec; None for all.
        seed: seed of every random draw.
        max_turns: maximum model calls of a conversation.
        max_reasks: maximum number of rejected answers.
        arms: names from ``ARMS``; empty for all.
    """

    spec: str
    model: str
    n: int
    homes: int | None = None
    seed: int = 0
    max_turns: int = 12
    max_reasks: int = 3
    arms: Sequence[str] = ()

    def requests(self) -> dict[str, RunRequest]:
        """Return the request of each arm by name, the random baseline's after the model's.

        Raises:
            UsageError: an arm is unknown or given twice.
        """
        check_arms(self.arms, ARMS)
        for name in self.arms:
            if list(self.arms).count(name) > 1:
                raise UsageError(f"the arm '{name}' is given twice")
        beside = [] if self.model == RANDOM else [(RANDOM, BESIDE)]
        return {
            f"{name}{ending}": self._request(name, model)
            for model, ending in [(self.model, ""), *beside]
            for name in self.arms or ARMS
        }

    def _request(self, arm: str, model: str) -> RunRequest:
        kind: Any = SynthRequest if "kind" in ARMS[arm] else DirectRequest
        fields = {name: value for name, value in vars(self).items() if name != "arms"}
        made: RunRequest = kind(**{**fields, "model": model}, **ARMS[arm])
        return made


def study_direct(asked: DirectStudy, out: Path, session: Session | None = None) -> list[Table]:
    """Run the arms and tabulate their scores.

    Args:
        asked: settings of the study.
        out: folder of the runs, one an arm.
        session: execution settings of the runs.

    Returns:
        Tables of validity, idleness, coordination, contradictions of the prompts, and published
        claims. ``out/report.json`` holds them too.

    Raises:
        RunError: ``out`` is a run's folder, or what :func:`navloom.evals.runner.run_request`
            raises.
        UnfinishedError: the study was stopped or a sample broke; the same call continues it.
        UsageError: an arm is unknown.
    """
    check_study_folder(out)
    requests = asked.requests()
    study = StudyRuns(sorted({asked.model, RANDOM}), session)
    folders, scores = dict[str, Path](), dict[str, DirectScore]()
    for name, request in requests.items():
        folders[name] = out / name.replace(", ", "-").replace(" ", "-")
        study.run(request, folders[name])
        scores[name] = score_direct(folders[name])
    first, *others = direct_tables(scores)
    first = replace(first, title=f"Direct generation, {asked.model}")
    tables = [first, *others, published_table()]
    save_study(out, tables, runs=[folder.name for folder in folders.values()])
    return tables


def published_table() -> Table:
    """Return a table of the paper's claims on its versions; V1 and V2 have no numbers."""
    idle = "“one robot did almost all the work while the other remained idle”"
    unlike = (
        "“mismatches between the transfer region and the subtask descriptions, missing handover"
        " steps, or paths that did not align with the scene layout”"
    )
    known = [each for each in PUBLISHED if each.model.startswith("GPT 4o")]
    stages = [
        (
            f"two stages, {each.model} (Table 4)",
            *(percent(each.single), percent(each.collab), NOTHING, NOTHING),
        )
        for each in known
    ]
    both = [(f"{name} (A.13.1)", NOTHING, NOTHING, idle, unlike) for name in ("V1", "V2")]
    header = ("arm", "single valid", "relay, a valid single", "I", "II")
    note = (
        "CoNavBench, A.13.1 and Table 4. Of V1 and V2 the paper prints no numbers and names no"
        " model: on six HM3D homes both “suffered from very low-quality multi-robot collaboration”,"
        " by the typical failures I and II, which it gives for both together. So there is nothing"
        " that the shares above could equal."
    )
    return Table("As published", note, header, (*both, *stages))
