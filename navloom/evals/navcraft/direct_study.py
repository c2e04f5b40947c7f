"""``navloom study direct``: errand and relay in one answer, or in two stages (CoNavBench A.13).

Five arms over the same homes and seeds: the two stages with their tools and without, and the
paper's earlier prompts, version 1, version 2, and version 2 with the two stages' tools. What
builtin/random reaches in each stands beside. Each arm is an ordinary run in the study's folder.
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
from navloom.evals.report.document import NOTHING, Table, percent
from navloom.evals.report.writers import keep_study
from navloom.evals.request import Request
from navloom.evals.session import Session
from navloom.evals.study import Study, check_arms, check_free

RANDOM = "builtin/random"
BESIDE = ", random"
"""How the arm of the random baseline is called, after the arm it stands beside."""
ARMS: dict[str, dict[str, Any]] = {
    "two stages": {"kind": "collab", "tools": "check"},
    "two stages, no tools": {"kind": "collab", "tools": "none"},
    "V1": {"variant": "v1"},
    "V2": {"variant": "v2"},
    "V2 with tools": {"variant": "v2", "tools": "check"},
}
"""What each arm asks for; whatever has a kind is made in two stages."""


@dataclass(frozen=True, kw_only=True)
class DirectStudy:
    """What the study is of.

    Attributes:
        spec: which homes.
        model: whose answers.
        n: attempts of each arm.
        homes: only the first so many homes; None for all.
        seed: of everything random.
        max_turns: model calls of a conversation at most.
        max_reasks: how often an answer is sent back.
        arms: which of ``ARMS``; all where there are none.
    """

    spec: str
    model: str
    n: int
    homes: int | None = None
    seed: int = 0
    max_turns: int = 12
    max_reasks: int = 3
    arms: Sequence[str] = ()

    def requests(self) -> dict[str, Request]:
        """What each arm asks for, by name, the random baseline's after the model's.

        Raises:
            UsageError: there is no such arm, or one is given twice.
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

    def _request(self, arm: str, model: str) -> Request:
        kind: Any = SynthRequest if "kind" in ARMS[arm] else DirectRequest
        fields = {name: value for name, value in vars(self).items() if name != "arms"}
        made: Request = kind(**{**fields, "model": model}, **ARMS[arm])
        return made


def study_direct(asked: DirectStudy, out: Path, session: Session | None = None) -> list[Table]:
    """Run the arms and table them.

    Args:
        asked: homes, model, attempts, arms.
        out: the folder for the runs, one an arm.
        session: how to go through the runs.

    Returns:
        Read and valid, idleness, coordination, what the prompts contradict, and what is published;
        ``out/report.json`` has them too.

    Raises:
        RunError: ``out`` is a run's folder, or what :func:`navloom.evals.runner.run_kind` raises.
        UnfinishedError: stopped, or a sample broke; the same call goes on.
        UsageError: there is no such arm.
    """
    check_free(out)
    requests = asked.requests()
    study = Study(sorted({asked.model, RANDOM}), session)
    folders, scores = dict[str, Path](), dict[str, DirectScore]()
    for name, request in requests.items():
        folders[name] = out / name.replace(", ", "-").replace(" ", "-")
        study.run(request, folders[name])
        scores[name] = score_direct(folders[name])
    first, *others = direct_tables(scores)
    first = replace(first, title=f"Direct generation, {asked.model}")
    tables = [first, *others, published_table()]
    keep_study(out, tables, runs=[folder.name for folder in folders.values()])
    return tables


def published_table() -> Table:
    """What the paper says of its own versions; of V1 and V2 it prints no number."""
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
