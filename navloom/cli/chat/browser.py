"""The chat in a browser: the room of conversations, and beside it the home itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from navloom.errors import NavloomError

if TYPE_CHECKING:
    from navloom.graphs.chat.state import Context
    from navloom.web.documents import Documents
    from navloom.web.serving import Place


def serve_chat(
    make: Callable[[], Context],
    uri: str,
    folder: Path,
    place: Place,
    *,
    opens: bool,
    first: str | None,
    start: Mapping[str, Any],
    **how: Any,
) -> None:
    """Serve until Ctrl-C.

    Args:
        make: a conversation's context.
        uri: the home.
        folder: where threads are kept.
        place: where to listen.
        opens: whether a browser is opened.
        first: the thread that is opened; None: a new one.
        start: of new ones, the chat graph's input.
        how: pace and seed.
    """
    from navloom.web.chat_room import ChatRoom
    from navloom.web.serving import serve_pages

    room = ChatRoom(make, folder, first=first, start=start, **how)
    to = f"/chat/{first}" if first else "/chat"
    serve_pages(_documents(uri), place, rooms=[room], opens=opens, first=to, said=f"chat in {uri}:")


def _documents(uri: str) -> Documents:
    """The home's own pages; none of one that only simulators know."""
    from navloom.web.documents import Documents
    from navloom.web.opening import open_sources

    try:
        return Documents(open_sources([uri], lambda _: None))
    except NavloomError:
        return Documents([])
