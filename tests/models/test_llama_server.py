"""What Navloom says and does with llama.cpp's own HTTP server and a small model, not a stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from navloom.errors import ModelError, ModelRefusedError
from navloom.models.answer import image_block
from navloom.models.call import acall, call_settings
from navloom.models.registry import get_model
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
