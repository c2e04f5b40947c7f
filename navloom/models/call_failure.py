"""Classification of failed model calls: whether to retry, and what the user can do.

    failure                                   retried              wait
    408, 409, timeout, connection lost        yes                  doubling, with jitter
    429                                       yes                  Retry-After, else doubling
    429 insufficient_quota                    no
    529 (overloaded), 5xx with Retry-After    yes                  Retry-After, else doubling
    other 5xx                                 until it repeats     doubling
    a reply that cannot be parsed             until it repeats     doubling
    other 4xx                                 no

There are never more than ``RetryPolicy.attempts`` calls. If a server asks for a longer wait than
``longest_asked``, the call fails. Servers refuse tools and images with a 400, a 404 or a 500 and
their own wording, which is recognized here before any retry. Context-length errors are parsed in
:mod:`navloom.models.context_overflow`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Literal

from navloom.errors import ModelError, ModelRefusedError, NavloomError
from navloom.files import truncate
from navloom.models.context_overflow import read_overflow
from navloom.models.model_spec import public_address, read_spec
from navloom.models.redaction import error_chain, redact

Kind = Literal["timeout", "connection", "rate", "quota", "overloaded", "server", "garbled", "final"]

_HTTP_CLIENTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "anyio"})
_SDKS = frozenset({"openai", "anthropic"})
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)
_REQUEST_ID = re.compile(
    r"\b(?:req|request|chatcmpl|msg)[_-][\w-]+|\b[0-9a-f]{16,}\b|[0-9a-f-]{36}"
)
_MOST_TEXT = 300
_REFUSED = frozenset({401, 403, 404})
"""Statuses of a refused key or name, for which a retry is useless."""

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
_FIXES = {
    "tools": "the server takes no tool calls for this model: use one that does; a vLLM server has"
    " to be started for them, as `navloom serve MODEL` does",
    "images": "the model takes no images: show it none, as --views 0 does, or use one that does; a"
    " vLLM server has to be started for them, as `navloom serve MODEL --images N` does",
}

_A_DAY = 86_400.0
_MOST_BY_FLAG_S = 600.0
"""Maximum of --attempt-timeout in seconds; an option in a model's name may be larger."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Number of attempts of a call, and the waits between them.

    Attributes:
        attempts: calls in total, the first one included (at least 1).
        attempt_timeout: seconds that one call may take from its start to its end, or None.
        first_wait: seconds before the second call; doubled each time, with jitter downwards.
        longest_wait: maximum seconds that the doubling may reach.
        longest_asked: the longest Retry-After, in seconds, that is waited for.
    """

    attempts: int = 4
    attempt_timeout: float | None = 600.0
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_asked: float = 300.0


@dataclass(frozen=True, slots=True)
class CallFailure:
    """Cause of one failed call.

    Attributes:
        kind: the row of this module's table.
        text: the server's or the client's words, one line, at most 300 characters.
        status: the HTTP status, if there was one.
        retry_after: seconds that the server asked to wait, if it did.
    """

    kind: Kind
    text: str
    status: int | None = None
    retry_after: float | None = None

    @property
    def mark(self) -> tuple[int | None, str]:
        """Key for comparing failures: status and text without request ids."""
        return self.status, _REQUEST_ID.sub("", self.text)


def classify_failure(error: BaseException, *, remote: bool = True) -> CallFailure | None:
    """Classify an exception from a chat model.

    Args:
        error: the exception of the call.
        remote: whether the model is a server. Only then is a ``ValueError`` and the like taken for
            an unparsable reply; in process it is a bug and stays visible.

    Returns:
        The failure, or None if the exception is not a model's failure.
    """
    own = next((each for each in error_chain(error) if isinstance(each, NavloomError)), None)
    if own is not None:
        return CallFailure("final", _one_line(str(own)))
    text = _one_line(_told(error))
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        return _of_status(status, error, text)
    names = {f"{c.__module__.partition('.')[0]}.{c.__name__}" for c in type(error).__mro__}
    if isinstance(error, TimeoutError) or any(n.endswith("TimeoutError") for n in names):
        return CallFailure("timeout", text or "no answer in time")
    deepest = [str(each) for each in error_chain(error) if str(each)][-1] if str(error) else ""
    if any(n.endswith("ConnectionError") for n in names) or _roots(names) & _HTTP_CLIENTS:
        return CallFailure("connection", _one_line(deepest) or text)
    if _roots(names) & _SDKS or (remote and isinstance(error, _UNREADABLE)):
        return CallFailure("garbled", f"{type(error).__name__}: {text}"[:_MOST_TEXT])
    return None


def refusal_advice(status: int | None, text: str) -> str | None:
    """Return the advice for a server's refusal of tools or images.

    Args:
        status: the HTTP status.
        text: the server's words.

    Returns:
        One line, or None for any other refusal.
    """
    refused = refused_ability(status, text)
    return refused and _FIXES[refused]


def refused_ability(status: int | None, text: str) -> str | None:
    """Return the ability that a server says is missing: "tools", "images"; None: other fault."""
    if status not in (400, 404, 422, 500, 501):
        return None
    return next((each for each, words in _REFUSALS.items() if words.search(text)), None)


def model_error(
    model: Any, name: str, failure: CallFailure, policy: RetryPolicy, attempts: int
) -> ModelError:
    """Return the error of a call that failed for good, with one line on cause and advice.

    Args:
        model: the chat model, for its server's address.
        name: ``provider/name``.
        failure: the last failure.
        policy: the retry policy that was used.
        attempts: number of calls made.

    Returns:
        A `ModelRefusedError` if every further call would fail the same way.
    """
    unable = refusal_advice(failure.status, failure.text) is not None
    refused = unable or failure.kind == "quota" or failure.status in _REFUSED
    status = f"HTTP {failure.status}" if failure.status else failure.kind
    often = f", {attempts} attempts" if attempts > 1 else ""
    advice = _advice(model, name, failure, policy)
    line = redact(f"{name}: {advice} ({status}{often}: {failure.text})")
    return (ModelRefusedError if refused else ModelError)(line)


def server_address(model: Any) -> str | None:
    """Return the address of a model's server, without secrets; None without a server."""
    base = getattr(getattr(model, "root_async_client", None), "base_url", None)
    found = base or getattr(model, "anthropic_api_url", None)
    return public_address(found).rstrip("/") if found else None


def _advice(model: Any, name: str, failure: CallFailure, policy: RetryPolicy) -> str:
    seen, setting = (failure.status, failure.text), partial(_setting, model, name)
    if fix := refusal_advice(*seen):
        return fix
    if too_long := read_overflow(*seen):
        return too_long.fix
    where = server_address(model) or "its server"
    match failure.kind, failure.status:
        case "connection", _:
            return f"no connection to the server at {where}; check {setting('URL')}"
        case "timeout", None:
            return _too_slow(name, policy.attempt_timeout or 0.0)
        case "quota", _:
            return "the account has no credit left; add some, or use another model"
        case "rate" | "overloaded", _ if (failure.retry_after or 0) > policy.longest_asked:
            return (
                f"the server asks to wait {_spoken(failure.retry_after or 0)}, longer than "
                f"{policy.longest_asked:.0f} s; try again later"
            )
        case "rate" | "overloaded" | "timeout", _:
            return "the server has too much to do; try again later with fewer connections"
        case "server", _:
            return f"the server at {where} fails; try again later"
        case "garbled", _:
            return f"the server at {where} gave no usable reply; check {setting('URL')}"
        case "final", None:
            return "its server answers as none should"
        case _, 401 | 403:
            return f"the key was refused; check {setting('KEY')}"
        case _, 404:
            return f"no such model at {where}; check the model's name and {setting('URL')}"
    return "the request was refused; where it is over a schema, use --no-constrain"


def _too_slow(name: str, seconds: float) -> str:
    if seconds < _MOST_BY_FLAG_S:
        return f"no answer within {seconds:g} s; raise the attempt timeout"
    bound = read_spec(name).options.get("max_tokens")
    less = f"{bound // 2}" if isinstance(bound, int) and bound > 1 else "1024"
    return (
        f"no answer within {seconds:g} s; let it write less, by ,max_tokens={less} behind the"
        f" model's name, or give it longer, by ,attempt_timeout={2 * seconds:g}"
    )


def _setting(model: Any, name: str, what: str) -> str:
    if what == "URL" and "base_url" in read_spec(name).options:
        return "base_url behind the model's name"
    provider = str((getattr(model, "metadata", None) or {}).get("navloom_provider") or "")
    variable = {
        ("openai", "KEY"): "OPENAI_API_KEY",
        ("anthropic", "KEY"): "ANTHROPIC_API_KEY",
        ("vllm", "KEY"): "VLLM_API_KEY",
        ("openai", "URL"): "OPENAI_BASE_URL (it ends in /v1)",
        ("anthropic", "URL"): "ANTHROPIC_BASE_URL (without /v1)",
        ("vllm", "URL"): "VLLM_BASE_URL (it ends in /v1)",
    }.get((provider, what))
    plain = "the API key" if what == "KEY" else "its base URL"
    return variable or plain


def _of_status(status: int, error: BaseException, text: str) -> CallFailure:
    asked = _retry_after(getattr(getattr(error, "response", None), "headers", None))
    kind: Kind = "final"
    if refusal_advice(status, text) is not None:
        # llama.cpp refuses images with a 500; a retry would fail too.
        pass
    elif status == 429:
        kind = "quota" if getattr(error, "code", None) == "insufficient_quota" else "rate"
    elif status in (408, 409):
        kind = "timeout"
    elif status == 529 or (status >= 500 and asked is not None):
        kind = "overloaded"
    elif status >= 500:
        kind = "server"
    return CallFailure(kind, text, status, asked)


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds <= _A_DAY else "more than a day"


def _retry_after(headers: Mapping[str, str] | None) -> float | None:
    if headers is None:
        return None
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * scale
        except ValueError:
            try:
                seconds = max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
            except (ValueError, TypeError, OverflowError):
                continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _told(error: BaseException) -> str:
    body: Any = getattr(error, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
            return str(inner["message"])
    message = getattr(error, "message", None)
    return message if isinstance(message, str) else str(error)


def _roots(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def _one_line(text: str) -> str:
    return truncate(" ".join(text.split()), _MOST_TEXT)
