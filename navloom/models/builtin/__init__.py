"""Rule-based chat models that need no key, no download and no GPU: honest baselines, not LLMs.

``builtin/heuristic`` decides by rules over what the prompt shows, ``builtin/random`` draws from it.
Both speak as a language model would, in tool calls and JSON. A policy is a function
`policy(Request) -> AIMessage` in a module of this folder, found by its response schema's title.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from navloom.models.builtin.base import BuiltinChatModel, Policy, Request, ToolResult

if TYPE_CHECKING:
    from navloom.models.registry import Options

__all__ = ["BuiltinChatModel", "Policy", "Request", "ToolResult", "make"]

_POLICIES = {
    "heuristic": {
        "phase_1": "navcraft:heuristic_single",
        "phase_2": "navcraft:heuristic_collab",
        "room_type": "rooms:heuristic_room",
        "errand_object": "choices:heuristic_choice",
        "errand_end": "choices:heuristic_choice",
        "errand_start": "choices:heuristic_choice",
        "relay_choice": "choices:heuristic_choice",
    },
    "random": {
        "phase_1": "navcraft:random_single",
        "phase_2": "navcraft:random_collab",
        "room_type": "rooms:random_room",
        "errand_object": "choices:random_choice",
        "errand_end": "choices:random_choice",
        "errand_start": "choices:random_choice",
        "relay_choice": "choices:random_choice",
    },
}


class _Lazy(Mapping[str, Policy]):
    """Policies by title, each imported when it is first asked for."""

    def __init__(self, where: Mapping[str, str]) -> None:
        self._where = where

    def __getitem__(self, title: str) -> Policy:
        module, _, function = self._where[title].partition(":")
        policy: Policy = getattr(import_module(f"{__name__}.{module}"), function)
        return policy

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


def make(name: str, options: Options) -> BuiltinChatModel:  # noqa: ARG001
    """The builtin model of this name: "heuristic" or "random"."""
    return BuiltinChatModel(model_name=name, policies=_Lazy(_POLICIES[name]))
