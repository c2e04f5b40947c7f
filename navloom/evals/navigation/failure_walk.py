"""How an agent went, read from a navigator's result, and where it left the way it should have gone.

A result comes from a file that anyone may have written: whatever is not as expected is left out,
and nothing here raises.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from navloom.evals.tasks.episode import Episode
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene

__all__ = [
    "GENERATION",
    "RADIUS",
    "Deviation",
    "Fault",
    "Walk",
    "first_deviation",
    "metres_along",
    "metres_to_goal",
    "read_walk",
    "reference_of",
]

RADIUS = 3.0
"""Metres from the goal within which, strictly, a stop is a success (R2R)."""
GENERATION = ("unparsed", "invalid_option", "refusal")
"""What may be wrong with a reply."""
_MOST = 10_000
_FULL_TURN = 2 * math.pi


@dataclass(frozen=True)
class Fault:
    """A reply that could not be used: at which step, and as what."""

    step: int
    kind: str


@dataclass(frozen=True)
class Walk:
    """A trajectory with what was decided on it.

    Attributes:
        viewpoints: where it stood, consecutive repeats (turns on the spot) dropped.
        headings: radians as it left each of them; None where nobody said.
        hop_steps: the number of the step that each hop was made in, one fewer than viewpoints.
        steps: the step records, in order.
        stopped: whether the agent itself said stop.
        end: ``stop``, ``max_steps``, ``unparsed``, ``dead_end`` or "".
        faults: the replies that could not be used, recovered or not.
    """

    viewpoints: tuple[str, ...]
    headings: tuple[float | None, ...]
    hop_steps: tuple[int, ...]
    steps: tuple[Mapping[str, Any], ...]
    stopped: bool
    end: str
    faults: tuple[Fault, ...]

    @property
    def last_step(self) -> int:
        """The number of the last step; 0 where there is none."""
        return max(len(self.steps) - 1, 0, *self.hop_steps)

    def step_at(self, hop: int) -> int:
        """The number of the step in which a hop was made; the last step's beyond the last hop."""
        return self.hop_steps[hop] if hop < len(self.hop_steps) else self.last_step


@dataclass(frozen=True)
class Deviation:
    """The first step that the ground truth has otherwise.

    Attributes:
        step: its number, from 0.
        hop: hops made before it.
        at: where the agent stood.
        expected: where it should have gone; None where it should have stopped.
        taken: where it went; None where it did not go on.
        end: how the episode ended there, where it did not go on.
    """

    step: int
    hop: int
    at: str
    expected: str | None
    taken: str | None
    end: str | None = None

    def record(self) -> dict[str, Any]:
        """As ``samples.jsonl`` keeps it."""
        return asdict(self)


def read_walk(result: Mapping[str, Any]) -> Walk:
    """Read a navigator's result; what is not as expected is left out."""
    poses = list(_poses(_list(result.get("trajectory"))))
    steps = tuple(step for step in _list(result.get("steps")) if isinstance(step, Mapping))
    viewpoints, headings = _without_turns(poses)
    end = result.get("end")
    return Walk(
        viewpoints=viewpoints,
        headings=headings,
        hop_steps=_hop_steps(viewpoints, steps),
        steps=steps,
        stopped=result.get("stopped") is True,
        end=end if isinstance(end, str) else "",
        faults=tuple(_faults(steps)),
    )


def _list(value: Any) -> list[Any]:
    return list(value[:_MOST]) if isinstance(value, list | tuple) else []


def _poses(trajectory: Iterable[Any]) -> Iterable[tuple[str, float | None]]:
    for pose in trajectory:
        if isinstance(pose, str):
            yield pose, None
        elif isinstance(pose, list | tuple) and pose and isinstance(pose[0], str):
            yield pose[0], _angle(pose[1] if len(pose) > 1 else None)


def _angle(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) % _FULL_TURN if math.isfinite(value) else None
    except OverflowError:
        return None


def _without_turns(
    poses: Sequence[tuple[str, float | None]],
) -> tuple[tuple[str, ...], tuple[float | None, ...]]:
    kept: list[tuple[str, float | None]] = []
    for viewpoint, heading in poses:
        if kept and kept[-1][0] == viewpoint:
            kept.pop()
        kept.append((viewpoint, heading))
    return tuple(v for v, _ in kept), tuple(h for _, h in kept)


def _hop_steps(viewpoints: Sequence[str], steps: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Each hop's step: the next one whose record says it moved there, else the hop's own number."""
    numbers: list[int] = []
    at = 0
    for there in viewpoints[1:]:
        found = next((k for k in range(at, len(steps)) if _moved_to(steps[k]) == there), None)
        if found is None:
            return tuple(range(max(0, len(viewpoints) - 1)))
        numbers.append(found)
        at = found + 1
    return tuple(numbers)


def _moved_to(step: Mapping[str, Any]) -> Any:
    action = step.get("action")
    if not isinstance(action, Mapping) or action.get("kind") != "move":
        return None
    return action.get("viewpoint")


def _faults(steps: Sequence[Mapping[str, Any]]) -> Iterable[Fault]:
    for number, step in enumerate(steps):
        for fault in _list(step.get("faults")):
            said = fault.get("kind") if isinstance(fault, Mapping) else fault
            if isinstance(said, str):
                yield Fault(number, _fault_kind(said))


def _fault_kind(said: str) -> str:
    head = said[:80].casefold().replace(" ", "_").replace("-", "_")
    return next((kind for kind in GENERATION if head.startswith(kind)), "other")


def reference_of(walk: Walk, episode: Episode, scene: Scene) -> tuple[str, ...]:
    """The way that the agent should have gone.

    Returns:
        The episode's ground-truth path; the shortest one to the nearest goal where the episode has
        none, or the agent started elsewhere; empty where there is no way at all.
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
    """Metres over the graph to the nearest goal; ``inf`` where nobody can tell."""
    table = metre_table(scene, "3d")
    if viewpoint not in table.index:
        return math.inf
    known = [goal for goal in episode.goals if goal in table.index]
    return min((table.distance(viewpoint, goal) for goal in known), default=math.inf)


def metres_along(viewpoints: Sequence[str], scene: Scene) -> float:
    """Metres of a trajectory, straight from viewpoint to viewpoint; unknown ones are skipped."""
    at = scene.viewpoint_by_id
    spots = [at[name].position for name in viewpoints if name in at]
    return sum(math.dist(a, b) for a, b in pairwise(spots))


def first_deviation(
    walk: Walk, reference: Sequence[str], to_goal: Sequence[float]
) -> Deviation | None:
    """Where a walk first does otherwise than the reference.

    Args:
        walk: how the agent went.
        reference: how it should have gone.
        to_goal: metres to the goal from each of the walk's viewpoints.

    Returns:
        None where it never does, nothing is known of where it should have gone, or it ended
        within :data:`RADIUS` of the goal before the reference did.
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
    """How many items two sequences have in common from their start on."""
    both = enumerate(zip(a, b, strict=False))
    return next((k for k, (x, y) in both if x != y), min(len(a), len(b)))
