"""Rule-based baselines for NavCraft's small choices: they pick from the names they were shown.

The random one picks blindly from the names the schema allows; the heuristic picks from those the
last message offers. Neither is a language model.
"""

from __future__ import annotations

import random
import re

from langchain_core.messages import AIMessage

from navloom.errors import ModelError
from navloom.models.policy import Request

__all__ = ["heuristic_choice", "random_choice"]

_THING = re.compile(r"[a-z0-9_]+ in [A-Z]\w*_\w+")
_ROOM = re.compile(r"\b[A-Z]\w*_\w+")
_TYPE = re.compile(r"Type-A[12]")
_PATTERNS = {"object": _THING, "end": _THING, "handoff": _THING, "type": _TYPE}
_HELPERS = re.compile(r"^robot_2 may start in: (.+)\.$", re.MULTILINE)
_RELAY = re.compile(r"^(.+ in .+) with (Type-A[12]):", re.MULTILINE)


def random_choice(request: Request) -> AIMessage:
    """Baseline for every choice: any name that the schema allows."""
    return _chosen(request, offered_only=False)


def heuristic_choice(request: Request) -> AIMessage:
    """Baseline for every choice: one of the names that the last message offers, where it does."""
    return _chosen(request, offered_only=True)


def _chosen(request: Request, *, offered_only: bool) -> AIMessage:
    rng = random.Random(f"{request.seed}:{len(request.messages)}")
    fields = (request.schema or {}).get("properties", {})
    choice = {}
    for name, field in fields.items():
        pattern = _PATTERNS.get(name, _ROOM)
        text = _helpers(request) if name == "robot_2" else _last_offer(request)
        offered = pattern.findall(text) if offered_only else []
        options = field.get("enum", [])
        known = [option for option in offered if option in options]
        if not (known or options):
            raise ModelError("A builtin model chooses from a schema's names: leave --constrain on.")
        choice[name] = rng.choice(known or options)
    if offered_only and (pairs := _RELAY.findall(request.first_human)) and "handoff" in choice:
        choice["handoff"], choice["type"] = rng.choice(pairs)
    return request.answer(choice)


def _last_offer(request: Request) -> str:
    """What the last message says."""
    return request.humans[-1] if request.humans else ""


def _helpers(request: Request) -> str:
    found = _HELPERS.search(request.first_human)
    return found.group(1) if found else ""
