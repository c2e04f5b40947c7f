"""The whole graphs through OpenAI's, Anthropic's and vLLM's clients, over loopback."""

from __future__ import annotations

from typing import Any

import pytest

from navloom.graphs.annotation import room_typing
from navloom.graphs.navcraft import collab as navcraft_collab
from navloom.graphs.navcraft import single as navcraft_single
from navloom.models import get_model
from navloom.testing import ModelServer, reply_with
from tests.graphs.states import run
from tests.tools.navcraft.worlds import row_house

PROVIDERS = ("openai", "anthropic", "vllm")


def client(provider: str, server: ModelServer) -> Any:
    base = server.url if provider == "anthropic" else server.openai_url
    return get_model(f"{provider}/brain", base_url=base, api_key="not-a-real-key-000")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_single_and_collab(provider: str) -> None:
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        model = client(provider, server)
        for graph, module, given in (
            (navcraft_single.graph, navcraft_single, {"seed": 3}),
            (navcraft_collab.graph, navcraft_collab, {"seed": 3, "phase_1": None}),
        ):
            context = module.Context(scene=row_house(), model=model)
            end = run(graph, given, context=context)
            assert end["status"] == "ok", (end.get("message"), server.errors)
            local = run(graph, given, context=module.Context(scene=row_house()))
            assert end["result"]["phase_1"] == local["result"]["phase_1"]
    assert not server.errors
    told = [message for message in end["messages"] if message.type == "ai"]
    assert all(message.usage_metadata["input_tokens"] > 0 for message in told)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_names_are_held_on_the_wire(provider: str) -> None:
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        context = navcraft_single.Context(scene=row_house(), model=client(provider, server))
        run(navcraft_single.graph, {"seed": 3}, context=context)
        body = server.calls[0].body
    tool = body["tools"][0]
    schema = tool["input_schema"] if provider == "anthropic" else tool["function"]["parameters"]
    assert schema["properties"]["start_region"]["enum"][0] == "Bedroom_1"
    # Each link, both ways, stands in the response schema, wherever the protocol puts it.
    assert "Bedroom_1 -> Hall_2" in str(body)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_room_typing(provider: str) -> None:
    rooms = row_house()
    hidden = rooms.replace(
        regions=tuple(
            region.model_copy(update={"label": "Unknown"}) if region.id == "Study_4" else region
            for region in rooms.regions
        )
    )
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        context = room_typing.Context(scene=hidden, model=client(provider, server))
        end = run(room_typing.graph, {"seed": 1}, context=context)
    assert set(end["result"]["types"]) == {"Study_4"}
    assert len(server.calls) >= 1
