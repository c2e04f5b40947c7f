"""Batch synthesis of NavCraft tasks: N attempts, spread evenly over scenes (CoNavBench 3.1).

A scene is left out if no errand is possible in it or its files are broken. The reasons are printed
when the run begins, stored in ``scenes.json`` and counted in the report. Attempts take the other
scenes in turn. The plan depends on the request alone, so the same command continues a stopped run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from navloom.errors import SceneError, UsageError
from navloom.evals.navcraft.request import BROKEN, SURVEY, SceneSurvey, SynthRequest, read_survey
from navloom.evals.run_folder import read_samples
from navloom.evals.run_kinds import RESULT_TOKENS, CallBounds, Note, RunPlan, max_reply_tokens
from navloom.evals.session import Job, Sample, attempt_id
from navloom.graphs.navcraft import collab as navcraft_collab
from navloom.graphs.navcraft import single as navcraft_single
from navloom.prompts.navcraft.profiles import Profile, load_profile
from navloom.scenes.bodies import has_geometry
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene, list_scenes, load_scene
from navloom.tools.navcraft.relay_spec import RelaySpecRecord, sample_spec
from navloom.tools.navcraft.task_paths import count_admissible_triples, min_hops


def survey_scenes(
    spec: str,
    *,
    tau: int,
    homes: int | None = None,
    driven: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> SceneSurvey:
    """Check which scenes of a spec allow an errand.

    Args:
        spec: spec of the scenes, as for :func:`navloom.scenes.scene_uri.list_scenes`.
        tau: minimum hops of each leg of an errand.
        homes: number of scenes to check, the first of the spec; None for all.
        driven: whether bodies will drive in them, so that scenes without geometry are left out.
        note: receives progress messages.

    Raises:
        SceneError: there are no scenes, two have the same name, the only one is broken, or none
            allows an errand.
    """
    uris = list_scenes(spec)[:homes]
    note(f"looking for possible errands in {len(uris)} scenes of {spec}")
    found = SceneSurvey({}, {})
    for uri in uris:
        try:
            scene = load_scene(uri)
        except SceneError as error:
            if len(uris) == 1:
                raise
            found.skipped[uri] = f"{BROKEN}: {error}"
            continue
        if scene.uri in found.scenes or scene.uri in found.skipped:
            raise SceneError(f"{spec} holds two scenes named {scene.uri}: rename one")
        why = no_errand_reason(scene, tau=tau)
        if driven and not has_geometry(scene):
            why = "there is no geometry to drive in"
        if why is None:
            found.scenes[scene.uri] = uri
        else:
            found.skipped[scene.uri] = why
    if not found.scenes:
        why = "; ".join(f"{name}: {said}" for name, said in list(found.skipped.items())[:3])
        raise SceneError(f"no errand is possible in any scene of {spec} ({why})")
    return found


def no_errand_reason(scene: Scene, *, tau: int) -> str | None:
    """Return the reason that no errand is possible in a scene; None if an errand is possible."""
    for kind in ("object", "asset"):
        if not any(item.kind == kind and item.region for item in scene.items):
            return f"there are no {kind}s"
    if not count_admissible_triples(scene, tau):
        return (
            f"there are no start, target and end regions at least {min_hops(tau)} links apart "
            "with an object in the target and an asset in the end"
        )
    return None


LIBRARY_TOKENS = 2_000
"""Maximum tokens of an answer of the efficiency library."""


@dataclass(kw_only=True)
class SynthPlan(RunPlan):
    """Plan of a synthesis run.

    Attributes:
        scenes: portable name of each scene -> URI to load it by.
        errands: sample id -> given errand that its relay starts from.
        wishes: sample id -> properties requested of its relay.
    """

    scenes: dict[str, str]
    errands: dict[str, dict[str, Any]] = field(default_factory=dict)
    wishes: dict[str, RelaySpecRecord] = field(default_factory=dict)


@dataclass(frozen=True)
class SynthJob(Job):
    """Job that makes one attempt."""

    plan: SynthPlan

    @property
    def graph(self) -> Any:
        """Module of the generator graph."""
        return navcraft_single if self.plan.request.kind == "single" else navcraft_collab

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph input of a sample: the seed and, for relays, wish and errand."""
        if self.plan.request.kind == "single":
            return {"seed": sample.seed}
        return {
            "seed": sample.seed,
            "phase_1": self.plan.errands.get(sample.id),
            "wish": self.plan.wishes[sample.id],
        }

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the generator's context. ``model`` replaces the request's model."""
        scene, said = get_scene(self.plan.scenes[sample.scene]), sample.columns["profile"]
        return self.settings(model, scene=scene, profile=said and Profile.read(said, "run"))


def plan(request: SynthRequest, run: Path | None, note: Note) -> SynthPlan:
    """Return the plan of all attempts of a request over the usable scenes.

    Raises:
        SceneError: there are no scenes, or no errand is possible in any of them.
        UsageError: the source run has homes that are not in the spec.
    """
    known = None if run is None else read_survey(run)
    found = known or survey_scenes(
        request.spec, tau=request.tau, homes=request.homes, driven=request.verify_sim, note=note
    )
    made = _over(request, found.scenes)
    if request.kind == "collab":
        made.wishes = {
            sample.id: sample_spec(request.seed, k).record()
            for k, sample in enumerate(made.samples)
        }
    if made.errands:
        # A source run that has grown makes another request.
        given = json.dumps(made.errands, sort_keys=True).encode()
        digest = {"count": len(made.errands), "sha256": sha256(given).hexdigest()}
        made.record = {"errands": digest}
    made.notes = found.lines()
    made.files = {} if known else {SURVEY: found.data()}
    return made


def _over(request: SynthRequest, scenes: dict[str, str]) -> SynthPlan:
    if request.source is not None:
        return _from_run(request, scenes)
    names, samples = sorted(scenes), []
    for k in range(request.n):
        scene, attempt = names[k % len(names)], k // len(names)
        profile = load_profile(profile_for(k, request.profile, len(names)))
        name = attempt_id(scene, attempt)
        column = None if profile is None else profile.model_dump(by_alias=True)
        samples.append(Sample.of(request.seed, name, scene, attempt, profile=column))
    return SynthPlan(request=request, samples=samples, scenes=scenes)


def profile_for(k: int, profiles: Sequence[str], homes: int) -> str:
    """Return the profile of the k-th attempt, so that in the end each is used in every home."""
    # Without the shift, a common divisor of both numbers would repeat the same pairs.
    return profiles[(k + k // math.lcm(homes, len(profiles))) % len(profiles)]


def _from_run(request: SynthRequest, scenes: dict[str, str]) -> SynthPlan:
    source = Path(str(request.source))
    rows = [row for row in read_samples(source) if row["status"] == "ok"]
    rows = sorted(rows, key=lambda row: (row["attempt"], row["scene"]))[: request.n]
    missing = sorted({row["scene"] for row in rows} - set(scenes))
    if missing:
        raise UsageError(f"{source} has tasks of {missing[0]}, which {request.spec} does not hold")
    samples = [
        Sample.of(request.seed, row["id"], row["scene"], row["attempt"], profile=row["profile"])
        for row in rows
    ]
    errands = {row["id"]: row["result"]["phase_1"] for row in rows}
    return SynthPlan(request=request, samples=samples, scenes=scenes, errands=errands)


def calls(made: SynthPlan) -> CallBounds:
    """Estimate the model calls of a sample; each turn sends all earlier turns again."""
    request, turns = made.request, made.request.max_turns
    lifts, collab = request.source is not None, request.kind == "collab"
    talks = 2 if collab and not lifts else 1
    told = LIBRARY_TOKENS if request.tools == "library" else RESULT_TOKENS
    grown = turns * (turns - 1) // 2 * (max_reply_tokens(request.model) + told) * talks
    return CallBounds(
        most=turns,
        beside=turns * (talks - 1),
        # An errand that no relay can shorten needs no model call.
        least=0 if collab and lifts else 1,
        in_all=grown,
        begin=_both_talks if talks == 2 else None,
    )


async def _both_talks(job: SynthJob, sample: Sample, context: Any) -> list[tuple[Any, Any]]:
    """Return the first prompts of both conversations of a relay, with a heuristic errand."""
    single: Any = navcraft_single.graph
    given = {"seed": sample.seed}
    made = await single.ainvoke(given, context=replace(context, model="builtin/heuristic"))
    if made["status"] != "ok":
        return [(single, given)]
    filled = {**job.input(sample), "phase_1": made["result"]["phase_1"]}
    return [(single, given), (job.build(None), filled)]


def finish(plan: SynthPlan, run: Path) -> dict[str, Any]:
    """Return the summary of driven relays for ``summary.json``."""
    from navloom.evals.navcraft.driven_relays import summarise_driving

    found = summarise_driving(read_samples(run)) if plan.request.verify_sim else None
    return {} if found is None else {"driven": found.record()}
