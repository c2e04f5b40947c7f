"""What a server may not do: lead elsewhere, send without end, send what unpacks to anything."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from navloom.errors import ModelError
from navloom.models import get_model
from navloom.models import providers as connections
from navloom.models.model_call import acall

WIRES = {"openai/gpt-4o-mini": "/v1", "anthropic/claude-haiku-4-5": "", "vllm/any": "/v1"}
KEY = "k" * 24


@contextmanager
def listening(answer: Any) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that answers by ``answer(handler)``: its address, and the headers it was sent."""
    heard: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(dict(self.headers))
            self.rfile.read(int(self.headers["Content-Length"]))
            with suppress(OSError):
                answer(self)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()


def reply(handler: Any, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


async def asked(name: str, url: str, **options: Any) -> Any:
    model = get_model(name, base_url=url + WIRES[name], api_key=KEY, max_retries=2, **options)
    return await acall(model, [HumanMessage("a secret of mine")])


@pytest.mark.some(1)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("name", WIRES)
async def test_nothing_goes_where_a_redirect_leads(name: str, status: int) -> None:
    with listening(lambda handler: reply(handler, b"{}")) as (elsewhere, stolen):
        leads = f"{elsewhere}/v1/chat/completions"
        with (
            listening(lambda handler: reply(handler, b"", status, Location=leads)) as (url, heard),
            pytest.raises(ModelError, match=f"redirects to {elsewhere}, where nothing is sent"),
        ):
            await asked(name, url)
    assert stolen == []
    assert len(heard) == 1, "what will not change is not tried again"
    assert any(KEY in value for value in heard[0].values())


@pytest.mark.parametrize("name", WIRES)
async def test_a_reply_that_unpacks_to_anything_is_refused(name: str) -> None:
    packed = gzip.compress(b" " * 5_000_000)
    with (
        listening(lambda handler: reply(handler, packed, Content_Encoding="gzip")) as (url, heard),
        pytest.raises(ModelError, match="sends compressed replies"),
    ):
        await asked(name, url)
    assert [said["accept-encoding"] for said in heard] == ["identity"]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("name", WIRES)
async def test_a_reply_without_end_is_cut(
    name: str, streaming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_BYTES", 2_000_000)

    def endless(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream" if streaming else "text/plain")
        handler.end_headers()
        while True:
            handler.wfile.write(b": nothing yet\n\n" * 10_000)

    with (
        listening(endless) as (url, _),
        pytest.raises(ModelError, match="sends a reply of more than 2 MB"),
    ):
        await asked(name, url, **({"extra": {"streaming": True}} if streaming else {}))


@pytest.mark.parametrize("name", WIRES)
async def test_a_reply_of_fields_without_end_is_refused(name: str) -> None:
    fields = ",".join(f'"k{n}": {n}' for n in range(connections.MOST_FIELDS + 1))
    with (
        listening(lambda handler: reply(handler, f"{{{fields}}}".encode())) as (url, heard),
        pytest.raises(ModelError, match="sends a reply of more than 60,000 fields"),
    ):
        await asked(name, url)
    assert len(heard) == 1
