"""What driver and worker say to each other, as JSON objects: samples, calls and replies as text.

Both ends are ours and of one version, which the first text makes sure of. What a model said is in
it, so each text is bounded, and nothing in it names anything to be imported or made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from itertools import takewhile
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage

from navloom.errors import ModelError
from navloom.evals.keep_calls import Told, ToldCall, plain_message
from navloom.evals.session import Sample
from navloom.models.called import Call
from navloom.models.secrets import one_line, redacted

Words = dict[str, Any]

_REPLY = (
    *("content", "additional_kwargs", "response_metadata", "tool_calls"),
    *("invalid_tool_calls", "usage_metadata"),
)
_PLAIN = ("model", "role", "node", "step", "began", "seconds", "retries", "cached")
_MOST_KNOWN = 256
_SMALL = 200


def encode(words: Words) -> str:
    """One text.

    Raises:
        ValueError: it holds what is no JSON; likewise TypeError.
    """
    return json.dumps(words, separators=(",", ":"), allow_nan=False)


def decode(text: str) -> Words:
    """The object of a text.

    Raises:
        ValueError: it is none.
    """
    words = json.loads(text)
    if not isinstance(words, dict) or not isinstance(words.get("say"), str):
        raise ValueError("no object with a word `say`")
    return words


def sample_words(sample: Sample) -> Words:
    """A sample as JSON."""
    return {**asdict(sample), "columns": dict(sample.columns)}


@dataclass
class CallsTold:
    """Calls as JSON, of one worker: what was told before is not told again."""

    _talks: dict[tuple[str, str], Sequence[BaseMessage]] = field(default_factory=dict)
    _known: dict[bytes, int] = field(default_factory=dict)

    def words(self, sample: str, call: Call) -> Words:
        """A call of a sample; of its conversation what came since the node's last call."""
        key = (sample, call.node)
        before = self._talks.get(key, ())
        pairs = zip(before, call.messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
        self._talks[key] = call.messages
        new = [redacted(plain_message(each)) for each in call.messages[same:]]
        reply = call.reply and {name: getattr(call.reply, name) for name in _REPLY}
        said = {name: getattr(call, name) for name in _PLAIN}
        said |= {"sample": sample, "same": same, "messages": new, "reply": redacted(reply)}
        said |= {"tools": self._once(call.tools), "schema": self._once(call.schema)}
        said["error"] = None if call.error is None else one_line(call.error)
        words: Words = json.loads(json.dumps(said, default=str))
        return words | {"say": "call"}

    def forget(self, sample: str) -> None:
        """Let go of a sample that has ended."""
        for key in [each for each in self._talks if each[0] == sample]:
            del self._talks[key]

    def _once(self, value: Any) -> Any:
        """A value the first time, later its number."""
        if value is None:
            return None
        text = json.dumps(value, sort_keys=True, default=str)
        if len(text) < _SMALL:
            return {"is": redacted(json.loads(text))}
        mark = blake2b(text.encode(errors="backslashreplace"), digest_size=16).digest()
        if mark in self._known:
            return {"number": self._known[mark]}
        if len(self._known) >= _MOST_KNOWN:
            return {"is": redacted(json.loads(text))}
        self._known[mark] = len(self._known)
        return {"is": redacted(json.loads(text)), "number": self._known[mark]}


@dataclass
class CallsHeard:
    """The other end of :class:`CallsTold`."""

    _talks: dict[tuple[str, str], tuple[Told, ...]] = field(default_factory=dict)
    _known: dict[int, Any] = field(default_factory=dict)

    def call(self, words: Mapping[str, Any]) -> Call:
        """The call that was told.

        Raises:
            ValueError: it was not told by :class:`CallsTold`; likewise LookupError and TypeError.
        """
        key = (words["sample"], words["node"])
        before = self._talks.get(key, ())[: words["same"]]
        talk = (*before, *(Told(each) for each in words["messages"]))
        self._talks[key] = talk
        error, reply = words["error"], words["reply"]
        bound = {"tools": self._of(words["tools"]), "response_format": self._of(words["schema"])}
        return ToldCall(
            **{name: words[name] for name in _PLAIN},
            messages=cast(Any, talk),
            bound=bound,
            reply=None if reply is None else AIMessage(**reply),
            error=None if error is None else ModelError(error),
        )

    def forget(self, sample: str) -> None:
        """Let go of a sample that has ended."""
        for key in [each for each in self._talks if each[0] == sample]:
            del self._talks[key]

    def _of(self, told: Mapping[str, Any] | None) -> Any:
        if told is None:
            return None
        if "is" not in told:
            return self._known[told["number"]]
        if "number" in told:
            self._known[told["number"]] = told["is"]
        return told["is"]
