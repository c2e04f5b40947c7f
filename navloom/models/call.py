"""One call to a bound model: bounded in time, tried again where that helps, said in one line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable

from navloom.errors import ModelError, ModelRefusedError, NavloomError
from navloom.models.answer import bounded
from navloom.models.retry import Failure, Retry, RetryPolicy, read_failure, with_retries

__all__ = ["acall", "model_name", "model_of", "policy_of"]

_MOST_WRAPPERS = 16
_REFUSED = frozenset({401, 403, 404})
"""A key or a name that is refused once is refused again."""


async def acall(
    bound: Runnable[Any, Any],
    messages: Sequence[BaseMessage],
    *,
    policy: RetryPolicy | None = None,
    on_retry: Callable[[Retry], None] | None = None,
) -> AIMessage:
    """Ask a model once, with retries; the way every graph's model node asks.

    Args:
        bound: a chat model, or what `navloom.models.binding.bind` made of one.
        messages: the conversation so far.
        policy: how to try again; None takes what the model was made with (``max_retries`` and
            ``attempt_timeout`` of `get_model`).
        on_retry: told of each retry before its wait.

    Returns:
        The model's message, with ``usage_metadata`` where the backend counts; what is beyond
        reason in it is cut (`navloom.models.answer.bounded`).

    Raises:
        ModelError: where the model cannot be had: one line that names the model, the HTTP status
            and what to do. An answer that is merely bad is returned, not raised.
        ModelRefusedError: where every further call would end the same way.
    """
    model = model_of(bound)
    policy = policy or policy_of(model)
    remote = not getattr(type(model), "in_process", False)

    attempts = 0

    async def attempt() -> Any:
        nonlocal attempts
        attempts += 1
        async with asyncio.timeout(policy.attempt_timeout):
            return await bound.ainvoke(list(messages))

    try:
        reply = await with_retries(attempt, policy, remote=remote, on_retry=on_retry)
    except NavloomError:
        raise
    except Exception as error:
        failure = read_failure(error, remote=remote)
        if failure is None:
            raise
        refused = failure.kind == "quota" or failure.status in _REFUSED
        kind = ModelRefusedError if refused else ModelError
        raise kind(_line(model, failure, policy, attempts)) from error
    if not isinstance(reply, AIMessage):
        raise ModelError(f"{model_name(model)} gave a {type(reply).__name__}, not a message.")
    return bounded(reply)


def model_of(runnable: Any) -> Any:
    """The chat model inside a bound runnable (the runnable itself, where none is found)."""
    inner = runnable
    for _ in range(_MOST_WRAPPERS):
        if isinstance(inner, BaseChatModel):
            return inner
        step = getattr(inner, "bound", None) or getattr(inner, "first", None)
        if step is None:
            break
        inner = step
    return runnable


def model_name(model: Any) -> str:
    """The model's name as ``provider/name``, or what its class calls itself."""
    metadata = getattr(model, "metadata", None) or {}
    return str(metadata.get("navloom_model") or getattr(model, "_llm_type", type(model).__name__))


def policy_of(model: Any) -> RetryPolicy:
    """The retry policy that a model was made with, or the default one."""
    metadata = getattr(model, "metadata", None) or {}
    given = {
        "attempts": metadata.get("navloom_attempts"),
        "attempt_timeout": metadata.get("navloom_attempt_timeout"),
    }
    return replace(RetryPolicy(), **{k: v for k, v in given.items() if v is not None})


def _line(model: Any, failure: Failure, policy: RetryPolicy, attempts: int) -> str:
    name, said = model_name(model), _without_key(model, failure.text)
    status = f"HTTP {failure.status}" if failure.status else failure.kind
    often = f", {attempts} attempts" if attempts > 1 else ""
    return f"{name}: {_advice(model, failure, policy)} ({status}{often}: {said})"


def _advice(model: Any, failure: Failure, policy: RetryPolicy) -> str:
    where, key = _server_of(model), _setting(model, "KEY")
    match failure.kind, failure.status:
        case "connection", _:
            return f"no connection to the server at {where}; check {_setting(model, 'URL')}"
        case "timeout", None:
            return f"no answer within {policy.attempt_timeout:g} s; raise the attempt timeout"
        case "quota", _:
            return "the account has no credit left; add some, or use another model"
        case "rate" | "overloaded", _ if (failure.retry_after or 0) > policy.longest_asked:
            return (
                f"the server asks to wait {failure.retry_after:.0f} s, longer than "
                f"{policy.longest_asked:.0f} s; try again later"
            )
        case "rate" | "overloaded" | "timeout", _:
            return "the server has too much to do; try again later with fewer connections"
        case "server", _:
            return f"the server at {where} fails; try again later"
        case "garbled", _:
            return f"the server at {where} gave no usable reply; check {_setting(model, 'URL')}"
        case _, 401 | 403:
            return f"the key was refused; check {key}"
        case _, 404:
            return f"no such model at {where}; check the model's name and {_setting(model, 'URL')}"
    return "the request was refused; where it is over a schema, use --no-constrain"


def _server_of(model: Any) -> str:
    base = getattr(getattr(model, "root_async_client", None), "base_url", None)
    return str(base or getattr(model, "anthropic_api_url", None) or "its server").rstrip("/")


def _setting(model: Any, what: str) -> str:
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


def _without_key(model: Any, text: str) -> str:
    for field in ("openai_api_key", "anthropic_api_key"):
        secret = getattr(getattr(model, field, None), "get_secret_value", lambda: "")()
        if len(secret) >= 8:
            text = text.replace(secret, "[key]")
    return text
