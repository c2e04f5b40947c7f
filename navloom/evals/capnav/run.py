"""A model on the CapNav benchmark: one sample a question and body, as a run that can be killed.

``evaluate_capnav`` asks every pair of the benchmark through :mod:`navloom.graphs.capnav.answering`
and scores it twice, by our rules and by the public scorer's. Beside the run's own files it writes
``answers.jsonl``, an answer a line, which ``navloom judge reasoning`` reads.

A line's ``status`` is ``ok`` where the answer is the truth (or the truth is not known and the reply
could be read), else ``failed`` with ``wrong`` or ``unparsed``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from navloom.evals.capnav.data import Benchmark, Pair, load_benchmark
from navloom.evals.capnav.official import OfficialScene
from navloom.evals.capnav.official_text import outputs_of
from navloom.evals.capnav.request import KIND, CapnavRequest, content_of, videos_of
from navloom.evals.capnav.rules import Scorer
from navloom.evals.capnav.scores import read_capnav
from navloom.evals.engine import run_batch
from navloom.evals.jsonl import read_lines
from navloom.evals.run_folder import RunFolder
from navloom.evals.sample import Sample, check_id, sample_seed
from navloom.evals.session import Session
from navloom.evals.summary import Summary
from navloom.evals.video import check_video, sample_frames
from navloom.files import write_whole
from navloom.graphs.capnav import answering as capnav_answer
from navloom.models.registry import model_of
from navloom.tools.capnav.answers import Answer

__all__ = [
    "ANSWERS",
    "CapnavJob",
    "CapnavPlan",
    "CapnavSummary",
    "aevaluate_capnav",
    "evaluate_capnav",
    "plan",
]

ANSWERS = "answers.jsonl"
_SCENES_OF_FRAMES = 2
"""Scenes run one after another, so few are shown at once."""


@dataclass(frozen=True)
class CapnavSummary(Summary):
    """A run's totals with what its answers score; ``summary.json`` has the same keys."""

    scores: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CapnavPlan:
    """What an evaluation will do.

    Attributes:
        benchmark: the data.
        samples: one a pair, in the benchmark's order.
        pairs: by sample id.
        videos: by scene.
        notes: what a reader must know of what is left out.
    """

    benchmark: Benchmark
    samples: list[Sample]
    pairs: dict[str, Pair]
    videos: dict[str, Path]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CapnavJob:
    """How :func:`run_batch` asks one question of one body."""

    request: CapnavRequest
    plan: CapnavPlan
    _frames: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    _official: dict[str, OfficialScene] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The model whose calls are counted where a reply does not say."""
        return self.request.model

    @cached_property
    def scorer(self) -> Scorer:
        """By our rules."""
        return Scorer(self.plan.benchmark)

    def build(self, checkpointer: Any) -> Any:
        """The answering graph."""
        return capnav_answer.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        """The question."""
        return {"seed": sample.seed, "question": self.plan.pairs[sample.id][0].text}

    def context(self, sample: Sample, model: Any = None) -> capnav_answer.Context:
        """The graph's context; ``model`` stands in for the request's.

        Raises:
            DataError: the scene's video is broken.
        """
        request, (question, body) = self.request, self.plan.pairs[sample.id]
        judge = request.judge_model
        return capnav_answer.Context(
            scene=self.plan.benchmark.scenes[question.scene],
            model=model or model_of(request.model),
            body=body,
            frames=self._shown(question.scene),
            thinking=request.thinking,
            constrain=request.constrain,
            max_reasks=request.max_reasks,
            traversability=self.plan.benchmark.traversability[question.scene],
            judge_model=None if judge is None else model or model_of(judge),
        )

    def _shown(self, scene: str) -> tuple[bytes, ...]:
        if scene not in self.plan.videos:
            return ()
        if scene not in self._frames:
            while len(self._frames) >= _SCENES_OF_FRAMES:
                self._frames.pop(next(iter(self._frames)))
            found = sample_frames(self.plan.videos[scene], self.request.frames)
            self._frames[scene] = tuple(found)
        return self._frames[scene]

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """How the pair was answered and what that is worth."""
        question, body = self.plan.pairs[sample.id]
        result = state["result"]
        said = result["answer"]
        answer = None if said is None else _answer(said)
        score = self.scorer.score(
            question, body, answer, result["verdict"], partial=self.request.partial
        )
        parsed = answer is not None
        right = score.right if score.right is not None else parsed
        reason = None if parsed and right else "wrong" if parsed else "unparsed"
        return {
            "status": "ok" if parsed and right else "failed",
            "reason": reason,
            "message": state.get("message"),
            "result": {
                **result,
                "score": score.record(),
                "official": self._by_public_rules(sample, result),
            },
        }

    def _by_public_rules(self, sample: Sample, result: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One record an answer that the public scorer finds in the reply."""
        question, body = self.plan.pairs[sample.id]
        scene = self._public(question.scene)
        outputs = outputs_of(str(result["raw"]))
        if isinstance(outputs, str):
            return [{"error": outputs}]
        records = []
        for asked, agent, output in outputs:
            whole = asked is None and agent is None
            score = scene.score(
                question.text if whole else _text(asked),
                body.name if whole else _text(agent),
                output,
            )
            verdict = result["verdict"] or {}
            if score.reason_valid is None and score.answer == "no":
                correct = verdict.get("correct")
                valid = None if correct is None else float(correct)
                records.append({**score.record(), "reason_valid": valid})
            else:
                records.append(score.record())
        return records

    def _public(self, scene: str) -> OfficialScene:
        if scene not in self._official:
            benchmark = self.plan.benchmark
            self._official[scene] = OfficialScene(
                benchmark.nodes(scene), benchmark.traversability[scene]
            )
        return self._official[scene]


def _answer(said: Mapping[str, Any]) -> Answer:
    return Answer(said["answer"], tuple(said["path"]), said["reason"])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def plan(request: CapnavRequest) -> CapnavPlan:
    """Every sample that a request means.

    Raises:
        DataError: a file of the benchmark is missing or broken.
        SceneError: likewise, of a scene.
        UsageError: there is no such scene, no such folder of videos, or no PyAV to read them.
    """
    benchmark = load_benchmark(request.data, scenes=request.scenes, bodies=request.bodies)
    videos = videos_of(benchmark, request.videos)
    if videos:
        check_video()
    samples: list[Sample] = []
    pairs: dict[str, Pair] = {}
    for number, (question, body) in enumerate(
        benchmark.pairs(keep_hallucinated=request.keep_hallucinated)
    ):
        name = check_id(f"{question.id}_{body.name.replace(' ', '-')}")
        pairs[name] = question, body
        seed = sample_seed(request.seed, name)
        samples.append(Sample(name, seed, f"capnav:{question.scene}", number))
    notes = benchmark.notes(keep_hallucinated=request.keep_hallucinated)
    shown = _about_videos(request, benchmark, videos)
    return CapnavPlan(benchmark, samples, pairs, videos, (*notes, *shown))


def _about_videos(
    request: CapnavRequest, benchmark: Benchmark, videos: Mapping[str, Path]
) -> tuple[str, ...]:
    if request.videos is None:
        return ("no videos: models get text alone (--videos DIR with ID.mp4 for each scene)",)
    missing = [name for name in benchmark.scenes if name not in videos]
    if not missing:
        return ()
    named = ", ".join(f"{name}.mp4" for name in missing[:40])
    return (f"text alone for {len(missing)} scenes: {request.videos} holds no {named}",)


async def aevaluate_capnav(
    request: CapnavRequest,
    out: Path | str,
    session: Session | None = None,
) -> CapnavSummary:
    """Make a run, or go on with one that was stopped.

    Args:
        request: what to evaluate.
        out: the run's folder.
        session: how to go through it; one of its own unless given.

    Raises:
        DataError: a file of the benchmark is missing or broken.
        RunError: the folder cannot be used.
        SceneError: a scene's file is missing or broken.
        UsageError: a sample is not in the run, or the request makes no sense.
        ModelError: a model cannot be named or used.
    """
    session = session or Session()
    session.check_models(request.model, request.judge_model)
    made = plan(request)
    session.picked(made.samples)
    asked = {**request.record(), **content_of(made.benchmark, made.videos)}
    where = request.where()
    with RunFolder(out, kind=KIND, request=asked, seed=request.seed, where=where) as folder:
        for line in made.notes:
            session.display.note(line)
        job = CapnavJob(request, made)
        summary = await run_batch(folder, made.samples, job, session)
        _write_answers(folder.path, made)
        held = {each.name: getattr(summary, each.name) for each in fields(Summary)}
        whole = CapnavSummary(**held, scores=read_capnav(folder.path).record())
        folder.write_summary(asdict(whole))
        return whole


def evaluate_capnav(
    request: CapnavRequest, out: Path | str, session: Session | None = None
) -> CapnavSummary:
    """:func:`aevaluate_capnav` for callers without an event loop: the same arguments and errors."""
    return asyncio.run(aevaluate_capnav(request, out, session))


def _write_answers(run: Path, made: CapnavPlan) -> None:
    """Write ``answers.jsonl``: what the judge and other scorers read, sorted by id."""
    rows = []
    for line in read_lines(run / "samples.jsonl"):
        question, body = made.pairs[line["id"]]
        result = line["result"]
        rows.append(
            {
                "id": line["id"],
                "scene": question.scene,
                "question_id": question.id,
                "question": question.text,
                "agent": body.name,
                "result": result["answer"],
                "raw": result["raw"],
                "record": result["record"],
            }
        )
    rows.sort(key=lambda row: str(row["id"]))
    text = "".join(json.dumps(row) + "\n" for row in rows)
    write_whole(run / ANSWERS, text.encode())
