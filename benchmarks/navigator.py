"""Overhead of a navigator's step: observation, memory, prompt, parsing and motion.

The overhead is measured against a bare LangGraph graph with the same nodes, edges, state,
checkpointer and scripted model. Its nodes only call the model and store what the real nodes
returned. The walk has 15 steps in a demo home, with a map and a plan and without images.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from benchmarks import Claim
from navloom.graphs.agent_graph import open_checkpoints
from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.navigator import (
    Context,
    State,
    after_act,
    after_drive,
    after_move,
    after_observe,
)
from navloom.models.scripted import ScriptedChatModel

PROMISED_MS = 5.0
WALKS, ROUNDS, STEPS = 20, 3, 15
REPLY = "<Plan>Through the hall, then look for a stove.</Plan>\nAction: {}. further on"
GIVEN = {"instruction": "Go to the kitchen and stop at the stove.", "start": "1_0"}


def claims() -> list[Claim]:
    """Measure a step with and without checkpoints on disk."""
    return asyncio.run(_measure())


@dataclass(frozen=True, kw_only=True, eq=False)
class _BareContext(Context):
    """The navigator's context for its routers, and the recorded update of each node."""

    updates: list[dict[str, Any]] = field(default_factory=list)


def _bare_graph(checkpointer: Any) -> Any:
    def replay(name: str) -> Callable[..., Any]:
        async def node(_: State, runtime: Runtime[_BareContext]) -> dict[str, Any]:
            if name == "think":
                told = runtime.context.updates[0][name]["messages"][:2]
                await runtime.context.model.ainvoke(told)  # type: ignore[union-attr]
            update: dict[str, Any] = runtime.context.updates.pop(0)[name]
            return update

        return node

    builder = StateGraph(State, context_schema=_BareContext, input_schema=navigator.Input)
    asking = ("consult", "think", "ask", "point")
    for name in ("begin", "observe", "act", "reflect", "move", "drive", "finish", *asking):
        asks = name in asking
        builder.add_node(name, replay(name), **({"timeout": 1800.0} if asks else {}))
    builder.add_edge(START, "begin")
    builder.add_edge("begin", "observe")
    builder.add_conditional_edges("observe", after_observe)
    builder.add_edge("consult", "think")
    builder.add_edge("think", "act")
    builder.add_conditional_edges("act", after_act)
    builder.add_edge("reflect", "think")
    builder.add_edge("ask", "observe")
    builder.add_conditional_edges("move", after_move)
    builder.add_conditional_edges("drive", after_drive)
    builder.add_edge("point", "finish")
    builder.add_edge("finish", END)
    return builder.compile(checkpointer=checkpointer).with_config(recursion_limit=10_000)


def _script() -> ScriptedChatModel:
    moves = [REPLY.format(1 + k % 2) for k in range(STEPS - 1)]
    return ScriptedChatModel([*moves, "Action: Stop."])


def _context(kind: type[Context] = Context, **more: Any) -> Any:
    return kind(
        scene="demo:house", model=_script(), memory="map", plan=True, max_steps=STEPS, **more
    )


async def _measure() -> list[Claim]:
    updates = [
        update
        async for update in navigator.graph.astream(
            {**GIVEN, "seed": 0}, context=_context(), stream_mode="updates"
        )
    ]
    with tempfile.TemporaryDirectory() as folder:
        async with open_checkpoints(Path(folder) / "c.sqlite") as saver:
            kept = await _rounds(saver, updates)
    plain = await _rounds(None, updates)
    return [_claim("every step on disk", *kept), _claim("nothing kept", *plain)]


async def _rounds(saver: Any, updates: list[dict[str, Any]]) -> tuple[float, float, bool]:
    """Return milliseconds per step of our graph and the bare one, and if the results are equal."""
    ours, bare = navigator.build_graph(saver), _bare_graph(saver)
    rounds, same = [], True
    for number in range(ROUNDS):
        mine = other = 0.0
        for k in range(WALKS):
            spent, end = await _timed(ours, _context(), f"o{number}-{k}", saver)
            mine += spent
            told = _context(_BareContext, updates=list(updates))
            spent, plain = await _timed(bare, told, f"b{number}-{k}", saver)
            other += spent
            same = same and end["result"] == plain["result"]
        rounds.append((mine, other))
    steps = WALKS * STEPS / 1e3
    mine_ms, bare_ms = (statistics.median(side) / steps for side in zip(*rounds, strict=True))
    return mine_ms, bare_ms, same


async def _timed(graph: Any, context: Any, name: str, saver: Any) -> tuple[float, Any]:
    # Processor time of all threads, so that other processes on the machine do not count.
    config = {"configurable": {"thread_id": name}}
    durable = {} if saver is None else {"durability": "sync"}
    began = time.process_time()
    state = await graph.ainvoke({**GIVEN, "seed": 0}, config, context=context, **durable)
    return time.process_time() - began, state


def _claim(kept: str, mine_ms: float, bare_ms: float, same: bool) -> Claim:
    return Claim(
        f"overhead of a navigator's step, {kept}",
        f"{PROMISED_MS:g} ms over a bare LangGraph graph of the same nodes and checkpointer",
        PROMISED_MS / max(mine_ms - bare_ms, 1e-3),
        1.0,
        equal=same,
        note=f"{mine_ms:.2f} ms a step against {bare_ms:.2f} ms of processor time,"
        f" {ROUNDS} rounds of {WALKS} walks of {STEPS} steps, four nodes a step",
    )
