"""First deviation of an agent from the reference path, and classification of its behaviour.

Source: VLN-MME E.2 and its figures 13 and 14. Definitions that the paper leaves open:

- loop: one viewpoint is visited :data:`LOOP_VISITS` times or more (revisits), or the same sequence
  of two to :data:`LONGEST_CYCLE` viewpoints occurs twice in a row (a cycle);
- missed stop: it was within 3 m of the goal and did not end there (oracle success);
- early stop: it stopped by itself and never was within 3 m of the goal. ``where`` says whether it
  was still on the reference path (``short``) or off it (``elsewhere``);
- time-out: the steps ran out, at the goal or not;
- generation error: a reply was no action (unparsed), none of the options (invalid option) or a
  refusal; ``ended`` says whether the episode ended by it or the agent recovered;
- collision: a contact that displaced its body ended the episode (VLNVerse 5.3, Strict);
- dead end: there was no candidate;
- detour, for successes only: the trajectory is longer than the ground truth by more than 3 m.

Several can hold at once. They are ordered, and the first is the one that an episode counts under in
tables that count it once: generation error that ended it, collision, loop, missed stop, time-out,
early stop, dead end, detour, generation error that the agent recovered from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from navloom.evals.tasks.episode import Episode
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene
from navloom.tools.navigation.step_records import Trajectory

RADIUS = 3.0
"""Success radius: a stop strictly within so many metres of a goal succeeds (R2R)."""


@dataclass(frozen=True)
class Deviation:
    """First step at which a trajectory leaves the reference path.

    Attributes:
        step: number of the step, from 0.
        hop: number of hops before it.
        at: viewpoint of the agent.
        expected: next viewpoint of the reference path; None if the agent should have stopped.
        taken: viewpoint the agent went to; None if it did not move on.
        end: how the episode ended there; None if the agent moved on.
    """

    step: int
    hop: int
    at: str
    expected: str | None
    taken: str | None
    end: str | None = None

    def record(self) -> dict[str, Any]:
        """Return the record for ``samples.jsonl``."""
        return asdict(self)

    @classmethod
    def read(cls, record: Any) -> Deviation | None:
        """Return the deviation in a record; None if the record is invalid."""
        try:
            return _DEVIATION.validate_python(record)
        except ValidationError:
            return None


_DEVIATION = TypeAdapter(Deviation)


def reference_path(walk: Trajectory, episode: Episode, scene: Scene) -> tuple[str, ...]:
    """Return the reference path of an episode.

    Returns:
        The episode's ground-truth path. Without one, or if the agent started elsewhere, the
        shortest path to the nearest goal. Empty if no goal is reachable.
    """
    start = walk.viewpoints[0] if walk.viewpoints else episode.start
    if episode.path and episode.path[0] == start:
        return episode.path
    table = metre_table(scene, "3d")
    goals = [goal for goal in episode.goals if goal in table.index]
    if start not in table.index or not goals:
        return ()
    nearest = min(goals, key=lambda goal: table.distance(start, goal))
    return tuple(table.path(start, nearest) or ())


def metres_to_goal(viewpoint: str, episode: Episode, scene: Scene) -> float:
    """Return the metres over the graph to the nearest goal; ``inf`` if unknown."""
    table = metre_table(scene, "3d")
    if viewpoint not in table.index:
        return math.inf
    known = [goal for goal in episode.goals if goal in table.index]
    return min((table.distance(viewpoint, goal) for goal in known), default=math.inf)


def metres_along(viewpoints: Sequence[str], scene: Scene) -> float:
    """Return the length of a trajectory in metres. Unknown viewpoints are skipped."""
    at = scene.viewpoint_by_id
    spots = [at[name].position for name in viewpoints if name in at]
    return sum(math.dist(a, b) for a, b in pairwise(spots))


def first_deviation(
    walk: Trajectory, reference: Sequence[str], to_goal: Sequence[float]
) -> Deviation | None:
    """Find the first step at which a trajectory leaves the reference path.

    Args:
        walk: the trajectory.
        reference: the reference path.
        to_goal: metres to the goal from each viewpoint of the trajectory.

    Returns:
        None if it never leaves the path, there is no reference path from its start, or it stopped
        within :data:`RADIUS` of the goal before the path's end.
    """
    if not walk.viewpoints or not reference or walk.viewpoints[0] != reference[0]:
        return None
    same = _common(walk.viewpoints, reference)
    hop, at = same - 1, walk.viewpoints[same - 1]
    expected = reference[same] if same < len(reference) else None
    if same < len(walk.viewpoints):
        return Deviation(walk.step_at(hop), hop, at, expected, walk.viewpoints[same])
    if walk.stopped and (expected is None or to_goal[-1] < RADIUS):
        return None
    return Deviation(walk.last_step, hop, at, expected, None, walk.end or None)


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the common prefix of two sequences."""
    both = enumerate(zip(a, b, strict=False))
    return next((k for k, (x, y) in both if x != y), min(len(a), len(b)))


Behaviour = Literal[
    "generation_error",
    "collision",
    "loop",
    "missed_stop",
    "time_out",
    "early_stop",
    "dead_end",
    "detour",
    "none",
]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)
LOOP_VISITS = 3
LONGEST_CYCLE = 12
_MOST_STEPS = 40
"""Maximum number of steps that a record lists."""


@dataclass(frozen=True)
class RolloutEvidence:
    """Facts of an episode by which its behaviour is classified.

    Attributes:
        walk: the trajectory.
        to_goal: metres to the goal from each viewpoint of the trajectory.
        deviation: first deviation from the reference path, or None.
        success: whether the episode counts as a success.
        excess: length of the trajectory minus that of the reference path, in metres.
    """

    walk: Trajectory
    to_goal: Sequence[float]
    deviation: Deviation | None
    success: bool
    excess: float


def find_behaviours(case: RolloutEvidence) -> dict[Behaviour, dict[str, Any]]:
    """Return the behaviours of an episode with evidence (JSON), in the module's order.

    Returns:
        At least one entry: ``none`` if no behaviour holds.
    """
    generation = _generation_error(case.walk)
    ended = generation is not None and generation["ended"]
    found: dict[Behaviour, dict[str, Any] | None] = {
        "generation_error": generation if ended else None,
        "collision": _last(case) if case.walk.end == "collision" else None,
        "loop": _loop(case.walk),
        "missed_stop": None if case.success else _missed_stop(case),
        "time_out": _last(case) if case.walk.end == "max_steps" else None,
    }
    if case.success:
        far = math.isfinite(case.excess) and case.excess > RADIUS
        found["detour"] = {"excess_metres": round(case.excess, 2)} if far else None
    else:
        early = case.walk.stopped and min(case.to_goal, default=math.inf) >= RADIUS
        found["early_stop"] = _early_stop(case) if early else None
        found["dead_end"] = _last(case) if case.walk.end == "dead_end" else None
    if generation is not None and not ended:
        found.pop("generation_error")
        found["generation_error"] = generation
    return {kind: proof for kind, proof in found.items() if proof is not None} or {"none": {}}


def _last(case: RolloutEvidence) -> dict[str, Any]:
    return {"step": case.walk.last_step, "metres_to_goal": _metres(case.to_goal)}


def _metres(to_goal: Sequence[float]) -> float | None:
    return round(to_goal[-1], 2) if to_goal and math.isfinite(to_goal[-1]) else None


def _generation_error(walk: Trajectory) -> dict[str, Any] | None:
    ended = walk.end == "unparsed"
    if not walk.faults and not ended:
        return None
    kinds = Counter(fault.kind for fault in walk.faults)
    return {
        "kind": walk.faults[-1].kind if walk.faults else "unparsed",
        "ended": ended,
        "counts": dict(sorted(kinds.items())),
        "steps": sorted({fault.step for fault in walk.faults})[:_MOST_STEPS],
    }


def _loop(walk: Trajectory) -> dict[str, Any] | None:
    visits = Counter(walk.viewpoints)
    often = {name: count for name, count in visits.items() if count >= LOOP_VISITS}
    cycle = _cycle(walk.viewpoints)
    if not often and cycle is None:
        return None
    again = _returns(walk)
    return {
        "by": [*(["revisits"] if often else ()), *(["cycle"] if cycle else ())],
        "visits": dict(sorted(often.items(), key=lambda item: (-item[1], item[0]))[:10]),
        "revisits": len(walk.viewpoints) - len(visits),
        "steps": again[:_MOST_STEPS],
        "cycle": cycle and {**cycle, "step": walk.step_at(cycle["hop"])},
    }


def _returns(walk: Trajectory) -> list[int]:
    """Return the steps that led to a viewpoint visited before."""
    seen: set[str] = set()
    steps = []
    for hop, viewpoint in enumerate(walk.viewpoints, start=-1):
        if viewpoint in seen:
            steps.append(walk.step_at(hop))
        seen.add(viewpoint)
    return steps


def _cycle(viewpoints: Sequence[str]) -> dict[str, int] | None:
    """Return the shortest cycle made at least twice in a row: first hop, length, repetitions."""
    for period in range(2, min(LONGEST_CYCLE, len(viewpoints) // 2) + 1):
        run = 0
        for at in range(len(viewpoints) - period):
            run = run + 1 if viewpoints[at] == viewpoints[at + period] else 0
            if run == period:
                hop = at - period + 1
                return {"hop": hop, "viewpoints": period, "times": _times(viewpoints[hop:], period)}
    return None


def _times(viewpoints: Sequence[str], period: int) -> int:
    same = next(
        (k for k in range(len(viewpoints) - period) if viewpoints[k] != viewpoints[k + period]),
        len(viewpoints) - period,
    )
    return 1 + same // period


def _missed_stop(case: RolloutEvidence) -> dict[str, Any] | None:
    near = [at for at, metres in enumerate(case.to_goal) if metres < RADIUS]
    if not near:
        return None
    nearest = min(near, key=lambda at: case.to_goal[at])
    return {
        "steps": [case.walk.step_at(at) for at in near[:_MOST_STEPS]],
        "nearest_step": case.walk.step_at(nearest),
        "nearest_metres": round(case.to_goal[nearest], 2),
        "metres_to_goal": _metres(case.to_goal),
    }


def _early_stop(case: RolloutEvidence) -> dict[str, Any]:
    on_the_way = case.deviation is not None and case.deviation.taken is None
    return {**_last(case), "where": "short" if on_the_way else "elsewhere"}


def behaviour_text(kind: str, proof: Mapping[str, Any]) -> str:
    """Return a behaviour in words, with its detail in brackets."""
    words = kind.replace("_", " ")
    detail = proof.get("where") or (proof.get("kind") if kind == "generation_error" else None)
    return f"{words} ({str(detail).replace('_', ' ')})" if detail else words
