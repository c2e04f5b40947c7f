"""Captions of whole scenes as a batch: one sample a viewpoint, one file of captions a scene.

The graph is :mod:`navloom.graphs.captions.captioner` (VLN-MME B.1, B.2). A run is a folder like any
other, so it survives a kill at any moment; beside its lines it holds

    captions/SCENE.json    what :class:`navloom.sim.captions.CaptionCache` reads

written anew at the end of every session from all finished samples, also where some are left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from navloom.errors import UsageError
from navloom.evals.dry import DryRun, dry_asks
from navloom.evals.engine import run_batch
from navloom.evals.run_folder import RunFolder, read_samples
from navloom.evals.sample import Sample, make_id, sample_seed
from navloom.evals.session import Session
from navloom.evals.summary import Summary
from navloom.files import make_folder
from navloom.graphs.captions import captioner as captions
from navloom.models.registry import model_of
from navloom.prompts.load import load_prompt
from navloom.scenes.scene import Scene
from navloom.scenes.uri import list_scenes, scene_of

__all__ = [
    "KIND",
    "CaptionJob",
    "CaptionRequest",
    "acaption",
    "caption",
    "caption_file",
    "captions_file",
    "dry_run",
]

KIND = "captions"


@dataclass(frozen=True, kw_only=True)
class CaptionRequest:
    """Everything the outcome of a captioning depends on."""

    spec: str
    """Which scenes, as :func:`navloom.scenes.uri.list_scenes` takes them."""
    model: str = "builtin/heuristic"
    jobs: tuple[Literal["markers", "summary"], ...] = captions.JOBS
    max_reasks: int = 2
    constrain: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        wrong = [job for job in self.jobs if job not in captions.JOBS]
        if wrong or not self.jobs or len(set(self.jobs)) < len(self.jobs):
            raise UsageError(
                f"jobs are {', '.join(self.jobs) or 'none'}: expected markers, summary or both"
            )
        if not 0 <= self.max_reasks <= 100:
            raise UsageError(f"max_reasks is {self.max_reasks}: expected 0 to 100")

    def record(self) -> dict[str, Any]:
        """The request as ``run.json`` keeps it, with the prompts it will use."""
        prompts = [load_prompt(captions.PROMPTS[job]).record for job in self.jobs]
        return {**asdict(self), "jobs": list(self.jobs), "prompts": prompts}


@dataclass(frozen=True)
class CaptionJob:
    """How a batch captions one viewpoint."""

    request: CaptionRequest
    scenes: Mapping[str, str]
    """The URI each scene is loaded by, by its portable name."""

    @property
    def model(self) -> str:
        """The model whose calls are counted."""
        return self.request.model

    def build(self, checkpointer: Any) -> Any:
        """The graph."""
        return captions.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        """One viewpoint."""
        return {"seed": sample.seed, "viewpoints": [sample.columns["viewpoint"]]}

    def context(self, sample: Sample, model: Any = None) -> captions.Context:
        """The graph's context; ``model`` stands in for the request's."""
        scene = scene_of(self.scenes[sample.scene])
        return captions.Context(
            scene=scene,
            model=model or model_of(self.request.model),
            jobs=self.request.jobs,
            max_reasks=self.request.max_reasks,
            constrain=self.request.constrain,
        )

    def record(self, _: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """How it ended and what was written."""
        return {key: state.get(key) for key in ("status", "reason", "message", "result")}


def plan(request: CaptionRequest) -> tuple[list[Sample], dict[str, str]]:
    """Every viewpoint of every scene, and the URI each scene is loaded by.

    Raises:
        SceneError: there is no such scene, or one is broken.
        UsageError: two scenes have one name.
    """
    samples: list[Sample] = []
    scenes: dict[str, str] = {}
    for uri in list_scenes(request.spec):
        scene = scene_of(uri)
        if scene.uri in scenes:
            raise UsageError(f"{uri} and {scenes[scene.uri]} are both called {scene.uri}")
        scenes[scene.uri] = uri
        for number, place in enumerate(scene.viewpoints):
            name = make_id(scene.uri, number)
            seed = sample_seed(request.seed, name)
            samples.append(Sample(name, seed, scene.uri, number, {"viewpoint": place.id}))
    if not samples:
        raise UsageError(f"no scene of {request.spec} has a viewpoint, so there is nothing to say")
    return samples, scenes


def dry_run(request: CaptionRequest, session: Session | None = None) -> DryRun:
    """Say what captioning would do; neither a model nor a folder is touched.

    Args:
        request: of what. Its model needs no key for this.
        session: whose ``limit`` and ``sample_ids`` say of which samples.

    Raises:
        SceneError: there are no scenes, or one is broken.
        ModelError: the model cannot be named.
        UsageError: a sample is not in the run.
    """
    samples, scenes = plan(request)
    job, reasks = CaptionJob(request, scenes), request.max_reasks
    return dry_asks(job, samples, session, reasks=reasks, questions=len(request.jobs))


async def acaption(
    request: CaptionRequest,
    out: Path | str,
    session: Session | None = None,
) -> Summary:
    """Write captions, or go on with a run that was stopped.

    Args:
        request: of what.
        out: the run's folder.
        session: how to go through it; one of its own unless given.

    Raises:
        RunError: the folder cannot be used.
        SceneError: there are no scenes, or one is broken.
        UsageError: a sample is not in the run.
        ModelError: the model cannot be named or used.
    """
    session = session or Session()
    session.check_models(request.model)
    samples, scenes = plan(request)
    session.picked(samples)
    with RunFolder(out, kind=KIND, request=request.record(), seed=request.seed) as folder:
        job = CaptionJob(request, scenes)
        summary = await run_batch(folder, samples, job, session)
        _write_files(folder.path, request, scenes)
    return summary


def caption(request: CaptionRequest, out: Path | str, session: Session | None = None) -> Summary:
    """:func:`acaption` for callers without an event loop: the same arguments and errors."""
    return asyncio.run(acaption(request, out, session))


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


def _write_files(run: Path, request: CaptionRequest, scenes: Mapping[str, str]) -> None:
    for name, rows in _by_scene(run):
        said = {place: words for row in rows for place, words in _viewpoints(row).items()}
        scene = scene_of(scenes[name])
        make_folder(captions_file(run, scene).parent)
        captions.write_captions(captions_file(run, scene), scene, said, request.model)


def _by_scene(run: Path) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    # Ids of one scene need not stand together: one scene's name may begin another's.
    rows = sorted(read_samples(run), key=lambda row: (row["scene"], row["attempt"]))
    return groupby(rows, key=lambda row: str(row["scene"]))


def _viewpoints(row: Mapping[str, Any]) -> dict[str, Any]:
    result = row.get("result") or {}
    words: dict[str, Any] = result.get("viewpoints") or {}
    return words
