"""Every rule a NavCraft task must keep, checked against its scene.

The rules are those of CoNavBench 3.1.2, 3.1.3, A.10 and A.11 and the guards of docs/dataset.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from navloom.evals.navcraft.claim import Claim, Fault, read_claim
from navloom.evals.navcraft.ground import Ground
from navloom.evals.navcraft.rates import check_rates

__all__ = ["Fault", "check_task"]


def check_task(ground: Ground, line: dict[str, Any]) -> list[Fault]:
    """Find everything that is wrong with one task.

    Args:
        ground: the scene of the task.
        line: one line of the file; it keeps ``navcraft.schema.json``.

    Returns:
        The faults, in the order of the rules; empty where the task is valid.
    """
    task = read_claim(ground, line)
    unknown = list(_unknown_regions(task))
    if unknown:
        return unknown
    faults = [*_legs(task), *_path(task), *_things(task)]
    if task.relay is not None:
        faults += [*_helper(task), *_handoff(task), *_words(task)]
    return faults or list(check_rates(task))


def _unknown_regions(task: Claim) -> Iterator[Fault]:
    named = {
        'phase_1 "Single robot start region"': task.start,
        'phase_1 "Single robot target object region"': task.target,
        'phase_1 "Single robot end region"': task.end,
    }
    if task.relay is not None:
        starts = task.relay["Collaborative robot start region"]
        named['phase_2 "Collaborative robot start region" robot_1'] = starts["robot_1"]
        named['phase_2 "Collaborative robot start region" robot_2'] = starts["robot_2"]
        named['phase_2 "Transfer region"'] = task.handoff
    for where, region in named.items():
        if region not in task.ground.regions:
            yield Fault(where, f"{region!r} is not a region of {task.ground.name}")


def _legs(task: Claim) -> Iterator[Fault]:
    if task.start == task.end:
        yield Fault('phase_1 "Single robot end region"', f"{task.end} is the start region too")
    legs = (("target object", task.start, task.target), ("end", task.target, task.end))
    for what, a, b in legs:
        where, hops = f'phase_1 "Single robot {what} region"', task.ground.hops(a, b)
        if hops is None:
            yield Fault(where, f"there is no way from {a} to {b} in {task.ground.name}")
        elif hops < task.least:
            yield Fault(where, f"{b} is {hops} links from {a}: at least {task.least} are needed")
    recorded = task.rest.get("legs")
    actual = [task.ground.hops(task.start, task.target), task.ground.hops(task.target, task.end)]
    if recorded is not None and recorded != actual:
        yield Fault('navloom "legs"', f"{recorded} is said and {actual} is right")


def _path(task: Claim) -> Iterator[Fault]:
    where, at = 'phase_1 "Single robot travel path"', task.start
    for step in task.path:
        a, _, b = step.partition(" -> ")
        if a != at:
            yield Fault(where, f"{step!r} does not go on from {at}")
            return
        if b not in task.ground.near.get(a, ()):
            yield Fault(where, f"{step!r} is not a link of {task.ground.name}")
            return
        at = b
    first, second = (
        task.ground.hops(task.start, task.target),
        task.ground.hops(task.target, task.end),
    )
    if at != task.end:
        yield Fault(where, f"it ends in {at} and not in the end region {task.end}")
    elif first is not None and second is not None:
        arrivals = [step.partition(" -> ")[2] for step in task.path]
        if len(arrivals) != first + second:
            said = f"it has {len(arrivals)} steps and the shortest has {first + second}"
            yield Fault(where, f"{said} ({first} to {task.target}, {second} on to {task.end})")
        elif arrivals[first - 1] != task.target:
            said = f"it is in {arrivals[first - 1]} after {first} steps"
            yield Fault(where, f"{said} and should be in the target region {task.target}")


def _things(task: Claim) -> Iterator[Fault]:
    ground, where = task.ground, 'phase_1 "Task instruction"'
    if not ground.named(task.target, "object", task.object):
        yield Fault('phase_1 "Target object"', f"{task.object!r} is not an object of {task.target}")
    wanted = f"Take the {task.object} from {task.target} to the {task.end_asset} in {task.end}."
    if task.instruction != wanted:
        yield Fault(where, f"{task.instruction!r} is said and the template gives {wanted!r}")
    elif not ground.named(task.end, "asset", str(task.end_asset)):
        yield Fault(where, f"{task.end_asset!r} is not an asset of {task.end}")
    yield from _recorded(task, "object_id", task.target, "object", task.object)
    yield from _recorded(task, "end_asset_id", task.end, "asset", task.end_asset)
    said = task.rest.get("end_asset", task.end_asset)
    if said != task.end_asset:
        yield Fault('navloom "end_asset"', f"{said!r} is not the instruction's {task.end_asset!r}")


def _recorded(task: Claim, key: str, region: str, kind: str, name: str | None) -> Iterator[Fault]:
    """The instance recorded under a key is the thing that is named."""
    if key not in task.rest:
        return
    item = task.ground.items.get(task.rest[key])
    if item is None:
        problem = f"{task.rest[key]!r} is not the id of an item of {task.ground.name}"
        yield Fault(f'navloom "{key}"', problem)
    elif (item.region, item.kind, item.prompt_name) != (region, kind, name):
        what = f"{item.kind} {item.prompt_name} in {item.region}"
        yield Fault(f'navloom "{key}"', f"{item.id!r} is {what}, not {kind} {name} in {region}")


def _helper(task: Claim) -> Iterator[Fault]:
    assert task.relay is not None  # noqa: S101 - only called for a relay
    where, ground, helper = 'phase_2 "Collaborative robot start region"', task.ground, task.helper
    said = task.relay["Collaborative robot start region"]["robot_1"]
    if said != task.start:
        yield Fault(where, f"robot_1 starts in {said} here and in {task.start} in phase_1")
    if helper == task.start:
        yield Fault(where, f"robot_2 starts in robot_1's own region {helper}")
    elif helper in ground.near[task.start]:
        yield Fault(where, f"robot_2's {helper} is next to robot_1's {task.start}")
    for what, region in (("target", task.target), ("transfer", task.handoff)):
        if ground.hops(helper, region) is None:
            yield Fault(where, f"robot_2 cannot reach the {what} region {region} from {helper}")
        if task.strict and helper in ground.near[region]:
            yield Fault(where, f"robot_2's {helper} is next to the {what} region {region}")


def _handoff(task: Claim) -> Iterator[Fault]:
    where, ground, asset = 'phase_2 "Transfer region"', task.ground, task.transfer_asset
    if task.handoff == task.target:
        yield Fault(where, f"{task.handoff} is the target object's region")
    if ground.hops(task.start, task.handoff) is None:
        yield Fault(where, f"robot_1 cannot reach {task.handoff} from {task.start}")
    if asset is None:
        return
    found = ground.named(task.handoff, "asset", asset)
    if not found:
        yield Fault('phase_2 "Subtask instruction"', f"{asset!r} is not an asset of {task.handoff}")
    elif not any(ground.usable(item) for item in found):
        yield Fault(
            'phase_2 "Subtask instruction"',
            f"the {asset} in {task.handoff} has no usable surface (0.30 m wide, 0.25 to 1.40 m up)",
        )
    if (task.handoff, asset) == (task.end, task.end_asset):
        yield Fault(
            where, f"the {asset} in {task.handoff} is the end asset: nothing is handed over"
        )
    if task.rest.get("transfer_asset", asset) != asset:
        said = task.rest["transfer_asset"]
        yield Fault('navloom "transfer_asset"', f"{said!r} is not the instruction's {asset!r}")
    yield from _recorded(task, "transfer_asset_id", task.handoff, "asset", asset)


def _words(task: Claim) -> Iterator[Fault]:
    """The sentences and the lists of primitives are the templates', word for word."""
    assert task.relay is not None  # noqa: S101 - only called for a relay
    thing, asset = task.object, task.transfer_asset
    fetcher, deliverer = task.roles
    there = f"the {asset} in {task.handoff}"
    sentences = {
        fetcher: f"Take the {thing} from {task.target} to {there}.",
        deliverer: f"Take the {thing} from {there} to the {task.end_asset} in {task.end}.",
    }
    grab, release = f"Grab('{thing}')", f"Release('{thing}')"
    handoff = _move(asset, task.handoff)
    steps = {
        fetcher: [_move(thing, task.target), grab, handoff, release],
        deliverer: [handoff, grab, _move(task.end_asset, task.end), release],
    }
    for robot in ("robot_1", "robot_2"):
        said = task.relay["Subtask instruction"][robot]
        if said != sentences[robot]:
            where = f'phase_2 "Subtask instruction" {robot}'
            yield Fault(where, f"{said!r} is said and {task.kind} gives {sentences[robot]!r}")
        listed = task.relay["Subtask list"][robot]
        if listed != steps[robot]:
            where = f'phase_2 "Subtask list" {robot}'
            yield Fault(where, f"{listed} is said and {task.kind} gives {steps[robot]}")


def _move(entity: str | None, region: str) -> str:
    return f"Move_to('{entity}_{region.rpartition('_')[2]}')"
