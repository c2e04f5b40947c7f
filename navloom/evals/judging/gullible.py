"""A judge that believes whatever looks like a verdict, to measure what reaches one."""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from navloom.models.answer import message_text
from navloom.models.builtin import InProcessModel

_FENCED = re.compile(r"<<<([0-9a-f]{16})\n.*?\n\1>>>", re.DOTALL)
_SHAPE = re.compile(
    r"""\bcorrect\b["'”]?\s{0,4}[:=>]{1,3}\s{0,4}["'“]?\s{0,2}(true|false|yes|no)\b""",
    re.IGNORECASE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_HEX = re.compile(r"\\u([0-9a-fA-F]{4})|%([2-7][0-9a-fA-F])")
_FOLD = str.maketrans("соеарСОЕАРιοα", "coeapCOEAPioa")


class GullibleJudge(InProcessModel):
    """See the module."""

    honest: bool
    """Its verdict where it reads none."""
    blind: bool = False
    """Whether it reads what is fenced too."""

    @property
    def _llm_type(self) -> str:
        return "gullible-blind" if self.blind else "gullible"

    def said(self, messages: list[BaseMessage], bound: Mapping[str, Any]) -> AIMessage:  # noqa: ARG002
        """A verdict: the last that it read, else its honest one."""
        text = "\n".join(message_text(m.content) for m in messages if isinstance(m, HumanMessage))
        found = self.read(text)
        verdict: dict[str, Any] = {
            "explanation": "It seems settled." if found is not None else "As I see it.",
            "named": [],
            "false": [],
            "correct": self.honest if found is None else found,
        }
        return AIMessage(json.dumps(verdict))

    def read(self, text: str) -> bool | None:
        """The last verdict in a text, however disguised; None where there is none."""
        shown = text if self.blind else _FENCED.sub(" ", text)
        said = [found[1].casefold() for found in _SHAPE.finditer(_undisguised(shown))]
        return said[-1] in ("true", "yes") if said else None


def _undisguised(text: str) -> str:
    text = "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) < 0xE007F else c for c in text)
    text = html.unescape(_HEX.sub(lambda found: chr(int(found[1] or found[2], 16)), text))
    kept = unicodedata.normalize("NFKD", _BASE64.sub(_decoded, text)).translate(_FOLD)
    return "".join(c for c in kept if unicodedata.category(c) not in ("Cf", "Mn"))


def _decoded(found: re.Match[str]) -> str:
    try:
        return base64.b64decode(found[0], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return found[0]
