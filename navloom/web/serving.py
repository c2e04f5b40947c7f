"""Where pages are served, until Ctrl-C.

What a page must know to be answered: one of this user's, so that links work after a restart.
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
from navloom.models.secrets import remember, say, tell
from navloom.web.app import make_app
from navloom.web.documents import Documents
from navloom.web.room import WebRoom

_SOUND = re.compile(r"[A-Za-z0-9_-]{16,200}")


def sound_token(token: str) -> str:
    """A token that was given, where it can stand in an address.

    Raises:
        UsageError: it is short, long, or holds other characters; it is not repeated.
    """
    if not _SOUND.fullmatch(token):
        raise UsageError("--token: expected 16 to 200 letters, digits, - and _")
    remember(token, "token")
    return token


def kept_token() -> str:
    """This user's token, made where there is none; one for this process where it cannot be kept."""
    path = cache_folder() / TOKEN_FILE
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kept = path.read_text(encoding="ascii").strip()
        # What others could read is no secret any more.
        if _SOUND.fullmatch(kept) and not path.stat().st_mode & 0o077:
            return sound_token(kept)
    made = secrets.token_urlsafe(24)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(made)
    return sound_token(made)


_NEAR = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class ServerAddress:
    """Where a server listens, and who may ask it.

    Attributes:
        host: the address; any but this machine's own needs a token and names.
        port: the first that is tried; 0: any that is free.
        token: what the page must know; None: one of this user's, kept.
        names: by which the server may be asked beside those of this machine.

    Raises:
        UsageError: it could be asked from elsewhere by whoever likes.
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
        """The first part of an address that leads here."""
        host = self.names[0] if self.names and self.host not in _NEAR else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{port}"


def serve_pages(
    documents: Documents,
    place: ServerAddress,
    *,
    rooms: Sequence[WebRoom] = (),
    opens: bool = True,
    first: str = "",
    said: str = "",
) -> None:
    """Serve until Ctrl-C.

    Args:
        documents: what can be looked at.
        place: where.
        rooms: what can be told something, too.
        opens: whether a browser is opened.
        first: the page that the printed address leads to, such as ``/chat``; else the first.
        said: what stands before the printed address.

    Raises:
        UsageError: no port is free, or the token is none.
    """
    known = sound_token(place.token) if place.token else kept_token()
    listening = _listen(place.host, place.port)
    at = listening.getsockname()[1]
    if place.port and at != place.port:
        say(f"navloom: port {place.port} is in use; this is port {at}")
    address = f"{place.named(at)}/#token={known}" + (f"&to={first}" if first else "")
    tell(f"{said} {address}".strip())
    say("navloom: Ctrl-C ends it")
    if opens:
        webbrowser.open(address)
    app = make_app(documents, token=known, port=at, hosts=place.names, rooms=rooms)
    # What goes wrong is told by the app; streams that are cut off at the end went right.
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, server_header=False, date_header=False
    )
    config.timeout_graceful_shutdown = 1
    # Ctrl-C is how it ends: what was going on is kept by whoever does it.
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config, rooms).run(sockets=[listening])


class _Server(uvicorn.Server):
    """Lets rooms end first: their streams would hold it up."""

    def __init__(self, config: uvicorn.Config, rooms: Sequence[WebRoom]) -> None:
        super().__init__(config)
        self._rooms = rooms

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for room in self._rooms:
            await room.end()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    """A socket at the port, or at one of the next twenty."""
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
