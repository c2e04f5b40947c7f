"""An errand of one robot, NavCraft-S: its answer's form, its rules, and what is wrong with one.

``read_errand`` takes what was answered, as JSON, and gives an :class:`ErrandAnswer` and the
violations. The rules are those of CoNavBench 3.1.2 and A.10.1: both legs connected, at least
``max(2, tau)`` hops, start and end different, the path a hop-shortest walk over links, the object
and the end asset where they are said to be, and the instruction's exact sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from navloom.scenes.distances import hop_table
from navloom.scenes.prompt import item_names
from navloom.scenes.scene import Scene
from navloom.tools.forms import Form, Violation, closed_object, listed, quoted, read_form
from navloom.tools.navcraft.paths import least_hops, region_ways, unknown_region

MOST_PATH = 400
"""The longest path that is read, in transitions."""
_Short = Annotated[str, Field(min_length=1, max_length=200)]
_FETCH = re.compile(r"Take the (\S+) from (\S+) to the (\S+) in (\S+)\.")
_START = 'phase_1 "Single robot start region"'
_TARGET = 'phase_1 "Single robot target object region"'
_END = 'phase_1 "Single robot end region"'
_PATH = 'phase_1 "Single robot travel path"'
_INSTRUCTION = 'phase_1 "Task instruction"'


class Errand(NamedTuple):
    """A single-robot task: names only."""

    start: str
    target: str
    object: str
    end: str
    end_asset: str

    @property
    def instruction(self) -> str:
        """The sentence of A.10.1, region ids whole and names verbatim."""
        return fetch_sentence(self.object, self.target, self.end_asset, self.end)


def fetch_sentence(obj: str, region: str, asset: str, there: str) -> str:
    """How a robot is told to bring an object from its region to an asset (A.10.1, A.11.1)."""
    return f"Take the {obj} from {region} to the {asset} in {there}."


def fetched_to(sentence: str) -> str | None:
    """The asset that such a sentence names; None where it breaks the form."""
    match = _FETCH.fullmatch(sentence)
    return match.group(3) if match else None


class _RobotRegion(Form):
    robot_1: _Short


class _RobotPath(Form):
    robot_1: tuple[_Short, ...] = Field(max_length=MOST_PATH)


class ErrandAnswer(Form):
    """A single-robot task with exactly the output keys of A.10.1; dump it ``by_alias``."""

    start: _RobotRegion = Field(alias="Single robot start region")
    target: _RobotRegion = Field(alias="Single robot target object region")
    object: _Short = Field(alias="Target object")
    end: _RobotRegion = Field(alias="Single robot end region")
    path: _RobotPath = Field(alias="Single robot travel path")
    instruction: Annotated[str, Field(max_length=1000)] = Field(alias="Task instruction")

    @property
    def errand(self) -> Errand:
        """Its names; A.10.1 names the end asset in the instruction alone, "" where that is off."""
        asset = fetched_to(self.instruction) or ""
        return Errand(self.start.robot_1, self.target.robot_1, self.object, self.end.robot_1, asset)


def errand_answer(errand: Errand, path: Sequence[str]) -> dict[str, Any]:
    """The answer of A.10.1 that tells an errand, as JSON."""
    return {
        "phase_1": {
            "Single robot start region": {"robot_1": errand.start},
            "Single robot target object region": {"robot_1": errand.target},
            "Target object": errand.object,
            "Single robot end region": {"robot_1": errand.end},
            "Single robot travel path": {"robot_1": [*path]},
            "Task instruction": errand.instruction,
        }
    }


def shortest_path(scene: Scene, errand: Errand) -> list[str]:
    """The transitions of an errand's shortest path; without those of a leg that has no way."""
    ways, (start, target, _, end, _) = region_ways(scene), errand
    return [*ways.get((start, target), ()), *ways.get((target, end), ())]


def errand_schema(scene: Scene, *, constrain: bool) -> dict[str, Any]:
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
    pairs = [(link.a, link.b) for link in scene.links]
    steps = {f"{a} -> {b}" for one, other in pairs for a, b in ((one, other), (other, one))}
    fields = {
        "Single robot start region": robot_1(name(regions)),
        "Single robot target object region": robot_1(name(regions)),
        "Target object": name(objects),
        "Single robot end region": robot_1(name(regions)),
        "Single robot travel path": robot_1(
            # No two shortest paths in a row are longer; a grammar without a bound may never end.
            {"type": "array", "items": name(sorted(steps)), "maxItems": 2 * len(regions)}
        ),
        "Task instruction": {"type": "string"},
    }
    return {"title": "phase_1", **closed_object({"phase_1": closed_object(fields)})}


def read_errand(
    answer: dict[str, Any], scene: Scene, *, tau: int = 2
) -> tuple[ErrandAnswer | None, list[Violation]]:
    """Check an answer's form and then every rule against the scene.

    Args:
        answer: what was answered: ``{"phase_1": {...}}``.
        scene: the ground truth.
        tau: the hop threshold; a leg has at least ``max(2, tau)`` hops.

    Returns:
        The task and no violations, or the task as far as its form allows and what is wrong.
    """
    task, faults = read_form(answer, "phase_1", ErrandAnswer)
    if task is None:
        return None, faults
    return task, [*_unknown_regions(task.errand, scene)] or [
        *_wrong_legs(task.errand, scene, least_hops(tau)),
        *_wrong_items(task, scene),
        *_wrong_path(task, scene),
    ]


def _unknown_regions(errand: Errand, scene: Scene) -> Iterator[Violation]:
    for where, region in ((_START, errand.start), (_TARGET, errand.target), (_END, errand.end)):
        if region not in scene.region_by_id:
            said = unknown_region(scene, region, argument=where.removeprefix("phase_1 "))
            found = f"{region!r} is not a region of {scene.uri}"
            yield Violation("unknown_region", said, where, found)


def _wrong_legs(errand: Errand, scene: Scene, least: int) -> Iterator[Violation]:
    start, target, end = errand.start, errand.target, errand.end
    for from_name, a, to_name, b, where in (
        ("start", start, "target", target, _TARGET),
        ("target", target, "end", end, _END),
    ):
        length = hop_table(scene).distance(a, b)
        if length is None:
            said = f"{from_name} {a} and {to_name} {b} are not connected."
            found = f"there is no way from {a} to {b} in {scene.uri}"
            yield Violation("not_connected", said, where, found)
        elif length < least:
            near = "adjacent" if length == 1 else f"{length} links apart"
            said = f"{from_name} {a} and {to_name} {b} are {near}; at least {least} are needed."
            found = f"{b} is {length} links from {a}: at least {least} are needed"
            yield Violation("leg_too_short", said, where, found)
    if start == end:
        said = f"Start and end are both {start}; they must differ."
        yield Violation("same_start_end", said, _END, f"{end} is the start region too")


def _wrong_items(task: ErrandAnswer, scene: Scene) -> Iterator[Violation]:
    errand = task.errand
    objects = item_names(scene, errand.target, "object")
    if errand.object not in objects:
        yield Violation(
            "object_not_there",
            f'"Target object": {quoted(errand.object)} is not an object of {errand.target}. '
            f"Objects there: {listed(objects, near=errand.object)}.",
            'phase_1 "Target object"',
            f"{errand.object!r} is not an object of {errand.target}",
        )
    asset, assets = errand.end_asset, item_names(scene, errand.end, "asset")
    template = errand._replace(end_asset=asset or "[asset]").instruction
    if task.instruction != template:
        yield Violation(
            "wrong_instruction",
            f'"Task instruction" must read exactly: {template}',
            _INSTRUCTION,
            f"{task.instruction!r} is said and the template gives {template!r}",
        )
    if asset and asset not in assets:
        yield Violation(
            "end_asset_not_there",
            f'"Task instruction": {quoted(asset)} is not an asset of {errand.end}. '
            f"Assets there: {listed(assets, near=asset)}.",
            _INSTRUCTION,
            # Words of another form name nothing that one could look for.
            f"{asset!r} is not an asset of {errand.end}" if task.instruction == template else "",
        )


def _wrong_path(task: ErrandAnswer, scene: Scene) -> Iterator[Violation]:
    hops, errand = hop_table(scene), task.errand
    start, target, end = errand.start, errand.target, errand.end
    first, second = hops.distance(start, target), hops.distance(target, end)
    if first is None or second is None:
        return
    walked = [start]
    for step in task.path.robot_1:
        a, arrow, b = step.partition(" -> ")
        if not arrow or a != walked[-1] or hops.index.get(b) is None or hops.distance(a, b) != 1:
            yield Violation(
                "broken_path",
                f"{_PATH.removeprefix('phase_1 ')}: {quoted(step)} does not follow a link from "
                f"{walked[-1]}. Copy the tool's start_2_target and target_2_end paths.",
                _PATH,
                f"{step!r} is not a link of {scene.uri}"
                if a == walked[-1]
                else f"{step!r} does not go on from {walked[-1]}",
            )
            return
        walked.append(b)
    steps = len(walked) - 1
    if steps == first + second and walked[first] == target and walked[-1] == end:
        return
    if walked[-1] != end:
        found = f"it ends in {walked[-1]} and not in the end region {end}"
    elif steps != first + second:
        found = (
            f"it has {steps} steps and the shortest has {first + second} "
            f"({first} to {target}, {second} on to {end})"
        )
    else:
        found = (
            f"it is in {walked[first]} after {first} steps "
            f"and should be in the target region {target}"
        )
    yield Violation(
        "path_not_shortest",
        f"{_PATH.removeprefix('phase_1 ')} has {steps} steps and ends in {walked[-1]}; "
        f"it must lead from {start} to {target} in {first} steps and on to {end} in "
        f"{second}. Copy the tool's paths.",
        _PATH,
        found,
    )


def admissible_triples(scene: Scene, tau: int = 2) -> Iterator[tuple[str, str, str]]:
    """Every (start, target, end) a task may have (CoNavBench 3.1.2), in scene order.

    Both legs have at least ``max(2, tau)`` hops, the target holds an object, the end holds an
    asset, and start and end differ.
    """
    far, objects, assets = _legs(scene, tau)
    names = hop_table(scene).nodes
    for start in range(len(names)):
        for target in np.flatnonzero(far[start] & objects):
            for end in np.flatnonzero(far[target] & assets):
                if end != start:
                    yield names[start], names[target], names[end]


def count_admissible_triples(scene: Scene, tau: int = 2) -> int:
    """How many :func:`admissible_triples` there are, without listing them."""
    far, objects, assets = _legs(scene, tau)
    starts = far[:, objects].sum(axis=0)
    ends = far[objects] & assets
    # The triples that end where they start: one for every end, since hops run both ways.
    return int((starts * ends.sum(axis=1)).sum() - ends.sum())


def _legs(scene: Scene, tau: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    table = hop_table(scene)
    objects = np.array([bool(scene.items_in(r, "object")) for r in table.nodes], dtype=np.bool_)
    assets = np.array([bool(scene.items_in(r, "asset")) for r in table.nodes], dtype=np.bool_)
    return table.hops >= least_hops(tau), objects, assets
