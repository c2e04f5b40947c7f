"""Replies made sane: content that clients take back."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from navloom.models.messages import sanitize_reply


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("as it is", "as it is"),
        ([{"type": "text", "text": "a"}, "b"], [{"type": "text", "text": "a"}, "b"]),
        ([{"type": "text", "text": [{}]}], [{"type": "text", "text": "[{}]"}]),
        ([{"type": "text", "text": None}], [{"type": "text", "text": "null"}]),
        ([{}, {"type": 7}, {"type": "x", "x": 1}], [{"type": "x", "x": 1}]),
    ],
)  # fmt: skip
def test_blocks_are_texts_or_objects_of_a_kind(content: Any, kept: Any) -> None:
    message = AIMessage("").model_copy(update={"content": content})
    assert sanitize_reply(message).content == kept
