"""The viewer on a run of 10,000 episodes: its index, a sample, the bundle, and the server's memory.

The reference for the index is ``json.loads`` of every line, the least that any reader of the run
does. For what a person waits for, it is the promised time. The run is a real one of 20 episodes
whose lines are repeated under other ids.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import uvicorn

from benchmarks import Claim
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.runner import run_request
from navloom.web.app import make_app
from navloom.web.bundle import write_bundle
from navloom.web.documents import Documents
from navloom.web.run_source import CHUNK, RunSource

EPISODES, SAMPLES, BUNDLED, LOOKED = 20, 10_000, 400, 1_000
INDEX, SAMPLE_S, FIFTH, MEGABYTES = 1 / 1.5, 0.2, 5.0, 200.0


def claims() -> list[Claim]:
    """Measure one run, repeated to a large and to a small one."""
    with _runs() as (large, small):
        parsed = min(_seconds(lambda: _parse(large)) for _ in "ab")
        indexed = min(_seconds(lambda: _index(large)) for _ in "ab")
        size = (large / "samples.jsonl").stat().st_size
        context = get_context("spawn")
        with context.Pool(1) as pool:
            waited, tabs, few, last = pool.apply(_looked, (large,))
        bundle = small.parent / "bundle"
        written = write_bundle(Documents([RunSource(small)], given=True), bundle, print)
        lines_of = (small / "samples.jsonl").stat().st_size
        in_browser = _browsed(large)
    return [
        Claim(
            f"index of {SAMPLES:,} samples, CPU",
            "json.loads of every line",
            parsed / indexed,
            INDEX,
            note=f"{indexed:.1f} s against {parsed:.1f} s, {size / 1e6:.0f} MB",
        ),
        Claim(
            "a sample's page, median",
            f"{SAMPLE_S * 1000:.0f} ms",
            SAMPLE_S / waited,
            1.0,
            note=f"{waited * 1000:.0f} ms",
        ),
        Claim(
            f"memory after the list, rows, tabs and {LOOKED:,} samples",
            f"{MEGABYTES:.0f} MB",
            MEGABYTES / last,
            1.0,
            note=f"{last:.0f} MB; {tabs:.0f} MB before any sample, {few:.0f} MB after 50",
        ),
        Claim(
            f"bundle of {BUNDLED} samples",
            "the run's samples.jsonl",
            lines_of / written,
            FIFTH,
            note=f"{written / 1e6:.2f} MB against {lines_of / 1e6:.1f} MB",
        ),
        *in_browser,
    ]


def _browsed(run: Path) -> list[Claim]:
    """Time the page in the system's Chromium; return nothing if there is none."""
    named = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    chromium = next(filter(None, named), None)
    if chromium is None:
        return []
    from playwright.sync_api import sync_playwright

    token = "a-token-of-the-benchmark"
    documents = Documents([RunSource(run)])
    documents.get("source/0")
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = make_app(documents, token=token, port=port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    server.config.timeout_graceful_shutdown = 1
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        began = time.perf_counter()
        page.goto(f"http://127.0.0.1:{port}/#token={token}&to=/source/0/samples")
        page.wait_for_selector(".rows tbody tr")
        rows = time.perf_counter() - began
        page.wait_for_timeout(1500)
        filtered = [float(page.evaluate(_TYPED, each)) for each in ("SPL<0.5", "kitchen", "")]
        sort = float(page.evaluate(_SORTED))
        few = page.locator(".rows tbody tr").count()
        browser.close()
    server.should_exit = True
    thread.join(10)
    return [
        Claim("the page's rows", "1 s", 1 / rows, 1.0, note=f"{rows:.2f} s, {few} in the page"),
        Claim(
            "a filter or a sort, the slowest",
            "50 ms",
            50 / max(*filtered, sort),
            1.0,
            note=f"filters {', '.join(f'{ms:.0f}' for ms in filtered)} ms, a sort {sort:.0f} ms",
        ),
    ]


_TYPED = """(words) => {
  const field = document.getElementById('filter');
  const began = performance.now();
  field.value = words;
  field.dispatchEvent(new Event('input'));
  return performance.now() - began;
}"""
_SORTED = """() => {
  const button = [...document.querySelectorAll('thead button')].find((each) =>
    each.textContent.startsWith('SPL'));
  const began = performance.now();
  button.click();
  return performance.now() - began;
}"""


def _seconds(call: object) -> float:
    began = time.process_time()
    call()  # type: ignore[operator]
    return time.process_time() - began


def _parse(run: Path) -> None:
    with (run / "samples.jsonl").open("rb") as file:
        for line in file:
            json.loads(line)


def _index(run: Path) -> None:
    assert len(RunSource(run, kept=False).rows()) == SAMPLES


def _looked(run: Path) -> tuple[float, float, float, float]:
    """Measure a process that serves a run while a user opens all of it.

    Returns:
        Median seconds per sample; megabytes after the list, all rows and every tab, then after 50
        samples, and after ``LOOKED``.
    """
    documents = Documents([RunSource(run)])
    make_app(documents, token="a-token-of-the-benchmark", port=0)
    source = documents.sources[0]
    names = [row.id for row in source.rows()]
    paths = ["list", "source/0", *(f"source/0/rows/{k}" for k in range(-(-len(names) // CHUNK)))]
    for path in (*paths, *(f"source/0/tab/{name}" for name, _ in source.header().tabs)):
        json.dumps(documents.get(path))
    waited, held = [], [_megabytes()]
    # In file order, so that every home is opened several times.
    for n, name in enumerate(names[:LOOKED], start=1):
        began = time.perf_counter()
        json.dumps(documents.get(f"source/0/sample/{name}"))
        waited.append(time.perf_counter() - began)
        if n == 50:
            held.append(_megabytes())
    return statistics.median(waited), held[0], held[1], _megabytes()


def _megabytes() -> float:
    """Return the peak memory of this process in MB; getrusage may include its parent's."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    (line,) = (each for each in status.read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) / 1e3


@contextmanager
def _runs() -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as quiet:
        made = Path(folder) / "made"
        with redirect_stderr(quiet):
            asked = EvalRequest(task="scene", options={"spec": "home:0-4", "n": EPISODES}, cot=True)
            run_request(asked, made)
        yield tuple(_repeated(made, Path(folder) / f"of-{n}", n) for n in (SAMPLES, BUNDLED))


def _repeated(made: Path, run: Path, count: int) -> Path:
    """Write a run of so many lines, each with the check that docs/runs.md describes."""
    run.mkdir()
    for name in ("run.json", "summary.json", "errors.jsonl"):
        (run / name).write_bytes((made / name).read_bytes())
    key = json.loads((run / "run.json").read_text())["line_check"].encode()
    lines = [json.loads(line) for line in (made / "samples.jsonl").open()]
    with (run / "samples.jsonl").open("wb") as file:
        for n in range(count):
            line = {k: v for k, v in lines[n % len(lines)].items() if k != "check"}
            body = json.dumps({**line, "id": f"{line['id']}.{n}"}, ensure_ascii=False).encode()[:-1]
            check = blake2b(body, digest_size=8, key=key).hexdigest()
            file.write(body + f', "check": "{check}"}}\n'.encode())
    return run
