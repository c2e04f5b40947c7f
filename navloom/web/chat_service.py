"""Routes of the web chat: conversations in one home, their list, saved files and views."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from navloom.errors import UsageError
from navloom.graphs.chat import threads
from navloom.graphs.chat.chat_turn import MOST_SAID, input_fault
from navloom.graphs.chat.state import Context
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.plan_style import to_words
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Pose, Simulator
from navloom.sim.scene_images import can_render
from navloom.tools.chat.places import unique_name
from navloom.web.chat_session import LiveChat, page_pose
from navloom.web.web_service import WebService, parse_body

_LINGER_S = 15.0
"""Seconds that an unwatched thread stays open; reloading a page takes less."""
_ENDED = "The server has ended: start it again to go on."
_VIEW = 320
"""Width and height of each view in pixels."""


class _Of(BaseModel):
    model_config = ConfigDict(extra="forbid")

    thread: str = Field(max_length=64)


class _Say(_Of):
    words: str


class _Undo(_Of):
    to: int | None = Field(default=None, ge=0)


class _Named(_Of):
    name: str = Field(max_length=300)


class _SavedFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=300)
    text: str


class ChatService(WebService):
    """Conversations in one home.

    Args:
        make: makes a conversation's context, with a simulator of its own; called once here, so that
            errors show at once.
        folder: folder of the threads.
        first: the thread that a page opens first; None: a new one.
        start: the chat graph's input for new threads.
        pace: seconds that a hop is shown.
        seed: seed of new threads.
    """

    name = "chat"

    def __init__(
        self,
        make: Callable[[], Context],
        folder: Path,
        *,
        first: str | None = None,
        start: Mapping[str, Any] | None = None,
        pace: float = 0.35,
        seed: int = 0,
    ) -> None:
        self._make, self._folder, self._first = make, folder, first
        self._start, self._how = dict(start or {}), {"pace": pace, "seed": seed}
        self._spare: list[Context] = [make()]
        simulator = self._spare[0].simulator
        assert isinstance(simulator, Simulator)  # noqa: S101  the command makes one
        self._scene: Scene = simulator.scene
        self._body = self._spare[0].embodiment.name
        # Views from a backend come from a separate simulator, not from a conversation's own.
        self._sees = "rgb" in simulator.capabilities and not can_render(self._scene)
        self._eye: Simulator | None = None
        self._settings = copy_context()
        self._sittings: dict[str, LiveChat] = {}
        self._opening, self._drawing = asyncio.Lock(), asyncio.Lock()
        self._leaving: set[asyncio.Task[None]] = set()
        self._plan: dict[str, Any] | None = None
        self._ended = False

    def routes(self) -> Sequence[Route]:
        """Return the routes: POST for words, stop, undo, model, threads; GET for the rest."""
        posts = {
            "say": self._say, "stop": self._stop, "undo": self._undo, "model": self._model,
            "new": self._new, "rename": self._rename, "delete": self._delete,
            "replay": self._replay,
        }  # fmt: skip
        gets = {
            "threads": self._threads, "home": self._home, "events/{thread}": self._events,
            "view/{thread}": self._view, "save/{thread}": self._save, "map/{thread}": self._map,
            "name/{place:path}": self._name,
        }  # fmt: skip
        return [
            *(Route(f"/chat/{path}", act, methods=["POST"]) for path, act in posts.items()),
            *(Route(f"/chat/{path}", act, methods=["GET"]) for path, act in gets.items()),
        ]

    async def end(self) -> None:
        """Stop every robot where it is and close its thread, which can be resumed there."""
        self._ended = True
        for each in self._leaving:
            each.cancel()
        async with self._opening:
            for name in list(self._sittings):
                await self._close(name, {"why": _ENDED})
        if self._eye is not None:
            self._eye.close()
            self._eye = None

    # Open threads.

    async def _of(self, name: str, *, new: bool = False) -> LiveChat:
        file = threads.thread_file(name, self._folder)
        async with self._opening:
            if self._ended:
                raise UsageError(_ENDED)
            if name not in self._sittings:
                if not new and not file.exists():
                    raise UsageError(f"There is no conversation '{name}': open it first.")
                sitting = LiveChat(name, self._settings, self._tell_threads)
                await sitting.open(file, self._context, self._start, **self._how)
                self._sittings[name] = sitting
                self._leave_later(name)
            return self._sittings[name]

    def _context(self) -> Context:
        return self._spare.pop() if self._spare else self._make()

    async def _close(self, name: str, why: Mapping[str, Any]) -> None:
        sitting = self._sittings.pop(name, None)
        if sitting is not None and not await sitting.close(why):
            # An empty conversation is not worth keeping.
            await asyncio.to_thread(threads.delete_thread, self._folder, name)

    def _leave_later(self, name: str) -> None:
        """Schedule to close a thread that nobody watches, so that a terminal can open it."""
        task = asyncio.create_task(self._leave(name, self._sittings[name]))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _leave(self, name: str, sitting: LiveChat) -> None:
        idle = 0.0
        while idle < _LINGER_S and sitting.gone is None:
            await asyncio.sleep(_LINGER_S / 5)
            idle = 0.0 if sitting.watchers or sitting.busy else idle + _LINGER_S / 5
        async with self._opening:
            if self._sittings.get(name) is sitting and not sitting.watchers:
                await self._close(name, {"why": "Nobody was looking: open it again."})

    def _tell_threads(self) -> None:
        for each in self._sittings.values():
            each.tell_threads()

    # POST handlers.

    async def _say(self, request: Request) -> Response:
        said = await parse_body(request, _Say)
        # Refuse invalid words before a thread is opened, so that the page keeps them.
        if fault := input_fault(said.words):
            raise UsageError(fault)
        (await self._of(said.thread, new=True)).hear(said.words)
        return JSONResponse({})

    async def _stop(self, request: Request) -> Response:
        sitting = await self._of((await parse_body(request, _Of)).thread)
        if sitting.busy:
            sitting.hear(None)
        return JSONResponse({})

    async def _undo(self, request: Request) -> Response:
        asked = await parse_body(request, _Undo)
        words = await (await self._of(asked.thread)).undo(asked.to)
        return JSONResponse({"words": words})

    async def _model(self, request: Request) -> Response:
        asked = await parse_body(request, _Named)
        (await self._of(asked.thread)).use_model(asked.name)
        return JSONResponse({})

    async def _new(self, request: Request) -> Response:
        await parse_body(request, _Empty)
        return JSONResponse({"thread": self._free_name()})

    async def _rename(self, request: Request) -> Response:
        asked = await parse_body(request, _Named)
        file, to = (threads.thread_file(each, self._folder) for each in (asked.thread, asked.name))
        async with self._opening:
            mine = asked.thread in self._sittings
            if mine and not to.exists() and asked.name not in self._sittings:
                await self._close(asked.thread, {"to": asked.name})
            # Closing deleted an empty thread; it starts again under its new name.
            if file.exists() or not mine:
                await asyncio.to_thread(
                    threads.rename_thread, self._folder, asked.thread, asked.name
                )
        self._tell_threads()
        return JSONResponse({"thread": asked.name})

    async def _delete(self, request: Request) -> Response:
        name = (await parse_body(request, _Of)).thread
        file = threads.thread_file(name, self._folder)
        async with self._opening:
            mine = name in self._sittings
            await self._close(name, {"why": f"'{name}' was deleted."})
            if file.exists() or not mine:
                await asyncio.to_thread(threads.delete_thread, self._folder, name)
        self._tell_threads()
        return JSONResponse({})

    async def _replay(self, request: Request) -> Response:
        asked = await parse_body(request, _SavedFile)
        saved = threads.parse_chat(asked.text.encode(errors="replace"), asked.name, self._scene)
        lines = [line.model_dump() for line in saved.transcript]
        poses = [page_pose(self._scene, pose) for pose in saved.trail]
        return JSONResponse({"lines": lines, "poses": poses})

    # GET handlers.

    async def _events(self, request: Request) -> Response:
        sitting = await self._of(request.path_params["thread"], new=True)
        events = sitting.events(request.query_params.get("after", ""))
        return StreamingResponse(events, media_type="text/event-stream")

    async def _threads(self, request: Request) -> Response:  # noqa: ARG002
        # The lock keeps a thread that is just being created from looking broken.
        async with self._opening:
            found, notes = await threads.list_threads(self._folder)
        first = self._first or self._free_name()
        kept = sorted((self._told(each) for each in found), key=lambda each: not each["here"])
        return JSONResponse({"first": first, "threads": kept, "notes": notes})

    def _told(self, thread: threads.ChatThread) -> dict[str, Any]:
        here = thread.scene == self._scene.uri and thread.body == self._body
        words = ["navloom", "chat", thread.scene, "--display", "web", "--thread", thread.name]
        if thread.body != DEFAULT_BODY.name:
            words += ["--body", thread.body]
        return {
            "name": thread.name, "scene": thread.scene, "here": here, "when": thread.when,
            "lines": thread.lines, "last": thread.last,
            "held": thread.held and thread.name not in self._sittings,
            "command": "" if here else shlex.join(words),
        }  # fmt: skip

    def _free_name(self) -> str:
        base = re.sub(r"[^A-Za-z0-9]+", "-", self._scene.uri).strip("-")[-40:].strip("-") or "talk"
        names = (base if n == 1 else f"{base}-{n}" for n in count(1))
        return next(
            name
            for name in names
            if name not in self._sittings and not threads.thread_file(name, self._folder).exists()
        )

    async def _home(self, request: Request) -> Response:  # noqa: ARG002
        if self._plan is None:
            self._plan = await asyncio.to_thread(home_record, self._scene)
            self._plan["sees"] |= self._sees
        return JSONResponse(self._plan)

    async def _name(self, request: Request) -> Response:
        """Return the unambiguous name of a room or an item."""
        place = request.path_params["place"]
        return JSONResponse({"name": await asyncio.to_thread(unique_name, self._scene, place)})

    async def _view(self, request: Request) -> Response:
        """Return an image of what the robot sees; empty if it has moved on meanwhile."""
        sitting = await self._of(request.path_params["thread"])
        asked = len(sitting.talk.trail)
        async with self._drawing:
            if len(sitting.talk.trail) > asked or await request.is_disconnected():
                return Response(status_code=204)
            if self._sees and self._eye is None:
                made = (await asyncio.to_thread(self._make)).simulator
                assert isinstance(made, Simulator)  # noqa: S101  the command makes one
                self._eye = made
            drawn = await asyncio.to_thread(_seen, sitting, self._eye)
            return Response(drawn, media_type="image/png")

    async def _save(self, request: Request) -> Response:
        talk = (await self._of(request.path_params["thread"])).talk
        return JSONResponse(
            threads.chat_record(talk.scene, talk.transcript, talk.trail, talk.model)
        )

    async def _map(self, request: Request) -> Response:
        talk = (await self._of(request.path_params["thread"])).talk
        async with self._drawing:
            drawn = await asyncio.to_thread(threads.render_map, talk.scene, talk.trail)
        return Response(drawn, media_type="image/png")


class _Empty(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _seen(sitting: LiveChat, eye: Simulator | None) -> bytes:
    """Return the views at the robot's pose as a PNG file; cached for the last pose."""
    talk = sitting.talk
    viewpoint, heading = talk.trail[-1][:2]
    off = talk.state["pose"]["position"] if talk.state["pose"].get("beside") else None
    key = (viewpoint, heading, off)
    if sitting.view[0] != key:
        sitting.view = key, _drawn(talk.scene, viewpoint, heading, off, eye)
    return sitting.view[1]


def _drawn(scene: Scene, viewpoint: str, heading: float, off: Any, eye: Simulator | None) -> bytes:
    if eye is None:
        from navloom.sim.scene_images import candidate_panorama

        return candidate_panorama(scene, viewpoint, heading, size=_VIEW, at=off)
    from navloom.sim.views import view_pngs

    pose = Pose(scene.viewpoint_by_id[viewpoint].position, heading, 0.0, viewpoint)
    return view_pngs(eye.reset({"eye": (pose, DEFAULT_BODY)})["eye"], heading, 4, markers=True)[0]


def home_record(scene: Scene) -> dict[str, Any]:
    """Return a home as JSON for the page: plan, names of rooms and items, whether it has views.

    ``rooms`` are ``{"id", "name", "things": [{"id", "name"}, ...]}``.
    """
    from navloom.scenes.plan_data import plan_data
    from navloom.scenes.plan_svg import plan_drawing

    # Only the first item of each name; `_name` gives the exact name of one of a dozen chairs.
    things: dict[str | None, dict[str, str]] = {}
    for item in scene.items:
        things.setdefault(item.region, {}).setdefault(to_words(item.name), item.id)
    rooms = [
        {
            "id": each.id,
            "name": unique_name(scene, each.id),
            "things": [
                {"id": thing, "name": name} for name, thing in things.get(each.id, {}).items()
            ],
        }
        for each in scene.regions
    ]
    plan = plan_drawing(plan_data(scene)).record()
    return {
        "scene": scene.uri, "plan": plan, "rooms": rooms, "sees": can_render(scene),
        "most": MOST_SAID,
    }  # fmt: skip
