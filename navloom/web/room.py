"""What pages can also tell something: a conversation, a form. Documents are only ever read.

A room answers below ``/NAME/`` and nowhere else. Whoever has the server's own token may ask it all;
it may know further tokens, each of which opens what `Room.admits` says, and nothing beside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.routing import Route

from navloom.errors import UsageError
from navloom.scenes.checked_files import first_problem

MOST_TOLD = 256 * 1024
"""Bytes of what is told at once."""
Told = TypeVar("Told", bound=BaseModel)


class WebRoom(ABC):
    """Something that is looked at and told things."""

    name: ClassVar[str]
    """The first part of its addresses, and of its pages': ``/chat/...`` and ``#/chat/...``."""

    @abstractmethod
    def routes(self) -> Sequence[Route]:
        """What it answers; each path begins with ``/NAME``.

        What is wrong with a request is raised as a NavloomError of one line.
        """

    def admits(self, token: str, path: str) -> bool:
        """Whether a token that is not the server's own may ask for a path of this room.

        Args:
            token: what was sent; compare it in constant time.
            path: the whole path of the request.
        """
        del token, path
        return False

    async def begin(self) -> None:
        """Called in the server's event loop, before the first request."""
        return

    async def end(self) -> None:
        """Called when the server ends, and once more after the last one: let go of what is held."""
        return


async def told(request: Request, model: type[Told]) -> Told:
    """What was told, as it has to be.

    Raises:
        UsageError: it is something else; in one line.
    """
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise UsageError(f"this cannot be told here: {first_problem(error)}") from error
