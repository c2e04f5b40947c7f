"""The room in which raters walk: what their keys say goes in, what they see comes out.

    POST /walk/begin     an item of the rater's, or the practice (item empty); goes on where it was
    POST /walk/tell      keys that are held, a way to hop, the stop, a pause
    GET  /walk/frame     what is seen: a JPEG, and in ``X-Walk`` how far the walk is

A rater walks one item at a time; one that another page of theirs begins takes the place of the one
before. A walk that is left is kept, and goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from navloom.errors import NavloomError, StoppedError, UsageError
from navloom.evals.navigation.run import EvalPlan
from navloom.evals.people.study_folder import WALKS
from navloom.evals.session import Sample
from navloom.models.secrets import one_line
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.uri import scene_of
from navloom.web.people_room import PeopleRoom, Seat
from navloom.web.room import WebRoom, told
from navloom_worlds.walks.live_walk import SIZES, LiveWalk
from navloom_worlds.walks.walks import Walks, walk_plan

MOST_WALKS = 12
"""Walks at once: more than a machine has time for."""
_PATHS = ("/walk/begin", "/walk/tell", "/walk/frame")


class _Begin(BaseModel):
    model_config = ConfigDict(extra="forbid")

    item: Annotated[str, Field(max_length=80)] = ""


class _Tell(BaseModel):
    """What a page tells of the walk of an item."""

    model_config = ConfigDict(extra="forbid")

    item: Annotated[str, Field(max_length=80)] = ""
    say: Literal["keys", "hop", "stop", "pause"]
    forward: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = 0.0
    turn: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = 0.0
    option: Annotated[int, Field(ge=1, le=1_000)] = 1


class WalkRoom(WebRoom):
    """Walks of the raters of studies.

    Args:
        people: the room that knows the raters.
    """

    name: ClassVar[str] = "walk"

    def __init__(self, people: PeopleRoom) -> None:
        self._people = people
        self._walks: dict[str, Walks] = {}
        self._live: dict[tuple[str, str], LiveWalk] = {}
        self._beginning = asyncio.Lock()
        people.when_withdrawn.append(self._forget)

    def admits(self, token: str, path: str) -> bool:
        """A rater's token opens the rater's walk."""
        return path in _PATHS and self._people.seat(token) is not None

    def routes(self) -> Sequence[Route]:
        """See the module."""
        return [
            Route("/walk/begin", self._begin, methods=["POST"]),
            Route("/walk/tell", self._tell, methods=["POST"]),
            Route("/walk/frame", self._frame),
        ]

    async def _begin(self, request: Request) -> Response:
        seat, asked = self._people.seat_of(request), await told(request, _Begin)
        async with self._beginning:
            walk = await self._begun(seat, asked.item)
        return JSONResponse(walk)

    async def _begun(self, seat: Seat, item: str) -> dict[str, object]:
        key = (str(seat.people.path), seat.rater.name)
        part = seat.people.last(seat.rater.name).get("")
        if part is None or part.status != "consented":
            raise UsageError("you take no part: agree on the form's first page before you walk")
        walks = await self._open(seat)
        there = self._live.get(key)
        if there is not None and there.name == item and there.phase in ("walking", "paused"):
            there.hear()
            return there.record()
        if there is not None:
            await _left(there)
            del self._live[key]
        sample = walks.sample(seat.rater.name, item) if item else None
        if sample is not None and walks.done(sample):
            return {"item": item, "phase": "done", "motion": walks.motion}
        if sum(each.phase in ("loading", "walking") for each in self._live.values()) >= MOST_WALKS:
            raise UsageError(f"{MOST_WALKS} people walk here now: try again in a few minutes")
        live = self._live[key] = await self._made(walks, item, sample)
        live.task = asyncio.create_task(_walked(walks, live, sample))
        return live.record()

    async def _made(self, walks: Walks, item: str, sample: Sample | None) -> LiveWalk:
        plan = walks.plan if sample is not None else walks.practice
        scene = await asyncio.to_thread(scene_of, plan.scenes[(sample or plan.samples[0]).scene])
        seconds = 0.0 if sample is None else await walks.seconds(sample)
        return LiveWalk(item, walks.motion, scene, _body_of(plan), seconds)

    async def _open(self, seat: Seat) -> Walks:
        """The run of a study, held from its first walk on."""
        folder = str(seat.people.path)
        if folder not in self._walks:
            if any(each.page != "walk" for each in seat.people.items.values()):
                raise UsageError("nothing is walked in this study")
            plan = await asyncio.to_thread(walk_plan, seat.people)
            walks = Walks(seat.people.path / WALKS, plan)
            await walks.open()
            self._walks[folder] = walks
        return self._walks[folder]

    async def _forget(self, seat: Seat) -> None:
        """Take out what a rater walked, who withdraws."""
        folder = str(seat.people.path)
        live = self._live.pop((folder, seat.rater.name), None)
        if live is not None:
            await _left(live)
        if folder in self._walks or (seat.people.path / WALKS).exists():
            await (await self._open(seat)).forget(seat.rater.name)

    def _walk_of(self, request: Request, item: str) -> LiveWalk:
        seat = self._people.seat_of(request)
        live = self._live.get((str(seat.people.path), seat.rater.name))
        if live is None or live.name != item:
            raise UsageError("this walk is not under way: begin it, or go on where it is open")
        return live

    async def _tell(self, request: Request) -> Response:
        said = await told(request, _Tell)
        live = self._walk_of(request, said.item)
        match said.say:
            case "keys":
                live.hold(said.forward, said.turn)
            case "hop":
                live.choose(said.option)
            case "stop":
                live.stop()
            case "pause":
                live.pause()
        return JSONResponse(live.record())

    async def _frame(self, request: Request) -> Response:
        asked = request.query_params
        live = self._walk_of(request, asked.get("item", "")[:80])
        live.hear()
        heading = _number(asked.get("heading"), 100.0)
        tilt = _number(asked.get("tilt"), math.pi / 4) or 0.0
        size = min(int(_number(asked.get("size"), len(SIZES) - 1.0) or 0), len(SIZES) - 1)
        data, record = await live.picture(max(size, 0), heading, tilt)
        headers = {"X-Walk": json.dumps(record)}
        return Response(data, 200 if data else 204, headers, media_type="image/jpeg")

    async def end(self) -> None:
        """Leave every walk where it is, and let go of the runs."""
        async with self._beginning:
            for live in list(self._live.values()):
                await _left(live)
        for walks in self._walks.values():
            await walks.close()


def _number(said: str | None, most: float) -> float | None:
    """A number of an address; None where there is none, or it is beyond reason."""
    try:
        value = float(said or "")
    except ValueError:
        return None
    return value if abs(value) <= most else None


def _body_of(plan: EvalPlan) -> Embodiment:
    return plan.request.embodiment if plan.request.embodied else DEFAULT_BODY


async def _left(live: LiveWalk) -> None:
    live.leave()
    if live.task is not None:
        with suppress(asyncio.CancelledError):
            await live.task


async def _ready(walks: Walks, sample: Sample | None) -> None:
    """While whoever walked takes a break, make ready what they walk next."""
    rater = sample and sample.columns["rater"]
    left = [s for s in walks.plan.samples if s.columns["rater"] == rater and not walks.done(s)]
    if left:
        scene = await asyncio.to_thread(scene_of, walks.plan.scenes[left[0].scene])
        live = LiveWalk("", walks.motion, scene, _body_of(walks.plan))
        await asyncio.to_thread(live.prepare, walks.plan.episodes[left[0].id].start)


async def _walked(walks: Walks, live: LiveWalk, sample: Sample | None) -> None:
    """Take a walk to its end; what goes wrong is said on the page."""
    try:
        plan = walks.plan if sample is not None else walks.practice
        start = plan.episodes[(sample or plan.samples[0]).id].start
        await asyncio.to_thread(live.prepare, start)
        if sample is None:
            await walks.rehearse(live)
        else:
            await walks.walk(sample, live)
        live.phase = "done"
        await _ready(walks, sample)
    except StoppedError:
        live.phase = "paused"
    except NavloomError as error:
        live.phase, live.said = "broken", str(error)
    except Exception as error:
        # The page goes on with the next one; what went wrong is for us to mend.
        live.phase, live.said = "broken", f"a defect of Navloom: {one_line(error)}"
