"""For tests: a loopback server that speaks OpenAI's and Anthropic's protocols and can misbehave.

    with ModelServer(brain(get_model("builtin/heuristic"))) as server:
        model = get_model("openai/any", base_url=server.openai_url, api_key="test")

It listens on 127.0.0.1 alone, at a port that the system picks, and calls nobody. What a run does
under each kind of fault is printed by ``python -m navloom.testing``, and what kill -9 does to it by
``python -m tests.testing.kill``.
"""

from navloom.testing.brain import brain
from navloom.testing.faults import (
    BadArguments,
    Cut,
    Delay,
    Drop,
    Empty,
    Fault,
    Filtered,
    Garble,
    Outage,
    Silence,
    Stall,
    Status,
    UnknownTool,
    seeded_plan,
)
from navloom.testing.server import Call, ModelServer
from tests.testing.catalogue import KINDS, Kind, kind_of
from tests.testing.fault_plan import ConversationPlan

__all__ = [
    "KINDS",
    "BadArguments",
    "Call",
    "ConversationPlan",
    "Cut",
    "Delay",
    "Drop",
    "Empty",
    "Fault",
    "Filtered",
    "Garble",
    "Kind",
    "ModelServer",
    "Outage",
    "Silence",
    "Stall",
    "Status",
    "UnknownTool",
    "brain",
    "kind_of",
    "seeded_plan",
]
