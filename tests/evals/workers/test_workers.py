"""Runs by workers: the same lines as by one process, whatever becomes of a worker."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError, UsageError
from navloom.evals import run_kinds
from navloom.evals.call_log import read_calls
from navloom.evals.navcraft.export import export_run
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.progress import SilentDisplay, Tally
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.runner import SampleQueue, run_request
from navloom.evals.session import Sample, Session, StopSignal
from navloom.evals.workers import worker_pools
from navloom.models import get_model
from navloom.testing import Status
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with
from tests.evals.workers import strange
from tests.evals.workers.strange import STEPS, StrangeRequest


def lasting(path: Path) -> list[dict[str, Any]]:
    """The lines of a run without what a clock decides."""
    return [
        {k: v for k, v in s.items() if k not in ("seconds", "models")} for s in read_samples(path)
    ]


class Noted(SilentDisplay):
    def __init__(self, stop: StopSignal | None = None, after: int = 0) -> None:
        self.notes: list[str] = []
        self.stop, self.after = stop, after

    def note(self, text: str) -> None:
        self.notes.append(text)

    def step(self, tally: Tally) -> None:
        self.after -= 1
        if self.stop is not None and self.after == 0:
            self.stop.request()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strange kind, here and in workers."""
    at = tmp_path / "site"
    at.mkdir()
    strange.install(at)
    monkeypatch.syspath_prepend(str(at))
    monkeypatch.setitem(run_kinds.KINDS, "strange", f"{strange.__name__}:STRANGE")


def test_two_workers_make_the_lines_calls_and_export_of_one_process(tmp_path: Path) -> None:
    request = SynthRequest(kind="collab", spec="demo:", n=6, seed=5)
    one, two = tmp_path / "one", tmp_path / "two"
    run_request(request, one)
    summary = run_request(request, two, Session(workers=2))
    assert (summary.ok, summary.left, summary.error) == (6, 0, 0)
    assert lasting(one) == lasting(two)
    for run in (one, two):
        export_run(run, run.with_suffix(".jsonl"))
    assert one.with_suffix(".jsonl").read_bytes() == two.with_suffix(".jsonl").read_bytes()
    assert asked_of(one) == asked_of(two)
    with closing(sqlite3.connect(two / "checkpoints.sqlite")) as file:
        assert file.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)


def asked_of(run: Path) -> dict[str, list[Any]]:
    """What each sample was asked, and said, without what a clock decides."""
    said = {}
    for sample in read_samples(run):
        calls = read_calls(run, sample["id"])
        said[sample["id"]] = [
            (c.messages, c.reply, c.tools, c.schema, c.model, c.node, c.usage) for c in calls
        ]
    return said


@pytest.mark.slow
def test_a_worker_that_is_lost_is_replaced_and_no_step_done_twice(
    installed: None, tmp_path: Path
) -> None:
    log, noted = tmp_path / "log", Noted()
    request = StrangeRequest(once=str(tmp_path / "once"), log=str(log))
    summary = run_request(request, tmp_path / "r", Session(workers=2, display=noted))
    assert (summary.ok, summary.left, summary.error) == (6, 0, 0)
    assert [note for note in noted.notes if "SIGKILL: out of memory?: another takes its" in note]
    steps = [line.split()[:2] for line in log.read_text().splitlines()]
    again = len(steps) - 6 * STEPS
    # Only what was under way: a step of each of the worker's samples at most.
    assert 1 <= again <= 4
    assert summary.usage["calls"] == 6 * STEPS


@pytest.mark.slow
def test_a_sample_that_ends_three_workers_is_an_error_and_no_other_is(
    installed: None, tmp_path: Path
) -> None:
    deadly = "demo-flat-00001"
    request = StrangeRequest(deadly=(deadly,), log=str(tmp_path / "log"))
    noted = Noted()
    session = Session(workers=2, display=noted, max_connections=4)
    summary = run_request(request, tmp_path / "r", session)
    assert (summary.ok, summary.error, summary.left) == (5, 1, 0)
    (error,) = read_errors(tmp_path / "r")
    assert (error["id"], error["reason"]) == (deadly, "WorkerLostError")
    assert error["message"].startswith("3 workers were lost at one step of it: worker")
    assert error["usage"]["calls"] == 2  # what was paid for before
    steps = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert sum(step[:2] == [deadly, "2"] for step in steps) == 3
    again = run_request(request, tmp_path / "r", Session(workers=1))
    assert (again.ok, again.error) == (5, 1)


@pytest.mark.slow
def test_a_stop_drains_all_workers_and_the_run_goes_on_with_other_numbers(
    installed: None, tmp_path: Path
) -> None:
    stop, log = StopSignal(), tmp_path / "log"
    request = StrangeRequest(n=16, delay=0.02, log=str(log))
    session = Session(workers=2, stop=stop, display=Noted(stop, after=3), max_connections=4)
    stopped = run_request(request, tmp_path / "r", session)
    assert stopped.interrupted
    assert 3 <= stopped.ok < 16
    rest = run_request(request, tmp_path / "r", Session(workers=1))
    assert (rest.ok, rest.left) == (16, 0)
    assert len(log.read_text().splitlines()) == 16 * STEPS


@pytest.mark.slow
def test_workers_end_within_a_second_of_their_driver(installed: None, tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "from navloom.evals import run_kinds; from navloom.evals.runner import run_request;"
        "from navloom.evals.session import Session;"
        "from tests.evals.workers.strange import StrangeRequest;"
        f"run_request(StrangeRequest(n=40, delay=0.3, log={str(log)!r}), {str(tmp_path / 'r')!r},"
        " Session(workers=2))"
    )
    path = os.pathsep.join(each for each in sys.path if each)
    driver = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
    until = time.monotonic() + 60
    while not (log.exists() and len(workers_in(log)) == 2) and time.monotonic() < until:
        time.sleep(0.05)
    workers = workers_in(log)
    assert len(workers) == 2
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    time.sleep(1.0)
    assert [pid for pid in workers if is_there(pid)] == []


def workers_in(log: Path) -> set[int]:
    return {int(line.split()[2]) for line in log.read_text().splitlines() if len(line.split()) == 3}


def is_there(pid: int) -> bool:
    """Whether a process runs: one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-000")
        yield running


@pytest.mark.slow
def test_a_limit_of_cost_holds_over_four_workers(server: ModelServer, tmp_path: Path) -> None:
    request = SynthRequest(kind="single", spec="demo:", n=24, model="openai/gpt-4o-mini")
    whole = run_request(request, tmp_path / "whole", Session(no_cache=True))
    limit = (whole.cost_usd or 0) / 3
    session = Session(no_cache=True, workers=4, cost_limit=limit, max_connections=8)
    summary = run_request(request, tmp_path / "r", session)
    assert summary.limit == f"--cost-limit ${limit:g} is reached"
    assert summary.left > 0
    calls = summary.usage["calls"]
    dearest = (whole.cost_usd or 0) / whole.usage["calls"] * 4
    assert limit <= (summary.cost_usd or 0) <= limit + 8 * dearest
    assert calls < whole.usage["calls"]
    rest = run_request(request, tmp_path / "r", Session(no_cache=True, workers=2))
    assert (rest.left, rest.usage["calls"]) == (0, whole.usage["calls"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--workers", "0"], "greater than or equal to 1"),
        (["--workers", "500"], "less than or equal to 256"),
        (["--cluster", "ray"], "--cluster needs --workers N"),
        (["--workers", "2", "--cluster", "dask"], "--cluster dask: expected ray"),
        (["--workers", "2", "--open-cluster"], "there is none"),
    ],
)
def test_what_workers_cannot_be_is_one_line(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["synth", "single", "demo:", "--n", "1", "--out", str(tmp_path / "r"), *words]) == 1
    err = capsys.readouterr().err
    assert said in " ".join(err.split())
    assert "Traceback" not in err
    assert not (tmp_path / "r").exists()
    with pytest.raises(UsageError):
        Session(workers=500)


@pytest.mark.slow
def test_a_worker_of_another_version_says_so(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("navloom.evals.workers.worker_group.package_version", lambda _: "0.0.9")
    with pytest.raises(RunError, match=r"it has navloom .*, and the driver 0.0.9: inst"):
        run_request(StrangeRequest(), tmp_path / "r", Session(workers=2))


@pytest.mark.slow
def test_a_worker_that_sees_other_files_says_so(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "navloom.evals.workers.worker_group.read_run", lambda _: {"request_hash": "other"}
    )
    with pytest.raises(RunError, match="is another here: its scenes or files are not those of"):
        run_request(StrangeRequest(), tmp_path / "r", Session(workers=1))
    monkeypatch.undo()


@pytest.mark.slow
def test_a_worker_without_the_models_key_says_so_and_no_sample_is_an_error(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    there = SimpleNamespace(environ=left, pathsep=os.pathsep)
    monkeypatch.setattr(worker_pools, "os", there)
    request = SynthRequest(kind="single", spec="demo:flat", n=2, model="openai/gpt-4o-mini")
    with pytest.raises(RunError, match=r"worker \d .*openai/gpt-4o-mini.*OPENAI_API_KEY"):
        run_request(request, tmp_path / "r", Session(workers=1))
    assert read_errors(tmp_path / "r") == []
    monkeypatch.undo()


@pytest.mark.slow
def test_what_a_server_asked_for_is_waited_for_by_all_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two workers of one sample at once each: while one is to wait the other calls nobody."""
    came: list[float] = []

    def fault(number: int) -> Status | None:
        came.append(time.monotonic())
        return Status(429, retry_after=2.0) if number == 3 else None

    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=fault) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-000")
        request = SynthRequest(kind="single", spec="demo:", n=12, model="openai/gpt-4o-mini")
        session = Session(no_cache=True, workers=2, max_connections=2)
        summary = run_request(request, tmp_path / "r", session)
    assert (summary.ok, summary.error) == (12, 0)
    assert summary.usage["retries"] == 1
    waited = [when - came[3] for when in came[4:]]
    # One may have been on its way already.
    assert sum(seconds < 1.9 for seconds in waited) <= 1


@pytest.mark.slow
def test_a_worker_that_talks_nonsense_is_replaced_and_nothing_is_lost(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, texts = worker_pools._ProcessPeer.hear, iter(range(1000))

    async def hear(self: worker_pools._ProcessPeer) -> str | None:
        text = await real(self)
        return '{"say": "settle"}' if text and next(texts) == 6 else text

    monkeypatch.setattr(worker_pools._ProcessPeer, "hear", hear)
    noted = Noted()
    summary = run_request(StrangeRequest(), tmp_path / "r", Session(workers=2, display=noted))
    assert (summary.ok, summary.error, summary.left) == (6, 0, 0)
    assert [note for note in noted.notes if "said what cannot be read (KeyError)" in note]


@pytest.mark.slow
def test_a_second_line_of_a_sample_is_said_and_the_first_counts(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, again = worker_pools._ProcessPeer.hear, list[str]()

    async def hear(self: worker_pools._ProcessPeer) -> str | None:
        if again:
            return again.pop()
        text = await real(self)
        if text and '"say":"ended"' in text:
            again.append(text.replace('"steps":4', '"steps":5'))
        return text

    monkeypatch.setattr(worker_pools._ProcessPeer, "hear", hear)
    noted = Noted()
    summary = run_request(StrangeRequest(n=3), tmp_path / "r", Session(workers=1, display=noted))
    assert (summary.ok, summary.left) == (3, 0)
    assert {sample["result"]["steps"] for sample in read_samples(tmp_path / "r")} == {4}
    assert sum("gave a second line of" in note for note in noted.notes) == 3


def test_samples_wait_scene_by_scene_for_each_place() -> None:
    samples = [Sample(f"{scene}-{k}", k, scene) for scene in "abc" for k in range(4)]
    waiting = SampleQueue(samples, 2)
    taken = [waiting.take(k % 2) for k in range(12)]
    first, second = ([s.id for s in taken[k::2] if s] for k in (0, 1))
    assert first == ["a-0", "a-1", "a-2", "a-3", "c-0", "c-2"]
    assert second == ["b-0", "b-1", "b-2", "b-3", "c-1", "c-3"]
    assert waiting.take(0) is None
    alone = SampleQueue(samples)
    assert [alone.take(0) for _ in samples] == samples
