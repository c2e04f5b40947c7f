"""Ways into a graph: what its context names, and a call without ``await``.

A context field that holds a scene or a model also takes its URI or name, so that ``langgraph dev``
can call every graph with plain JSON. Nodes read such a field through ``scene_of`` and ``model_of``.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from navloom.errors import UsageError
from navloom.models.traces import redact_traces
from navloom.scenes.scene import Scene

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["model_of", "run", "scene_of"]

SCENES_KEPT = 16
"""A batch goes through its scenes one after another, so a few are enough to load each only once,
and memory stays flat however many there are."""


def scene_of(value: Scene | str) -> Scene:
    """The scene that a context field means.

    Args:
        value: a scene, or its URI; the last few URIs are loaded only once.

    Raises:
        SceneError: the URI names no scene, or the scene is broken.
    """
    return _scene(value) if isinstance(value, str) else value


def model_of(value: BaseChatModel | str) -> BaseChatModel:
    """The chat model that a context field means.

    Args:
        value: a model, or its ``provider/name``; each is made once, as long as the keys and
            addresses in the environment stay what they are.

    Raises:
        ModelError: there is no such provider or name, or what it needs is missing.
    """
    return _model(value, _settings()) if isinstance(value, str) else value


def run(
    graph: Any,
    input: dict[str, Any] | None,  # noqa: A002  LangGraph's own word, and the design's
    *,
    context: Any = None,
    config: Any = None,
) -> dict[str, Any]:
    """Call a graph and wait for its final state.

    All such calls share one event loop in a thread of its own, so that models keep their
    connections between calls, and it works in a notebook, which has a running loop already.

    Args:
        graph: any compiled graph of ``navloom.graphs``.
        input: what it starts from; None goes on from a checkpoint.
        context: its ``Context``.
        config: a LangGraph config, such as ``{"recursion_limit": 50}``.

    Raises:
        UsageError: called from within a graph, where only ``await graph.ainvoke`` can work.
    """
    redact_traces()
    loop = _loop()
    try:
        inside = asyncio.get_running_loop() is loop
    except RuntimeError:
        inside = False
    if inside:
        raise UsageError("run() waits: inside a graph use `await graph.ainvoke(...)` instead")
    call = asyncio.run_coroutine_threadsafe(graph.ainvoke(input, config, context=context), loop)
    try:
        state: dict[str, Any] = call.result()
    except BaseException:
        call.cancel()
        raise
    return state


@lru_cache(maxsize=SCENES_KEPT)
def _scene(uri: str) -> Scene:
    from navloom.scenes.uri import load_scene

    return load_scene(uri)


@lru_cache(maxsize=32)
def _model(name: str, _: tuple[tuple[str, str], ...]) -> BaseChatModel:
    from navloom.models.registry import get_model

    return get_model(name)


def _settings() -> tuple[tuple[str, str], ...]:
    """What a model may be made of besides its name: who mends a key expects it to be used."""
    ends = ("_API_KEY", "_BASE_URL")
    return tuple(sorted((key, os.environ[key]) for key in os.environ if key.endswith(ends)))


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="navloom.run", daemon=True)
    thread.start()

    def close() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=5)
        if not loop.is_running():
            loop.close()

    atexit.register(close)
    return loop
