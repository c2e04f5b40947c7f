"""Disk size of a long walk's checkpoints, compared with LangGraph's plain reducers.

The reference is the same navigator with its growing channels replaced by LangGraph's usual
``Annotated[list, add]``, which stores the whole list in every checkpoint. The walk has 200 steps in
a demo home, with a map, and a checkpoint after every step.
"""

from __future__ import annotations

import asyncio
import itertools
import operator
import tempfile
from pathlib import Path
from typing import Any

from langgraph.channels import BinaryOperatorAggregate, DeltaChannel

from benchmarks import Claim
from navloom.graphs.agent_graph import AgentGraph, open_checkpoints
from navloom.graphs.navigation import navigator
from navloom.models.scripted import ScriptedChatModel

STEPS, PROMISED = 200, 10.0


def claims() -> list[Claim]:
    """Measure the checkpoints of one walk with both kinds of channels."""
    (ours, one), (plain, other) = asyncio.run(_walk(False)), asyncio.run(_walk(True))
    return [
        Claim(
            f"bytes on disk after {STEPS} steps",
            "the same walk, growing channels by LangGraph's plain reducers",
            plain / ours,
            PROMISED,
            equal=one == other,
            note=f"{ours / 1e6:.1f} MB against {plain / 1e6:.1f} MB",
        )
    ]


async def _walk(whole: bool) -> tuple[int, Any]:
    count = itertools.count(1)
    model = ScriptedChatModel(lambda _: "Action: 1" if next(count) < STEPS else "Action: Stop")
    context = navigator.Context(scene="demo:house", model=model, memory="map", max_steps=STEPS)
    given: Any = {"seed": 1, "instruction": "Walk.", "start": "1_0"}
    with tempfile.TemporaryDirectory() as folder:
        async with open_checkpoints(Path(folder) / "c.sqlite") as saver:
            graph = _rewriting(saver) if whole else navigator.build_graph(saver)
            config: Any = {"configurable": {"thread_id": "a"}}
            done = await graph.ainvoke(given, config, context=context, durability="sync")
        return sum(each.stat().st_size for each in Path(folder).iterdir()), done["result"]


def _rewriting(saver: Any) -> Any:
    builder: Any = navigator.build_graph().builder
    assert isinstance(builder, AgentGraph)
    for name, channel in builder.channels.items():
        if isinstance(channel, DeltaChannel):
            kind: type[Any] = channel.typ
            add = operator.or_ if kind is dict else operator.add
            builder.channels[name] = BinaryOperatorAggregate(kind, add)
    return builder.compile(saver)
