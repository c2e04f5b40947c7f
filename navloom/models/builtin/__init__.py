"""Rule-based chat models that need no key, no download and no GPU: honest baselines, not LLMs.

``builtin/heuristic`` decides by rules over what the prompt shows, ``builtin/random`` draws from
it, and ``builtin/human`` asks the person at the terminal. All speak as a language model would, in
words, tool calls and JSON. A policy is a function `policy(Request) -> AIMessage` in a module of
this folder, found by its response schema's title or by the line ``Job: NAME`` of its prompt.
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
        "navigator": "navigator:heuristic_navigator",
        "oracle": "oracle:heuristic_oracle",
        "marker_captions": "captions:heuristic_markers",
        "viewpoint_summary": "captions:heuristic_summary",
        "chat": "chat:heuristic_chat",
        "capnav_answer": "capnav:heuristic_answer",
        "capnav_tasks": "capnav_tasks:heuristic_tasks",
        "capnav_task_choice": "capnav_tasks:heuristic_choice",
        "judge_reasoning": "judge:heuristic_reasoning",
        "judge_rubric": "judge_trace:heuristic_rubric",
    },
    "random": {
        "phase_1": "navcraft:random_single",
        "phase_2": "navcraft:random_collab",
        "room_type": "rooms:random_room",
        "errand_object": "choices:random_choice",
        "errand_end": "choices:random_choice",
        "errand_start": "choices:random_choice",
        "relay_choice": "choices:random_choice",
        "navigator": "navigator:random_navigator",
        "oracle": "oracle:random_oracle",
        "marker_captions": "captions:random_markers",
        "viewpoint_summary": "captions:random_summary",
        "chat": "chat:random_chat",
        "capnav_answer": "capnav:random_answer",
        "capnav_tasks": "capnav_tasks:random_tasks",
        "capnav_task_choice": "capnav_tasks:random_choice",
        "judge_reasoning": "judge:random_reasoning",
        "judge_rubric": "judge_trace:random_rubric",
    },
    "always-yes": {"capnav_answer": "capnav:always_yes"},
    "always-no": {"capnav_answer": "capnav:always_no"},
    "human": {
        "navigator": "person:walking_person",
        "oracle": "person:ask_person",
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
    """The builtin model of this name, such as "heuristic" or "random"."""
    return BuiltinChatModel(model_name=name, policies=_Lazy(_POLICIES[name]))
