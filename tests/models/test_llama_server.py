"""What Navloom says and does with llama.cpp's own HTTP server and a small model, not a stand-in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from navloom.cli.main import main
from navloom.errors import ModelError, ModelRefusedError
from navloom.evals.run_folder import read_errors, read_samples
from navloom.models.messages import image_block
from navloom.models.model_call import acall, call_settings
from navloom.models.model_registry import get_model
from navloom.models.model_spec import public_address
from navloom.models.server_info import ask_server
from navloom.models.structured_output import bind_schema
from tests.models.llama_server import NAME, llama_server

pytestmark = pytest.mark.slow
PICTURE = Path(__file__).parents[2] / "docs/img/map.png"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with llama_server(n_ctx=1024) as address:
        yield address


async def test_a_prompt_that_is_too_long_is_said_with_the_servers_numbers(url: str) -> None:
    with pytest.raises(ModelError) as caught:
        await acall(get_model(f"vllm/{NAME}", base_url=url), [HumanMessage("word " * 3000)])
    assert not isinstance(caught.value, ModelRefusedError)
    assert "(it takes 1024 tokens, the prompt has 30" in str(caught.value)
    assert "start the server with a longer one (llama.cpp: -c" in str(caught.value)
    assert "--no-constrain" not in str(caught.value)


async def test_a_picture_is_refused_once(url: str) -> None:
    tried: list[str] = []
    ask = [HumanMessage([{"type": "text", "text": "x"}, image_block(PICTURE.read_bytes())])]
    with (
        call_settings(on_retry=lambda name, _: tried.append(name)),
        pytest.raises(ModelRefusedError, match="the model takes no images") as caught,
    ):
        await acall(get_model(f"vllm/{NAME}", base_url=url), ask)
    assert "HTTP 500" in str(caught.value)
    assert tried == []


@tool
def look(where: str) -> str:
    """Look around in a room."""
    return where


async def test_it_says_what_it_is_and_does_not_hold_a_choice_of_tools(url: str) -> None:
    found = ask_server(url)
    assert (found.address, found.kind) == (public_address(url), "llama.cpp")
    assert (found.serves, found.context, found.fault) == (NAME, 1024, None)
    schema = {"title": "a", "type": "object", "properties": {"b": {"enum": ["c", "d"]}}}
    model = get_model(f"vllm/{NAME},temperature=0,max_tokens=48", base_url=url)
    ask = [HumanMessage("Say hello.")]
    said = await acall(bind_schema(model, tools=[look], schema=schema), ask)
    # The day this fails it holds the choice, and what docs/models.md and `doctor` say is outdated.
    assert said.tool_calls == []
    assert said.text
    held = await acall(bind_schema(model, schema={**schema, "required": ["b"]}), ask)
    assert json.loads(held.text)["b"] in ("c", "d")


def test_a_compact_run_is_made_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with llama_server(n_ctx=4096) as address:
        monkeypatch.setenv("VLLM_BASE_URL", address)
        named = f"vllm/{NAME},temperature=0,max_tokens=160"
        words = ["synth", "single", "demo:flat", "--compact", "--n", "2", "--model", named]
        assert main([*words, "--display", "none", "--out", str(tmp_path / "r")]) == 0
    done = list(read_samples(tmp_path / "r"))
    assert len(done) == 2
    assert {line["status"] for line in done} <= {"ok", "failed"}
    assert not read_errors(tmp_path / "r")
