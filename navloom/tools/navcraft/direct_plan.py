"""A task of two robots made at once: the answers of CoNavBench A.13 and what their steps come to.

A.13.1 prints two prompts that ask for errand and relay in one answer. Version 1 has five keys, and
version 2 six, since it writes down each robot's path too. Neither says in a key of its own what is
taken, from where, onto what: that is read from the steps, ``Move_to``, ``Grab`` and ``Release``, by
carrying them out on paper. What is carried to where another robot takes it on is a handover.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from navloom.scenes.distances import kept_per_scene
from navloom.scenes.lexicon import item_names
from navloom.scenes.scene import Scene, prompt_name
from navloom.tools.forms import Form, Violation, closed_object, read_form
from navloom.tools.navcraft.paths import Errand, ErrandAnswer
from navloom.tools.navcraft.relay import (
    UNNAMED,
    RelayAnswer,
    RelayChoice,
    RobotName,
    relay_answer,
    roles_of,
)

Variant = Literal["v1", "v2"]
ROBOTS: tuple[RobotName, RobotName] = ("robot_1", "robot_2")
MOST_STEPS, MOST_PATH, LONGEST = 8, 40, 240
"""Steps and transitions of a robot, and characters of a sentence, that a schema leaves room for."""
_STEP = re.compile(r"(Move_to|Grab|Release)\(\s*([\"']?)([^\"'()]{1,200})\2\s*\)", re.IGNORECASE)
_Short = Annotated[str, Field(min_length=1, max_length=200)]
_Text = Annotated[str, Field(min_length=1, max_length=1000)]


class _Regions(Form):
    robot_1: _Short
    robot_2: _Short


class _Texts(Form):
    robot_1: _Text
    robot_2: _Text


class _Lists(Form):
    robot_1: tuple[_Short, ...] = Field(max_length=400)
    robot_2: tuple[_Short, ...] = Field(max_length=400)


class DirectAnswerV1(Form):
    """A task of two robots with exactly the output keys of A.13's version 1."""

    starts: _Regions = Field(alias="Robots position")
    instruction: _Text = Field(alias="Task instruction")
    transfer: tuple[_Short, ...] = Field(alias="Transfer position", min_length=1, max_length=50)
    told: _Texts = Field(alias="Subtask instruction")
    steps: _Lists = Field(alias="Subtask list")


class DirectAnswerV2(Form):
    """A task of two robots with exactly the output keys of A.13's version 2."""

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
    """Where a ``Move_to`` leads: a region, and the thing in it; None where only a room is named."""

    region: str
    thing: str | None


class PlanStep(NamedTuple):
    """One primitive as it was written, and read: its kind is "" where it is none of the three."""

    text: str
    kind: Literal["move", "grab", "release", ""]
    name: str
    place: MoveTarget | None
    """Where the robot is after it; None where it has been nowhere, or the place is not there."""


class Carry(NamedTuple):
    """A thing that a robot takes in one place and puts down in another."""

    robot: RobotName
    thing: str
    taken: MoveTarget
    put: MoveTarget


@dataclass(frozen=True)
class DirectPlan:
    """What an answer says, whichever prompt asked for it.

    Attributes:
        starts: the region each robot starts in.
        transfers: the regions that are said to be where the object is handed over.
        paths: transitions between regions that are written down, by robot; empty in version 1.
        instruction: the whole task in words.
        told: each robot's part in words.
        steps: each robot's steps, read.
    """

    starts: Mapping[RobotName, str]
    transfers: tuple[str, ...]
    paths: Mapping[RobotName, tuple[str, ...]]
    instruction: str
    told: Mapping[RobotName, str]
    steps: Mapping[RobotName, tuple[PlanStep, ...]]

    @cached_property
    def carries(self) -> tuple[Carry, ...]:
        """What is carried, robot by robot; a thing that is never put down is not carried."""
        return tuple(carry for robot in ROBOTS for carry in _carried(robot, self.steps[robot]))

    @cached_property
    def handover(self) -> tuple[Carry, Carry] | None:
        """Who fetches and who delivers: one puts down what the other takes on, at one place."""
        for one in self.carries:
            for two in self.carries:
                if one.robot != two.robot and (one.thing, one.put) == (two.thing, two.taken):
                    return one, two
        return None

    @cached_property
    def errand(self) -> Errand | None:
        """What robot_1 alone would do: bring the object of the first carry to where it ends."""
        chain = self.handover or (self.carries if len(self.carries) == 1 else None)
        if chain is None:
            return None
        first, last = chain[0], chain[-1]
        place = last.put.thing or UNNAMED
        return Errand(
            self.starts["robot_1"], first.taken.region, first.thing, last.put.region, place
        )

    @cached_property
    def relay(self) -> RelayChoice | None:
        """The relay of that errand; None without a handover."""
        if self.handover is None:
            return None
        first = self.handover[0]
        kind = next(k for k in ("Type-A1", "Type-A2") if roles_of(k)[0] == first.robot)
        asset = first.put.thing or UNNAMED
        return RelayChoice(self.starts["robot_2"], first.put.region, asset, kind)

    @cached_property
    def regions(self) -> frozenset[str]:
        """Every region that it involves: starts, handover, and wherever a step leads."""
        places = {step.place.region for each in self.steps.values() for step in each if step.place}
        return frozenset({*self.starts.values(), *self.transfers, *places})

    @property
    def written(self) -> int:
        """How many steps there are, of both robots."""
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


def read_direct(
    answer: Mapping[str, Any], scene: Scene, variant: Variant
) -> tuple[DirectPlan | None, list[Violation]]:
    """Read an answer's form; what it breaks is :func:`navloom.tools.navcraft.direct_rules`' to say.

    Args:
        answer: what was answered, with the keys of A.13.
        scene: where names come from.
        variant: of which of the two prompts.

    Returns:
        The plan and no faults, or None and each fault of its form in one sentence.
    """
    read, faults = read_form({"answer": dict(answer)}, "answer", FORMS[variant])
    if read is None:
        return None, faults
    transfer = (read.transfer,) if isinstance(read.transfer, str) else read.transfer
    paths = read.paths if isinstance(read, DirectAnswerV2) else None
    return _plan(read.starts, transfer, paths, read.instruction, read.told, read.steps, scene), []


def two_stage_plan(errand: ErrandAnswer, relay: RelayAnswer, scene: Scene) -> DirectPlan:
    """The same of a relay that was made in two stages, so that all are measured alike.

    Its path is robot_1's own, the one that A.10 has written down.
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
    """A robot's steps, each with the place where it is done."""
    found, here = list[PlanStep](), None
    for text in texts:
        match = _STEP.fullmatch(text.strip())
        if match is None:
            found.append(PlanStep(text, "", "", here))
            continue
        verb, name = match.group(1).casefold(), match.group(3).strip()
        if verb == "move_to":
            here = place_of(name, scene)
            found.append(PlanStep(text, "move", name, here))
        else:
            kind: Literal["grab", "release"] = "grab" if verb == "grab" else "release"
            found.append(PlanStep(text, kind, prompt_name(name), here))
    return tuple(found)


def place_of(text: str, scene: Scene) -> MoveTarget | None:
    """The place that ``object_region_id`` names, such as ``lamp_1``; None where there is none.

    The region is its whole id or the number at its end. Where several regions end alike, the one
    that has the thing is meant; a region alone is a place, too.
    """
    if text in scene.region_by_id:
        return MoveTarget(text, None)
    fits = []
    for region in scene.regions:
        for ending in (f"_{region.id}", f"_{region.id.rsplit('_', 1)[-1]}"):
            if text.endswith(ending) and len(text) > len(ending):
                fits.append(MoveTarget(region.id, prompt_name(text.removesuffix(ending))))
                break
    return next((place for place in fits if has_thing(place, scene)), None)


def has_thing(place: MoveTarget, scene: Scene) -> bool:
    """Whether the thing of a place is there, as an object or as an asset."""
    named = {*item_names(scene, place.region, "asset"), *item_names(scene, place.region, "object")}
    return place.thing is None or place.thing in named


def direct_answer(
    variant: Variant,
    errand: Errand,
    relay: RelayChoice,
    paths: Mapping[RobotName, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """The answer of A.13 that tells a relay, as JSON, in the sentences of A.11.

    Args:
        variant: with the keys of which prompt.
        errand: what robot_1 alone would do.
        relay: how it is shared.
        paths: with version 2, each robot's transitions.
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


def known_steps(scene: Scene) -> list[str]:
    """Every step that names a thing of the scene: moves to all, taking and putting of objects."""
    moves, things = list[str](), dict[str, None]()
    for region in scene.regions:
        objects = item_names(scene, region.id, "object")
        number = region.id.rsplit("_", 1)[-1]
        names = dict.fromkeys([*objects, *item_names(scene, region.id, "asset")])
        moves += [f"Move_to('{name}_{number}')" for name in names]
        things |= dict.fromkeys(objects)
    return [
        *dict.fromkeys(moves),
        *(f"{do}('{name}')" for do in ("Grab", "Release") for name in things),
    ]


@kept_per_scene
def direct_schema(scene: Scene, variant: Variant, *, constrain: bool) -> dict[str, Any]:
    """The JSON schema of the answer, its title the name of the job.

    Transitions are free words also where names are held to the scene: whether a path keeps to links
    is what is asked.

    Args:
        scene: where names come from.
        variant: of which prompt.
        constrain: hold starts and handover to the scene's regions, and steps to its things.
    """
    region: dict[str, Any] = {"type": "string"}
    step: dict[str, Any] = {"type": "string", "maxLength": 100}
    if constrain:
        region = {"type": "string", "enum": [each.id for each in scene.regions]}
        step = {"type": "string", "enum": known_steps(scene)}

    def both(value: dict[str, Any]) -> dict[str, Any]:
        return closed_object(dict.fromkeys(ROBOTS, value))

    def many(of: dict[str, Any], most: int) -> dict[str, Any]:
        # A grammar without a bound may never end.
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
    return closed_object(fields, f"direct_{variant}")
