"""Scores and tags of a finished episode's line, and the scores of all lines of a run.

The lines of a run are read one by one and only numbers are kept, so a run of thousands of episodes
needs no more memory than its scores. To score a run again, a line is read as a `FinishedSample`:
the episode and the trajectory of the agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import RunError
from navloom.evals.navigation import metrics
from navloom.evals.navigation.embodied_graph import body_points
from navloom.evals.navigation.failure_analysis import analyse
from navloom.evals.navigation.graph_distances import InvalidEpisode
from navloom.evals.navigation.request import NOTICEABLE_M
from navloom.evals.navigation.submission import read_viewpoints
from navloom.evals.report.formatting import NOTHING, format_number, percent
from navloom.evals.run_folder import for_each_sample, iter_samples
from navloom.evals.run_kinds import read_run_of_kind
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Point3, Scene
from navloom.tools.navigation.disclosures import KINDS
from navloom.tools.navigation.step_records import Trajectory, floor_points


@dataclass
class OracleScores:
    """Counts of what the answers of a run's oracle gave away.

    Attributes:
        knows: knowledge level; ``nothing`` for a random oracle, ``bound`` for the oracle that knows
            the path and speaks at every step.
        arrival: whether it says that the agent has reached the goal.
        ask_cost: steps that a question costs.
        answers: number of answers that were checked for information they give away.
        told: kind of information -> number of answers that gave it away.
    """

    knows: str
    arrival: bool = True
    ask_cost: int = 0
    answers: int = 0
    told: Counter[str] = field(default_factory=Counter)

    def add(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Add the answers in an episode's steps. Old runs lack the record of giveaways."""
        for step in steps:
            for said in (step.get("asked"), step.get("oracle")):
                if said and said.get("told") is not None:
                    self.answers += 1
                    self.told.update(said["told"])

    def record(self) -> dict[str, Any]:
        """Return the counts for ``summary.json``, with ``told`` as shares of the answers."""
        many = self.answers
        told = {kind: round(self.told[kind] / many, 4) for kind in KINDS} if many else {}
        return {**asdict(self), "told": told}


def empty_oracle_scores(request: Mapping[str, Any]) -> OracleScores | None:
    """Return empty oracle scores for a request, or None if it has no oracle.

    Requests of old versions have no levels: their oracle was told the path.
    """
    if request.get("oracle") == "bound":
        return OracleScores("bound")
    if not (request.get("dialogue") or request.get("oracle") in ("assistant", "path")):
        return None
    by_lot = (request.get("oracle_model") or request.get("model")) == "builtin/random"
    return OracleScores(
        "nothing" if by_lot else request.get("oracle_knows", "path"),
        request.get("oracle_arrival", True),
        request.get("ask_cost", 0),
    )


COUNTS = (
    "steps",
    "reprompts",
    "unparsed",
    "invalid_option",
    "refusal",
    "revisions",
    "questions",
    "oracle_calls",
    "leaks",
)
"""Counts that a navigator records for each episode."""
_AWAY = "stopped_away"
_KEPT = (*metrics.METRICS, metrics.ACTIONS, "cluster")


def score_sample(
    episode: Episode,
    state: Mapping[str, Any],
    scene: Scene,
    *,
    touches: bool = False,
    noticeable: float = NOTICEABLE_M,
) -> dict[str, Any]:
    """Score a finished episode and return the columns of its line.

    Args:
        episode: the episode.
        state: the navigator's final state.
        scene: its scene.
        touches: whether the simulator reports contacts.
        noticeable: minimum displacement in metres that makes a contact a collision.

    Returns:
        ``status``, ``reason``, ``message`` and ``result``: the navigator's own with ``episode``,
        ``scores`` and ``tags``.
    """
    result = dict(state["result"])
    walk = Trajectory.read(result)
    actions = max(0, len(walk.poses) - 1)
    contacts = metrics.EpisodeContacts(walk.touched, actions, noticeable) if touches else None
    score = _score(episode, walk, scene, contacts, result.get("pointed"))
    tags = analyse(walk, episode, scene, success=score.success).tags
    reason = None if score.success else _reason(walk, score)
    return {
        "status": "ok" if score.success else "failed",
        "reason": reason,
        "message": reason and _message(reason, state, score),
        "result": result
        | {"episode": episode.model_dump(mode="json"), "scores": score.record(), "tags": tags},
    }


def _score(
    episode: Episode,
    walk: Trajectory,
    scene: Scene,
    contacts: metrics.EpisodeContacts | None,
    pointed: Any,
) -> metrics.EpisodeScore:
    walked = [viewpoint for viewpoint, _ in walk.poses]
    asked, points = isinstance(pointed, Mapping), body_points(walked, walk.points, scene)
    (score,) = metrics.score_episodes(
        [episode],
        {episode.id: walked},
        lambda _: scene,
        ends={episode.id: walk.end},
        contacts={} if contacts is None else {episode.id: contacts},
        pointed={episode.id: pointed["object"]} if asked else {},
        points={} if points is None else {episode.id: points},
    )
    return score


def _reason(walk: Trajectory, score: metrics.EpisodeScore) -> str:
    if score.invalid is not None:
        return "invalid"
    return _AWAY if walk.end == "stop" else walk.end


def _message(reason: str, state: Mapping[str, Any], score: metrics.EpisodeScore) -> str:
    if score.invalid is not None:
        return score.invalid.message
    left = score.values["NE"]
    far = "where no way leads to the goal" if left is None else f"{left:.2f} m from the goal"
    said = {_AWAY: "stopped", "max_steps": "the steps ran out", "dead_end": "no way on"}
    return f"{said.get(reason) or state.get('message') or reason}, {far}"


@dataclass
class RunScores:
    """Scores of the finished episodes of a run, added up line by line.

    Attributes:
        task: name of the dataset.
        agent: name of the agent.
        model: model of the navigator.
        episodes: number of finished episodes.
        scores: metrics and cluster of each episode.
        counts: name of ``COUNTS`` -> total over all episodes.
        tokens: total input and output tokens.
        seconds: total duration.
        cost_usd: total cost; None if a price is unknown.
        ends: kind of end -> number of episodes.
        behaviours: behaviour -> number of episodes, failed or successful.
        invalid: number of invalid trajectories.
        oracle: scores of its oracle; None if it has none.
        rooms_named: number of scenes with labelled rooms, which prompts then name.
    """

    task: str = ""
    agent: str = ""
    model: str = ""
    oracle: OracleScores | None = None
    episodes: int = 0
    scores: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, float] = field(default_factory=dict)
    tokens: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    cost_usd: float | None = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    behaviours: Counter[str] = field(default_factory=Counter)
    invalid: int = 0
    rooms_named: int = 0

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a finished sample's line."""
        result, usage = line["result"], line.get("usage") or {}
        scores = result["scores"]
        self.episodes += 1
        self.scores.append({name: scores[name] for name in _KEPT if name in scores})
        for name in COUNTS:
            self.counts[name] = self.counts.get(name, 0) + result["counts"].get(name, 0)
        read, written = (usage.get(key, 0) for key in ("input_tokens", "output_tokens"))
        self.tokens = (self.tokens[0] + read, self.tokens[1] + written)
        self.seconds += line.get("seconds") or 0.0
        cost = line.get("cost_usd")
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost
        self.ends[result["end"]] += 1
        self.behaviours.update(result["tags"]["behaviour"])
        self.invalid += scores["invalid"] is not None
        if self.oracle is not None:
            self.oracle.add(result["steps"])

    def record(self) -> dict[str, Any]:
        """Return the scores for ``summary.json``: means with intervals, and means an episode."""
        many = max(1, self.episodes)
        return {
            "task": self.task,
            "agent": self.agent,
            "model": self.model,
            "episodes": self.episodes,
            "metrics": {
                row.metric: {"mean": row.mean, "interval": row.interval, "n": row.n}
                for row in metrics.mean_metrics(self.scores)
            },
            "invalid": self.invalid,
            "rooms_named": self.rooms_named,
            "an_episode": {
                **{name: round(total / many, 4) for name, total in self.counts.items()},
                "input_tokens": round(self.tokens[0] / many, 1),
                "output_tokens": round(self.tokens[1] / many, 1),
                "seconds": round(self.seconds / many, 4),
            },
            "cost_usd": self.cost_usd,
            "ends": dict(sorted(self.ends.items())),
            "behaviours": dict(sorted(self.behaviours.items())),
            "oracle": self.oracle and self.oracle.record(),
        }


def read_scores(run: Path | str) -> RunScores:
    """Add up the scores of a run's finished episodes.

    Raises:
        RunError: the folder is not an evaluation run, or is broken.
    """
    found = empty_run_scores(read_run_of_kind(run, "navigate")["request"])
    for_each_sample(run, found.add, "an episode")
    return found


def empty_run_scores(request: Mapping[str, Any]) -> RunScores:
    """Return empty run scores for a request as recorded in ``run.json``."""
    task, agent, model = (str(request.get(key)) for key in ("task", "agent", "model"))
    found = RunScores(task, agent, model, empty_oracle_scores(request))
    scenes = request.get("scenes")
    named = scenes.get("rooms_named") if isinstance(scenes, Mapping) else None
    found.rooms_named = named if isinstance(named, int) else 0
    return found


EFFORT = ("steps", "input_tokens", "output_tokens", "cost_usd", "seconds")
"""Effort measures of an episode, present if the source records them."""


def format_metric(name: str, value: float | None, sign: str = "") -> str:
    """Format a metric or effort for tables: shares in per cent, metres and counts as numbers.

    Args:
        name: name of the metric.
        value: value in JSON form; None if undefined.
        sign: ``+`` for a difference. Differences of shares are in percentage points.
    """
    if value is None:
        return NOTHING
    if name in metrics.SHARES:
        return f"{100 * value:+.1f}" if sign else percent(value)
    return (
        f"{value:{sign}.2f}"
        if name in metrics.METRICS and abs(value) < 1_000
        else format_number(value, sign)
    )


def format_interval(name: str, interval: Sequence[float], between: str, sign: str = "") -> str:
    """Format both ends of an interval as in tables."""
    return between.join(format_metric(name, end, sign).removesuffix("%") for end in interval)


def metric_cell(name: str, measured: Mapping[str, Any] | None, sign: str = "") -> str:
    """Format a metric's ``mean`` followed by its ``interval``, as in tables."""
    mean, ends = (None, None) if measured is None else (measured["mean"], measured["interval"])
    said = format_metric(name, mean, sign)
    return (
        f"{said} [{format_interval(name, ends, ', ', sign)}]" if ends and said != NOTHING else said
    )


@dataclass(frozen=True)
class FinishedSample:
    """One finished sample, reduced to what scoring needs.

    Attributes:
        id: id of the sample.
        episode: episode in the line.
        path: viewpoints of the trajectory, or their fault.
        end: how the episode ended; empty if not recorded.
        contacts: contacts of the body; None if they were not reported.
        points: floor position of the body at each viewpoint; None for the viewpoint's own.
        pointed: sample id -> object named at the end; empty if none was asked for.
        effort: name of ``EFFORT`` -> value.
    """

    id: str
    episode: Episode
    path: list[str] | InvalidEpisode
    end: str
    contacts: metrics.EpisodeContacts | None
    points: tuple[Point3 | None, ...]
    pointed: Mapping[str, str | None]
    effort: Mapping[str, float | None]


def read_finished(run: Path | str) -> Iterator[FinishedSample]:
    """Yield the finished samples of a run, sorted by id, reduced to what scoring needs.

    Raises:
        RunError: the folder is not a run, or a line does not have the form of an episode.
    """
    asked = read_run_of_kind(run, "navigate")["request"].get("collision_threshold")
    noticeable = float(asked) if isinstance(asked, int | float) else NOTICEABLE_M
    for line in iter_samples(run):
        try:
            yield _trial(line, noticeable)
        except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
            what = "its episode" if isinstance(error, ValidationError) else repr(error)[:100]
            raise RunError(
                f"{run}: the sample '{line['id']}' has not the form of a navigated episode"
                f" ({what}): give a run of `navloom eval`"
            ) from None


def read_effort(line: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the effort of a finished sample by ``EFFORT``; None for values not recorded."""
    usage, result = line.get("usage") or {}, line.get("result") or {}
    values = {
        "steps": (result.get("counts") or {}).get("steps"),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cost_usd": line.get("cost_usd"),
        "seconds": line.get("seconds"),
    }
    return {name: float(v) if isinstance(v, int | float) else None for name, v in values.items()}


def _trial(line: Mapping[str, Any], noticeable: float) -> FinishedSample:
    result = line["result"]
    path = read_viewpoints(result["trajectory"])
    touched, scores = result.get("contacts") or [], result.get("scores") or {}
    pointed = result.get("pointed")
    contacts = None
    if (touched or "SR_telhop" in scores) and not isinstance(path, InvalidEpisode):
        metres = tuple(float(each["displacement"]) for each in touched)
        contacts = metrics.EpisodeContacts(metres, len(path) - 1, noticeable)
    return FinishedSample(
        line["id"],
        Episode.model_validate(result["episode"]),
        path,
        str(result.get("end") or ""),
        contacts,
        floor_points(result["trajectory"]),
        {line["id"]: pointed.get("object")} if isinstance(pointed, Mapping) else {},
        read_effort(line),
    )
