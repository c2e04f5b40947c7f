"""An episode on its scene's plan, as values: where it stood and when, and what matters where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import quote

from navloom.evals.navigation.failure_behaviour import RADIUS, reference_of
from navloom.evals.navigation.posed import stood_at
from navloom.evals.navigation.shown_episodes import Case
from navloom.evals.report.blocks import MapMark, MapRoute, Spot, Timed
from navloom.evals.report.maps import spot_of, spots_of
from navloom.scenes.scene import Point3, Scene
from navloom.tools.navigation.steps import Walk, points_of

MOST_BUMPS = 200
_EVERY = 5
"""Of poses every 50 ms one in so many is drawn."""
FAULT = "first deviation"
_ALIKE = 1e-6


def bumps_of(scene: Scene, bumps: Sequence[Point3]) -> dict[Spot, int]:
    """Where something was touched, and the number of the first touch there.

    Who bumps into one thing again and again does so in one place.
    """
    found: dict[Spot, int] = {}
    for number, point in enumerate(bumps[:MOST_BUMPS]):
        floor, x, z = spot_of(scene, point)
        found.setdefault((floor, round(x, 1), round(z, 1)), number)
    return found


@dataclass(frozen=True)
class Stands:
    """Where a body stood, and from which step on.

    Attributes:
        spots: in order; those that the scene lacks are left out.
        times: as many: the number of the step, from 0, before which it stood there first; hops of
            one jump are fractions between two.
        names: the viewpoint of each.
    """

    spots: tuple[Spot, ...]
    times: tuple[float, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, walk: Walk, scene: Scene) -> Stands:
        """The stands of a walk."""
        known = scene.viewpoint_by_id
        names = [viewpoint for viewpoint, _ in walk.poses]
        points = stood_at(names, walk.points, scene)
        kept = [
            (
                spots_of(scene, [name])[0] if points is None else spot_of(scene, points[k]),
                when,
                name,
            )
            for k, (name, when) in enumerate(zip(names, _times(walk), strict=True))
            if name in known
        ]
        return cls(*(tuple(each) for each in zip(*kept, strict=True))) if kept else cls((), (), ())

    @property
    def line(self) -> tuple[Spot, ...]:
        """The way, places at which it stayed once each."""
        return tuple(spot for spot, _ in groupby(self.spots))

    def track(self) -> tuple[Timed, ...]:
        """The way in time: it waits until the step that moves it."""
        timed: list[Timed] = []
        for spot, when in zip(self.spots, self.times, strict=True):
            if timed and when - timed[-1][0] > 1 and timed[-1][1:] != spot:
                timed.append((float(int(when - 1e-9)), *timed[-1][1:]))
            timed.append((when, *spot))
        return tuple(timed)

    def at(self, step: int) -> Spot | None:
        """Where it stood before a step."""
        found = [s for s, when in zip(self.spots, self.times, strict=True) if when <= step + 1e-9]
        return found[-1] if found else None

    def again(self) -> dict[str, int]:
        """How often it came to each place that it came to more than once."""
        counts = Counter(name for name, _ in groupby(self.names))
        return {name: count for name, count in counts.items() if count > 1}


def _times(walk: Walk) -> list[float]:
    """When each pose was taken."""
    hops = [
        (number, next((o.hops for o in step.options if o.id == step.action.option), 1))
        for number, step in enumerate(walk.steps)
        if step.action.kind == "move"
    ]
    if 1 + sum(count for _, count in hops) == len(walk.poses):
        return [0.0, *(n + (k + 1) / count for n, count in hops for k in range(count))]
    # By other hands, or turned on the spot: as its hops say.
    found, hop, last = [0.0] if walk.poses else [], 0, walk.poses[0][0] if walk.poses else ""
    for name, _ in walk.poses[1:]:
        if name != last:
            found.append(max(found[-1], float(walk.step_at(hop) + 1)))
            hop, last = hop + 1, name
        else:
            found.append(found[-1])
    return found


def parted_words(case: Case) -> str:
    """What it is to have left the given way: of a success no fault, but another way."""
    if not case.tagged.success:
        return FAULT
    scores = case.result.get("scores")
    spl = scores.get("SPL") if isinstance(scores, Mapping) else None
    short = isinstance(spl, int | float) and spl >= 1 - _ALIKE
    return "another way, equally short" if short else "another way"


def truth_of(case: Case, walk: Walk, scene: Scene) -> MapRoute | None:
    """The right way, dashed; None where there is none of two points."""
    points = spots_of(scene, reference_of(walk, case.episode, scene))
    return MapRoute(name="ground truth", style="true", points=points) if len(points) > 1 else None


def driven_of(case: Case, scene: Scene) -> MapRoute | None:
    """Where the body of a person went who drove, thin; None where nobody drove."""
    told = case.result.get("poses")
    rows = told[::_EVERY] if isinstance(told, list) else []
    stands = [["", 0.0, 0.0, *each[1:4]] for each in rows if isinstance(each, list)]
    spots = [spot_of(scene, point) for point in points_of(stands) if point is not None]
    line = tuple(spot for spot, _ in groupby(spots))
    return MapRoute(name="driven", style="other", points=line) if len(line) > 1 else None


def goal_marks(case: Case, scene: Scene) -> Iterator[MapMark]:
    """The start, and each goal with what counts as there."""
    for spot in spots_of(scene, [case.episode.start]):
        yield MapMark(kind="start", at=spot)
    for spot in spots_of(scene, case.episode.goals):
        yield MapMark(kind="goal", at=spot, radius=RADIUS)


def walk_marks(case: Case, walk: Walk, stands: Stands, scene: Scene) -> Iterator[MapMark]:
    """What happened where: the end, the first deviation, revisits, contacts, the nearest place."""
    last = len(walk.steps)
    if stands.spots:
        yield MapMark(kind="stop", at=stands.spots[-1], to=to_step(case.id, last))
    fork = case.tagged.deviation
    for spot in spots_of(scene, [fork.at]) if fork is not None else ():
        words = parted_words(case)
        kind = "deviation" if words == FAULT else "other_way"
        label = words.partition(", ")[2]
        to = to_step(case.id, fork.step if fork else 0)
        yield MapMark(kind=kind, at=spot, label=label, to=to)
    near = case.tagged.evidence.get("missed_stop")
    step = near.get("nearest_step") if isinstance(near, Mapping) else None
    if isinstance(step, int) and (there := stands.at(step + 1)) is not None:
        yield MapMark(kind="oracle", at=there, to=to_step(case.id, min(step + 1, last)))
    for name, count in stands.again().items():
        for spot in spots_of(scene, [name]):
            yield MapMark(kind="revisit", at=spot, label=f"{count}x")
    yield from _contacts(case, walk, scene)


def _contacts(case: Case, walk: Walk, scene: Scene) -> Iterator[MapMark]:
    told = case.result.get("contacts")
    said = [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []
    for (floor, x, z), number in bumps_of(scene, walk.bumps).items():
        contact = said[number] if len(said) == len(walk.bumps) else {}
        step = contact.get("step")
        to = to_step(case.id, step - 1) if isinstance(step, int) else ""
        yield MapMark(
            kind="contact", at=(floor, x, z), label=str(contact.get("what", ""))[:60], to=to
        )


def to_step(name: str, step: int) -> str:
    """The address of a step that is counted from 0; addresses say it as pages do, from 1."""
    return f"sample/{quote(name, safe='')}?step={step + 1}"
