"""The response cache: what makes a key, what a shared or broken folder does, and acall with it."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from navloom.disk_cache import REPLIES, CacheEntry, cache_folder
from navloom.errors import LimitReachedError, ModelError
from navloom.models.call_failure import RetryPolicy, server_address
from navloom.models.model_call import acall, call_settings
from navloom.models.model_registry import get_model
from navloom.models.response_cache import ResponseCache, cache_key
from navloom.models.scripted import ScriptedChatModel
from navloom.models.structured_output import bind_schema
from navloom.models.usage import STAMP, Budget, UsageLimits
from navloom.testing import ModelServer, Status

ASK = [SystemMessage("s"), HumanMessage("x")]
SCHEMA = {"title": "thing", "type": "object", "properties": {"a": {"type": "integer"}}}
USAGE = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}


@tool
def look(where: str) -> str:
    """Look."""
    return where


def reply(text: str = "hello") -> AIMessage:
    call = {"name": "look", "args": {"where": "ü"}, "id": "c1", "type": "tool_call"}
    return AIMessage(
        text,
        id="m1",
        tool_calls=[call],
        usage_metadata=USAGE,
        response_metadata={"model_name": "x"},
    )


def key(**changes: Any) -> str:
    plain: dict[str, Any] = {"model": "a/b", "messages": ASK, "bound": {}, "sampling": {}}
    return cache_key(**{**plain, **changes})


def entries(cache: ResponseCache) -> list[Path]:
    return sorted(cache.folder.glob("replies/*/*"))


def test_a_key_holds_everything_a_reply_depends_on() -> None:
    keys = [
        key(),
        key(model="a/c"),
        key(messages=ASK[1:]),
        key(messages=[SystemMessage("s"), AIMessage("x")]),
        key(messages=[*ASK, reply()]),
        key(messages=[*ASK, ToolMessage("r", tool_call_id="c1")]),
        key(messages=[*ASK, ToolMessage("r", tool_call_id="c2")]),
        key(messages=[*ASK, ToolMessage("r", tool_call_id="c1", status="error")]),
        key(bound={"tools": [{"name": "look"}]}),
        key(bound={"response_format": SCHEMA}),
        key(sampling={"temperature": 0.0}),
        key(sampling={"temperature": 1.0}),
        key(epoch=1),
    ]
    assert len(set(keys)) == len(keys)


def test_a_key_holds_nothing_else() -> None:
    named = [SystemMessage("s", id="1"), HumanMessage("x", id="2")]
    stamped = reply().model_copy(update={"id": "m9", "usage_metadata": None})
    assert key(messages=named) == key()
    assert key(messages=[*ASK, stamped]) == key(messages=[*ASK, reply()])
    assert key(sampling={"max_retries": 0, "timeout": 3, "stream": True}) == key()
    assert key(bound={"x": object()}) == key(bound={"x": object()})
    assert key(bound={"a": 1, "b": 2}) == key(bound={"b": 2, "a": 1})


def test_a_reply_comes_back_as_it_was(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c")
    assert cache.get(key()) is None
    cache.put(key(), "a/b", reply())
    back = ResponseCache(tmp_path / "c").get(key())
    assert back is not None
    for name in ("content", "tool_calls", "usage_metadata", "response_metadata"):
        assert getattr(back, name) == getattr(reply(), name)
    assert back.id is None


def test_the_first_of_two_replies_stays(tmp_path: Path) -> None:
    for text in ("first", "second"):
        ResponseCache(tmp_path).put(key(), "a/b", reply(text))
    kept = ResponseCache(tmp_path).get(key())
    assert kept is not None
    assert kept.content == "first"


BROKEN = [b"", b"{", b"[]", b"null", b"[" * 50_000, b"\xff\xfe", b'{"key": 1}']


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_entry_is_dropped_and_said_once(tmp_path: Path, data: bytes) -> None:
    said: list[str] = []
    cache = ResponseCache(tmp_path, note=said.append)
    for epoch in range(2):
        cache.put(key(epoch=epoch), "a/b", reply())
    for path in entries(cache):
        path.write_bytes(data)
    assert [cache.get(key(epoch=e)) for e in range(2)] == [None, None]
    assert said == [f"cache {tmp_path}: a broken entry was dropped"]
    assert entries(cache) == []


@given(place=st.integers(0, 10_000), flip=st.integers(1, 255))
def test_any_spoiled_byte_is_a_miss_or_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, place: int, flip: int
) -> None:
    cache = ResponseCache(tmp_path_factory.mktemp("cache"))
    cache.put(key(), "a/b", reply())
    (path,) = entries(cache)
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= flip
    path.write_bytes(data)
    back = cache.get(key())
    if back is not None:
        assert (back.content, back.tool_calls) == (reply().content, reply().tool_calls)


def test_an_entry_of_another_key_is_none(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(key(), "a/b", reply())
    (path,) = entries(cache)
    other = cache._path(key(epoch=1))
    other.parent.mkdir(exist_ok=True)
    path.rename(other)
    assert cache.get(key(epoch=1)) is None


@pytest.mark.parametrize("mark", ['{"navloom_cache": 99}', "{", "[]", '{"other": 1}'])
def test_a_folder_of_another_version_is_one_line(tmp_path: Path, mark: str) -> None:
    (tmp_path / "navloom-cache.json").write_text(mark)
    with pytest.raises(
        ModelError, match=r"another version \(format (99|unknown).*--cache"
    ) as error:
        ResponseCache(tmp_path)
    assert "\n" not in str(error.value)


def test_a_folder_that_is_no_cache_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ModelError, match=r"holds other files \(thesis.tex\)"):
        ResponseCache(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(ModelError, match="cannot keep replies in"):
        ResponseCache(tmp_path / "thesis.tex")


def test_a_full_disk_is_said_once_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    cache = ResponseCache(tmp_path, note=said.append)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    for epoch in range(3):
        cache.put(key(epoch=epoch), "a/b", reply())
    assert said == [f"cache {tmp_path}: No space left on device; replies are not kept any more"]
    assert entries(cache) == []


def test_replies_are_counted_and_pruned(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)

    def counted() -> list[CacheEntry]:
        return list(REPLIES.entries(tmp_path))

    assert counted() == []
    for epoch in range(3):
        cache.put(key(epoch=epoch), "a/b", reply())
    old = entries(cache)[0]
    os.utime(old, (1_000_000, 1_000_000))
    (tmp_path / "replies" / "ab").mkdir(exist_ok=True)
    (tmp_path / "replies" / "ab" / "mine.txt").write_text("not an entry")
    (tmp_path / "replies" / "ab" / "mine.json").write_text("not an entry")
    assert (len(counted()), min(each.used for each in counted())) == (3, 1_000_000)
    assert sum(each.bytes for each in counted()) > 500
    assert REPLIES.prune(3600, tmp_path)[0] == 1
    assert not old.exists()
    assert REPLIES.prune(given=tmp_path)[0] == 2
    assert [path.name for path in entries(cache)] == ["mine.json", "mine.txt"]


def test_an_entry_of_a_navloom_before_is_found(tmp_path: Path) -> None:
    """Bytes that 0.1.0 wrote for this key: place, name and form of an entry stay."""
    name = "22ffa40aafd56b5af789db59339f8c6c4155b6aa162779806a2bef9e07cd2427"
    path = tmp_path / "replies" / "22" / f"{name}.json"
    path.parent.mkdir(parents=True)
    path.write_text(
        f'{{"format": 1, "key": "{name}", "model": "a/b", "sum": "1d7fe8e7d99b2e7c", "reply":'
        ' {"content": "yes", "additional_kwargs": {}, "response_metadata": {}, "tool_calls": [],'
        ' "invalid_tool_calls": [], "usage_metadata": null}}'
    )
    (tmp_path / "navloom-cache.json").write_text('{"navloom_cache": 1}\n')
    found = ResponseCache(tmp_path).get(key())
    assert found is not None
    assert found.content == "yes"


def test_the_folder_is_the_one_given_the_variables_or_the_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NAVLOOM_CACHE", "/from/variable")
    assert cache_folder("/given") == Path("/given")
    assert cache_folder() == Path("/from/variable")
    monkeypatch.delenv("NAVLOOM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder() == Path("/xdg/navloom")
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == Path.home() / "Library/Caches/navloom"


def _hammer(folder: str, number: int) -> None:
    cache = ResponseCache(folder)
    for epoch in range(150):
        cache.put(key(epoch=epoch), "a/b", reply(f"{epoch} by {number}"))
        back = cache.get(key(epoch=epoch))
        assert back is not None
        assert str(back.content).startswith(f"{epoch} by ")


def test_two_processes_share_a_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_hammer, args=(str(tmp_path), n)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(entries(ResponseCache(tmp_path))) == 150


# --- acall ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "vllm/q/m"])
async def test_a_second_call_is_answered_from_disk_and_marked(spec: str, tmp_path: Path) -> None:
    said = {"name": "look", "args": {"where": "here"}}
    with ModelServer(lambda _: said) as server, call_settings(cache=ResponseCache(tmp_path)):
        url = server.url if spec.startswith("anthropic") else server.openai_url
        model = get_model(spec, base_url=url, api_key="canary-key-0123456789")
        bound = bind_schema(model, tools=[look], schema=SCHEMA)
        first, second = [await acall(bound, ASK) for _ in range(2)]
        assert len(server.calls) == 1
        await acall(bind_schema(model, tools=[look]), ASK)
        await acall(bound, [*ASK, first])
        with call_settings(epoch=1):
            await acall(bound, ASK)
        assert len(server.calls) == 4
        # Where it is asked and how patiently changes no reply; how it samples does.
        for more, calls in (("attempt_timeout=9", 4), ("max_retries=1", 4), ("temperature=1", 5)):
            again = get_model(f"{spec},{more}", base_url=url, api_key="canary-key-0123456789")
            await acall(bind_schema(again, tools=[look], schema=SCHEMA), ASK)
            assert len(server.calls) == calls, more
    assert first.tool_calls == second.tool_calls
    assert first.response_metadata[STAMP]["cached"] is False
    assert second.response_metadata[STAMP]["cached"] is True
    assert first.usage_metadata == second.usage_metadata
    assert "canary-key" not in "".join(p.read_text() for p in entries(ResponseCache(tmp_path)))


@pytest.mark.parametrize("spec", ["openai/m", "anthropic/claude-haiku-4-5", "vllm/q/m"])
async def test_another_server_under_the_same_name_is_another_model(
    spec: str, tmp_path: Path
) -> None:
    with call_settings(cache=ResponseCache(tmp_path)):
        for said in ("llama.cpp", "vLLM"):
            with ModelServer(lambda _, said=said: said) as server:
                url = server.url if spec.startswith("anthropic") else server.openai_url
                for _ in range(2):
                    model = get_model(spec, base_url=url, api_key="test")
                    assert (await acall(model, ASK)).text == said
                assert len(server.calls) == 1


def test_a_providers_own_address_is_no_part_of_the_key() -> None:
    assert key(server="https://api.openai.com/v1") == key(server=None)
    assert key(server="http://127.0.0.1:8000/v1") != key(server=None)
    assert server_address(get_model("openai/m", api_key="k")) == "https://api.openai.com/v1"
    assert server_address(get_model("anthropic/m", api_key="k")) == "https://api.anthropic.com"


async def test_failures_are_not_kept(tmp_path: Path) -> None:
    with (
        ModelServer(lambda _: "ok", faults=[Status(400)]) as server,
        call_settings(cache=ResponseCache(tmp_path)),
    ):
        model = get_model("openai/m", base_url=server.openai_url, api_key="test")
        with pytest.raises(ModelError):
            await acall(model, ASK)
        assert (await acall(model, ASK)).content == "ok"


async def test_models_in_this_process_are_kept_only_when_asked(tmp_path: Path) -> None:
    model = ScriptedChatModel(["a", "b", "c"])
    with call_settings(cache=ResponseCache(tmp_path)):
        assert [(await acall(model, ASK)).content for _ in range(2)] == ["a", "b"]
        with call_settings(cache_in_process=True):
            assert [(await acall(model, ASK)).content for _ in range(2)] == ["c", "c"]
    assert len(model.calls) == 3


async def test_what_is_kept_costs_nothing_of_a_limit(tmp_path: Path) -> None:
    said = AIMessage("x", usage_metadata=USAGE)
    model = ScriptedChatModel([said, said])
    budget = Budget(UsageLimits(token_limit=15))
    settings: dict[str, Any] = {"cache": ResponseCache(tmp_path), "cache_in_process": True}
    with call_settings(**settings, gate=budget):
        for _ in range(3):
            await acall(model, ASK)
        assert budget.tokens == 10
        await acall(model, ASK[1:])
        assert budget.tokens == 20
        await acall(model, ASK)
        with pytest.raises(LimitReachedError):
            await acall(model, [HumanMessage("new")])


async def test_retries_and_role_are_stamped_and_told(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    quick = RetryPolicy(first_wait=0.01)
    lost: list[Any] = []
    faults: list[Any] = [Status(429), Status(429), None, Status(503), Status(503)]
    with (
        ModelServer(lambda _: "ok", faults=faults) as server,
        call_settings(on_retry=lambda n, r: told.append((n, r.attempt)), lost=lost),
    ):
        model = get_model("openai/m", base_url=server.openai_url, api_key="test")
        said = await acall(model, ASK, role="judge", policy=quick)
        with pytest.raises(ModelError):
            await acall(model, ASK, policy=quick)
    stamp = said.response_metadata[STAMP]
    assert (stamp["model"], stamp["role"], stamp["retries"]) == ("openai/m", "judge", 2)
    assert told == [("openai/m", 1), ("openai/m", 2), ("openai/m", 1)]
    assert [(each.role, each.retries, each.calls) for each in lost] == [("generator", 1, 0)]


async def test_a_session_may_retry_more_or_less_than_a_model() -> None:
    with ModelServer(lambda _: "ok", faults=[Status(429)] * 9) as server:
        model = get_model("openai/m", base_url=server.openai_url, api_key="test", max_retries=5)
        with call_settings(max_retries=0), pytest.raises(ModelError):
            await acall(model, ASK)
        assert len(server.calls) == 1


async def test_a_key_that_a_server_says_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key-0123456789")
    said = {"name": "look", "args": {"where": "canary-key-0123456789"}}
    model = ScriptedChatModel(["the key is canary-key-0123456789", said])
    replies = [await acall(model, ASK) for _ in range(2)]
    assert replies[0].content == "the key is <OPENAI_API_KEY>"
    assert replies[1].tool_calls[0]["args"] == {"where": "<OPENAI_API_KEY>"}


def test_settings_nest_and_end_with_their_block() -> None:
    from navloom.models.model_call import _PLAIN, _settings

    with call_settings(epoch=1, role="judge"), call_settings(epoch=2) as inner:
        assert (inner.epoch, inner.role) == (2, "judge")
    assert _settings.get(_PLAIN) == _PLAIN


def test_entries_are_json(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(key(), "a/b", reply().model_copy(update={"additional_kwargs": {"odd": object}}))
    (path,) = entries(cache)
    assert json.loads(path.read_text())["model"] == "a/b"
    assert cache.get(key()) is not None
