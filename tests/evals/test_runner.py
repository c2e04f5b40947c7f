"""The engine: nothing lost, nothing twice, whatever is done to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphRecursionError

from navloom.errors import RunError, SceneError, UsageError
from navloom.evals.progress import PlainDisplay, SilentDisplay, Tally
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.runner import run_batch
from navloom.evals.session import Sample, Session, StopSignal, select_samples
from navloom.graphs.agent_graph import open_checkpoints
from navloom.models.redaction import error_line
from navloom.models.usage import ModelUsage, price_of, reply_usage, sum_usage
from tests.evals.dummy import STEPS, DummyJob, make_samples, open_folder, program


def lasting(path: Path) -> list[dict[str, Any]]:
    """The samples of a run without what a clock decides."""
    return [{k: v for k, v in s.items() if k != "seconds"} for s in read_samples(path)]


def timeless(path: Path) -> list[dict[str, Any]]:
    """The same without what was paid, which nobody can know of what cannot be read."""
    return [{k: v for k, v in s.items() if k in ("id", "status", "result")} for s in lasting(path)]


def calls(log: Path) -> Counter[str]:
    return Counter(log.read_text().splitlines()) if log.exists() else Counter()


def threads(path: Path) -> set[str]:
    with sqlite3.connect(path / "checkpoints.sqlite") as connection:
        rows = connection.execute("select thread_id from checkpoints").fetchall()
    connection.close()
    return {row[0] for row in rows}


async def finish(path: Path, count: int = 6, job: DummyJob | None = None, **more: Any) -> Any:
    with open_folder(path) as folder:
        return await run_batch(folder, make_samples(count), job or DummyJob(), Session(**more))


# --- the plain way -------------------------------------------------------------------------------


async def test_every_sample_gets_its_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    summary = await finish(tmp_path / "r", 10, DummyJob(log))
    done = read_samples(tmp_path / "r")
    assert [s["id"] for s in done] == sorted(s.id for s in make_samples(10))
    assert summary.ok + summary.failed == summary.samples == 10
    assert summary.error == summary.left == 0
    assert summary.exit_code == 0
    for sample in done:
        assert sample["status"] == ("failed" if sample["seed"] % 2 else "ok")
        assert (sample["result"] is None) == (sample["status"] == "failed")
        assert sample["usage"] == {"calls": 8, "input_tokens": 80, "output_tokens": 16}
        assert sample["cost_usd"] == 0.0
        assert sample["seconds"] > 0
    assert set(calls(log).values()) == {1}
    assert sum(calls(log).values()) == 10 * STEPS
    written = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert written["usage"]["calls"] == 80
    assert written["ok"] == summary.ok


async def test_lines_have_the_columns_and_their_order(tmp_path: Path) -> None:
    sample = Sample("a-1", 4, "demo:flat", 1, {"profile": {"name": "child"}})
    with open_folder(tmp_path) as folder:
        await run_batch(folder, [sample], DummyJob())
    (line,) = read_samples(tmp_path)
    columns = "id scene attempt seed status reason message profile result usage cost_usd seconds"
    assert " ".join(line) == f"{columns} models"
    assert line["profile"] == {"name": "child"}


async def test_a_finished_run_does_nothing_more(tmp_path: Path) -> None:
    log = tmp_path / "log"
    await finish(tmp_path / "r", job=DummyJob(log))
    before = (tmp_path / "r" / "samples.jsonl").read_bytes()
    summary = await finish(tmp_path / "r", job=DummyJob(log))
    assert (tmp_path / "r" / "samples.jsonl").read_bytes() == before
    assert sum(calls(log).values()) == 6 * STEPS
    assert summary.ok + summary.failed == 6


@pytest.mark.slow
async def test_checkpoints_of_finished_samples_are_gone(tmp_path: Path) -> None:
    await finish(tmp_path, 30)
    assert threads(tmp_path) == set()
    size = (tmp_path / "checkpoints.sqlite").stat().st_size
    for number in range(2):
        await finish(tmp_path / str(number), 60)
    assert (tmp_path / "0" / "checkpoints.sqlite").stat().st_size < 1.5 * size


async def test_few_samples_are_under_way_at_once_and_scene_after_scene(tmp_path: Path) -> None:
    class Watching(DummyJob):
        now = most = 0
        scenes: list[str] = []  # noqa: RUF012

        def context(self, sample: Sample) -> Any:
            self.now += 1
            self.most = max(self.most, self.now)
            self.scenes.append(sample.scene)
            return super().context(sample)

        def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
            self.now -= 1
            return super().record(sample, state)

    job = Watching(delay=0.001)
    await finish(tmp_path, 30, job, max_connections=3)
    assert job.most == 3
    assert sum(a != b for a, b in zip(job.scenes, job.scenes[1:], strict=False)) == 2


async def test_two_samples_with_one_id_are_refused(tmp_path: Path) -> None:
    with open_folder(tmp_path) as folder, pytest.raises(RunError, match="same id"):
        await run_batch(folder, [Sample("a", 1, "demo:flat")] * 2, DummyJob())


# --- errors --------------------------------------------------------------------------------------


async def test_an_exception_is_an_error_line_and_the_others_go_on(tmp_path: Path) -> None:
    broken = make_samples(6)[2].id
    log = tmp_path / "log"
    run = tmp_path / "r"
    summary = await finish(run, job=DummyJob(log, breaks={broken: 5}))
    assert summary.error == 1
    assert summary.exit_code == 2
    assert len(read_samples(run)) == 5
    (error,) = read_errors(run)
    assert error["id"] == broken
    assert error["status"] == "error"
    assert error["reason"] == "ValueError"
    assert error["message"] == "ValueError: two lines"
    assert error["usage"]["calls"] == 5  # what was paid for before it broke
    # Not again unless asked; then from the last good step on.
    again = await finish(run, job=DummyJob(log))
    assert again.error == 1
    retried = await finish(run, job=DummyJob(log), retry=True)
    assert (retried.error, retried.ok + retried.failed) == (0, 6)
    assert set(calls(log).values()) == {1}
    await finish(tmp_path / "whole")
    assert lasting(run) == lasting(tmp_path / "whole")


async def test_errors_outside_the_graph_are_errors_of_the_sample_too(tmp_path: Path) -> None:
    class Odd(DummyJob):
        def context(self, sample: Sample) -> Any:
            if sample.scene == "demo:flat":
                raise SceneError("no scene 'flat'")
            return super().context(sample)

        def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
            if sample.scene == "demo:house":
                return {"status": "ok", "result": {1, 2}}
            raise GraphRecursionError("Recursion limit of 25 reached\nFor more, see")

    summary = await finish(tmp_path, job=Odd())
    assert summary.error == 6
    said = {e["scene"]: e["message"] for e in read_errors(tmp_path)}
    assert said["demo:flat"] == "no scene 'flat'"
    assert said["demo:house"].startswith("TypeError: ")
    assert said["demo:villa"].startswith("GraphRecursionError: Recursion limit of 25 reached For")


def test_one_line_is_bounded_and_tells_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijk")
    said = error_line(ValueError("bad key sk-abcdefghijk\n" + "x" * 5000))
    assert said.startswith("ValueError: bad key <OPENAI_API_KEY> xxx")
    assert len(said) == 500
    assert error_line(KeyError()) == "KeyError"


async def test_a_full_checkpoint_file_ends_the_session_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await finish(tmp_path / "whole")
    setup = "navloom.evals.runner.AsyncSqliteSaver.setup"
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    real = AsyncSqliteSaver.setup

    async def small(self: AsyncSqliteSaver) -> None:
        await real(self)
        await self.conn.execute("PRAGMA max_page_count=30")

    monkeypatch.setattr(setup, small)
    with pytest.raises(RunError, match="database or disk is full") as error:
        await finish(tmp_path / "r")
    assert "\n" not in str(error.value)
    assert read_errors(tmp_path / "r") == []
    monkeypatch.undo()
    await finish(tmp_path / "r")
    assert lasting(tmp_path / "r") == lasting(tmp_path / "whole")


async def test_a_broken_checkpoint_file_is_set_aside_and_said(tmp_path: Path) -> None:
    with open_folder(tmp_path):
        (tmp_path / "checkpoints.sqlite").write_bytes(b"this is no database at all" * 100)
    told = StopAfter(StopSignal(), 99)
    assert (await finish(tmp_path, display=told)).left == 0
    assert "checkpoints.sqlite is broken: file is not a database. It is kept as" in told.notes[1]
    assert (tmp_path / "checkpoints.sqlite.broken-1").read_bytes().startswith(b"this is no")


@pytest.mark.slow
async def test_flipped_bytes_cost_what_was_under_way_and_nothing_that_is_finished(
    tmp_path: Path,
) -> None:
    await finish(tmp_path / "whole")
    names = [sample.id for sample in make_samples(6)]
    await finish(tmp_path / "r", job=DummyJob(breaks=dict.fromkeys(names[2:], STEPS - 2)))
    done = (tmp_path / "r" / "samples.jsonl").read_bytes()
    assert done.count(b"\n") == 2
    dice, said = random.Random(4), 0
    for number in range(12):
        run = tmp_path / f"again-{number}"
        shutil.copytree(tmp_path / "r", run)
        kept = bytearray((run / "checkpoints.sqlite").read_bytes())
        for _ in range(30):
            kept[dice.randrange(len(kept))] ^= 1 << dice.randrange(8)
        (run / "checkpoints.sqlite").write_bytes(kept)
        told = StopAfter(StopSignal(), 99)
        assert (await finish(run, display=told, retry=True)).error == 0
        assert timeless(run) == timeless(tmp_path / "whole")
        assert (run / "samples.jsonl").read_bytes().startswith(done)
        said += any("broken" in note or "starts over" in note for note in told.notes)
    assert said > 8


# --- stopping and going on -----------------------------------------------------------------------


class StopAfter(SilentDisplay):
    """Requests a stop when so many samples have ended."""

    def __init__(self, stop: StopSignal, after: int, times: int = 1) -> None:
        self.stop, self.after, self.times, self.notes = stop, after, times, [""]

    def step(self, tally: Tally) -> None:
        self.after -= 1
        if self.after == 0:
            for _ in range(self.times):
                self.stop.request()

    def note(self, text: str) -> None:
        self.notes.append(text)


class Staggered(DummyJob):
    """No two samples finish together, so that a stop always meets some in the middle."""

    def context(self, sample: Sample) -> Any:
        return replace(super().context(sample), delay=0.01 + sample.seed % 97 / 2000)


async def test_a_drained_run_repeats_no_step(tmp_path: Path) -> None:
    log = tmp_path / "log"
    stop = StopSignal()
    display = StopAfter(stop, 3)
    summary = await finish(
        tmp_path / "r", 12, Staggered(log), stop=stop, display=display, max_connections=4
    )
    assert summary.interrupted
    assert summary.exit_code == 130
    assert 3 <= len(read_samples(tmp_path / "r")) < 12
    assert summary.left == 12 - len(read_samples(tmp_path / "r"))
    assert threads(tmp_path / "r")  # some were in the middle
    assert "Ctrl-C again" in display.notes[-1]
    await finish(tmp_path / "r", 12, DummyJob(log))
    assert set(calls(log).values()) == {1}
    await finish(tmp_path / "whole", 12)
    assert lasting(tmp_path / "r") == lasting(tmp_path / "whole")


async def test_stopping_twice_cuts_the_steps_under_way(tmp_path: Path) -> None:
    stop = StopSignal()
    job = DummyJob(delay=60.0)
    task = asyncio.create_task(finish(tmp_path / "r", 4, job, stop=stop))
    await asyncio.sleep(0.3)
    stop.request()
    await asyncio.sleep(0.1)
    assert not task.done()
    stop.request()
    summary = await asyncio.wait_for(task, 5)
    assert summary.left == 4
    assert summary.interrupted


async def test_a_kill_between_the_last_step_and_the_line_calls_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    from navloom.evals.run_folder import RunFolder

    with monkeypatch.context() as patch:

        def die(self: RunFolder, record: dict[str, Any]) -> None:
            raise asyncio.CancelledError

        patch.setattr(RunFolder, "add_sample", die)
        await finish(tmp_path / "r", 3, DummyJob(log))
    assert read_samples(tmp_path / "r") == []
    assert len(threads(tmp_path / "r")) == 3

    class NoContext(DummyJob):
        def context(self, sample: Sample) -> Any:
            raise AssertionError("nothing is to be run")

    summary = await finish(tmp_path / "r", 3, NoContext(log))
    assert summary.error == 0
    assert set(calls(log).values()) == {1}
    await finish(tmp_path / "whole", 3)
    assert lasting(tmp_path / "r") == lasting(tmp_path / "whole")


async def test_what_another_version_began_starts_over(tmp_path: Path) -> None:
    run, log = tmp_path / "r", tmp_path / "log"
    names = [sample.id for sample in make_samples(2)]
    await finish(run, 2, DummyJob(log, breaks={names[0]: 5}))
    assert threads(run) == {names[0]}
    record = json.loads((run / "run.json").read_text()) | {"navloom": "0.0.1"}
    (run / "run.json").write_text(json.dumps(record))
    summary = await finish(run, 2, DummyJob(log), retry=True)
    assert (summary.error, summary.left) == (0, 0)
    # Steps of another version's graph are done again, and only those of what was under way.
    assert [calls(log)[f"{name} 0"] for name in names] == [2, 1]
    await finish(tmp_path / "whole", 2)
    assert lasting(run) == lasting(tmp_path / "whole")


WRITES = 20  # more than one sample of the dummy makes: two a step, and those of the input


@pytest.mark.some(6)
@pytest.mark.parametrize("last", range(WRITES))
async def test_whichever_write_is_the_last_it_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    """A kill after each single write to the checkpoints in turn, by letting no more through."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    log, run = tmp_path / "log", tmp_path / "r"
    done = 0
    refused: list[str] = []

    def dying(name: str) -> Any:
        real = getattr(AsyncSqliteSaver, name)

        async def write(self: AsyncSqliteSaver, *args: Any, **more: Any) -> Any:
            nonlocal done
            done += 1
            if done > last:
                refused.append(name)
                raise sqlite3.OperationalError("killed")
            return await real(self, *args, **more)

        return write

    with monkeypatch.context() as patch:
        for name in ("aput", "aput_writes"):
            patch.setattr(AsyncSqliteSaver, name, dying(name))
        with contextlib.suppress(RunError):
            await finish(run, 1, DummyJob(log))
    summary = await finish(run, 1, DummyJob(log))
    assert summary.error == summary.left == 0
    await finish(tmp_path / "whole", 1)
    assert lasting(run) == lasting(tmp_path / "whole")
    # Only a step whose own writes were refused was in flight, and none where all went through.
    repeated = sum(calls(log).values()) - STEPS
    assert repeated <= (refused[:1] == ["aput_writes"])


async def test_a_state_without_a_status_is_an_error_and_no_sample(tmp_path: Path) -> None:
    class Vague(DummyJob):
        def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
            return {"status": None}

    summary = await finish(tmp_path, 2, Vague())
    assert (summary.error, read_samples(tmp_path)) == (2, [])


async def test_a_kill_between_the_line_and_the_sweep_leaves_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    with monkeypatch.context() as patch:

        async def die(self: AsyncSqliteSaver, name: str) -> None:
            raise asyncio.CancelledError

        patch.setattr(AsyncSqliteSaver, "adelete_thread", die)
        await finish(tmp_path, 9, max_connections=2)
    left = threads(tmp_path)
    assert left == {s["id"] for s in read_samples(tmp_path)} != set()
    await finish(tmp_path, 9)
    assert threads(tmp_path) == set()


def start(run: Path, log: Path, *more: str) -> BaseProcess:
    """The dummy's program, forked from a server that has imported it; it lives once it is open."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([program.__module__])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=program, args=([str(run), str(log), *more], there))
    process.start()
    there.close()
    assert here.recv() == "open"
    return process


@pytest.mark.slow
def test_killed_ten_times_it_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    """kill -9 at random moments, on a graph whose steps take 20 ms each."""
    count, connections = 90, 4
    more = ("--count", str(count), "--delay", "0.02", "--connections", str(connections))
    run, log = tmp_path / "r", tmp_path / "log"
    dice = random.Random(11)
    kills = 0
    while kills < 10:
        process = start(run, log, *more)
        time.sleep(dice.uniform(0.0, 0.5))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL, "it ended before its tenth kill"
        kills += 1
        with open_folder(run):  # whole, and no longer held by who was killed
            assert {s["id"] for s in read_samples(run)} <= {s.id for s in make_samples(count)}
    process = start(run, log, *more)
    process.join(60)
    assert process.exitcode == 0

    done = read_samples(run)
    assert [s["id"] for s in done] == sorted(s.id for s in make_samples(count))
    assert read_errors(run) == []
    made = calls(log)
    assert len(made) == count * STEPS
    repeated = sum(made.values()) - len(made)
    assert repeated <= kills * connections

    asyncio.run(finish(tmp_path / "whole", count))
    assert lasting(run) == lasting(tmp_path / "whole")
    assert threads(run) == set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_and_exits_with_130(tmp_path: Path, number: signal.Signals) -> None:
    run, log, errors = (tmp_path / name for name in ("r", "log", "errors"))
    process = start(run, log, "--count", "30", "--delay", "0.1", "--errors", str(errors))
    while not calls(log):
        time.sleep(0.02)
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join(20)
    assert process.exitcode == 130, errors.read_text()
    assert "Traceback" not in errors.read_text()
    assert set(calls(log).values()) == {1}
    assert json.loads((run / "summary.json").read_text())["interrupted"] is True


# --- checkpoints are data ------------------------------------------------------------------------


async def test_checkpoints_bring_back_messages_and_nothing_that_runs(tmp_path: Path) -> None:
    async with open_checkpoints(tmp_path / "c.sqlite") as saver:
        call = {"name": "f", "args": {"x": 1}, "id": "1", "type": "tool_call"}
        kept: list[Any] = [
            HumanMessage("a", id="1"),
            AIMessage("b", id="2", tool_calls=[call]),
            ToolMessage("c", tool_call_id="1", id="3"),
            {"legs": [1, 2], "none": None},
        ]
        assert saver.serde.loads_typed(saver.serde.dumps_typed(kept)) == kept
        hostile = saver.serde.loads_typed(saver.serde.dumps_typed(Tally()))
        assert not isinstance(hostile, Tally)
        with pytest.raises(NotImplementedError):
            saver.serde.loads_typed(("pickle", b"cos\nsystem\n(S'true'\ntR."))


# --- tokens and money ----------------------------------------------------------------------------


def test_usage_counts_what_models_wrote() -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    paid = [reply_usage(AIMessage("y", usage_metadata=usage)), reply_usage(AIMessage("z"))]
    used = sum_usage(ModelUsage.read(each) for each in paid)
    assert used == {"calls": 2, "input_tokens": 5, "output_tokens": 7}
    # Nobody asked for these by the way that tells the model.
    assert [each["cost_usd"] for each in paid] == [None, None]


def test_prices() -> None:
    usage = {"calls": 1, "input_tokens": 1_000_000, "output_tokens": 1_000_000}
    # https://openai.com/api/pricing: gpt-4o-mini, 0.15 and 0.60 dollars per million tokens.
    assert price_of("openai/gpt-4o-mini", usage) == pytest.approx(0.75)
    assert price_of("builtin/heuristic", usage) == 0.0
    assert price_of("openai/no-such-model-9", usage) is None
    assert price_of("vllm/Qwen/Qwen2.5-7B", usage) is None


async def test_an_unknown_price_is_said(tmp_path: Path) -> None:
    job = DummyJob()
    job.model = "vllm/mine"
    summary = await finish(tmp_path, 3, job)
    assert summary.cost_usd is None
    assert summary.cost_note == "no price is known for vllm/mine"
    assert read_samples(tmp_path)[0]["cost_usd"] is None


# --- what a person sees --------------------------------------------------------------------------


async def test_plain_progress_goes_to_stderr_with_rate_and_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await finish(tmp_path, 6, display=PlainDisplay(every=0.0))
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 7
    assert lines[-1].startswith("6/6 samples (")
    assert "0 errors), " in lines[-1]
    assert lines[0].endswith(" left")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
async def test_rich_progress_draws_nothing_on_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from navloom.evals.progress import make_display

    await finish(tmp_path, 3, display=make_display("rich"))
    out, err = capsys.readouterr()
    assert out == ""
    assert "3/3" in err


# --- selection -----------------------------------------------------------------------------------


async def test_a_part_of_a_run_now_and_the_rest_later(tmp_path: Path) -> None:
    samples = make_samples(9)
    first = select_samples(samples, limit=4)
    assert first == {sample.id for sample in samples[:4]}
    summary = await finish(tmp_path / "r", 9, limit=4)
    assert {s["id"] for s in read_samples(tmp_path / "r")} == first
    assert (summary.samples, summary.left, summary.interrupted) == (9, 5, False)
    assert summary.exit_code == 0
    await finish(tmp_path / "r", 9)
    await finish(tmp_path / "whole", 9)
    assert lasting(tmp_path / "r") == lasting(tmp_path / "whole")


def test_select() -> None:
    samples = make_samples(6)
    names = [sample.id for sample in samples]
    assert select_samples(samples) == set(names)
    assert select_samples(samples, ids=[names[4], names[1]]) == {names[1], names[4]}
    assert select_samples(samples, ids=[names[4], names[1]], limit=1) == {names[1]}
    with pytest.raises(UsageError, match=r"Did you mean .*'demo-flat-00000'"):
        select_samples(samples, ids=["demo-flat-0000"])
