"""Serve the pages until Ctrl-C.

The access token belongs to the user and is stored, so that links still work after a restart.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass

import uvicorn

from navloom.disk_cache import TOKEN_FILE, cache_folder
from navloom.errors import UsageError
from navloom.models.redaction import print_err, print_out, register_secret
from navloom.web.app import make_app
from navloom.web.documents import Documents
from navloom.web.web_service import WebService

_SOUND = re.compile(r"[A-Za-z0-9_-]{16,200}")


def check_token(token: str) -> str:
    """Check that a given token can stand in an address, and return it.

    Raises:
        UsageError: it is too short or too long, or holds other characters; the message does not
            repeat it.
    """
    if not _SOUND.fullmatch(token):
        raise UsageError("--token: expected 16 to 200 letters, digits, - and _")
    register_secret(token, "token")
    return token


def user_token() -> str:
    """Return this user's stored token; make a token if it is missing or readable by others."""
    path = cache_folder() / TOKEN_FILE
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kept = path.read_text(encoding="ascii").strip()
        # A token that others can read is no secret.
        if _SOUND.fullmatch(kept) and not path.stat().st_mode & 0o077:
            return check_token(kept)
    made = secrets.token_urlsafe(24)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(made)
    return check_token(made)


_NEAR = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class ServerAddress:
    """Address that a server listens on, and the names and token to reach it by.

    Attributes:
        host: the address; any but a loopback address needs a token and names.
        port: the first port to try; 0: any free port.
        token: the access token; None: this user's stored one.
        names: accepted host names besides the loopback names.

    Raises:
        UsageError: the host is reachable from elsewhere, but token or names are missing.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.host not in _NEAR and not (self.token and self.names):
            raise UsageError(
                f"--host {self.host} can be reached from elsewhere: give --token and --allow-host"
                " NAME, too"
            )

    def named(self, port: int) -> str:
        """Return the base URL of this server."""
        host = self.names[0] if self.names and self.host not in _NEAR else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{port}"


def serve_pages(
    documents: Documents,
    place: ServerAddress,
    *,
    rooms: Sequence[WebService] = (),
    opens: bool = True,
    first: str = "",
    said: str = "",
) -> None:
    """Serve documents and interactive services until Ctrl-C.

    Args:
        documents: the documents to serve.
        place: the address to listen on.
        rooms: the interactive services.
        opens: whether to open a browser.
        first: the page that the printed address leads to, such as ``/chat``; empty: the list.
        said: text before the printed address.

    Raises:
        UsageError: no port is free, or the token is malformed.
    """
    known = check_token(place.token) if place.token else user_token()
    listening = _listen(place.host, place.port)
    at = listening.getsockname()[1]
    if place.port and at != place.port:
        print_err(f"navloom: port {place.port} is in use; this is port {at}")
    address = f"{place.named(at)}/#token={known}" + (f"&to={first}" if first else "")
    print_out(f"{said} {address}".strip())
    print_err("navloom: Ctrl-C ends it")
    if opens:
        webbrowser.open(address)
    app = make_app(documents, token=known, port=at, hosts=place.names, rooms=rooms)
    # The app reports errors itself; streams cut off by the shutdown are no errors.
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, server_header=False, date_header=False
    )
    config.timeout_graceful_shutdown = 1
    # Ctrl-C is the normal end: services save what is in progress.
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config, rooms).run(sockets=[listening])


class _Server(uvicorn.Server):
    """Server that ends its services first, since their streams would delay the shutdown."""

    def __init__(self, config: uvicorn.Config, rooms: Sequence[WebService]) -> None:
        super().__init__(config)
        self._rooms = rooms

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for room in self._rooms:
            await room.end()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    """Open a socket at the port, or at one of the next 19."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for each in range(port, port + (20 if port else 1)):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, each))
            made.listen(64)
        except OSError as error:
            made.close()
            if each == port + 19 or not port:
                raise UsageError(
                    f"cannot listen at {host}:{port} or the 19 ports after it:"
                    f" {error.strerror}; give another --port"
                ) from error
        else:
            return made
    raise UsageError(f"no port is free from {port} on: give another --port")
