"""Who may tell a room something, and what its guests may ask for."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from navloom.web.app import make_app
from navloom.web.documents import Documents
from navloom.web.web_service import WebService, parse_body
from tests.web.conftest import TOKEN

HERE = "http://127.0.0.1:8765"


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid")

    words: str = Field(max_length=10)


class _Echo(WebService):
    """A room that says what it was told, and whose guest may ask for one address."""

    name = "echo"

    def routes(self) -> list[Route]:
        async def say(request: Request) -> Response:
            return JSONResponse({"said": (await parse_body(request, _Told)).words})

        return [
            Route("/echo/say", say, methods=["POST"]),
            Route("/echo/own", lambda _: JSONResponse({}), methods=["GET"]),
        ]

    def admits(self, token: str, path: str) -> bool:
        return token == "guest" and path == "/echo/say"


@pytest.fixture
def room(documents: Documents) -> TestClient:
    app = make_app(documents, token=TOKEN, port=8765, rooms=[_Echo()])
    return TestClient(app, base_url=HERE, headers={"X-Navloom-Token": TOKEN, "Origin": HERE})


def test_a_room_is_told_something_by_our_own_page_alone(room: TestClient) -> None:
    assert room.post("/echo/say", json={"words": "hello"}).json() == {"said": "hello"}
    kind = {"Content-Type": "text/plain"}
    assert room.post("/echo/say", content=b'{"words": "a"}', headers=kind).status_code == 415
    assert room.post("/echo/say", json={"words": "a" * 300_000}).status_code == 413
    for origin in ("http://evil.example", "null"):
        answer = room.post("/echo/say", json={"words": "a"}, headers={"Origin": origin})
        assert answer.status_code == 403
    del room.headers["Origin"]
    assert room.post("/echo/say", json={"words": "a"}).status_code == 403


@pytest.mark.parametrize("body", [{}, {"words": 3}, {"words": "a" * 11}, {"words": "", "x": 1}, []])
def test_what_cannot_be_told_is_said_in_a_line(room: TestClient, body: Any) -> None:
    answer = room.post("/echo/say", json=body)
    assert answer.status_code == 422
    assert "\n" not in answer.json()["error"]


def test_a_further_token_opens_what_its_room_admits_and_nothing_else(room: TestClient) -> None:
    guest = {"X-Navloom-Token": "guest"}
    assert room.post("/echo/say", json={"words": "hi"}, headers=guest).status_code == 200
    for path in ("/echo/own", "/doc/list.json", "/live", "/echo/say/", "/other"):
        assert room.get(path, headers=guest).status_code == 401
    assert room.post("/doc/list.json", json={}).status_code == 405
    assert room.put("/echo/say", json={"words": "hi"}).status_code == 405
