"""A retry from before the model's last reply, or from the start, in graphs within graphs too."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.evals.navcraft.export import export_run
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models.model_call import CallSettings
from navloom.models.model_registry import get_model
from navloom.models.response_cache import ResponseCache
from navloom.testing.faults import Status
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with

ASKED = SynthRequest(kind="collab", spec="demo:flat", n=1, model="openai/gpt-4o-mini", seed=3)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-000")


def told(run: Path) -> str:
    export_run(run, run / "tasks.jsonl")
    return (run / "tasks.jsonl").read_text()


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[str]]:
    """What a run that nothing happened to makes, and what it asks."""
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        run_request(ASKED, tmp_path / "whole")
    asked = [str(call.body["messages"]) for call in server.calls]
    assert len(asked) >= 4
    return told(tmp_path / "whole"), asked


@pytest.mark.parametrize("broken", range(4))
def test_the_last_reply_is_asked_for_again_and_nothing_else(
    broken: int, whole: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, asked = whole
    with ModelServer(
        reply_with(get_model("builtin/heuristic")),
        faults=lambda number: Status(500) if number == broken else None,
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        cached = CallSettings(cache=ResponseCache(tmp_path / "cache"))
        out = tmp_path / "r"
        assert run_request(ASKED, out, Session(max_retries=0, settings=cached)).error == 1
        again = Session(retry=True, go_back="reply", settings=cached)
        assert run_request(ASKED, out, again).ok == 1
    got = [str(call.body["messages"]) for call in server.calls]
    assert got == [*asked[: broken + 1], *asked[max(0, broken - 1) :]]
    assert told(out) == expected


def test_from_the_start_everything_is_asked_for_again(
    whole: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, asked = whole
    with ModelServer(
        reply_with(get_model("builtin/heuristic")),
        faults=lambda number: Status(500) if number == 3 else None,
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        assert run_request(ASKED, tmp_path / "r", Session(max_retries=0)).error == 1
        assert main(["retry", str(tmp_path / "r"), "--go-back", "start", "--display", "none"]) == 0
    assert [str(call.body["messages"]) for call in server.calls] == [*asked[:4], *asked]
    assert told(tmp_path / "r") == expected


def test_to_go_back_is_to_retry() -> None:
    assert Session(go_back="reply").retry
    assert not Session().retry
