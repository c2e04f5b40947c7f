"""The answer of NavCraft-S: its form, its rules, and what is wrong with one (CoNavBench A.10.1).

``read_phase_1`` takes what a model said, as JSON, and gives a :class:`Phase1` or the violations.
The rules are those of 3.1.2: both legs connected, at least ``max(2, tau)`` hops, start and end
different, the path a hop-shortest walk over links, the object and the end asset where they are
said to be, and the instruction's exact sentence.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from navloom.scenes.distances import hop_table
from navloom.scenes.prompt import item_names
from navloom.scenes.scene import Scene
from navloom.tools.forms import Form, closed_object, read_form
from navloom.tools.navcraft.paths import least_hops, unknown_region
from navloom.tools.violations import Violation, listed, quoted

__all__ = [
    "MOST_PATH",
    "Phase1",
    "end_asset_of",
    "phase_1_schema",
    "read_phase_1",
    "single_instruction",
]

MOST_PATH = 400
"""The longest path that is read, in transitions."""
_Short = Annotated[str, Field(min_length=1, max_length=200)]
_INSTRUCTION = re.compile(r"Take the (\S+) from (\S+) to the (\S+) in (\S+)\.")


class _RobotRegion(Form):
    robot_1: _Short


class _RobotPath(Form):
    robot_1: tuple[_Short, ...] = Field(max_length=MOST_PATH)


class Phase1(Form):
    """A single-robot task with exactly the output keys of A.10.1; dump it ``by_alias``."""

    start: _RobotRegion = Field(alias="Single robot start region")
    target: _RobotRegion = Field(alias="Single robot target object region")
    object: _Short = Field(alias="Target object")
    end: _RobotRegion = Field(alias="Single robot end region")
    path: _RobotPath = Field(alias="Single robot travel path")
    instruction: Annotated[str, Field(max_length=1000)] = Field(alias="Task instruction")


def single_instruction(obj: str, target: str, asset: str, end: str) -> str:
    """The sentence of A.10.1, region ids whole and names verbatim."""
    return f"Take the {obj} from {target} to the {asset} in {end}."


def end_asset_of(phase_1: Phase1) -> str | None:
    """The end asset, which A.10.1 names in the instruction alone; None where it breaks the form."""
    match = _INSTRUCTION.fullmatch(phase_1.instruction)
    return match.group(3) if match else None


def phase_1_schema(scene: Scene, *, constrain: bool) -> dict[str, Any]:
    """The JSON schema of the answer, its title the name of the job.

    Args:
        scene: where names come from.
        constrain: hold regions, objects and transitions to those of the scene.
    """

    def name(values: list[str]) -> dict[str, Any]:
        return {"type": "string", "enum": values} if constrain and values else {"type": "string"}

    def robot_1(value: dict[str, Any]) -> dict[str, Any]:
        return closed_object({"robot_1": value})

    regions = [region.id for region in scene.regions]
    objects = sorted({n for r in regions for n in item_names(scene, r, "object")})
    steps = [f"{a} -> {b}" for link in scene.links for a, b in _both_ways(link.a, link.b)]
    fields = {
        "Single robot start region": robot_1(name(regions)),
        "Single robot target object region": robot_1(name(regions)),
        "Target object": name(objects),
        "Single robot end region": robot_1(name(regions)),
        "Single robot travel path": robot_1(
            # No two shortest paths in a row are longer; a grammar without a bound may never end.
            {"type": "array", "items": name(sorted(set(steps))), "maxItems": 2 * len(regions)}
        ),
        "Task instruction": {"type": "string"},
    }
    return {"title": "phase_1", **closed_object({"phase_1": closed_object(fields)})}


def _both_ways(a: str, b: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (a, b), (b, a)


def read_phase_1(
    answer: dict[str, Any], scene: Scene, *, tau: int = 2
) -> tuple[Phase1 | None, list[Violation]]:
    """Check an answer's form and then every rule against the scene.

    Args:
        answer: what the model said: ``{"phase_1": {...}}``.
        scene: the ground truth.
        tau: the hop threshold; a leg has at least ``max(2, tau)`` hops.

    Returns:
        The task and no violations, or the task as far as its form allows and what is wrong.
    """
    task, faults = read_form(answer, "phase_1", Phase1)
    if task is None:
        return None, faults
    wrong = _unknown_regions(task, scene)
    if not wrong:
        wrong = [
            *_wrong_legs(task, scene, least_hops(tau)),
            *_wrong_items(task, scene),
            *_wrong_path(task, scene),
        ]
    return task, wrong


def _unknown_regions(task: Phase1, scene: Scene) -> list[Violation]:
    named = {
        "Single robot start region": task.start.robot_1,
        "Single robot target object region": task.target.robot_1,
        "Single robot end region": task.end.robot_1,
    }
    return [
        Violation("unknown_region", unknown_region(scene, region, argument=f'"{key}"'))
        for key, region in named.items()
        if region not in scene.region_by_id
    ]


def _wrong_legs(task: Phase1, scene: Scene, least: int) -> list[Violation]:
    start, target, end = task.start.robot_1, task.target.robot_1, task.end.robot_1
    hops, wrong = hop_table(scene), []
    legs = (("start", start, "target", target), ("target", target, "end", end))
    for from_name, a, to_name, b in legs:
        length = hops.distance(a, b)
        if length is None:
            wrong.append(
                Violation("not_connected", f"{from_name} {a} and {to_name} {b} are not connected.")
            )
        elif length < least:
            said = "adjacent" if length == 1 else f"{length} links apart"
            wrong.append(
                Violation(
                    "leg_too_short",
                    f"{from_name} {a} and {to_name} {b} are {said}; at least {least} are needed.",
                )
            )
    if start == end:
        wrong.append(
            Violation("same_start_end", f"Start and end are both {start}; they must differ.")
        )
    return wrong


def _wrong_items(task: Phase1, scene: Scene) -> list[Violation]:
    target, end, wrong = task.target.robot_1, task.end.robot_1, []
    objects = item_names(scene, target, "object")
    if task.object not in objects:
        wrong.append(
            Violation(
                "object_not_there",
                f'"Target object": {quoted(task.object)} is not an object of {target}. '
                f"Objects there: {listed(objects, near=task.object)}.",
            )
        )
    asset, assets = end_asset_of(task), item_names(scene, end, "asset")
    template = single_instruction(task.object, target, asset or "[asset]", end)
    if task.instruction != template:
        wrong.append(
            Violation("wrong_instruction", f'"Task instruction" must read exactly: {template}')
        )
    if asset is not None and asset not in assets:
        wrong.append(
            Violation(
                "end_asset_not_there",
                f'"Task instruction": {quoted(asset)} is not an asset of {end}. '
                f"Assets there: {listed(assets, near=asset)}.",
            )
        )
    return wrong


def _wrong_path(task: Phase1, scene: Scene) -> list[Violation]:
    hops = hop_table(scene)
    start, target, end = task.start.robot_1, task.target.robot_1, task.end.robot_1
    first, second = hops.distance(start, target), hops.distance(target, end)
    if first is None or second is None:
        return []
    walked = [start]
    for step in task.path.robot_1:
        a, arrow, b = step.partition(" -> ")
        if not arrow or a != walked[-1] or hops.index.get(b) is None or hops.distance(a, b) != 1:
            return [
                Violation(
                    "broken_path",
                    f'"Single robot travel path": {quoted(step)} does not follow a link from '
                    f"{walked[-1]}. Copy the tool's start_2_target and target_2_end paths.",
                )
            ]
        walked.append(b)
    if len(walked) - 1 != first + second or walked[first] != target or walked[-1] != end:
        return [
            Violation(
                "path_not_shortest",
                f'"Single robot travel path" has {len(walked) - 1} steps and ends in {walked[-1]}; '
                f"it must lead from {start} to {target} in {first} steps and on to {end} in "
                f"{second}. Copy the tool's paths.",
            )
        ]
    return []
