"""Captions of whole scenes as a batch: one sample a viewpoint, one file of captions a scene.

The graph is :mod:`navloom.graphs.captions.captioner` (VLN-MME B.1, B.2). A run is a folder like any
other, so it survives a kill at any moment; beside its lines it holds

    captions/SCENE.json    what :class:`navloom.sim.captions.CaptionCache` reads

written anew at the end of every session from all finished samples, also where some are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.kinds import Calls, Note, Plan
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Job, Sample, make_id
from navloom.files import make_folder
from navloom.graphs.captions import captioner as captions
from navloom.scenes.scene import Scene
from navloom.scenes.uri import list_scenes, scene_of


@dataclass(kw_only=True)
class CaptionPlan(Plan):
    """What a captioning will do: one sample a viewpoint.

    Attributes:
        scenes: the URI each scene is loaded by, by its portable name.
    """

    scenes: dict[str, str]


@dataclass(frozen=True)
class CaptionJob(Job):
    """How one viewpoint is captioned."""

    plan: CaptionPlan

    graph = captions

    def input(self, sample: Sample) -> dict[str, Any]:
        """One viewpoint."""
        return {"seed": sample.seed, "viewpoints": [sample.columns["viewpoint"]]}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """The graph's context; ``model`` stands in for the request's."""
        scene = scene_of(self.plan.scenes[sample.scene])
        return self.settings(model, scene=scene, jobs=self.plan.request.job)


def plan(request: CaptionRequest, run: Path | None, note: Note) -> CaptionPlan:
    """Every viewpoint of every scene.

    Raises:
        SceneError: there is no such scene, or one is broken.
        UsageError: two scenes have one name.
    """
    del run, note
    samples: list[Sample] = []
    scenes: dict[str, str] = {}
    for uri in list_scenes(request.spec):
        scene = scene_of(uri)
        if scene.uri in scenes:
            raise UsageError(f"{uri} and {scenes[scene.uri]} are both called {scene.uri}")
        scenes[scene.uri] = uri
        for number, place in enumerate(scene.viewpoints):
            name = make_id(scene.uri, number)
            samples.append(Sample.of(request.seed, name, scene.uri, number, viewpoint=place.id))
    if not samples:
        raise UsageError(f"no scene of {request.spec} has a viewpoint, so there is nothing to say")
    return CaptionPlan(request=request, samples=samples, scenes=scenes)


def captions_file(run: Path | str, scene: Scene | str) -> Path:
    """Where a run keeps the captions of a scene, given as such or by its portable name."""
    name = scene if isinstance(scene, str) else scene.uri
    return Path(run) / "captions" / f"{name.replace(':', '-', 1)}.json"


def caption_file(captions: Path | str | None, scene: Scene | str) -> Path | None:
    """The caption cache of a scene, as an option ``--captions`` means it.

    Args:
        captions: a cache, which is the scene's whatever its name, or a run's folder.
        scene: whose captions they are, as such or by its portable name.

    Returns:
        None where nothing was given, or a run that holds no captions of this scene.
    """
    if captions is None or not Path(captions).is_dir():
        return None if captions is None else Path(captions)
    named = captions_file(captions, scene)
    return named if named.exists() else None


def finish(made: CaptionPlan, run: Path) -> dict[str, Any]:
    """Write the captions of each scene."""
    # Ids of one scene need not stand together: one scene's name may begin another's.
    said: dict[str, dict[str, Any]] = {}
    for row in sorted(read_samples(run), key=lambda row: (row["scene"], row["attempt"])):
        said.setdefault(row["scene"], {}).update((row.get("result") or {}).get("viewpoints") or {})
    for name, words in said.items():
        scene = scene_of(made.scenes[name])
        make_folder(captions_file(run, scene).parent)
        captions.write_captions(captions_file(run, scene), scene, words, made.request.model)
    return {}


def calls(made: CaptionPlan) -> Calls:
    """A viewpoint is asked each job once, and what is no answer again."""
    asked = made.request
    return Calls.of_asks(asked.model, asked.max_reasks, questions=len(asked.job))
