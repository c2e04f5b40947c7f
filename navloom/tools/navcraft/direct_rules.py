"""Rules of the two CoNavBench A.13 prompts, as far as names and links decide them.

The prompts also ask that a plan be faster than one robot alone. Names cannot decide that, so
:mod:`navloom.tools.navcraft.direct_quality` measures it, and no answer is rejected for it.

Two sentences of both prompts contradict the rest. Their violations are counted and never reported
to the model. "1 to 2 regions" is impossible: the robots start apart and the object is neither where
one starts nor where it goes (version 2 itself names five). "4 to 6 subtasks in total" is too few:
move, grab, move and release for both robots, as version 2 writes it, makes eight.
"""

from __future__ import annotations

from collections.abc import Iterator

from navloom.scenes.distances import hop_table
from navloom.scenes.lexicon import item_names
from navloom.scenes.scene import Scene
from navloom.tools.model_output import Violation, list_names, quote
from navloom.tools.navcraft.direct_plan import (
    ROBOTS,
    Carry,
    DirectPlan,
    MoveTarget,
    PlanStep,
    Variant,
)
from navloom.tools.navcraft.relay import RobotName
from navloom.tools.navcraft.task_paths import region_not_found

MOST_REGIONS = 2
LEAST_SUBTASKS, MOST_SUBTASKS = 4, 6
TRANSFER_UNLIKE, NO_HANDOVER, OFF_LINKS = "transfer_unlike", "no_handover", "off_links"
COORDINATION = (TRANSFER_UNLIKE, NO_HANDOVER, OFF_LINKS)
"""Failures of A.13's second kind, "inconsistent or invalid coordination"."""
_LOW_LEVEL = ("grab", "release", "move_to")


def direct_violations(plan: DirectPlan, scene: Scene, variant: Variant) -> list[Violation]:
    """List every rule of its prompt that an answer breaks, in sentences that a model can act on.

    Args:
        plan: the parsed answer.
        scene: the ground truth.
        variant: which prompt was used.

    Returns:
        Violations of names; if there are none, of everything that depends on names.
    """
    if unknown := [*_unknown(plan, scene)]:
        return unknown
    return [
        *_wrong_starts(plan, scene),
        *_wrong_words(plan),
        *(fault for robot in ROBOTS for fault in _wrong_steps(plan, robot, scene)),
        *coordination_faults(plan, scene),
        *(_wrong_symbols(plan, scene) if variant == "v2" else ()),
    ]


def coordination_faults(plan: DirectPlan, scene: Scene) -> list[Violation]:
    """List the faults that A.13 calls inconsistent or invalid coordination (II).

    The transfer position differs from where the steps or sentences hand over; no robot takes what
    the other put down; a written path (version 2 only) leaves the links.
    """
    return [*_unlike(plan, scene), *_no_handover(plan), *_off_links(plan, scene)]


def has_many_regions(plan: DirectPlan) -> bool:
    """Check whether the plan involves more than the 1 to 2 regions that both prompts ask for."""
    return len(plan.regions) > MOST_REGIONS


def steps_in_bounds(plan: DirectPlan) -> bool:
    """Check whether the plan has the 4 to 6 subtasks in total that both prompts ask for."""
    return LEAST_SUBTASKS <= plan.written <= MOST_SUBTASKS


def _unknown(plan: DirectPlan, scene: Scene) -> Iterator[Violation]:
    named = [*plan.starts.values(), *plan.transfers]
    for name in dict.fromkeys(named):
        if name not in scene.region_by_id:
            yield Violation("unknown_region", region_not_found(scene, name))
    for robot in ROBOTS:
        for step in plan.steps[robot]:
            if not step.kind:
                yield Violation(
                    "unknown_step",
                    f"{robot}: {quote(step.text)} is none of Move_to('...'), Grab('...'),"
                    " Release('...').",
                )
            elif step.kind == "move" and step.place is None:
                yield Violation(
                    "place_not_there",
                    f"{robot}: {quote(step.text)} names no thing of a region. Write the thing's"
                    " name, an underscore and the number at the end of its region's name.",
                )


def _wrong_starts(plan: DirectPlan, scene: Scene) -> Iterator[Violation]:
    one, two = (plan.starts[robot] for robot in ROBOTS)
    apart = hop_table(scene).distance(one, two)
    if apart == 0:
        yield Violation("same_start", f"Both robots start in {one}; they must start apart.")
    elif apart == 1:
        said = f"{one} and {two} are adjacent: robots must not start in adjacent regions."
        yield Violation("adjacent_starts", said)
    for carry in plan.carries:
        start = plan.starts[carry.robot]
        for what, place in (("picks up", carry.taken), ("puts down", carry.put)):
            if place.region == start:
                said = f"{carry.robot} starts in {start}, where it {what} the {carry.thing}."
                yield Violation("starts_at_work", f"{said} Let it start elsewhere.")


def _wrong_words(plan: DirectPlan) -> Iterator[Violation]:
    for where, text in (("Task instruction", plan.instruction), *plan.told.items()):
        said = [word for word in _LOW_LEVEL if word in text.casefold()]
        if said:
            yield Violation(
                "low_level_words",
                f"The words for {where} say {list_names(said)}: say it as people do, without them.",
            )


def _wrong_steps(plan: DirectPlan, robot: RobotName, scene: Scene) -> Iterator[Violation]:
    held: set[str] = set()
    for step in plan.steps[robot]:
        if step.kind == "move":
            continue
        if step.place is None:
            said = f"{robot}: {quote(step.text)} comes before any Move_to."
            yield Violation("wrong_order", said)
        elif step.kind == "grab":
            held.add(step.name)
            if not _is_there(step, step.place, robot, plan, scene):
                there = item_names(scene, step.place.region, "object")
                yield Violation(
                    "object_not_there",
                    f"{robot}: {quote(step.name)} is no object of {step.place.region}, and nobody"
                    f" put it there. Objects there: {list_names(there, near=step.name)}.",
                )
        elif step.name not in held:
            said = f"{robot}: {quote(step.text)} comes before it has the {step.name[:80]}."
            yield Violation("wrong_order", said)
        else:
            held.discard(step.name)


def _is_there(
    step: PlanStep, place: MoveTarget, robot: RobotName, plan: DirectPlan, scene: Scene
) -> bool:
    brought = {c.put for c in plan.carries if c.robot != robot and c.thing == step.name}
    return place in brought or step.name in item_names(scene, place.region, "object")


def _unlike(plan: DirectPlan, scene: Scene) -> Iterator[Violation]:
    if plan.handover is not None:
        there = plan.handover[0].put.region
        if there not in plan.transfers:
            said = f'"Transfer position" is {list_names(plan.transfers)} and the steps hand over in'
            yield Violation(TRANSFER_UNLIKE, f"{said} {there}. Say one region in both.")
            return
    for robot, text in plan.told.items():
        named = [r.id for r in scene.regions if _names(text, r.id)]
        # A sentence without any region's name contradicts nothing.
        if named and not set(named) & set(plan.transfers):
            yield Violation(
                TRANSFER_UNLIKE,
                f"The words for {robot} speak of {list_names(named)} and not of the transfer"
                f" position {list_names(plan.transfers)}.",
            )


def _names(text: str, region: str) -> bool:
    before, found, after = text.partition(region)
    return bool(found) and not (before[-1:].isalnum() or after[:1].isalnum())


def _no_handover(plan: DirectPlan) -> Iterator[Violation]:
    if plan.handover is None:
        yield Violation(
            NO_HANDOVER,
            "No robot takes on what the other puts down: one must Release the object at an asset of"
            " the transfer position, and the other Move_to that asset and Grab it there.",
        )


def _off_links(plan: DirectPlan, scene: Scene) -> Iterator[Violation]:
    hops = hop_table(scene)
    for robot, path in plan.paths.items():
        here = None
        for step in path:
            a, arrow, b = step.partition(" -> ")
            known = a in hops.index and b in hops.index
            if not (arrow and known and hops.distance(a, b) == 1 and here in (None, a)):
                yield Violation(
                    OFF_LINKS,
                    f'"Robot travel path" of {robot}: {quote(step)} does not go on over a link.'
                    " Write one transition a link, each from where the one before it ends.",
                )
                break
            here = b


def _wrong_symbols(plan: DirectPlan, scene: Scene) -> Iterator[Violation]:
    """Check version 2's spatial constraints on Region_A, B, X, Y and C."""
    if plan.handover is None:
        return
    fetch, deliver = plan.handover
    if fetch.robot != "robot_1":
        said = "robot_1 must bring the object to the transfer position, and robot_2 deliver it."
        yield Violation("wrong_roles", said)
    yield from _wrong_distances(plan, fetch, deliver, scene)


def _wrong_distances(
    plan: DirectPlan, fetch: Carry, deliver: Carry, scene: Scene
) -> Iterator[Violation]:
    hops = hop_table(scene)
    a, y = (plan.starts[robot] for robot in ROBOTS)
    b, x, c = fetch.taken.region, fetch.put.region, deliver.put.region

    def far(one: str, two: str) -> float:
        found = hops.distance(one, two)
        return float("inf") if found is None else found

    for what, near in (("object's region", b), ("destination", c)):
        if far(x, near) == 1:
            said = f"The transfer position {x} is adjacent to the {what} {near}; it must not be."
            yield Violation("transfer_adjacent", said)
    for robot, start, what, nearest, others in (
        ("robot_1", a, "object's region", b, (x, y, c)),
        ("robot_2", y, "destination", c, (x, a, b)),
    ):
        nearer = [each for each in others if far(start, each) < far(start, nearest)]
        if nearer:
            yield Violation(
                "not_nearest",
                f"From {robot}'s start {start}, {list_names(nearer)} is nearer than the {what}"
                f" {nearest}: that must be the nearest.",
            )
