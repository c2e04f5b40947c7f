"""The room of a people's study: a rater's token opens the rater's own form and nothing else.

    GET  /people/me          the form, how far the rater is, whether they take part
    GET  /people/item/K      the K-th of the rater's items, from 0, with what they said of it
    GET  /people/plan/KEY    a scene of theirs from above
    POST /people/say         what they say of an item, or whether they take part
    GET  /people/links       every rater's link; for the owner alone

What is known of an item never leaves the server, and nothing is kept of who asks: no address, no
browser, no time of day.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from navloom.errors import UsageError
from navloom.evals.people.form import Answer
from navloom.evals.people.ratings_file import RatingsFile
from navloom.evals.people.study_folder import Item, People, Rater, Rating, read_links
from navloom.models.secrets import remember
from navloom.web.documents import Documents, NotThereError
from navloom.web.people_source import PeopleSource, form_record, plan_keys, shown_record
from navloom.web.room import WebRoom, told

_OPEN = re.compile(r"/people/(?:me|say|item/\d{1,5}|plan/[0-9a-f]{16})")
"""What a rater's token opens."""


@dataclass(frozen=True)
class Seat:
    """A rater of a study, as a token says.

    Attributes:
        ratings: the study's.
        rater: who.
    """

    ratings: RatingsFile
    rater: Rater

    @property
    def people(self) -> People:
        """The study as it is now."""
        return self.ratings.people

    def item(self, place: int) -> Item:
        """The rater's item of a place, from 0.

        Raises:
            NotThereError: there is none.
        """
        if not 0 <= place < len(self.rater.items):
            raise NotThereError(f"there is no item {place + 1} of {len(self.rater.items)}")
        return self.people.items[self.rater.items[place]]


class _Told(BaseModel):
    """What a rater's page says: of no item whether they take part."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(max_length=40)]
    item: Annotated[str, Field(max_length=80)] = ""
    status: Literal["consented", "answered", "skipped", "withdrawn"]
    answers: dict[Annotated[str, Field(max_length=80)], Answer] = Field(
        default_factory=dict, max_length=40
    )
    seconds: float = 0.0


class PeopleRoom(WebRoom):
    """Studies of people, open for their raters.

    Args:
        folders: of the studies.

    Attributes:
        when_withdrawn: told of a rater who takes back all that they said.

    Raises:
        RunError: another process takes the answers of one, or it is broken.
    """

    name: ClassVar[str] = "people"

    def __init__(self, folders: Sequence[Path]) -> None:
        self._seats: dict[str, Seat] = {}
        self._open: list[RatingsFile] = []
        self._plans: dict[str, Documents] = {}
        self.when_withdrawn: list[Callable[[Seat], Awaitable[None]]] = []
        try:
            for folder in folders:
                self._let_in(folder)
        except BaseException:
            self._close()
            raise

    def _let_in(self, folder: Path) -> None:
        ratings = RatingsFile(folder)
        self._open.append(ratings)
        raters = {each.name: each for each in ratings.people.file.raters}
        for name, token in read_links(folder).items():
            if name in raters and len(token) >= 16:
                remember(token, "rater's token")
                self._seats[token] = Seat(ratings, raters[name])

    def admits(self, token: str, path: str) -> bool:
        """A rater's token opens the rater's form."""
        return bool(_OPEN.fullmatch(path)) and self.seat(token) is not None

    def seat(self, token: str) -> Seat | None:
        """Whose token it is; None: no rater's."""
        given, found = token.encode(errors="replace"), None
        for known, seat in self._seats.items():
            # Each is compared, so that time says nothing of which fits.
            if hmac.compare_digest(known.encode(), given):
                found = seat
        return found

    def seat_of(self, request: Request) -> Seat:
        """Whose page asks.

        Raises:
            UsageError: the owner's, which is no rater's.
        """
        seat = self.seat(request.headers.get("x-navloom-token", ""))
        if seat is None:
            raise UsageError("this is a rater's page: open a rater's link")
        return seat

    def routes(self) -> Sequence[Route]:
        """See the module."""
        return [
            Route("/people/me", self._me),
            Route("/people/item/{place:int}", self._item),
            Route("/people/plan/{key}", self._plan),
            Route("/people/say", self._say, methods=["POST"]),
            Route("/people/links", self._links),
        ]

    async def _me(self, request: Request) -> Response:
        seat = self.seat_of(request)
        return JSONResponse({**form_record(seat.people, seat.rater.name), **progress_record(seat)})

    async def _item(self, request: Request) -> Response:
        return JSONResponse(item_record(self.seat_of(request), request.path_params["place"]))

    async def _plan(self, request: Request) -> Response:
        seat, key = self.seat_of(request), request.path_params["key"]
        if key not in plan_keys(seat.people, seat.rater):
            raise NotThereError("there is no such plan")
        study = str(seat.people.path)
        if study not in self._plans:
            self._plans[study] = Documents([PeopleSource(seat.people.path)])
        return JSONResponse(await run_in_threadpool(self._plans[study].get, f"plan/{key}"))

    async def _say(self, request: Request) -> Response:
        seat = self.seat_of(request)
        said = await told(request, _Told)
        try:
            rating = Rating(rater=seat.rater.name, **said.model_dump())
        except ValueError as error:
            raise UsageError(f"this cannot be told here: {_first(error)}") from error
        if rating.item and seat.rater.name in seat.people.withdrawn:
            raise UsageError("you have withdrawn: take part again before you answer")
        new = seat.ratings.say(rating)
        if rating.status == "withdrawn" and not rating.item:
            for forget in self.when_withdrawn:
                await forget(seat)
        return JSONResponse({"new": new, **progress_record(seat)})

    async def _links(self, _: Request) -> Response:
        # Only the server's own token comes here: `admits` lets no rater in.
        return JSONResponse([
            {"study": str(ratings.people.path.name), "title": ratings.people.form.title,
             "links": [{"rater": seat.rater.name, "token": token, **progress_record(seat)}
                       for token, seat in self._seats.items() if seat.ratings is ratings]}
            for ratings in self._open
        ])  # fmt: skip

    async def end(self) -> None:
        """Let go of the studies."""
        self._close()

    def _close(self) -> None:
        for ratings in self._open:
            ratings.close()


def _first(error: Exception) -> str:
    from pydantic import ValidationError

    from navloom.scenes.checked_files import first_problem

    return first_problem(error) if isinstance(error, ValidationError) else str(error)


def progress_record(seat: Seat) -> dict[str, Any]:
    """What a rater has said of which of their items, and whether they take part."""
    last = seat.people.last(seat.rater.name)
    part = last.get("")
    return {
        "part": "" if part is None else part.status,
        "items": [last[name].status if name in last else "" for name in seat.rater.items],
    }


def item_record(seat: Seat, place: int) -> dict[str, Any]:
    """An item as a rater is shown it, with what they said of it.

    Raises:
        NotThereError: there is none of the place.
    """
    item = seat.item(place)
    said = seat.people.last(seat.rater.name).get(item.id)
    kept = {"status", "answers", "seconds"}
    told = None if said is None else said.model_dump(mode="json", include=kept)
    return {**shown_record(item), "said": told}
