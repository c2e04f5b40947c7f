"""What a model said, and what it was shown: text, the JSON in it, images.

Models wrap their JSON in thoughts, fences and courtesies. What is looked for is one JSON object,
found tolerantly and bounded strictly; nothing is repaired, evaluated or guessed. An image is data:
what a model is shown travels in the request, never by a link, and every provider's client turns the
block that `image_block` makes into its own form.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

from navloom.errors import ModelError

MOST_CHARACTERS = 200_000
"""A longer answer is refused unread."""
_MOST_STARTS = 200
_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


class AnswerError(ValueError):
    """What a model said holds no JSON object; the message is one line that a model can act on."""


def message_text(content: Any) -> str:
    """The text of a message's content: a string, or the text blocks of a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    parts = [b if isinstance(b, str) else b.get("text", "") for b in blocks if b]
    return "".join(part for part in parts if isinstance(part, str))


def read_json_object(text: str) -> dict[str, Any]:
    """The last whole JSON object that stands in a text, outside thoughts.

    Args:
        text: what a model said.

    Raises:
        AnswerError: where there is none, or the text is over ``MOST_CHARACTERS`` long.
    """
    if len(text) > MOST_CHARACTERS:
        raise AnswerError(
            f"The answer is {len(text)} characters long; at most {MOST_CHARACTERS} are read."
        )
    found = list(json_values(_THOUGHT.sub(" ", text), "{", most=_MOST_STARTS))
    if not found:
        raise AnswerError("The answer holds no JSON object. Answer with the JSON object alone.")
    return dict(found[-1])


def json_values(text: str, opens: str = "[{", *, most: int = 2_000) -> Iterator[Any]:
    """Every whole JSON value that stands in a text, outermost first.

    Args:
        text: what a model said, without what is not to be read.
        opens: what a value that is looked for begins with: arrays, objects or both.
        most: places that are tried.
    """
    decoder, start = json.JSONDecoder(), re.compile(f"[{re.escape(opens)}]")
    found = start.search(text)
    for _ in range(most):
        if found is None:
            return
        try:
            value, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            end = found.start() + 1
        else:
            yield value
        found = start.search(text, end)


MOST_IMAGE_BYTES = 5_000_000
"""Anthropic's bound on one image is the smallest of the three: 5 MB."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_block(data: bytes) -> dict[str, Any]:
    """Make the content block of a message that shows an image.

        HumanMessage([{"type": "text", "text": "What is it?"}, image_block(png)])

    Args:
        data: the bytes of a PNG, JPEG, GIF or WebP file.

    Raises:
        ModelError: where the bytes are none of these, or too many for a provider.
    """
    kind = next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "image/webp"
    if kind is None:
        raise ModelError(f"The image begins with {data[:8]!r}: expected PNG, JPEG, GIF or WebP.")
    if len(data) > MOST_IMAGE_BYTES:
        raise ModelError(
            f"The image has {len(data):,} bytes, and a model takes {MOST_IMAGE_BYTES:,}: "
            "make it smaller."
        )
    return {"type": "image", "base64": base64.b64encode(data).decode(), "mime_type": kind}
