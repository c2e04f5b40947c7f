"""Parser of servers' context-length errors: the prompt, or the requested reply, is too long."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PROMPT = re.compile(
    r"context_length_exceeded|maximum context length|context window|prompt is too long"
    r"|exceeds the available context size|max_tokens must be at least 1, got 0\b"
    r"|(?:input|prompt)[^.]{0,40}(?:longer|exceeds?|too long)[^.]{0,60}(?:model|context|token)",
    re.IGNORECASE,
)
_REPLY = re.compile(
    r"cannot be greater than max_model_len|max_(?:completion_)?tokens'? is too large"
    r"|\(\d+ in the messages, [1-9]\d* in the completion\)"
    r"|requested [1-9]\d* output tokens",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context (?:length|window)(?: is|:)? (\d+)|max_model_len=(?:max_total_tokens=)?(\d+)"
    r"|context size \((\d+)|> (\d+) maximum|model length of (\d+)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"max_(?:completion_)?tokens=(\d+)|is too large: (\d+)|messages, (\d+) in the completion"
    r"|requested (\d+) output tokens",
    re.IGNORECASE,
)
_READ = re.compile(
    r"(?:request|has|contains) \(?(\d+) (?:input )?tokens|\((\d+) in the messages"
    r"|too long: (\d+) tokens|\(length (\d+)\)",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"max_model_len|available context size|output tokens|input tokens|must be at least 1, got 0",
    re.IGNORECASE,
)
"""Wording of vLLM and llama.cpp, whose servers users start themselves."""


@dataclass(frozen=True, slots=True)
class ContextOverflow:
    """A context-length error of a server.

    Attributes:
        context: tokens that fit, prompt and reply together; None if not stated.
        prompt: tokens of the prompt; None if not stated, or only as "at least".
        reply: maximum tokens requested for the reply, if these do not fit.
        own: whether users start this kind of server themselves.
    """

    context: int | None
    prompt: int | None
    reply: int | None
    own: bool

    @property
    def lacks_reply_room(self) -> bool:
        """True if the prompt may fit, and only the room for the reply does not."""
        known = self.context is not None and self.prompt is not None
        return self.reply is not None and not (known and self.room < 1)

    @property
    def room(self) -> int:
        """Tokens available for a reply; a guess if the prompt's are unknown."""
        if self.context is not None and self.prompt is not None:
            return self.context - self.prompt
        return max(1, min(n for n in (self.context, self.reply, 2048) if n) // 2)

    @property
    def fix(self) -> str:
        """Advice for the user, in one line."""
        longer = "start the server with a longer one (llama.cpp: -c, vLLM: --max-model-len)"
        if self.lacks_reply_room:
            whole = f" of {self.context} tokens" if self.context else ""
            return (
                f"a reply of {self.reply} tokens does not fit beside the prompt in the model's"
                f" context{whole}: put ,max_tokens={self.room} behind the model's name, or {longer}"
            )
        counts = [f"it takes {self.context} tokens"] if self.context else []
        counts += [f"the prompt has {self.prompt}"] if self.prompt else []
        return (
            "the prompt does not fit the model's context: use a model with a longer one"
            + (f" ({', '.join(counts)})" if counts else "")
            + ", a smaller scene, or where there is --compact, that"
            + (f"; or {longer}" if self.own else "")
        )


def read_overflow(status: int | None, text: str) -> ContextOverflow | None:
    """Parse a refusal for length; None for any other refusal.

    Args:
        status: the HTTP status.
        text: the server's words.
    """
    is_reply = _REPLY.search(text) is not None and "characters (more than" not in text
    if status not in (400, 413, 422) or not (is_reply or _PROMPT.search(text)):
        return None
    reply = _number(_ASKED, text) if is_reply else None
    return ContextOverflow(
        _number(_CONTEXT, text), _number(_READ, text), reply, bool(_OWN.search(text))
    )


def _number(words: re.Pattern[str], text: str) -> int | None:
    found = words.search(text)
    return int(next(part for part in found.groups() if part)[:12]) if found else None
