"""Run that generates each two-robot task in a single answer (CoNavBench A.13)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.direct_results import score_direct
from navloom.evals.navcraft.request import SURVEY, read_survey
from navloom.evals.navcraft.run import survey_scenes
from navloom.evals.run_kinds import RESULT_TOKENS, CallBounds, Note, RunPlan, max_reply_tokens
from navloom.evals.session import Job, Sample, attempt_id
from navloom.graphs.navcraft import direct as navcraft_direct
from navloom.scenes.scene_uri import get_scene


@dataclass(kw_only=True)
class DirectRunPlan(RunPlan):
    """Plan of such a run: its samples and scenes.

    Attributes:
        scenes: portable name of each scene -> URI to load it by.
    """

    scenes: dict[str, str]


@dataclass(frozen=True)
class DirectJob(Job):
    """Job that generates one task."""

    plan: DirectRunPlan

    graph = navcraft_direct

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph input of a sample: its seed."""
        return {"seed": sample.seed}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the generator's context. ``model`` replaces the request's model."""
        return self.settings(model, scene=get_scene(self.plan.scenes[sample.scene]))


def plan(request: DirectRequest, run: Path | None, note: Note) -> DirectRunPlan:
    """Return the plan of a request's attempts, spread over homes as in a two-stage run.

    Raises:
        SceneError: there are no scenes, or no errand is possible in any of them.
    """
    known = None if run is None else read_survey(run)
    found = known or survey_scenes(request.spec, tau=request.tau, homes=request.homes, note=note)
    names, samples = sorted(found.scenes), []
    for k in range(request.n):
        scene, attempt = names[k % len(names)], k // len(names)
        name = attempt_id(scene, attempt)
        samples.append(Sample.of(request.seed, name, scene, attempt))
    return DirectRunPlan(
        request=request,
        samples=samples,
        scenes=found.scenes,
        notes=found.lines(),
        files={} if known else {SURVEY: found.data()},
    )


def calls(made: DirectRunPlan) -> CallBounds:
    """Estimate the model calls of a sample; each turn sends all earlier turns again.

    Without tools every turn is an answer, so the rejections bound the turns.
    """
    request = made.request
    turns = request.max_turns
    if request.tools == "none":
        turns = min(turns, 1 + request.max_reasks)
    grown = turns * (turns - 1) // 2 * (max_reply_tokens(request.model) + RESULT_TOKENS)
    return CallBounds(most=turns, in_all=grown)


def finish(made: DirectRunPlan, run: Path) -> dict[str, Any]:
    """Return the scores that the run adds to ``summary.json``."""
    del made
    return {"direct": score_direct(run).record()}
