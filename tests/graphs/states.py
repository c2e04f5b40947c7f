"""Run a graph and return its whole state; the graphs themselves return their outcome only."""

from __future__ import annotations

import asyncio
from typing import Any


def run(graph: Any, given: Any, *, context: Any = None, config: Any = None) -> dict[str, Any]:
    """Call a graph as ``navloom.run`` does and return all channels of its last state."""

    async def called() -> dict[str, Any]:
        channels = graph.stream_channels_list
        state: dict[str, Any] = await graph.ainvoke(
            given, config, context=context, output_keys=channels
        )
        return state

    return asyncio.run(called())
