"""Spans of OpenTelemetry: what a run is doing, for whoever collects such traces.

    navloom.run                              a session over a run
    navloom.sample  -- link --> navloom.run  a trace of its own for each sample
    └── invoke_agent GRAPH                   a graph within a graph within its graph's
        ├── chat MODEL                       a call to a model
        └── execute_tool TOOL

On where ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set and the extra ``trace`` is installed
(docs/tracing.md); elsewhere all this costs a look at a variable, and nothing of OpenTelemetry is
imported. Names are those of its conventions for generative AI; Navloom's own begin with
``navloom.``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from navloom.models.secrets import one_line, remember

if TYPE_CHECKING:
    from navloom.models.messages import EndedCall
    from navloom.models.span_sender import SpanSender

Note = Callable[[str], None]
END_S = 1.5
"""How long a session waits at its end until what it has to say is taken."""
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
    """Is told, and keeps nothing."""


@contextmanager
def tracing(
    note: Note, *, joining: Mapping[str, str] | None = None, within: float = END_S
) -> Iterator[None]:
    """Trace what is done in this block, and in the tasks that start in it, where that is asked for.

    Args:
        note: is told in one line, once, where traces cannot be sent.
        joining: what :func:`carried` gave in the process whose run this is part of.
        within: seconds that the end may take, whatever the collector does.
    """
    sender = None if _sender.get() is not None or not is_asked_for() else _made(note)
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


def is_asked_for() -> bool:
    """Whether the environment says where traces are to be sent."""
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
        # What stands in the environment is OpenTelemetry's to read; a run does not end by it.
        note(f"no trace is sent: {one_line(error)}")
    return None


def _remember_keys() -> None:
    """Know the keys that go to a collector, in headers or in its address."""
    for name in ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"):
        for header in os.environ.get(name, "").split(","):
            value = unquote(header.partition("=")[2]).strip()
            for each in (value, value.rpartition(" ")[2]):
                remember(each, name)
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        where = os.environ.get(name, "")
        remember(unquote(urlsplit(where).netloc.rpartition("@")[0].partition(":")[2]), name)


def is_traced() -> bool:
    """Whether what is done here and now is traced."""
    return _sender.get() is not None


def carried() -> dict[str, str]:
    """The span that this is done in, for another process to join: a few words, or none."""
    sender = _sender.get()
    return {} if sender is None else sender.carried()


@contextmanager
def run_span(kind: str, run: str, note: Note) -> Iterator[None]:
    """Trace a session over a run, where that is asked for; see :func:`tracing`.

    Args:
        kind: of run.
        run: the name of its folder.
        note: is told where traces cannot be sent.
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
    """A trace of one sample, linked to its run's; what it gives takes its status and reason."""
    sender = _sender.get()
    if sender is None:
        yield _nobody
        return
    about = {"id": sample, "scene": scene, "resumed": resumed}
    with sender.sample(about) as ended:
        yield ended


@contextmanager
def agent_span(graph: Any) -> Iterator[None]:
    """A span of a graph's run."""
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
    """A span of a tool call; what it gives takes the answer, a ``ToolMessage``.

    Args:
        call: LangChain's ``ToolCall``.
        known: whether there is such a tool; else its name is a model's own words.
    """
    sender = _sender.get()
    if sender is None:
        yield _nobody
        return
    with sender.tool(call, known) as answered:
        yield answered


def tell_call(call: EndedCall) -> None:
    """A span of a call to a model that has ended."""
    sender = _sender.get()
    if sender is not None:
        sender.call(call)
