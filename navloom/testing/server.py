"""A model server on the loopback, for tests: two protocols, a script, a plan of faults."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self, TypeAlias

from langchain_core.messages import AIMessage

from navloom.errors import ScriptError
from navloom.models.scripted import Said, as_message
from navloom.testing.faults import Fault, Plan, plan_of
from navloom.testing.wire import WIRES, Wire

__all__ = ["Call", "Exchange", "ModelServer"]

_LARGEST_REQUEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it came.

    Attributes:
        number: its number, from 0, in the order of arrival.
        wire: the protocol it spoke.
        body: its JSON.
        headers: its headers, by name in lower case.
        path: the path asked for.
    """

    number: int
    wire: Wire
    body: dict[str, Any]
    headers: dict[str, str]
    path: str


Replier: TypeAlias = Callable[[Call], Said]


class ModelServer:
    """A server that answers as it is told and remembers what it was asked.

        with ModelServer(["hello"]) as server:
            get_model("openai/any", base_url=server.openai_url, api_key="test").invoke("hi")
        assert server.calls[0].body["messages"] == [{"role": "user", "content": "hi"}]

    Attributes:
        errors: what went wrong while answering, as one line each; such a call gets a 500.
    """

    def __init__(
        self,
        replies: Sequence[Said] | Replier,
        *,
        faults: Plan | Sequence[Fault | None] = (),
        key: str | None = None,
    ) -> None:
        """Set the server up; it listens from `start` or ``with`` on.

        Args:
            replies: what to say to each call that meets no final fault, in order: texts, tool
                calls, messages (see `navloom.models.scripted.as_message`); or a function of the
                call, such as `navloom.testing.brain` makes.
            faults: the fault that each call meets, in order, or a plan by the call's number.
            key: the key that a request must bear; None takes any.
        """
        self.errors: list[str] = []
        self._replies = replies if callable(replies) else list(replies)
        self._plan = plan_of(faults)
        self._key = key
        self._calls: list[Call] = []
        self._said = 0
        self._lock = threading.Lock()
        self._http: _Http | None = None

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``, which is also Anthropic's base URL."""
        if self._http is None:
            raise RuntimeError("the server has not been started")
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's clients and vLLM's."""
        return f"{self.url}/v1"

    @property
    def calls(self) -> list[Call]:
        """The requests so far, those that met a fault included."""
        with self._lock:
            return list(self._calls)

    def start(self) -> Self:
        """Listen, on a thread of its own."""
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.model_server = self
        threading.Thread(
            target=self._http.serve_forever, args=(0.02,), name="model-server", daemon=True
        ).start()
        return self

    def stop(self) -> None:
        """Stop listening and close every connection."""
        if self._http is not None:
            self._http.shutdown()
            self._http.hang_up()
            self._http.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()

    def admit(self, wire: Wire, body: dict[str, Any], headers: dict[str, str], path: str) -> Call:
        """Number a request and remember it."""
        with self._lock:
            call = Call(len(self._calls), wire, body, headers, path)
            self._calls.append(call)
        return call

    def refuses(self, headers: Mapping[str, str]) -> bool:
        """Whether a request bears the wrong key."""
        borne = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        return self._key is not None and borne != self._key

    def fault(self, call: Call) -> Fault:
        """The fault that a call meets."""
        return self._plan(call.number) or Fault()

    def answer(self, call: Call) -> AIMessage:
        """What is said to a call.

        Raises:
            ScriptError: where the script has no reply left.
        """
        if callable(self._replies):
            return as_message(self._replies(call))
        with self._lock:
            if self._said >= len(self._replies):
                raise ScriptError(f"call {call.number} was not expected: no reply is left")
            self._said += 1
            return as_message(self._replies[self._said - 1])


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024
    model_server: ModelServer

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Wake the threads that wait on connections kept alive; they close them."""
        with self._guard:
            left = list(self._open)
        for connection in left:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up in the middle is part of what is tested."""


class Exchange(BaseHTTPRequestHandler):
    """One request and its reply; what a fault acts on."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120
    server: _Http
    wire: Wire
    content_type: str

    def send_json(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Send a whole JSON reply."""
        self.send(status, json.dumps(body).encode(), headers)

    def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a whole reply."""
        self.send_response(status)
        self.send_header("Content-Type", self.content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def send_stream(self, events: Sequence[bytes]) -> None:
        """Send server-sent events, each as a chunk of its own."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Close the connection without a word."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write no log."""


class _Handler(Exchange):
    _HEALTH: ClassVar = {"/health": {}, "/v1/models": {"object": "list", "data": []}}

    def do_GET(self) -> None:
        self.content_type = "application/json"
        path = self.path.partition("?")[0]
        known = path in self._HEALTH
        self.send_json(200 if known else 404, self._HEALTH.get(path, {}), {})

    def do_POST(self) -> None:
        self.content_type = "application/json"
        path = self.path.partition("?")[0]
        body = self._body()
        wire = WIRES.get(path)
        if wire is None or body is None:
            status, text = (404, f"no such path: {path}") if wire is None else (400, "not JSON")
            self.send_json(status, {"error": {"message": text}}, {})
            return
        self.wire = wire
        model_server = self.server.model_server
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = model_server.admit(wire, body, headers, path)
        if model_server.refuses(headers):
            self.send_json(401, wire.error("invalid key"), {})
            return
        fault = model_server.fault(call)
        if not fault.before(self):
            self._say(call, fault)

    def _say(self, call: Call, fault: Fault) -> None:
        model_server = self.server.model_server
        try:
            said = fault.message(model_server.answer(call))
            if call.body.get("stream"):
                self.send_stream(list(self.wire.stream(call.body, said, call.number)))
                return
            reply = json.dumps(self.wire.reply(call.body, said, call.number)).encode()
        except Exception as error:
            line = f"{type(error).__name__}: {error}"
            model_server.errors.append(line)
            self.send_json(500, self.wire.error(line), {})
            return
        self.send(200, fault.body(reply), {})

    def _body(self) -> dict[str, Any] | None:
        try:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 <= length <= _LARGEST_REQUEST:
                return None
            body = json.loads(self.rfile.read(length))
        except ValueError:
            return None
        return body if isinstance(body, dict) else None
