"""What a team is asked to do, in the names that agents read, and what a plan of theirs comes to.

Robots' starts and errands are drawn by a seed (:func:`draw`). Things and places go by a name and a
region, as ``desk in Study_4``. Of a plan the first thing that is wrong is said, a leg out of its
robot's reach before all else.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, get_args

from navloom.errors import NavloomError, UsageError, did_you_mean
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Scene
from navloom.tools.forms import Violation, closed_object, listed, quoted
from navloom.tools.navcraft.paths import (
    Anchor,
    Errand,
    admissible_triples,
    errand_answer,
    metric_graph,
    shortest_path,
)
from navloom.tools.navcraft.schedule import Leg, Timetable
from navloom.tools.navcraft.task import RelayTask, can_hold, usable_surface
from navloom_worlds.teams.revise_route import IN
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.several_errands import best_team_plan
from navloom_worlds.teams.team import (
    MOST_LEGS,
    TeamErrand,
    TeamPlan,
    out_of_reach,
    plan_faults,
    read_team,
)
from navloom_worlds.teams.team_optimum import (
    LEAST,
    TeamBest,
    TeamMeasure,
    alone_metres,
    handoff_places,
)

PLAN, NO_PLAN = "plan", "no plan"
"""Verdicts: legs were accepted, or no plan does all errands."""
LEG_KEYS = ("robot", "object", "from", "to")
_TOLERANCE = 2e-6
"""How far a recorded figure, which is rounded, may be from the right one."""


class Way(NamedTuple):
    """Who carries an errand's object.

    Attributes:
        robots: one, or two in turn.
        over: the place where the first of two puts it down.
    """

    robots: tuple[str, ...]
    over: str | None = None

    def __str__(self) -> str:
        return f"{', then '.join(self.robots)}{'' if self.over is None else f' over {self.over}'}"


def legs_of(errands: Sequence[Mapping[str, str]], ways: Sequence[Way]) -> list[dict[str, str]]:
    """The legs of ways, one an errand: all first halves stand before second ones.

    So nobody waits for who waits for them.

    Args:
        errands: each ``object`` and ``to``, by names.
        ways: as many.
    """
    first, second = [], []
    for errand, way in zip(errands, ways, strict=True):
        thing, end = errand["object"], errand["to"]
        over = end if way.over is None else way.over
        first.append({"robot": way.robots[0], "object": thing, "from": thing, "to": over})
        if way.over is not None:
            second.append({"robot": way.robots[1], "object": thing, "from": over, "to": end})
    return [*first, *second]


@dataclass(frozen=True, eq=False)
class TeamTask:
    """A team and its errands.

    Attributes:
        scene: the scene.
        robots: the team; its first is robot_1.
        regions: where each starts.
        errands: what is to be brought where.
        cap: the most metres that a robot may walk; None: any.
        by: what a plan is measured by.
        seconds: how long the best plan for three errands or more is sought.
    """

    scene: Scene
    robots: tuple[Robot, ...]
    regions: tuple[str, ...]
    errands: tuple[TeamErrand, ...]
    cap: float | None = None
    by: TeamMeasure = "makespan"
    seconds: float = 10.0

    @cached_property
    def things(self) -> dict[str, TeamErrand]:
        """The errands by the names of their objects."""
        return {self.name_of(each.object): each for each in self.errands}

    @cached_property
    def handoffs(self) -> tuple[tuple[Anchor, ...], ...]:
        """Where each errand's object may be handed over (CoNavBench 3.1.3)."""
        return tuple(handoff_places(self.scene, each) for each in self.errands)

    @cached_property
    def places(self) -> dict[str, Anchor]:
        """Every place that a leg may name: where things lie and belong, and the handoffs."""
        ends = [*(each.origin for each in self.errands), *(each.end for each in self.errands)]
        found: dict[str, Anchor] = {}
        for anchor in (*ends, *(place for each in self.handoffs for place in each)):
            # Of things of one name in one region, the first is meant.
            found.setdefault(self.name_of(anchor.node.removeprefix("item ")), anchor)
        return found

    def name_of(self, item: str) -> str:
        """How an agent calls a thing."""
        thing = self.scene.item_by_id[item]
        return f"{thing.prompt_name}{IN}{thing.region}"

    @cached_property
    def best(self) -> TeamBest | None:
        """The best plan there is, or a good one beside a bound; None where there is none."""
        return self._best[0]

    @property
    def why_none(self) -> str:
        """Why no plan does it, in one line; empty where one does."""
        return self._best[1]

    @cached_property
    def _best(self) -> tuple[TeamBest | None, str]:
        try:
            found = best_team_plan(
                self.scene, self.robots, self.errands, self.handoffs,
                by=self.by, cap=self.cap, seconds=self.seconds,
            )  # fmt: skip
        except UsageError as error:
            return None, str(error)
        return found, ""

    def told(self) -> dict[str, Any]:
        """The task as a prompt shows it."""
        errands = [
            {"object": name, "to": self.name_of(each.end.node.removeprefix("item "))}
            for name, each in self.things.items()
        ]
        ends = {name for each in errands for name in each.values()}
        return {
            "robots": [
                {
                    "name": robot.name,
                    "starts in": region,
                    "body": robot.body.name if robot.body else "passes everything",
                    "metres a second": robot.speed,
                }
                for robot, region in zip(self.robots, self.regions, strict=True)
            ],
            "errands": errands,
            "handoff places": [name for name in self.places if name not in ends],
            "most metres of each robot": self.cap,
        }

    @cached_property
    def first(self) -> Errand:
        """The first errand as robot_1's own, by names."""
        first, item = self.errands[0], self.scene.item_by_id
        thing, end = item[first.object], item[first.end.node.removeprefix("item ")]
        return Errand(
            self.regions[0], str(thing.region), thing.prompt_name, str(end.region), end.prompt_name
        )

    @cached_property
    def phase_1(self) -> dict[str, Any]:
        """The same with the keys of A.10.1."""
        path = shortest_path(self.scene, self.first)
        made: dict[str, Any] = errand_answer(self.first, path)["phase_1"]
        return made


def legs_schema(task: TeamTask, *, constrain: bool) -> dict[str, Any]:
    """The JSON schema of legs; names are those of the task where it is held."""

    def name(known: Sequence[str]) -> dict[str, Any]:
        return {"type": "string", "enum": [*known]} if constrain else {"type": "string"}

    leg = {
        "robot": name([robot.name for robot in task.robots]),
        "object": name([*task.things]),
        "from": name([*task.places]),
        "to": name([*task.places]),
    }
    most = min(MOST_LEGS, len(task.robots) * len(task.errands))
    return {"type": "array", "items": closed_object(leg), "minItems": 1, "maxItems": most}


def read_legs(task: TeamTask, legs: Any) -> TeamPlan:
    """A plan from what an agent wrote.

    Raises:
        UsageError: in one line, a name that is not there, or what makes it no plan.
    """
    if not isinstance(legs, list) or not 1 <= len(legs) <= MOST_LEGS:
        raise UsageError(f"legs must be a list of 1 to {MOST_LEGS} legs.")
    found = []
    for number, leg in enumerate(legs, 1):
        if not isinstance(leg, Mapping) or {*leg} != {*LEG_KEYS}:
            raise UsageError(
                f"Leg {number} must have the keys {', '.join(LEG_KEYS)}, and no other."
            )
        said = {key: str(leg[key])[:200] for key in LEG_KEYS}
        if said["object"] not in task.things:
            raise UsageError(
                f"Leg {number}: {quoted(said['object'])} is not to be carried: carry "
                f"{listed([*task.things])}."
            )
        for key in ("from", "to"):
            if said[key] not in task.places:
                raise UsageError(
                    f"Leg {number}: {quoted(said[key])} is no place of this task."
                    f"{did_you_mean(said[key], task.places)} A handoff is on one of the handoff "
                    "places."
                )
        errand = task.things[said["object"]]
        begin, end = task.places[said["from"]], task.places[said["to"]]
        if begin.node == end.node:
            # Of an agent's own leg in its own words: a plan would name the thing by its id.
            raise UsageError(
                f"Leg {number} takes the {said['object']} nowhere: its from and to are one place."
            )
        found.append(Leg(said["robot"], errand.object, begin, end))
    return TeamPlan(task.robots, tuple(found))


def check_team_plan(task: TeamTask, legs: Any) -> dict[str, Any]:
    """Whether a plan can be done, and what it comes to.

    Args:
        task: the team and its errands.
        legs: the plan: ``robot``, ``object``, ``from`` and ``to`` of each leg, by names.

    Returns:
        ``valid``; where it is not, ``error``, one line, and where a body does not get somewhere
        whose (``robot``), for what (``object``), and where (``place``). Where it is:
        ``makespan_s``, ``metres`` of each robot, ``legs`` with ``takes_s``, ``ends_s``,
        ``waits_s``, and the measure's name and ``value``.
    """
    try:
        plan = read_legs(task, legs)
        if faults := plan_faults(task.scene, plan):
            return {"valid": False, "error": faults[0].message, **_whose(task, plan)}
        _check_errands(task, plan)
    except UsageError as error:
        return {"valid": False, "error": str(error)}
    first = task.robots[0].name
    if task.by == "alpha" and all(leg.robot != first for leg in plan.legs):
        said = f"{first} carries nothing, and is to carry something: give it a leg."
        return {"valid": False, "error": said}
    timetable = plan.schedule(task.scene)
    metres = walked(plan, timetable)
    most = max(metres, key=lambda name: metres[name])
    if task.cap is not None and metres[most] > task.cap + LEAST:
        said = f"{most} walks {metres[most]:.1f} m, and may walk {task.cap:g} m at most."
        return {"valid": False, "error": said, "robot": most}
    return {
        "valid": True,
        "makespan_s": timetable.makespan_s,
        "metres": metres,
        "legs": [
            {
                "robot": each.leg.robot,
                "object": task.name_of(each.leg.object),
                "takes_s": each.takes,
                "ends_s": each.ends,
                "waits_s": each.waits,
            }
            for each in timetable.legs
        ],
        "by": task.by,
        "value": plan_value(task, timetable, metres),
    }


def walked(plan: TeamPlan, timetable: Timetable) -> dict[str, float]:
    """Metres that each robot walks in a plan."""
    metres = dict.fromkeys((robot.name for robot in plan.robots), 0.0)
    for each in timetable.legs:
        robot = plan.robot_by_name[each.leg.robot]
        metres[robot.name] += robot.speed * (each.arrives - each.sets_out + each.ends - each.takes)
    return metres


def plan_value(task: TeamTask, timetable: Timetable, metres: Mapping[str, float]) -> float:
    """What a plan comes to by the task's measure, in seconds, metres, or as a share for alpha."""
    if task.by == "makespan":
        return timetable.makespan_s
    if task.by == "metres":
        return sum(metres.values())
    if task.by == "longest":
        return max(metres.values())
    one = task.robots[0]
    return metres[one.name] / alone_metres(task.scene, one, task.errands)


def wrong_figures(scene: Scene, plan: TeamPlan, said: Mapping[str, Any]) -> Iterator[str]:
    """Which of a plan's recorded figures are not so, in words.

    Args:
        scene: the scene.
        plan: the plan, whose bodies get everywhere.
        said: what is recorded: any of ``makespan_s``, ``metres``, ``cap``, ``by``, ``value``,
            ``best``, ``exact``, ``regret``; what is not there is not asked.
    """
    by = said.get("by", "makespan")
    if by not in get_args(TeamMeasure):
        yield f"{quoted(by)} is no measure of plans"
        return
    task = TeamTask(scene, plan.robots, (), plan.errands, said.get("cap"), by)
    timetable = plan.schedule(scene)
    metres = walked(plan, timetable)
    right: dict[str, float] = {"makespan_s": timetable.makespan_s}
    right |= {"value": plan_value(task, timetable, metres)} if "value" in said else {}
    if isinstance(said.get("metres"), Mapping):
        for name, far in metres.items():
            if not _same(said["metres"].get(name), far):
                yield f"{name} walks {far:.6f} m, and {said['metres'].get(name)} is said"
    if task.cap is not None and max(metres.values()) > task.cap + _TOLERANCE:
        yield f"a robot walks {max(metres.values()):.6f} m, over the {task.cap:g} m that it may"
    if said.get("exact") and task.best is not None and task.best.exact:
        right["best"] = task.best.value
    for key, value in right.items():
        if key in said and not _same(said[key], value):
            yield f"{key} {said[key]} is said and {value:.6f} is right"


def wrong_team(
    scene: Scene, errand: Errand, record: Any, rest: Mapping[str, Any]
) -> Iterator[Violation]:
    """What is wrong with a line's plan and its figures, and whether phase_1 is one of its errands.

    Args:
        scene: the scene.
        errand: of phase_1.
        record: the key ``team``.
        rest: the key ``navloom``.
    """
    try:
        plan = read_team(scene, record)
    except NavloomError as error:
        yield Violation("team", "", "team", str(error))
        return
    if faults := plan_faults(scene, plan):
        yield from faults
        return
    items = metric_graph(scene).items
    for kind, region, name, end in (
        ("object", errand.target, errand.object, "origin"),
        ("asset", errand.end, errand.end_asset, "end"),
    ):
        fit = (x for x in scene.items_in(region) if x.kind == kind and x.prompt_name == name)
        known = [items.get(item.id) for item in fit]
        if not any(getattr(each, end) in known for each in plan.errands):
            said = f"no errand's {kind} is the {name} in {region} of phase_1"
            yield Violation("team", "", "team", said)
    for said in wrong_figures(scene, plan, rest):
        yield Violation("team", "", 'navloom, of "team"', said)


def _same(said: Any, right: float) -> bool:
    return isinstance(said, int | float) and abs(said - right) <= _TOLERANCE


def _check_errands(task: TeamTask, plan: TeamPlan) -> None:
    """That everything is brought where it belongs, over places where things may be handed over."""
    for name, errand in task.things.items():
        way = plan.ways.get(errand.object)
        end = task.name_of(errand.end.node.removeprefix("item "))
        if way is None:
            raise UsageError(f"Nobody carries the {name}: bring it to the {end}.")
        if way[0].origin.node != errand.origin.node:
            raise UsageError(f"The {name} lies there: its first leg is from {quoted(name)}.")
        if way[-1].to.node != errand.end.node:
            raise UsageError(f"The {name} ends elsewhere: its last leg is to {quoted(end)}.")
        allowed = {each.node for each in task.handoffs[task.errands.index(errand)]}
        for leg in way[:-1]:
            if leg.to.node not in allowed:
                where = task.name_of(leg.to.node.removeprefix("item "))
                raise UsageError(
                    f"The {name} cannot be handed over on the {where}: not in the region it lies "
                    "in, and on something that holds it."
                )


def _whose(task: TeamTask, plan: TeamPlan) -> dict[str, Any]:
    """The first robot that does not get where it has to, for what, and where that is."""
    for leg, _, to in out_of_reach(task.scene, plan):
        place = task.name_of(to.node.removeprefix("item "))
        return {"robot": leg.robot, "object": task.name_of(leg.object), "place": place}
    return {}


_TRIES = 300
"""Draws of an attempt before its scene is given up."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """An attempt.

    Attributes:
        regions: where robots start, the first robot_1's; all different.
        starts: the same as places.
        errands: what is to be carried.
    """

    regions: tuple[str, ...]
    starts: tuple[Anchor, ...]
    errands: tuple[TeamErrand, ...]


def draw(
    scene: Scene, robots: int, errands: int, seed: int, attempt: int = 0, *, tau: int | None = None
) -> Drawn | None:
    """Starts and errands of an attempt, the same for the same seed whatever else is asked.

    A thing and its end lie in different regions, a robot that passes everything gets to all of
    them, the end can hold the thing, each is drawn once, and no two of them go by one name.

    Args:
        scene: the scene.
        robots: how many.
        errands: how many.
        seed: of the run, or of the sample.
        attempt: in the scene.
        tau: hops that each leg of robot_1's way through the first errand has at least, as an errand
            of NavCraft's (A.10); any unless given.

    Returns:
        The attempt; None where the scene has too few starts, things or ends.
    """
    graph = metric_graph(scene)
    at = sorted(graph.starts)
    kinds: dict[str, list[str]] = {"object": [], "asset": []}
    items = scene.item_by_id
    for item in sorted(scene.items, key=lambda each: each.id):
        placed = item.kind in kinds and item.id in graph.items and item.region
        if placed and (item.kind == "object" or usable_surface(scene, item)):
            kinds[item.kind].append(item.id)
    if len(at) < robots or any(len(each) < errands for each in kinds.values()):
        return None
    dice = random.Random(f"{scene.uri} {seed} {attempt}")
    triples = (
        []
        if tau is None
        else per_scene(
            scene, f"admissible_triples {tau}", lambda: [*admissible_triples(scene, tau)]
        )
    )
    if tau is not None and not triples:
        return None
    for _ in range(_TRIES):
        # Starts first, so that more errands leave them as they are.
        regions = dice.sample(at, robots)
        things, ends = (dice.sample(kinds[kind], errands) for kind in ("object", "asset"))
        if triples:
            first = _first_errand(scene, dice, dice.choice(triples), kinds)
            if first is None or first[0] not in at:
                continue
            regions = [first[0], *[each for each in regions if each != first[0]]][:robots]
            things[0], ends[0] = first[1:]
        ways = [
            (items[x].region or "", items[y].region or "")
            for x, y in zip(things, ends, strict=True)
        ]
        named = {(items[each].region, items[each].prompt_name) for each in (*things, *ends)}
        if len(named) < 2 * errands or any(a == b for a, b in ways) or len(regions) < robots:
            continue
        if not all(
            can_hold(items[end].prompt_name, items[thing].prompt_name)
            for thing, end in zip(things, ends, strict=True)
        ):
            continue
        places = [graph.items[each] for each in (*things, *ends)]
        starts = [graph.starts[each] for each in regions]
        if any(math.isinf(graph.distance(a, b)) for a in starts for b in places):
            continue
        made = zip(things, places, places[errands:], strict=False)
        return Drawn(tuple(regions), tuple(starts), tuple(TeamErrand(*each) for each in made))
    return None


def _first_errand(
    scene: Scene, dice: random.Random, triple: tuple[str, str, str], kinds: dict[str, list[str]]
) -> tuple[str, str, str] | None:
    """A start, a thing and an end that are a task of NavCraft's; None where a draw gives none."""
    start, target, end = triple
    things = [x.id for x in scene.items_in(target, "object") if x.id in kinds["object"]]
    ends = [x.id for x in scene.items_in(end, "asset") if x.id in kinds["asset"]]
    if not things or not ends:
        return None
    thing, asset = (scene.item_by_id[dice.choice(each)].prompt_name for each in (things, ends))
    # Of things of one name a task means those that add least to its way.
    task = RelayTask(scene, start, target, thing, end, asset)
    found = task.object_item.id, task.end_item.id
    return (start, *found) if found[0] in things and found[1] in ends else None
