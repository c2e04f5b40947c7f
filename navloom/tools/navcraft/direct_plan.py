"""Two-robot tasks generated in one step: the answers of CoNavBench A.13, parsed into plans.

A.13.1 prints two prompts that ask for task and relay in one answer. Version 1 has five keys.
Version 2 has six, since it also writes down each robot's path. Neither has a key for what is taken,
from where and onto what. This is derived by simulating the steps ``Move_to``, ``Grab`` and
``Release``. If one robot takes an object where the other put it down, that is a handover.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from navloom.scenes.distances import cached_on_scene
from navloom.scenes.lexicon import item_names
from navloom.scenes.scene import Scene, prompt_name
from navloom.tools.model_output import AnswerPart, Violation, object_schema, read_part
from navloom.tools.navcraft.relay import (
    UNNAMED,
    RelayAnswer,
    RelayChoice,
    RobotName,
    relay_answer,
    roles_of,
)
from navloom.tools.navcraft.task_paths import SoloTask, SoloTaskAnswer

Variant = Literal["v1", "v2"]
ROBOTS: tuple[RobotName, RobotName] = ("robot_1", "robot_2")
MOST_STEPS, MOST_PATH, LONGEST = 8, 40, 240
"""The schema's limits: steps and transitions of a robot, and characters of a sentence."""
_STEP = re.compile(r"(Move_to|Grab|Release)\(\s*([\"']?)([^\"'()]{1,200})\2\s*\)", re.IGNORECASE)
_Short = Annotated[str, Field(min_length=1, max_length=200)]
_Text = Annotated[str, Field(min_length=1, max_length=1000)]


class _Regions(AnswerPart):
    robot_1: _Short
    robot_2: _Short


class _Texts(AnswerPart):
    robot_1: _Text
    robot_2: _Text


class _Lists(AnswerPart):
    robot_1: tuple[_Short, ...] = Field(max_length=400)
    robot_2: tuple[_Short, ...] = Field(max_length=400)


class DirectAnswerV1(AnswerPart):
    """Two-robot task with exactly the output keys of A.13's version 1."""

    starts: _Regions = Field(alias="Robots position")
    instruction: _Text = Field(alias="Task instruction")
    transfer: tuple[_Short, ...] = Field(alias="Transfer position", min_length=1, max_length=50)
    told: _Texts = Field(alias="Subtask instruction")
    steps: _Lists = Field(alias="Subtask list")


class DirectAnswerV2(AnswerPart):
    """Two-robot task with exactly the output keys of A.13's version 2."""

    starts: _Regions = Field(alias="Robots start position")
    transfer: _Short | Annotated[tuple[_Short, ...], Field(min_length=1, max_length=50)] = Field(
        alias="Transfer position"
    )
    paths: _Lists = Field(alias="Robot travel path")
    instruction: _Text = Field(alias="Task instruction")
    told: _Texts = Field(alias="Subtask instruction")
    steps: _Lists = Field(alias="Subtask list")


FORMS: dict[Variant, type[DirectAnswerV1 | DirectAnswerV2]] = {
    "v1": DirectAnswerV1,
    "v2": DirectAnswerV2,
}


class MoveTarget(NamedTuple):
    """Target of a ``Move_to``: a region and an item in it; None if only a region is named."""

    region: str
    thing: str | None


class PlanStep(NamedTuple):
    """One parsed step; its kind is "" if it is none of the three primitives."""

    text: str
    kind: Literal["move", "grab", "release", ""]
    name: str
    place: MoveTarget | None
    """Position after the step; None before any move, or if the place does not exist."""


class Carry(NamedTuple):
    """An object that a robot takes in one place and puts down in another."""

    robot: RobotName
    thing: str
    taken: MoveTarget
    put: MoveTarget


@dataclass(frozen=True)
class DirectPlan:
    """Parsed content of an answer, independent of the prompt version.

    Attributes:
        starts: the region each robot starts in.
        transfers: the regions named as the transfer position.
        paths: transitions between regions that are written down, by robot; empty in version 1.
        instruction: the whole task in words.
        told: each robot's part in words.
        steps: each robot's parsed steps.
    """

    starts: Mapping[RobotName, str]
    transfers: tuple[str, ...]
    paths: Mapping[RobotName, tuple[str, ...]]
    instruction: str
    told: Mapping[RobotName, str]
    steps: Mapping[RobotName, tuple[PlanStep, ...]]

    @cached_property
    def carries(self) -> tuple[Carry, ...]:
        """All carries, robot by robot; an object that is never put down is not carried."""
        return tuple(carry for robot in ROBOTS for carry in _carried(robot, self.steps[robot]))

    @cached_property
    def handover(self) -> tuple[Carry, Carry] | None:
        """The fetching and the delivering carry, if one ends where the other begins."""
        for one in self.carries:
            for two in self.carries:
                if one.robot != two.robot and (one.thing, one.put) == (two.thing, two.taken):
                    return one, two
        return None

    @cached_property
    def errand(self) -> SoloTask | None:
        """The task for robot_1 alone: bring the object of the first carry to its final place."""
        chain = self.handover or (self.carries if len(self.carries) == 1 else None)
        if chain is None:
            return None
        first, last = chain[0], chain[-1]
        place = last.put.thing or UNNAMED
        return SoloTask(
            self.starts["robot_1"], first.taken.region, first.thing, last.put.region, place
        )

    @cached_property
    def relay(self) -> RelayChoice | None:
        """The relay of that task; None without a handover."""
        if self.handover is None:
            return None
        first = self.handover[0]
        kind = next(k for k in ("Type-A1", "Type-A2") if roles_of(k)[0] == first.robot)
        asset = first.put.thing or UNNAMED
        return RelayChoice(self.starts["robot_2"], first.put.region, asset, kind)

    @cached_property
    def regions(self) -> frozenset[str]:
        """Every region that the plan involves: starts, handover and step targets."""
        places = {step.place.region for each in self.steps.values() for step in each if step.place}
        return frozenset({*self.starts.values(), *self.transfers, *places})

    @property
    def written(self) -> int:
        """Number of steps of both robots."""
        return sum(map(len, self.steps.values()))


def _carried(robot: RobotName, steps: Sequence[PlanStep]) -> Iterator[Carry]:
    held: dict[str, MoveTarget] = {}
    for step in steps:
        if step.place is None:
            continue
        if step.kind == "grab":
            held.setdefault(step.name, step.place)
        elif step.kind == "release" and step.name in held:
            yield Carry(robot, step.name, held.pop(step.name), step.place)


def read_direct_plan(
    answer: Mapping[str, Any], scene: Scene, variant: Variant
) -> tuple[DirectPlan | None, list[Violation]]:
    """Parse an answer's form; :mod:`navloom.tools.navcraft.direct_rules` checks its content.

    Args:
        answer: the answer, with the keys of A.13.
        scene: the scene whose names it uses.
        variant: which of the two prompts was used.

    Returns:
        The plan and no faults, or None and each fault of its form in one sentence.
    """
    read, faults = read_part({"answer": dict(answer)}, "answer", FORMS[variant])
    if read is None:
        return None, faults
    transfer = (read.transfer,) if isinstance(read.transfer, str) else read.transfer
    paths = read.paths if isinstance(read, DirectAnswerV2) else None
    return _plan(read.starts, transfer, paths, read.instruction, read.told, read.steps, scene), []


def two_stage_plan(errand: SoloTaskAnswer, relay: RelayAnswer, scene: Scene) -> DirectPlan:
    """Return the plan of a relay that was generated in two stages, for the same measurements.

    Its path is robot_1's own, which A.10 writes down.
    """
    paths = _Lists(robot_1=errand.path.robot_1, robot_2=())
    transfer = (relay.transfer_region,)
    told, steps = relay.instructions, relay.subtasks
    return _plan(relay.starts, transfer, paths, errand.instruction, told, steps, scene)


def _plan(
    starts: Any, transfer: Sequence[str], paths: Any, said: str, told: Any, steps: Any, scene: Scene
) -> DirectPlan:
    return DirectPlan(
        starts={robot: getattr(starts, robot) for robot in ROBOTS},
        transfers=tuple(transfer),
        paths={} if paths is None else {robot: getattr(paths, robot) for robot in ROBOTS},
        instruction=said,
        told={robot: getattr(told, robot) for robot in ROBOTS},
        steps={robot: read_steps(getattr(steps, robot), scene) for robot in ROBOTS},
    )


def read_steps(texts: Sequence[str], scene: Scene) -> tuple[PlanStep, ...]:
    """Return a robot's parsed steps, each with the place where the step is done."""
    found, here = list[PlanStep](), None
    for text in texts:
        match = _STEP.fullmatch(text.strip())
        if match is None:
            found.append(PlanStep(text, "", "", here))
            continue
        verb, name = match.group(1).casefold(), match.group(3).strip()
        if verb == "move_to":
            here = parse_place(name, scene)
            found.append(PlanStep(text, "move", name, here))
        else:
            kind: Literal["grab", "release"] = "grab" if verb == "grab" else "release"
            found.append(PlanStep(text, kind, prompt_name(name), here))
    return tuple(found)


def parse_place(text: str, scene: Scene) -> MoveTarget | None:
    """Return the place that ``object_region_id`` names, such as ``lamp_1``; None if none fits.

    The region is its whole id or the number at its end. If several regions end alike, the one that
    has the item is meant. A region alone is a place, too.
    """
    if text in scene.region_by_id:
        return MoveTarget(text, None)
    fits = []
    for region in scene.regions:
        for ending in (f"_{region.id}", f"_{region.id.rsplit('_', 1)[-1]}"):
            if text.endswith(ending) and len(text) > len(ending):
                fits.append(MoveTarget(region.id, prompt_name(text.removesuffix(ending))))
                break
    return next((place for place in fits if place_exists(place, scene)), None)


def place_exists(place: MoveTarget, scene: Scene) -> bool:
    """Check whether the place's item exists there, as an object or as an asset."""
    named = {*item_names(scene, place.region, "asset"), *item_names(scene, place.region, "object")}
    return place.thing is None or place.thing in named


def direct_answer(
    variant: Variant,
    errand: SoloTask,
    relay: RelayChoice,
    paths: Mapping[RobotName, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return the A.13 answer that describes a relay, as JSON, in the sentences of A.11.

    Args:
        variant: the prompt version whose keys are used.
        errand: the task for robot_1 alone.
        relay: how the task is shared.
        paths: for version 2, each robot's transitions.
    """
    told = relay_answer(errand, relay)["phase_2"]
    starts, whole = told["Collaborative robot start region"], errand.instruction
    shared = {
        "Task instruction": whole,
        "Subtask instruction": {robot: told["Subtask instruction"][robot] for robot in ROBOTS},
        "Subtask list": {robot: told["Subtask list"][robot] for robot in ROBOTS},
    }
    if variant == "v1":
        return {
            "Robots position": starts,
            "Task instruction": shared.pop("Task instruction"),
            "Transfer position": [relay.transfer_region],
            **shared,
        }
    return {
        "Robots start position": starts,
        "Transfer position": relay.transfer_region,
        "Robot travel path": {robot: [*(paths or {}).get(robot, ())] for robot in ROBOTS},
        **shared,
    }


def valid_steps(scene: Scene) -> list[str]:
    """Return every step whose names exist in the scene: moves to all items, grabs and releases."""
    moves, things = list[str](), dict[str, None]()
    for region in scene.regions:
        objects = item_names(scene, region.id, "object")
        number = region.id.rsplit("_", 1)[-1]
        names = dict.fromkeys([*objects, *item_names(scene, region.id, "asset")])
        moves += [f"Move_to('{name}_{number}')" for name in names]
        things |= dict.fromkeys(objects)
    return [*dict.fromkeys(moves), *(f"{do}('{n}')" for do in ("Grab", "Release") for n in things)]


@cached_on_scene
def direct_schema(scene: Scene, variant: Variant, *, constrain: bool) -> dict[str, Any]:
    """Return the JSON schema of the answer, titled by the job's name.

    Transitions stay free text even if names are constrained, since keeping to links is what is
    tested.

    Args:
        scene: the scene whose names are used.
        variant: which prompt.
        constrain: restrict starts and handover to the scene's regions, and steps to its items.
    """
    region: dict[str, Any] = {"type": "string"}
    step: dict[str, Any] = {"type": "string", "maxLength": 100}
    if constrain:
        region = {"type": "string", "enum": [each.id for each in scene.regions]}
        step = {"type": "string", "enum": valid_steps(scene)}

    def both(value: dict[str, Any]) -> dict[str, Any]:
        return object_schema(dict.fromkeys(ROBOTS, value))

    def many(of: dict[str, Any], most: int) -> dict[str, Any]:
        # Without a bound, constrained decoding may never end.
        return {"type": "array", "items": of, "maxItems": most}

    text, short = {"type": "string", "maxLength": LONGEST}, {"type": "string", "maxLength": 80}
    sentences = {
        "Task instruction": text,
        "Subtask instruction": both(text),
        "Subtask list": both(many(step, MOST_STEPS)),
    }
    if variant == "v1":
        fields = {
            "Robots position": both(region),
            "Task instruction": sentences.pop("Task instruction"),
            "Transfer position": {**many(region, 3), "minItems": 1},
            **sentences,
        }
    else:
        fields = {
            "Robots start position": both(region),
            "Transfer position": region,
            "Robot travel path": both(many(short, MOST_PATH)),
            **sentences,
        }
    return object_schema(fields, f"direct_{variant}")
