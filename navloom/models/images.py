"""Images in messages, as data: what a model is shown travels in the request, never by a link.

Every provider's client turns the block that `image_block` makes into its own form: a ``data:`` URL
for OpenAI and vLLM, a base64 source for Anthropic.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage, HumanMessage

from navloom.errors import ModelError
from navloom.models.answer import message_text

_Message = TypeVar("_Message", bound=BaseMessage)

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


def with_pictures(
    messages: Sequence[_Message], pictures: Sequence[bytes]
) -> list[_Message | HumanMessage]:
    """A conversation with pictures at the end of its first human message.

    Raises:
        ModelError: one of them is no picture, or too large for a provider.
    """
    if not pictures:
        return list(messages)
    at = next(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    text = {"type": "text", "text": message_text(messages[at].content)}
    shown = HumanMessage([text, *map(image_block, pictures)])
    return [*messages[:at], shown, *messages[at + 1 :]]
