"""OpenTelemetry spans of a run: run, samples, graphs, model calls and tool calls.

    navloom.run                              a session over a run
    navloom.sample  -- link --> navloom.run  a separate trace for each sample
    └── invoke_agent GRAPH                   a nested graph within its graph's span
        ├── chat MODEL                       a call to a model
        └── execute_tool TOOL

Tracing is on if ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set and the extra ``trace`` is installed
(docs/tracing.md). Otherwise it costs one look at a variable, and nothing of OpenTelemetry is
imported. Names follow its conventions for generative AI; Navloom's own begin with ``navloom.``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from navloom.models.redaction import error_line, register_secret

if TYPE_CHECKING:
    from navloom.models.messages import CallRecord
    from navloom.models.span_sender import SpanSender

Note = Callable[[str], None]
END_S = 1.5
"""Seconds that a session waits at its end for its spans to be sent."""
_MISSING = (
    "OTEL_EXPORTER_OTLP_ENDPOINT is set, and no trace is sent: that takes"
    " pip install 'navloom[trace]'"
)
_NO_GRPC = (
    "no trace is sent: OTEL_EXPORTER_OTLP_PROTOCOL is {said}, and Navloom speaks http/protobuf"
    " alone (collectors take it at port 4318)"
)
_sender: ContextVar[SpanSender | None] = ContextVar("navloom_span_sender", default=None)


def _nobody(*_: Any) -> None:
    """Ignore a call: the callback of a span that is not traced."""


@contextmanager
def tracing(
    note: Note, *, joining: Mapping[str, str] | None = None, within: float = END_S
) -> Iterator[None]:
    """Trace this block, and the tasks that start in it, if tracing is requested.

    Args:
        note: called once, with one line, if traces cannot be sent.
        joining: result of :func:`trace_context` in the process whose run this is part of.
        within: maximum seconds that the end may take.
    """
    sender = None if _sender.get() is not None or not is_tracing_on() else _made(note)
    if sender is None:
        yield
        return
    token = _sender.set(sender)
    try:
        with sender.joined(joining or {}):
            yield
    finally:
        _sender.reset(token)
        sender.close(within)


def is_tracing_on() -> bool:
    """Check whether the environment names a destination for traces."""
    said = os.environ.get
    where = said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or said("OTEL_EXPORTER_OTLP_ENDPOINT")
    off = (
        said("OTEL_SDK_DISABLED", "").casefold() == "true" or said("OTEL_TRACES_EXPORTER") == "none"
    )
    return bool(where and where.strip()) and not off


def _made(note: Note) -> SpanSender | None:
    said = os.environ.get
    protocol = said("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or said("OTEL_EXPORTER_OTLP_PROTOCOL")
    if protocol and protocol != "http/protobuf":
        note(_NO_GRPC.format(said=protocol))
        return None
    try:
        _remember_keys()
        from navloom.models.span_sender import SpanSender

        return SpanSender(note)
    except ImportError:
        note(_MISSING)
    except Exception as error:
        # OpenTelemetry reads the environment itself; its errors must not end a run.
        note(f"no trace is sent: {error_line(error)}")
    return None


def _remember_keys() -> None:
    """Register the keys for a collector, in headers or in its address, as secrets."""
    for name in ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"):
        for header in os.environ.get(name, "").split(","):
            value = unquote(header.partition("=")[2]).strip()
            for each in (value, value.rpartition(" ")[2]):
                register_secret(each, name)
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        where = os.environ.get(name, "")
        register_secret(unquote(urlsplit(where).netloc.rpartition("@")[0].partition(":")[2]), name)


def is_traced() -> bool:
    """Check whether the current context is traced."""
    return _sender.get() is not None


def trace_context() -> dict[str, str]:
    """Return the current span's trace context for another process; {} without tracing."""
    sender = _sender.get()
    return {} if sender is None else sender.carried()


@contextmanager
def run_span(kind: str, run: str, note: Note) -> Iterator[None]:
    """Trace a session over a run, if tracing is requested; see :func:`tracing`.

    Args:
        kind: the run's kind.
        run: the name of its folder.
        note: called if traces cannot be sent.
    """
    with tracing(note):
        sender = _sender.get()
        if sender is None:
            yield
            return
        sender.about = {"navloom.run.kind": kind, "navloom.run.name": run}
        with sender.span("navloom.run", sender.about):
            yield


@contextmanager
def sample_span(sample: str, scene: str, resumed: bool) -> Iterator[Callable[[str, Any], None]]:
    """Trace one sample, linked to its run's span; yield a function that takes status and reason."""
    sender = _sender.get()
    if sender is None:
        yield _nobody
        return
    about = {"id": sample, "scene": scene, "resumed": resumed}
    with sender.sample(about) as ended:
        yield ended


@contextmanager
def agent_span(graph: Any) -> Iterator[None]:
    """Trace a graph's run as a span."""
    sender = _sender.get()
    if sender is None:
        yield
        return
    name = str(getattr(graph, "name", None) or "graph")
    about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    with sender.span(f"invoke_agent {name}", about):
        yield


@contextmanager
def tool_span(call: Mapping[str, Any], known: bool) -> Iterator[Callable[[Any], None]]:
    """Trace a tool call as a span; yield a function that takes the answer, a ``ToolMessage``.

    Args:
        call: LangChain's ``ToolCall``.
        known: whether such a tool exists; else its name is a model's own text.
    """
    sender = _sender.get()
    if sender is None:
        yield _nobody
        return
    with sender.tool(call, known) as answered:
        yield answered


def record_call(call: CallRecord) -> None:
    """Record a span of a finished model call."""
    sender = _sender.get()
    if sender is not None:
        sender.call(call)
