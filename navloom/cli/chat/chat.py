"""``navloom chat``: talk to a robot in a home, at a terminal, through a pipe or in a browser."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from navloom.cli import options
from navloom.errors import NavloomError, UsageError
from navloom.evals.navigation import request
from navloom.evals.option import Opt
from navloom.evals.request import HEURISTIC, Model, Seed
from navloom.models.redaction import print_err

if TYPE_CHECKING:
    from navloom.graphs.chat.state import Context
    from navloom.scenes.scene import Scene
    from navloom.sim.protocol import Simulator
    from navloom.web.documents import Documents
    from navloom.web.page_server import ServerAddress

app = options.CommandApp()
ChatDisplay = Literal["web", "rich", "plain", "none"]
PHYSICAL = ("embedded",)
"""Backends that simulate a body's motion."""
_INSTALL = "pip install 'navloom[tui]'"


@app.command(no_args_is_help=True)
@options.with_options()
def chat(
    scene: options.SceneUri,
    model: Model = HEURISTIC,
    thread: Annotated[
        str | None,
        Opt(
            "Keep the conversation under this name. The same name comes back to it.", metavar="NAME"
        ),
    ] = None,
    threads: Annotated[
        Path | None,
        Opt("Where conversations are kept.", metavar="DIR", shown="the user's data folder"),
    ] = None,
    start: Annotated[
        str | None, Opt("Where a new conversation starts.", metavar="VIEWPOINT", env="")
    ] = None,
    pace: Annotated[
        float,
        Opt(
            "Seconds a hop is shown on a terminal; from a pipe nobody watches.",
            min=0,
            max=10,
            metavar="SECONDS",
        ),
    ] = 0.35,
    body: Annotated[
        str | None,
        Opt(
            "Whose body drives: WHEELCHAIR, FETCH, SPOT, ... or FILE.json#NAME. It goes where it"
            " fits, and says why it does not.",
            metavar="NAME",
            shown="a slim one",
        ),
    ] = None,
    captions: request.Captions = None,
    backend: request.Backend = request.USUAL_BACKEND,
    panoramas: request.Panoramas = None,
    scene_dataset: request.SceneDataset = None,
    token_limit: Annotated[
        int | None,
        Opt("Tokens that this sitting may use, in and out; then the robot says so.", min=1),
    ] = None,
    cost_limit: Annotated[
        float | None, Opt("US dollars that this sitting may cost.", min=0.000001, metavar="DOLLARS")
    ] = None,
    display: Annotated[
        ChatDisplay | None,
        Opt(
            "web: in a browser; rich: panes with a map (textual); plain: lines; none: the robot's"
            " words alone. Unless told, rich on a terminal where textual is installed."
        ),
    ] = None,
    port: options.Port = 8765,
    host: options.Host = "127.0.0.1",
    no_open: options.NoOpen = False,
    token: options.Token = None,
    allow_host: options.AllowHost = (),
    seed: Seed = 0,
) -> None:
    """Talk a robot through a home: tell it where to go, ask what it sees, correct it, stop it."""
    import asyncio

    from navloom.graphs.chat.threads import thread_file, threads_folder
    from navloom.models.model_call import call_settings
    from navloom.models.usage import Budget, UsageLimits

    shown = _display(display)
    file = thread_file(thread, threads_folder(threads)) if thread is not None else None
    backend = request.resolve_backend(backend, panoramas, scene_dataset)
    made: dict[str, Any] = {"folder": panoramas} if panoramas is not None else {}
    if backend == "habitat":
        made = {"dataset": scene_dataset}
    make = partial(_context, scene, model, backend, captions, made, body)
    how: dict[str, Any] = {
        "thread": thread or "chat",
        "folder": threads,
        "seed": seed,
        "pace": pace if sys.stdin.isatty() else 0.0,
    }
    begin = {"start": start} if start else {}
    limits = UsageLimits(token_limit=token_limit, cost_limit=cost_limit)
    limits.check_price(model)
    with call_settings(gate=Budget(limits)):
        if shown == "web":
            from navloom.web.page_server import ServerAddress

            place, kept = ServerAddress(host, port, token, allow_host), threads_folder(threads)
            told: dict[str, Any] = {"start": begin, "pace": pace, "seed": seed}
            serve_chat(make, scene, kept, place, opens=not no_open, first=thread, **told)
            return
        code = asyncio.run(_talk(make(), file, shown, how, begin))
    raise typer.Exit(code)


def _display(asked: ChatDisplay | None) -> ChatDisplay:
    """Choose the display.

    Raises:
        UsageError: panes were asked for, but textual or the terminal is missing.
    """
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    there = find_spec("textual") is not None
    if asked == "rich" and not there:
        raise UsageError(f"--display rich needs textual: {_INSTALL}, or use --display plain.")
    if asked == "rich" and not terminal:
        raise UsageError("--display rich needs a terminal: use --display plain.")
    if asked is not None:
        return asked
    if terminal and not there:
        print_err(
            f"Plain lines, since textual is not installed: {_INSTALL} gives panes and a live map."
        )
    return "rich" if terminal and there else "plain"


def _context(
    uri: str, model: str, backend: str, captions: str | None, made: dict[str, Any], body: str | None
) -> Context:
    from navloom.graphs.chat.state import Context
    from navloom.models.model_registry import get_model
    from navloom.scenes.bodies import body_graph, resolve_body
    from navloom.scenes.scene_uri import get_scene
    from navloom.sim.registry import resolve_backend

    whole, embodiment = get_scene(uri), resolve_body(body)
    backend = resolve_backend(backend, whole)
    if backend in PHYSICAL:
        made = {**made, "physics": "slide"}
    elif body is not None:
        raise UsageError(
            f"--body {body} needs a body's way through {whole.uri}, and {backend} has none: use a"
            " home with walls and --backend embedded."
        )
    home = whole
    if body is not None:
        home = body_graph(whole, embodiment)
    simulator = _simulator(backend, home, captions, made)
    context = Context(
        model=get_model(model),
        simulator=simulator,
        embodiment=embodiment,
        whole=None if home is whole else whole,
    )
    pictures = "rgb" in simulator.capabilities
    if pictures and not context.shown_views and not model.startswith("builtin/"):
        print_err(f"{model} takes no images: it is told in words what there is.")
    return context


def _simulator(backend: str, home: Scene, captions: str | None, made: dict[str, Any]) -> Simulator:
    """Return the simulator of the home, with a model's captions if they are given.

    Raises:
        UsageError: a run of captions has none for this home.
        SimulatorError: the captions are broken, or the backend is not available.
    """
    from navloom.sim.registry import get_simulator

    if captions is None:
        return get_simulator(backend, home, **made)
    from navloom.evals.captions.run import find_caption_cache
    from navloom.sim.captions import captions_for

    kept = find_caption_cache(captions, home)
    if kept is None:
        raise UsageError(
            f"--captions {captions} has no captions of {home.uri}: make them with"
            f" `navloom caption {home.origin} --out DIR`, or give a file of captions."
        )
    if backend == "panorama":
        return get_simulator(backend, home, captions=kept, **made)
    return get_simulator(backend, home, captions=captions_for(home, kept), **made)


async def _talk(
    context: Context, file: Path | None, display: ChatDisplay, how: dict[str, Any], start: Any
) -> int:
    from navloom.graphs.chat.chat_driver import ChatDriver
    from navloom.graphs.chat.threads import open_thread

    async with open_thread(file) as saver:
        if display == "rich":
            from navloom.cli.chat.tui import ChatApp

            app = ChatApp()
            talk = ChatDriver(context, saver, app, **how)
            return await app.run_until_exit(talk, again=await talk.open(**start))
        from navloom.cli.chat.plain_chat import PlainChat

        plain = PlainChat(quiet=display == "none")
        talk = ChatDriver(context, saver, plain, **how)
        return await plain.run(talk, again=await talk.open(**start))


def serve_chat(
    make: Callable[[], Context],
    uri: str,
    folder: Path,
    place: ServerAddress,
    *,
    opens: bool,
    first: str | None,
    start: Mapping[str, Any],
    **how: Any,
) -> None:
    """Serve the chat in a browser until Ctrl-C.

    Args:
        make: makes a conversation's context.
        uri: the home.
        folder: folder of the threads.
        place: the address to listen on.
        opens: whether to open a browser.
        first: the thread to open first; None: a new one.
        start: the chat graph's input for new threads.
        how: pace and seed.
    """
    from navloom.web.chat_service import ChatService
    from navloom.web.page_server import serve_pages

    room = ChatService(make, folder, first=first, start=start, **how)
    to = f"/chat/{first}" if first else "/chat"
    serve_pages(_documents(uri), place, rooms=[room], opens=opens, first=to, said=f"chat in {uri}:")


def _documents(uri: str) -> Documents:
    """Return the home's pages; none for a home that only simulators know."""
    from navloom.web.documents import Documents
    from navloom.web.source_discovery import open_sources

    try:
        return Documents(open_sources([uri], lambda _: None))
    except NavloomError:
        return Documents([])
