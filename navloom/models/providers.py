"""Clients of model servers: OpenAI, Anthropic and vLLM, each through its LangChain class.

The SDKs are imported inside the functions, since they take seconds. Their own retries are off.

Each SDK has one HTTP client per process, with a pool of connections for each event loop. So a graph
that is run twice by ``asyncio.run`` never uses a connection of a closed loop. Requests go only to
the given address: a redirect to another origin would pass on prompts and headers, and is refused. A
reply is read up to ``MOST_BYTES``. A compressed reply was not requested, may unpack to any size,
and is refused.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from navloom.errors import ModelError, did_you_mean
from navloom.models.model_spec import OUR_BOUND, ModelOptions, address_secrets, is_address
from navloom.models.redaction import register_secret

if TYPE_CHECKING:
    from ssl import SSLContext

    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import InvalidToolCall
    from langchain_core.outputs import ChatResult


MOST_BYTES = 32_000_000
"""Maximum bytes of one reply. The longest that Navloom reads has 200,000 characters."""
MOST_FIELDS = 60_000
"""Maximum JSON fields of one reply that is not streamed."""
_MOST_REDIRECTS = 3


@cache
def http_client(sdk: str) -> Any:
    """Return the process's HTTP client for one SDK (``openai`` or ``anthropic``)."""
    base: Any = import_module(sdk).DefaultAsyncHttpxClient

    class PerLoop(base):  # type: ignore[misc]
        """HTTP client that sends each request by a client of the running event loop."""

        def __init__(self) -> None:
            super().__init__(verify=_tls())
            self._of_loop: dict[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[None]]] = {}

        async def send(self, request: Any, **kwargs: Any) -> Any:
            loop = asyncio.get_running_loop()
            if loop not in self._of_loop:
                inner = base(verify=_tls())
                keeper = self._keep(loop, inner)
                self._of_loop[loop] = (inner, keeper)
                await anext(keeper)
            return await _sent(self._of_loop[loop][0], request, **kwargs)

        async def _keep(self, loop: asyncio.AbstractEventLoop, inner: Any) -> AsyncGenerator[None]:
            # An ending loop closes its open generators, and thereby this pool.
            try:
                yield
            finally:
                self._of_loop.pop(loop, None)
                await inner.aclose()

    return PerLoop()


@cache
def _tls() -> SSLContext:
    """Return the SSL context; creating it takes longer than creating a client."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


@cache
def _waiting_client() -> Any:
    """Return the client for blocking calls, which LangChain requires and Navloom never uses."""
    from openai import DefaultHttpxClient

    return DefaultHttpxClient(verify=_tls())


async def _sent(client: Any, request: Any, *, stream: bool = False, **kwargs: Any) -> Any:
    """Send a request and return the bounded response.

    Raises:
        ModelError: it is redirected to another origin, or too large; SDKs wrap it as the cause.
    """
    kwargs["follow_redirects"] = False
    request.headers["accept-encoding"] = "identity"
    response = await client.send(request, stream=True, **kwargs)
    for _ in range(_MOST_REDIRECTS):
        there = response.next_request
        if there is None:
            break
        await response.aclose()
        if _origin(there.url) != _origin(request.url):
            raise _refused(request, f"redirects to {_origin(there.url)}, where nothing is sent")
        response = await client.send(there, stream=True, **kwargs)
    if response.headers.get("content-encoding", "identity") != "identity":
        await response.aclose()
        raise _refused(request, "sends compressed replies, which were not asked for")
    response.stream = _bounded(response.stream, request)
    if not stream:
        try:
            await response.aread()
        finally:
            await response.aclose()
        if response.content.count(b'":') > MOST_FIELDS:
            # SDKs would parse it for many seconds, and cannot be interrupted.
            raise _refused(request, f"sends a reply of more than {MOST_FIELDS:,} fields")
    return response


def _origin(url: Any) -> str:
    return f"{url.scheme}://{url.netloc.decode()}"


def _refused(request: Any, said: str) -> ModelError:
    return ModelError(f"{_origin(request.url)} {said}: check the server's address.")


def _bounded(stream: Any, request: Any) -> Any:
    from httpx2 import AsyncByteStream

    class Bounded(AsyncByteStream):
        """A body that raises an error if it is too long."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in stream:
                size += len(piece)
                if size > MOST_BYTES:
                    most = f"{MOST_BYTES // 1_000_000} MB"
                    raise _refused(request, f"sends a reply of more than {most}")
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


OPEN_MODEL_TOKENS = 4096
"""Default maximum of tokens of a reply: a small open model may never stop by itself, and its server
waits for it."""
_LONGEST_S = 600.0
"""Minimum timeout of a client in seconds; the attempt's own timeout applies around it."""
_OURS = {"cache"}
"""Fields of LangChain's clients that Navloom implements itself."""
_OPTIONS = tuple(each.name for each in fields(ModelOptions) if each.name != "extra")


def make_openai(name: str, options: ModelOptions) -> BaseChatModel:
    """Make a model of OpenAI, or of a server named by OPENAI_BASE_URL or ``base_url``.

    Raises:
        ModelError: OPENAI_API_KEY is not set and no key is given.
    """
    key = _key(f"openai/{name}", "OPENAI_API_KEY", options)
    return _open_ai_client("openai", name, key, _address("OPENAI_BASE_URL", options), options)


def make_vllm(name: str, options: ModelOptions) -> BaseChatModel:
    """Make a model of a vLLM server, named by VLLM_BASE_URL or ``base_url``; a key is optional.

    Raises:
        ModelError: no address is given.
    """
    url = _address("VLLM_BASE_URL", options)
    if url is None:
        raise ModelError(
            f"vllm/{name} needs the server's address: set VLLM_BASE_URL "
            "(such as http://localhost:8000/v1) or give base_url."
        )
    key = options.api_key or os.environ.get("VLLM_API_KEY", "").strip() or "EMPTY"
    bounded = replace(options, max_tokens=options.max_tokens or OPEN_MODEL_TOKENS)
    # A served model may have any name, also one for which LangChain would use the Responses API.
    model = _open_ai_client("vllm", name, key, url, bounded, use_responses_api=False)
    if options.max_tokens is None:
        model.metadata = {**(model.metadata or {}), OUR_BOUND: OPEN_MODEL_TOKENS}
    return model


def make_anthropic(name: str, options: ModelOptions) -> BaseChatModel:
    """Make a model of Anthropic, or of a server named by ANTHROPIC_BASE_URL or ``base_url``.

    Raises:
        ModelError: ANTHROPIC_API_KEY is not set and no key is given.
    """
    key = _key(f"anthropic/{name}", "ANTHROPIC_API_KEY", options)
    url = _address("ANTHROPIC_BASE_URL", options)
    return _built(
        f"anthropic/{name}",
        _anthropic_class(),
        options.extra,
        **({} if url is None else {"base_url": url}),
        model=name,
        api_key=key,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        timeout=max(_LONGEST_S, options.attempt_timeout or 0.0),
        max_retries=0,
        stream_usage=True,
        default_headers=dict(options.headers or {}) or None,
    )


def _open_ai_client(
    provider: str, name: str, key: str, url: str | None, options: ModelOptions, **more: Any
) -> BaseChatModel:
    return _built(
        f"{provider}/{name}",
        _openai_class(),
        {**more, **(options.extra or {})},
        model=name,
        api_key=key,
        base_url=url,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        timeout=max(_LONGEST_S, options.attempt_timeout or 0.0),
        max_retries=0,
        # By default, LangChain drops the usage of streamed calls if the address is not OpenAI's.
        stream_usage=True,
        http_client=_waiting_client(),
        http_async_client=http_client("openai"),
        default_headers=dict(options.headers or {}) or None,
    )


def _built(spec: str, kind: Any, further: Mapping[str, Any] | None, **own: Any) -> BaseChatModel:
    extra = dict(further or {})
    # Refuse unknown options, which the client would pass on, and aliases of options set already.
    field_of = {each.alias: name for name, each in kind.model_fields.items() if each.alias}
    field_of |= {name: name for name in kind.model_fields}
    taken = {field_of.get(name, name) for name in (*own, "base_url")} | _OURS
    for option in extra:
        if field_of.get(option) in taken:
            raise ModelError(
                f"{spec} takes no option '{option}': what it is about is set by the name, the"
                f" environment, Navloom or one of {', '.join(_OPTIONS)}."
            )
        if option not in field_of:
            hint = did_you_mean(option, [*_OPTIONS, *field_of])
            client = kind.__base__.__name__
            raise ModelError(
                f"{spec} takes no option '{option}'.{hint} {client} of LangChain has the"
                " list; fields of a server's own go into extra={'extra_body': {...}}, from Python."
            )
    try:
        model: BaseChatModel = kind(**own, **extra)
    except (ValueError, TypeError) as error:
        told = " ".join(str(error).split())[:300]
        raise ModelError(f"{spec} cannot be made with these options: {told}") from error
    return model


def _key(spec: str, variable: str, options: ModelOptions) -> str:
    key = (options.api_key or os.environ.get(variable, "")).strip()
    if not key:
        raise ModelError(f"{spec} needs a key: set {variable} in the environment.")
    if not key.isascii() or not key.isprintable():
        raise ModelError(f"{variable} holds characters that no key has: copy the key again.")
    return key


def _address(variable: str, options: ModelOptions) -> str | None:
    url = options.base_url or os.environ.get(variable, "").strip() or None
    if url is not None and not is_address(url):
        # The address may hold a password, so it is not shown.
        raise ModelError(f"{variable} is no address, such as http://localhost:8000/v1.")
    for hidden in address_secrets(url) if url is not None else ():
        register_secret(hidden, variable)
    return url


@cache
def _openai_class() -> Any:
    from langchain_openai import ChatOpenAI
    from pydantic import ValidationError

    class OpenAI(ChatOpenAI):
        """ChatOpenAI that tolerates calls with ``"text"`` as arguments, on which LangChain fails.

        vLLM (0.32) lets a model write any JSON there, unless the tool is strict.
        """

        def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult:
            try:
                return super()._create_chat_result(response, generation_info)
            except ValidationError:
                is_plain = isinstance(response, dict)
                told = response if is_plain else response.model_dump(warnings=False)
                bad = _taken_out(told["choices"][0]["message"])
                if not bad:
                    raise
                result = super()._create_chat_result(told, generation_info)
            message: Any = result.generations[0].message
            message.invalid_tool_calls = [*message.invalid_tool_calls, *bad]
            return result

    return OpenAI


def _taken_out(message: dict[str, Any]) -> list[InvalidToolCall]:
    """Remove the calls from a raw reply whose arguments are JSON but no object, and return them."""
    from langchain_core.messages.tool import invalid_tool_call

    good, bad = [], []
    for call in message.get("tool_calls") or ():
        text = call["function"]["arguments"]
        try:
            args = json.loads(text)
            is_bad = bool(args) and not isinstance(args, dict)
        except (ValueError, RecursionError):
            is_bad = False
        if is_bad:
            name = call["function"]["name"]
            bad.append(invalid_tool_call(name=name, args=text, id=call["id"], error=None))
        else:
            good.append(call)
    message["tool_calls"] = good
    return bad


@cache
def _anthropic_class() -> Any:
    from functools import cached_property

    from anthropic import AsyncAnthropic
    from langchain_anthropic import ChatAnthropic

    class Anthropic(ChatAnthropic):
        """ChatAnthropic on the process's own HTTP client, which outlives event loops."""

        @cached_property
        def _async_client(self) -> AsyncAnthropic:
            return AsyncAnthropic(**self._client_params, http_client=http_client("anthropic"))

    return Anthropic
