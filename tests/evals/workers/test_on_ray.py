"""Workers on Ray: a cluster of this machine, nodes of which one goes, and what has no token."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from navloom.evals.navcraft.export import export_run
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.runner import run_request
from tests.evals.workers.test_workers import lasting

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (navloom[ray])"),
]
RELAYS = SynthRequest(kind="collab", spec="demo:", n=8, seed=5)


def on_ray(out: Path, *words: str) -> tuple[dict[str, Any], str]:
    """What came of a run on a cluster, and what was said."""
    run = [sys.executable, "-m", "tests.evals.workers.on_ray", str(out), *words]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    # Ray may still say something on stdout as it ends.
    told = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert told, done.stdout + done.stderr
    return json.loads(told[-1]), done.stderr


def navloom(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "navloom", *words]
    env = {k: v for k, v in os.environ.items() if not k.startswith("RAY_AUTH")} | more
    return subprocess.run(run, capture_output=True, text=True, timeout=300, env=env)


def test_a_cluster_that_navloom_starts_makes_the_same_export(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run_request(RELAYS, one)
    words = ("synth", "collab", "demo:", "--n", "8", "--seed", "5", "--out", str(two))
    done = navloom(*words, "--workers", "2", "--cluster", "ray")
    assert done.returncode == 0, done.stderr
    for run in (one, two):
        export_run(run, run.with_suffix(".jsonl"))
    assert one.with_suffix(".jsonl").read_bytes() == two.with_suffix(".jsonl").read_bytes()
    assert lasting(one) == lasting(two)


@pytest.mark.parametrize("apart", [False, True])
def test_two_nodes_make_the_same_lines_whether_they_see_the_folder_or_not(
    apart: bool, tmp_path: Path
) -> None:
    run_request(RELAYS, tmp_path / "one")
    words = ("--spec", "demo:", "--n", "8", *(["--apart"] if apart else []))
    summary, said = on_ray(tmp_path / "two", *words)
    assert summary == {"ok": 8, "left": 0, "error": 0, "nodes": 2}
    assert ("does not see the run's folder" in said) == apart
    assert lasting(tmp_path / "one") == lasting(tmp_path / "two")


def test_a_node_that_goes_takes_no_sample_with_it(tmp_path: Path) -> None:
    words = ("--n", "24", "--delay", "1.0", "--remove-after", "4")
    summary, said = on_ray(tmp_path / "r", *words)
    assert summary == {"ok": 24, "left": 0, "error": 0, "nodes": 1}
    assert "another takes its place" in said


@contextmanager
def head(port: int, **env: str) -> Iterator[None]:
    """A cluster that somebody else has started."""
    ray = [sys.executable, "-c", "from ray.scripts.scripts import main; main()"]
    start = ["start", "--head", "--block", f"--port={port}", "--num-cpus=1"]
    # Not `ray stop`: it ends every Ray of this machine, also those of other tests.
    running = subprocess.Popen(
        [*ray, *start, "--include-dashboard=false"],
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and running.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.5)
        time.sleep(2)
        yield
    finally:
        running.terminate()
        running.wait(timeout=60)


def test_a_cluster_without_a_token_is_refused_and_one_with_a_token_asks_for_it(
    tmp_path: Path,
) -> None:
    words = ("synth", "single", "demo:flat", "--n", "1", "--workers", "1", "--out")
    with head(6491, RAY_AUTH_MODE="disabled"):
        done = navloom(*words, str(tmp_path / "a"), "--cluster", "ray:127.0.0.1:6491")
        assert (done.returncode, done.stderr.count("\n")) == (1, 2), done.stderr
        assert "takes work, which is code, from whoever reaches it" in done.stderr
        done = navloom(
            *words, str(tmp_path / "a"), "--cluster", "ray:127.0.0.1:6491", "--open-cluster"
        )
        assert done.returncode == 0, done.stderr
    token = secrets.token_hex(32)
    with head(6492, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=token):
        done = navloom(*words, str(tmp_path / "b"), "--cluster", "ray:127.0.0.1:6492")
        assert done.returncode == 1
        assert "it wants its token: set RAY_AUTH_TOKEN" in done.stderr
        done = navloom(
            *words, str(tmp_path / "b"), "--cluster", "ray:127.0.0.1:6492", RAY_AUTH_TOKEN=token
        )
        assert done.returncode == 0, done.stderr
        assert token not in "".join(
            file.read_text(errors="replace") for file in (tmp_path / "b").iterdir()
        )


def test_a_cluster_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    words = ("synth", "single", "demo:flat", "--n", "1", "--workers", "1", "--out")
    done = navloom(*words, str(tmp_path / "r"), "--cluster", "ray:127.0.0.1:6499")
    assert done.returncode == 1
    assert "--cluster ray:127.0.0.1:6499 cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
