"""What vLLM and llama.cpp say of what does not fit: read, said with numbers, and made to fit."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage

from navloom.errors import ModelError
from navloom.models.context_overflow import ContextOverflow, read_overflow
from navloom.models.model_call import acall
from navloom.models.model_registry import get_model
from navloom.models.structured_output import bind_schema
from navloom.testing import ModelServer, Status

LLAMA = "request (3031 tokens) exceeds the available context size (1024 tokens), try increasing it"
BOUND = "max_completion_tokens=4096 cannot be greater than max_model_len=2048."
TOTAL = (
    "This model's maximum context length is 8192 tokens. However, you requested {} output tokens"
    " and your prompt contains {} input tokens, for a total of {} tokens. Please reduce the length"
    " of the input prompt or the number of requested output tokens."
)
# What its CPU build of 0.32 said, word by word.
NO_ROOM = (
    "This model's maximum context length is 4096 tokens. However, your prompt contains at least"
    " 4097 input tokens, which exceeds this limit even without any output tokens. Please reduce"
    " the length of the input prompt. (parameter=input_tokens, value=4097)"
)
FULL = "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)"
BOUND_32 = (
    "max_completion_tokens=5000 cannot be greater than max_model_len=4096. Please request fewer"
    " output tokens. (parameter=max_completion_tokens, value=5000)"
)
OLD = (
    "'max_tokens' or 'max_completion_tokens' is too large: 64. This model's maximum context length"
    " is 8192 tokens and your request has 8150 input tokens (64 > 8192 - 8150)."
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LLAMA, ContextOverflow(1024, 3031, None, own=True)),
        (BOUND, ContextOverflow(2048, None, 4096, own=True)),
        (
            BOUND.replace("len=", "len=max_total_tokens="),
            ContextOverflow(2048, None, 4096, own=True),
        ),
        (TOTAL.format(64, "8150", "8214"), ContextOverflow(8192, 8150, 64, own=True)),
        (
            TOTAL.format(64, "at least 8129", "at least 8193"),
            ContextOverflow(8192, None, 64, own=True),
        ),
        (TOTAL.format(0, "9000", "9000"), ContextOverflow(8192, 9000, None, own=True)),
        (OLD, ContextOverflow(8192, 8150, 64, own=True)),
        (NO_ROOM, ContextOverflow(4096, None, None, own=True)),
        (FULL, ContextOverflow(None, None, None, own=True)),
        ("max_tokens must be at least 1, got -3.", None),
        (BOUND_32, ContextOverflow(4096, None, 5000, own=True)),
        (
            "prompt is too long: 210000 tokens > 99 maximum",
            ContextOverflow(99, 210000, None, own=False),
        ),
        ("Invalid schema for function 'check'", None),
    ],
)
def test_what_is_too_long_is_read_with_its_numbers(
    text: str, found: ContextOverflow | None
) -> None:
    assert read_overflow(400, text) == found
    assert read_overflow(500, text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LLAMA, "longer one (it takes 1024 tokens, the prompt has 3031), a smaller scene"),
        (LLAMA, "or start the server with a longer one (llama.cpp: -c, vLLM: --max-model-len)"),
        (BOUND, "a reply of 4096 tokens does not fit beside the prompt in the model's context of"),
        (NO_ROOM, "longer one (it takes 4096 tokens), a smaller scene, or where there is --"),
        (FULL, "the prompt does not fit the model's context: use a model with a longer one, a sm"),
        (FULL, "or start the server with a longer one (llama.cpp: -c, vLLM: --max-model-len)"),
        (BOUND, "put ,max_tokens=1024 behind the model's name, or start the server"),
        (OLD, "of 8192 tokens: put ,max_tokens=42 behind the model's name"),
        (OLD.replace("8150", "8200"), "the prompt does not fit the model's context"),
    ],
)
async def test_the_line_says_the_context_and_what_to_ask_for(text: str, said: str) -> None:
    with ModelServer([], faults=lambda _: Status(400, text=text)) as server:
        model = get_model("vllm/m,max_tokens=4096", base_url=server.openai_url)
        with pytest.raises(ModelError) as caught:
            await acall(model, [HumanMessage("x")])
        assert len(server.calls) == 1
    assert said in str(caught.value)
    assert "--no-constrain" not in str(caught.value)


async def test_our_own_bound_gives_way_to_a_server_with_less_room() -> None:
    schema = {"title": "a", "type": "object", "properties": {"b": {"type": "string"}}}
    faults = [Status(400, text=BOUND), None, None]
    with ModelServer(['{"b": "c"}', "later"], faults=faults) as server:
        model = get_model("vllm/m", base_url=server.openai_url)
        assert (
            await acall(bind_schema(model, schema=schema), [HumanMessage("x")])
        ).text == '{"b": "c"}'
        assert [call.body.get("max_completion_tokens") for call in server.calls] == [4096, None]
        assert (await acall(model, [HumanMessage("y")])).text == "later"
        # What fits at most is known by now, and is not asked for again.
        assert server.calls[2].body.get("max_completion_tokens") is None
    with ModelServer([], faults=lambda _: Status(400, text=LLAMA)) as server:
        with pytest.raises(ModelError, match="the prompt does not fit"):
            await acall(get_model("vllm/m", base_url=server.openai_url), [HumanMessage("x")])
        assert len(server.calls) == 1
