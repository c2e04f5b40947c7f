"""Evaluation of navigators: every episode of a task through one agent, as a run.

A sample is an episode and epoch: kill the run at any moment, and the same command goes on in the
middle of an episode. Each makes its own simulator over a scene that is loaded once; samples run
scene after scene, so that memory stays flat however many there are.

A line's ``status`` is ``ok`` where the episode is a success (VLN-MME 4: it ended strictly within
3 m of a goal) and ``failed`` where it is not. An agent whose reply could not be read to the end
never counts as one that stopped: its scores of success are 0 wherever it stands.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

from navloom.errors import ModelError, SceneError, UsageError
from navloom.evals.captions.run import caption_file
from navloom.evals.kinds import Calls, Note, Plan, reply_tokens
from navloom.evals.navigation.failure_examples import Example, choose, read_examples
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.scores import read_scores, scored
from navloom.evals.navigation.subset import load_subset
from navloom.evals.navigation.walked import physics_of, standing, walked_of
from navloom.evals.session import Job, Sample, sample_seed
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.context import Context
from navloom.graphs.navigation.person import Person
from navloom.models.eyes import sees
from navloom.models.registry import model_of
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.checked_files import read_bytes
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import UNKNOWN
from navloom.scenes.uri import list_scenes, scene_of
from navloom.sim.captions import captions_for
from navloom.sim.media import FolderMedia
from navloom.sim.protocol import Simulator
from navloom.sim.registry import backend_module, get_simulator, seeing_simulator, simulator_name
from navloom.tools.navigation.things import Thing


def spread(episodes: Sequence[Episode], seed: int) -> list[Episode]:
    """Episodes in an order whose beginnings are fair samples: the first N of it are N of all.

    Scenes take turns, in an order drawn by the seed; each scene's paths come in an order drawn
    likewise, and none a second time before all of its scene have come.
    """

    def drawn(*what: Any) -> bytes:
        said = json.dumps([seed, *what]).encode()
        return blake2b(said, digest_size=8).digest()

    paths: dict[tuple[str, str], list[Episode]] = {}
    for episode in sorted(episodes, key=lambda each: drawn(each.id)):
        path = str(episode.columns.get("path_id", episode.id))
        paths.setdefault((episode.scene, path), []).append(episode)
    scenes: dict[str, list[tuple[int, bytes, Episode]]] = {}
    for (scene, path), told in paths.items():
        ranked = [(again, drawn(scene, path), each) for again, each in enumerate(told)]
        scenes.setdefault(scene, []).extend(ranked)
    turns = [
        (turn, drawn(scene), episode)
        for scene, ranked in scenes.items()
        for turn, (*_, episode) in enumerate(sorted(ranked, key=lambda each: each[:2]))
    ]
    return [episode for *_, episode in sorted(turns, key=lambda each: each[:2])]


_COPIED = (
    "cot",
    "reflect",
    "prompts",
    "scratchpad",
    "plan",
    "jump",
    "blank_options",
    "act",
    "dialogue",
    "oracle_knows",
    "oracle_arrival",
    "oracle_budget",
    "ask_cost",
    "max_questions",
    "max_steps",
    "max_reasks",
    "max_revisions",
    "views",
)
"""What the navigator's context takes from the request as it stands."""
_OURS = ("auto", "embedded", "graph", "habitat")
"""Backends that take a source of captions."""
_MOST_NAMED = 5
"""Scenes that a note names."""
STEP_TOKENS = 400
"""Tokens by which a step lengthens the prompts after it at most: history with its thoughts, map,
plan, guidance."""
_ORACLE_TOKENS = 4000


@dataclass(kw_only=True)
class EvalPlan(Plan):
    """What an evaluation will do: one sample an episode and epoch, in order, epoch after epoch.

    Attributes:
        episodes: by sample id.
        scenes: the URI each scene is loaded by, by its portable name.
        things: by scene and viewpoint, what is seen, where it is asked at the end which is meant.
        failures: of another run, to choose examples from.
        media: where pictures are kept, where the simulator has any.
        touches: whether the simulator reports contacts.
    """

    episodes: dict[str, Episode]
    scenes: Mapping[str, str]
    things: Mapping[str, Mapping[str, list[Thing]]] = field(default_factory=dict)
    failures: tuple[Example, ...] = ()
    media: Path | None = None
    touches: bool = False


@dataclass(frozen=True)
class EvalJob(Job):
    """How one episode is gone through."""

    plan: EvalPlan

    def build(self, checkpointer: Any) -> Any:
        """The navigator's graph."""
        return navigator.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        """The episode; goals and path are never shown to the navigator."""
        episode = self.plan.episodes[sample.id]
        return {
            "seed": sample.seed,
            "instruction": episode.instruction,
            "start": episode.start,
            "heading": episode.heading,
            "goals": list(episode.goals),
            "path": list(episode.path),
            "target": str(episode.columns.get("object", "")) or None,
        }

    def context(self, sample: Sample, model: Any = None) -> Context:
        """The navigator's context, which makes its simulator; ``model`` stands in for all."""
        request, settings = self.plan.request, self.plan.request.settings
        own = {name: getattr(request, name) for name in _COPIED}
        count = request.few_shot_failures
        return Context(
            simulator=partial(simulator_of, request, self.plan.scenes[sample.scene]),
            model=model or model_of(request.thinks_with),
            oracle_model=model or (request.oracle_model and model_of(request.oracle_model)),
            memory=settings.memory,
            oracle=request.helped_by,
            failures=choose(self.plan.failures, count, [self.plan.episodes[sample.id]])
            if count
            else (),
            things=self.plan.things.get(sample.scene),
            media=None if self.plan.media is None else FolderMedia(self.plan.media),
            embodiment=request.embodiment if request.embodied else DEFAULT_BODY,
            person=self.person(sample),
            motion=request.motion,
            **own,
        )

    def person(self, sample: Sample) -> Person | None:
        """Who walks in the place of the model; nobody."""
        del sample
        return None

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """How the episode ended, what it scores, and what went wrong."""
        episode = self.plan.episodes[sample.id]
        request, uri = self.plan.request, self.plan.scenes[sample.scene]
        return scored(
            episode,
            state,
            walked_of(request)(scene_of(uri)),
            touches=self.plan.touches,
            noticeable=request.collision_threshold,
        )


def simulator_of(request: EvalRequest, uri: str) -> Simulator:
    """A simulator over a scene, as a request asks; cheap, since what a scene gives is kept.

    Raises:
        SceneError: the scene cannot be loaded.
        SimulatorError: there is no such backend, or the caption cache is broken.
    """
    scene = walked_of(request)(scene_of(uri))
    moves = physics_of(request)
    if request.backend == "panorama":
        said = caption_file(request.captions, scene)
        from_disk = {"folder": request.panoramas, "views": request.views or 4}
        return get_simulator("panorama", scene, captions=said, **from_disk, **moves)
    if request.backend not in _OURS and request.captions is None:
        return get_simulator(request.backend, scene, **moves)
    kept = request.captions and caption_file(request.captions, scene)
    words = per_scene(scene, f"captions:{kept}", lambda: captions_for(scene, kept))
    own: dict[str, Any] = {}
    if request.backend in ("auto", "embedded"):
        own = {"light": request.light}
    elif request.backend == "habitat":
        own = {"dataset": request.scene_dataset}
    own |= moves
    return seeing_simulator(request.backend, scene, request.views, captions=words, **own)


def plan(request: EvalRequest, run: Path | None, note: Note) -> EvalPlan:
    """Every sample that a request means.

    Raises:
        DataError: a file of the dataset is missing or broken.
        SceneError: a scan is missing.
        SimulatorError: there is no such backend.
        UsageError: no such task, split, subset or agent.
    """
    del note
    data, left_out = standing(request)
    subset: dict[str, Any] = {}
    whole = {"count": len(data.episodes), "sha256": _digest(data.episodes)}
    if request.subset is not None:
        index = load_subset(request.subset)
        data, subset = index.pick(data), {"subset_ids": _hashed(index.ids)}
    _check_scenes(data)
    samples, episodes = _samples(request, data)
    record = {
        "split": data.split,
        "episodes": whole,
        "scenes": _scenes(request, data),
        "simulators": _simulators(request, data),
        **subset,
        **_captions(request),
        **_panoramas(request, data),
        **({"left_out": list(left_out)} if left_out else {}),
    }
    failures = read_examples(request.failures_from) if request.failures_from else ()
    if request.failures_from:
        record["failure_examples"] = _hashed([example.text for example in failures])
    notes = [
        *data.notes,
        *_without_captions(request.captions, data),
        *_without_examples(request.failures_from, failures, episodes.values()),
    ]
    # Also the moment when a wrong name of a simulator is found out.
    simulator = simulator_of(request, data.scenes[samples[0].scene])
    simulator.close()
    shown, told = _pictures(request, simulator)
    return EvalPlan(
        request=request,
        samples=samples,
        record=record,
        notes=[*notes, *told],
        limited="the first of an order drawn by the seed, scans in turn, each path once before any"
        " comes again",
        episodes=episodes,
        scenes=data.scenes,
        things=data.things,
        failures=failures,
        media=run / "media" if run is not None and shown else None,
        # Without physics a hop touches nothing, whatever else the backend can do.
        touches="collide" in simulator.capabilities
        and (request.physics != "off" or request.backend not in _OURS),
    )


def _samples(request: EvalRequest, data: TaskData) -> tuple[list[Sample], dict[str, Episode]]:
    """Epoch after epoch, and the episode of each."""
    samples, episodes = [], {}
    for epoch in range(request.epochs):
        for episode in spread(data.episodes, request.seed):
            name = episode.id if request.epochs == 1 else f"{episode.id}-e{epoch + 1}"
            episodes[name] = episode
            seed = sample_seed(request.seed, name)
            samples.append(Sample(name, seed, episode.scene, epoch, epoch=epoch))
    return samples, episodes


def _pictures(request: EvalRequest, simulator: Simulator) -> tuple[bool, list[str]]:
    """Whether the model is shown pictures, and a note where it could have been."""
    if not (request.views and "rgb" in simulator.capabilities):
        return False, []
    model = request.thinks_with
    if not _sees(model):
        told = f"{model} takes no images: it is told in words, and no picture is made."
        return False, [] if model.startswith("builtin/") else [told]
    if request.backend == "habitat":
        # Better one line now than an error a sample.
        backend_module("habitat").check()
    return True, []


def _hashed(texts: Sequence[str]) -> dict[str, Any]:
    whole = sha256(json.dumps(texts).encode(errors="surrogatepass")).hexdigest()
    return {"count": len(texts), "sha256": whole}


def _digest(episodes: Sequence[Episode]) -> str:
    whole = sha256()
    for episode in episodes:
        whole.update(episode.model_dump_json().encode())
    return whole.hexdigest()


def _scenes(request: EvalRequest, data: TaskData) -> dict[str, Any]:
    """The places themselves: another connectivity is another run."""
    names, walked = sorted({episode.scene for episode in data.episodes}), walked_of(request)
    scenes = [walked(scene_of(data.scenes[name])) for name in names]
    labelled = sum(any(r.label != UNKNOWN for r in scene.regions) for scene in scenes)
    return {**_hashed([scene.model_dump_json() for scene in scenes]), "rooms_named": labelled}


def _simulators(request: EvalRequest, data: TaskData) -> dict[str, int]:
    """How many scenes each backend that is really used stands in."""
    names = sorted({episode.scene for episode in data.episodes})
    used = Counter(simulator_name(request.backend, scene_of(data.scenes[each])) for each in names)
    return dict(sorted(used.items()))


def _sees(model: str) -> bool:
    """Whether a model is shown pictures; one that cannot be made says so when it is asked."""
    try:
        return sees(model)
    except ModelError:
        return True


def _check_scenes(data: TaskData) -> None:
    """Name a missing scan now: thousands of errors, one an episode, would say it too late."""
    for name in sorted({episode.scene for episode in data.episodes}):
        if name not in data.scenes:
            raise SceneError(f"{data.task} {data.split} has episodes in {name}, and no such scene")
        list_scenes(data.scenes[name])


def _captions(request: EvalRequest) -> dict[str, Any]:
    if request.captions is None:
        return {}
    path = Path(request.captions)
    files = sorted(path.glob("captions/*.json")) if path.is_dir() else [path]
    whole = sha256()
    try:
        for file in files:
            whole.update(file.name.encode() + b"\0" + read_bytes(file))
    except SceneError as error:
        raise UsageError(f"--captions {error}") from error
    if not files:
        raise UsageError(
            f"--captions {path} holds no captions: give a file, or a run of `navloom caption`"
        )
    return {"caption_files": {"count": len(files), "sha256": whole.hexdigest()}}


def _panoramas(request: EvalRequest, data: TaskData) -> dict[str, Any]:
    if request.panoramas is None:
        return {}
    from navloom.sim.panorama.panorama_cache import panorama_hashes

    names = sorted({episode.scene for episode in data.episodes})
    scenes = [scene_of(data.scenes[name]) for name in names]
    return {"panorama_files": _hashed(panorama_hashes(Path(request.panoramas), scenes))}


def _without_captions(captions: str | None, data: TaskData) -> list[str]:
    """Which scenes a run of captions says nothing about."""
    scenes = sorted({episode.scene for episode in data.episodes})
    none = [] if captions is None else [s for s in scenes if caption_file(captions, s) is None]
    if not none:
        return []
    more = f" and {len(none) - _MOST_NAMED} more" if len(none) > _MOST_NAMED else ""
    return [
        f"--captions {captions} has no captions of {', '.join(none[:_MOST_NAMED])}{more}"
        f" ({len(none)} of {len(scenes)} scenes): their own are used there."
    ]


def _without_examples(
    run: str | None, failures: Sequence[Example], episodes: Collection[Episode]
) -> list[str]:
    """How many episodes a run's failures can say nothing to without giving their place away."""
    alone = sum(all(each.gives_away(e) for each in failures) for e in episodes)
    if run is None or not alone:
        return []
    return [
        f"{alone} of {len(episodes)} episodes get no failure example: those of {run} are all of"
        " their own scene"
    ]


def calls(made: EvalPlan) -> Calls:
    """At most every step is taken, every reply sent back and revised, and the oracle speaks up."""
    request = made.request
    reply, revised = reply_tokens(request.thinks_with), request.reflect * request.max_revisions
    told = request.dialogue * request.max_questions
    told += request.oracle_budget if request.helped_by == "assistant" else 0
    # After a question, or a word on a stop, the step is chosen again.
    turns = request.max_steps + told
    pointing = (1 + request.max_reasks) if made.things else 0
    return Calls(
        most=turns * (1 + request.max_reasks) * (1 + revised),
        each=turns * STEP_TOKENS + (request.max_reasks + revised) * reply,
        # An answer that gives a place away is sent back once.
        beside=2 * told + pointing,
        in_all=(2 * told + pointing) * (_ORACLE_TOKENS + reply),
    )


def finish(_: EvalPlan, run: Path) -> dict[str, Any]:
    """The scores that ``summary.json`` has."""
    return {"scores": read_scores(run).record()}
