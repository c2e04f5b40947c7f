"""Trace collector on this machine: OTLP over HTTP, which may also refuse or hang."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Seen:
    """A span that was received."""

    name: str
    trace: str
    id: str
    parent: str
    links: tuple[str, ...]
    about: dict[str, Any]
    failed: bool
    is_client: bool
    seconds: float


@dataclass
class Collector:
    """Server on 127.0.0.1 that runs until the end of the block.

    Attributes:
        status: status code of every response.
        hangs: accept requests and never answer.
    """

    status: int = 200
    hangs: bool = False
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def __enter__(self) -> Self:
        outer, self._over = self, threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if outer.hangs:
                    outer._over.wait(60)
                    return
                if outer.status == 200:
                    outer.bodies.append(body)
                    outer.headers.append(dict(self.headers))
                self.send_response(outer.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def spans(self) -> list[Seen]:
        """All received spans, in the order in which they ended."""
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )

        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        scopes = [s for r in requests for each in r.resource_spans for s in each.scope_spans]
        return [
            Seen(
                name=span.name,
                trace=span.trace_id.hex(),
                id=span.span_id.hex(),
                parent=span.parent_span_id.hex(),
                links=tuple(link.span_id.hex() for link in span.links),
                about={each.key: _value(each.value) for each in span.attributes},
                failed=span.status.code == 2,
                is_client=span.kind == 3,
                seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
            )
            for scope in scopes
            for span in scope.spans
        ]


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)


def tree(spans: list[Seen]) -> str:
    """Format one trace as an indented text, children in the order in which they ended."""
    below = defaultdict(list)
    for span in spans:
        below[span.parent].append(span)

    def lines(span: Seen, depth: int) -> list[str]:
        inner = [line for child in below[span.id] for line in lines(child, depth + 1)]
        return ["  " * depth + span.name, *inner]

    return "\n".join(line for root in below[""] for line in lines(root, 0))
