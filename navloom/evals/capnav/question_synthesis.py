"""Batch synthesis of CapNav questions: ``n`` accepted questions over the scenes of a spec.

The graph is :mod:`navloom.graphs.capnav.designer`; a sample is one conversation about one scene. A
run is an ordinary run folder and survives a kill at any moment.

The questions are divided evenly over the scenes; a conversation asks for a few of them. Questions
missing after a round are asked for in the next, which knows all earlier questions, for at most
``max_rounds`` rounds. The rest is reported as missing. The plan of a round depends only on the
request and the finished samples of earlier rounds, so a resumed run has the same plan.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from navloom.errors import SceneError, UsageError
from navloom.evals import run_kinds
from navloom.evals.capnav import question_set
from navloom.evals.capnav.request import CapnavSynthRequest
from navloom.evals.progress import Summary
from navloom.evals.report.blocks import Block, Grid, Prose
from navloom.evals.report.formatting import Table, percent
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Job, Sample, attempt_id
from navloom.evals.video import check_pyav, sample_frames, video_digest
from navloom.files import write_run_file
from navloom.graphs.capnav import designer as capnav_tasks
from navloom.models.model_registry import resolve_model
from navloom.models.structured_output import lacks_ability
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene_uri import get_scene, list_scenes
from navloom.tools.capnav.named_places import NamedPlaces, traversability_of

_VIDEO_ENDINGS = (".mp4", ".mkv", ".webm", ".mov", ".avi")


@dataclass(frozen=True)
class UsableScenes:
    """The scenes of a spec that questions can be asked about.

    Attributes:
        scenes: the URI of each scene, by its portable name.
        skipped: reasons why other scenes are left out, by name.
        videos: the video of each scene that has one.
    """

    scenes: dict[str, str]
    skipped: dict[str, str] = field(default_factory=dict)
    videos: dict[str, Path] = field(default_factory=dict)

    def lines(self, *, wanted: bool) -> list[str]:
        """Return messages about skipped scenes and, with ``wanted``, missing videos."""
        said = [f"left out {name}: {why}" for name, why in self.skipped.items()]
        lacking = [name for name in self.scenes if name not in self.videos] if wanted else []
        said += [f"no video of {name}: asked without pictures" for name in lacking]
        return said

    def record(self) -> dict[str, Any]:
        """Return the entry of the videos in ``run.json``: their number and hash."""
        if not self.videos:
            return {}
        whole = sha256()
        for name, path in sorted(self.videos.items()):
            whole.update(f"{name}\0{video_digest(path)}\n".encode())
        return {"videos": {"count": len(self.videos), "sha256": whole.hexdigest()}}


@dataclass(kw_only=True)
class DesignPlan(run_kinds.RunPlan):
    """The plan of a synthesis run, extended round by round.

    Attributes:
        fit: the scenes.
        quotas: number of questions wanted of each scene.
        routes: preferred routes of each conversation, by sample id.
        taken: existing questions of the scene that each conversation gets, by sample id.
        rounds: number of rounds so far.
    """

    fit: UsableScenes
    quotas: dict[str, int]
    routes: dict[str, list[list[str]]] = field(default_factory=dict)
    taken: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    rounds: int = 0


def load_scene_places(uri: str) -> NamedPlaces:
    """Return the places of a scene, cached with the scene."""
    scene = get_scene(uri)
    return scene_cached(scene, "capnav_places", lambda: NamedPlaces(scene, traversability_of(uri)))


def find_usable_scenes(
    spec: str, video: str | None = None, note: run_kinds.Note = lambda _: None
) -> UsableScenes:
    """Find the scenes of a spec that have routes between named places, and their videos.

    Args:
        spec: a spec for :func:`navloom.scenes.scene_uri.list_scenes`.
        video: a folder of videos.
        note: receives progress messages.

    Raises:
        SceneError: there are no scenes, the only one is broken, or none has a route.
        UsageError: the folder of videos is missing, or has no video of any scene.
    """
    uris, found = list_scenes(spec), UsableScenes({})
    note(f"looking for routes in {len(uris)} scenes of {spec}")
    for uri in uris:
        try:
            places = load_scene_places(uri)
        except SceneError as error:
            if len(uris) == 1:
                raise
            found.skipped[uri] = str(error)
            continue
        name = places.scene.uri
        if name in found.scenes or name in found.skipped:
            raise SceneError(f"{spec} holds two scenes named {name}: rename one")
        named = {place for place in places.ids if places.called(place)}
        if any(a in named and b in named for a, b in places.truth.edges):
            found.scenes[name] = uri
        else:
            found.skipped[name] = "no way joins two named places: it has no graph to ask about"
    if not found.scenes:
        why = "; ".join(f"{name}: {said}" for name, said in list(found.skipped.items())[:3])
        raise SceneError(f"no question is possible in any scene of {spec} ({why})")
    if video is not None:
        _find_videos(found, Path(video))
    return found


def _find_videos(found: UsableScenes, folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"--video {folder}: there is no such folder; expected ID.mp4 in it")
    for name, uri in found.scenes.items():
        stem = get_scene(uri).id
        there = (folder / f"{stem}{ending}" for ending in _VIDEO_ENDINGS)
        path = next((path for path in there if path.is_file()), None)
        if path is not None:
            found.videos[name] = path
    if not found.videos:
        example = get_scene(min(found.scenes.values())).id
        raise UsageError(f"--video {folder} has no video of any scene: expected {example}.mp4")


def plan_first_round(request: CapnavSynthRequest, fit: UsableScenes) -> DesignPlan:
    """Return the plan of the first round: each scene is asked for its share of the questions."""
    names = sorted(fit.scenes)
    share, more = divmod(request.questions, len(names))
    quotas = {name: share + (place < more) for place, name in enumerate(names)}
    plan = DesignPlan(
        request=request,
        samples=[],
        record=fit.record(),
        notes=fit.lines(wanted=request.video is not None),
        fit=fit,
        quotas={name: quota for name, quota in quotas.items() if quota},
    )
    _add_round(plan, plan.quotas, {}, ())
    return plan


def add_next_round(plan: DesignPlan, collected: question_set.QuestionSet) -> bool:
    """Add samples for the missing questions; return False if none are missing.

    Args:
        plan: the plan; new samples are added to it.
        collected: questions of the finished samples; all samples of the plan must be finished.
    """
    missing = collected.missing(plan.quotas, plan.request.questions)
    if not missing:
        return False
    _add_round(plan, missing, collected.by_scene, collected.facts())
    return True


def _add_round(
    plan: DesignPlan,
    wanted: Mapping[str, int],
    known: Mapping[str, Sequence[Any]],
    before: Sequence[question_set.RouteFacts],
) -> None:
    request = plan.request
    plan.rounds += 1
    attempts = {name: sum(s.scene == name for s in plan.samples) for name in wanted}
    most, new = request.min_questions, []
    for name, count in wanted.items():
        sizes = [most] * (count // most) + ([count % most] if count % most else [])
        for place, size in enumerate(sizes):
            attempt = attempts[name] + place
            sample_id, told = attempt_id(name, attempt), {"asked": size, "round": plan.rounds}
            new.append(Sample.of(request.seed, sample_id, name, attempt, **told))
            plan.taken[sample_id] = [each.question for each in known.get(name, ())]
    if request.balance:
        _steer(plan, new, before)
    plan.samples += new


def _steer(plan: DesignPlan, new: Sequence[Sample], old: Sequence[question_set.RouteFacts]) -> None:
    """Assign routes with rare facts to each conversation, scenes in turn."""
    steer = question_set.RouteBalancer(old)
    among: dict[str, list[question_set.RouteFacts]] = {}
    taken: dict[str, set[tuple[str, str]]] = {}
    for sample in new:
        name = sample.scene
        if name not in among:
            among[name] = question_set.candidate_routes(
                load_scene_places(plan.fit.scenes[name]), plan.request.seed
            )
            ends = (question["nodes_involved"] for question in plan.taken[sample.id])
            taken[name] = {(end["start"], end["end"]) for end in ends}
            for other in plan.samples:
                if other.scene == name:
                    taken[name] |= {(a, b) for a, b in plan.routes.get(other.id, ())}
        plan.routes[sample.id] = []
    most = max(sample.columns["asked"] for sample in new)
    for turn in range(most):
        for sample in sorted(new, key=lambda each: (each.attempt, each.scene)):
            if turn >= sample.columns["asked"]:
                continue
            name = sample.scene
            best = steer.pick(among[name], taken[name], sample.seed + turn)
            if best is not None:
                taken[name].add((best.start, best.end))
                plan.routes[sample.id].append([best.start, best.end])


_VIDEOS_KEPT = 4


@dataclass(frozen=True)
class DesignJob(Job):
    """Job of a synthesis run: it runs the question designer once for each sample.

    A sample is one conversation with a model about one scene.
    """

    plan: DesignPlan

    graph = capnav_tasks

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input: seed, preferred routes and existing questions."""
        return {
            "seed": sample.seed,
            "routes": self.plan.routes.get(sample.id, []),
            "taken": self.plan.taken.get(sample.id, []),
        }

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the graph's context; ``model`` replaces the request's."""
        request, video = self.plan.request, self.plan.fit.videos.get(sample.scene)
        places = load_scene_places(self.plan.fit.scenes[sample.scene])
        return self.settings(
            model,
            scene=places.scene,
            truth=places.truth,
            frames=() if video is None else _frames(str(video), request.frames),
            min_questions=sample.columns["asked"],
        )

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outcome of the conversation, with its preferred routes."""
        return {**super().record(sample, state), "routes": self.plan.routes.get(sample.id, [])}


@lru_cache(maxsize=_VIDEOS_KEPT)
def _frames(path: str, n: int) -> tuple[bytes, ...]:
    # Samples run scene by scene, so a small cache reads each video once.
    return tuple(sample_frames(path, n))


def plan(request: CapnavSynthRequest, run: Path | None, note: run_kinds.Note) -> DesignPlan:
    """Return the plan of the first round; ``limit`` and ``sample_id`` apply to conversations.

    Raises:
        SceneError: there are no scenes, or none has a route.
        UsageError: the folder of videos is missing or has no video of any scene.
    """
    if run is None:
        return plan_first_round(request, find_usable_scenes(request.spec, request.video))
    if request.video is not None:
        if lacks_ability(resolve_model(request.model), "images"):
            note(f"{request.model} takes no images: --video is left out")
            request = replace(request, video=None)
        else:
            check_pyav()
    return plan_first_round(request, find_usable_scenes(request.spec, request.video, note))


def _collected(made: DesignPlan, run: Path) -> question_set.QuestionSet:
    """Collect the questions of the finished samples of the plan."""
    planned = {sample.id for sample in made.samples}
    rows = [row for row in read_samples(run) if row["id"] in planned]
    scenes = made.fit.scenes
    return question_set.collect_questions(
        rows, made.quotas, made.request.questions, lambda name: load_scene_places(scenes[name])
    )


def more(made: DesignPlan, run: Path) -> bool:
    """Plan another round: add its conversations to the plan, and return whether there are any."""
    return made.rounds < made.request.max_rounds and add_next_round(made, _collected(made, run))


def finish(made: DesignPlan, run: Path) -> dict[str, Any]:
    """Write the questions, their truth and their balance."""
    collected = _collected(made, run)
    ids = {name: get_scene(uri).id for name, uri in made.fit.scenes.items()}
    qa = made.request.qa and Path(made.request.qa)
    where = question_set.write_questions(run, collected, ids, qa=qa)
    record = collected.record(made.quotas, made.request.questions)
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    write_run_file(run / question_set.BALANCE, text.encode())
    return {"questions": record, "rounds": made.rounds, "qa": str(where)}


def calls(made: DesignPlan) -> run_kinds.CallBounds:
    """Return the bounds of calls: all turns of every conversation, in every round."""
    request, turns = made.request, made.request.max_turns
    # A compact conversation has only its last turn in the prompt.
    before = turns if request.compact else turns * (turns - 1) // 2
    grown = before * (run_kinds.max_reply_tokens(request.model) + run_kinds.RESULT_TOKENS)
    return run_kinds.CallBounds(most=turns, in_all=grown, rounds=request.max_rounds)


def ended(_: Path, summary: Summary) -> run_kinds.CommandOutput:
    """Return the balance of the questions, and what is missing, for the command to show."""
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
    return run_kinds.CommandOutput(tables, whole=True, notes=notes, lines=lines)


def _tables(said: dict[str, Any]) -> tuple[list[Block], list[str]]:
    """Return the balance of questions as tables, and a line below them."""
    balance = said["balance"]
    bodies, lengths, kinds = balance["bodies"], balance["lengths"], balance["kinds"]
    rows = []
    for body, counted in bodies.items():
        yes, no = counted["feasible"], counted["infeasible"]
        share = percent(yes / (yes + no) if yes + no else None)
        rows.append((body, str(yes), str(no), str(counted["unknown"]), share))
    header = ("body", "feasible", "infeasible", "unknown", "feasible of the known")
    counts = (("questions", *map(str, lengths.values())),)
    tables = [
        Table("", "", header, tuple(rows)),
        Table("", "", ("passages of the shortest route", *lengths), counts),
    ]
    if kinds:
        cells = tuple((kind, str(count)) for kind, count in kinds.items())
        tables.append(Table("", "", ("kind of barrier", "questions and bodies"), cells))
    even = balance["imbalance"]
    said_of = f"imbalance {even or 0:.2f} (0: each body can do half of what is known)"
    return [*map(Grid, tables)], [] if even is None else [said_of]


def report(runs: list[Path], _: Path | None) -> run_kinds.CommandOutput:
    """Return the balance of the questions of several runs, to be shown."""
    said = {str(run): question_set.read_balance(run) for run in runs}
    blocks: list[Block] = []
    notes: list[str] = []
    for run, record in said.items():
        own, below = _tables(record)
        counted = f"{run}: {record['accepted']} of {record['asked']} questions"
        blocks += [Prose(text=counted), *own]
        notes += below
    return run_kinds.CommandOutput(
        blocks, whole=True, together=False, notes=notes, record={"runs": said}
    )
