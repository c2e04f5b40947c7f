"""Tasks in plain words: their stories, the things that they are about, and which to tell of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from navloom.scenes.plan_shapes import readable
from navloom.tools.navcraft.worth import SENSIBLE


def task_story(row: Mapping[str, Any]) -> str:
    """One line of a dataset as two or three plain sentences."""
    one, two, rest = row["phase_1"], row.get("phase_2"), row["navloom"]
    start = readable(one["Single robot start region"]["robot_1"])
    target = readable(one["Single robot target object region"]["robot_1"])
    thing = f"the {readable(one['Target object'])}"
    end_region = readable(one["Single robot end region"]["robot_1"])
    goal = f"the {readable(rest['end_asset'])} in {end_region}"
    solo = rest.get("solo_metres")
    if two is None:
        how_far = f": {solo:.0f} m in all" if solo is not None else ""
        return f"robot_1 goes from {start} to {target}, takes {thing} to {goal}{how_far}."
    place = f"the {readable(rest['transfer_asset'])} in {readable(two['Transfer region'])}"
    helper = readable(two["Collaborative robot start region"]["robot_2"])
    starts = {"robot_1": start, "robot_2": helper}
    first, second = (
        ("robot_2", "robot_1") if two["Collaborative type"] == "Type-A1" else ("robot_1", "robot_2")
    )
    return (
        f"{_fetches(first, starts[first], target, thing)} and brings it to {place}. "
        f"{second} comes from {starts[second]}, takes it from there and carries it on to {goal}. "
        f"{_worth(rest)}"
    )


def _fetches(robot: str, start: str, target: str, thing: str) -> str:
    if start == target:
        return f"{robot} takes {thing} in {target}, where it starts,"
    return f"{robot} goes from {start} to {target}, takes {thing} there"


def _worth(rest: Mapping[str, Any]) -> str:
    alpha, g_rate, solo = rest["alpha"], rest["g_rate"], rest["solo_metres"]
    sooner = f"{1 - g_rate:.0%} sooner" if g_rate <= 1 else f"{g_rate - 1:.0%} later"
    return (
        f"robot_1 walks {alpha * solo:.0f} m instead of {solo:.0f} m ({1 - alpha:.0%} less); "
        f"together they are done {sooner} than it alone."
    )


def task_things(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The things that a task is about, in its order: what each is, and its id."""
    one, two, rest = row["phase_1"], row.get("phase_2"), row["navloom"]
    things = [(f"the object: {readable(one['Target object'])}", rest["object_id"])]
    if two is not None:
        place = f"the handoff: {readable(rest['transfer_asset'])}"
        things.append((place, rest["transfer_asset_id"]))
    return [*things, (f"the goal: {readable(rest['end_asset'])}", rest["end_asset_id"])]


def pick_tasks(rows: Sequence[Mapping[str, Any]], most: int = 10) -> list[Mapping[str, Any]]:
    """Choose tasks to show: spread over the scenes, in their order, always the same.

    Relays that end sooner than robot_1 alone would; where there are none, errands for one robot;
    slower relays only where there is nothing else. Of these what a person would ask for, if any is.
    """
    best = min(map(_rank, rows), default=(0, False))
    by_scene: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if _rank(row) == best:
            by_scene.setdefault(row["scene"], []).append(row)
    names = list(by_scene)
    if len(names) > most:
        names = [names[i * len(names) // most] for i in range(most)]
    turns = zip_longest(*(by_scene[name] for name in names))
    return [row for turn in turns for row in turn if row is not None][:most]


def _rank(row: Mapping[str, Any]) -> tuple[int, bool]:
    rest = row["navloom"]
    odd = rest.get("worth", {}).get("plausible", 1.0) < SENSIBLE
    if row.get("phase_2") is None:
        return 1, odd
    return (0 if rest["g_rate"] < 1 else 2), odd
