"""The web application: static page, JSON documents, a stream of changes, and services.

Everything but the static page requires a token, even on loopback, where any user's program could
connect. The token comes in the address's fragment, which no log records. The page stores it for
this origin and sends it as a header; a cookie would go to every port. Requests with a foreign
``Host`` (a name rebound to 127.0.0.1) or a foreign ``Origin`` are refused. Only
services (`navloom.web.web_service`) accept input, as JSON from a page of this origin.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from navloom.errors import NavloomError
from navloom.models.redaction import error_line, redact
from navloom.scenes.memory_policy import SPARING
from navloom.web.documents import Documents, NoDocumentError
from navloom.web.web_service import MOST_TOLD, WebService

STATIC = Path(__file__).parent / "static"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_LOOK_S = 1.0
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def page_files() -> dict[str, bytes]:
    """Return the static files of the page, by path."""
    files = sorted(STATIC.iterdir())
    return {
        ("" if file.name == "index.html" else "static/") + file.name: file.read_bytes()
        for file in files
        if file.suffix in _TYPES
    }


def make_app(
    documents: Documents,
    *,
    token: str,
    port: int,
    hosts: Iterable[str] = (),
    rooms: Sequence[WebService] = (),
) -> ASGIApp:
    """Return the application that serves documents and interactive services.

    Args:
        documents: the documents to serve.
        token: required in every request for them.
        port: the port that the server listens on.
        hosts: further accepted ``Host`` names, or ``name:port``.
        rooms: the interactive services.
    """
    SPARING.meshes = 1
    # Documents are made one at a time; more threads would only hold more memory.
    worker = ThreadPoolExecutor(1)
    names = {f"{name}:{port}" for name in _LOOPBACK} | set(hosts)
    names |= {f"{host}:{port}" for host in hosts if ":" not in host}
    files = page_files()

    async def page(request: Request) -> Response:
        name = request.path_params.get("name")
        path = f"static/{name}" if name else "index.html"
        if path not in files:
            return _said(404, f"there is no {path[:80]}")
        return Response(files[path], media_type=_TYPES[Path(path).suffix])

    async def document(request: Request) -> Response:
        try:
            found = await asyncio.get_running_loop().run_in_executor(
                worker, documents.get, request.path_params["path"]
            )
        except NoDocumentError as error:
            return _said(404, str(error))
        except NavloomError as error:
            return _said(422, str(error))
        except Exception as error:
            # The page can go on with other documents.
            return _defect(request, error)
        return JSONResponse(found)

    async def live(request: Request) -> Response:
        return StreamingResponse(_grown(documents, request), media_type="text/event-stream")

    routes = [
        Route("/", page),
        Route("/static/{name}", page),
        Route("/doc/{path:path}.json", document),
        Route("/live", live),
        *(route for room in rooms for route in room.routes()),
    ]
    app = Starlette(routes=routes, exception_handlers=_HANDLERS, lifespan=_while_open(rooms))
    return _TokenGuard(app, token, names, {f"http://{name}" for name in names}, rooms)


def _while_open(rooms: Sequence[WebService]) -> Any:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for room in rooms:
                await room.begin()
                stack.push_async_callback(room.end)
            yield

    return lifespan


def _said(status: int, words: str) -> JSONResponse:
    return JSONResponse({"error": redact(words)}, status)


def _refused(_: Request, error: Exception) -> Response:
    return _said(404 if isinstance(error, NoDocumentError) else 422, error_line(error))


def _defect(_: Request, error: Exception) -> Response:
    logging.getLogger("navloom").error("a defect of Navloom", exc_info=error)
    return _said(500, f"a defect of Navloom: {error_line(error)}")


_HANDLERS: Any = {
    404: lambda *_: _said(404, "nothing is here: open the first page"),
    405: lambda *_: _said(405, "nothing here can be changed in this way"),
    NavloomError: _refused,
    Exception: _defect,
}


async def _grown(documents: Documents, request: Request) -> AsyncIterator[str]:
    """Yield an event for each source that has changed, and a beat in every round."""
    before: dict[int, Any] = {}
    while not await request.is_disconnected():
        for n, source in enumerate(documents.sources):
            now = await run_in_threadpool(source.state)
            if before.setdefault(n, now) != now:
                before[n] = now
                yield f"data: {json.dumps({'source': n})}\n\n"
        yield ": beat\n\n"
        await asyncio.sleep(_LOOK_S)


class _TokenGuard:
    """Middleware that checks host, origin and token, and adds security headers to each answer."""

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        hosts: set[str],
        origins: set[str],
        rooms: Sequence[WebService],
    ) -> None:
        self._app, self._token = app, token.encode()
        self._hosts, self._origins = hosts, origins
        self._rooms = {room.name: room for room in rooms}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def headed(message: Any) -> None:
            if message["type"] == "http.response.start":
                more = [(key.lower().encode(), value.encode()) for key, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *more]}
            await send(message)

        wrong = self._wrong(Request(scope))
        if wrong is None:
            await self._app(scope, receive, headed)
        else:
            await _said(*wrong)(scope, receive, headed)

    def _wrong(self, request: Request) -> tuple[int, str] | None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host.casefold() not in self._hosts:
            return 421, "this name is not the server's: start it with --allow-host NAME"
        if origin is not None and origin.casefold() not in self._origins:
            return 403, "another site's page may not ask here"
        path = request.url.path
        room = self._rooms.get(path[1:].partition("/")[0])
        if request.method not in ("GET", "HEAD"):
            if room is None or request.method != "POST":
                return 405, "nothing here can be changed"
            if fault := _fault_of(request, origin):
                return fault
        if path == "/" or path.startswith("/static/"):
            return None
        given = request.headers.get("x-navloom-token", "")
        if hmac.compare_digest(given.encode(errors="replace"), self._token):
            return None
        if room is not None and given and room.admits(given, path):
            return None
        return (
            401,
            "no token: open the address that `navloom view` printed, or the link you were given",
        )


def _fault_of(request: Request, origin: str | None) -> tuple[int, str] | None:
    """Return the status and message for an invalid POST request; None if it is valid."""
    if origin is None:
        return 403, "only a page of this server may tell anything here"
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind != "application/json":
        return 415, "expected application/json"
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or len(length) > 9 or int(length) > MOST_TOLD:
        return 413, f"at most {MOST_TOLD // 1024} kB can be told at once"
    return None
