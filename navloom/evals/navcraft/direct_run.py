"""A run of tasks of two robots made in one answer each (CoNavBench A.13)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.evals.kinds import RESULT_TOKENS, Calls, Note, Plan, reply_tokens
from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.direct_results import score_direct
from navloom.evals.navcraft.request import SURVEY, read_survey
from navloom.evals.navcraft.run import survey
from navloom.evals.session import Job, Sample, make_id
from navloom.graphs.navcraft import direct as navcraft_direct
from navloom.scenes.uri import scene_of


@dataclass(kw_only=True)
class DirectPlanOfRun(Plan):
    """What a run will do.

    Attributes:
        scenes: the URI each scene is loaded by, by its portable name.
    """

    scenes: dict[str, str]


@dataclass(frozen=True)
class DirectJob(Job):
    """How one attempt is made."""

    plan: DirectPlanOfRun

    graph = navcraft_direct

    def input(self, sample: Sample) -> dict[str, Any]:
        """The seed."""
        return {"seed": sample.seed}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """The generator's context; ``model`` stands in for the request's."""
        return self.settings(model, scene=scene_of(self.plan.scenes[sample.scene]))


def plan(request: DirectRequest, run: Path | None, note: Note) -> DirectPlanOfRun:
    """Every attempt that a request means: those that the two stages would make, home by home.

    Raises:
        SceneError: there are no scenes, or no errand is possible in any of them.
    """
    known = None if run is None else read_survey(run)
    found = known or survey(request.spec, tau=request.tau, homes=request.homes, note=note)
    names, samples = sorted(found.scenes), []
    for k in range(request.n):
        scene, attempt = names[k % len(names)], k // len(names)
        name = make_id(scene, attempt)
        samples.append(Sample.of(request.seed, name, scene, attempt))
    return DirectPlanOfRun(
        request=request,
        samples=samples,
        scenes=found.scenes,
        notes=found.lines(),
        files={} if known else {SURVEY: found.data()},
    )


def calls(made: DirectPlanOfRun) -> Calls:
    """Each turn sends all before it again; without tools every turn is an answer."""
    request = made.request
    turns = request.max_turns
    if request.tools == "none":
        turns = min(turns, 1 + request.max_reasks)
    grown = turns * (turns - 1) // 2 * (reply_tokens(request.model) + RESULT_TOKENS)
    return Calls(most=turns, in_all=grown)


def finish(made: DirectPlanOfRun, run: Path) -> dict[str, Any]:
    """What the summary has of the attempts."""
    del made
    return {"direct": score_direct(run).record()}
