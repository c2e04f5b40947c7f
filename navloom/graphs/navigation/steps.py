"""What a navigator's run leaves behind: one record a step, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage

from navloom.graphs.navigation.replies import reply_text, words_of
from navloom.graphs.navigation.text import PROMPT
from navloom.prompts.load import load_prompt
from navloom.tools.navigation.options import Option
from navloom.tools.navigation.parse_action import FAULTS, ActionError, ParsedAction
from navloom.tools.navigation.remarks import read_remarks

__all__ = ["NOTHING", "action_record", "draft_of", "options_in", "result_of", "with_reply"]

NOTHING: dict[str, Any] = {"kind": "none", "option": None, "viewpoint": None, "question": None}
"""The action of a step without one."""


def draft_of(
    number: int, pose: Mapping[str, Any], options: Sequence[Option], media: Sequence[str]
) -> dict[str, Any]:
    """A step's record as it begins."""
    return {
        "step": number,
        "viewpoint": pose["viewpoint"],
        "heading": pose["heading"],
        "options": [option.record for option in options],
        "reply": "",
        "reasoning": None,
        "reflection": None,
        "decision": None,
        "plan": None,
        "action": NOTHING,
        "faults": [],
        "revised": 0,
        "revisions": [],
        "oracle": None,
        "asked": None,
        "media": list(media),
    }


def options_in(draft: Mapping[str, Any]) -> list[Option]:
    """The options of a record; what only geometry needs is not among it."""
    return [Option(**option) for option in draft["options"]]


def with_reply(
    draft: Mapping[str, Any], reply: AIMessage, found: ParsedAction | ActionError
) -> dict[str, Any]:
    """The record with a reply, what stood beside its action, and the action or the fault."""
    remarks = read_remarks(words_of(reply)) if words_of(reply) else None
    changed = {
        **draft,
        "reply": reply_text(reply),
        "reasoning": remarks and remarks.reasoning,
        "reflection": remarks and remarks.reflection,
        "decision": remarks and remarks.decision,
        "plan": remarks and remarks.plan,
    }
    if isinstance(found, ActionError):
        return {**changed, "action": NOTHING, "faults": [*draft["faults"], _fault(found)]}
    return {**changed, "action": action_record(found)}


def _fault(error: ActionError) -> str:
    return f"{error.kind}: {error}"


def action_record(action: ParsedAction) -> dict[str, Any]:
    """An action as a record keeps it."""
    option = action.option
    return {
        "kind": action.kind,
        "option": option and option.id,
        "viewpoint": option and option.viewpoint,
        "question": action.question,
    }


def result_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a run that has ended, as plain JSON."""
    steps, contacts = state.get("steps", []), state.get("contacts", [])
    return {
        "trajectory": state["trajectory"],
        "stopped": state["ending"] == "stop",
        "end": state["ending"],
        "steps": steps,
        "counts": _counts(steps, state["ending"], len(contacts)),
        "contacts": contacts,
        "prompt": load_prompt(PROMPT).record,
    }


def _counts(steps: Sequence[Mapping[str, Any]], ending: str, contacts: int) -> dict[str, int]:
    faults = [fault.partition(":")[0] for step in steps for fault in step["faults"]]
    said = [words for step in steps for words in (step["oracle"], step["asked"]) if words]
    return {
        "steps": sum(step["action"]["kind"] != "ask" for step in steps),
        # The last fault of an episode that ends by it is not told back.
        "reprompts": len(faults) - (ending == "unparsed"),
        **{kind: faults.count(kind) for kind in FAULTS},
        "revisions": sum(step["revised"] for step in steps),
        "questions": sum(step["asked"] is not None for step in steps),
        "oracle_calls": sum(step["oracle"] is not None for step in steps),
        "leaks": sum(bool(words["leaked"]) for words in said),
        "contacts": contacts,
    }
