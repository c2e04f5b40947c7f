"""Messages between driver and worker: samples, model calls and replies as JSON text.

Both ends have the same version; the first message checks this. Messages contain output of models,
so their size is limited, and nothing in them is imported or executed.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import Any

from navloom.evals.call_log_writer import CallEntry, StoredText, to_stored_text
from navloom.models.messages import CallRecord

Words = dict[str, Any]

_AS_IT_IS = tuple(
    f.name for f in fields(CallEntry) if f.name not in ("messages", "tools", "schema", "reply")
)
SETTINGS = ("cache_in_process", "epoch", "role", "max_retries", "attempt_timeout")
"""Call settings that a worker takes over from its driver."""
_MOST_KNOWN = 256
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def encode_message(words: Words) -> str:
    """Encode a message as JSON text.

    Raises:
        ValueError: a value is not JSON; likewise TypeError.
    """
    return json.dumps(words, separators=(",", ":"), allow_nan=False)


def decode_message(text: str) -> Words:
    """Decode a message and check that it has a ``say`` field.

    Raises:
        ValueError: the text is not such an object.
    """
    words = json.loads(text)
    if not isinstance(words, dict) or not isinstance(words.get("say"), str):
        raise ValueError("no object with a word `say`")
    return words


@dataclass
class CallEncoder:
    """Encoder of a worker's model calls; parts sent before are not sent again."""

    _talks: dict[tuple[str, str], Sequence[Any]] = field(default_factory=dict)
    _known: dict[bytes, int] = field(default_factory=dict)

    def words(self, sample: str, call: CallRecord) -> Words:
        """Return a message of a sample's call, with only the new messages of its conversation."""
        key, said = (sample, call.node), CallEntry.of(call)
        pairs = zip(self._talks.get(key, ()), said.messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
        self._talks[key] = said.messages
        return {
            "say": "call",
            "sample": sample,
            "same": same,
            "messages": [_text_words(to_stored_text(each)) for each in said.messages[same:]],
            "reply": None if said.reply is None else _text_words(to_stored_text(said.reply)),
            "tools": self._once(said.tools),
            "schema": self._once(said.schema),
            "said": {name: getattr(said, name) for name in _AS_IT_IS},
        }

    def forget(self, sample: str) -> None:
        """Drop the state of a sample that has ended."""
        for key in [each for each in self._talks if each[0] == sample]:
            del self._talks[key]

    def _once(self, value: Any) -> Any:
        """Encode a value in full the first time, later as its number."""
        if value is None:
            return None
        text = to_stored_text(value)
        mark = blake2b(text.data, digest_size=16).digest()
        if mark in self._known:
            return {"number": self._known[mark]}
        if len(self._known) >= _MOST_KNOWN:
            return {"is": _text_words(text)}
        self._known[mark] = len(self._known)
        return {"is": _text_words(text), "number": self._known[mark]}


@dataclass
class CallDecoder:
    """Decoder of model calls from a :class:`CallEncoder`."""

    _talks: dict[tuple[str, str], tuple[StoredText, ...]] = field(default_factory=dict)
    _known: dict[int, StoredText] = field(default_factory=dict)

    def call(self, words: Mapping[str, Any]) -> CallEntry:
        """Return a call rebuilt from its message.

        Raises:
            ValueError: the message is malformed; likewise LookupError and TypeError.
        """
        said, reply = words["said"], words["reply"]
        key = (words["sample"], said["node"])
        before = self._talks.get(key, ())[: words["same"]]
        self._talks[key] = talk = (*before, *(_text(each) for each in words["messages"]))
        return CallEntry(
            **{name: said[name] for name in _AS_IT_IS},
            messages=talk,
            tools=self._of(words["tools"]),
            schema=self._of(words["schema"]),
            reply=None if reply is None else _text(reply),
        )

    def forget(self, sample: str) -> None:
        """Drop the state of a sample that has ended."""
        for key in [each for each in self._talks if each[0] == sample]:
            del self._talks[key]

    def _of(self, told: Mapping[str, Any] | None) -> StoredText | None:
        if told is None:
            return None
        if "is" not in told:
            return self._known[told["number"]]
        text = _text(told["is"])
        if "number" in told:
            self._known[told["number"]] = text
        return text


def _text_words(text: StoredText) -> list[str]:
    return [text.type, text.data.decode()]


def _text(words: Sequence[str]) -> StoredText:
    kind, data = words
    return StoredText(str(kind), data.encode())


def machine_id() -> str:
    """Return an identifier of this machine: its boot id, else its host name."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return socket.gethostname()
