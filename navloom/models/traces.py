"""Traces without secrets: LangSmith's and OpenTelemetry's go through the same redaction.

Tracing is LangChain's own and off unless the user sets its variables. Where it is on, the one
client that LangChain's tracer shares is made here, before anyone else makes it, with `redacted` as
its anonymizer: inputs, outputs, metadata and errors pass it before they leave the process, as
OpenTelemetry spans too (``LANGSMITH_OTEL_ENABLED``), which that client exports.
"""

from __future__ import annotations

import os

from navloom.models.secrets import redacted

__all__ = ["redact_traces"]

_SWITCHES = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
)


def redact_traces() -> bool:
    """Take secrets out of every trace of this process from now on.

    A client that a caller made and handed to a tracer by hand is the caller's own.

    Returns:
        Whether tracing is on; nothing is imported or made where it is off.
    """
    if not any(os.environ.get(name, "").casefold() == "true" for name in _SWITCHES):
        return False
    from langsmith.run_trees import get_cached_client

    get_cached_client(anonymizer=redacted)
    return True
