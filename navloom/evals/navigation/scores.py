"""A finished episode's line: what it scores and why it failed, written; and lines read again.

What a run's lines add up to is read one line after another, and only numbers are kept, so that a
run of thousands of episodes costs no more memory than its scores. For scoring anew a line is a
`Trial`: the episode, and where the agent went.

Anyone's submission to R2R or REVERIE is read as data that nobody vouches for: a JSON list of
``{"instr_id": ..., "trajectory": [...]}``, where a trajectory is a list of ``[viewpoint, heading,
elevation]``. Other people's forms are taken too: viewpoints as plain strings, and lists of
viewpoints that were passed in one go (``[["a"], ["b", "c"]]``). Headings are not looked at. What is
wrong with one entry is kept beside its id, and the others are read on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import DataError, RunError
from navloom.evals.navigation.failures import analyse
from navloom.evals.navigation.ground import MOST_POSITIONS, Invalid
from navloom.evals.navigation.metrics import (
    METRICS,
    SHARES,
    Contacts,
    EpisodeScore,
    score_episodes,
    summarise,
)
from navloom.evals.navigation.oracle_scores import OracleScores, oracle_of
from navloom.evals.report.document import NOTHING, number, percent
from navloom.evals.run_folder import each_sample, fold_samples, read_run
from navloom.evals.tasks.episode import Episode
from navloom.files import open_file
from navloom.scenes.checked_files import short
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
    score = _score(episode, walk, scene, touches, result.get("pointed"))
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


def _score(episode: Episode, walk: Walk, scene: Scene, touches: bool, pointed: Any) -> EpisodeScore:
    walked = [viewpoint for viewpoint, _ in walk.poses]
    contacts = {episode.id: Contacts(walk.touched, len(walked) - 1)} if touches else {}
    asked = isinstance(pointed, Mapping)
    (score,) = score_episodes(
        [episode],
        {episode.id: walked},
        lambda _: scene,
        ends={episode.id: walk.end},
        contacts=contacts,
        pointed={episode.id: pointed["object"]} if asked else {},
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
    request = read_run(run)["request"]
    task, agent, model = (str(request.get(key)) for key in ("task", "agent", "model"))
    found = RunScores(task, agent, model, oracle_of(request))
    scenes = request.get("scenes")
    named = scenes.get("rooms_named") if isinstance(scenes, Mapping) else None
    found.rooms_named = named if isinstance(named, int) else 0
    fold_samples(run, found.add, "an episode")
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


@dataclass(frozen=True)
class Trial:
    """One finished sample.

    Attributes:
        id: the sample's.
        episode: as the line has it.
        path: viewpoints, or what is wrong with them.
        end: how the walk ended; empty where the line does not say.
        contacts: what it touched, where that was reported.
        pointed: the object that was named at the end; no key where none was asked for.
        effort: by ``EFFORT``, what it took.
    """

    id: str
    episode: Episode
    path: list[str] | Invalid
    end: str
    contacts: Contacts | None
    pointed: Mapping[str, str | None]
    effort: Mapping[str, float | None]


def read_trials(run: Path | str) -> Iterator[Trial]:
    """The finished samples of a run, sorted by id; only what scoring needs is kept.

    Raises:
        RunError: the folder is no run, or a line has not the form of an episode.
    """
    for line in each_sample(run):
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
    pointed = result.get("pointed")
    contacts = None
    if (touched or "SR_telhop" in scores) and not isinstance(path, Invalid):
        metres = tuple(float(each["displacement"]) for each in touched)
        contacts = Contacts(metres, len(path) - 1)
    return Trial(
        line["id"],
        Episode.model_validate(result["episode"]),
        path,
        str(result.get("end") or ""),
        contacts,
        {line["id"]: pointed.get("object")} if isinstance(pointed, Mapping) else {},
        effort_of(line),
    )


MOST_BYTES = 256 * 1024 * 1024
MOST_ENTRIES = 1_000_000
_DEEPEST = 3
_MOST_ITEMS = 4 * MOST_POSITIONS


@dataclass(frozen=True)
class Fault:
    """Something in a submission that counts as a failed episode, or belongs to none.

    Attributes:
        id: the instruction's, as far as there is one.
        what: why.
    """

    id: str
    what: Invalid

    def record(self) -> dict[str, str]:
        """As JSON."""
        return {"instr_id": self.id, "reason": self.what.reason, "message": self.what.message}


@dataclass(frozen=True)
class Submission:
    """What a file holds.

    Attributes:
        entries: how many there are.
        trajectories: viewpoints by instruction, of the entries that can be read.
        faults: the others, by instruction.
        nameless: entries that name no instruction at all.
        pointed: by instruction, the object that an entry names (REVERIE's ``predObjId``).
    """

    entries: int
    trajectories: Mapping[str, tuple[str, ...]]
    faults: Mapping[str, Fault]
    nameless: tuple[Fault, ...]
    pointed: Mapping[str, str] = field(default_factory=dict)


def read_submission(path: Path | str) -> Submission:
    """Read a submission.

    An instruction that stands twice is faulty, whatever its trajectories: which one was meant
    is nobody's guess.

    Raises:
        DataError: the file is missing, too large, no JSON, or no list of objects at all.
    """
    entries = _load(Path(path))
    trajectories: dict[str, tuple[str, ...]] = {}
    faults: dict[str, Fault] = {}
    nameless: list[Fault] = []
    seen: dict[str, int] = {}
    names: dict[str, str] = {}
    pointed: dict[str, str] = {}
    for k, entry in enumerate(entries):
        name = entry.get("instr_id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name or len(name) > 200:
            said = f"expected an object with instr_id and trajectory, found {short(entry)}"
            nameless.append(Fault(f"[{k}]", Invalid("malformed", said)))
            continue
        if name in seen:
            twice = f"it stands twice, as entries {seen[name]} and {k}"
            faults[name] = Fault(name, Invalid("duplicate", twice))
            trajectories.pop(name, None)
            continue
        seen[name] = k
        named = entry.get("predObjId")
        if isinstance(named, str | int) and not isinstance(named, bool):
            pointed[name] = str(named)[:200]
        found = viewpoints_of(entry.get("trajectory"))
        if isinstance(found, Invalid):
            faults[name] = Fault(name, found)
        else:
            # Thousands of trajectories name the same few hundred viewpoints: each is held once.
            trajectories[name] = tuple(names.setdefault(v, v) for v in found)
    return Submission(len(entries), trajectories, faults, tuple(nameless), pointed)


def viewpoints_of(trajectory: Any) -> list[str] | Invalid:
    """The viewpoints of a trajectory in any of the forms in use, in order, or what is wrong.

    Args:
        trajectory: a list of ``[viewpoint, heading, elevation]``, of viewpoints, or of lists of
            either, at most three deep.
    """
    if not isinstance(trajectory, list):
        return Invalid("malformed", f"its trajectory is {short(trajectory)}: expected a list")
    found: list[str] = []
    for count, item in enumerate(_items(trajectory, _DEEPEST)):
        if isinstance(item, Invalid):
            return item
        if count >= _MOST_ITEMS or len(found) > MOST_POSITIONS:
            said = f"its trajectory is too long: expected at most {MOST_POSITIONS:,} positions"
            return Invalid("too_long", said)
        if isinstance(item, str):
            found.append(item)
    return found


def _items(values: list[Any], depth: int) -> Iterator[str | Invalid | None]:
    """Viewpoints in order, None for an angle, an ``Invalid`` for what is neither."""
    for k, value in enumerate(values):
        if isinstance(value, list):
            if depth == 0:
                yield Invalid("malformed", "its trajectory is nested beyond reason")
            else:
                yield from _items(value, depth - 1)
        elif isinstance(value, str):
            yield value
        elif k and depth < _DEEPEST and (value is None or isinstance(value, int | float)):
            yield None
        else:
            yield Invalid(
                "malformed",
                f"its trajectory holds {short(value)}: expected [viewpoint, heading, elevation]",
            )


def _load(path: Path) -> list[Any]:
    try:
        with open_file(path) as stream:
            raw = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path}: cannot be read: {why}.") from None
    if len(raw) > MOST_BYTES:
        raise DataError(f"{path}: expected at most {MOST_BYTES:,} bytes, and the file is larger.")
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected a submission in JSON: {str(error)[:200]}.") from None
    if not isinstance(content, list) or not content:
        raise DataError(
            f"{path}: expected a list of {{instr_id, trajectory}}, found {short(content)}."
        )
    if len(content) > MOST_ENTRIES:
        raise DataError(f"{path}: expected at most {MOST_ENTRIES:,} entries, got {len(content):,}.")
    return content
