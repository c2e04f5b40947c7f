"""What a model cannot do, said in one line: before the first sample where that is known.

What is known comes from the model's LangChain profile (``model.profile``). A server that Navloom
cannot know beforehand refuses with a 400 (or a 404), in words of its own that are read here.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from navloom.errors import ModelRefusedError

__all__ = ["Ability", "cannot", "check_abilities", "read_refusal", "read_too_long"]

Ability = Literal["tools", "images"]

_FIELD = {"tools": "tool_calling", "images": "image_inputs"}
_WORDS = {"tools": "tool calls", "images": "images"}
_LISTED_WRONG = frozenset({("gpt-3.5-turbo", "tools")})
"""The profiles' source lists it without tools; OpenAI's API takes them."""

_REFUSALS: dict[str, re.Pattern[str]] = {
    "tools": re.compile(
        r"requires --(?:enable-auto-tool-choice|tool-call-parser)"
        r"|does(?: not|n't) support (?:tools?\b|tool[ -](?:use|call)|function[ -]call)"
        r"|'?tools'? (?:is|are) not supported"
        r"|function[ -]calling is not (?:enabled|supported)"
        r"|no endpoints found that support tool",
        re.IGNORECASE,
    ),
    "images": re.compile(
        r"is not a multimodal model"
        r"|at most 0 image"
        r"|does(?: not|n't) support (?:image|vision|multi-?modal)"
        r"|image input is not supported"
        r"|image_url is only supported by"
        r"|no endpoints found that support image",
        re.IGNORECASE,
    ),
}
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context window|prompt is too long"
    r"|(?:input|prompt)[^.]{0,40}(?:longer|exceeds?|too long)[^.]{0,60}(?:model|context|token)",
    re.IGNORECASE,
)
_TOO_LONG_FIX = (
    "the prompt does not fit the model's context: use a model with a longer one, a smaller scene,"
    " or where there is --compact, that"
)
_FIXES = {
    "tools": "the server takes no tool calls for this model: use one that does; a vLLM server has"
    " to be started for them, as `navloom serve MODEL` does",
    "images": "the model takes no images: use one that does; a vLLM server has to be started for"
    " them, as `navloom serve MODEL --images N` does",
}


def cannot(model: Any, ability: Ability) -> bool:
    """Whether a model is known not to take tool calls or images; False where nobody knows."""
    name = str(getattr(model, "model_name", None) or getattr(model, "model", ""))
    if (name, ability) in _LISTED_WRONG:
        return False
    profile = getattr(model, "profile", None) or {}
    return profile.get(_FIELD[ability]) is False


def check_abilities(model: Any, *, tools: bool = False, images: bool = False) -> None:
    """Refuse a model that is known to lack what it will be asked for.

    Args:
        model: a chat model.
        tools: whether tools will be bound to it.
        images: whether its messages will hold images.

    Raises:
        ModelRefusedError: one line; every further call would end the same way.
    """
    asked: dict[Ability, bool] = {"tools": tools, "images": images}
    for ability, wanted in asked.items():
        if wanted and cannot(model, ability):
            metadata = getattr(model, "metadata", None) or {}
            name = metadata.get("navloom_model") or model._llm_type
            raise ModelRefusedError(
                f"{name} takes no {_WORDS[ability]}, and this work needs them: use another model "
                "(where that is wrong, say so with get_model's "
                f"extra={{'profile': {{'{_FIELD[ability]}': True}}}})."
            )


def read_refusal(status: int | None, text: str) -> str | None:
    """What to do about a server's refusal of tools or of images.

    Args:
        status: the HTTP status.
        text: the server's words.

    Returns:
        One line, or None where the refusal is of another kind.
    """
    if status not in (400, 404, 422, 500, 501):
        return None
    for ability, pattern in _REFUSALS.items():
        if pattern.search(text):
            return _FIXES[ability]
    return None


def read_too_long(status: int | None, text: str) -> str | None:
    """What to do about a prompt that a server finds too long; another prompt may well fit.

    Args:
        status: the HTTP status.
        text: the server's words.

    Returns:
        One line, or None where the refusal is of another kind.
    """
    return _TOO_LONG_FIX if status in (400, 413, 422) and _TOO_LONG.search(text) else None
