"""One bad reply is one bad sample: each kind of broken reply, over both protocols, in real runs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import ModelRefusedError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models.model_registry import get_model
from navloom.testing.faults import Fault, Status
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with

WIRES = {"openai/gpt-4o-mini": "/v1", "anthropic/claude-haiku-4-5": ""}
COUNTS: dict[str, Any] = {
    "negative": -5,
    "text": "many",
    "huge": 10**40,
    "fraction": 1.5,
    "list": [1],
    "null": None,
    "not-a-number": float("nan"),
}


class Broken(Fault):
    """A reply whose JSON is changed."""

    def __init__(self, change: Callable[[dict[str, Any]], None]) -> None:
        self.change = change

    def reply(self, reply: dict[str, Any]) -> dict[str, Any]:
        self.change(reply)
        return reply


def counted(value: Any) -> Callable[[dict[str, Any]], None]:
    def change(reply: dict[str, Any]) -> None:
        for name in ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"):
            if name in reply.get("usage", {}):
                reply["usage"][name] = value

    return change


def of_calls(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[dict[str, Any]], None]:
    def changed(reply: dict[str, Any]) -> None:
        if "choices" in reply:
            message = reply["choices"][0]["message"]
            if message.get("tool_calls"):
                change(message["tool_calls"])
        else:
            calls = [each for each in reply["content"] if each["type"] == "tool_use"]
            if calls:
                change(calls)
                reply["content"] = [e for e in reply["content"] if e["type"] != "tool_use"] + calls

    return changed


def said(text: str) -> Callable[[dict[str, Any]], None]:
    def change(reply: dict[str, Any]) -> None:
        if "choices" in reply:
            reply["choices"][0]["message"] = {"role": "assistant", "content": text}
        else:
            reply["content"] = [{"type": "text", "text": text}]

    return change


def _flood(calls: list[dict[str, Any]]) -> None:
    calls += [{**calls[0], "id": f"x{number}"} for number in range(3_000)]


BROKEN: dict[str, Callable[[dict[str, Any]], None]] = {
    **{f"usage-{name}": counted(value) for name, value in COUNTS.items()},
    "usage-is-a-text": lambda reply: reply.update(usage="much"),
    "no-usage": lambda reply: reply.pop("usage", None) and None,
    "id-null": of_calls(lambda calls: calls[0].update(id=None)),
    "id-missing": of_calls(lambda calls: calls[0].pop("id")),
    "id-number": of_calls(lambda calls: calls[0].update(id=7)),
    "id-twice": of_calls(lambda calls: calls.append(dict(calls[0]))),
    "flood": of_calls(_flood),
    "surrogate": said("half a pair \ud800 and a word"),
    "long": said("word " * 200_000),
    "nothing": said(""),
    "deep": said("[" * 100_000),
    "no-role": lambda reply: reply.pop("role", None) and None,
    "strange-keys": lambda reply: reply.update({"x" * 5_000: ["y"] * 5_000}),
}
FAST = {"usage-negative", "usage-text", "id-twice", "flood", "surrogate"}


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "not-a-real-key-000")
    return monkeypatch


@pytest.mark.slow
@pytest.mark.parametrize("model", WIRES)
@pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in BROKEN]
)
def test_the_other_samples_are_right_and_it_heals(
    name: str, model: str, tmp_path: Path, keys: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()
    # The second and third call of the run are broken, whatever they are; then all is well.
    with ModelServer(
        reply_with(get_model("builtin/heuristic")),
        faults=lambda _: Broken(BROKEN[name]) if next(numbers) in (1, 2) else None,
    ) as server:
        url = server.openai_url.removesuffix("/v1") + WIRES[model]
        keys.setenv(f"{model.partition('/')[0].upper()}_BASE_URL", url)
        request = SynthRequest(kind="single", spec="demo:flat", n=4, model=model)
        made = run_request(request, tmp_path / "r", Session(max_connections=1))
        assert (made.left, made.limit) == (0, None)
        assert made.ok >= 2
        for error in read_errors(tmp_path / "r"):
            assert "\n" not in error["message"]
        healed = run_request(request, tmp_path / "r", Session(retry=True))
    assert (healed.error, healed.left) == (0, 0)
    rows = read_samples(tmp_path / "r")
    assert len(rows) == 4
    for row in rows:
        assert all(count >= 0 for count in row["usage"].values()), row["usage"]
    json.dumps(rows, allow_nan=False)


def test_a_key_refused_in_mid_run_leaves_a_summary(
    tmp_path: Path, keys: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()
    with ModelServer(
        reply_with(get_model("builtin/heuristic")),
        faults=lambda _: Status(401) if next(numbers) >= 4 else None,
    ) as server:
        keys.setenv("OPENAI_BASE_URL", server.openai_url)
        request = SynthRequest(kind="single", spec="demo:flat", n=6, model="openai/gpt-4o-mini")
        with pytest.raises(ModelRefusedError, match="401"):
            run_request(request, tmp_path / "r", Session(max_connections=1))
    said = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert (said["ok"], said["left"], said["usage"]["calls"]) == (2, 4, 4)


def test_a_wait_beyond_reason_is_said_in_words(tmp_path: Path, keys: pytest.MonkeyPatch) -> None:
    fault = Status(429, retry_after="1e308")
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=lambda _: fault) as server:
        keys.setenv("OPENAI_BASE_URL", server.openai_url)
        request = SynthRequest(kind="single", spec="demo:flat", n=1, model="openai/gpt-4o-mini")
        run_request(request, tmp_path / "r", Session(max_retries=0))
    (error,) = read_errors(tmp_path / "r")
    assert "more than a day" in error["message"]
    assert len(error["message"]) < 300
