"""Evaluation of a model on the CapNav benchmark, one sample for each question and body.

Every pair of question and body is asked through :mod:`navloom.graphs.capnav.answerer` and scored
twice, by our rules and by the public scorer's. The run also writes ``answers.jsonl``, one answer a
line, which ``navloom judge reasoning`` reads.

A line's ``status`` is ``ok`` if the answer is the truth (or the truth is unknown and the reply was
parsed), else ``failed`` with reason ``wrong`` or ``unparsed``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.capnav.answer_scoring import AnswerScorer
from navloom.evals.capnav.benchmark_data import CapnavBenchmark, Pair, load_benchmark
from navloom.evals.capnav.official_scorer import OfficialScorer, reply_to_outputs
from navloom.evals.capnav.request import CapnavRequest
from navloom.evals.capnav.scores import read_capnav
from navloom.evals.judging.answer_file import ANSWERS
from navloom.evals.run_folder import iter_samples
from navloom.evals.run_kinds import CallBounds, Note, RunPlan, max_reply_tokens
from navloom.evals.session import Job, Sample, check_sample_id
from navloom.evals.video import check_pyav, sample_frames, video_digest
from navloom.files import write_run_file
from navloom.graphs.capnav import answerer as capnav_answer
from navloom.models.model_registry import resolve_model
from navloom.tools.capnav.answer_parser import CapnavAnswer

_SCENES_OF_FRAMES = 2
"""Scenes whose frames are cached: samples run scene by scene."""
FRAME_TOKENS = 400
"""Upper bound of the tokens of a 512 x 288 image, as providers count."""
_JUDGE_TOKENS = 3_000


def content_digest(benchmark: CapnavBenchmark, videos: Mapping[str, Path]) -> dict[str, Any]:
    """Return hashes of the questions, passages and bodies, and of the videos."""
    whole = sha256()
    for question in benchmark.questions:
        # With the class's name of earlier versions, so that their runs resume.
        said = f"Question{repr(question).removeprefix(type(question).__name__)}"
        whole.update(said.encode(errors="surrogatepass"))
    for name, table in benchmark.traversability.items():
        cells = [
            repr((body, pair, cell.traversable, cell.note))
            for body, of in table.cells.items()
            for pair, cell in of.items()
        ]
        kept = (name, table.nodes, table.names, table.edges, sorted(cells))
        whole.update(repr(kept).encode(errors="surrogatepass"))
    for body in benchmark.bodies:
        whole.update(body.model_dump_json().encode())
    count = {"count": len(benchmark.questions), "sha256": whole.hexdigest()}
    if not videos:
        return {"questions": count}
    seen = sha256()
    for name, path in sorted(videos.items()):
        seen.update(name.encode() + b"\0" + bytes.fromhex(video_digest(path)))
    files = {"count": len(videos), "sha256": seen.hexdigest()}
    return {"questions": count, "video_files": files}


def find_videos(benchmark: CapnavBenchmark, folder: str | None) -> dict[str, Path]:
    """Return the existing videos by scene.

    Raises:
        UsageError: the folder is missing.
    """
    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise UsageError(f"--videos {folder}: expected a folder with ID.mp4 for each scene")
    named = {name: Path(folder) / f"{name}.mp4" for name in benchmark.scenes}
    return {name: path for name, path in named.items() if path.is_file()}


@dataclass(kw_only=True)
class CapnavPlan(RunPlan):
    """The plan of an evaluation: one sample for each pair, in the benchmark's order.

    Attributes:
        benchmark: the benchmark.
        pairs: question and body by sample id.
        videos: videos by scene.
        looks: whether frames of the videos are sent; not in a dry run.
    """

    benchmark: CapnavBenchmark
    pairs: dict[str, Pair]
    videos: dict[str, Path]
    looks: bool = True


@dataclass(frozen=True)
class CapnavJob(Job):
    """The job that asks one question about one body."""

    plan: CapnavPlan
    _frames: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    _official: dict[str, OfficialScorer] = field(default_factory=dict)

    @cached_property
    def scorer(self) -> AnswerScorer:
        """The scorer by our rules."""
        return AnswerScorer(self.plan.benchmark)

    graph = capnav_answer

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input: seed and question."""
        return {"seed": sample.seed, "question": self.plan.pairs[sample.id][0].text}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the graph's context; ``model`` replaces the request's.

        Raises:
            DataError: the scene's video is broken.
        """
        (question, body), judge = self.plan.pairs[sample.id], self.plan.request.judge_model
        return self.settings(
            model,
            scene=self.plan.benchmark.scenes[question.scene],
            body=body,
            frames=self._shown(question.scene) if self.plan.looks else (),
            traversability=self.plan.benchmark.traversability[question.scene],
            judge_model=None if judge is None else model or resolve_model(judge),
        )

    def _shown(self, scene: str) -> tuple[bytes, ...]:
        if scene not in self.plan.videos:
            return ()
        if scene not in self._frames:
            while len(self._frames) >= _SCENES_OF_FRAMES:
                self._frames.pop(next(iter(self._frames)))
            found = sample_frames(self.plan.videos[scene], self.plan.request.frames)
            self._frames[scene] = tuple(found)
        return self._frames[scene]

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return status, answer and scores of a pair."""
        question, body = self.plan.pairs[sample.id]
        result = state["result"]
        said = result["answer"]
        answer = said and CapnavAnswer(said["answer"], tuple(said["path"]), said["reason"])
        score = self.scorer.score(
            question, body, answer, result["verdict"], partial=self.plan.request.partial
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
        """Return a score for each answer that the public scorer finds in the reply."""
        question, body = self.plan.pairs[sample.id]
        scene = self._public(question.scene)
        outputs = reply_to_outputs(str(result["raw"]))
        if isinstance(outputs, str):
            return [{"error": outputs}]
        records = []
        for asked, agent, out in outputs:
            whole = asked is None and agent is None
            score = scene.score(
                question.text if whole else _text(asked), body.name if whole else _text(agent), out
            )
            verdict = result["verdict"] or {}
            if score.reason_valid is None and score.answer == "no":
                correct = verdict.get("correct")
                valid = None if correct is None else float(correct)
                records.append({**score.record(), "reason_valid": valid})
            else:
                records.append(score.record())
        return records

    def _public(self, scene: str) -> OfficialScorer:
        if scene not in self._official:
            benchmark = self.plan.benchmark
            self._official[scene] = OfficialScorer(
                benchmark.nodes(scene), benchmark.traversability[scene]
            )
        return self._official[scene]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def plan(request: CapnavRequest, run: Path | None, note: Note) -> CapnavPlan:
    """Return a plan with one sample for every pair of question and body.

    Raises:
        DataError: a file of the benchmark is missing or broken.
        SceneError: a scene is missing or broken.
        UsageError: a scene or the folder of videos is unknown, or PyAV is not installed.
    """
    del note
    benchmark = load_benchmark(request.data, scenes=request.scene, bodies=request.bodies)
    videos = find_videos(benchmark, request.videos)
    if videos:
        check_pyav()
    samples: list[Sample] = []
    pairs: dict[str, Pair] = {}
    for number, (question, body) in enumerate(
        benchmark.pairs(keep_hallucinated=request.keep_hallucinated)
    ):
        name = check_sample_id(f"{question.id}_{body.name.replace(' ', '-')}")
        pairs[name] = question, body
        samples.append(Sample.of(request.seed, name, f"capnav:{question.scene}", number))
    notes = benchmark.notes(keep_hallucinated=request.keep_hallucinated)
    shown = _about_videos(request, benchmark, videos)
    return CapnavPlan(
        request=request,
        samples=samples,
        record=content_digest(benchmark, videos),
        notes=(*notes, *shown),
        benchmark=benchmark,
        pairs=pairs,
        videos=videos,
        looks=run is not None,
    )


def _about_videos(
    request: CapnavRequest, benchmark: CapnavBenchmark, videos: Mapping[str, Path]
) -> tuple[str, ...]:
    if request.videos is None:
        return ("no videos: models get text alone (--videos DIR with ID.mp4 for each scene)",)
    missing = [name for name in benchmark.scenes if name not in videos]
    if not missing:
        return ()
    named = ", ".join(f"{name}.mp4" for name in missing[:40])
    return (f"text alone for {len(missing)} scenes: {request.videos} holds no {named}",)


def finish(made: CapnavPlan, run: Path) -> dict[str, Any]:
    """Write ``answers.jsonl``, sorted by id, and return the scores."""
    rows = []
    for line in iter_samples(run):
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
    write_run_file(run / ANSWERS, text.encode())
    return {"scores": read_capnav(run).record()}


def calls(made: CapnavPlan) -> CallBounds:
    """Return the bounds of calls: all retries, and the judge."""
    request = made.request
    graded = 2 if request.judge_model else 0
    frames = request.frames * FRAME_TOKENS if made.videos else 0
    return CallBounds(
        most=1 + request.max_reasks,
        each=frames + request.max_reasks * max_reply_tokens(request.model),
        beside=graded,
        in_all=graded * _JUDGE_TOKENS,
    )
