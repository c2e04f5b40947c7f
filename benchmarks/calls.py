"""Cost of the call log: processor time per call, and bytes per sample.

The calls come from runs of the rule-based baselines in generated homes. Their prompts are those
that a language model gets. Each run is made once, and a listener collects its calls. The calls are
then written to a second log, and only this step is timed, in processor time of all threads.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import Claim
from navloom.evals.call_log import NAME, count_calls, read_calls
from navloom.evals.call_log_writer import open_call_log
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.files import read_lines
from navloom.models.messages import CallRecord
from navloom.models.model_call import CallSettings

PROMISED_MS, PROMISED_BYTES = 1.0, 20_000
REQUESTS: dict[str, Any] = {
    "eval scene home:0-9 --n 30 --agent heuristic": EvalRequest(
        task="scene",
        options={"spec": "home:0-9", "kind": "mixed", "n": 30},
        agent="heuristic",
        max_steps=30,
    ),
    "synth collab home:0-3 --n 8": SynthRequest(kind="collab", spec="home:0-3", n=8),
    "caption home:0": CaptionRequest(spec="home:0"),
}


def claims() -> list[Claim]:
    """Measure the call log of each run in ``REQUESTS``."""
    return [claim for name, request in REQUESTS.items() for claim in _of(name, request)]


def _of(name: str, request: Any) -> list[Claim]:
    with tempfile.TemporaryDirectory() as folder:
        run, again = Path(folder, "run"), Path(folder, "again")
        again.mkdir()
        told: list[CallRecord] = []
        settings = CallSettings(on_call=told.append)
        run_request(request, run, Session(settings=settings, max_connections=1))
        left = iter(told)
        samples = {
            line["id"]: [next(left) for _ in range(line["usage"]["calls"])]
            for line in read_lines(run / "samples.jsonl")
        }
        seconds = asyncio.run(_keep(samples, again))
        size = (run / NAME).stat().st_size / len(samples)
        same = count_calls(run).keys() == samples.keys() and all(
            [each.messages for each in read_calls(run, sample)]
            == [each.messages for each in read_calls(again, sample)]
            for sample in samples
        )
    each = seconds / len(told) * 1e3
    return [
        Claim(
            "a call is kept",
            f"{PROMISED_MS:g} ms of processor time, the time promised; {name}",
            PROMISED_MS / each,
            1.0,
            equal=same,
            note=f"{each:.2f} ms; {len(told)} calls of {len(samples)} samples; {name}",
        ),
        Claim(
            "a baseline's calls of a sample",
            f"{PROMISED_BYTES / 1e3:g} kB, the size promised; {name}",
            PROMISED_BYTES / size,
            1.0,
            note=f"{size / 1e3:.1f} kB; {len(told) / len(samples):.1f} calls a sample; {name}",
        ),
    ]


async def _keep(samples: dict[str, list[CallRecord]], folder: Path) -> float:
    """Write calls to a call log and return the processor time in seconds."""
    began = time.process_time()
    with open_call_log(folder, print, set()) as keeper:
        for sample, made in samples.items():
            listen = keeper.listener(sample, CallSettings())
            for call in made:
                listen(call)
            await keeper.settle(sample)
    return time.process_time() - began
