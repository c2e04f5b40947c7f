"""What is said in the chat: checked words, the lines people read, and what a model reads first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from navloom.graphs import ask
from navloom.models.images import with_pictures
from navloom.prompts.load import load_prompt
from navloom.tools.chat.places import floor_number, room_name
from navloom.tools.chat.ways import MOST_NAMED, Now
from navloom.tools.untrusted import paragraph

__all__ = ["MOST_SAID", "cleaned", "fault_of", "kept_messages", "opening", "said_by"]

MOST_SAID = 2_000
"""Characters a person may say at once."""
MOST_ANSWER = 2_000
MOST_MESSAGES = 48
"""Messages a model is shown, and a checkpoint holds: the latest, from a person's words on."""


def fault_of(words: Any) -> str | None:
    """What is wrong with what was said, in one line; None where nothing is."""
    if not isinstance(words, str) or not cleaned(words):
        return "Nothing was said. Say where to go, or ask what I see."
    if len(words) > MOST_SAID:
        return f"That has {len(words):,} characters; say it in at most {MOST_SAID:,}."
    return None


def cleaned(words: str) -> str:
    """Words as one plain line without control characters."""
    return paragraph(words, MOST_SAID)


def said_by(who: str, text: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the transcript."""
    return {
        "who": who,
        "text": text,
        "turn": state.get("turn", 0),
        "at": len(state.get("trajectory", [])),
    }


def kept_messages(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The latest messages that begin with a person's words, at most ``MOST_MESSAGES``."""
    kept = list(messages[-MOST_MESSAGES:])
    while kept and not isinstance(kept[0], HumanMessage):
        kept.pop(0)
    return kept


def opening(now: Now, seed: int, pictures: Sequence[bytes] = ()) -> list[AnyMessage]:
    """What stands before the conversation: the rules, the home, where the robot is now."""
    names = [room_name(now.scene, region.id) for region in now.scene.regions]
    more = f" and {len(names) - 2 * MOST_NAMED} more" if len(names) > 2 * MOST_NAMED else ""
    captions = now.observation.captions
    summary = paragraph(captions.summary, 300) if captions else ""
    floor = floor_number(now.scene, now.viewpoint)
    rendered = load_prompt("chat").render(
        seed=seed,
        floors=len({region.floor for region in now.scene.regions}),
        rooms=", ".join(names[: 2 * MOST_NAMED]) + more,
        now=f"in the {room_name(now.scene, now.room)}, floor {floor}. {summary}".strip(),
        pictures=bool(pictures),
    )
    # Some chat templates refuse two human messages in a row.
    said: list[AnyMessage] = [*ask.opening(rendered), AIMessage("I am listening.")]
    return with_pictures(said, pictures)
