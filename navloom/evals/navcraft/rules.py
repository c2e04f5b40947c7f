"""Is one line of a dataset right: the rules that tasks are made by, asked of a task that is there.

Nothing is worked out here that :mod:`navloom.tools.navcraft` does not; what a line records beside
the phases is held against what the tools say. Docs/dataset.md lists the rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from navloom.errors import RunError, UsageError
from navloom.plugins import plugin
from navloom.scenes.distances import hop_table
from navloom.scenes.scene import Scene
from navloom.tools.forms import Violation, read_form
from navloom.tools.navcraft.optimum import relay_record
from navloom.tools.navcraft.paths import Errand, read_errand, tied_graphs
from navloom.tools.navcraft.relay import (
    UNNAMED,
    RelayAnswer,
    RelayChoice,
    guard_violations,
    read_relay,
)
from navloom.tools.navcraft.task import RelayTask, errand_worth

TOLERANCE = 1e-6
"""How far a recorded number may be from the right one."""
_ORDER = """
    same_start_end not_connected leg_too_short legs broken_path path_not_shortest object_not_there
    wrong_instruction end_asset_not_there object_id end_asset_id end_asset wrong_start
    helper_with_robot_1 helper_next_to_robot_1 helper_cut_off helper_next_to_target
    helper_next_to_transfer transfer_in_target transfer_cut_off transfer_not_there no_surface
    transfer_is_end transfer_asset transfer_asset_id not_walkable no_route
"""
"""What is told before what, by its code."""


def broken_rules(scene: Scene, line: dict[str, Any]) -> list[Violation]:
    """Find everything that is wrong with one task.

    Args:
        scene: the scene of the task.
        line: one line of a dataset; it keeps ``navcraft.schema.json``.

    Returns:
        The rules it breaks, or else which instances and numbers it records wrongly; of some the
        ``finding`` is empty, for another says the same.
    """
    rest = line.get("navloom") or {}
    task, wrong = read_errand(line, scene, tau=int(rest.get("tau", 2)))
    plan, misshapen = None, list[Violation]()
    if line["phase_2"] is not None:
        plan, misshapen = read_form(line, "phase_2", RelayAnswer)
    if task is None or misshapen:
        return [*wrong, *misshapen]
    errand, words = task.errand, list[Violation]()
    relay = None if plan is None else plan.choice
    if relay is not None:
        _, words = read_relay(line, scene, errand, relay)
    if unknown := [each for each in (*wrong, *words) if each.code == "unknown_region"]:
        return unknown
    wrong += [each for each in words if each.code == "wrong_start"]
    wrong += [
        *_broken_guards(scene, errand, relay, rest),
        *_wrong_names(scene, errand, relay, rest),
    ]
    wrong.sort(key=lambda each: _ORDER.split().index(each.code))
    wrong += [each for each in words if each.code in ("wrong_instruction", "wrong_subtasks")]
    if line.get("team") is not None:
        # A plan is read by who writes it.
        found = plugin("navloom.rules", "team", "The key 'team' of a line", RunError)
        wrong += found(scene, errand, line["team"], rest)
    return wrong or [
        *_wrong_worth(scene, errand, rest.get("worth") or {}),
        *_wrong_record(scene, errand, relay, rest),
    ]


def _broken_guards(
    scene: Scene, errand: Errand, relay: RelayChoice | None, rest: Mapping[str, Any]
) -> list[Violation]:
    if relay is None:
        return []
    try:
        task = RelayTask(scene, *errand)
    except UsageError:
        return []  # What is not there is said already, and nothing can be laid out without it.
    return guard_violations(task, *relay[:3], strict=bool(rest.get("strict_helper")))


def _wrong_names(
    scene: Scene, errand: Errand, relay: RelayChoice | None, rest: Mapping[str, Any]
) -> Iterator[Violation]:
    """What is recorded beside the phases is not what they say: legs, names and instances."""
    hops = hop_table(scene)
    legs = [hops.distance(errand.start, errand.target), hops.distance(errand.target, errand.end)]
    if rest.get("legs", legs) != legs:
        yield _recorded("legs", f"{rest['legs']} is said and {legs} is right")
    named = [
        ("object", errand.target, "object", errand.object),
        ("end_asset", errand.end, "asset", errand.end_asset),
    ]
    if relay is not None and relay.transfer_asset != UNNAMED:
        named.append(("transfer_asset", relay.transfer_region, "asset", relay.transfer_asset))
    for key, region, kind, name in named:
        if key != "object" and rest.get(key, name) != name:
            yield _recorded(key, f"{rest[key]!r} is not the instruction's {name!r}")
        if f"{key}_id" not in rest:
            continue
        item = scene.item_by_id.get(rest[f"{key}_id"])
        if item is None:
            said = f"{rest[f'{key}_id']!r} is not the id of an item of {scene.uri}"
            yield _recorded(f"{key}_id", said)
        elif (item.region, item.kind, item.prompt_name) != (region, kind, name):
            what = f"{item.kind} {item.prompt_name} in {item.region}"
            said = f"{item.id!r} is {what}, not {kind} {name} in {region}"
            yield _recorded(f"{key}_id", said)


def _recorded(key: str, finding: str) -> Violation:
    return Violation(key, "", f'navloom "{key}"', finding)


def _wrong_worth(scene: Scene, errand: Errand, said: Mapping[str, Any]) -> Iterator[Violation]:
    """What is recorded of an errand's worth and is not so; another version's grades are its own."""
    right = errand_worth(scene, errand)
    grades = () if said.get("belongs") == right["belongs"] else ("plausible", "carry", "room", "on")
    for key in (right.keys() & said.keys()) - {*grades, "belongs"}:
        if abs((said[key] or 0) - (right[key] or 0)) > TOLERANCE:
            yield _recorded("worth", f"{key} {said[key]} is said and {right[key]} is right")


def _wrong_record(
    scene: Scene, errand: Errand, relay: RelayChoice | None, rest: Mapping[str, Any]
) -> list[Violation]:
    """Which of the instances and numbers that are recorded are not those of G+."""
    things = frozenset(rest[key] for key in ("object_id", "end_asset_id") if key in rest)
    task = RelayTask(scene, *errand, meant=things)
    regions, items = [errand.start], [task.object_item.id, task.end_item.id]
    if relay is not None:
        regions.append(relay.robot_2_start_region)
        items.append(rest.get("transfer_asset_id") or task.transfers[relay[1:3]].item.id)
    # Any of the viewpoints that tie is right, as long as one choice explains all the numbers.
    answers: list[list[Violation]] = []
    for graph in tied_graphs(scene, regions, items):
        answers.append(list(_wrong_numbers(replace(task, over=graph), relay, rest)))
        if not answers[-1]:
            break
    return min(answers, key=len)


def _wrong_numbers(
    task: RelayTask, relay: RelayChoice | None, rest: Mapping[str, Any]
) -> Iterator[Violation]:
    solo, least = (
        math.inf if each.solo_metres is None else each.solo_metres
        for each in (task, replace(task, meant=frozenset()))
    )
    if solo > least + TOLERANCE:
        what = f"{task.object_item.id!r} and {task.end_item.id!r} make a route of {solo:.3f} m"
        yield _recorded("object_id", f"{what}, others of those names one of {least:.3f} m")
    if relay is None:
        yield from _differs("solo_metres", rest, solo)
        return
    strict = bool(rest.get("strict_helper"))
    meant = replace(task, meant=task.meant | {rest.get("transfer_asset_id", "")})
    usual, taken = task.transfers[relay[1:3]], meant.transfers[relay[1:3]]
    unusable = any(each.code == "no_surface" for each in taken.broken)
    if unusable or taken.carried > usual.carried + TOLERANCE:
        said = f"by {taken.item.id!r} the object is carried {taken.carried:.3f} m"
        other = f"by another of that name {usual.carried:.3f} m"
        yield _recorded("transfer_asset_id", f"{said}, {other}")
    optimum = relay_record(task, None, strict=strict)
    for key in ("best_alpha", "best_g_rate"):
        best = math.inf if optimum[key] is None else optimum[key]
        if rest.get(key) is not None and not abs(rest[key] - best) <= TOLERANCE:
            yield _recorded(key, f"{rest[key]} is said and the best relay has {best:.6f}")
    yield from _differs("solo_metres", rest, solo)
    if not unusable:
        yield from _wrong_rates(relay_record(meant, relay, strict=strict), rest)


def _wrong_rates(right: Mapping[str, Any], rest: Mapping[str, Any]) -> Iterator[Violation]:
    alpha, g_rate = right["alpha"], right["g_rate"]
    if alpha >= 1:
        said = f"alpha is {alpha:.6f}: the relay spares robot_1 nothing"
        yield Violation("no_gain", "", "phase_2", said)
    for key in ("alpha", "r1_rate", "alpha_other", "g_rate", "gain_alpha", "gain_g", "best_alone"):
        yield from _differs(key, rest, right[key])
    # Regret is measured from the best that is recorded.
    best_alpha, best_g = rest.get("best_alpha"), rest.get("best_g_rate")
    if best_alpha is not None and rest.get("regret_alpha") is not None:
        yield from _differs("regret_alpha", rest, alpha - best_alpha)
    if best_g and rest.get("regret_g") is not None:
        # The best is rounded to six decimals, and the quotient magnifies that.
        yield from _differs("regret_g", rest, g_rate / best_g - 1, TOLERANCE * (1 + 2 / best_g))


def _differs(
    key: str, rest: Mapping[str, Any], right: float, tolerance: float = TOLERANCE
) -> Iterator[Violation]:
    said = rest.get(key)
    if key not in rest or (said is None and math.isinf(right)):
        return
    if said is None or not math.isfinite(right) or abs(said - right) > tolerance:
        yield _recorded(key, f"{said} is said and {right:.6f} is right")
