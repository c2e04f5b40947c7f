"""Relays of two robots (NavCraft-C): guards, efficiency and answer (CoNavBench 3.1.3, A.11).

In ``Type-A1`` robot_2 fetches the object and robot_1 delivers it from the transfer asset. In
``Type-A2`` robot_1 fetches and robot_2 delivers. Distances are on G+ in metres
(:mod:`navloom.tools.navcraft.task_paths`). ``r1_rate`` is robot_1's share of its solo route.
``g_rate`` is the time of both at equal speed over the solo time. A relay is accepted if the
``r1_rate`` of its type, which is alpha, is below 1. The two sentences and the two step lists of the
answer are templates into which only names are filled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from navloom.scenes.distances import cached_on_scene
from navloom.scenes.scene import Scene, prompt_name
from navloom.tools.model_output import AnswerPart, Violation, object_schema, quote, read_part
from navloom.tools.navcraft import task_paths
from navloom.tools.navcraft.relay_task import (
    HELPER,
    HelperStart,
    RelayTask,
    TransferPlace,
    item_not_found,
)

CollabType = Literal["Type-A1", "Type-A2"]
COLLAB_TYPES: tuple[CollabType, CollabType] = ("Type-A1", "Type-A2")
"""``Type-A1``: robot_2 fetches, robot_1 delivers. ``Type-A2``: the other way round."""
RobotName = Literal["robot_1", "robot_2"]
Metres = TypeVar("Metres", float, NDArray[np.float64])
UNNAMED = "None"
"""The asset of a relay if its fetching sentence names none."""
STEPS = 4
"""Each robot's list: move, grab, move, release."""
_Text = Annotated[str, Field(min_length=1, max_length=1000)]
_LEGS = {
    "Type-A1": ("r2_to_target", "robot2_first_leg", "r1_to_transfer"),
    "Type-A2": ("r1_to_target", "robot1_first_leg", "r2_to_transfer"),
}
"""Names of the legs in the listing of A.11.2."""


class RelayChoice(NamedTuple):
    """The four choices of a relay, which the tool confirms and the answer must repeat."""

    robot_2_start_region: str
    transfer_region: str
    transfer_asset: str
    collab_type: str


def roles_of(collab_type: str) -> tuple[RobotName, RobotName]:
    """Return the robot that fetches the object and the robot that delivers it."""
    return ("robot_2", "robot_1") if collab_type == "Type-A1" else ("robot_1", "robot_2")


def check_collab_path_efficient(
    task: RelayTask,
    robot_2_start_region: str,
    transfer_region: str,
    transfer_asset: str,
    collab_type: str,
    *,
    strict: bool = False,
) -> dict[str, Any]:
    """Check whether a relay saves robot_1, or both robots, part of the path (CoNavBench A.11.2).

    Args:
        task: the single-robot task the relay replaces.
        robot_2_start_region: whole id of the region the helper starts in.
        transfer_region: whole id of the region where the object is handed over.
        transfer_asset: the asset of that region it is put on.
        collab_type: ``"Type-A1"`` or ``"Type-A2"``.
        strict: apply the text's stricter helper rule; see :func:`guard_violations`.

    Returns:
        ``g_efficient``, ``r1_efficient``, ``efficient`` (either of them), ``g_rate``, ``r1_rate``
        and ``path_info`` (metres, as the listing names them, and the ``type``). If a name is
        unknown, a path does not exist or a guard is broken: ``{"efficient": False, "error": ...}``
        and nothing else. All of it is JSON-serializable.
    """
    helper = task.fit_helpers.get(robot_2_start_region)
    transfer = task.fit_transfers.get((transfer_region, transfer_asset))
    if helper is None or transfer is None or strict:
        asked = (robot_2_start_region, transfer_region, transfer_asset)
        reasons = guard_violations(task, *asked, strict=strict)
        helper, transfer = task.helpers.get(asked[0]), find_transfer(task, *asked[1:])
        if reasons or helper is None or transfer is None:
            return _refusal(" ".join(reason.message for reason in reasons))
    if collab_type not in _LEGS:
        return _refusal(
            f"collab_type {collab_type[: task_paths.MAX_QUOTED]!r} is not known:"
            " use 'Type-A1' or 'Type-A2'."
        )
    return _compared(task, helper, transfer, collab_type)


def guard_violations(
    task: RelayTask,
    robot_2_start_region: str,
    transfer_region: str,
    transfer_asset: str,
    *,
    strict: bool = False,
) -> list[Violation]:
    """List every guard that a relay breaks, in plain sentences an agent can act on.

    The guards: start and end regions of the task differ; the transfer region is not the target
    region; the transfer asset is an asset of it, is not the end asset, and has a usable surface if
    sizes are known; both robots can reach it, and the helper also the object; the helper starts
    neither in robot_1's region nor next to it.

    Args:
        task: the single-robot task.
        robot_2_start_region: where the helper starts.
        transfer_region: where the object is handed over.
        transfer_asset: the asset it is put on.
        strict: also require that the helper does not start next to (one link from) the target
            region or the transfer region, as in the text of CoNavBench 3.1.3. Starting inside one
            of them is allowed.

    Returns:
        The violations; empty if the relay keeps every guard.
    """
    reasons = list(task.broken)
    helper = task.helpers.get(robot_2_start_region)
    if helper is None:
        said = task_paths.region_not_found(
            task.scene, robot_2_start_region, argument="robot_2_start_region"
        )
        reasons.append(Violation("unknown_region", said))
    transfer = find_transfer(task, transfer_region, transfer_asset)
    if transfer_region not in task.scene.region_by_id:
        said = task_paths.region_not_found(task.scene, transfer_region, argument="transfer_region")
        reasons.append(Violation("unknown_region", said))
    elif transfer is None:
        said = item_not_found(task.scene, transfer_region, transfer_asset, "asset")
        found = f"{transfer_asset!r} is not an asset of {transfer_region}"
        where = 'phase_2 "Subtask instruction"'
        reasons.append(Violation("transfer_not_there", said, where, found))
    # Whether the helper reaches the transfer asset follows: paths are symmetric, robot_1 must reach
    # both the asset and the object, and the helper the object.
    reasons += helper.broken if helper else ()
    reasons += transfer.broken if transfer else ()
    if strict and helper and transfer:
        reasons += _next_door(task, helper, transfer)
    return reasons


def find_transfer(task: RelayTask, region: str, asset: str) -> TransferPlace | None:
    """Return the transfer place a model names; None if the region has no such asset."""
    found = task.transfers.get((region, asset))
    if found is None:
        found = task.transfers.get((region, prompt_name(asset[:200])))
    return found


def _next_door(task: RelayTask, helper: HelperStart, place: TransferPlace) -> Iterator[Violation]:
    for what, region in (("target", task.target_region), ("transfer", place.region)):
        if region in helper.neighbours:
            yield Violation(
                f"helper_next_to_{what}",
                f"robot_2_start_region {helper.region} is next to the {what} region {region}. "
                "Choose another robot_2_start_region.",
                HELPER,
                f"robot_2's {helper.region} is next to the {what} region {region}",
            )


def relay_legs(
    fetch_by_1: Metres, fetch_by_2: Metres, come_1: Metres, come_2: Metres, on: Metres, kind: str
) -> tuple[Metres, Metres, Metres]:
    """Return the metres of a relay's legs, for one relay or for arrays of relays.

    Args:
        fetch_by_1: metres robot_1 walks if it fetches: to the object, and to the transfer asset.
        fetch_by_2: likewise robot_2.
        come_1: metres robot_1 walks to the transfer asset if it delivers.
        come_2: likewise robot_2.
        on: metres from the transfer asset to the end asset.
        kind: ``"Type-A1"`` or ``"Type-A2"``.

    Returns:
        Metres of the fetching robot, of the delivering robot up to the transfer asset, and of
        robot_1 in total.
    """
    if kind == "Type-A1":
        return fetch_by_2, come_1, come_1 + on
    return fetch_by_1, come_2, fetch_by_1


def _compared(
    task: RelayTask, helper: HelperStart, transfer: TransferPlace, collab_type: str
) -> dict[str, Any]:
    solo, shorter, on = task.solo_metres or math.inf, task.shorter_bound, transfer.to_end
    carried, to_object = transfer.from_object, helper.to_object
    come = helper.row[transfer.viewpoint] + transfer.spur
    fetch = task.start_to_object + carried
    first_leg, come, r1_cost = relay_legs(
        fetch, to_object + carried, transfer.from_start, come, on, collab_type
    )
    to_target, fetching, coming = _LEGS[collab_type]
    parallel = first_leg if first_leg > come else come  # max() costs a tenth of the call
    g_cost = parallel + on
    r1_efficient, g_efficient = r1_cost < shorter, g_cost < shorter
    return {
        "g_efficient": g_efficient,
        "r1_efficient": r1_efficient,
        "efficient": g_efficient or r1_efficient,
        "g_rate": g_cost / solo,
        "r1_rate": r1_cost / solo,
        "path_info": {
            to_target: to_object if collab_type == "Type-A1" else task.start_to_object,
            "target_to_transfer": carried,
            fetching: first_leg,
            coming: come,
            "parallel_leg": parallel,
            "transfer_to_end": on,
            "type": collab_type,
        },
    }


def _refusal(why: str) -> dict[str, Any]:
    return {"efficient": False, "error": why}


class _BothTexts(AnswerPart):
    robot_1: _Text
    robot_2: _Text


class _BothLists(AnswerPart):
    robot_1: tuple[_Text, ...] = Field(max_length=50)
    robot_2: tuple[_Text, ...] = Field(max_length=50)


class RelayAnswer(AnswerPart):
    """Two-robot relay with exactly the output keys of A.11.1; dump it ``by_alias``."""

    starts: _BothTexts = Field(alias="Collaborative robot start region")
    type: CollabType = Field(alias="Collaborative type")
    transfer_region: _Text = Field(alias="Transfer region")
    instructions: _BothTexts = Field(alias="Subtask instruction")
    subtasks: _BothLists = Field(alias="Subtask list")

    @property
    def choice(self) -> RelayChoice:
        """The four choices; the asset is the fetching robot's, ``UNNAMED`` if not parsed."""
        asset = task_paths.parse_fetch_asset(getattr(self.instructions, roles_of(self.type)[0]))
        return RelayChoice(self.starts.robot_2, self.transfer_region, asset or UNNAMED, self.type)


def relay_answer(errand: task_paths.SoloTask, relay: RelayChoice) -> dict[str, Any]:
    """Return the A.11.1 answer that describes a relay, as JSON: its templates, filled in."""
    obj, asset, there = errand.object, relay.transfer_asset, relay.transfer_region
    handoff, grab, release = _move_to(asset, there), f"Grab('{obj}')", f"Release('{obj}')"
    fetcher, deliverer = roles_of(relay.collab_type)
    return {
        "phase_2": {
            "Collaborative robot start region": {
                "robot_1": errand.start,
                "robot_2": relay.robot_2_start_region,
            },
            "Collaborative type": relay.collab_type,
            "Transfer region": there,
            "Subtask instruction": {
                fetcher: task_paths.fetch_sentence(obj, errand.target, asset, there),
                deliverer: f"Take the {obj} from the {asset} in {there} "
                f"to the {errand.end_asset} in {errand.end}.",
            },
            "Subtask list": {
                fetcher: [_move_to(obj, errand.target), grab, handoff, release],
                deliverer: [handoff, grab, _move_to(errand.end_asset, errand.end), release],
            },
        }
    }


def _move_to(entity: str, region: str) -> str:
    return f"Move_to('{entity}_{region.rsplit('_', 1)[-1]}')"


@cached_on_scene
def relay_answer_schema(scene: Scene, *, constrain: bool) -> dict[str, Any]:
    """Return the JSON schema of the answer, titled by the job's name; ``phase_2`` may be null.

    Args:
        scene: the scene whose names are used.
        constrain: restrict regions to those of the scene.
    """
    region: dict[str, Any] = {"type": "string"}
    if constrain:
        region = {"type": "string", "enum": [r.id for r in scene.regions]}
    text = {"type": "string"}
    texts = {"type": "array", "items": text, "minItems": STEPS, "maxItems": STEPS}
    fields = {
        "Collaborative robot start region": object_schema({"robot_1": region, "robot_2": region}),
        "Collaborative type": {"type": "string", "enum": list(COLLAB_TYPES)},
        "Transfer region": region,
        "Subtask instruction": object_schema({"robot_1": text, "robot_2": text}),
        "Subtask list": object_schema({"robot_1": texts, "robot_2": texts}),
    }
    answer = {"anyOf": [object_schema(fields), {"type": "null"}]}
    return object_schema({"phase_2": answer}, "phase_2")


def read_relay(
    answer: dict[str, Any], scene: Scene, errand: task_paths.SoloTask, confirmed: RelayChoice | None
) -> tuple[RelayAnswer | None, list[Violation]]:
    """Validate an answer's form, then that it is the confirmed relay in the exact templates.

    The tool decides which relays are allowed (guards, gain). Here only the relay that the tool
    confirmed is accepted (A.11.1, "General constraints").

    Args:
        answer: the answer: ``{"phase_2": {...}}``.
        scene: the ground truth.
        errand: the single-robot task.
        confirmed: the relay that the tool last found efficient, if any.

    Returns:
        The relay and no violations, or the relay as far as its form allows and the violations.
    """
    plan, faults = read_part(answer, "phase_2", RelayAnswer)
    if plan is None:
        return None, faults
    if wrong := [*_unknown_regions(plan, scene)]:
        return plan, wrong
    if confirmed is None:
        return plan, [
            Violation(
                "not_confirmed",
                "No relay was confirmed yet. Call check_collab_path_efficient until it returns "
                '"efficient": true, then answer with that relay.',
            )
        ]
    return plan, [*_other_relay(plan, errand, confirmed), *_wrong_words(plan, errand, confirmed)]


def _unknown_regions(plan: RelayAnswer, scene: Scene) -> Iterator[Violation]:
    for where, region in (
        (f"{HELPER} robot_1", plan.starts.robot_1),
        (f"{HELPER} robot_2", plan.starts.robot_2),
        ('phase_2 "Transfer region"', plan.transfer_region),
    ):
        if region not in scene.region_by_id:
            said = task_paths.region_not_found(scene, region, argument='"phase_2"')
            found = f"{region!r} is not a region of {scene.uri}"
            yield Violation("unknown_region", said, where, found)


def _other_relay(
    plan: RelayAnswer, errand: task_paths.SoloTask, confirmed: RelayChoice
) -> Iterator[Violation]:
    for name, said, wanted, code in (
        ("robot_1 start", plan.starts.robot_1, errand.start, "wrong_start"),
        ("robot_2 start", plan.starts.robot_2, confirmed.robot_2_start_region, "other_relay"),
        ("Collaborative type", plan.type, confirmed.collab_type, "other_relay"),
        ("Transfer region", plan.transfer_region, confirmed.transfer_region, "other_relay"),
    ):
        if said != wanted:
            yield Violation(
                code,
                f"{name} is {quote(said)}, but {quote(wanted)} was confirmed: use that.",
                HELPER,
                f"robot_1 starts in {said} here and in {wanted} in phase_1",
            )


def _wrong_words(
    plan: RelayAnswer, errand: task_paths.SoloTask, confirmed: RelayChoice
) -> Iterator[Violation]:
    wanted = relay_answer(errand, confirmed)["phase_2"]
    for robot in ("robot_1", "robot_2"):
        said, sentence = getattr(plan.instructions, robot), wanted["Subtask instruction"][robot]
        if said != sentence:
            yield Violation(
                "wrong_instruction",
                f'"Subtask instruction" > "{robot}" must read exactly: {sentence}',
                f'phase_2 "Subtask instruction" {robot}',
                f"{said!r} is said and {plan.type} gives {sentence!r}",
            )
        done, steps = list(getattr(plan.subtasks, robot)), wanted["Subtask list"][robot]
        if done != steps:
            yield Violation(
                "wrong_subtasks",
                f'"Subtask list" > "{robot}" must be exactly: {", ".join(steps)}',
                f'phase_2 "Subtask list" {robot}',
                f"{done} is said and {plan.type} gives {steps}",
            )
