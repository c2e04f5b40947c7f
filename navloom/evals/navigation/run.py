"""Evaluation run of navigators: one agent on every episode of a task.

A sample is an episode and epoch. A run can be killed at any moment, and the same command continues
in the middle of an episode. Each sample makes its own simulator over a scene that is loaded once.

A line's ``status`` is ``ok`` if the episode is a success (VLN-MME 4: it ended strictly within 3 m
of a goal), else ``failed``. An agent whose last reply could not be read never counts as stopped:
its success scores are 0 at any position.

The module also turns failures of an earlier run into short texts for the navigator's prompt
(VLN-MME 4.4, table 4). Each text gives the instruction, the action at the first deviation, why it
was wrong, and the right action. It is one line of bounded length without ids of viewpoints, nodes
or options. It never comes from an episode in the same scene or with the same instruction as the
evaluated one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import ModelError, SceneError, UsageError
from navloom.evals.captions.run import find_caption_cache
from navloom.evals.navigation.embodied_graph import load_feasible, physics_options, request_graph
from navloom.evals.navigation.failure_analysis import FailureAnalysis, read_tags
from navloom.evals.navigation.failure_behaviour import Behaviour
from navloom.evals.navigation.failure_cause import Cause
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.scores import read_scores, score_sample
from navloom.evals.navigation.subset import load_subset
from navloom.evals.run_folder import read_samples
from navloom.evals.run_kinds import CallBounds, Note, RunPlan, max_reply_tokens, read_run_of_kind
from navloom.evals.session import Job, Sample, sample_seed
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.files import join_some
from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.context import Context
from navloom.graphs.navigation.human_input import HumanNavigator
from navloom.models.model_registry import resolve_model
from navloom.models.structured_output import sees_images
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import scene_cached
from navloom.scenes.safe_files import read_bytes
from navloom.scenes.scene import UNKNOWN
from navloom.scenes.scene_uri import get_scene, list_scenes
from navloom.sim.captions import captions_for
from navloom.sim.media_store import FolderMedia
from navloom.sim.protocol import Simulator
from navloom.sim.registry import backend_module, get_simulator, resolve_backend, simulator_for_views
from navloom.tools.navigation.step_options import MoveOption
from navloom.tools.navigation.step_records import NavStep, Trajectory
from navloom.tools.navigation.visible_objects import VisibleObject

MOST_CHARACTERS = 900
"""Maximum characters of one text."""
_MOST_INSTRUCTION = 300
_MOST_DESCRIPTION = 110
_IDS = re.compile(r"\s*\(node_\d+(?:, visited)?\)|\bnode_\d+\b|\b[0-9a-f]{32}\b")
_TO = {"Left": "to the left", "Right": "to the right", "Front": "straight on", "Back": "back"}
_SAID = {"left": "left", "right": "right", "straight": "straight on", "around": "turn around"}
_SLOPE = {"up": "up", "down": "down", "level": "on the same level"}
_WHY: Mapping[Cause, str] = {
    "premature_stop": "the end was still some way off",
    "late_stop": "it was at the goal, or as good as there",
    "mismatch": "the instruction says so, and yet the way went otherwise",
    "failed_exit": "the instruction says to leave that room, and it never left",
    "ambiguous": "the two ways looked alike, and it took the other one",
}
_AFTER: Mapping[Behaviour, str] = {
    "loop": "Afterwards it went round among the same places",
    "missed_stop": "It came within reach of the goal and did not stop there",
    "time_out": "It never said stop",
    "early_stop": "It stopped without having been at the goal",
    "dead_end": "It ended where nothing led on",
    "generation_error": "In the end its reply held no action that could be used",
}


@dataclass(frozen=True)
class FailureExample:
    """A failure of an earlier run as a text.

    Attributes:
        text: the text, one line.
        behaviour: behaviour that it is an example of.
        cause: cause that it is an example of.
        episode: the failed episode.
    """

    text: str
    behaviour: Behaviour
    cause: Cause
    episode: Episode

    def gives_away(self, other: Episode) -> bool:
        """Check whether this example has the scene or the instruction of the episode ``other``.

        Its text would then reveal something to whoever walks that episode.
        """
        mine = self.episode
        return mine.scene == other.scene or other.instruction == mine.instruction


def mine_failures(run: Path | str, n: int, exclude: Iterable[Episode] = ()) -> tuple[str, ...]:
    """Return failure examples from an earlier run.

    Args:
        run: its folder.
        n: number of examples, 1 to 3 in the paper.
        exclude: episodes that the texts will be shown for.

    Returns:
        At most ``n`` texts, chosen deterministically; fewer if the run has no more that fit.

    Raises:
        RunError: the folder is not a run, or is broken.
        UsageError: ``n`` is below 1.
    """
    return choose_examples(read_examples(run), n, exclude)


def read_examples(run: Path | str) -> tuple[FailureExample, ...]:
    """Read all failures of a run that can be described, sorted by sample id.

    Raises:
        RunError: the folder is not a run, has another kind, or is broken.
    """
    read_run_of_kind(run, "navigate")
    told = (_example(line) for line in read_samples(run))
    return tuple(example for example in told if example is not None)


def choose_examples(
    examples: Sequence[FailureExample], n: int, exclude: Iterable[Episode] = ()
) -> tuple[str, ...]:
    """Pick the texts that cover the most frequent failures.

    Kinds (behaviour and cause) are taken by the number of new behaviours and causes they add, then
    by frequency. Kinds with an unknown cause come last. The shortest text of a kind is picked.

    Args:
        examples: examples to pick from.
        n: number of texts.
        exclude: episodes that the texts will be shown for.

    Raises:
        UsageError: ``n`` is below 1.
    """
    if n < 1:
        raise UsageError(f"{n} failure examples: expected 1 or more")
    shown = list(exclude)
    free = [each for each in examples if not any(each.gives_away(other) for other in shown)]
    often = Counter((each.behaviour, each.cause) for each in free)
    picked: list[FailureExample] = []
    while free and len(picked) < n:
        best = min(free, key=lambda each: _rank(each, picked, often))
        picked.append(best)
        ends = (best.episode.scene, best.episode.goals)
        others = [each for each in free if (each.episode.scene, each.episode.goals) != ends]
        free = [each for each in others if each.text != best.text]
    return tuple(each.text for each in picked)


def _rank(
    example: FailureExample,
    picked: Sequence[FailureExample],
    often: Counter[tuple[Behaviour, Cause]],
) -> tuple[Any, ...]:
    seen = {kind for other in picked for kind in (other.behaviour, other.cause)}
    return (
        # A generation error is its own explanation, so an unknown cause does not matter.
        example.cause == "unknown" and example.behaviour != "generation_error",
        len({example.behaviour, example.cause} & seen),
        -often[example.behaviour, example.cause],
        example.behaviour,
        example.cause,
        len(example.text),
        example.episode.id,
    )


def _example(line: Mapping[str, Any]) -> FailureExample | None:
    result = line.get("result")
    if not isinstance(result, Mapping):
        return None
    tagged = read_tags(result.get("tags"))
    if tagged is None or tagged.success:
        return None
    try:
        episode = Episode.model_validate(result.get("episode"))
    except ValidationError:
        return None
    text = _tell(tagged, episode, Trajectory.read(result).steps)
    return None if text is None else FailureExample(text, tagged.behaviour, tagged.cause, episode)


def _tell(tagged: FailureAnalysis, episode: Episode, steps: Sequence[NavStep]) -> str | None:
    asked = f"Told “{_plain(episode.instruction, _MOST_INSTRUCTION)}”, an agent "
    if tagged.behaviour == "generation_error":
        return _whole([asked + _bad_reply(tagged)])
    fork = tagged.deviation
    if fork is None:
        return None
    options = steps[fork.step].options if 0 <= fork.step < len(steps) else []
    ways = {option.viewpoint: _way(option) for option in options}
    went, right = fork.taken, fork.expected
    if any(name is not None and name not in ways for name in (went, right)):
        return None
    did = "stopped" if went is None else f"went {ways[went]}"
    better = (
        "to stop where it stood"
        if right is None
        else f"to go on {ways[right]}"
        if went is None
        else f"to go {ways[right]}"
    )
    done = fork.hop
    after = {0: "at the start ", 1: "after 1 move "}.get(done, f"after {done} moves ")
    reason = _reason(tagged, right is None)
    return _whole(
        [f"{asked}{after}{did}", f"That was wrong: {reason}",
         *filter(None, [_AFTER.get(tagged.behaviour)]), f"Right would have been {better}"]
    )  # fmt: skip


def _whole(sentences: Iterable[str]) -> str:
    return (". ".join(sentence.rstrip(". ") for sentence in sentences) + ".")[:MOST_CHARACTERS]


def _bad_reply(tagged: FailureAnalysis) -> str:
    proof = tagged.evidence.get("generation_error")
    kind = proof.get("kind") if isinstance(proof, Mapping) else None
    said = {
        "invalid_option": "named an option that was not offered, again and again",
        "refusal": "refused to choose, again and again",
    }.get(str(kind), "gave replies without any action that could be read")
    return (
        f"{said}. That ended the episode."
        " Right would have been one action in the form asked for, with the number of an option"
        " that is listed, or Stop"
    )


def _way(option: MoveOption) -> str:
    words = _plain(option.description, _MOST_DESCRIPTION)
    way = _TO[option.direction]
    return f"{way}, towards “{words}”" if words else way


def _plain(text: str, most: int) -> str:
    """Return text in one line without ids and quotes, cut at a word."""
    words = " ".join(_IDS.sub("", text[:4000]).replace("“", "'").replace("”", "'").split())
    return words if len(words) <= most else words[:most].rsplit(" ", 1)[0] + " …"


def _reason(tagged: FailureAnalysis, should_stop: bool) -> str:
    causes = tagged.evidence.get("causes")
    proof = causes.get(tagged.cause) if isinstance(causes, Mapping) else None
    proof = proof if isinstance(proof, Mapping) else {}
    named = proof.get("named")
    what = ", ".join(str(name)[:40] for name in named[:3]) if isinstance(named, list) else ""
    if tagged.cause in _WHY:
        return _WHY[tagged.cause]
    if tagged.cause == "vertical" and proof.get("right") in _SLOPE:
        chosen = _SLOPE.get(str(proof.get("chosen")), "elsewhere")
        return f"the way went {_SLOPE[proof['right']]} and it went {chosen}"
    if tagged.cause == "vertical":
        return "the instruction leads to another level than the one it ended on"
    if tagged.cause == "region" and what:
        return f"the instruction speaks of a room ({what}) and that way leads elsewhere"
    if tagged.cause == "early_turn":
        again = f"what the instruction speaks of ({what})" if what else "the turn it asks for"
        return f"{again} comes later, or is another one"
    if tagged.cause == "direction" and proof.get("said") in _SAID:
        return f"the instruction says {_SAID[proof['said']]} at that point"
    if tagged.cause == "object" and what:
        return f"what the instruction speaks of ({what}) was not that way"
    return "it was at the goal" if should_stop else "the instruction leads another way"


def spread_episodes(episodes: Sequence[Episode], seed: int) -> list[Episode]:
    """Return the episodes in an order whose every prefix is a fair sample of all.

    Scenes take turns in a random order fixed by the seed. The paths of a scene are ordered in the
    same way, and none is repeated before all paths of its scene have occurred.
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


_OURS = ("auto", "embedded", "graph", "habitat")
"""Backends that accept a caption source."""
_MOST_NAMED = 5
"""Maximum number of scenes that a note names."""
STEP_TOKENS = 400
"""Maximum tokens that a step adds to later prompts: history, map, plan and guidance."""
_ORACLE_TOKENS = 4000


@dataclass(kw_only=True)
class EvalPlan(RunPlan):
    """Plan of an evaluation: one sample for each episode and epoch, epoch after epoch.

    Attributes:
        episodes: sample id -> episode.
        scenes: portable name of each scene -> URI to load it by.
        things: scene -> viewpoint -> visible objects, if the agent must name the target object.
        failures: failures of another run, to choose examples from.
        media: folder that stores images; None if no images are shown.
        touches: whether the simulator reports contacts.
    """

    episodes: dict[str, Episode]
    scenes: Mapping[str, str]
    things: Mapping[str, Mapping[str, list[VisibleObject]]] = field(default_factory=dict)
    failures: tuple[FailureExample, ...] = ()
    media: Path | None = None
    touches: bool = False


@dataclass(frozen=True)
class EvalJob(Job):
    """Job that runs one episode."""

    plan: EvalPlan

    graph = navigator

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph input of an episode. The navigator never sees goals and path."""
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
        """Return the navigator's context, which makes its simulator.

        ``model`` replaces all models of the request.
        """
        request, count = self.plan.request, self.plan.request.few_shot_failures
        made: Context = self.settings(
            agent=Context.agent,  # in the simulator; the request's is the navigator
            simulator=partial(make_simulator, request, self.plan.scenes[sample.scene]),
            model=model or resolve_model(request.navigator_model),
            oracle_model=model or (request.oracle_model and resolve_model(request.oracle_model)),
            memory=request.settings.memory,
            oracle=request.oracle_mode,
            failures=choose_examples(self.plan.failures, count, [self.plan.episodes[sample.id]])
            if count
            else (),
            things=self.plan.things.get(sample.scene),
            media=None if self.plan.media is None else FolderMedia(self.plan.media),
            embodiment=request.embodiment if request.uses_body else DEFAULT_BODY,
            person=self.person(sample),
        )
        return made

    def person(self, sample: Sample) -> HumanNavigator | None:
        """Return the person who replaces the model; None here."""
        del sample
        return None

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return how the episode ended, its scores and its failure tags."""
        episode = self.plan.episodes[sample.id]
        request, uri = self.plan.request, self.plan.scenes[sample.scene]
        return score_sample(
            episode,
            state,
            request_graph(request)(get_scene(uri)),
            touches=self.plan.touches,
            noticeable=request.collision_threshold,
        )


def make_simulator(request: EvalRequest, uri: str) -> Simulator:
    """Make the simulator of a scene for a request; cheap, since scene data are cached.

    Raises:
        SceneError: the scene cannot be loaded.
        SimulatorError: the backend is unknown, or the caption cache is broken.
    """
    scene = request_graph(request)(get_scene(uri))
    moves = physics_options(request)
    if request.backend == "panorama":
        said = find_caption_cache(request.captions, scene)
        from_disk = {"folder": request.panoramas, "views": request.views or 4}
        return get_simulator("panorama", scene, captions=said, **from_disk, **moves)
    if request.backend not in _OURS and request.captions is None:
        return get_simulator(request.backend, scene, **moves)
    kept = request.captions and find_caption_cache(request.captions, scene)
    words = scene_cached(scene, f"captions:{kept}", lambda: captions_for(scene, kept))
    own: dict[str, Any] = {}
    if request.backend in ("auto", "embedded"):
        own = {"light": request.light}
    elif request.backend == "habitat":
        own = {"dataset": request.scene_dataset}
    own |= moves
    return simulator_for_views(request.backend, scene, request.views, captions=words, **own)


def plan(request: EvalRequest, run: Path | None, note: Note) -> EvalPlan:
    """Return the plan of a request: its samples and their episodes, and the record of its data.

    Args:
        request: the request.
        run: the run's folder; None in a dry run.
        note: function that shows a line to the user; not used.

    Raises:
        DataError: a file of the dataset is missing or broken.
        SceneError: a scan is missing.
        SimulatorError: the backend is unknown.
        UsageError: the task, split, subset or agent is unknown.
    """
    del note
    data, left_out = load_feasible(request)
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
    # Making one also checks the backend's name before the run begins.
    simulator = make_simulator(request, data.scenes[samples[0].scene])
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
        # Without physics our backends report no contacts.
        touches="collide" in simulator.capabilities
        and (request.physics != "off" or request.backend not in _OURS),
    )


def _samples(request: EvalRequest, data: TaskData) -> tuple[list[Sample], dict[str, Episode]]:
    """Return the samples, epoch after epoch, and the episode of each."""
    samples, episodes = [], {}
    for epoch in range(request.epochs):
        for episode in spread_episodes(data.episodes, request.seed):
            name = episode.id if request.epochs == 1 else f"{episode.id}-e{epoch + 1}"
            episodes[name] = episode
            seed = sample_seed(request.seed, name)
            samples.append(Sample(name, seed, episode.scene, epoch, epoch=epoch))
    return samples, episodes


def _pictures(request: EvalRequest, simulator: Simulator) -> tuple[bool, list[str]]:
    """Return whether the model is shown images, and a note if it cannot take them."""
    if not (request.views and "rgb" in simulator.capabilities):
        return False, []
    model = request.navigator_model
    if not _sees(model):
        told = f"{model} takes no images: it is told in words, and no picture is made."
        return False, [] if model.startswith("builtin/") else [told]
    if request.backend == "habitat":
        # Fails once here instead of once a sample.
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
    """Return hashes of the scenes, since another connectivity makes another run."""
    names, walked = sorted({episode.scene for episode in data.episodes}), request_graph(request)
    scenes = [walked(get_scene(data.scenes[name])) for name in names]
    labelled = sum(any(r.label != UNKNOWN for r in scene.regions) for scene in scenes)
    return {**_hashed([scene.model_dump_json() for scene in scenes]), "rooms_named": labelled}


def _simulators(request: EvalRequest, data: TaskData) -> dict[str, int]:
    """Return the number of scenes for each backend that is really used."""
    names = sorted({episode.scene for episode in data.episodes})
    used = Counter(resolve_backend(request.backend, get_scene(data.scenes[each])) for each in names)
    return dict(sorted(used.items()))


def _sees(model: str) -> bool:
    """Check whether a model takes images. One that cannot be made fails later, when asked."""
    try:
        return sees_images(model)
    except ModelError:
        return True


def _check_scenes(data: TaskData) -> None:
    """Raise an error for a missing scan before the run, not once for each episode."""
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
    scenes = [get_scene(data.scenes[name]) for name in names]
    return {"panorama_files": _hashed(panorama_hashes(Path(request.panoramas), scenes))}


def _without_captions(captions: str | None, data: TaskData) -> list[str]:
    """Return a note on the scenes without captions in a caption run."""
    scenes = sorted({episode.scene for episode in data.episodes})
    none = [s for s in scenes if captions is not None and find_caption_cache(captions, s) is None]
    if not none:
        return []
    return [
        f"--captions {captions} has no captions of {join_some(none, _MOST_NAMED)}"
        f" ({len(none)} of {len(scenes)} scenes): their own are used there."
    ]


def _without_examples(
    run: str | None, failures: Sequence[FailureExample], episodes: Collection[Episode]
) -> list[str]:
    """Return a note on the episodes that get no failure example."""
    alone = sum(all(each.gives_away(e) for each in failures) for e in episodes)
    if run is None or not alone:
        return []
    return [
        f"{alone} of {len(episodes)} episodes get no failure example: those of {run} are all of"
        " their own scene"
    ]


def calls(made: EvalPlan) -> CallBounds:
    """Estimate the maximum model calls: all steps, retries, revisions and oracle turns."""
    request = made.request
    reply = max_reply_tokens(request.navigator_model)
    revised = request.reflect * request.max_revisions
    told = request.dialogue * request.max_questions
    told += request.oracle_budget if request.oracle_mode == "assistant" else 0
    # After an oracle's answer, the step is chosen again.
    turns = request.max_steps + told
    pointing = (1 + request.max_reasks) if made.things else 0
    return CallBounds(
        most=turns * (1 + request.max_reasks) * (1 + revised),
        each=turns * STEP_TOKENS + (request.max_reasks + revised) * reply,
        # An answer that reveals a place is rejected once.
        beside=2 * told + pointing,
        in_all=(2 * told + pointing) * (_ORACLE_TOKENS + reply),
    )


def finish(_: EvalPlan, run: Path) -> dict[str, Any]:
    """Return the scores that the run adds to ``summary.json``."""
    return {"scores": read_scores(run).record()}
