"""One call to a bound model: bounded in time, tried again where that helps, said in one line.

The SDKs' own retries are set to 0 and no graph node has a retry policy, so what is written here, by
the table of :mod:`navloom.models.failure`, is all there is.

What stands around every call of a batch (cache, limits, counters) is told once, with
`call_settings`, and not passed through the graphs:

    with call_settings(cache=ResponseCache("replies"), max_retries=5):
        await graph.ainvoke(...)

What comes of a reply while it is streamed, and whether it came to its end.

A client of LangChain streams where somebody who listens to its calls wants the pieces, whatever the
model itself was told: its ``streaming`` says nothing about a reply. And it puts pieces of a tool
call together so that half of one looks whole: ``{"place": "bed`` becomes ``{"place": "bed"}``.

Trying again: what the table of :mod:`navloom.models.failure` says, done by tenacity.
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
from navloom.models.cache import Replies, cache_key
from navloom.models.failure import (
    Failure,
    RetryPolicy,
    model_error,
    read_failure,
    refused_ability,
    server_of,
)
from navloom.models.messages import EndedCall, asking_node, sane
from navloom.models.secrets import redact_error, redacted, remember
from navloom.models.spans import is_traced, tell_call
from navloom.models.spec import OUR_BOUND, read_spec
from navloom.models.too_long import read_too_long
from navloom.models.usage import DEFAULT_ROLE, ModelUsage, stamped

T = TypeVar("T")

_LOOKS_UP_S = 0.5
"""Seconds after which a wait for another attempt asks whether the session ends."""


@dataclass(frozen=True, slots=True)
class Retry:
    """One decision to try again, for a progress line: the call that failed, why, the wait (s)."""

    attempt: int
    failure: Failure
    wait: float


class Holds:
    """How long models have asked not to be called: whoever calls one waits, not the refused alone.

    Args:
        told: hears of each, as a model and seconds.
    """

    def __init__(self, told: Callable[[str, float], None] | None = None) -> None:
        self._until: dict[str, float] = {}
        self._told = told

    def hold(self, model: str, seconds: float, *, tell: bool = True) -> None:
        """Let nobody call a model for so many seconds."""
        until = time.monotonic() + seconds
        if seconds > 0 and until > self._until.get(model, 0.0):
            self._until[model] = until
            if tell and self._told is not None:
                self._told(model, seconds)

    def left(self) -> dict[str, float]:
        """The seconds that are left, by model."""
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
    on_retry: Callable[[Retry], None] | None = None,
    stopping: Callable[[], bool] | None = None,
) -> T:
    """Make a call, and make it again as the table of `navloom.models.failure` says.

    Args:
        call: makes one attempt.
        policy: how often and how long.
        remote: see `read_failure`.
        on_retry: told of each retry before its wait.
        stopping: whether the session ends: then nothing is tried again.

    Raises:
        Exception: what the last attempt raised, as it was raised.
        StoppedError: before or while waiting for another attempt.
    """
    decide = _Decide(policy, remote)

    def tell(state: RetryCallState) -> None:
        _go_on(stopping)
        if on_retry is not None and decide.failure is not None:
            on_retry(Retry(state.attempt_number, decide.failure, state.upcoming_sleep))

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


MOST_TOLD = 20_000
"""Characters of a reply that are told while it comes: a stream need not have an end."""
COUNTS_WHOLE_ALONE = "navloom_counts_whole_alone"
"""In a model's metadata: its server did not count a reply that it streamed; it is not asked to
stream any more."""
_ENDS = ("finish_reason", "stop_reason", "status")
_WIRES = ("openai", "anthropic")
"""Protocols whose streams say why they end, as LangChain's clients name them in a reply."""


class Pieces(BaseCallbackHandler):
    """Listens to one attempt.

    Attributes:
        came: whether a piece has come, which is to say that the reply is streamed.
    """

    run_inline = True

    def __init__(self) -> None:
        self.came = False
        self._calls: dict[Any, str] = {}

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Nothing is made of what is asked."""

    def on_llm_new_token(self, *_: Any, chunk: Any = None, **__: Any) -> None:
        """A piece has come."""
        self.came = True
        for call in getattr(getattr(chunk, "message", None), "tool_call_chunks", ()):
            key = call.get("index")
            key = (len(self._calls),) if key is None else key
            self._calls[key] = self._calls.get(key, "") + (call.get("args") or "")

    def whole(self, reply: AIMessage) -> AIMessage:
        """The reply, its tool calls read as strictly as those of one that comes at once."""
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

    def is_cut(self, reply: Any, *, streaming: bool) -> bool:
        """Whether a reply that came in pieces has no end: who closes a stream politely leaves half.

        Args:
            reply: the message.
            streaming: whether the model streams all that it says.
        """
        told: Mapping[str, Any] = getattr(reply, "response_metadata", None) or {}
        streamed = streaming or (self.came and told.get("model_provider") in _WIRES)
        return streamed and not any(told.get(key) for key in _ENDS)


class Words(Pieces, _StreamingCallbackHandler[Any]):
    """Listens, and has the reply streamed where the model can.

    Args:
        tell: told all that was written so far, whenever there is more.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell, self._text = tell, ""

    def on_llm_new_token(self, *_: Any, chunk: Any = None, **__: Any) -> None:
        """A piece has come: tell it, if there are words in it."""
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
        """Nothing is done to other things that stream."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:  # noqa: ARG002
        """Nothing is done to other things that stream."""
        return output


def _is_object(text: str, read: Callable[[str], Any]) -> bool:
    """Whether a call's arguments are an object; none at all are an empty one."""
    try:
        return not text or isinstance(read(text), dict)
    except ValueError:
        return False


_MOST_WRAPPERS = 16
_SAID = (
    *("content", "additional_kwargs", "response_metadata", "usage_metadata"),
    *("tool_calls", "invalid_tool_calls", "id", "name"),
)


class Gate(Protocol):
    """What every call that is not answered from the cache has to pass, such as a `Budget`."""

    async def reserve(
        self, model: str, messages: Sequence[BaseMessage], bound: Mapping[str, Any]
    ) -> int:
        """Let the call pass, or raise; ``bound`` holds tools, schema and the like."""

    def settle(self, reservation: int, model: str, reply: AIMessage | None) -> None:
        """Take note of what it gave; None: it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """What stands around the calls made in a context.

    Attributes:
        cache: where replies are kept; None keeps none.
        cache_in_process: keep those of models in this process too.
        epoch: which of several replies to one request; part of the cache's key.
        role: what the model is used for, where the call does not say.
        max_retries: attempts after the first; None leaves it to the model.
        attempt_timeout: seconds of one attempt; None leaves it to the model.
        gate: passed before each call.
        on_retry: told the model's name and each retry before its wait.
        on_call: told of each call once it has ended; it must be quick, and what it raises is lost.
        on_words: told, while a reply comes, all that is written of it so far, as the server sends
            it, and "" where an attempt came to nothing; it must be quick, and what it raises is
            lost. Where it is given, models that can stream do.
        lost: gets what calls that failed for good came to.
        connections: so many attempts are under way at once; None bounds them nowhere.
        holds: how long models asked not to be called; each attempt waits for its own.
        stopping: whether the session ends: what fails then is not tried again.
    """

    cache: Replies | None = None
    cache_in_process: bool = False
    epoch: int = 0
    role: str = DEFAULT_ROLE
    max_retries: int | None = None
    attempt_timeout: float | None = None
    gate: Gate | None = None
    on_retry: Callable[[str, Retry], None] | None = None
    on_call: Callable[[EndedCall], None] | None = None
    on_words: Callable[[str], None] | None = None
    lost: list[ModelUsage] | None = None
    connections: asyncio.Semaphore | None = None
    holds: Holds | None = None
    stopping: Callable[[], bool] | None = None


_settings: ContextVar[CallSettings] = ContextVar("navloom_call_settings")
_PLAIN = CallSettings()


@contextmanager
def call_settings(settings: CallSettings | None = None, **changes: Any) -> Iterator[CallSettings]:
    """Set what stands around the calls of this block, and of the tasks that start in it.

    Args:
        settings: all of it; None starts from what holds already.
        **changes: single fields of `CallSettings`.
    """
    made = replace(settings or _settings.get(_PLAIN), **changes)
    token = _settings.set(made)
    try:
        yield made
    finally:
        _settings.reset(token)


def current_settings() -> CallSettings:
    """What stands around calls made here and now."""
    return _settings.get(_PLAIN)


async def acall(
    bound: Runnable[Any, Any],
    messages: Sequence[BaseMessage],
    *,
    role: str | None = None,
    policy: RetryPolicy | None = None,
    on_retry: Callable[[Retry], None] | None = None,
) -> AIMessage:
    """Ask a model once, with retries; the way every graph's model node asks.

    Args:
        bound: a chat model, or what `navloom.models.binding.bind` made of one.
        messages: the conversation so far.
        role: what the model is used for; None takes that of `call_settings`, "generator".
        policy: how to try again; None takes `call_settings`, then what the model was made with
            (``max_retries`` and ``attempt_timeout`` of `get_model`).
        on_retry: told of each retry before its wait.

    Returns:
        The model's message, or the one kept for this very request, with ``usage_metadata`` where
        the backend counts and a stamp (`navloom.models.usage`); what is beyond reason in it is cut
        (`navloom.models.messages.sane`), and so is any key in it.

    Raises:
        ModelError: where the model cannot be had: one line that names the model, the HTTP status
            and what to do. An answer that is merely bad is returned, not raised.
        ModelRefusedError: where every further call would end the same way.
        LimitReachedError: where the session may not use more.
        StoppedError: it failed, and the session ends before it is tried again.
    """
    settings, model = _settings.get(_PLAIN), model_of(bound)
    ask = _Ask(model, role or settings.role, policy or policy_of(model, settings), settings)
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
    """One request to one model, and what it took."""

    def __init__(self, model: Any, role: str, policy: RetryPolicy, settings: CallSettings) -> None:
        self.model, self.role, self.policy, self.settings = model, role, policy, settings
        self.name = model_name(model)
        self.remote = not getattr(type(model), "in_process", False)
        self.attempts, self.streams = 0, True
        self.began, self.since = time.monotonic(), time.time()

    def key(self, bound: Any, messages: Sequence[BaseMessage]) -> str | None:
        """The name of the reply in the cache; None where it is not to be kept."""
        settings = self.settings
        if settings.cache is None or not (self.remote or settings.cache_in_process):
            return None
        return cache_key(
            # Options of the name are among the parameters, where they change what is sent.
            model=read_spec(self.name).bare,
            messages=messages,
            bound=_bound_to(bound),
            sampling=_sampling_of(self.model),
            epoch=settings.epoch,
            server=server_of(self.model),
        )

    def sent(self, bound: Any) -> dict[str, Any]:
        """What was bound to the model and is said to it."""
        # A builtin model's job and seed are told beside what counts as said.
        beside = ("job", "seed") if getattr(type(self.model), "takes_job", False) else ()
        return {key: value for key, value in _bound_to(bound).items() if key not in beside}

    def ended(
        self, bound: Any, messages: Sequence[BaseMessage], reply: AIMessage, *, cached: bool
    ) -> AIMessage:
        """The reply with what it took, which is told."""
        said = stamped(
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
        """Tell whoever listens that the call has ended: no listener can make it fail."""
        listeners = (tell_call if is_traced() else None, self.settings.on_call)
        for listener in filter(None, listeners):
            with suppress(Exception):
                node, step = asking_node()
                listener(
                    EndedCall(
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
        self, bound: Runnable[Any, Any], messages: list[BaseMessage], pieces: Pieces
    ) -> Any:
        """One answer; where our own bound of a reply does not fit, one as long as there is room."""
        about = getattr(self.model, "metadata", None) or {}
        ours = about.get(OUR_BOUND)
        told = merge_configs(ensure_config(), {"callbacks": [pieces]})
        try:
            # What room is left is less than our bound, and a server bounds what is not bounded.
            return await bound.ainvoke(
                messages, told, **({"max_tokens": None} if ours == 0 else {})
            )
        except Exception as error:
            failure = read_failure(error)
            too_long = failure and read_too_long(failure.status, failure.text)
            if not ours or not too_long or not too_long.is_reply:
                raise
            if too_long.context is not None and too_long.context <= ours:
                about[OUR_BOUND] = 0
            return await bound.ainvoke(messages, told, max_tokens=None)

    async def reply(
        self,
        bound: Runnable[Any, Any],
        messages: Sequence[BaseMessage],
        on_retry: Callable[[Retry], None] | None,
    ) -> AIMessage:
        """What the model says, without secrets; or the one line of why it says nothing."""
        for value in list(getattr(self.model, "__dict__", {}).values()):
            reveal = getattr(value, "get_secret_value", None)
            if callable(reveal):
                remember(str(reveal()))

        words, holds = self.settings.on_words, self.settings.holds

        async def attempt() -> Any:
            self.attempts += 1
            about = getattr(self.model, "metadata", None) or {}
            streams = self.streams and not about.get(COUNTS_WHOLE_ALONE)
            pieces = Words(words) if words is not None and streams else Pieces()
            if holds is not None:
                await holds.over(self.name, self.settings.stopping)
            try:
                async with (
                    self.settings.connections or nullcontext(),
                    asyncio.timeout(self.policy.attempt_timeout),
                ):
                    reply = await self.answer(bound, [_replayable(m) for m in messages], pieces)
                if pieces.is_cut(reply, streaming=getattr(self.model, "streaming", False)):
                    raise ConnectionError("the stream ended before the reply did")
            except BaseException as error:
                # A server that cannot stream sends its reply whole, and no piece is found in it.
                self.streams = pieces.came or not isinstance(error, ValueError)
                if words is not None and pieces.came:
                    with suppress(Exception):
                        words("")
                if holds is not None and (failure := read_failure(error, remote=self.remote)):
                    holds.hold(self.name, min(failure.retry_after or 0, self.policy.longest_asked))
                raise
            if not isinstance(reply, AIMessage) or not pieces.came:
                return reply
            if reply.usage_metadata is None:
                # What it costs goes before when it is seen: limits hold by what is counted.
                about[COUNTS_WHOLE_ALONE] = True
            return pieces.whole(reply)

        def tell(retry: Retry) -> None:
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
            failure = read_failure(error, remote=self.remote)
            if failure is None:
                raise
            if refused_ability(failure.status, failure.text) == "images":
                # Whoever asks it next knows.
                self.model.profile = {**(self.model.profile or {}), "image_inputs": False}
            raise model_error(self.model, self.name, failure, self.policy, self.attempts) from error
        if not isinstance(reply, AIMessage):
            raise ModelError(f"{self.name} gave a {type(reply).__name__}, not a message.")
        reply = sane(reply)
        said = {name: getattr(reply, name) for name in _SAID}
        clean = redacted(said)
        return reply if clean is said else reply.model_copy(update=clean)


def _replayable(message: BaseMessage) -> BaseMessage:
    """A message as servers take it back: some refuse a history whose arguments are no JSON."""
    broken = message.invalid_tool_calls if isinstance(message, AIMessage) else []
    if not broken:
        return message
    return message.model_copy(
        update={"invalid_tool_calls": [InvalidToolCall(**{**c, "args": "{}"}) for c in broken]}
    )


def _layers(runnable: Any) -> Iterator[Any]:
    """A bound runnable and what it wraps, from without to within."""
    inner = runnable
    for _ in range(_MOST_WRAPPERS):
        if inner is None:
            return
        yield inner
        inner = getattr(inner, "bound", None) or getattr(inner, "first", None)


def _bound_to(runnable: Any) -> dict[str, Any]:
    """The arguments bound to a model, through all wrappers; an inner one counts more."""
    found: dict[str, Any] = {}
    for layer in takewhile(lambda each: not isinstance(each, BaseChatModel), _layers(runnable)):
        found |= getattr(layer, "kwargs", None) or {}
    return found


def _sampling_of(model: Any) -> dict[str, Any]:
    """The parameters that a model sends with each request."""
    try:
        return dict(model._get_invocation_params(stop=None))
    except (AttributeError, TypeError):
        return dict(getattr(model, "_identifying_params", None) or {})


def model_of(runnable: Any) -> Any:
    """The chat model inside a bound runnable (the runnable itself, where none is found)."""
    found = (layer for layer in _layers(runnable) if isinstance(layer, BaseChatModel))
    return next(found, runnable)


def model_name(model: Any) -> str:
    """The model's name as ``provider/name``, or what its class calls itself."""
    metadata = getattr(model, "metadata", None) or {}
    return str(metadata.get("navloom_model") or getattr(model, "_llm_type", type(model).__name__))


def policy_of(model: Any, settings: CallSettings = _PLAIN) -> RetryPolicy:
    """The retry policy of the settings, of what a model was made with, or the default one."""
    metadata = getattr(model, "metadata", None) or {}
    attempts = None if settings.max_retries is None else settings.max_retries + 1
    given: dict[str, Any] = {
        "attempts": attempts or metadata.get("navloom_attempts"),
        "attempt_timeout": settings.attempt_timeout or metadata.get("navloom_attempt_timeout"),
    }
    return replace(RetryPolicy(), **{k: v for k, v in given.items() if v is not None})
