"""Overhead of tracing a run to a collector that accepts connections and never answers.

The same run of the rule-based baseline is made with and without tracing, taking turns. It is
measured in processor time of all threads. Its wall time may be longer, because the end of the run
waits for the collector.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from pathlib import Path

from benchmarks import Claim
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session

WHERE, SAMPLES, TURNS = "OTEL_EXPORTER_OTLP_ENDPOINT", 60, 3
WANTED = 0.85


def claims() -> list[Claim]:
    """Measure runs with and without tracing, taking turns."""
    try:
        import opentelemetry.exporter.otlp.proto.http  # noqa: F401
    except ImportError:
        return []
    before = os.environ.pop(WHERE, None)
    plain, traced = [], []
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        url = f"http://127.0.0.1:{hangs.getsockname()[1]}"
        _run(None, 3)
        _run(url, 3)
        for _ in range(TURNS):
            plain.append(_run(None, SAMPLES))
            traced.append(_run(url, SAMPLES))
    if before is not None:
        os.environ[WHERE] = before
    cpu, clock = (
        tuple(min(each[kind] for each in runs) for runs in (plain, traced)) for kind in (0, 1)
    )
    return [
        Claim(
            "a run traced to a collector that hangs",
            f"the same run untraced, processor time; synth collab demo:house --n {SAMPLES}",
            cpu[0] / cpu[1],
            WANTED,
            equal=all(each[2] == plain[0][2] for each in [*plain, *traced]),
            note=f"{cpu[1]:.2f} s beside {cpu[0]:.2f} s; by the clock {clock[1] - clock[0]:+.1f} s",
        )
    ]


def _run(url: str | None, n: int) -> tuple[float, float, list[object]]:
    """Return processor time and wall time in seconds, and the result of each sample."""
    os.environ.pop(WHERE, None)
    if url is not None:
        os.environ[WHERE] = url
    with tempfile.TemporaryDirectory() as folder:
        began, since = time.process_time(), time.perf_counter()
        asked = SynthRequest(kind="collab", spec="demo:house", n=n)
        run_request(asked, Path(folder, "run"), Session(max_connections=1))
        took = time.process_time() - began, time.perf_counter() - since
        return *took, [line["result"] for line in read_samples(Path(folder, "run"))]
