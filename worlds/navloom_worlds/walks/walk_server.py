"""Web endpoints for raters who walk episodes: key input, and the rendered view.

    POST /walk/begin     start or resume an item of the rater's, or the practice (item empty)
    POST /walk/tell      held keys, a hop, the stop, a pause
    GET  /walk/frame     the current view: a JPEG, and in ``X-Walk`` the state of the walk

A rater walks one item at a time; starting one on another page replaces the walk before. A walk that
is left is saved, and resumes where it was.

The held keys are those of the page's last message; a key released before the next 50 ms counts
once. If the page is silent for a second, all keys are released; after some more seconds the walk
and its clock pause. Images are rendered on a separate thread, so that poses keep their timing.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from navloom.errors import NavloomError, StoppedError, UsageError
from navloom.evals.navigation.run import EvalPlan
from navloom.evals.people.study_folder import WALKS
from navloom.evals.session import Sample
from navloom.graphs.navigation.human_input import HumanInput, HumanObservation
from navloom.graphs.navigation.teleoperation import TICK_S, nearest_visible
from navloom.models.redaction import error_line
from navloom.scenes.bodies import DEFAULT_BODY, SETTLE_M, Embodiment, FloorPose
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.sim.protocol import Pose
from navloom.sim.views import MARK_M
from navloom.web.rating_service import RaterAccess, RatingService
from navloom.web.web_service import WebService, parse_body
from navloom_worlds.motion.collision_motion import mover_of
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.embedded import scene_renderer, sensor_camera
from navloom_worlds.rendering.sensors import Sensor
from navloom_worlds.walks.walk_run import Motion, WalkRun, walk_plan

MOST_SECONDS = 300.0
"""Time limit of one walk, without pauses."""
SIZES = ((480, 360), (400, 300), (320, 240))
"""Image sizes in pixels; the page requests a smaller one if images arrive slowly."""
_UNHEARD_S, _GONE_S = 1.0, 4.0
_LATE_S = 0.25
_EYES = ThreadPoolExecutor(1, thread_name_prefix="navloom.eyes")
Phase = Literal["loading", "walking", "paused", "done", "broken"]


class LiveWalk:
    """Walk of one rater, as the person that the graph queries.

    Args:
        name: name of the item; empty for the practice.
        motion: the kind of motion.
        scene: the loaded scene.
        body: the embodiment.
        seconds: duration before this session.

    Attributes:
        phase: its state.
        said: the error message, if it is broken.
        task: the task that runs the graph.
    """

    def __init__(
        self, name: str, motion: Motion, scene: Scene, body: Embodiment, seconds: float = 0.0
    ) -> None:
        self.name, self.motion, self.scene, self.body = name, motion, scene, body
        self.phase: Phase = "loading"
        self.said = ""
        self.task: asyncio.Task[None] | None = None
        self._standing: HumanObservation | None = None
        self._before, self._since = seconds, 0.0
        self._forward = self._turn = 0.0
        self._tapped = (0.0, 0.0)
        self._wish: tuple[Literal["", "stop"], int] | None = None
        self._due = 0.0
        self._left = False
        self._looking = 0
        self._heard = time.monotonic()
        self._told = asyncio.Event()
        self._touched = ("", 0.0)

    # Input from the page.

    def hear(self) -> None:
        """Record that the page is alive."""
        self._heard = time.monotonic()

    def hold(self, forward: float, turn: float) -> None:
        """Set the held keys."""
        self.hear()
        self._forward, self._turn = forward, turn
        self._tapped = (forward or self._tapped[0], turn or self._tapped[1])
        self._go_on()

    def choose(self, option: int) -> None:
        """Hop to an option."""
        self._wished("", option)

    def stop(self) -> None:
        """End the walk at the current pose."""
        self._wished("stop", 0)

    def _wished(self, said: Literal["", "stop"], option: int) -> None:
        self.hear()
        if self._standing is not None:
            self._wish = (said, option)
        self._go_on()
        self._told.set()

    def pause(self) -> None:
        """Stop the clock until the page is used again."""
        if self.phase == "walking":
            self._before, self._since = self.seconds, 0.0
            self._forward = self._turn = 0.0
            self.phase = "paused"

    def _go_on(self) -> None:
        if self.phase == "paused":
            self.phase, self._since = "walking", time.monotonic()
            self._told.set()

    def leave(self) -> None:
        """Leave the walk; it is saved and can be resumed."""
        self._left = True
        self._told.set()

    @property
    def seconds(self) -> float:
        """Duration of the walk so far in seconds, without pauses."""
        return self._before + (time.monotonic() - self._since if self._since else 0.0)

    # Requests from the graph.

    async def wish(self, standing: HumanObservation) -> HumanInput:
        """Wait for the action of the person at the page, and return it."""
        if standing.touched:
            self._touched = (standing.touched, time.monotonic())
        self._standing = standing
        if self.phase == "loading":
            self.phase, self._since = "walking", time.monotonic()
        while True:
            self._told.clear()
            await self._wait()
            if self._left:
                raise StoppedError("the page was left")
            if self.phase != "walking":
                continue
            if self.seconds >= MOST_SECONDS:
                return HumanInput(self.seconds, "time")
            if self._wish is not None:
                (said, option), self._wish = self._wish, None
                if said == "" and option not in [each.id for each in standing.options]:
                    continue
                return HumanInput(self.seconds, said, option)
            if self.motion == "continuous":
                return self._keys()

    async def _wait(self) -> None:
        """Wait for the next 50 ms tick, or for a message from the page."""
        unheard = time.monotonic() - self._heard
        if unheard > _UNHEARD_S:
            self._forward = self._turn = 0.0
        # While an image is rendered the page may be silent.
        if unheard > _GONE_S and not self._looking:
            self.pause()
        if self.phase == "walking" and self.motion == "continuous":
            now = time.monotonic()
            if now - self._due > _LATE_S:
                self._due = now
            await asyncio.sleep(max(self._due - now, 0.0))
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._told.wait(), 1.0)

    def _keys(self) -> HumanInput:
        self._due += TICK_S
        forward, turn = self._forward or self._tapped[0], self._turn or self._tapped[1]
        self._tapped = (0.0, 0.0)
        return HumanInput(self.seconds, forward=forward, turn=turn)

    # Output to the page.

    def prepare(self, start: str) -> None:
        """Load what images and motion need, which may take seconds the first time.

        Args:
            start: the start viewpoint.
        """
        place = self.scene.viewpoint_by_id[start].ground
        _jpeg(self.scene, self._camera(Pose(place, 0.0, 0.0, start), 0, 0.0))
        if self.motion == "continuous":
            mover = mover_of(self.scene, self.body)
            stand = mover.settled(FloorPose(place, 0.0), reach=SETTLE_M)
            if stand is not None:
                mover.drive(stand, self.body.speed, self.body.turn_speed, TICK_S)
            nearest_visible(self.scene, place, start)

    def _camera(self, pose: Pose, size: int, tilt: float) -> Camera:
        width, height = SIZES[size]
        sensor = Sensor("rgb", width=width, height=height, fov=math.pi / 2, elevation=tilt)
        return sensor_camera(self.scene, pose, sensor, self.body.height)

    def record(self) -> dict[str, Any]:
        """Return the walk's state as JSON."""
        standing, (touched, when) = self._standing, self._touched
        return {
            "item": self.name,
            "phase": self.phase,
            "motion": self.motion,
            "said": self.said,
            "seconds": round(self.seconds, 2),
            "steps": standing.steps if standing else 0,
            "heading": round(standing.pose.heading, 4) if standing else 0.0,
            "touched": touched if time.monotonic() - when < 1.0 else "",
        }

    async def picture(
        self, size: int, heading: float | None, tilt: float
    ) -> tuple[bytes, dict[str, Any]]:
        """Return a JPEG of the current view, and the walk's state.

        Args:
            size: index in ``SIZES``.
            heading: the rater's viewing direction in radians; None for the body's.
            tilt: radians upwards.

        Returns:
            A JPEG, and :meth:`record` with ``marks``: for each visible candidate its number, its
            position from the left and from the top, 0 to 1, and metres.
        """
        standing = self._standing
        if standing is None:
            return b"", self.record()
        pose = standing.pose if heading is None else replace(standing.pose, heading=heading)
        camera = self._camera(pose, size, tilt)
        told = {**self.record(), "marks": list(_marks(self.scene, standing, camera))}
        loop = asyncio.get_running_loop()
        self._looking += 1
        try:
            return await loop.run_in_executor(_EYES, _jpeg, self.scene, camera), told
        finally:
            self._looking -= 1
            self.hear()


def _jpeg(scene: Scene, camera: Camera) -> bytes:
    from PIL import Image

    pixels, file = scene_renderer(scene).frame(camera).read("rgb"), BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=82)
    return file.getvalue()


def _marks(scene: Scene, standing: HumanObservation, camera: Camera) -> Iterator[list[float]]:
    """Yield the candidates that are visible in an image."""
    half = math.tan(camera.fov / 2)
    for option in standing.options:
        x, y, z = scene.viewpoint_by_id[option.viewpoint].ground
        way = np.array([x, y + MARK_M, z]) - np.array(camera.position)
        right, up, ahead = (float(way @ axis) for axis in camera.axes)
        if ahead < 0.1:
            continue
        u = 0.5 + right / ahead / half / 2
        v = 0.5 - up / ahead / half / 2 * camera.width / camera.height
        if 0 < u < 1:
            metres = math.hypot(way[0], way[2])
            yield [option.id, round(u, 4), round(min(max(v, 0.0), 0.96), 4), round(metres, 2)]


MOST_WALKS = 12
"""Maximum number of simultaneous walks."""
_PATHS = ("/walk/begin", "/walk/tell", "/walk/frame")


class _Begin(BaseModel):
    model_config = ConfigDict(extra="forbid")

    item: Annotated[str, Field(max_length=80)] = ""


class _Tell(BaseModel):
    """Message from the page about the walk of an item."""

    model_config = ConfigDict(extra="forbid")

    item: Annotated[str, Field(max_length=80)] = ""
    say: Literal["keys", "hop", "stop", "pause"]
    forward: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = 0.0
    turn: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = 0.0
    option: Annotated[int, Field(ge=1, le=1_000)] = 1


class WalkServer(WebService):
    """Web room for the walks of the raters of studies.

    Args:
        people: the room that manages the raters.
    """

    name: ClassVar[str] = "walk"

    def __init__(self, people: RatingService) -> None:
        self._people = people
        self._walks: dict[str, WalkRun] = {}
        self._live: dict[tuple[str, str], LiveWalk] = {}
        self._beginning = asyncio.Lock()
        people.when_withdrawn.append(self._forget)

    def admits(self, token: str, path: str) -> bool:
        """Check whether a token is a rater's and the path one of the walks."""
        return path in _PATHS and self._people.seat(token) is not None

    def routes(self) -> Sequence[Route]:
        """Return the routes; see the module."""
        return [
            Route("/walk/begin", self._begin, methods=["POST"]),
            Route("/walk/tell", self._tell, methods=["POST"]),
            Route("/walk/frame", self._frame),
        ]

    async def _begin(self, request: Request) -> Response:
        seat, asked = self._people.seat_of(request), await parse_body(request, _Begin)
        async with self._beginning:
            walk = await self._begun(seat, asked.item)
        return JSONResponse(walk)

    async def _begun(self, seat: RaterAccess, item: str) -> dict[str, object]:
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

    async def _made(self, walks: WalkRun, item: str, sample: Sample | None) -> LiveWalk:
        plan = walks.plan if sample is not None else walks.practice
        scene = await asyncio.to_thread(get_scene, plan.scenes[(sample or plan.samples[0]).scene])
        seconds = 0.0 if sample is None else await walks.seconds(sample)
        return LiveWalk(item, walks.motion, scene, _body_of(plan), seconds)

    async def _open(self, seat: RaterAccess) -> WalkRun:
        """Return the run of a study, opened at its first walk."""
        folder = str(seat.people.path)
        if folder not in self._walks:
            if any(each.page != "walk" for each in seat.people.items.values()):
                raise UsageError("nothing is walked in this study")
            plan = await asyncio.to_thread(walk_plan, seat.people)
            walks = WalkRun(seat.people.path / WALKS, plan)
            await walks.open()
            self._walks[folder] = walks
        return self._walks[folder]

    async def _forget(self, seat: RaterAccess) -> None:
        """Delete the walks of a rater who withdraws."""
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
        said = await parse_body(request, _Tell)
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
        """Leave all walks, and close the runs."""
        async with self._beginning:
            for live in list(self._live.values()):
                await _left(live)
        for walks in self._walks.values():
            await walks.close()


def _number(said: str | None, most: float) -> float | None:
    """Parse a number of a query; return None if it is missing, invalid or too large."""
    try:
        value = float(said or "")
    except ValueError:
        return None
    return value if abs(value) <= most else None


def _body_of(plan: EvalPlan) -> Embodiment:
    return plan.request.embodiment if plan.request.uses_body else DEFAULT_BODY


async def _left(live: LiveWalk) -> None:
    live.leave()
    if live.task is not None:
        with suppress(asyncio.CancelledError):
            await live.task


async def _ready(walks: WalkRun, sample: Sample | None) -> None:
    """Prepare the rater's next walk in the break after one."""
    rater = sample and sample.columns["rater"]
    left = [s for s in walks.plan.samples if s.columns["rater"] == rater and not walks.done(s)]
    if left:
        scene = await asyncio.to_thread(get_scene, walks.plan.scenes[left[0].scene])
        live = LiveWalk("", walks.motion, scene, _body_of(walks.plan))
        await asyncio.to_thread(live.prepare, walks.plan.episodes[left[0].id].start)


async def _walked(walks: WalkRun, live: LiveWalk, sample: Sample | None) -> None:
    """Run a walk to its end; errors are shown on the page."""
    try:
        plan = walks.plan if sample is not None else walks.practice
        start = plan.episodes[(sample or plan.samples[0]).id].start
        await asyncio.to_thread(live.prepare, start)
        if sample is None:
            await walks.walk_practice(live)
        else:
            await walks.walk(sample, live)
        live.phase = "done"
        await _ready(walks, sample)
    except StoppedError:
        live.phase = "paused"
    except NavloomError as error:
        live.phase, live.said = "broken", str(error)
    except Exception as error:
        # The page continues with the next item; the defect is reported there.
        live.phase, live.said = "broken", f"a defect of Navloom: {error_line(error)}"
