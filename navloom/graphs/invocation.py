"""Invocation of graphs: blocking calls, a graph as a node of another, and usage of a thread."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any

from langgraph.types import Overwrite, StateSnapshot

from navloom.errors import UsageError
from navloom.graphs.agent_graph import is_off_loop, run_off_loop
from navloom.models.redaction import redact_traces
from navloom.models.spans import agent_span


def as_node(
    graph: Any,
    *,
    context: Any = None,
    input: Callable[[Any, Any], Mapping[str, Any] | None] | None = None,  # noqa: A002
    output: Callable[[dict[str, Any], Any], Mapping[str, Any]] | None = None,
) -> Callable[[Any, Any], Awaitable[Any]]:
    """Return a node for an outer graph that runs this graph.

    Its steps are stored and resumed with the outer graph's, and streamed with ``subgraphs=True``.
    Its ``usage`` is passed on: if the outer state has a growing key ``usage``, as in all our
    graphs, the usage of both graphs is added up there.

    Args:
        graph: any compiled graph.
        context: its context, or a function of the outer state and runtime that makes one; by
            default the outer graph's own.
        input: function of the outer state and runtime that returns its input, or None to skip the
            graph and change nothing. By default the input keys are taken from the outer state.
        output: function of the outcome and the outer state that returns the outer state's update.
            By default the outcome, of which the outer state takes the keys that it has.
    """
    names = tuple(graph.builder.schemas[graph.builder.input_schema])

    def prepared(state: Any, runtime: Any) -> tuple[Mapping[str, Any] | None, Any]:
        around = context(state, runtime) if callable(context) else context
        if input is None:
            given: Any = {name: state[name] for name in names if name in state}
        else:
            given = input(state, runtime)
        return given, runtime.context if around is None else around

    async def node(state: Any, runtime: Any) -> Any:
        given, around = await run_off_loop(prepared, state, runtime)
        if given is None:
            return {}
        # LangGraph finds the graph in this closure, and its state among the tasks'.
        with agent_span(graph):
            outcome = await graph.ainvoke(given, context=around)
        return dict(outcome) if output is None else dict(output(outcome, state))

    vars(node)["runs_graph"] = graph
    return node


def usage_so_far(snapshot: StateSnapshot) -> list[dict[str, Any]]:
    """Return the usage of all model calls of a thread, including subgraphs, each once.

    Args:
        snapshot: ``await graph.aget_state(config, subgraphs=True)``.
    """
    paid = list(snapshot.values.get("usage", ()))
    for task in snapshot.tasks:
        if isinstance(task.result, Mapping):
            # The task has ended, but its step has not, so the values lack its result.
            given = task.result.get("usage", ())
            paid = [*given.value] if isinstance(given, Overwrite) else [*paid, *given]
        elif isinstance(task.state, StateSnapshot):
            paid += usage_so_far(task.state)
    return paid


def run(
    graph: Any,
    input: dict[str, Any] | None,  # noqa: A002  LangGraph's own word, and the design's
    *,
    context: Any = None,
    config: Any = None,
) -> dict[str, Any]:
    """Run a graph, wait, and return its final state.

    All such calls share one event loop in its own thread. So models keep their connections between
    calls, and calls work in a notebook, which already has a running loop.

    Args:
        graph: any compiled graph of ``navloom.graphs``.
        input: its input; None continues from a checkpoint.
        context: its ``Context``.
        config: a LangGraph config, such as ``{"recursion_limit": 50}``.

    Raises:
        UsageError: called from within a graph, where ``await graph.ainvoke`` must be used.
    """
    redact_traces()
    loop = _loop()
    try:
        inside = asyncio.get_running_loop() is loop
    except RuntimeError:
        inside = is_off_loop()
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
