"""Loopback server for tests that speaks OpenAI's and Anthropic's protocols and can inject faults.

    with ModelServer(brain(get_model("builtin/heuristic"))) as server:
        model = get_model("openai/any", base_url=server.openai_url, api_key="test")

It listens only on 127.0.0.1, at a port that the system picks, and makes no connections itself.
"""

from navloom.testing.faults import (
    BadArguments,
    ContentFiltered,
    Cut,
    Delay,
    Drop,
    Empty,
    Fault,
    Garble,
    Outage,
    Silence,
    Stall,
    Status,
    UnknownTool,
    seeded_plan,
)
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import WireCall, reply_with

__all__ = [
    "BadArguments",
    "ContentFiltered",
    "Cut",
    "Delay",
    "Drop",
    "Empty",
    "Fault",
    "Garble",
    "ModelServer",
    "Outage",
    "Silence",
    "Stall",
    "Status",
    "UnknownTool",
    "WireCall",
    "reply_with",
    "seeded_plan",
]
