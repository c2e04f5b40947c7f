"""Graphs give their outcome alone; tests of what is between nodes look at the whole state."""

from __future__ import annotations

import asyncio
from typing import Any


def run(graph: Any, given: Any, *, context: Any = None, config: Any = None) -> dict[str, Any]:
    """Call a graph, as ``navloom.run`` does; all channels of its last state."""

    async def called() -> dict[str, Any]:
        channels = graph.stream_channels_list
        state: dict[str, Any] = await graph.ainvoke(
            given, config, context=context, output_keys=channels
        )
        return state

    return asyncio.run(called())
