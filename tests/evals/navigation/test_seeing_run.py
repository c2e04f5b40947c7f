"""Runs whose agents see a rendered home: the bytes on the wire, and who is shown none."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.run import plan
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.runner import run_request
from navloom.scenes.scene_uri import load_scene
from navloom.sim import get_simulator
from navloom.sim.agent_handle import AgentHandle
from navloom.sim.protocol import Pose
from navloom.sim.views import view_pngs
from navloom.testing import ModelServer
from navloom_worlds.rendering import embedded

pytestmark = pytest.mark.slow

_LIMIT, _SIDE = 5_000_000, 8_000
"""Anthropic's of one picture, in bytes and pixels; OpenAI's are larger."""


def seeing(**changes: Any) -> EvalRequest:
    usual = {"task": "scene", "options": {"spec": "home:0", "n": 1}, "agent": "navgpt"}
    return EvalRequest(**{**usual, "max_steps": 2, "light": "flat", **changes})


def shown(provider: str, message: dict[str, Any]) -> list[bytes]:
    """The pictures of a message, as a server decodes them."""
    parts = message["content"] if isinstance(message["content"], list) else []
    if provider == "anthropic":
        sources = [part["source"] for part in parts if part["type"] == "image"]
        assert all(each["media_type"] == "image/png" for each in sources)
        return [base64.b64decode(each["data"], validate=True) for each in sources]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [base64.b64decode(url.partition(",")[2], validate=True) for url in urls]


def served(monkeypatch: pytest.MonkeyPatch, server: ModelServer) -> None:
    for name, url in (("OPENAI", server.openai_url), ("ANTHROPIC", server.url)):
        monkeypatch.setenv(f"{name}_BASE_URL", url)
        monkeypatch.setenv(f"{name}_API_KEY", "sk-a-key-of-a-test-0123456789")


def text_of(message: dict[str, Any]) -> str:
    parts = message["content"]
    return parts if isinstance(parts, str) else "".join(part.get("text", "") for part in parts)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_pictures_that_arrive_are_those_of_the_pose(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(["Action: 1", "Action: Stop. I have arrived."]) as server:
        served(monkeypatch, server)
        run_request(seeing(model=f"{provider}/any"), tmp_path / "r")
        bodies = [call.body for call in server.calls]
    assert not server.errors
    (row,) = read_samples(tmp_path / "r")
    poses = row["result"]["trajectory"]
    assert len(poses) == len(bodies) == 2
    scene = load_scene("home:0")
    walker = AgentHandle(get_simulator("embedded", scene, light="flat"), "again")
    for body, (viewpoint, heading, _), step in zip(
        bodies, poses, row["result"]["steps"], strict=True
    ):
        message = [each for each in body["messages"] if each["role"] == "user"][-1]
        seen = walker.start(Pose((0.0, 0.0, 0.0), heading, 0.0, viewpoint), 0)
        expected = view_pngs(seen, heading, 4, markers=True)
        arrived = shown(provider, message)
        assert arrived == expected
        (png,) = arrived
        picture = Image.open(io.BytesIO(png))
        assert picture.format == "PNG"
        assert picture.size == (4 * 512 + 3 * 8, 544)
        assert len(png) < _LIMIT
        assert max(picture.size) < _SIDE
        # What it was shown is kept, by its hash.
        assert [(tmp_path / "r/media" / name).read_bytes() for name in step["media"]] == expected
        assert "Pictures: one strip of four views" in text_of(message)
    assert read_run(tmp_path / "r")["request"]["simulators"] == {"embedded": 1}


def test_a_model_without_eyes_is_told_in_words_and_nothing_is_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "Renderer", None)
    texts = []
    for backend in ("auto", "graph"):
        with ModelServer(["Action: 1", "Action: Stop. I have arrived."]) as server:
            served(monkeypatch, server)
            request = seeing(model="openai/gpt-3.5-turbo", backend=backend)
            run_request(request, tmp_path / backend)
            bodies = [call.body for call in server.calls]
        assert not server.errors
        assert len(bodies) == 2
        assert not any(shown("openai", each) for body in bodies for each in body["messages"])
        texts.append([[text_of(each) for each in body["messages"]] for body in bodies])
    # Word for word what it reads where there are no pictures.
    assert texts[0] == texts[1]
    assert not (tmp_path / "auto/media").exists()
    told = "openai/gpt-3.5-turbo takes no images: it is told in words, and no picture is made."
    assert told in plan(seeing(model="openai/gpt-3.5-turbo"), None, print).notes
    assert told not in plan(seeing(), None, print).notes
    assert read_run(tmp_path / "auto")["request"]["simulators"] == {"embedded": 1}
    assert read_run(tmp_path / "graph")["request"]["simulators"] == {"graph": 1}


def test_baselines_pay_for_no_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "Renderer", None)
    for agent in ("heuristic", "random", "shortest-path"):
        assert (
            run_request(seeing(agent=agent, max_steps=4), tmp_path / agent).scores["episodes"] == 1
        )


def test_the_views_of_a_run_choose_its_rig(monkeypatch: pytest.MonkeyPatch) -> None:
    from navloom.evals.navigation.run import make_simulator

    monkeypatch.setattr(embedded, "Renderer", None)
    for views, count in ((0, 4), (4, 4), (12, 12), (24, 24), (36, 36)):
        made: Any = make_simulator(seeing(views=views, backend="embedded"), "home:0")
        seen = AgentHandle(made, "one").start(
            Pose((0.0, 0.0, 0.0), viewpoint=made.scene.viewpoints[0].id), 0
        )
        assert len(seen.images["rgb"]) == count
