"""Interactive services of the web interface: routes that accept input, such as a chat or a form.

Documents are read-only. A service answers below ``/NAME/`` and nowhere else. The server's own token
opens every service. A service may accept further tokens, each only for the paths that
`WebService.admits` allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.routing import Route

from navloom.errors import UsageError
from navloom.scenes.safe_files import first_problem

MOST_TOLD = 256 * 1024
"""Limit of a request body in bytes."""
Told = TypeVar("Told", bound=BaseModel)


class WebService(ABC):
    """Base class of an interactive service: a group of routes for reading and writing."""

    name: ClassVar[str]
    """First part of its paths and of its pages' addresses: ``/chat/...`` and ``#/chat/...``."""

    @abstractmethod
    def routes(self) -> Sequence[Route]:
        """Return the service's routes; each path begins with ``/NAME``.

        For an invalid request a handler raises a NavloomError with a one-line message.
        """

    def admits(self, token: str, path: str) -> bool:
        """Check whether a token other than the server's may request a path of this service.

        Args:
            token: the token sent; compare it in constant time.
            path: the whole path of the request.
        """
        del token, path
        return False

    async def begin(self) -> None:
        """Start the service; called in the server's event loop, before the first request."""
        return

    async def end(self) -> None:
        """Release resources; called when the server ends, and again after the last request."""
        return


async def parse_body(request: Request, model: type[Told]) -> Told:
    """Parse and validate the JSON body of a request.

    Raises:
        UsageError: the body does not match the model; the message is one line.
    """
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise UsageError(f"this cannot be told here: {first_problem(error)}") from error
