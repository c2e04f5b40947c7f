"""Creates OpenTelemetry spans and sends them by OTLP over HTTP, without delaying the run.

Spans wait in a bounded queue for a thread of OpenTelemetry's. Spans that do not fit, or are not
sent in time, are dropped, and one line reports it. OpenTelemetry's own log is kept off the
terminal. Messages are written by OpenTelemetry's conventions, with bounds.

Only this module imports OpenTelemetry.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Link, Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from navloom.errors import StoppedError
from navloom.models.messages import CallRecord, message_text
from navloom.models.model_spec import read_spec
from navloom.models.redaction import redact, redact_value
from navloom.models.usage import FREE_PROVIDERS, reply_usage

MOST = 64_000
"""Maximum characters of one attribute; the last messages take precedence."""
_ROLES = {"human": "user", "ai": "assistant"}


def content_text(content: Any, most: int = MOST) -> str:
    """Return the text of a message's content, truncated; images are omitted."""
    text = content if isinstance(content, str) else message_text(content)
    return text if len(text) <= most else f"{text[:most]}… [{len(text) - most} characters more]"


def messages_json(messages: Sequence[BaseMessage], *, finish: str | None = None) -> str:
    """Return messages as JSON of ``gen_ai.input.messages`` and ``gen_ai.output.messages``.

    Args:
        messages: a conversation.
        finish: finish reason of the last message.
    """
    left, said = MOST, list[dict[str, Any]]()
    for message in reversed(messages):
        parts = _parts(message, left)
        left -= len(json.dumps(parts, ensure_ascii=False, default=str))
        said.append({"role": _ROLES.get(message.type, message.type), "parts": parts})
        if left <= 0:
            break
    said.reverse()
    if finish is not None:
        said[-1]["finish_reason"] = finish
    if missing := len(messages) - len(said):
        note = {"type": "text", "content": f"[{missing} earlier messages are left out]"}
        said.insert(0, {"role": "system", "parts": [note]})
    return json.dumps(said, ensure_ascii=False, default=str)


def _parts(message: BaseMessage, most: int) -> list[dict[str, Any]]:
    text = content_text(message.content, most)
    if isinstance(message, ToolMessage):
        return [{"type": "tool_call_response", "id": message.tool_call_id, "response": text}]
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}] if text else []
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            args = json.dumps(call["args"], ensure_ascii=False, default=str)
            given = call["args"] if len(args) <= most else content_text(args, most)
            about = {"id": call["id"], "name": call["name"], "arguments": given}
            parts.append({"type": "tool_call", **about})
    return parts


_QUEUE, _BATCH, _DELAY_MS, _TIMEOUT_S = 8192, 256, 1000, 5.0
_BATCH_WITH_CONTENTS = 32
"""Spans per request with contents, so that it stays below 5 MB, which collectors accept."""
_ENDS_SOON_S = 0.2
_MOST_WHY = 160
_NO_ANSWER = "no answer in time"
_ERRNO = re.compile(r"\[Errno -?\d+\] ([\w ]+)")
_WHYS = (
    (re.compile(r"code: (\d{3})"), "HTTP "),
    (re.compile(r"code: None, reason: (.+)"), ""),
    (re.compile(r"Transient error (.+) encountered"), ""),
)
"""Patterns of OpenTelemetry's log for a failed request, each with a prefix for its reason."""
_ENDED = ("finish_reason", "stop_reason")
_CONTENTS = frozenset({"true", "1", "span_only", "span_and_event"})
_hung: set[str] = set()
"""Collectors that timed out at the end of a session: the next session does not wait."""


def captures_content() -> bool:
    """Check whether message and tool contents are to be traced."""
    said = os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "")
    return said.strip().casefold() in _CONTENTS


def _tell(span: Span, attributes: Mapping[str, Any], error: str | None = None) -> None:
    """Add attributes to a span, without secrets."""
    span.set_attributes(_plain(attributes))
    if error is not None:
        # No description: an error's text may quote the request.
        span.set_status(StatusCode.ERROR)
        span.set_attribute("error.type", redact(error))


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return redact_value({key: value for key, value in attributes.items() if value is not None})


class SpanSender:
    """Creates the spans of one session, and sends them.

    Args:
        note: called once if spans are lost.

    Attributes:
        about: attributes of the run, added to each sample.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self.about: dict[str, str] = {}
        self._note, self._log = note, _quiet_log()
        self._contents = captures_content()
        self._ended, self._sent = itertools.count(), 0
        self._said, self._works = False, True
        endpoint = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        where = urlsplit(endpoint or os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"])
        self._where = f"{where.scheme}://{where.netloc.rpartition('@')[2]}"
        said = _env(
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", _env("OTEL_EXPORTER_OTLP_TIMEOUT", _TIMEOUT_S)
        )
        exporter = OTLPSpanExporter(timeout=said)
        batch = _BATCH_WITH_CONTENTS if self._contents else _BATCH
        queue = BatchSpanProcessor(
            _Watched(exporter, self._exported),
            max_queue_size=int(_env("OTEL_BSP_MAX_QUEUE_SIZE", _QUEUE)),
            schedule_delay_millis=_env("OTEL_BSP_SCHEDULE_DELAY", _DELAY_MS),
            max_export_batch_size=int(_env("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", batch)),
        )
        ours = Resource({"service.name": "navloom", "service.version": version("navloom")})
        resource = ours.merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(queue)
        self._exporter = exporter
        self._tracer = self._provider.get_tracer("navloom", version("navloom"))

    def carried(self) -> dict[str, str]:
        """Return the current span as W3C trace context."""
        words = dict(self.about)
        TraceContextTextMapPropagator().inject(words)
        return words

    @contextmanager
    def joined(self, words: Mapping[str, str]) -> Iterator[None]:
        """Enter the span of another process for this block; {} enters no span."""
        if not words:
            yield
            return
        self.about = {key: words[key] for key in words if key.startswith("navloom.")}
        token = otel_context.attach(TraceContextTextMapPropagator().extract(dict(words)))
        try:
            yield
        finally:
            otel_context.detach(token)

    @contextmanager
    def span(
        self, name: str, attributes: Mapping[str, Any], *, root: bool = False
    ) -> Iterator[Span]:
        """Open a span for this block.

        Args:
            name: the span's name, from a small set.
            attributes: attributes known at the start; None values are omitted.
            root: start a new trace, with a link to the enclosing span.
        """
        around = trace.get_current_span().get_span_context()
        made = self._tracer.start_span(
            redact(name),
            context=Context() if root else None,
            attributes=_plain(attributes),
            links=[Link(around)] if root and around.is_valid else [],
        )
        try:
            with trace.use_span(made, record_exception=False, set_status_on_exception=False):
                yield made
        except BaseException as error:
            if is_stop(error):
                _tell(made, {"navloom.stopped": True})
            else:
                _tell(made, {}, type(error).__name__)
            raise
        finally:
            self._end(made)

    @contextmanager
    def sample(self, attributes: Mapping[str, Any]) -> Iterator[Callable[[str, Any], None]]:
        """Trace one sample and yield as :func:`navloom.models.spans.sample_span` does."""
        about = {f"navloom.sample.{name}": value for name, value in attributes.items()}
        with self.span("navloom.sample", {**self.about, **about}, root=True) as made:

            def ended(status: str, reason: Any) -> None:
                came = {"navloom.sample.status": status, "navloom.sample.reason": reason}
                _tell(made, came, str(reason) if status == "error" else None)

            yield ended

    @contextmanager
    def tool(self, call: Mapping[str, Any], known: bool) -> Iterator[Callable[[Any], None]]:
        """Trace a tool call and yield as :func:`navloom.models.spans.tool_span` does."""
        name = str(call["name"]) if known else "(unknown)"
        about = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": str(call.get("id") or "")[:_MOST_WHY] or None,
        }
        if self._contents:
            said = json.dumps(call.get("args"), ensure_ascii=False, default=str)
            about["gen_ai.tool.call.arguments"] = content_text(said)
        with self.span(f"execute_tool {name}", about) as made:

            def answered(message: Any) -> None:
                failed = getattr(message, "status", None) == "error"
                result = content_text(message.content) if self._contents else None
                _tell(made, {"gen_ai.tool.call.result": result}, "tool_error" if failed else None)

            yield answered

    def call(self, call: CallRecord) -> None:
        """Record a finished model call; see :func:`navloom.models.spans.record_call`."""
        named, paid = read_spec(call.model), reply_usage(call.reply) if call.reply else {}
        # Of a local model only the file's name is traced, not its path.
        model = named.name.rpartition("/")[2] if named.provider == "local" else named.name
        counts = paid if paid and not call.cached else {}
        told = call.reply.response_metadata if call.reply else {}
        finish = next((str(told[key])[:_MOST_WHY] for key in _ENDED if told.get(key)), None)
        about: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": named.provider,
            "gen_ai.request.model": model or named.provider,
            "gen_ai.output.type": "json" if call.schema else None,
            "gen_ai.response.finish_reasons": [finish] if finish else None,
            "gen_ai.usage.input_tokens": counts.get("input_tokens"),
            "gen_ai.usage.output_tokens": counts.get("output_tokens"),
            "navloom.cost_usd": counts.get("cost_usd"),
            "navloom.role": call.role,
            "navloom.node": call.node or None,
            "navloom.step": call.step,
            "navloom.retries": call.retries,
            "navloom.cached": call.cached,
        }
        if self._contents:
            about["gen_ai.input.messages"] = messages_json(call.messages)
            if call.reply is not None:
                about["gen_ai.output.messages"] = messages_json([call.reply], finish=finish)
        began = int(call.began * 1e9)
        inner = named.provider in FREE_PROVIDERS
        made = self._tracer.start_span(
            redact(f"chat {model or named.provider}"),
            kind=SpanKind.INTERNAL if inner else SpanKind.CLIENT,
            attributes=_plain(about),
            start_time=began,
        )
        if call.error is not None:
            _tell(made, {}, type(call.error).__name__)
        self._end(made, began + int(call.seconds * 1e9))

    def close(self, within: float) -> None:
        """Send the waiting spans, within some seconds."""
        if not self._works or self._where in _hung:
            within = min(within, _ENDS_SOON_S)
        ended = next(self._ended)
        sending = threading.Thread(target=self._provider.shutdown, daemon=True)
        sending.start()
        sending.join(within)
        if sending.is_alive():
            _hung.add(self._where)
            # Stop its waiting: no further attempt is made.
            with suppress(Exception):
                self._exporter.shutdown()  # type: ignore[no-untyped-call]
        if self._sent < ended:
            lost = f"; {ended - self._sent} of {ended} spans are lost" if self._sent else ""
            self._say(f"{self._log.why}{lost}")

    def _end(self, span: Span, at: int | None = None) -> None:
        if span.is_recording():
            next(self._ended)
        span.end(at)

    def _exported(self, spans: int, taken: bool) -> None:
        self._works = taken
        if taken:
            self._sent += spans
            _hung.discard(self._where)
        else:
            self._say(self._log.why)

    def _say(self, why: str) -> None:
        if not self._said:
            self._said = True
            self._note(f"traces do not get to {self._where} ({why}): the run goes on without them")


def is_stop(error: BaseException) -> bool:
    """Check whether an exception ends a session regularly: ours, or LangGraph's."""
    ours = isinstance(error, StoppedError)
    return ours or any(each.__name__ == "GraphBubbleUp" for each in type(error).__mro__)


class _Watched(SpanExporter):
    """Exporter that reports the result of each request."""

    def __init__(self, exporter: SpanExporter, told: Callable[[int, bool], None]) -> None:
        self._exporter, self._told = exporter, told

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        done = self._exporter.export(spans)
        self._told(len(spans), done is SpanExportResult.SUCCESS)
        return done

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _Quiet(logging.Handler):
    """Log handler that keeps the reason of the latest failed request, in a few words."""

    why = _NO_ANSWER

    def emit(self, record: logging.LogRecord) -> None:
        text = " ".join(record.getMessage().split())
        errno = _ERRNO.search(text)
        for form, before in _WHYS:
            if found := form.search(text):
                said = errno[1].lower() if errno else found[1]
                self.why = _NO_ANSWER if "timed out" in said else redact(before + said)[:_MOST_WHY]
                return


def _quiet_log() -> _Quiet:
    """Keep OpenTelemetry's log off the terminal for good, and return the log's handler."""
    log = logging.getLogger("opentelemetry")
    found = next((each for each in log.handlers if isinstance(each, _Quiet)), None)
    if found is None:
        log.addHandler(found := _Quiet(logging.WARNING))
        log.propagate = False
    found.why = _NO_ANSWER
    return found


def _env(name: str, otherwise: float) -> float:
    with suppress(ValueError):
        value = float(os.environ.get(name) or otherwise)
        return value if value > 0 else otherwise
    return otherwise
