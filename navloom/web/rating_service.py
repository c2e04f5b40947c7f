"""Routes for the raters of a human study: a rater's token opens that rater's form and nothing else.

    GET  /people/me          the form, the rater's progress, whether they take part
    GET  /people/item/K      the K-th of the rater's items, from 0, with their answer
    GET  /people/plan/KEY    the plan of one of their scenes
    POST /people/say         an answer to an item, or consent or withdrawal
    GET  /people/links       every rater's link; for the owner alone

An item's tags and reference answers never leave the server. Nothing is stored about who connects:
no address, no browser, no time of day.
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
from navloom.evals.people import study_folder
from navloom.evals.people.rating_form import Answer
from navloom.evals.people.ratings_file import RatingsWriter
from navloom.models.redaction import register_secret
from navloom.web.documents import Documents, NoDocumentError
from navloom.web.study_source import StudySource, form_record, plan_keys, rater_item
from navloom.web.web_service import WebService, parse_body

_OPEN = re.compile(r"/people/(?:me|say|item/\d{1,5}|plan/[0-9a-f]{16})")
"""Paths that a rater's token opens."""


@dataclass(frozen=True)
class RaterAccess:
    """A rater and a study, as a token opens them.

    Attributes:
        ratings: the study's answers.
        rater: the rater.
    """

    ratings: RatingsWriter
    rater: study_folder.Rater

    @property
    def people(self) -> study_folder.PeopleStudy:
        """The current state of the study."""
        return self.ratings.people

    def item(self, place: int) -> study_folder.RatedItem:
        """Return the rater's item at a place, counted from 0.

        Raises:
            NoDocumentError: there is no such item.
        """
        if not 0 <= place < len(self.rater.items):
            raise NoDocumentError(f"there is no item {place + 1} of {len(self.rater.items)}")
        return self.people.items[self.rater.items[place]]


class _Told(BaseModel):
    """An answer from a rater's page; without an item it says whether they take part."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(max_length=40)]
    item: Annotated[str, Field(max_length=80)] = ""
    status: Literal["consented", "answered", "skipped", "withdrawn"]
    answers: dict[Annotated[str, Field(max_length=80)], Answer] = Field(
        default_factory=dict, max_length=40
    )
    seconds: float = 0.0


class RatingService(WebService):
    """Human studies, open for their raters.

    Args:
        folders: of the studies.

    Attributes:
        when_withdrawn: called with a rater who withdraws all answers.

    Raises:
        RunError: another process has a study open, or a study is broken.
    """

    name: ClassVar[str] = "people"

    def __init__(self, folders: Sequence[Path]) -> None:
        self._seats: dict[str, RaterAccess] = {}
        self._open: list[RatingsWriter] = []
        self._plans: dict[str, Documents] = {}
        self.when_withdrawn: list[Callable[[RaterAccess], Awaitable[None]]] = []
        try:
            for folder in folders:
                self._let_in(folder)
        except BaseException:
            self._close()
            raise

    def _let_in(self, folder: Path) -> None:
        ratings = RatingsWriter(folder)
        self._open.append(ratings)
        raters = {each.name: each for each in ratings.people.file.raters}
        for name, token in study_folder.read_rater_tokens(folder).items():
            if name in raters and len(token) >= 16:
                register_secret(token, "rater's token")
                self._seats[token] = RaterAccess(ratings, raters[name])

    def admits(self, token: str, path: str) -> bool:
        """Check whether a token is a rater's and the path belongs to the rater's form."""
        return bool(_OPEN.fullmatch(path)) and self.seat(token) is not None

    def seat(self, token: str) -> RaterAccess | None:
        """Return the seat that a token opens; None if it is no rater's token."""
        given, found = token.encode(errors="replace"), None
        for known, seat in self._seats.items():
            # All tokens are compared, so that the time taken reveals nothing.
            if hmac.compare_digest(known.encode(), given):
                found = seat
        return found

    def seat_of(self, request: Request) -> RaterAccess:
        """Return the seat of a request.

        Raises:
            UsageError: the token is the owner's and not a rater's.
        """
        seat = self.seat(request.headers.get("x-navloom-token", ""))
        if seat is None:
            raise UsageError("this is a rater's page: open a rater's link")
        return seat

    def routes(self) -> Sequence[Route]:
        """Return the routes listed in the module's docstring."""
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
            raise NoDocumentError("there is no such plan")
        study = str(seat.people.path)
        if study not in self._plans:
            self._plans[study] = Documents([StudySource(seat.people.path)])
        return JSONResponse(await run_in_threadpool(self._plans[study].get, f"plan/{key}"))

    async def _say(self, request: Request) -> Response:
        seat = self.seat_of(request)
        said = await parse_body(request, _Told)
        try:
            rating = study_folder.Rating(rater=seat.rater.name, **said.model_dump())
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
        # Only the server's own token gets here: `admits` refuses raters.
        return JSONResponse([
            {"study": str(ratings.people.path.name), "title": ratings.people.form.title,
             "links": [{"rater": seat.rater.name, "token": token, **progress_record(seat)}
                       for token, seat in self._seats.items() if seat.ratings is ratings]}
            for ratings in self._open
        ])  # fmt: skip

    async def end(self) -> None:
        """Close the studies."""
        self._close()

    def _close(self) -> None:
        for ratings in self._open:
            ratings.close()


def _first(error: Exception) -> str:
    from pydantic import ValidationError

    from navloom.scenes.safe_files import first_problem

    return first_problem(error) if isinstance(error, ValidationError) else str(error)


def progress_record(seat: RaterAccess) -> dict[str, Any]:
    """Return the status of each of a rater's items, and whether they take part."""
    last = seat.people.last(seat.rater.name)
    part = last.get("")
    return {
        "part": "" if part is None else part.status,
        "items": [last[name].status if name in last else "" for name in seat.rater.items],
    }


def item_record(seat: RaterAccess, place: int) -> dict[str, Any]:
    """Return an item as JSON for its rater, with their latest answer.

    Raises:
        NoDocumentError: there is no item at this place.
    """
    item = seat.item(place)
    said = seat.people.last(seat.rater.name).get(item.id)
    kept = {"status", "answers", "seconds"}
    told = None if said is None else said.model_dump(mode="json", include=kept)
    return {**rater_item(item), "said": told}
