"""What runs a graph: a call without ``await``."""

from __future__ import annotations

import asyncio
import atexit
import threading
from functools import lru_cache
from typing import Any

from navloom.errors import UsageError
from navloom.models.secrets import redact_traces


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
