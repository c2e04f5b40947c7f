"""Batch captioning of scenes: one sample for each viewpoint, one caption file for each scene.

The graph is :mod:`navloom.graphs.captions.captioner` (VLN-MME B.1, B.2). A run is an ordinary run
folder, so it survives a kill at any moment. It also holds

    captions/SCENE.json    read by :class:`navloom.sim.captions.CaptionCache`

which every session rewrites at its end from all finished samples, even if some remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.run_kinds import CallBounds, Note, RunPlan
from navloom.evals.session import Job, Sample, attempt_id
from navloom.files import make_folder
from navloom.graphs.captions import captioner as captions
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene, list_scenes


@dataclass(kw_only=True)
class CaptionPlan(RunPlan):
    """The plan of a captioning run: one sample for each viewpoint.

    Attributes:
        scenes: the URI of each scene, by its portable name.
    """

    scenes: dict[str, str]


@dataclass(frozen=True)
class CaptionJob(Job):
    """The job that captions one viewpoint."""

    plan: CaptionPlan

    graph = captions

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input: seed and viewpoint."""
        return {"seed": sample.seed, "viewpoints": [sample.columns["viewpoint"]]}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the graph's context; ``model`` replaces the request's."""
        scene = get_scene(self.plan.scenes[sample.scene])
        return self.settings(model, scene=scene, jobs=self.plan.request.job)


def plan(request: CaptionRequest, run: Path | None, note: Note) -> CaptionPlan:
    """Return a plan with one sample for every viewpoint of every scene.

    Raises:
        SceneError: a scene is missing or broken.
        UsageError: two scenes have the same name, or no scene has viewpoints.
    """
    del run, note
    samples: list[Sample] = []
    scenes: dict[str, str] = {}
    for uri in list_scenes(request.spec):
        scene = get_scene(uri)
        if scene.uri in scenes:
            raise UsageError(f"{uri} and {scenes[scene.uri]} are both called {scene.uri}")
        scenes[scene.uri] = uri
        for number, place in enumerate(scene.viewpoints):
            name = attempt_id(scene.uri, number)
            samples.append(Sample.of(request.seed, name, scene.uri, number, viewpoint=place.id))
    if not samples:
        raise UsageError(f"no scene of {request.spec} has a viewpoint, so there is nothing to say")
    return CaptionPlan(request=request, samples=samples, scenes=scenes)


def captions_path(run: Path | str, scene: Scene | str) -> Path:
    """Return the path of a scene's captions in a run; scene or its portable name."""
    name = scene if isinstance(scene, str) else scene.uri
    return Path(run) / "captions" / f"{name.replace(':', '-', 1)}.json"


def find_caption_cache(captions: Path | str | None, scene: Scene | str) -> Path | None:
    """Return the caption cache of a scene that the option ``--captions`` selects.

    Args:
        captions: a cache file of this scene, whatever its name, or a run's folder.
        scene: the scene, or its portable name.

    Returns:
        The file; None without ``captions``, or if the run has no captions of this scene.
    """
    if captions is None or not Path(captions).is_dir():
        return None if captions is None else Path(captions)
    named = captions_path(captions, scene)
    return named if named.exists() else None


def finish(made: CaptionPlan, run: Path) -> dict[str, Any]:
    """Write the captions of each scene."""
    # Sorted ids may mix scenes, as one scene's name may be a prefix of another's.
    said: dict[str, dict[str, Any]] = {}
    for row in sorted(read_samples(run), key=lambda row: (row["scene"], row["attempt"])):
        said.setdefault(row["scene"], {}).update((row.get("result") or {}).get("viewpoints") or {})
    for name, words in said.items():
        scene = get_scene(made.scenes[name])
        make_folder(captions_path(run, scene).parent)
        captions.write_captions(captions_path(run, scene), scene, words, made.request.model)
    return {}


def calls(made: CaptionPlan) -> CallBounds:
    """Return the bounds of calls: each job once for each viewpoint, plus retries."""
    asked = made.request
    return CallBounds.of_questions(asked.model, asked.max_reasks, questions=len(asked.job))
