"""A finished episode's line: what it scores and why it failed, written; and lines read again.

What a run's lines add up to is read one line after another, and only numbers are kept, so that a
run of thousands of episodes costs no more memory than its scores. For scoring anew a line is a
`Trial`: the episode, and where the agent went.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import RunError
from navloom.evals.kinds import read_run_of
from navloom.evals.navigation.failures import analyse
from navloom.evals.navigation.ground import Invalid
from navloom.evals.navigation.metrics import (
    ACTIONS,
    METRICS,
    SHARES,
    Contacts,
    EpisodeScore,
    score_episodes,
    summarise,
)
from navloom.evals.navigation.request import NOTICEABLE_M
from navloom.evals.navigation.submission import viewpoints_of
from navloom.evals.navigation.walked import stood_at
from navloom.evals.report.document import NOTHING, number, percent
from navloom.evals.run_folder import each_sample, fold_samples
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Point3, Scene
from navloom.tools.navigation.giveaways import KINDS
from navloom.tools.navigation.steps import Walk, points_of


@dataclass
class OracleScores:
    """What the answers of one run's oracle add up to.

    Attributes:
        knows: a level; ``nothing`` of one that draws by lot, ``bound`` of the one that knows the
            path and speaks at every step.
        arrival: whether it says if this is the goal.
        ask_cost: steps that a question costs.
        answers: how many were looked at for what they give away.
        told: how many of them gave away what.
    """

    knows: str
    arrival: bool = True
    ask_cost: int = 0
    answers: int = 0
    told: Counter[str] = field(default_factory=Counter)

    def add(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Add what was said in an episode's steps; old runs do not say what it gave away."""
        for step in steps:
            for said in (step.get("asked"), step.get("oracle")):
                if said and said.get("told") is not None:
                    self.answers += 1
                    self.told.update(said["told"])

    def record(self) -> dict[str, Any]:
        """As ``summary.json`` keeps it: ``told`` by kind, as shares of the answers."""
        many = self.answers
        told = {kind: round(self.told[kind] / many, 4) for kind in KINDS} if many else {}
        return {**asdict(self), "told": told}


def oracle_of(request: Mapping[str, Any]) -> OracleScores | None:
    """The oracle of a run's request; before there were levels each was told the path."""
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
"""What a navigator counts, an episode."""
_AWAY = "stopped_away"
_KEPT = (*METRICS, ACTIONS, "cluster")


def scored(
    episode: Episode,
    state: Mapping[str, Any],
    scene: Scene,
    *,
    touches: bool = False,
    noticeable: float = NOTICEABLE_M,
) -> dict[str, Any]:
    """The columns of a finished episode's line.

    Args:
        episode: what was to be done.
        state: the navigator's final state.
        scene: where.
        touches: whether the simulator reports contacts.
        noticeable: metres of displacement from which on a contact is a collision.

    Returns:
        ``status``, ``reason``, ``message`` and ``result``: the navigator's own with ``episode``,
        ``scores`` and ``tags``.
    """
    result = dict(state["result"])
    walk = Walk.read(result)
    actions = max(0, len(walk.poses) - 1)
    contacts = Contacts(walk.touched, actions, noticeable) if touches else None
    score = _score(episode, walk, scene, contacts, result.get("pointed"))
    tags = analyse(walk, episode, scene, success=score.success).tags
    reason = None if score.success else _reason(walk, score)
    return {
        "status": "ok" if score.success else "failed",
        "reason": reason,
        "message": reason and _message(reason, state, score),
        "result": {
            **result,
            "episode": episode.model_dump(mode="json"),
            "scores": score.record(),
            "tags": tags,
        },
    }


def _score(
    episode: Episode, walk: Walk, scene: Scene, contacts: Contacts | None, pointed: Any
) -> EpisodeScore:
    walked = [viewpoint for viewpoint, _ in walk.poses]
    asked, points = isinstance(pointed, Mapping), stood_at(walked, walk.points, scene)
    (score,) = score_episodes(
        [episode],
        {episode.id: walked},
        lambda _: scene,
        ends={episode.id: walk.end},
        contacts={} if contacts is None else {episode.id: contacts},
        pointed={episode.id: pointed["object"]} if asked else {},
        points={} if points is None else {episode.id: points},
    )
    return score


def _reason(walk: Walk, score: EpisodeScore) -> str:
    if score.invalid is not None:
        return "invalid"
    return _AWAY if walk.end == "stop" else walk.end


def _message(reason: str, state: Mapping[str, Any], score: EpisodeScore) -> str:
    if score.invalid is not None:
        return score.invalid.message
    left = score.values["NE"]
    far = "where no way leads to the goal" if left is None else f"{left:.2f} m from the goal"
    said = {_AWAY: "stopped", "max_steps": "the steps ran out", "dead_end": "no way on"}
    return f"{said.get(reason) or state.get('message') or reason}, {far}"


@dataclass
class RunScores:
    """What a run's finished episodes add up to.

    Attributes:
        task: the dataset.
        agent: by name.
        model: of the navigator.
        episodes: how many are finished.
        scores: each one's metrics and cluster.
        counts: by ``COUNTS``, an episode's.
        tokens: in and out, an episode.
        seconds: an episode.
        cost_usd: of all of them; None where a price is not known.
        ends: how many ended in which way.
        behaviours: how many episodes showed which, of failures and successes together.
        invalid: how many trajectories nobody can have walked.
        oracle: its oracle, and what that gave away; None where it has none.
        rooms_named: scenes whose rooms have labels of their own, which prompts then name.
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
        self.tokens = (
            self.tokens[0] + usage.get("input_tokens", 0),
            self.tokens[1] + usage.get("output_tokens", 0),
        )
        self.seconds += line.get("seconds") or 0.0
        cost = line.get("cost_usd")
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost
        self.ends[result["end"]] += 1
        self.behaviours.update(result["tags"]["behaviour"])
        self.invalid += scores["invalid"] is not None
        if self.oracle is not None:
            self.oracle.add(result["steps"])

    def record(self) -> dict[str, Any]:
        """As ``summary.json`` keeps it: means with intervals, and means an episode."""
        many = max(1, self.episodes)
        return {
            "task": self.task,
            "agent": self.agent,
            "model": self.model,
            "episodes": self.episodes,
            "metrics": {
                row.metric: {"mean": row.mean, "interval": row.interval, "n": row.n}
                for row in summarise(self.scores)
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
    """What the finished episodes of a run add up to.

    Raises:
        RunError: the folder is no run of an evaluation, or is broken.
    """
    found = scores_for(read_run_of(run, "navigate")["request"])
    fold_samples(run, found.add, "an episode")
    return found


def scores_for(request: Mapping[str, Any]) -> RunScores:
    """What scores of a run are added up in, from its request as ``run.json`` has it."""
    task, agent, model = (str(request.get(key)) for key in ("task", "agent", "model"))
    found = RunScores(task, agent, model, oracle_of(request))
    scenes = request.get("scenes")
    named = scenes.get("rooms_named") if isinstance(scenes, Mapping) else None
    found.rooms_named = named if isinstance(named, int) else 0
    return found


EFFORT = ("steps", "input_tokens", "output_tokens", "cost_usd", "seconds")
"""What an episode took, where the source says."""


def spoken(name: str, value: float | None, sign: str = "") -> str:
    """A metric or an effort as every table has it: shares per cent, metres and counts as they are.

    Args:
        name: of the metric.
        value: as JSON has it; None where it is not defined.
        sign: ``+`` for a difference, which of shares is in percentage points.
    """
    if value is None:
        return NOTHING
    if name in SHARES:
        return f"{100 * value:+.1f}" if sign else percent(value)
    return f"{value:{sign}.2f}" if name in METRICS and abs(value) < 1_000 else number(value, sign)


def ends_of(name: str, interval: Sequence[float], between: str, sign: str = "") -> str:
    """Both ends of an interval, as tables have the score."""
    return between.join(spoken(name, end, sign).removesuffix("%") for end in interval)


def measured_cell(name: str, measured: Mapping[str, Any] | None, sign: str = "") -> str:
    """A metric's ``mean`` and its ``interval`` behind it, as tables have them."""
    mean, ends = (None, None) if measured is None else (measured["mean"], measured["interval"])
    said = spoken(name, mean, sign)
    return f"{said} [{ends_of(name, ends, ', ', sign)}]" if ends and said != NOTHING else said


@dataclass(frozen=True)
class Trial:
    """One finished sample.

    Attributes:
        id: the sample's.
        episode: as the line has it.
        path: viewpoints, or what is wrong with them.
        end: how the walk ended; empty where the line does not say.
        contacts: what it touched, where that was reported.
        points: the floor under the body, one a viewpoint; None where it is its viewpoint's.
        pointed: the object that was named at the end; no key where none was asked for.
        effort: by ``EFFORT``, what it took.
    """

    id: str
    episode: Episode
    path: list[str] | Invalid
    end: str
    contacts: Contacts | None
    points: tuple[Point3 | None, ...]
    pointed: Mapping[str, str | None]
    effort: Mapping[str, float | None]


def read_trials(run: Path | str) -> Iterator[Trial]:
    """The finished samples of a run, sorted by id; only what scoring needs is kept.

    Raises:
        RunError: the folder is no run, or a line has not the form of an episode.
    """
    asked = read_run_of(run, "navigate")["request"].get("collision_threshold")
    noticeable = float(asked) if isinstance(asked, int | float) else NOTICEABLE_M
    for line in each_sample(run):
        try:
            yield _trial(line, noticeable)
        except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
            what = "its episode" if isinstance(error, ValidationError) else repr(error)[:100]
            raise RunError(
                f"{run}: the sample '{line['id']}' has not the form of a navigated episode"
                f" ({what}): give a run of `navloom eval`"
            ) from None


def effort_of(line: Mapping[str, Any]) -> dict[str, float | None]:
    """What a finished sample took, by ``EFFORT``; None where its line does not say."""
    usage, result = line.get("usage") or {}, line.get("result") or {}
    values = {
        "steps": (result.get("counts") or {}).get("steps"),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cost_usd": line.get("cost_usd"),
        "seconds": line.get("seconds"),
    }
    return {name: float(v) if isinstance(v, int | float) else None for name, v in values.items()}


def _trial(line: Mapping[str, Any], noticeable: float) -> Trial:
    result = line["result"]
    path = viewpoints_of(result["trajectory"])
    touched, scores = result.get("contacts") or [], result.get("scores") or {}
    pointed = result.get("pointed")
    contacts = None
    if (touched or "SR_telhop" in scores) and not isinstance(path, Invalid):
        metres = tuple(float(each["displacement"]) for each in touched)
        contacts = Contacts(metres, len(path) - 1, noticeable)
    return Trial(
        line["id"],
        Episode.model_validate(result["episode"]),
        path,
        str(result.get("end") or ""),
        contacts,
        points_of(result["trajectory"]),
        {line["id"]: pointed.get("object")} if isinstance(pointed, Mapping) else {},
        effort_of(line),
    )
