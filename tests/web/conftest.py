"""Fixtures of the web tests: a few real runs, and a server over them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn

from navloom.cli.main import main
from navloom.web.app import make_app
from navloom.web.documents import Documents
from navloom.web.source_discovery import open_sources
from navloom.web.web_service import WebService

TOKEN = "a-token-of-the-tests-0123456789"


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two runs of the same episodes, and one of relays."""
    folder = tmp_path_factory.mktemp("runs")
    scenes = ["eval", "scene", "demo:flat", "--n", "6", "--display", "none"]
    for agent, more in (("heuristic", ["--cot"]), ("random", [])):
        out = ["--agent", agent, *more, "--out", str(folder / agent)]
        assert main([*scenes, *out]) == 0
    relay = ["synth", "collab", "demo:", "--n", "4", "--display", "none"]
    assert main([*relay, "--out", str(folder / "relays")]) == 0
    return folder


@pytest.fixture(scope="session")
def documents(runs: Path) -> Documents:
    return Documents(open_sources([str(runs)], print))


@dataclass
class Served:
    """A running server; ``address`` returns the URL of a page with the token."""

    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def address(self, to: str = "/") -> str:
        return f"{self.origin}/#token={TOKEN}&to={to}"


@contextmanager
def serving(documents: Documents, rooms: Sequence[WebService] = ()) -> Iterator[Served]:
    """Serve documents and services until the end of the block."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = make_app(documents, token=TOKEN, port=port, rooms=rooms)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    server.config.timeout_graceful_shutdown = 1
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield Served(port)
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="session")
def served(documents: Documents) -> Iterator[Served]:
    with serving(documents) as made:
        yield made
