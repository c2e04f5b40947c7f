"""The calls that a run keeps: what is there, once, whatever is done to the run or to the file."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import zlib
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from navloom.errors import RunError
from navloom.evals import call_log, call_log_writer
from navloom.evals.call_log import NAME, count_calls, read_calls
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.progress import SilentDisplay
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models import get_model
from navloom.models.messages import CallRecord, image_block
from navloom.models.model_call import CallSettings
from navloom.models.response_cache import ResponseCache
from navloom.testing import ModelServer, Status, reply_with

KEY = "sk-canary/Zebra+42-quince-77=="
OPENAI = "openai/gpt-4o-mini"


def asked(**changes: Any) -> SynthRequest:
    return SynthRequest(**{"kind": "collab", "spec": "demo:", "n": 6} | changes)


def heard(out: Path, request: Any = None, **session: Any) -> dict[str, list[CallRecord]]:
    """A run, and what its calls were when they were told."""
    told: list[CallRecord] = []
    settings = CallSettings(on_call=told.append)
    run_request(request or asked(), out, Session(settings=settings, max_connections=1, **session))
    samples = sorted(count_calls(out))
    found: dict[str, list[CallRecord]] = {name: [] for name in samples}
    left = iter(told)
    for line in (json.loads(text) for text in (out / "samples.jsonl").read_text().splitlines()):
        for _ in range(line["usage"]["calls"]):
            found[line["id"]].append(next(left))
    assert next(left, None) is None
    return found


def as_kept(message: Any) -> tuple[str, Any, list[Any]]:
    own = [(c["name"], c["args"], c["id"]) for c in getattr(message, "tool_calls", [])]
    return message.type, message.content, own


def as_read(message: dict[str, Any]) -> tuple[str, Any, list[Any]]:
    own = [(c["name"], c["args"], c["id"]) for c in message.get("tool_calls", [])]
    return message["role"], message["content"], own


def inflated(run: Path) -> bytes:
    """All that stands in a file of calls: its bytes, and its texts inflated."""
    with closing(sqlite3.connect(run / NAME)) as file:
        rows = file.execute("SELECT id, base, data FROM texts ORDER BY id").fetchall()
        dump = "\n".join(file.iterdump())
    texts: dict[int, bytes] = {}
    for number, base, data in rows:
        near = texts.get(base, b"")[-32768:]
        texts[number] = zlib.decompressobj(-15, zdict=near).decompress(data)
    return b"".join(texts.values()) + dump.encode() + (run / NAME).read_bytes()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as made:
        monkeypatch.setenv("OPENAI_BASE_URL", made.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield made


# --- what is kept --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_",
    [asked(), EvalRequest(task="scene", options={"spec": "demo:", "n": 4}, agent="heuristic")],
    ids=["relays", "walks"],
)
def test_every_call_is_there_as_it_was_told(request_: Any, tmp_path: Path) -> None:
    told = heard(tmp_path / "r", request_)
    assert sum(map(len, told.values())) > len(told) > 3
    for name, made in told.items():
        kept = read_calls(tmp_path / "r", name)
        assert [each.number for each in kept] == list(range(1, len(made) + 1))
        for one, other in zip(kept, made, strict=True):
            assert [*map(as_read, one.messages)] == [*map(as_kept, other.messages)]
            assert other.reply is not None
            assert as_read(one.reply or {}) == as_kept(other.reply)
            assert (one.tools, one.schema) == (other.tools, other.schema)
            assert (one.node, one.step, one.role) == (other.node, other.step, other.role)
            assert (one.model, one.seconds, one.began) == (other.model, other.seconds, other.began)
            assert (one.usd, one.error, one.cached, one.session, one.tried) == (
                0.0,
                "",
                False,
                1,
                0,
            )


def test_counts_are_those_of_the_lines(server: ModelServer, tmp_path: Path) -> None:
    run_request(asked(model=OPENAI), tmp_path / "r")
    lines = read_samples(tmp_path / "r")
    found = count_calls(tmp_path / "r")
    assert sorted(found) == [line["id"] for line in lines]
    for line in lines:
        own = found[line["id"]]
        names = ("calls", "input_tokens", "output_tokens")
        assert {name: getattr(own, name) for name in names} == line["usage"]
        assert own.usd == pytest.approx(line["cost_usd"])
        assert own.usd
        assert own.seconds == pytest.approx(line["models"][0]["seconds"], abs=0.01)


def test_a_text_is_there_once(tmp_path: Path) -> None:
    told = heard(tmp_path / "r")
    texts: Counter[Any] = Counter()
    for made in told.values():
        for call in made:
            texts.update(json.dumps(as_kept(each)) for each in [*call.messages, call.reply])
            texts.update(json.dumps(each) for each in (call.tools, call.schema) if each)
    with closing(sqlite3.connect(tmp_path / "r" / NAME)) as file:
        (rows,) = file.execute("SELECT count(*) FROM texts").fetchone()
        (spread,) = file.execute("SELECT count(*) FROM talks").fetchone()
    assert rows == len(texts) < sum(texts.values())
    assert spread < sum(len(call.messages) for made in told.values() for call in made)


def test_cached_failed_and_tried_again(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Session(settings=CallSettings(cache=ResponseCache(tmp_path / "cache")))
    for name in ("a", "b"):
        run_request(asked(kind="single", model=OPENAI, n=2), tmp_path / name, kept)
    for own in count_calls(tmp_path / "b").values():
        assert (own.calls, own.usd, own.input_tokens) == (0, 0.0, 0)
        assert own.cached > 0
    cached = read_calls(tmp_path / "b", next(iter(count_calls(tmp_path / "b"))))
    assert all(each.cached and each.usage["input_tokens"] > 0 for each in cached)

    faults = [None, *[Status(500, text=f"boom {KEY}")] * 2]
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=faults) as broken:
        monkeypatch.setenv("OPENAI_BASE_URL", broken.openai_url)
        run_request(asked(kind="single", model=OPENAI, n=1), tmp_path / "c")
        (error,) = read_errors(tmp_path / "c")
        assert count_calls(tmp_path / "c")[error["id"]].errors == 1
        run_request(asked(kind="single", model=OPENAI, n=1), tmp_path / "c", Session(retry=True))
    made = read_calls(tmp_path / "c", error["id"])
    assert [bool(each.error) for each in made] == [False, True, *[False] * (len(made) - 2)]
    assert (made[1].reply, made[1].retries, made[1].error) == (None, 1, error["message"])
    assert [each.tried for each in made] == [0, 0, *[1] * (len(made) - 2)]
    assert [each.session for each in made] == [1, 1, *[2] * (len(made) - 2)]
    assert KEY.encode() not in inflated(tmp_path / "c")


def test_no_calls_keeps_none(tmp_path: Path) -> None:
    run_request(asked(), tmp_path / "r", Session(no_calls=True))
    assert not (tmp_path / "r" / NAME).exists()
    assert read_calls(tmp_path / "r", "demo-flat-00000") == []
    assert count_calls(tmp_path / "r") == {}


def test_a_finished_file_is_one_plain_file(tmp_path: Path) -> None:
    run_request(asked(n=2), tmp_path / "r")
    assert [path.name for path in (tmp_path / "r").glob(f"{NAME}*")] == [NAME]
    assert (tmp_path / "r" / NAME).read_bytes()[18] == 1, "no write-ahead log"


# --- texts that are not ours to keep --------------------------------------------------------------


def test_a_key_in_a_prompt_is_nowhere_in_the_file(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In messages, tools' names, a schema, a reply and an error, plain, reversed and in base64."""
    monkeypatch.setenv("OTHER_API_KEY", "another-canary-0123456789")
    keys = (KEY, KEY[::-1], "another-canary-0123456789")
    form = {"title": "t", "enum": list(keys), keys[0]: 1}
    made = call(
        messages=[SystemMessage(keys[0]), HumanMessage([{"type": "text", "text": keys[1]}])],
        bound={"tools": [{"name": keys[2]}], "response_format": form},
        reply=AIMessage("", tool_calls=[{"name": "x", "args": {"a": keys[2]}, "id": keys[0]}]),
        error=ValueError(" ".join(keys)),
    )
    write(tmp_path, [made])
    everything = inflated(tmp_path)
    assert b"<OTHER_API_KEY>" in everything
    assert not [each for each in keys if each.encode() in everything]
    (kept,) = read_calls(tmp_path, "s")
    assert kept.messages[0] == {"role": "system", "content": "<OPENAI_API_KEY>"}


def test_a_picture_is_told_by_its_size_and_hash(tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + os.urandom(50_000)
    shown = HumanMessage([{"type": "text", "text": "What?"}, image_block(picture)])
    write(tmp_path, [call(messages=[shown])])
    (kept,) = read_calls(tmp_path, "s")
    words, told = kept.messages[0]["content"]
    assert words == {"type": "text", "text": "What?"}
    assert (told["type"], told["mime_type"], told["bytes"]) == ("image", "image/png", 50_008)
    assert (tmp_path / NAME).stat().st_size < 20_000


def test_odd_texts_come_back_or_are_said(tmp_path: Path) -> None:
    odd = ["", "\ud800 half", "\0", "‮ \x1b[2J", "x" * 100_000, '{"role": "system"}']
    long = "y" * (call_log.MOST_TEXT + 1)
    made = [call(messages=[HumanMessage(each)]) for each in [*odd, long]]
    write(tmp_path, made)
    kept = [each.messages[0]["content"] for each in read_calls(tmp_path, "s")]
    assert kept[:-1] == odd
    assert "too long to be kept" in kept[-1]


def test_what_cannot_be_written_down_is_said_once_and_breaks_nothing(tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    notes: list[str] = []
    broken = call(bound={"tools": [deep]})
    write(tmp_path, [broken, broken, call()], notes.append)
    assert len(notes) == 1
    assert notes[0].startswith("s: a call could not be written down (RecursionError")
    assert len(read_calls(tmp_path, "s")) == 1


def call(**changes: Any) -> CallRecord:
    plain: dict[str, Any] = {"model": "a/b", "role": "generator", "node": "ask", "step": 1}
    plain |= {"messages": [HumanMessage("x")], "bound": {}, "reply": AIMessage("y"), "error": None}
    plain |= {"began": 1.0, "seconds": 0.5, "retries": 0, "cached": False}
    return CallRecord(**plain | changes)


def write(run: Path, made: list[CallRecord], note: Any = lambda _: None) -> None:
    """Keep calls of a sample ``s``."""

    async def end() -> None:
        with call_log_writer.open_call_log(run, note, set()) as keeper:
            listen = keeper.listener("s", CallSettings())
            for each in made:
                listen(each)
            await keeper.settle("s")

    asyncio.run(end())


# --- kills, faults, folders ----------------------------------------------------------------------


def test_what_a_kill_left_is_read_and_gone_on_with(tmp_path: Path) -> None:
    """The file and its log as they stand while a run is under way, copied: that is what is left."""
    run = tmp_path / "r"
    left: list[Path] = []

    def leave(_: CallRecord) -> None:
        if run.exists() and (run / NAME).exists():
            to = tmp_path / str(len(left))
            with suppress(FileNotFoundError):
                shutil.copytree(run, to)
                left.append(to)

    settings = CallSettings(on_call=leave)
    run_request(asked(n=3), run, Session(settings=settings, max_connections=1))
    whole = count_calls(run)
    assert len(left) == sum(each.calls for each in whole.values())
    for number, folder in enumerate(left):
        before = {name: read_calls(folder, name) for name in count_calls(folder)}
        assert sum(map(len, before.values())) <= number + 1
        for line in read_samples(folder):
            assert len(before[line["id"]]) == line["usage"]["calls"]
    folder = left[len(left) // 2]
    done = {line["id"] for line in read_samples(folder)}
    before = {name: read_calls(folder, name) for name in count_calls(folder)}
    run_request(asked(n=3), folder)
    for name in whole:
        after, made = read_calls(folder, name), before.get(name, [])
        assert after[: len(made)] == made
        assert {each.session for each in after[len(made) :]} <= {2}
        said = [each.reply for each in read_calls(run, name)]
        left_of = iter(said)
        assert all(each.reply in left_of for each in after), "in their order, none twice"
        # Of the one that was under way, what had not been written yet is lost.
        assert len(after) == len(said) or (name not in done and name == min(whole.keys() - done))


async def test_a_call_of_a_sample_under_way_is_soon_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call_log_writer.WAIT_S < 1
    monkeypatch.setattr(call_log_writer, "WAIT_S", 0.02)
    with call_log_writer.open_call_log(tmp_path, print, set()) as keeper:
        listen = keeper.listener("s", CallSettings())
        for number in (1, 2):
            listen(call())
            async with asyncio.timeout(10):
                while len(read_calls(tmp_path, "s")) < number:
                    await asyncio.sleep(0.01)
        listen(call())
    assert len(read_calls(tmp_path, "s")) == 3, "what waits at the end is written, too"


def test_a_disk_that_is_full_ends_the_session_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = call_log_writer._made

    def small(path: Path) -> sqlite3.Connection:
        file = made(path)
        file.execute("PRAGMA max_page_count=12")
        return file

    monkeypatch.setattr(call_log_writer, "_made", small)
    with pytest.raises(RunError) as raised:
        run_request(asked(), tmp_path / "r")
    said = f"cannot write to {tmp_path / 'r' / NAME}: database or disk is full."
    assert str(raised.value).startswith(said)
    lines = read_samples(tmp_path / "r")
    kept = count_calls(tmp_path / "r")
    assert all(kept[line["id"]].calls == line["usage"]["calls"] for line in lines)
    monkeypatch.undo()
    assert run_request(asked(), tmp_path / "r").left == 0
    assert read_errors(tmp_path / "r") == []


def test_reading_writes_nothing_and_needs_no_right_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "r"
    run_request(asked(n=2), run)
    before = {path.name: path.stat().st_mtime_ns for path in run.iterdir()}
    expected = count_calls(run)
    assert {path.name: path.stat().st_mtime_ns for path in run.iterdir()} == before

    with closing(sqlite3.connect(run / NAME)) as file:
        file.execute("PRAGMA journal_mode=WAL")  # as a kill leaves it where its log was left out
    for path in run.glob(f"{NAME}-*"):
        path.unlink()
    assert count_calls(run) == expected
    assert [path.name for path in run.glob(f"{NAME}*")] == [NAME]

    real = sqlite3.connect

    def no_rights(where: Any, *more: Any, **named: Any) -> Any:
        if "immutable" not in str(where):
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error
        return real(where, *more, **named)

    with real(run / NAME) as file:
        file.execute("PRAGMA journal_mode=DELETE")
    call_log._our_tables()
    monkeypatch.setattr(sqlite3, "connect", no_rights)
    assert count_calls(run) == expected
    (run / f"{NAME}-wal").write_bytes(b"something that was written last")
    with pytest.raises(RunError, match=r"is in its log.*Copy the run"):
        count_calls(run)


# --- files of other hands ------------------------------------------------------------------------


def test_a_broken_or_newer_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_log, "_WAIT_S", 0.02)
    run = tmp_path / "r"
    run_request(asked(n=2), run)
    name, whole = next(iter(count_calls(run))), (run / NAME).read_bytes()

    def said(change: str | bytes) -> str:
        (run / NAME).write_bytes(change if isinstance(change, bytes) else whole)
        if isinstance(change, str):
            with closing(sqlite3.connect(run / NAME)) as file:
                file.executescript(f"PRAGMA writable_schema=ON; {change}")
        with pytest.raises(RunError) as raised:
            read_calls(run, name)
        text = str(raised.value)
        assert text.startswith(str(run / NAME))
        assert "\n" not in text
        assert len(text) < 600
        return text

    with closing(sqlite3.connect(run / NAME)) as busy:
        busy.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RunError, match=r"cannot read .*: database is locked"):
            read_calls(run, name)
    assert "it is no database" in said(b"no database at all" * 99)
    assert "is broken" in said(whole[:2048])
    assert "made by a newer version" in said("PRAGMA user_version=2")
    assert "not the tables" in said("CREATE TABLE more(x)")
    assert "not the tables" in said(
        "DROP TABLE calls; CREATE VIEW calls AS WITH RECURSIVE n(x) AS"
        " (SELECT 1 UNION ALL SELECT x FROM n) SELECT * FROM n"
    )
    assert "not the one that was written" in said("UPDATE texts SET hash = randomblob(16)")
    assert "cannot be inflated" in said("UPDATE texts SET data = x'ffff'")
    bomb = zlib.compressobj(wbits=-15)
    big = (bomb.compress(b" " * 50_000_000) + bomb.flush()).hex()
    assert "not the one that was" in said(f"UPDATE texts SET base = NULL, data = x'{big}'")
    assert "too many others" in said("UPDATE texts SET base = id")
    assert "is not there" in said("DELETE FROM texts")
    assert "does not come after" in said("UPDATE talks SET before = id + 1")
    assert "has not the form" in said("UPDATE calls SET began = 'soon'")
    assert "has not the form" in said("UPDATE calls SET talk = 'none'")


def test_a_broken_file_is_set_aside_and_said_when_the_run_goes_on(tmp_path: Path) -> None:
    class Told(SilentDisplay):
        def __init__(self) -> None:
            self.notes: list[str] = []

        def note(self, text: str) -> None:
            self.notes.append(text)

    run, told = tmp_path / "r", Told()
    run_request(asked(n=3), run, Session(limit=1))
    (run / NAME).write_bytes(b"no database at all" * 99)
    summary = run_request(asked(n=3), run, Session(display=told, limit=2))
    assert (summary.left, summary.error) == (1, 0)
    (said,) = [each for each in told.notes if NAME in each]
    assert f"It is kept as {NAME}.broken-1, and calls are kept anew" in said
    assert len(count_calls(run)) == 1
    newer = sqlite3.connect(run / NAME)
    newer.execute("PRAGMA user_version=9")
    newer.close()
    with pytest.raises(RunError, match="made by a newer version of Navloom"):
        run_request(asked(n=3), run)
