"""``builtin/human``: a person at the terminal answers in the place of a model.

The last human message of the prompt is shown on stderr, without anything that could steer a
terminal, and one line is read from stdin. For a navigator the short forms ``3``, ``stop`` and ``ask
QUESTION`` are put into the form that is asked for; anything else is passed on as it was typed.
"""

from __future__ import annotations

import re
import sys

from langchain_core.messages import AIMessage

from navloom.errors import ModelRefusedError
from navloom.models.builtin import Request

_MOST_TYPED = 2_000
_MOST_SHOWN = 20_000
_NUMBER = re.compile(r"#?(\d{1,4})\.?")
_ASK = re.compile(r"(?:ask\b[: ]*|\?\s*)(.+)", re.IGNORECASE)


def ask_person(request: Request) -> AIMessage:
    """Show the prompt's last human message and take a line as the answer.

    Raises:
        ModelRefusedError: where nobody can answer: no stdin, or its end.
    """
    return AIMessage(_typed(request, "answer> "))


def walking_person(request: Request) -> AIMessage:
    """As `ask_person`, for ``navigator``: a number, ``stop`` or ``ask QUESTION`` will do."""
    typed = _typed(request, "option number, stop, or ask QUESTION> ")
    number, asked = _NUMBER.fullmatch(typed), _ASK.fullmatch(typed)
    tools = "move" in request.tools
    if number:
        n = int(number.group(1))
        return request.call("move", option=n) if tools else AIMessage(f"Action: {n}.")
    if typed.casefold().rstrip(".!") in ("stop", "s"):
        return request.call("stop") if tools else AIMessage("Action: Stop.")
    if asked:
        question = asked.group(1)
        return (
            request.call("ask", question=question)
            if tools
            else AIMessage(f"Action: Ask: {question}")
        )
    return AIMessage(typed)


def _typed(request: Request, invitation: str) -> str:
    shown = request.humans[-1] if request.humans else ""
    try:
        sys.stderr.write(f"\n{_harmless(shown[:_MOST_SHOWN])}\n{invitation}")
        sys.stderr.flush()
        line = sys.stdin.readline(_MOST_TYPED) if sys.stdin is not None else ""
    except (OSError, ValueError, UnicodeError) as error:
        raise ModelRefusedError(f"builtin/human cannot read from stdin: {error}.") from None
    if not line:
        raise ModelRefusedError("builtin/human needs a person: stdin has ended.")
    return line.strip()


def _harmless(text: str) -> str:
    """Text for a terminal: what is in a prompt may come from a stranger's file."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)
