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

from navloom.models.policy import BuiltinChatModel, Policy, Request, ToolResult

if TYPE_CHECKING:
    from navloom.models.spec import Options

__all__ = ["BuiltinChatModel", "Policy", "Request", "ToolResult", "make"]

_POLICIES = {
    "heuristic": {
        "phase_1": "navloom.graphs.navcraft.baseline:heuristic_single",
        "phase_2": "navloom.graphs.navcraft.baseline:heuristic_collab",
        "room_type": "navloom.graphs.annotation.baseline:heuristic_room",
        "errand_object": "navloom.graphs.navcraft.baseline:heuristic_choice",
        "errand_end": "navloom.graphs.navcraft.baseline:heuristic_choice",
        "errand_start": "navloom.graphs.navcraft.baseline:heuristic_choice",
        "relay_choice": "navloom.graphs.navcraft.baseline:heuristic_choice",
        "navigator": "navloom.graphs.navigation.baseline.policy:heuristic_navigator",
        "oracle": "navloom.graphs.navigation.oracle_baseline:heuristic_oracle",
        "marker_captions": "navloom.graphs.captions.baseline:heuristic_markers",
        "viewpoint_summary": "navloom.graphs.captions.baseline:heuristic_summary",
        "chat": "navloom.graphs.chat.baseline:heuristic_chat",
        "capnav_answer": "navloom.graphs.capnav.baseline:heuristic_answer",
        "capnav_tasks": "navloom.graphs.capnav.designer_baseline:heuristic_tasks",
        "capnav_task_choice": "navloom.graphs.capnav.designer_baseline:heuristic_choice",
        "judge_reasoning": "navloom.graphs.judging.baseline:heuristic_reasoning",
        "judge_rubric": "navloom.graphs.judging.rubric_baseline:heuristic_rubric",
    },
    "random": {
        "phase_1": "navloom.graphs.navcraft.baseline:random_single",
        "phase_2": "navloom.graphs.navcraft.baseline:random_collab",
        "room_type": "navloom.graphs.annotation.baseline:random_room",
        "errand_object": "navloom.graphs.navcraft.baseline:random_choice",
        "errand_end": "navloom.graphs.navcraft.baseline:random_choice",
        "errand_start": "navloom.graphs.navcraft.baseline:random_choice",
        "relay_choice": "navloom.graphs.navcraft.baseline:random_choice",
        "navigator": "navloom.graphs.navigation.baseline.policy:random_navigator",
        "oracle": "navloom.graphs.navigation.oracle_baseline:random_oracle",
        "marker_captions": "navloom.graphs.captions.baseline:random_markers",
        "viewpoint_summary": "navloom.graphs.captions.baseline:random_summary",
        "chat": "navloom.graphs.chat.baseline:random_chat",
        "capnav_answer": "navloom.graphs.capnav.baseline:random_answer",
        "capnav_tasks": "navloom.graphs.capnav.designer_baseline:random_tasks",
        "capnav_task_choice": "navloom.graphs.capnav.designer_baseline:random_choice",
        "judge_reasoning": "navloom.graphs.judging.baseline:random_reasoning",
        "judge_rubric": "navloom.graphs.judging.rubric_baseline:random_rubric",
    },
    "always-yes": {"capnav_answer": "navloom.graphs.capnav.baseline:always_yes"},
    "always-no": {"capnav_answer": "navloom.graphs.capnav.baseline:always_no"},
    "human": {
        "navigator": "navloom.graphs.navigation.person:walking_person",
        "oracle": "navloom.graphs.navigation.person:ask_person",
    },
}


class _Lazy(Mapping[str, Policy]):
    """Policies by title, each imported when it is first asked for."""

    def __init__(self, where: Mapping[str, str]) -> None:
        self._where = where

    def __getitem__(self, title: str) -> Policy:
        module, _, function = self._where[title].partition(":")
        policy: Policy = getattr(import_module(module), function)
        return policy

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


def make(name: str, options: Options) -> BuiltinChatModel:  # noqa: ARG001
    """The builtin model of this name, such as "heuristic" or "random"."""
    return BuiltinChatModel(model_name=name, policies=_Lazy(_POLICIES[name]))
