"""A finished episode's line: what it scores and why it failed, written; and lines read again.

What a run's lines add up to is read one line after another, and only numbers are kept, so that a
run of thousands of episodes costs no more memory than its scores. For scoring anew a line is a
`Trial`: the episode, and where the agent went.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import RunError
from navloom.evals.navigation.bootstrap import summarise
from navloom.evals.navigation.failures import analyse
from navloom.evals.navigation.metrics import (
    METRICS,
    Contacts,
    EpisodeScore,
    Invalid,
    score_episodes,
)
from navloom.evals.navigation.submission import viewpoints_of
from navloom.evals.run_folder import fold_samples, read_run
from navloom.evals.tasks.episode import Episode
from navloom.files import read_lines
from navloom.scenes.scene import Scene
from navloom.tools.navigation.steps import Walk

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
_KEPT = (*METRICS, "cluster")


def scored(
    episode: Episode, state: Mapping[str, Any], scene: Scene, *, touches: bool = False
) -> dict[str, Any]:
    """The columns of a finished episode's line.

    Args:
        episode: what was to be done.
        state: the navigator's final state.
        scene: where.
        touches: whether the simulator reports contacts.

    Returns:
        ``status``, ``reason``, ``message`` and ``result``: the navigator's own with ``episode``,
        ``scores`` and ``tags``.
    """
    result = dict(state["result"])
    walk = Walk.read(result)
    score = _score(episode, walk, scene, touches)
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


def _score(episode: Episode, walk: Walk, scene: Scene, touches: bool) -> EpisodeScore:
    walked = [viewpoint for viewpoint, _ in walk.poses]
    contacts = {episode.id: Contacts(walk.touched, len(walked) - 1)} if touches else {}
    (score,) = score_episodes(
        [episode],
        {episode.id: walked},
        lambda _: scene,
        # Whose reply could not be read chose no place to end at: never silently a stop.
        unstopped={episode.id} if walk.end == "unparsed" else (),
        contacts=contacts,
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
    """

    task: str = ""
    agent: str = ""
    model: str = ""
    episodes: int = 0
    scores: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, float] = field(default_factory=dict)
    tokens: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    cost_usd: float | None = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    behaviours: Counter[str] = field(default_factory=Counter)
    invalid: int = 0

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
            "an_episode": {
                **{name: round(total / many, 4) for name, total in self.counts.items()},
                "input_tokens": round(self.tokens[0] / many, 1),
                "output_tokens": round(self.tokens[1] / many, 1),
                "seconds": round(self.seconds / many, 4),
            },
            "cost_usd": self.cost_usd,
            "ends": dict(sorted(self.ends.items())),
            "behaviours": dict(sorted(self.behaviours.items())),
        }


def read_scores(run: Path | str) -> RunScores:
    """What the finished episodes of a run add up to.

    Raises:
        RunError: the folder is no run of an evaluation, or is broken.
    """
    request = read_run(run)["request"]
    task, agent, model = (str(request.get(key)) for key in ("task", "agent", "model"))
    found = RunScores(task, agent, model)
    fold_samples(run, found.add, "an episode")
    return found


EFFORT = ("steps", "input_tokens", "output_tokens", "cost_usd", "seconds")
"""What an episode took, where the source says."""


@dataclass(frozen=True)
class Trial:
    """One finished sample.

    Attributes:
        id: the sample's.
        episode: as the line has it.
        path: viewpoints, or what is wrong with them.
        stopped: False where the end is none that the agent chose.
        contacts: what it touched, where that was reported.
        effort: by ``EFFORT``, what it took.
    """

    id: str
    episode: Episode
    path: list[str] | Invalid
    stopped: bool
    contacts: Contacts | None
    effort: Mapping[str, float | None]


def read_trials(run: Path | str) -> Iterator[Trial]:
    """The finished samples of a run, in the order they ended; only what scoring needs is kept.

    Raises:
        RunError: the folder is no run, or a line has not the form of an episode.
    """
    read_run(run)
    for line in read_lines(Path(run) / "samples.jsonl"):
        try:
            yield _trial(line)
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


def _trial(line: Mapping[str, Any]) -> Trial:
    result = line["result"]
    path = viewpoints_of(result["trajectory"])
    touched, scores = result.get("contacts") or [], result.get("scores") or {}
    contacts = None
    if (touched or "SR_telhop" in scores) and not isinstance(path, Invalid):
        metres = tuple(float(each["displacement"]) for each in touched)
        contacts = Contacts(metres, len(path) - 1)
    return Trial(
        line["id"],
        Episode.model_validate(result["episode"]),
        path,
        # Whose reply could not be read chose no place to end at: never silently a stop.
        result.get("end") != "unparsed",
        contacts,
        effort_of(line),
    )
