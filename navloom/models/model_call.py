"""One call to a bound model, with timeout, retries, cache, limits and streaming.

The SDKs' own retries are set to 0 and no graph node has a retry policy, so the retries here, by the
table of :mod:`navloom.models.call_failure`, are the only ones. They are run by tenacity.

Settings shared by all calls of a batch (cache, limits, counters) are set once with `call_settings`
and not passed through the graphs:

    with call_settings(cache=ResponseCache("replies"), max_retries=5):
        await graph.ainvoke(...)

A LangChain client streams if a callback handler asks for chunks, whatever the model's own
``streaming`` says. LangChain also completes partial tool calls, so that half of one looks whole:
``{"place": "bed`` becomes ``{"place": "bed"}``. `ChunkListener` therefore checks whether a streamed
reply is complete.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Protocol, TypeVar
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import ensure_config, merge_configs
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langchain_core.utils.json import parse_partial_json
from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_random_exponential

from navloom.errors import ModelError, NavloomError, StoppedError
from navloom.models.call_failure import (
    CallFailure,
    RetryPolicy,
    classify_failure,
    model_error,
    refused_ability,
    server_address,
)
from navloom.models.context_overflow import read_overflow
from navloom.models.messages import CallRecord, current_node, sanitize_reply
from navloom.models.model_spec import OUR_BOUND, read_spec
from navloom.models.redaction import redact_error, redact_value, register_secret
from navloom.models.response_cache import ReplyStore, cache_key
from navloom.models.spans import is_traced, record_call
from navloom.models.usage import DEFAULT_ROLE, ModelUsage, stamp_reply

T = TypeVar("T")

_LOOKS_UP_S = 0.5
"""Interval in seconds at which a waiting retry checks whether the session ends."""


@dataclass(frozen=True, slots=True)
class RetryEvent:
    """One decision to retry, for a progress line: the failed attempt, why, the wait (s)."""

    attempt: int
    failure: CallFailure
    wait: float


class RateLimitHolds:
    """Waiting times that rate-limited models asked for; every caller of a model waits.

    Args:
        told: called with the model and the seconds of each.
    """

    def __init__(self, told: Callable[[str, float], None] | None = None) -> None:
        self._until: dict[str, float] = {}
        self._told = told

    def hold(self, model: str, seconds: float, *, tell: bool = True) -> None:
        """Forbid calls of a model for some seconds."""
        until = time.monotonic() + seconds
        if seconds > 0 and until > self._until.get(model, 0.0):
            self._until[model] = until
            if tell and self._told is not None:
                self._told(model, seconds)

    def left(self) -> dict[str, float]:
        """Return the remaining seconds, by model."""
        now = time.monotonic()
        return {model: until - now for model, until in self._until.items() if until > now}

    async def over(self, model: str, stopping: Callable[[], bool] | None = None) -> None:
        """Wait until a model may be called.

        Raises:
            StoppedError: the session ends before.
        """
        while (left := self._until.get(model, 0.0) - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _LOOKS_UP_S))
            _go_on(stopping)


def _go_on(stopping: Callable[[], bool] | None) -> None:
    if stopping is not None and stopping():
        raise StoppedError("the session ends: what failed is asked again in the next one.")


async def with_retries(
    call: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    *,
    remote: bool = True,
    on_retry: Callable[[RetryEvent], None] | None = None,
    stopping: Callable[[], bool] | None = None,
) -> T:
    """Make a call, and retry it by the table of `navloom.models.call_failure`.

    Args:
        call: makes one attempt.
        policy: number of attempts and waiting times.
        remote: see `classify_failure`.
        on_retry: called at each retry, before its wait.
        stopping: returns whether the session ends; then nothing is retried.

    Raises:
        Exception: the exception of the last attempt, unchanged.
        StoppedError: the session ends before or while waiting for another attempt.
    """
    decide = _Decide(policy, remote)

    def tell(state: RetryCallState) -> None:
        _go_on(stopping)
        if on_retry is not None and decide.failure is not None:
            on_retry(RetryEvent(state.attempt_number, decide.failure, state.upcoming_sleep))

    async def wait(seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _LOOKS_UP_S))
            _go_on(stopping)

    retrying = AsyncRetrying(
        stop=stop_after_attempt(max(1, policy.attempts)),
        wait=decide.wait,
        retry=decide,
        before_sleep=tell,
        sleep=wait,
        reraise=True,
    )
    return await retrying(call)


class _Decide:
    """Retry and wait conditions for tenacity, from the latest failure."""

    def __init__(self, policy: RetryPolicy, remote: bool) -> None:
        self.policy, self.remote = policy, remote
        self.failure: CallFailure | None = None
        self._backoff = wait_random_exponential(
            multiplier=policy.first_wait, max=policy.longest_wait, min=policy.first_wait / 2
        )

    def __call__(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if error is None:
            return False
        before, self.failure = self.failure, classify_failure(error, remote=self.remote)
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


MOST_TOLD = 20_000
"""Maximum characters of a reply that are reported while it streams."""
COUNTS_WHOLE_ALONE = "navloom_counts_whole_alone"
"""Key of a model's metadata: its server reports no usage for streamed replies, so streaming is
switched off."""
_ENDS = ("finish_reason", "stop_reason", "status")
_WIRES = ("openai", "anthropic")
"""Protocols whose streams have a finish reason, as LangChain's clients name them."""


class ChunkListener(BaseCallbackHandler):
    """Callback handler that collects the chunks of one attempt.

    Attributes:
        came: whether a chunk has arrived, so that the reply is streamed.
    """

    run_inline = True

    def __init__(self) -> None:
        self.came = False
        self._calls: dict[Any, str] = {}

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Ignore the request; LangChain requires the method."""

    def on_llm_new_token(self, *_: Any, chunk: Any = None, **__: Any) -> None:
        """Collect the tool call arguments of a chunk."""
        self.came = True
        for call in getattr(getattr(chunk, "message", None), "tool_call_chunks", ()):
            key = call.get("index")
            key = (len(self._calls),) if key is None else key
            self._calls[key] = self._calls.get(key, "") + (call.get("args") or "")

    def whole(self, reply: AIMessage) -> AIMessage:
        """Return the reply, with streamed tool calls parsed as strictly as unstreamed ones."""
        good, bad = list[ToolCall](), list(reply.invalid_tool_calls)
        made = iter(reply.tool_calls)
        for text in self._calls.values():
            if not _is_object(text, parse_partial_json):
                continue
            call = next(made, None)
            if call is None:
                return reply
            if _is_object(text, json.loads):
                good.append(call)
            else:
                bad.append(invalid_tool_call(name=call["name"], args=text, id=call["id"]))
        return reply.model_copy(update={"tool_calls": [*good, *made], "invalid_tool_calls": bad})

    def is_truncated(self, reply: Any, *, streaming: bool) -> bool:
        """Check whether a streamed reply is truncated: it has no finish reason.

        Args:
            reply: the message.
            streaming: whether the model streams every reply.
        """
        told: Mapping[str, Any] = getattr(reply, "response_metadata", None) or {}
        streamed = streaming or (self.came and told.get("model_provider") in _WIRES)
        return streamed and not any(told.get(key) for key in _ENDS)


class TextListener(ChunkListener, _StreamingCallbackHandler[Any]):
    """Callback handler that requests streaming and reports the text so far.

    Args:
        tell: called with all text so far, whenever there is more.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell, self._text = tell, ""

    def on_llm_new_token(self, *_: Any, chunk: Any = None, **__: Any) -> None:
        """Report the text so far, if the chunk has text."""
        super().on_llm_new_token(*_, chunk=chunk, **__)
        words = str(getattr(getattr(chunk, "message", None), "text", ""))
        if words and len(self._text) < MOST_TOLD:
            self._text = (self._text + words)[:MOST_TOLD]
            with suppress(Exception):
                self._tell(self._text)

    def tap_output_aiter(
        self,
        run_id: UUID,  # noqa: ARG002
        output: AsyncIterator[Any],
    ) -> AsyncIterator[Any]:
        """Return the stream unchanged; LangChain requires the method."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:  # noqa: ARG002
        """Return the stream unchanged; LangChain requires the method."""
        return output


def _is_object(text: str, read: Callable[[str], Any]) -> bool:
    """Check whether a call's arguments are a JSON object; empty arguments count as one."""
    try:
        return not text or isinstance(read(text), dict)
    except ValueError:
        return False


_MOST_WRAPPERS = 16
_SAID = (
    *("content", "additional_kwargs", "response_metadata", "usage_metadata"),
    *("tool_calls", "invalid_tool_calls", "id", "name"),
)


class CallGate(Protocol):
    """Protocol of a check that every uncached call has to pass, such as a `Budget`."""

    async def reserve(
        self, model: str, messages: Sequence[BaseMessage], bound: Mapping[str, Any]
    ) -> int:
        """Admit a call and return its reservation, or raise; ``bound`` holds tools and schema."""

    def settle(self, reservation: int, model: str, reply: AIMessage | None) -> None:
        """Record the reply of a reserved call; None means that the call failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """Settings of the calls made in a context.

    Attributes:
        cache: the store of replies; None for no cache.
        cache_in_process: also cache replies of models in this process.
        epoch: selects one of several replies to one request; part of the cache's key.
        role: the model's role, if the call does not say.
        max_retries: attempts after the first; None for the model's own value.
        attempt_timeout: seconds of one attempt; None for the model's own value.
        gate: passed before each call.
        on_retry: called with the model's name and each retry, before its wait.
        on_call: called with each finished call; it must be quick, and its exceptions are ignored.
        on_words: called while a reply streams with all of its text so far, and with "" if an
            attempt failed; it must be quick, and its exceptions are ignored. If it is given, models
            that can stream do.
        lost: collects the usage of calls that failed for good.
        connections: limits the attempts under way at once; None for no limit.
        holds: waiting times that models asked for; each attempt waits for its model's.
        stopping: returns whether the session ends; then failures are not retried.
    """

    cache: ReplyStore | None = None
    cache_in_process: bool = False
    epoch: int = 0
    role: str = DEFAULT_ROLE
    max_retries: int | None = None
    attempt_timeout: float | None = None
    gate: CallGate | None = None
    on_retry: Callable[[str, RetryEvent], None] | None = None
    on_call: Callable[[CallRecord], None] | None = None
    on_words: Callable[[str], None] | None = None
    lost: list[ModelUsage] | None = None
    connections: asyncio.Semaphore | None = None
    holds: RateLimitHolds | None = None
    stopping: Callable[[], bool] | None = None


_settings: ContextVar[CallSettings] = ContextVar("navloom_call_settings")
_PLAIN = CallSettings()


@contextmanager
def call_settings(settings: CallSettings | None = None, **changes: Any) -> Iterator[CallSettings]:
    """Set the settings of calls in this block, and in tasks that start in it; yield them.

    Args:
        settings: all settings; None starts from the current ones.
        **changes: single fields of `CallSettings`.
    """
    made = replace(settings or _settings.get(_PLAIN), **changes)
    token = _settings.set(made)
    try:
        yield made
    finally:
        _settings.reset(token)


def current_settings() -> CallSettings:
    """Return the call settings of the current context."""
    return _settings.get(_PLAIN)


async def acall(
    bound: Runnable[Any, Any],
    messages: Sequence[BaseMessage],
    *,
    role: str | None = None,
    policy: RetryPolicy | None = None,
    on_retry: Callable[[RetryEvent], None] | None = None,
) -> AIMessage:
    """Call a model once, with retries; every graph's model node uses this.

    Args:
        bound: a chat model, or a runnable made by `navloom.models.structured_output.bind_schema`.
        messages: the conversation so far.
        role: the model's role; None takes that of `call_settings`, "generator".
        policy: the retry policy; None takes `call_settings`, then what the model was made with
            (``max_retries`` and ``attempt_timeout`` of `get_model`).
        on_retry: called at each retry, before its wait.

    Returns:
        The model's message, or the cached one for this request, with ``usage_metadata`` if the
        backend counts, and a stamp (`navloom.models.usage`). Its excesses are cut
        (`navloom.models.messages.sanitize_reply`), and secrets are redacted.

    Raises:
        ModelError: the model cannot be reached: one line that names the model, the HTTP status and
            what to do. A bad answer is returned, not raised.
        ModelRefusedError: every further call would fail the same way.
        LimitReachedError: the session has reached its limits.
        StoppedError: the call failed, and the session ends before a retry.
    """
    settings, model = _settings.get(_PLAIN), unwrap_model(bound)
    ask = _Ask(model, role or settings.role, policy or retry_policy_of(model, settings), settings)
    key = ask.key(bound, messages)
    if key is not None and settings.cache is not None:
        kept = await settings.cache.aget(key)
        if kept is not None:
            return ask.ended(bound, messages, kept, cached=True)
    gate, reply = settings.gate, None
    reservation = await gate.reserve(ask.name, messages, ask.sent(bound)) if gate else 0
    try:
        reply = await ask.reply(bound, messages, on_retry)
    except BaseException as error:
        ask.tell(bound, messages, error=error)
        raise
    finally:
        if gate is not None:
            gate.settle(reservation, ask.name, reply)
    if key is not None and settings.cache is not None:
        await settings.cache.aput(key, ask.name, reply)
    return ask.ended(bound, messages, reply, cached=False)


class _Ask:
    """One request to one model, with its attempts and times."""

    def __init__(self, model: Any, role: str, policy: RetryPolicy, settings: CallSettings) -> None:
        self.model, self.role, self.policy, self.settings = model, role, policy, settings
        self.name = model_name(model)
        self.remote = not getattr(type(model), "in_process", False)
        self.attempts, self.streams = 0, True
        self.began, self.since = time.monotonic(), time.time()

    def key(self, bound: Any, messages: Sequence[BaseMessage]) -> str | None:
        """Return the reply's key in the cache; None if it is not cached."""
        settings = self.settings
        if settings.cache is None or not (self.remote or settings.cache_in_process):
            return None
        return cache_key(
            # Options in the name are already among the parameters if they change the request.
            model=read_spec(self.name).bare,
            messages=messages,
            bound=_bound_to(bound),
            sampling=_sampling_of(self.model),
            epoch=settings.epoch,
            server=server_address(self.model),
        )

    def sent(self, bound: Any) -> dict[str, Any]:
        """Return the bound arguments that are sent to the model."""
        # A builtin model's job and seed do not count as part of the request.
        beside = ("job", "seed") if getattr(type(self.model), "takes_job", False) else ()
        return {key: value for key, value in _bound_to(bound).items() if key not in beside}

    def ended(
        self, bound: Any, messages: Sequence[BaseMessage], reply: AIMessage, *, cached: bool
    ) -> AIMessage:
        """Report the finished call, and return the reply stamped with its usage."""
        said = stamp_reply(
            reply,
            model=self.name,
            role=self.role,
            seconds=time.monotonic() - self.began,
            retries=max(0, self.attempts - 1),
            cached=cached,
        )
        self.tell(bound, messages, reply=said, cached=cached)
        return said

    def tell(
        self,
        bound: Any,
        messages: Sequence[BaseMessage],
        *,
        reply: AIMessage | None = None,
        error: BaseException | None = None,
        cached: bool = False,
    ) -> None:
        """Report the finished call to the listeners; exceptions of listeners are ignored."""
        listeners = (record_call if is_traced() else None, self.settings.on_call)
        for listener in filter(None, listeners):
            with suppress(Exception):
                node, step = current_node()
                listener(
                    CallRecord(
                        model=self.name,
                        role=self.role,
                        node=node,
                        step=step,
                        messages=tuple(messages),
                        bound=self.sent(bound),
                        reply=reply,
                        error=error,
                        began=self.since,
                        seconds=round(time.monotonic() - self.began, 4),
                        retries=max(0, self.attempts - 1),
                        cached=cached,
                    )
                )

    async def answer(
        self, bound: Runnable[Any, Any], messages: list[BaseMessage], pieces: ChunkListener
    ) -> Any:
        """Make one attempt; if our own bound on the reply does not fit, retry without it."""
        about = getattr(self.model, "metadata", None) or {}
        ours = about.get(OUR_BOUND)
        told = merge_configs(ensure_config(), {"callbacks": [pieces]})
        try:
            # The remaining context is smaller than our bound; a server limits replies to it.
            return await bound.ainvoke(
                messages, told, **({"max_tokens": None} if ours == 0 else {})
            )
        except Exception as error:
            failure = classify_failure(error)
            too_long = failure and read_overflow(failure.status, failure.text)
            if not ours or not too_long or not too_long.lacks_reply_room:
                raise
            if too_long.context is not None and too_long.context <= ours:
                about[OUR_BOUND] = 0
            return await bound.ainvoke(messages, told, max_tokens=None)

    async def reply(
        self,
        bound: Runnable[Any, Any],
        messages: Sequence[BaseMessage],
        on_retry: Callable[[RetryEvent], None] | None,
    ) -> AIMessage:
        """Return the model's reply without secrets, or raise an error of one line."""
        for value in list(getattr(self.model, "__dict__", {}).values()):
            reveal = getattr(value, "get_secret_value", None)
            if callable(reveal):
                register_secret(str(reveal()))

        words, holds = self.settings.on_words, self.settings.holds

        async def attempt() -> Any:
            self.attempts += 1
            about = getattr(self.model, "metadata", None) or {}
            streams = self.streams and not about.get(COUNTS_WHOLE_ALONE)
            pieces = TextListener(words) if words is not None and streams else ChunkListener()
            if holds is not None:
                await holds.over(self.name, self.settings.stopping)
            try:
                async with (
                    self.settings.connections or nullcontext(),
                    asyncio.timeout(self.policy.attempt_timeout),
                ):
                    reply = await self.answer(bound, [_replayable(m) for m in messages], pieces)
                if pieces.is_truncated(reply, streaming=getattr(self.model, "streaming", False)):
                    raise ConnectionError("the stream ended before the reply did")
            except BaseException as error:
                # A server that cannot stream sends a whole reply, in which no chunk is found.
                self.streams = pieces.came or not isinstance(error, ValueError)
                if words is not None and pieces.came:
                    with suppress(Exception):
                        words("")
                if holds is not None and (failure := classify_failure(error, remote=self.remote)):
                    holds.hold(self.name, min(failure.retry_after or 0, self.policy.longest_asked))
                raise
            if not isinstance(reply, AIMessage) or not pieces.came:
                return reply
            if reply.usage_metadata is None:
                # Counting usage takes precedence over streaming, since limits depend on it.
                about[COUNTS_WHOLE_ALONE] = True
            return pieces.whole(reply)

        def tell(retry: RetryEvent) -> None:
            if on_retry is not None:
                on_retry(retry)
            if self.settings.on_retry is not None:
                self.settings.on_retry(self.name, retry)

        try:
            reply = await with_retries(
                attempt,
                self.policy,
                remote=self.remote,
                on_retry=tell,
                stopping=self.settings.stopping,
            )
        except Exception as error:
            if self.settings.lost is not None and self.attempts > 1:
                seconds = round(time.monotonic() - self.began, 4)
                lost = ModelUsage(self.name, self.role, retries=self.attempts - 1, seconds=seconds)
                self.settings.lost.append(lost)
            redact_error(error)
            if isinstance(error, NavloomError):
                raise
            failure = classify_failure(error, remote=self.remote)
            if failure is None:
                raise
            if refused_ability(failure.status, failure.text) == "images":
                # Later checks of this model then refuse images before a call.
                self.model.profile = {**(self.model.profile or {}), "image_inputs": False}
            raise model_error(self.model, self.name, failure, self.policy, self.attempts) from error
        if not isinstance(reply, AIMessage):
            raise ModelError(f"{self.name} gave a {type(reply).__name__}, not a message.")
        reply = sanitize_reply(reply)
        said = {name: getattr(reply, name) for name in _SAID}
        clean = redact_value(said)
        return reply if clean is said else reply.model_copy(update=clean)


def _replayable(message: BaseMessage) -> BaseMessage:
    """Return a message that servers accept in a history: invalid arguments become ``{}``."""
    broken = message.invalid_tool_calls if isinstance(message, AIMessage) else []
    if not broken:
        return message
    return message.model_copy(
        update={"invalid_tool_calls": [InvalidToolCall(**{**c, "args": "{}"}) for c in broken]}
    )


def _layers(runnable: Any) -> Iterator[Any]:
    """Yield a bound runnable and what it wraps, outermost first."""
    inner = runnable
    for _ in range(_MOST_WRAPPERS):
        if inner is None:
            return
        yield inner
        inner = getattr(inner, "bound", None) or getattr(inner, "first", None)


def _bound_to(runnable: Any) -> dict[str, Any]:
    """Return the arguments bound to a model through all wrappers; inner ones take precedence."""
    found: dict[str, Any] = {}
    for layer in takewhile(lambda each: not isinstance(each, BaseChatModel), _layers(runnable)):
        found |= getattr(layer, "kwargs", None) or {}
    return found


def _sampling_of(model: Any) -> dict[str, Any]:
    """Return the parameters that a model sends with each request."""
    try:
        return dict(model._get_invocation_params(stop=None))
    except (AttributeError, TypeError):
        return dict(getattr(model, "_identifying_params", None) or {})


def unwrap_model(runnable: Any) -> Any:
    """Return the chat model inside a bound runnable (the runnable itself if none is found)."""
    found = (layer for layer in _layers(runnable) if isinstance(layer, BaseChatModel))
    return next(found, runnable)


def model_name(model: Any) -> str:
    """Return the model's name as ``provider/name``, or its class's own name for itself."""
    metadata = getattr(model, "metadata", None) or {}
    return str(metadata.get("navloom_model") or getattr(model, "_llm_type", type(model).__name__))


def retry_policy_of(model: Any, settings: CallSettings = _PLAIN) -> RetryPolicy:
    """Return the retry policy of the settings, else of the model, else the default."""
    metadata = getattr(model, "metadata", None) or {}
    attempts = None if settings.max_retries is None else settings.max_retries + 1
    given: dict[str, Any] = {
        "attempts": attempts or metadata.get("navloom_attempts"),
        "attempt_timeout": settings.attempt_timeout or metadata.get("navloom_attempt_timeout"),
    }
    return replace(RetryPolicy(), **{k: v for k, v in given.items() if v is not None})
