"""Mock model server on the loopback, for tests: two protocols, scripted replies, planned faults."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self, TypeAlias

from langchain_core.messages import AIMessage

from navloom.errors import ScriptError
from navloom.models.scripted import Said, as_message
from navloom.testing.faults import CallPlan, Fault, HungUpError, Plan, make_plan
from navloom.testing.wire_protocols import WIRES, WireCall, WireProtocol

_LARGEST_REQUEST = 64 * 1024 * 1024
_BETWEEN_OUTAGES_S = 0.5


Replier: TypeAlias = Callable[[WireCall], Said]


class ModelServer:
    """A model server with scripted replies that records its requests.

        with ModelServer(["hello"]) as server:
            get_model("openai/any", base_url=server.openai_url, api_key="test").invoke("hi")
        assert server.calls[0].body["messages"] == [{"role": "user", "content": "hi"}]

    Attributes:
        errors: errors while answering, one line each; such a call gets status 500.
    """

    def __init__(
        self,
        replies: Sequence[Said] | Replier,
        *,
        faults: Plan | CallPlan | Sequence[Fault | None] = (),
        key: str | None = None,
    ) -> None:
        """Set up the server; it listens from `start` or ``with`` on.

        Args:
            replies: the replies, in order, to calls that no fault has answered: texts, tool calls,
                messages (see `navloom.models.scripted.as_message`); or a function of the call,
                such as `navloom.testing.wire_protocols.reply_with` makes.
            faults: the fault of each call, in order, or a plan by the call's number, or a plan by
                its content (`navloom.testing.faults.CallPlan`).
            key: the key that a request must have; None accepts any.
        """
        self.errors: list[str] = []
        self._replies = replies if callable(replies) else list(replies)
        self._plan = self._planned(faults)
        self._key = key
        self._calls: list[WireCall] = []
        self._said = 0
        self._lock = threading.Lock()
        self._http: _Http | None = None
        self._connections = _Connections()
        self._turn = threading.Lock()
        self._over = threading.Event()
        self._up_since = 0.0

    @staticmethod
    def _planned(
        faults: Plan | CallPlan | Sequence[Fault | None],
    ) -> Callable[[WireCall], Fault | None]:
        if hasattr(faults, "meet"):
            return faults.meet
        plan = make_plan(faults)
        return lambda call: plan(call.number)

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
    def calls(self) -> list[WireCall]:
        """The requests so far, including those with a fault."""
        with self._lock:
            return list(self._calls)

    def start(self) -> Self:
        """Listen on a separate thread, and return the server itself."""
        self._listen(0)
        return self

    def _listen(self, port: int) -> None:
        self._http = http = _Http(("127.0.0.1", port), _Handler)
        http.model_server, http.connections = self, self._connections
        threading.Thread(
            target=http.serve_forever, args=(0.02,), name="model-server", daemon=True
        ).start()

    def stop(self) -> None:
        """Stop listening and close every connection."""
        self._over.set()
        with self._turn:
            if self._http is not None:
                self._http.shutdown()
                self._connections.hang_up()
                self._http.server_close()

    def wait(self, seconds: float) -> None:
        """Wait, but at most until the server stops."""
        self._over.wait(seconds)

    def outage(self, seconds: float, meanwhile: Callable[[], None]) -> None:
        """Refuse every new connection for some seconds; open connections go on.

        Args:
            seconds: the duration. Within half a second of the last outage there is no new one, so
                that simultaneous outages do not add up.
            meanwhile: called once the port is closed, or at once if it stays open.
        """
        with self._turn:
            rested = time.monotonic() - self._up_since > _BETWEEN_OUTAGES_S
            if self._http is None or not rested or self._over.is_set():
                meanwhile()
                return
            port = int(self._http.server_address[1])
            self._http.shutdown()
            self._http.server_close()
            meanwhile()
            self.wait(seconds)
            self._listen(port)
            self._up_since = time.monotonic()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def add_request(
        self, wire: WireProtocol, body: dict[str, Any], headers: dict[str, str], path: str
    ) -> WireCall:
        """Record a request and return it as a numbered call."""
        with self._lock:
            call = WireCall(len(self._calls), wire, body, headers, path)
            self._calls.append(call)
        return call

    def refuses(self, headers: Mapping[str, str]) -> bool:
        """Check whether a request has the wrong key."""
        borne = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        return self._key is not None and borne != self._key

    def fault(self, call: WireCall) -> Fault:
        """Return the fault for a call."""
        return self._plan(call) or Fault()

    def answer(self, call: WireCall) -> AIMessage:
        """Return the reply to a call.

        Raises:
            ScriptError: no scripted reply is left.
        """
        if callable(self._replies):
            return as_message(self._replies(call))
        with self._lock:
            if self._said >= len(self._replies):
                raise ScriptError(f"call {call.number} was not expected: no reply is left")
            self._said += 1
            return as_message(self._replies[self._said - 1])


class _Connections:
    """The open connections of all listeners."""

    def __init__(self) -> None:
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()

    def add(self, connection: socket.socket) -> None:
        with self._guard:
            self._open.add(connection)

    def discard(self, connection: socket.socket) -> None:
        with self._guard:
            self._open.discard(connection)

    def hang_up(self) -> None:
        """Wake the threads that wait on kept-alive connections, so that they close them."""
        with self._guard:
            left = list(self._open)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024
    model_server: ModelServer
    connections: _Connections

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    """Handler of one request and its reply; faults act on it as an `Exchange`."""

    _HEALTH: ClassVar = {"/health": {}, "/v1/models": {"object": "list", "data": []}}

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120
    server: _Http
    wire: WireProtocol
    content_type: str

    def send_json(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Send a complete JSON reply."""
        self.send(status, json.dumps(body).encode(), headers)

    def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a complete reply."""
        self.send_pieces(status, len(body), [body], headers)

    def send_pieces(
        self, status: int, length: int, pieces: Iterable[bytes], headers: Mapping[str, str]
    ) -> None:
        """Send a reply of known length, piece by piece."""
        self.send_response(status)
        self.send_header("Content-Type", self.content_type)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)

    def send_stream(self, events: Iterable[bytes]) -> None:
        """Send server-sent events, one chunk each."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Close the connection without a reply."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def wait(self, seconds: float) -> None:
        """Wait, but at most until the server stops."""
        self.server.model_server.wait(seconds)

    def outage(self, seconds: float) -> None:
        """Drop this call and refuse every new connection for some seconds."""
        self.server.model_server.outage(seconds, self.drop)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write no log."""

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
        call = model_server.add_request(wire, body, headers, path)
        if model_server.refuses(headers):
            self.send_json(401, wire.error("invalid key"), {})
            return
        fault = model_server.fault(call)
        if not fault.before(self):
            self._say(call, fault)

    def _say(self, call: WireCall, fault: Fault) -> None:
        streamed = bool(call.body.get("stream"))
        try:
            said = fault.message(self.server.model_server.answer(call))
            if streamed:
                parts = list(self.wire.stream(call.body, said, call.number))
            else:
                reply = fault.reply(self.wire.reply(call.body, said, call.number))
                body = fault.body(json.dumps(reply).encode())
                parts = [body[: len(body) // 2], body[len(body) // 2 :]]
        except Exception as error:
            line = f"{type(error).__name__}: {error}"
            self.server.model_server.errors.append(line)
            self.send_json(500, self.wire.error(line), {})
            return
        try:
            pieces = fault.pieces(self, parts)
            if streamed:
                self.send_stream(pieces)
            else:
                self.send_pieces(200, sum(map(len, parts)), pieces, {})
        except HungUpError:
            self.drop()

    def _body(self) -> dict[str, Any] | None:
        try:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 <= length <= _LARGEST_REQUEST:
                return None
            body = json.loads(self.rfile.read(length))
        except ValueError:
            return None
        return body if isinstance(body, dict) else None
