"""Batch synthesis of CapNav questions: ``n`` accepted questions over the scenes of a spec.

The graph is :mod:`navloom.graphs.capnav.designer`; a sample is one conversation about one scene. A
run is a folder like any other and survives a kill at any moment. What the conversations of one
round leave missing is asked for in the next, at most ``max_rounds`` times; what is missing then is
said.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from navloom.evals.capnav.collect import BALANCE, Collected, collect, write_questions
from navloom.evals.capnav.design_plan import Plan, first_round, fit_scenes, next_round, places_at
from navloom.evals.capnav.design_request import KIND, CapnavSynthRequest
from navloom.evals.engine import run_batch
from navloom.evals.run_folder import RunFolder, read_samples
from navloom.evals.sample import Sample
from navloom.evals.session import Session
from navloom.evals.summary import Summary
from navloom.evals.video import check_video, sample_frames
from navloom.files import write_whole
from navloom.graphs.capnav import designer as capnav_tasks
from navloom.models.abilities import cannot
from navloom.models.registry import model_of
from navloom.scenes.uri import scene_of

__all__ = [
    "CapnavSynthJob",
    "CapnavSynthRequest",
    "CapnavSynthSummary",
    "asynthesise",
    "synthesise",
]

_VIDEOS_KEPT = 4


@dataclass(frozen=True)
class CapnavSynthSummary(Summary):
    """A run's totals with its questions; ``summary.json`` has the same keys.

    Attributes:
        questions: as :meth:`navloom.evals.capnav.collect.Collected.record` has them.
        rounds: rounds of asking.
        qa: the folder of the benchmark's files.
    """

    questions: dict[str, Any] = field(default_factory=dict)
    rounds: int = 1
    qa: str = ""


@dataclass(frozen=True)
class CapnavSynthJob:
    """How a batch holds one conversation."""

    request: CapnavSynthRequest
    plan: Plan

    @property
    def model(self) -> str:
        """The model whose calls are counted."""
        return self.request.model

    def build(self, checkpointer: Any) -> Any:
        """The graph."""
        return capnav_tasks.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        """The seed, the routes to prefer, and what exists already."""
        return {
            "seed": sample.seed,
            "routes": self.plan.routes.get(sample.id, []),
            "taken": self.plan.taken.get(sample.id, []),
        }

    def context(self, sample: Sample, model: Any = None) -> capnav_tasks.Context:
        """The graph's context; ``model`` stands in for the request's."""
        request, video = self.request, self.plan.fit.videos.get(sample.scene)
        places = places_at(self.plan.fit.scenes[sample.scene])
        return capnav_tasks.Context(
            scene=places.scene,
            truth=places.truth,
            model=model or model_of(request.model),
            frames=() if video is None else _frames(str(video), request.frames),
            min_questions=sample.columns["asked"],
            constrain=request.constrain,
            compact=request.compact,
            precise_repairs=request.precise_repairs,
            max_turns=request.max_turns,
            max_repairs=request.max_repairs,
        )

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """How the conversation ended and what it made."""
        line = {key: state.get(key) for key in ("status", "reason", "message", "result")}
        return {**line, "routes": self.plan.routes.get(sample.id, [])}


@lru_cache(maxsize=_VIDEOS_KEPT)
def _frames(path: str, n: int) -> tuple[bytes, ...]:
    # Samples run scene after scene: a few videos are enough to read each only once.
    return tuple(sample_frames(path, n))


async def asynthesise(
    request: CapnavSynthRequest,
    out: Path | str,
    session: Session | None = None,
    *,
    qa: Path | None = None,
) -> CapnavSynthSummary:
    """Make a run, or go on with one that was stopped.

    Args:
        request: what to make.
        out: the run's folder.
        session: how to go through it; one of its own unless given. Its ``limit`` and
            ``sample_ids`` are of the conversations of the first round.
        qa: where the benchmark's files go; ``qa`` in the run's folder unless given.

    Raises:
        RunError: the folder cannot be used.
        SceneError: there are no scenes, or none has a route.
        UsageError: a sample is not in the run, or the folder of videos is of no use.
        ModelError: the model cannot be named or used.
    """
    session = session or Session()
    note = session.display.note
    # Whatever is wrong with the request is said before a folder is made or claimed for it.
    session.check_models(request.model)
    request = _with_pictures(request, note)
    fit = fit_scenes(request.spec, request.video, note)
    plan = first_round(request, fit)
    session.picked(plan.samples)
    asked = {**request.record(), **fit.record()}
    with RunFolder(
        out, kind=KIND, request=asked, seed=request.seed, where=request.where()
    ) as folder:
        for line in fit.lines(wanted=request.video is not None):
            note(line)
        run = _Run(folder, request, plan, session)
        summary = await run.rounds()
        return run.close(summary, qa)


def synthesise(
    request: CapnavSynthRequest,
    out: Path | str,
    session: Session | None = None,
    *,
    qa: Path | None = None,
) -> CapnavSynthSummary:
    """:func:`asynthesise` for callers without an event loop: the same arguments and errors."""
    return asyncio.run(asynthesise(request, out, session, qa=qa))


def _with_pictures(request: CapnavSynthRequest, note: Callable[[str], None]) -> CapnavSynthRequest:
    if request.video is None:
        return request
    if cannot(model_of(request.model), "images"):
        note(f"{request.model} takes no images: --video is left out")
        return replace(request, video=None)
    check_video()
    return request


class _Run:
    """One session over one folder."""

    def __init__(
        self, folder: RunFolder, request: CapnavSynthRequest, plan: Plan, session: Session
    ) -> None:
        self.folder, self.request, self.plan, self.session = folder, request, plan, session

    async def rounds(self) -> Summary:
        """Ask, round after round, until nothing is missing or nothing more may be asked."""
        seconds, session = 0.0, self.session
        while True:
            summary = await run_batch(
                self.folder,
                self.plan.samples,
                CapnavSynthJob(self.request, self.plan),
                session,
            )
            seconds += summary.session_seconds
            summary = replace(summary, session_seconds=round(seconds, 3))
            # The next plan needs all of this one: an error may become a question when retried.
            unfinished = summary.left or summary.error or session.picks
            if unfinished or self.plan.rounds >= self.request.max_rounds:
                return summary
            if not next_round(self.plan, self.request, self.collected()):
                return summary
            session = replace(session, retry=False)

    def collected(self) -> Collected:
        """What the finished samples of the plan hold."""
        planned = {sample.id for sample in self.plan.samples}
        rows = [row for row in read_samples(self.folder.path) if row["id"] in planned]
        scenes = self.plan.fit.scenes
        return collect(rows, self.plan.quotas, self.request.n, lambda name: places_at(scenes[name]))

    def close(self, summary: Summary, qa: Path | None) -> CapnavSynthSummary:
        """Write the questions, what is true of them, and what they add up to."""
        collected = self.collected()
        ids = {name: scene_of(uri).id for name, uri in self.plan.fit.scenes.items()}
        where = write_questions(self.folder.path, collected, ids, qa=qa)
        record = collected.record(self.plan.quotas, self.request.n)
        held = {each.name: getattr(summary, each.name) for each in fields(Summary)}
        whole = CapnavSynthSummary(**held, questions=record, rounds=self.plan.rounds, qa=str(where))
        text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
        write_whole(self.folder.path / BALANCE, text.encode())
        self.folder.write_summary(asdict(whole))
        return whole
