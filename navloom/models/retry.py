"""The one layer that tries a model call again: what is tried again, how often, how long between.

The SDKs' own retries are set to 0 and no graph node has a retry policy, so what is written here
is all there is:

    failure                                   tried again          wait
    408, 409, timeout, connection lost        yes                  doubling, with jitter
    429                                       yes                  Retry-After, else doubling
    429 insufficient_quota                    no
    529 (overloaded), 5xx with Retry-After    yes                  Retry-After, else doubling
    other 5xx                                 until it repeats     doubling
    a reply that cannot be read               until it repeats     doubling
    other 4xx                                 no

Never more than ``RetryPolicy.attempts`` calls; a server that asks for a longer wait than
``longest_asked`` is not waited for.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypeVar

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_random_exponential

__all__ = ["Failure", "Retry", "RetryPolicy", "read_failure", "with_retries"]

T = TypeVar("T")
Kind = Literal["timeout", "connection", "rate", "quota", "overloaded", "server", "garbled", "final"]

_HTTP_CLIENTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "anyio"})
_SDKS = frozenset({"openai", "anthropic"})
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)
_REQUEST_ID = re.compile(
    r"\b(?:req|request|chatcmpl|msg)[_-][\w-]+|\b[0-9a-f]{16,}\b|[0-9a-f-]{36}"
)
_MOST_TEXT = 300


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How a call is tried again.

    Attributes:
        attempts: calls in all, the first one included (at least 1).
        attempt_timeout: seconds that one call may take from its start to its end, or None.
        first_wait: seconds before the second call; doubled each time, jittered down.
        longest_wait: the most seconds that the doubling may reach.
        longest_asked: the longest Retry-After, in seconds, that is waited for.
    """

    attempts: int = 4
    attempt_timeout: float | None = 600.0
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_asked: float = 300.0


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with one call.

    Attributes:
        kind: the row of this module's table.
        text: the server's or the client's words, one line, at most 300 characters.
        status: the HTTP status, where there was one.
        retry_after: seconds that the server asked to wait, where it asked.
    """

    kind: Kind
    text: str
    status: int | None = None
    retry_after: float | None = None

    @property
    def mark(self) -> tuple[int | None, str]:
        """Equal for failures that say the same, whatever request id they carry."""
        return self.status, _REQUEST_ID.sub("", self.text)


@dataclass(frozen=True, slots=True)
class Retry:
    """One decision to try again, for a progress line: the call that failed, why, the wait (s)."""

    attempt: int
    failure: Failure
    wait: float


def read_failure(error: BaseException, *, remote: bool = True) -> Failure | None:
    """Say what an exception from a chat model means.

    Args:
        error: what the call raised.
        remote: whether the model is a server. Only then is a ``ValueError`` and the like taken
            for a reply that cannot be read; in process it is a defect, to be seen as it is.

    Returns:
        The failure, or None where the exception is not a model's failure at all.
    """
    text = _one_line(_told(error))
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        return _of_status(status, error, text)
    names = {f"{c.__module__.partition('.')[0]}.{c.__name__}" for c in type(error).__mro__}
    if isinstance(error, TimeoutError) or any(n.endswith("TimeoutError") for n in names):
        return Failure("timeout", text or "no answer in time")
    if any(n.endswith("ConnectionError") for n in names) or _roots(names) & _HTTP_CLIENTS:
        return Failure("connection", _one_line(_deepest(error)) or text)
    if _roots(names) & _SDKS or (remote and isinstance(error, _UNREADABLE)):
        return Failure("garbled", f"{type(error).__name__}: {text}"[:_MOST_TEXT])
    return None


async def with_retries(
    call: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    *,
    remote: bool = True,
    on_retry: Callable[[Retry], None] | None = None,
) -> T:
    """Make a call, and make it again as this module's table says.

    Args:
        call: makes one attempt.
        policy: how often and how long.
        remote: see `read_failure`.
        on_retry: told of each retry before its wait.

    Raises:
        Exception: what the last attempt raised, as it was raised.
    """
    decide = _Decide(policy, remote)

    def tell(state: RetryCallState) -> None:
        if on_retry is not None and decide.failure is not None:
            on_retry(Retry(state.attempt_number, decide.failure, state.upcoming_sleep))

    retrying = AsyncRetrying(
        stop=stop_after_attempt(max(1, policy.attempts)),
        wait=decide.wait,
        retry=decide,
        before_sleep=tell,
        reraise=True,
    )
    return await retrying(call)


class _Decide:
    """tenacity's questions, answered from the failure before: again? after how long?"""

    def __init__(self, policy: RetryPolicy, remote: bool) -> None:
        self.policy, self.remote = policy, remote
        self.failure: Failure | None = None
        self._backoff = wait_random_exponential(
            multiplier=policy.first_wait, max=policy.longest_wait, min=policy.first_wait / 2
        )

    def __call__(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if error is None:
            return False
        before, self.failure = self.failure, read_failure(error, remote=self.remote)
        now = self.failure
        if now is None or now.kind in ("final", "quota"):
            return False
        if now.retry_after is not None and now.retry_after > self.policy.longest_asked:
            return False
        repeats = before is not None and before.mark == now.mark
        return not (repeats and now.kind in ("server", "garbled"))

    def wait(self, state: RetryCallState) -> float:
        if self.failure is not None and self.failure.retry_after is not None:
            return self.failure.retry_after
        return self._backoff(state)


def _of_status(status: int, error: BaseException, text: str) -> Failure:
    asked = _retry_after(getattr(getattr(error, "response", None), "headers", None))
    kind: Kind = "final"
    if status == 429:
        kind = "quota" if getattr(error, "code", None) == "insufficient_quota" else "rate"
    elif status in (408, 409):
        kind = "timeout"
    elif status == 529 or (status >= 500 and asked is not None):
        kind = "overloaded"
    elif status >= 500:
        kind = "server"
    return Failure(kind, text, status, asked)


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
            seconds = _until(value)
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _until(date: str) -> float:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return float("nan")


def _told(error: BaseException) -> str:
    body: Any = getattr(error, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
            return str(inner["message"])
    message = getattr(error, "message", None)
    return message if isinstance(message, str) else str(error)


def _deepest(error: BaseException) -> str:
    return [str(e) for e in _chain(error) if str(e)][-1] if str(error) else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    now: BaseException | None = error
    while now is not None and id(now) not in seen:
        seen.add(id(now))
        yield now
        now = now.__cause__ or now.__context__


def _roots(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_TEXT else line[: _MOST_TEXT - 1] + "…"
