"""Samples and job of a run of ``synth team``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.errors import SceneError, UsageError
from navloom.evals.navcraft.request import SURVEY, SceneSurvey, read_survey
from navloom.evals.navcraft.run import SynthPlan, survey_scenes
from navloom.evals.run_kinds import RESULT_TOKENS, CallBounds, Note, max_reply_tokens
from navloom.evals.session import Job, Sample, attempt_id
from navloom.scenes.bodies import resolve_body
from navloom.scenes.scene_uri import get_scene, load_scene
from navloom_worlds.teams import team_planner
from navloom_worlds.teams.team_request import TeamRequest
from navloom_worlds.teams.team_task import draw_attempt


@dataclass(frozen=True)
class TeamJob(Job):
    """Job of one attempt: graph, input and context."""

    plan: SynthPlan

    graph = team_planner

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input: the seed."""
        return {"seed": sample.seed}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the planner's context; ``model`` replaces the request's."""
        scene = get_scene(self.plan.scenes[sample.scene])
        return self.settings(model, scene=scene, bodies=self.plan.request.body_names)


def plan(request: TeamRequest, run: Path | None, note: Note) -> SynthPlan:
    """Return every attempt of a request, home by home.

    Raises:
        SceneError: there are no scenes, no such errands are possible in any of them, or a body is
            not known.
        UsageError: a body does not drive.
    """
    for body in request.body_names:
        if resolve_body(body).speed <= 0:
            raise UsageError(f"{body} does not drive by itself: name another body")
    known = None if run is None else read_survey(run)
    found = known or _roomy(
        survey_scenes(request.spec, tau=request.tau, homes=request.homes, note=note), request
    )
    names, samples = sorted(found.scenes), []
    for k in range(request.n):
        scene, attempt = names[k % len(names)], k // len(names)
        samples.append(Sample.of(request.seed, attempt_id(scene, attempt), scene, attempt))
    return SynthPlan(
        request=request,
        samples=samples,
        scenes=found.scenes,
        notes=found.lines(),
        files={} if known else {SURVEY: found.data()},
    )


def _roomy(found: SceneSurvey, request: TeamRequest) -> SceneSurvey:
    """Return the survey with only the homes that have enough starts, objects and destinations."""
    kept, skipped = dict[str, str](), dict(found.skipped)
    for name, uri in found.scenes.items():
        drawn = draw_attempt(load_scene(uri), request.robots, request.errands, 0, tau=request.tau)
        if drawn is None:
            skipped[name] = f"too small for {request.robots} robots and {request.errands} errands"
        else:
            kept[name] = uri
    if not kept:
        raise SceneError(
            f"no scene of {request.spec} has {request.errands} errands for {request.robots} robots:"
            " take fewer --robots or --errands"
        )
    return SceneSurvey(kept, skipped)


def calls(made: SynthPlan) -> CallBounds:
    """Estimate model calls: each turn resends all before it; without tools each is an answer."""
    request = made.request
    turns = request.max_turns
    if request.tools == "none" or request.compact:
        asked = request.errands if request.compact else 1
        turns = min(turns, asked + request.max_reasks)
    grown = turns * (turns - 1) // 2 * (max_reply_tokens(request.model) + RESULT_TOKENS)
    return CallBounds(most=turns, in_all=grown)
