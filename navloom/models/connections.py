"""The HTTP clients of the SDKs: one a process and SDK, a pool of connections for each event loop.

So a graph that is run twice by ``asyncio.run`` never meets a connection of a loop that has ended.
What is sent goes to the address that was given and nowhere else: a redirect to another origin would
hand on prompts and headers, and is refused. A reply is read up to ``MOST_BYTES``; one that is
compressed was not asked for, may unpack to anything, and is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from functools import cache
from importlib import import_module
from typing import Any

from navloom.errors import ModelError

MOST_BYTES = 32_000_000
"""Of one reply, of any provider. The longest that Navloom reads has 200,000 characters."""
MOST_FIELDS = 60_000
"""Of one reply that is not streamed."""
_MOST_REDIRECTS = 3


@cache
def http_client(sdk: str) -> Any:
    """The process's HTTP client for one SDK (``openai`` or ``anthropic``)."""
    base: Any = import_module(sdk).DefaultAsyncHttpxClient

    class PerLoop(base):  # type: ignore[misc]
        """Hands each request to a client that belongs to the running event loop."""

        def __init__(self) -> None:
            super().__init__()
            self._of_loop: dict[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[None]]] = {}

        async def send(self, request: Any, **kwargs: Any) -> Any:
            loop = asyncio.get_running_loop()
            if loop not in self._of_loop:
                inner = base()
                keeper = self._keep(loop, inner)
                self._of_loop[loop] = (inner, keeper)
                await anext(keeper)
            return await _sent(self._of_loop[loop][0], request, **kwargs)

        async def _keep(self, loop: asyncio.AbstractEventLoop, inner: Any) -> AsyncGenerator[None]:
            # A loop closes the generators that are open when it ends, and so this pool with them.
            try:
                yield
            finally:
                self._of_loop.pop(loop, None)
                await inner.aclose()

    return PerLoop()


async def _sent(client: Any, request: Any, *, stream: bool = False, **kwargs: Any) -> Any:
    """The response to a request, bounded.

    Raises:
        ModelError: it leads elsewhere, or is beyond reason; SDKs wrap it as its cause.
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
            # SDKs take a second and more for each of these, and nothing can stop them.
            raise _refused(request, f"sends a reply of more than {MOST_FIELDS:,} fields")
    return response


def _origin(url: Any) -> str:
    return f"{url.scheme}://{url.netloc.decode()}"


def _refused(request: Any, said: str) -> ModelError:
    return ModelError(f"{_origin(request.url)} {said}: check the server's address.")


def _bounded(stream: Any, request: Any) -> Any:
    from httpx2 import AsyncByteStream

    class Bounded(AsyncByteStream):
        """A body that ends with an error where it is too long."""

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
