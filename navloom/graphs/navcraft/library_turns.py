"""The efficiency library in the relay's conversation: its tools, their words, what was asked of it.

An arm of its own beside the paper's one tool (``Context.tools``): the prompt stays, word for word,
and says after it what else may be called (CoNavBench 3.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool

from navloom.graphs.turns import calls_made
from navloom.prompts.load import Rendered, load_prompt
from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import per_scene
from navloom.tools.navcraft.task import RelayTask
from navloom.tools.teams.library_tools import LIBRARY, library_tools

__all__ = ["LIBRARY", "asked_library", "library_record", "with_library"]

_PROMPT = "navcraft_collab_library"
_KEPT = 16


def with_library(rendered: Rendered) -> Rendered:
    """The relay's prompt with what the library can be asked."""
    return load_prompt(_PROMPT).render(rules=rendered.system, question=rendered.human)


def asked_library(
    task: RelayTask, bodies: Sequence[Embodiment], **given: Any
) -> Sequence[BaseTool]:
    """The library's tools over one task, made once.

    Args:
        task: the single-robot task.
        bodies: robot_1's and robot_2's; none where relays are not driven.
        given: what :func:`navloom.tools.teams.library_tools.library_tools` takes besides.
    """
    kept = per_scene(task.scene, "library_tools", lambda: lru_cache(_KEPT)(library_tools))
    return kept(task, bodies=tuple(bodies) or (None, None), **given)


def library_record(messages: Sequence[AnyMessage]) -> dict[str, Any]:
    """How often each tool of the library was called, and the prompt that told of it."""
    asked = Counter(call.name for call in calls_made(messages) if call.name in LIBRARY)
    return {
        "library_calls": dict(sorted(asked.items())),
        "prompt_library": load_prompt(_PROMPT).record,
    }
