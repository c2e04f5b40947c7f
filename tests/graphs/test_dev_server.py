"""``langgraph dev``: every graph over HTTP from JSON alone, and two of ours in one of a user's.

The server is a program of its own (``langgraph-cli[inmem]``, the extra ``server``); where it is not
installed these tests are skipped. It refuses whatever blocks its loop.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.graphs.test_langgraph_json import GIVEN, LISTED, ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("langgraph_api") is None, reason="pip install 'navloom[server]' for langgraph dev"
    ),
]
OURS = {"result", "status", "reason", "message", "usage"}
SCENE = {"scene": "demo:flat", "model": "builtin/heuristic"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    page = (ROOT / "docs" / "graphs.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (nested,) = (block for block in blocks if "builder.compile()" in block)
    (folder / "mine.py").write_text(nested)
    listed = {**LISTED, "mine": "./mine.py:graph"}
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": ["."], "graphs": listed}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_TRACING": "false"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                str(Path(sys.executable).with_name("langgraph")),
                *("dev", "--no-browser", "--no-reload", "--port", str(port)),
            ],
            cwd=folder,
            env={**os.environ, **quiet, "PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=log,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + 90
            while not _answers(url):
                assert process.poll() is None, (folder / "log").read_text()[-2000:]
                assert time.monotonic() < until, (folder / "log").read_text()[-2000:]
                time.sleep(0.5)
            yield url
        finally:
            process.terminate()
            process.wait(30)
    assert "BlockingError" not in (folder / "log").read_text("utf-8", "replace")


def _answers(url: str) -> bool:
    try:
        return bool(call(url, "/ok")["ok"])
    except OSError:
        return False


def call(url: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url + path, data=data, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read())


def ran(url: str, name: str, given: Any, context: Any, thread: str | None = None) -> Any:
    thread = thread or call(url, "/threads", {})["thread_id"]
    asked = {"assistant_id": name, "input": given, "context": context}
    if isinstance(given, dict) and "resume" in given:
        asked = {"assistant_id": name, "command": given, "context": context}
    return call(url, f"/threads/{thread}/runs/wait", asked)


@pytest.mark.parametrize("name", LISTED)
def test_every_graph_runs_from_json_alone_and_says_what_it_takes(server: str, name: str) -> None:
    kind = import_module(LISTED[name].partition(":")[0]).Context
    known = {each.name for each in fields(kind)}
    context = {key: value for key, value in SCENE.items() if key in known}
    done = ran(server, name, {"seed": 3, **GIVEN.get(name, {})}, context)
    assert done["status"] == "ok", done
    assert set(done) - {"__interrupt__"} <= OURS
    (assistant,) = call(server, "/assistants/search", {"graph_id": name})
    schemas = call(server, f"/assistants/{assistant['assistant_id']}/schemas")
    assert set(schemas["output_schema"]["properties"]) == OURS
    assert set(GIVEN.get(name, {})) <= set(schemas["input_schema"]["properties"])
    assert set(schemas["context_schema"]["properties"]) == known


def test_a_thread_goes_on(server: str) -> None:
    thread = call(server, "/threads", {})["thread_id"]
    first = ran(server, "chat", {"said": "where are you?"}, SCENE, thread)
    assert first["__interrupt__"][0]["value"] == {"kind": "listen"}
    second = ran(server, "chat", {"resume": "go to the kitchen"}, SCENE, thread)
    assert second["result"]["room"] == "kitchen"
    assert len(second["usage"]) > len(first["usage"])
    left = ran(server, "chat", {"resume": {"leave": True}}, SCENE, thread)
    assert "__interrupt__" not in left
    assert left["result"]["turn"] == 2


def test_a_mistake_is_one_line(server: str) -> None:
    for given, context, said in (
        ({"seed": "one"}, SCENE, "navcraft_single's input: seed: Input should be a valid integer"),
        ({"seed": 1}, {**SCENE, "max_turns": "many"}, "max_turns: Input should be a valid integer"),
        ({"seed": 1}, {**SCENE, "scene": "demo:flt"}, "Did you mean"),
    ):
        told = json.dumps(ran(server, "navcraft_single", given, context))
        assert said in told


def test_two_of_ours_in_one_of_a_users_stream_the_steps_of_both(server: str) -> None:
    asked = {
        "assistant_id": "mine",
        "input": {"seed": 3},
        "stream_mode": ["updates"],
        "stream_subgraphs": True,
    }
    thread = call(server, "/threads", {})["thread_id"]
    request = urllib.request.Request(
        f"{server}/threads/{thread}/runs/stream",
        data=json.dumps(asked).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        events = re.findall(r"^event: (\S+)", answer.read().decode(), re.MULTILINE)
    within = {event.split("|")[1].partition(":")[0] for event in events if "|" in event}
    assert within == {"craft", "walk"}
    values = call(server, f"/threads/{thread}/state")["values"]
    assert values["errand"]["phase_1"]
    assert values["walk"]["trajectory"]
