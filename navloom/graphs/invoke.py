"""What runs a graph: a call without ``await``, and the body that its context means."""

from __future__ import annotations

import asyncio
import atexit
import threading
from functools import lru_cache, partial
from typing import Any

from langgraph.runtime import Runtime

from navloom.errors import UsageError
from navloom.models.secrets import redact_traces
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.sim.protocol import Simulator
from navloom.sim.registry import get_simulator
from navloom.sim.walker import Walker, lease


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


def walker_of(runtime: Runtime[Any]) -> Walker:
    """The body of a graph's context, as this run and thread has it.

    The context has ``simulator``, ``scene``, ``agent``, ``embodiment`` and ``views``. A simulator
    that is given is used as it is; one that has to be made, of a scene or by a function that makes
    one, is leased (:func:`navloom.sim.walker.lease`).

    Raises:
        UsageError: the context has neither.
        SceneError: the scene cannot be loaded.
        SimulatorError: it has no navigation graph.
    """
    context, info = runtime.context, runtime.execution_info
    given = context.simulator
    if given is None and context.scene is None:
        raise UsageError("A navigator needs a simulator, or a scene such as 'demo:house'.")
    if given is None or callable(given):
        make = given or partial(_on_graph, context.scene)
        given = lease(context, (info.thread_id or info.run_id) if info else None, make)
    return Walker(given, context.agent, context.embodiment, context.views)


def _on_graph(scene: Scene | str) -> Simulator:
    return get_simulator("graph", scene_of(scene))


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
