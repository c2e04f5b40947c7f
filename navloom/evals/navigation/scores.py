"""What an episode scores and why it failed, as a line keeps it; and what a run's lines add up to.

Lines are read one after another and only their numbers are kept, so that a run of thousands of
episodes costs no more memory than its scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from navloom.evals.navigation.bootstrap import summarise
from navloom.evals.navigation.failures import analyse
from navloom.evals.navigation.metrics import METRICS, Contacts, EpisodeScore, score_episodes
from navloom.evals.run_folder import fold_samples, read_run
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Scene

__all__ = ["COUNTS", "RunScores", "read_scores", "scored"]

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
    score = _score(episode, result, scene, touches)
    tags = analyse(result, episode, scene, success=score.success).tags
    reason = None if score.success else _reason(result, score)
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
    episode: Episode, result: Mapping[str, Any], scene: Scene, touches: bool
) -> EpisodeScore:
    walked = [pose[0] for pose in result["trajectory"]]
    contacts = {}
    if touches:
        metres = tuple(float(each["displacement"]) for each in result["contacts"])
        contacts[episode.id] = Contacts(metres, len(walked) - 1)
    (score,) = score_episodes(
        [episode],
        {episode.id: walked},
        lambda _: scene,
        # Whose reply could not be read chose no place to end at: never silently a stop.
        unstopped={episode.id} if result["end"] == "unparsed" else (),
        contacts=contacts,
    )
    return score


def _reason(result: Mapping[str, Any], score: EpisodeScore) -> str:
    if score.invalid is not None:
        return "invalid"
    return _AWAY if result["end"] == "stop" else str(result["end"])


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
