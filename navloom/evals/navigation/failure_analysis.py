"""Failure analysis of episodes (VLN-MME E.2), also of successes, and its counts over a run.

It has two levels, with steps as evidence: the agent's behaviour
(:mod:`navloom.evals.navigation.failure_behaviour`) and the cause for leaving the reference path
(:mod:`navloom.evals.navigation.failure_cause`). Both are computed from the trajectory, the step
records, the instruction and the scene. No model is asked.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from navloom.evals.navigation.episode_groups import NO_CHOICE
from navloom.evals.navigation.failure_behaviour import (
    BEHAVIOURS,
    RADIUS,
    Behaviour,
    Deviation,
    RolloutEvidence,
    find_behaviours,
    first_deviation,
    metres_along,
    metres_to_goal,
    reference_path,
)
from navloom.evals.navigation.failure_cause import CAUSES, Cause, build_fork, find_causes
from navloom.evals.report.formatting import Table, percent
from navloom.evals.tasks.episode import Episode
from navloom.files import package_yaml
from navloom.scenes.distances import cached_on_scene
from navloom.scenes.scene import Scene
from navloom.tools.navigation.step_records import Trajectory


@dataclass(frozen=True)
class FailureAnalysis:
    """Failure analysis of one episode, computed or read from its line.

    Attributes:
        success: whether the episode counts as a success.
        behaviours: at least one (``none``); an episode is counted under the first.
        cause: cause for leaving the reference path; ``none`` without a deviation or a fault.
        deviation: first deviation from the reference path, or None.
        reference: the reference path; empty if there is none or it was not computed.
        evidence: JSON under each behaviour's name, under ``causes`` (every rule that held), and
            under ``invalid_hop`` if the trajectory has one.
    """

    success: bool
    behaviours: tuple[Behaviour, ...]
    cause: Cause
    deviation: Deviation | None
    reference: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def behaviour(self) -> Behaviour:
        """Behaviour that the episode is counted under in tables that count each episode once."""
        return self.behaviours[0]

    @property
    def tags(self) -> dict[str, Any]:
        """Compact JSON record for ``samples.jsonl``."""
        return {
            "success": self.success,
            "behaviour": list(self.behaviours),
            "cause": self.cause,
            "first_deviation": self.deviation and self.deviation.record(),
            "evidence": dict(self.evidence),
        }


def analyse(
    result: Mapping[str, Any] | Trajectory,
    episode: Episode,
    scene: Scene,
    *,
    success: bool | None = None,
) -> FailureAnalysis:
    """Return an episode's analysis: behaviour, first deviation and cause. Nothing is raised.

    Args:
        result: a navigator's result: ``trajectory``, ``steps``, ``stopped``, ``end``. Malformed
            parts are left out.
        episode: the episode. Without a ground-truth path its reference is the shortest path to the
            nearest goal.
        scene: its scene.
        success: whether the episode counts as a success. By default, if it ended strictly within
            3 m of a goal, and not by unreadable replies or a collision.
    """
    walk = result if isinstance(result, Trajectory) else Trajectory.read(result)
    reference = reference_path(walk, episode, scene)
    to_goal = [metres_to_goal(viewpoint, episode, scene) for viewpoint in walk.viewpoints]
    if success is None:
        success = walk.end not in NO_CHOICE and bool(to_goal) and to_goal[-1] < RADIUS
    deviation = first_deviation(walk, reference, to_goal)
    excess = _excess(walk, reference, scene)
    proofs = find_behaviours(RolloutEvidence(walk, to_goal, deviation, success, excess))
    evidence: dict[str, Any] = {kind: proof for kind, proof in proofs.items() if proof}
    cause: Cause = "none"
    if deviation is not None and not (success and "none" in proofs):
        fork = build_fork(walk, deviation, reference, episode, scene)
        causes = find_causes(fork, episode.instruction, scene)
        cause = next(iter(causes))
        evidence["causes"] = {kind: proof for kind, proof in causes.items() if kind != "unknown"}
    elif not success:
        cause = "unknown"
    invalid = _invalid_hop(walk, scene)
    if invalid is not None:
        evidence["invalid_hop"] = invalid
    return FailureAnalysis(success, tuple(proofs), cause, deviation, reference, evidence)


def _excess(walk: Trajectory, reference: tuple[str, ...], scene: Scene) -> float:
    if not reference:
        return math.nan
    return metres_along(walk.viewpoints, scene) - metres_along(reference, scene)


def _invalid_hop(walk: Trajectory, scene: Scene) -> dict[str, Any] | None:
    """Return the first hop without an edge, or None."""
    edges = _edges(scene)
    for hop, (a, b) in enumerate(zip(walk.viewpoints, walk.viewpoints[1:], strict=False)):
        if (a, b) not in edges:
            return {"step": walk.step_at(hop), "from": a, "to": b}
    return None


@cached_on_scene
def _edges(scene: Scene) -> frozenset[tuple[str, str]]:
    return frozenset(pair for e in scene.edges for pair in ((e.a, e.b), (e.b, e.a)))


def read_tags(tags: Any) -> FailureAnalysis | None:
    """Return the tags in a line; None if they have not the form of ``FailureAnalysis.tags``."""
    if not isinstance(tags, Mapping) or not isinstance(tags.get("behaviour"), list):
        return None
    said = tags["behaviour"]
    behaviours = tuple(kind for kind in BEHAVIOURS if kind in said)
    cause = next((kind for kind in CAUSES if kind == tags.get("cause")), None)
    if not behaviours or len(behaviours) != len(said) or cause is None:
        return None
    evidence = tags.get("evidence")
    return FailureAnalysis(
        success=tags.get("success") is True,
        behaviours=tuple(sorted(behaviours, key=said.index)),
        cause=cause,
        deviation=Deviation.read(tags.get("first_deviation")),
        evidence=evidence if isinstance(evidence, Mapping) else {},
    )


@dataclass
class FailureTally:
    """Counts over the failed episodes of a run, or over the successful ones.

    Attributes:
        episodes: number of episodes.
        first: count by (behaviour, cause), each episode once under its first behaviour.
        anywhere: count by behaviour, an episode under each of its behaviours.
        details: count of details by behaviour, such as the kind of loop or of reply error.
    """

    episodes: int = 0
    first: Counter[tuple[Behaviour, Cause]] = field(default_factory=Counter)
    anywhere: Counter[Behaviour] = field(default_factory=Counter)
    details: dict[Behaviour, Counter[str]] = field(default_factory=dict)

    def add(self, tagged: FailureAnalysis) -> None:
        """Count an episode."""
        self.episodes += 1
        self.first[tagged.behaviour, tagged.cause] += 1
        self.anywhere.update(tagged.behaviours)
        for kind in tagged.behaviours:
            self.details.setdefault(kind, Counter()).update(_details(tagged.evidence.get(kind)))

    def of(self, behaviour: Behaviour) -> int:
        """Return the number of episodes that count under a behaviour."""
        return sum(count for (kind, _), count in self.first.items() if kind == behaviour)

    def by(self, cause: Cause) -> int:
        """Return the number of episodes with a cause."""
        return sum(count for (_, kind), count in self.first.items() if kind == cause)


@dataclass
class RunTallies:
    """Counts over the episodes of a run, failures and successes apart."""

    failed: FailureTally = field(default_factory=FailureTally)
    succeeded: FailureTally = field(default_factory=FailureTally)

    def add(self, tagged: FailureAnalysis) -> None:
        """Count an episode."""
        (self.succeeded if tagged.success else self.failed).add(tagged)

    @property
    def episodes(self) -> int:
        """Number of counted episodes."""
        return self.failed.episodes + self.succeeded.episodes

    @property
    def parts(self) -> list[tuple[str, FailureTally]]:
        """The non-empty tallies with their names, failures first."""
        both = (("failed", self.failed), ("succeeded", self.succeeded))
        return [(words, tally) for words, tally in both if tally.episodes]

    def tables(self) -> Iterator[Table]:
        """Yield tables of behaviours by causes, for failures and then successes."""
        for words, tally in self.parts:
            yield _table(tally, *_SAID[words])


_WORDS = package_yaml("navloom.evals.navigation", "meanings.yaml")
_KNOWN_DETAILS: Mapping[str, str] = _WORDS["details"]
_SAID: Mapping[str, tuple[str, str]] = _WORDS["tables"]


def _details(proof: Any) -> Iterator[str]:
    if not isinstance(proof, Mapping):
        return
    by = proof.get("by")
    said = by if isinstance(by, list) else [proof.get("where"), proof.get("kind")]
    for word in said:
        if isinstance(word, str) and word in _KNOWN_DETAILS:
            yield _KNOWN_DETAILS[word]


def _table(tally: FailureTally, title: str, note: str) -> Table:
    causes = [cause for cause in CAUSES if tally.by(cause)]
    rows = [_row(tally, kind, causes) for kind in BEHAVIOURS if tally.anywhere[kind]]
    total = ("all", *(str(tally.by(cause)) for cause in causes), str(tally.episodes), "100.0%", "")
    head = ("behaviour", *(c.replace("_", " ") for c in causes), "episodes", "share", "in all")
    return Table(title, note, head, (*rows, total))


def _row(tally: FailureTally, kind: Behaviour, causes: list[Cause]) -> tuple[str, ...]:
    details = tally.details.get(kind, Counter())
    said = ", ".join(f"{word} {count}" for word, count in sorted(details.items()))
    count = tally.of(kind)
    return (
        kind.replace("_", " ") + (f" ({said})" if said else ""),
        *(str(tally.first[kind, cause] or "–") for cause in causes),
        str(count),
        percent(count / tally.episodes),
        str(tally.anywhere[kind]),
    )
