"""A run that broke goes on from its last step: no model call that was paid for is made again."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from navloom.graphs.invocation import usage_so_far
from navloom.graphs.navcraft import collab as navcraft_collab
from navloom.graphs.navcraft.collab import Context
from navloom.models.scripted import ScriptedChatModel
from tests.graphs.navcraft.errands import CHECK, CHECK_RELAY, phase_1, phase_2
from tests.tools.navcraft.worlds import row_house

STEPS: list[Any] = [CHECK, phase_1(), CHECK_RELAY, phase_2()]


@pytest.mark.parametrize("broken", range(4))
async def test_each_model_call_is_made_once_whichever_breaks(broken: int) -> None:
    script = [*STEPS[:broken], RuntimeError("power cut"), *STEPS[broken:]]
    config = {"configurable": {"thread_id": "a"}}
    graph = navcraft_collab.build_graph(InMemorySaver())
    with ScriptedChatModel(script) as model:
        context = Context(scene=row_house(), model=model)
        with pytest.raises(RuntimeError, match="power cut"):
            await graph.ainvoke({"seed": 1, "phase_1": None}, config, context=context)
        # Also what was paid in the errand, which is a graph within this one.
        assert len(usage_so_far(await graph.aget_state(config, subgraphs=True))) == broken
        end = await graph.ainvoke(None, config, context=context)
    # The script would fail on a call too many and on a reply too many.
    assert end["result"]["verdict"] == "relay"
    assert end["result"]["navloom"]["turns"] == 4
    assert len(end["usage"]) == 4
    assert len(usage_so_far(await graph.aget_state(config, subgraphs=True))) == 4
