"""The answer of NavCraft-C: its form, its rules, and what is wrong with one (CoNavBench A.11.1).

Type-A1: robot_2 fetches, robot_1 delivers. Type-A2: robot_1 fetches, robot_2 delivers. The two
sentences and the two lists of primitives are templates; only names go into them.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pydantic import Field

from navloom.scenes.scene import Scene
from navloom.tools.forms import Form, closed_object, read_form
from navloom.tools.navcraft.paths import unknown_region
from navloom.tools.navcraft.relay import COLLAB_TYPES, CollabType
from navloom.tools.violations import Violation, quoted

__all__ = [
    "Errand",
    "Phase2",
    "RelayChoice",
    "phase_2_of",
    "phase_2_schema",
    "read_phase_2",
]

STEPS = 4
"""Each robot's list: move, grab, move, release."""
_Text = Annotated[str, Field(min_length=1, max_length=1000)]


class _BothTexts(Form):
    robot_1: _Text
    robot_2: _Text


class _BothLists(Form):
    robot_1: tuple[_Text, ...] = Field(max_length=50)
    robot_2: tuple[_Text, ...] = Field(max_length=50)


class Phase2(Form):
    """A two-robot relay with exactly the output keys of A.11.1; dump it ``by_alias``."""

    starts: _BothTexts = Field(alias="Collaborative robot start region")
    type: CollabType = Field(alias="Collaborative type")
    transfer_region: _Text = Field(alias="Transfer region")
    instructions: _BothTexts = Field(alias="Subtask instruction")
    subtasks: _BothLists = Field(alias="Subtask list")


class Errand(NamedTuple):
    """The single-robot task a relay is made from: names only."""

    start: str
    target: str
    object: str
    end: str
    end_asset: str


class RelayChoice(NamedTuple):
    """The four choices of a relay: the tuple that the tool confirms and the answer must keep."""

    robot_2_start_region: str
    transfer_region: str
    transfer_asset: str
    collab_type: str


def phase_2_of(errand: Errand, relay: RelayChoice) -> Phase2:
    """Fill the templates of A.11.1 for a relay."""
    obj, asset, there = errand.object, relay.transfer_asset, relay.transfer_region
    fetch = f"Take the {obj} from {errand.target} to the {asset} in {there}."
    deliver = (
        f"Take the {obj} from the {asset} in {there} to the {errand.end_asset} in {errand.end}."
    )
    handoff = _move_to(asset, there)
    fetching = (_move_to(obj, errand.target), f"Grab('{obj}')", handoff, f"Release('{obj}')")
    delivering = (
        handoff,
        f"Grab('{obj}')",
        _move_to(errand.end_asset, errand.end),
        f"Release('{obj}')",
    )
    first, second = (
        ("robot_2", "robot_1") if relay.collab_type == "Type-A1" else ("robot_1", "robot_2")
    )
    return Phase2.model_validate(
        {
            "Collaborative robot start region": {
                "robot_1": errand.start,
                "robot_2": relay.robot_2_start_region,
            },
            "Collaborative type": relay.collab_type,
            "Transfer region": there,
            "Subtask instruction": {first: fetch, second: deliver},
            "Subtask list": {first: fetching, second: delivering},
        }
    )


def _move_to(entity: str, region: str) -> str:
    return f"Move_to('{entity}_{region.rsplit('_', 1)[-1]}')"


def phase_2_schema(scene: Scene, *, constrain: bool) -> dict[str, Any]:
    """The JSON schema of the answer, its title the name of the job; ``phase_2`` may be null.

    Args:
        scene: where names come from.
        constrain: hold regions to those of the scene.
    """
    region: dict[str, Any] = {"type": "string"}
    if constrain:
        region = {"type": "string", "enum": [r.id for r in scene.regions]}
    text = {"type": "string"}
    texts = {"type": "array", "items": text, "minItems": STEPS, "maxItems": STEPS}
    fields = {
        "Collaborative robot start region": closed_object({"robot_1": region, "robot_2": region}),
        "Collaborative type": {"type": "string", "enum": list(COLLAB_TYPES)},
        "Transfer region": region,
        "Subtask instruction": closed_object({"robot_1": text, "robot_2": text}),
        "Subtask list": closed_object({"robot_1": texts, "robot_2": texts}),
    }
    answer = {"anyOf": [closed_object(fields), {"type": "null"}]}
    return {"title": "phase_2", **closed_object({"phase_2": answer})}


def read_phase_2(
    answer: dict[str, Any], scene: Scene, errand: Errand, confirmed: RelayChoice | None
) -> tuple[Phase2 | None, list[Violation]]:
    """Check an answer's form, then that it is the confirmed relay, told in the exact templates.

    What a relay may be (guards, gain) is the tool's to say; only a relay the tool confirmed is
    accepted here (A.11.1, "General constraints").

    Args:
        answer: what the model said: ``{"phase_2": {...}}``.
        scene: the ground truth.
        errand: the single-robot task.
        confirmed: the relay that the tool found efficient last, if any.

    Returns:
        The relay and no violations, or the relay as far as its form allows and what is wrong.
    """
    plan, faults = read_form(answer, "phase_2", Phase2)
    if plan is None:
        return None, faults
    said = (plan.starts.robot_1, plan.starts.robot_2, plan.transfer_region)
    wrong = [
        Violation("unknown_region", unknown_region(scene, region, argument='"phase_2"'))
        for region in said
        if region not in scene.region_by_id
    ]
    if wrong:
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


def _other_relay(plan: Phase2, errand: Errand, confirmed: RelayChoice) -> list[Violation]:
    pairs = (
        ("robot_1 start", plan.starts.robot_1, errand.start, "wrong_start"),
        ("robot_2 start", plan.starts.robot_2, confirmed.robot_2_start_region, "other_relay"),
        ("Collaborative type", plan.type, confirmed.collab_type, "other_relay"),
        ("Transfer region", plan.transfer_region, confirmed.transfer_region, "other_relay"),
    )
    return [
        Violation(code, f"{what} is {quoted(said)}, but {quoted(wanted)} was confirmed: use that.")
        for what, said, wanted, code in pairs
        if said != wanted
    ]


def _wrong_words(plan: Phase2, errand: Errand, confirmed: RelayChoice) -> list[Violation]:
    wanted = phase_2_of(errand, confirmed)
    wrong = []
    for robot in ("robot_1", "robot_2"):
        sentence: str = getattr(wanted.instructions, robot)
        if getattr(plan.instructions, robot) != sentence:
            wrong.append(
                Violation(
                    "wrong_instruction",
                    f'"Subtask instruction" > "{robot}" must read exactly: {sentence}',
                )
            )
        steps: tuple[str, ...] = getattr(wanted.subtasks, robot)
        if getattr(plan.subtasks, robot) != steps:
            wrong.append(
                Violation(
                    "wrong_subtasks",
                    f'"Subtask list" > "{robot}" must be exactly: {", ".join(steps)}',
                )
            )
    return wrong
