"""A chat service behind a real server, called over HTTP as its page does."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from navloom.graphs.chat.state import Context
from navloom.models.model_registry import get_model
from navloom.sim.registry import get_simulator
from navloom.web.chat_service import ChatService
from navloom.web.chat_session import LiveChat
from navloom.web.documents import Documents
from tests.web.conftest import TOKEN, Served, serving

HOME = "demo:house"


class Chatting:
    """HTTP client with the calls that a page may make."""

    def __init__(self, served: Served, room: ChatService) -> None:
        self.served, self.room = served, room
        self.http = httpx.Client(
            base_url=served.origin,
            headers={"X-Navloom-Token": TOKEN, "Origin": served.origin},
            timeout=60,
        )

    def tell(self, what: str, **body: Any) -> Any:
        answer = self.http.post(f"/chat/{what}", json=body)
        return answer.json() | ({"status": answer.status_code} if answer.is_error else {})

    def ask(self, what: str) -> Any:
        return self.http.get(f"/chat/{what}").json()

    def sitting(self, thread: str) -> LiveChat:
        return self.room._sittings[thread]

    def open(self, thread: str, after: str = "") -> dict[str, Any]:
        """Return the first event that a page gets of a thread."""
        return next(self.events(thread, after))["what"]

    def events(self, thread: str, after: str = "") -> Iterator[dict[str, Any]]:
        path = f"/chat/events/{quote(thread)}?after={after}"
        with self.http.stream("GET", path) as answer:
            if answer.is_error:
                answer.read()
                raise AssertionError(answer.text)
            number = ""
            for line in answer.iter_lines():
                if line.startswith("id: "):
                    number = line[4:]
                elif line.startswith("data: "):
                    yield {"id": number, **json.loads(line[6:])}

    def settled(self, thread: str) -> dict[str, Any]:
        """Wait until nothing is in progress, and return the conversation as it is saved."""
        until(lambda: not self.sitting(thread).busy)
        return self.ask(f"save/{thread}")

    def said(self, thread: str, words: str) -> dict[str, Any]:
        """Say something, wait until it is done, and return the conversation."""
        assert self.tell("say", thread=thread, words=words) == {}
        return self.settled(thread)


def until(holds: Callable[[], Any], seconds: float = 30) -> Any:
    """Wait until a function returns a true value, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.01)
    raise AssertionError("it never was so")


@contextmanager
def chatting(
    folder: Path, home: str = HOME, model: Any = "builtin/heuristic", **how: Any
) -> Iterator[Chatting]:
    """Serve a chat over the threads in a folder until the end of the block."""

    def make() -> Context:
        made = get_model(model) if isinstance(model, str) else model
        return Context(model=made, simulator=get_simulator("graph", home))

    room = ChatService(make, folder, **{"pace": 0.0, **how})
    with serving(Documents([]), [room]) as served:
        made = Chatting(served, room)
        with made.http:
            yield made
