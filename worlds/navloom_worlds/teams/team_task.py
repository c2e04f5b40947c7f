"""Team task: robots and errands in the names that agents read, and checks of agents' plans.

Robots' starts and errands are sampled by a seed (:func:`draw_attempt`). Items and places are named
by name and region, as ``desk in Study_4``. A check reports a plan's first error; unreachable places
come before all others.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, get_args

from navloom.errors import NavloomError, UsageError, did_you_mean
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Scene
from navloom.tools.model_output import Violation, list_names, object_schema, quote
from navloom.tools.navcraft.relay_task import RelayTask, can_hold, has_usable_surface
from navloom.tools.navcraft.schedule import CarryLeg, Timetable
from navloom.tools.navcraft.task_paths import (
    Anchor,
    SoloTask,
    admissible_triples,
    metric_graph,
    shortest_path,
    solo_task_answer,
)
from navloom_worlds.teams.multi_errand_optimum import best_team_plan
from navloom_worlds.teams.revise_route import IN
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_optimum import (
    LEAST,
    BestTeamPlan,
    TeamMeasure,
    handoff_places,
    solo_metres,
)
from navloom_worlds.teams.team_plan import (
    MOST_LEGS,
    TeamErrand,
    TeamPlan,
    plan_violations,
    read_team,
    unreachable_legs,
)

PLAN, NO_PLAN = "plan", "no plan"
"""Verdicts: a plan was accepted, or no plan does all errands."""
LEG_KEYS = ("robot", "object", "from", "to")
_TOLERANCE = 2e-6
"""Tolerance of recorded figures, which are rounded."""


class Assignment(NamedTuple):
    """Assignment of an errand: the robots that carry its object.

    Attributes:
        robots: one, or two in turn.
        over: the handoff place of two.
    """

    robots: tuple[str, ...]
    over: str | None = None

    def __str__(self) -> str:
        return f"{', then '.join(self.robots)}{'' if self.over is None else f' over {self.over}'}"


def assigned_legs(
    errands: Sequence[Mapping[str, str]], ways: Sequence[Assignment]
) -> list[dict[str, str]]:
    """Return the legs of assignments, one an errand: all first halves before second ones.

    In this order no robot waits for one that waits for it.

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
    """Team task: a team and its errands.

    Attributes:
        scene: the scene.
        robots: the team; its first is robot_1.
        regions: start region of each.
        errands: the errands.
        cap: most metres that a robot may travel; None: any.
        by: measure of a plan.
        seconds: time limit of the search for the best plan of three errands or more.
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
        """Errands of the task by the names of their objects."""
        return {self.name_of(each.object): each for each in self.errands}

    @cached_property
    def handoffs(self) -> tuple[tuple[Anchor, ...], ...]:
        """Handoff places of each errand (CoNavBench 3.1.3)."""
        return tuple(handoff_places(self.scene, each) for each in self.errands)

    @cached_property
    def places(self) -> dict[str, Anchor]:
        """Places that a leg may name: objects' positions and destinations, and handoff places."""
        ends = [*(each.origin for each in self.errands), *(each.end for each in self.errands)]
        found: dict[str, Anchor] = {}
        for anchor in (*ends, *(place for each in self.handoffs for place in each)):
            # A name shared within a region refers to the first item.
            found.setdefault(self.name_of(anchor.node.removeprefix("item ")), anchor)
        return found

    def name_of(self, item: str) -> str:
        """Return an item's name for agents."""
        thing = self.scene.item_by_id[item]
        return f"{thing.prompt_name}{IN}{thing.region}"

    @cached_property
    def best(self) -> BestTeamPlan | None:
        """Best plan, or a good plan with a bound on the best; None if no plan exists."""
        return self._best[0]

    @property
    def why_none(self) -> str:
        """One-line reason why no plan exists; empty if a plan exists."""
        return self._best[1]

    @cached_property
    def _best(self) -> tuple[BestTeamPlan | None, str]:
        try:
            found = best_team_plan(
                self.scene, self.robots, self.errands, self.handoffs,
                by=self.by, cap=self.cap, seconds=self.seconds,
            )  # fmt: skip
        except UsageError as error:
            return None, str(error)
        return found, ""

    def told(self) -> dict[str, Any]:
        """Return the task as text for a prompt."""
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
    def first(self) -> SoloTask:
        """First errand as robot_1's own, by names."""
        first, item = self.errands[0], self.scene.item_by_id
        thing, end = item[first.object], item[first.end.node.removeprefix("item ")]
        return SoloTask(
            self.regions[0], str(thing.region), thing.prompt_name, str(end.region), end.prompt_name
        )

    @cached_property
    def phase_1(self) -> dict[str, Any]:
        """First errand with the keys of A.10.1."""
        path = shortest_path(self.scene, self.first)
        made: dict[str, Any] = solo_task_answer(self.first, path)["phase_1"]
        return made


def legs_schema(task: TeamTask, *, constrain: bool) -> dict[str, Any]:
    """Return the JSON schema of legs; with ``constrain`` names are limited to the task's."""

    def name(known: Sequence[str]) -> dict[str, Any]:
        return {"type": "string", "enum": [*known]} if constrain else {"type": "string"}

    leg = {
        "robot": name([robot.name for robot in task.robots]),
        "object": name([*task.things]),
        "from": name([*task.places]),
        "to": name([*task.places]),
    }
    most = min(MOST_LEGS, len(task.robots) * len(task.errands))
    return {"type": "array", "items": object_schema(leg), "minItems": 1, "maxItems": most}


def read_legs(task: TeamTask, legs: Any) -> TeamPlan:
    """Return a plan from an agent's legs.

    Raises:
        UsageError: in one line, an unknown name, or an invalid plan.
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
                f"Leg {number}: {quote(said['object'])} is not to be carried: carry "
                f"{list_names([*task.things])}."
            )
        for key in ("from", "to"):
            if said[key] not in task.places:
                raise UsageError(
                    f"Leg {number}: {quote(said[key])} is no place of this task."
                    f"{did_you_mean(said[key], task.places)} A handoff is on one of the handoff "
                    "places."
                )
        errand = task.things[said["object"]]
        begin, end = task.places[said["from"]], task.places[said["to"]]
        if begin.node == end.node:
            # Checked here, since an error of the plan would name the object by its id.
            raise UsageError(
                f"Leg {number} takes the {said['object']} nowhere: its from and to are one place."
            )
        found.append(CarryLeg(said["robot"], errand.object, begin, end))
    return TeamPlan(task.robots, tuple(found))


def check_team_plan(task: TeamTask, legs: Any) -> dict[str, Any]:
    """Check whether a plan is feasible, and return its values.

    Args:
        task: the team and its errands.
        legs: the plan: ``robot``, ``object``, ``from`` and ``to`` of each leg, by names.

    Returns:
        ``valid``. If False: ``error``, one line, and for an unreachable place the ``robot``, the
        ``object`` and the ``place``. If True: ``makespan_s``, ``metres`` of each robot, ``legs``
        with ``takes_s``, ``ends_s``, ``waits_s``, and the measure's name and ``value``.
    """
    try:
        plan = read_legs(task, legs)
        if faults := plan_violations(task.scene, plan):
            return {"valid": False, "error": faults[0].message, **_whose(task, plan)}
        _check_errands(task, plan)
    except UsageError as error:
        return {"valid": False, "error": str(error)}
    first = task.robots[0].name
    if task.by == "alpha" and all(leg.robot != first for leg in plan.legs):
        said = f"{first} carries nothing, and is to carry something: give it a leg."
        return {"valid": False, "error": said}
    timetable = plan.schedule(task.scene)
    metres = robot_metres(plan, timetable)
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


def robot_metres(plan: TeamPlan, timetable: Timetable) -> dict[str, float]:
    """Return the metres that each robot travels in a plan."""
    metres = dict.fromkeys((robot.name for robot in plan.robots), 0.0)
    for each in timetable.legs:
        robot = plan.robot_by_name[each.leg.robot]
        metres[robot.name] += robot.speed * (each.arrives - each.sets_out + each.ends - each.takes)
    return metres


def plan_value(task: TeamTask, timetable: Timetable, metres: Mapping[str, float]) -> float:
    """Return a plan's value by the task's measure: seconds, metres, or a share for alpha."""
    if task.by == "makespan":
        return timetable.makespan_s
    if task.by == "metres":
        return sum(metres.values())
    if task.by == "longest":
        return max(metres.values())
    one = task.robots[0]
    return metres[one.name] / solo_metres(task.scene, one, task.errands)


def figure_errors(scene: Scene, plan: TeamPlan, said: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each recorded figure of a plan that is wrong.

    Args:
        scene: the scene.
        plan: the plan, without unreachable places.
        said: the record: any of ``makespan_s``, ``metres``, ``cap``, ``by``, ``value``, ``best``,
            ``exact``, ``regret``; missing ones are not checked.
    """
    by = said.get("by", "makespan")
    if by not in get_args(TeamMeasure):
        yield f"{quote(by)} is no measure of plans"
        return
    task = TeamTask(scene, plan.robots, (), plan.errands, said.get("cap"), by)
    timetable = plan.schedule(scene)
    metres = robot_metres(plan, timetable)
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


def team_violations(
    scene: Scene, errand: SoloTask, record: Any, rest: Mapping[str, Any]
) -> Iterator[Violation]:
    """Yield violations of a dataset line's plan and figures, and of phase_1 as one of its errands.

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
    if faults := plan_violations(scene, plan):
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
    for said in figure_errors(scene, plan, rest):
        yield Violation("team", "", 'navloom, of "team"', said)


def _same(said: Any, right: float) -> bool:
    return isinstance(said, int | float) and abs(said - right) <= _TOLERANCE


def _check_errands(task: TeamTask, plan: TeamPlan) -> None:
    """Check that every object reaches its destination, and is handed over at allowed places only.

    Raises:
        UsageError: the first object that does not; the message says what to change.
    """
    for name, errand in task.things.items():
        way = plan.ways.get(errand.object)
        end = task.name_of(errand.end.node.removeprefix("item "))
        if way is None:
            raise UsageError(f"Nobody carries the {name}: bring it to the {end}.")
        if way[0].origin.node != errand.origin.node:
            raise UsageError(f"The {name} lies there: its first leg is from {quote(name)}.")
        if way[-1].to.node != errand.end.node:
            raise UsageError(f"The {name} ends elsewhere: its last leg is to {quote(end)}.")
        allowed = {each.node for each in task.handoffs[task.errands.index(errand)]}
        for leg in way[:-1]:
            if leg.to.node not in allowed:
                where = task.name_of(leg.to.node.removeprefix("item "))
                raise UsageError(
                    f"The {name} cannot be handed over on the {where}: not in the region it lies "
                    "in, and on something that holds it."
                )


def _whose(task: TeamTask, plan: TeamPlan) -> dict[str, Any]:
    """Return the first unreachable place of a plan, with its robot and object."""
    for leg, _, to in unreachable_legs(task.scene, plan):
        place = task.name_of(to.node.removeprefix("item "))
        return {"robot": leg.robot, "object": task.name_of(leg.object), "place": place}
    return {}


_TRIES = 300
"""Most samples of an attempt before its scene is given up."""


@dataclass(frozen=True, slots=True)
class DrawnAttempt:
    """Sampled attempt.

    Attributes:
        regions: start regions of the robots, the first robot_1's; all different.
        starts: their anchors.
        errands: the errands.
    """

    regions: tuple[str, ...]
    starts: tuple[Anchor, ...]
    errands: tuple[TeamErrand, ...]


def draw_attempt(
    scene: Scene, robots: int, errands: int, seed: int, attempt: int = 0, *, tau: int | None = None
) -> DrawnAttempt | None:
    """Sample the starts and errands of an attempt, reproducible by the seed.

    An object and its destination are in different regions, and a robot that passes every link
    reaches all of them. The destination can hold the object. Each item is used once, and no two
    share a name.

    Args:
        scene: the scene.
        robots: number of robots.
        errands: number of errands.
        seed: of the run, or of the sample.
        attempt: its number in the scene.
        tau: least number of hops of each leg of robot_1's path through the first errand, as for a
            NavCraft errand (A.10); any unless given.

    Returns:
        The attempt; None if the scene has too few starts, objects or destinations.
    """
    graph = metric_graph(scene)
    at = sorted(graph.starts)
    kinds: dict[str, list[str]] = {"object": [], "asset": []}
    items = scene.item_by_id
    for item in sorted(scene.items, key=lambda each: each.id):
        placed = item.kind in kinds and item.id in graph.items and item.region
        if placed and (item.kind == "object" or has_usable_surface(scene, item)):
            kinds[item.kind].append(item.id)
    if len(at) < robots or any(len(each) < errands for each in kinds.values()):
        return None
    dice = random.Random(f"{scene.uri} {seed} {attempt}")
    triples: list[tuple[str, str, str]] = []
    if tau is not None:
        key = f"admissible_triples {tau}"
        triples = scene_cached(scene, key, lambda: [*admissible_triples(scene, tau)])
    if tau is not None and not triples:
        return None
    for _ in range(_TRIES):
        # Starts are sampled first, so that they do not depend on the number of errands.
        rooms = dice.sample(at, robots)
        things, ends = (dice.sample(kinds[kind], errands) for kind in ("object", "asset"))
        if triples:
            first = _first_errand(scene, dice, dice.choice(triples), kinds)
            if first is None or first[0] not in at:
                continue
            rooms = [first[0], *[each for each in rooms if each != first[0]]][:robots]
            things[0], ends[0] = first[1:]
        pairs = [(items[x], items[y]) for x, y in zip(things, ends, strict=True)]
        named = {(each.region, each.prompt_name) for pair in pairs for each in pair}
        at_hand = any(a.region == b.region for a, b in pairs)
        if at_hand or len(named) < 2 * errands or len(rooms) < robots:
            continue
        if not all(can_hold(b.prompt_name, a.prompt_name) for a, b in pairs):
            continue
        places = [graph.items[each] for each in (*things, *ends)]
        starts = [graph.starts[each] for each in rooms]
        if any(math.isinf(graph.distance(a, b)) for a in starts for b in places):
            continue
        made = zip(things, places, places[errands:], strict=False)
        return DrawnAttempt(tuple(rooms), tuple(starts), tuple(TeamErrand(*each) for each in made))
    return None


def _first_errand(
    scene: Scene, dice: random.Random, triple: tuple[str, str, str], kinds: dict[str, list[str]]
) -> tuple[str, str, str] | None:
    """Return a start, an object and a destination that form a NavCraft task, or None."""
    start, target, end = triple
    things = [x.id for x in scene.items_in(target, "object") if x.id in kinds["object"]]
    ends = [x.id for x in scene.items_in(end, "asset") if x.id in kinds["asset"]]
    if not things or not ends:
        return None
    thing, asset = (scene.item_by_id[dice.choice(each)].prompt_name for each in (things, ends))
    # Among items of one name a task uses those that add least to its path.
    task = RelayTask(scene, start, target, thing, end, asset)
    found = task.object_item.id, task.end_item.id
    return (start, *found) if found[0] in things and found[1] in ends else None
