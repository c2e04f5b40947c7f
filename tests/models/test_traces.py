"""Traces: off unless asked for, and without any secret where they are on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

CANARY = "sk-canary-Zebra42quince"
_TRACED = """
import os, sys
from navloom.models.model_registry import get_model
get_model("builtin/heuristic")
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.langchain import wait_for_all_tracers

def say(given):
    if given.get("break"):
        raise ValueError("refused " + os.environ["OPENAI_API_KEY"])
    return {"out": given["said"]}

RunnableLambda(say).invoke(
    {"said": "tell " + os.environ["OPENAI_API_KEY"]},
    {"metadata": {"note": os.environ["OPENAI_API_KEY"]}},
)
try:
    RunnableLambda(say).invoke({"break": True})
except ValueError:
    pass
wait_for_all_tracers()
print("langsmith.client" in sys.modules)
"""


class _Collector(BaseHTTPRequestHandler):
    bodies: list[bytes]

    def do_GET(self) -> None:
        limits = {
            "use_multipart_endpoint": False,
            "size_limit": 100,
            "size_limit_bytes": 1_000_000,
            "scale_up_nthreads_limit": 1,
            "scale_up_qsize_trigger": 1000,
            "scale_down_nempty_trigger": 4,
        }
        self._say({"version": "0.0.0", "batch_ingest_config": limits, "instance_flags": {}})

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers.get("content-length") or 0)))
        self._say({})

    def do_PATCH(self) -> None:
        self.do_POST()

    def _say(self, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    bodies: list[bytes] = []
    handler = type("Handler", (_Collector,), {"bodies": bodies})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    server.shutdown()
    server.server_close()


def _run(url: str, **more: str) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LANGSMITH", "LANGCHAIN"))}
    env = {
        **clean,
        "OPENAI_API_KEY": CANARY,
        "LANGSMITH_ENDPOINT": url,
        "LANGSMITH_API_KEY": "lsv2-of-the-collector",
        **more,
    }
    done = subprocess.run(
        [sys.executable, "-c", _TRACED], env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_trace_that_is_asked_for_holds_no_secret(collector: tuple[str, list[bytes]]) -> None:
    url, bodies = collector
    _run(url, LANGSMITH_TRACING="true")
    sent = b"".join(bodies)
    assert b"<OPENAI_API_KEY>" in sent
    assert CANARY.encode() not in sent


def test_nothing_is_traced_unasked(collector: tuple[str, list[bytes]]) -> None:
    url, bodies = collector
    _run(url)
    assert bodies == []
