"""Batch synthesis of CapNav questions: ``n`` accepted questions over the scenes of a spec.

The graph is :mod:`navloom.graphs.capnav.designer`; a sample is one conversation about one scene. A
run is a folder like any other and survives a kill at any moment. What the conversations of one
round leave missing is asked for in the next, at most ``max_rounds`` times; what is missing then is
said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from navloom.evals.capnav.collect import BALANCE, Collected, collect, read_balance, write_questions
from navloom.evals.capnav.design_plan import (
    DesignPlan,
    first_round,
    fit_scenes,
    next_round,
    places_at,
)
from navloom.evals.capnav.request import CapnavSynthRequest
from navloom.evals.kinds import RESULT_TOKENS, Calls, Note, Shown, reply_tokens
from navloom.evals.progress import Summary
from navloom.evals.report.document import percent
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Job, Sample
from navloom.evals.video import check_video, sample_frames
from navloom.files import write_whole
from navloom.graphs.capnav import designer as capnav_tasks
from navloom.models.binding import cannot
from navloom.models.registry import model_of
from navloom.scenes.uri import scene_of

_VIDEOS_KEPT = 4


@dataclass(frozen=True)
class DesignJob(Job):
    """How one conversation is held."""

    plan: DesignPlan

    build = staticmethod(capnav_tasks.build_graph)

    def input(self, sample: Sample) -> dict[str, Any]:
        """The seed, the routes to prefer, and what exists already."""
        return {
            "seed": sample.seed,
            "routes": self.plan.routes.get(sample.id, []),
            "taken": self.plan.taken.get(sample.id, []),
        }

    def context(self, sample: Sample, model: Any = None) -> capnav_tasks.Context:
        """The graph's context; ``model`` stands in for the request's."""
        request, video = self.plan.request, self.plan.fit.videos.get(sample.scene)
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
            max_reasks=request.max_reasks,
        )

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """How the conversation ended and what it made."""
        return {**super().record(sample, state), "routes": self.plan.routes.get(sample.id, [])}


@lru_cache(maxsize=_VIDEOS_KEPT)
def _frames(path: str, n: int) -> tuple[bytes, ...]:
    # Samples run scene after scene: a few videos are enough to read each only once.
    return tuple(sample_frames(path, n))


def plan(request: CapnavSynthRequest, run: Path | None, note: Note) -> DesignPlan:
    """The first round: a session's ``limit`` and ``sample_id`` are of its conversations.

    Raises:
        SceneError: there are no scenes, or none has a route.
        UsageError: the folder of videos is of no use.
    """
    if run is None:
        return first_round(request, fit_scenes(request.spec, request.video))
    if request.video is not None:
        if cannot(model_of(request.model), "images"):
            note(f"{request.model} takes no images: --video is left out")
            request = replace(request, video=None)
        else:
            check_video()
    return first_round(request, fit_scenes(request.spec, request.video, note))


def _collected(made: DesignPlan, run: Path) -> Collected:
    """What the finished samples of the plan hold."""
    planned = {sample.id for sample in made.samples}
    rows = [row for row in read_samples(run) if row["id"] in planned]
    scenes = made.fit.scenes
    return collect(rows, made.quotas, made.request.questions, lambda name: places_at(scenes[name]))


def more(made: DesignPlan, run: Path) -> bool:
    """Whether another round has conversations, which the plan is given."""
    return made.rounds < made.request.max_rounds and next_round(made, _collected(made, run))


def finish(made: DesignPlan, run: Path) -> dict[str, Any]:
    """Write the questions, what is true of them, and what they add up to."""
    collected = _collected(made, run)
    ids = {name: scene_of(uri).id for name, uri in made.fit.scenes.items()}
    where = write_questions(run, collected, ids, qa=made.request.qa and Path(made.request.qa))
    record = collected.record(made.quotas, made.request.questions)
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    write_whole(run / BALANCE, text.encode())
    return {"questions": record, "rounds": made.rounds, "qa": str(where)}


def calls(made: DesignPlan) -> Calls:
    """At most every conversation takes all its turns, in every round as many as in the first."""
    request, turns = made.request, made.request.max_turns
    # A compact conversation is told of its last turn alone.
    before = turns if request.compact else turns * (turns - 1) // 2
    grown = before * (reply_tokens(request.model) + RESULT_TOKENS)
    return Calls(most=turns, in_all=grown, rounds=request.max_rounds)


def ended(_: Path, summary: Summary) -> Shown:
    """The questions' tables, and what is missing."""
    said, rounds = summary.found["questions"], summary.found["rounds"]
    tables, notes = _tables(said)
    kept, asked, details = said["accepted"], said["asked"], said["details"]
    lines = [
        f"{summary.found['qa']}: {kept} of {asked} questions, rounds of asking: {rounds}",
        f"  details: {details['verified']} verified, {details['unverifiable']} unverifiable;"
        f" {details['told_apart']} can mean one thing alone",
        f"  {said['duplicates_dropped']} repeated questions dropped, {said['spare']} to spare",
    ]
    if broken := said["rules_broken"]:
        listed = ", ".join(f"{code} {count}" for code, count in broken.items())
        lines.append(f"  sent back for: {listed}")
    if said["short"]:
        short = said["short_by_scene"]
        named = ", ".join(f"{name} {count}" for name, count in list(short.items())[:5])
        more = f" and {len(short) - 5} more scenes" if len(short) > 5 else ""
        lines.append(f"  {said['short']} are missing: {named}{more}")
    return Shown(tables, notes, lines)


def _tables(said: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """What questions add up to, as tables and a line below them."""
    from rich.table import Table

    balance = said["balance"]
    bodies = Table("body", "feasible", "infeasible", "unknown", "feasible of the known")
    for body, counted in balance["bodies"].items():
        yes, no = counted["feasible"], counted["infeasible"]
        share = percent(yes / (yes + no) if yes + no else None)
        bodies.add_row(body, str(yes), str(no), str(counted["unknown"]), share)
    lengths = Table("passages of the shortest route", *balance["lengths"])
    lengths.add_row("questions", *map(str, balance["lengths"].values()))
    tables = [bodies, lengths]
    if balance["kinds"]:
        kinds = Table("kind of barrier", "questions and bodies")
        for kind, count in balance["kinds"].items():
            kinds.add_row(kind, str(count))
        tables.append(kinds)
    if balance["imbalance"] is None:
        return tables, []
    return tables, [
        f"imbalance {balance['imbalance']:.2f} (0: each body can do half of what is known)"
    ]


def report(runs: list[Path], _: Path | None) -> Shown:
    """What the questions of runs add up to, a set of tables a run."""
    said = {str(run): read_balance(run) for run in runs}
    tables: list[Any] = []
    notes: list[str] = []
    for run, record in said.items():
        own, below = _tables(record)
        tables += [f"{run}: {record['accepted']} of {record['asked']} questions\n", *own]
        notes += below
    return Shown(tables, notes, record={"runs": said})
