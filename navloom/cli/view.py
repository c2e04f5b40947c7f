"""``navloom view``: runs, samples, datasets and homes in a browser, or as a bundle."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from navloom.cli.common import counted
from navloom.cli.help_pages import Commands
from navloom.cli.options import WithLicensed, takes
from navloom.errors import UsageError
from navloom.evals.option import Opt
from navloom.terminal import say, tell

if TYPE_CHECKING:
    from navloom.web.documents import Documents

app = Commands()


@app.command()
@takes()
def view(
    paths: Annotated[
        tuple[str, ...],
        Opt(
            "What to look at: folders of runs, of studies, of mends, of many; datasets (.jsonl);"
            " homes such as home:4.",
            metavar="PATH",
            argument=True,
        ),
    ] = ("runs",),
    scenes: Annotated[
        tuple[str, ...],
        Opt(
            "Where a dataset's homes are: hm3d:DIR, a folder of scene.json. Several times.",
            metavar="SPEC",
            shown="the package and $NAVLOOM_DATA",
        ),
    ] = (),
    port: Annotated[
        int, Opt("Where to listen; the next free one where it is taken.", min=0, max=65535)
    ] = 8765,
    host: Annotated[
        str, Opt("On which address; any but this machine's own needs --token and --allow-host.")
    ] = "127.0.0.1",
    no_open: Annotated[bool, Opt("Do not open a browser.")] = False,
    bundle: Annotated[
        Path | None,
        Opt(
            "Write the pages to a folder for any static host and for file://, or to one file"
            " NAME.html, and end.",
            metavar="DIR|FILE.html",
        ),
    ] = None,
    with_licensed: WithLicensed = False,
    token: Annotated[
        str | None,
        Opt(
            "What the page must know to be answered, at least 16 letters, digits, - and _.",
            shown="one of this user's, kept",
            env="NAVLOOM_VIEW_TOKEN",
        ),
    ] = None,
    allow_host: Annotated[
        tuple[str, ...], Opt("A name by which the server may be asked; several times.")
    ] = (),
) -> None:
    """Look at runs, samples, datasets and homes in a browser.

    What grows is followed as it grows; nothing is ever written to it. With --bundle the same pages
    are files to give to others.
    """
    from navloom.web.documents import Documents
    from navloom.web.opening import open_sources

    sources = open_sources(paths, lambda line: say(f"navloom: {line}"), scenes)
    if bundle is not None:
        _write(Documents(sources, given=True, licensed=with_licensed), bundle)
        return
    _serve(Documents(sources), host, port, token, allow_host, opens=not no_open)


def _write(documents: Documents, target: Path) -> None:
    from navloom.files import check_place
    from navloom.web.bundle import write_bundle

    check_place(target, folder=target.suffix != ".html")
    size = write_bundle(documents, target, lambda line: say(f"navloom: {line}"))
    first = target if target.suffix == ".html" else target / "index.html"
    tell(f"{first}: {counted(len(documents.sources), 'sources')}, {size / 1e6:.1f} MB")


def _serve(
    documents: Documents,
    host: str,
    port: int,
    token: str | None,
    allow_host: tuple[str, ...],
    *,
    opens: bool,
) -> None:
    import webbrowser

    import uvicorn

    from navloom.web.app import make_app
    from navloom.web.token import kept_token, sound_token

    near = host in ("127.0.0.1", "localhost", "::1")
    if not near and not (token and allow_host):
        raise UsageError(
            f"--host {host} can be reached from elsewhere: give --token and --allow-host NAME, too"
        )
    known = sound_token(token) if token else kept_token()
    listening = _listen(host, port)
    at = listening.getsockname()[1]
    if port and at != port:
        say(f"navloom: port {port} is in use; this is port {at}")
    named = f"[{host}]" if ":" in host else allow_host[0] if allow_host and not near else host
    address = f"http://{named}:{at}/#token={known}"
    tell(f"{counted(len(documents.sources), 'sources')} at {address}")
    say("navloom: Ctrl-C ends it")
    if opens:
        webbrowser.open(address)
    made = make_app(documents, token=known, port=at, hosts=allow_host)
    config = uvicorn.Config(
        made, log_level="error", access_log=False, server_header=False, date_header=False
    )
    config.timeout_graceful_shutdown = 1
    # Ctrl-C is how it ends: nothing was going on that could be gone on with.
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    raise typer.Exit


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
