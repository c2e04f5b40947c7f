"""What went wrong in an episode, and what went wrong even though it succeeded (VLN-MME E.2).

Two levels: how the agent behaved (:mod:`navloom.evals.navigation.failure_behaviour`) and why it
left the right way (:mod:`navloom.evals.navigation.failure_cause`), with the steps as evidence.
Everything is worked out from the trajectory, the step records, the instruction and the scene: no
model is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from navloom.evals.navigation.failure_behaviour import Behaviour, Circumstances, find_behaviours
from navloom.evals.navigation.failure_cause import Cause, find_causes, fork_of
from navloom.evals.navigation.failure_walk import (
    RADIUS,
    Deviation,
    Walk,
    first_deviation,
    metres_along,
    metres_to_goal,
    read_walk,
    reference_of,
)
from navloom.evals.tasks.episode import Episode
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Scene

__all__ = ["Analysis", "analyse"]


@dataclass(frozen=True)
class Analysis:
    """What is said of one episode.

    Attributes:
        success: whether it counts as one.
        behaviours: at least one (``none``); the first is the one to count it under.
        cause: why it left the right way; ``none`` where it did not, or did no worse by it.
        deviation: where it did.
        reference: the way it should have gone; empty where there is none.
        evidence: JSON under each behaviour's name, under ``causes`` (every rule that held), and,
            where the trajectory has one, under ``invalid_hop``.
    """

    success: bool
    behaviours: tuple[Behaviour, ...]
    cause: Cause
    deviation: Deviation | None
    reference: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def behaviour(self) -> Behaviour:
        """The one an episode counts under where it may count once."""
        return self.behaviours[0]

    @property
    def tags(self) -> dict[str, Any]:
        """The record for ``samples.jsonl``: JSON, small."""
        return {
            "success": self.success,
            "behaviour": list(self.behaviours),
            "cause": self.cause,
            "first_deviation": self.deviation and self.deviation.record(),
            "evidence": dict(self.evidence),
        }


def analyse(
    result: Mapping[str, Any], episode: Episode, scene: Scene, *, success: bool | None = None
) -> Analysis:
    """Say how an agent behaved and where and why it left the right way. It never raises.

    Args:
        result: a navigator's result: ``trajectory``, ``steps``, ``stopped``, ``end``; whatever is
            not as expected is left out.
        episode: what it was to do. Without a ground-truth path the shortest one to the nearest
            goal is what it is held against.
        scene: where.
        success: whether the episode counts as a success; worked out unless given: it ended
            strictly within 3 m of a goal, and not by replies that nobody could read.
    """
    walk = read_walk(result)
    reference = reference_of(walk, episode, scene)
    to_goal = [metres_to_goal(viewpoint, episode, scene) for viewpoint in walk.viewpoints]
    if success is None:
        success = walk.end != "unparsed" and bool(to_goal) and to_goal[-1] < RADIUS
    deviation = first_deviation(walk, reference, to_goal)
    excess = _excess(walk, reference, scene)
    proofs = find_behaviours(Circumstances(walk, to_goal, deviation, success, excess))
    evidence: dict[str, Any] = {kind: proof for kind, proof in proofs.items() if proof}
    cause: Cause = "none"
    if deviation is not None and not (success and "none" in proofs):
        fork = fork_of(walk, deviation, reference, episode, scene)
        causes = find_causes(fork, episode.instruction, scene)
        cause = next(iter(causes))
        evidence["causes"] = {kind: proof for kind, proof in causes.items() if kind != "unknown"}
    elif not success:
        cause = "unknown"
    invalid = _invalid_hop(walk, scene)
    if invalid is not None:
        evidence["invalid_hop"] = invalid
    return Analysis(success, tuple(proofs), cause, deviation, reference, evidence)


def _excess(walk: Walk, reference: tuple[str, ...], scene: Scene) -> float:
    if not reference:
        return math.nan
    return metres_along(walk.viewpoints, scene) - metres_along(reference, scene)


def _invalid_hop(walk: Walk, scene: Scene) -> dict[str, Any] | None:
    """The first hop along no edge."""
    edges = _edges(scene)
    for hop, (a, b) in enumerate(zip(walk.viewpoints, walk.viewpoints[1:], strict=False)):
        if (a, b) not in edges:
            return {"step": walk.step_at(hop), "from": a, "to": b}
    return None


def _edges(scene: Scene) -> frozenset[tuple[str, str]]:
    def make() -> frozenset[tuple[str, str]]:
        return frozenset(pair for e in scene.edges for pair in ((e.a, e.b), (e.b, e.a)))

    return per_scene(scene, "edge_pairs", make)
