"""``python -m tests.testing.kill``: kill a run many times and count what was lost.

``--nested`` uses a run of NavCraft-C, whose errand is a subgraph. ``--workers`` kills workers, too
(:mod:`tests.testing.kill_workers`).

The killed process is a real command that calls a model over the loopback. It is killed a random
moment after the server got a random number of further calls, so that kills are spread over the run
on any machine. After each kill, and at the end:

- no finished sample is missing, and none is duplicated;
- the tasks and their recorded costs equal those of a run that was never killed;
- the run's file has whole lines at any moment, and the set of requests to the server equals that of
  a run that was never killed;
- no more calls were repeated than were in flight at the kills.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

from navloom.cli.main import main as navloom
from navloom.evals.navcraft.export import export_run
from navloom.evals.run_folder import read_samples
from navloom.models import get_model
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import WireCall, reply_with

AT_ONCE = 4
_SAMPLES_A_KILL = 6
_MOST_CALLS_A_KILL = 8
_REPLY_S = 0.02
_LONGEST_AFTER_S = 0.06
_SESSION_S = 900.0
_IMPORTED = [
    "navloom.cli.navcraft.synth",
    "navloom.evals.navcraft.export",
    "navloom.evals.navcraft.run",
    "navloom.testing",
    "langchain_openai",
    "genai_prices",
]


@dataclass(frozen=True)
class Outcome:
    """Result of many kills of a run.

    Attributes:
        kills: sessions that were killed.
        samples: samples of the run.
        lost: samples that had been finished or planned, and are missing.
        twice: duplicate samples in the file.
        changed: True if the tasks or the requests differ from those of an uninterrupted run.
        costs: samples whose calls, tokens or dollars differ.
        nested: kills that found a sample within its errand.
        calls: calls of the uninterrupted run.
        again: calls that the server got again.
        in_flight: calls that may have been in flight at the kills, and so may be repeated.
        seconds: wall time.
    """

    kills: int
    samples: int
    lost: int
    twice: int
    changed: bool
    costs: int
    nested: int
    calls: int
    again: int
    in_flight: int
    seconds: float

    @property
    def holds(self) -> bool:
        """True if no sample was lost, duplicated or changed, and the costs are right."""
        broken = self.lost or self.twice or self.changed or self.costs
        return not broken and self.again <= self.in_flight

    def __str__(self) -> str:
        return (
            f"kills {self.kills}, samples {self.samples}: finished and lost {self.lost}, "
            f"twice {self.twice}, tasks {'CHANGED' if self.changed else 'unchanged'}; "
            f"costs that differ {self.costs}; kills within an errand {self.nested}; "
            f"calls {self.calls}, asked again {self.again} (at most {self.in_flight} were in "
            f"flight); {self.seconds:.0f} s: {'as promised' if self.holds else 'BROKEN'}"
        )


def kill_many(folder: Path, kills: int, *, seed: int = 0, kind: str = "single") -> Outcome:
    """Make a run, killing it many times, and compare it with an uninterrupted one.

    Args:
        folder: an empty folder for both runs.
        kills: number of kills.
        seed: seed of the moments.
        kind: ``collab`` for tasks whose errand is a subgraph.

    Raises:
        RuntimeError: the run was over before all kills, or a session did not end by itself.
    """
    began, samples = time.monotonic(), kills * _SAMPLES_A_KILL
    thinker = reply_with(get_model("builtin/heuristic"))
    with ModelServer(thinker) as server:
        finish(server, folder / "whole", samples, kind)
        needed = asked(server)
    dice = random.Random(seed)
    ended: Counter[str] = Counter()
    lost: set[str] = set()
    nested = 0
    with ModelServer(slow(thinker)) as server:
        for _ in range(kills):
            _kill(server, folder / "killed", samples, dice, kind)
            nested += _is_within(folder / "killed")
            now = finished(folder / "killed")
            lost |= set(ended) - set(now)
            ended = now
        finish(server, folder / "killed", samples, kind)
        again = asked(server)
    return replace(
        told(folder, needed, again, lost),
        kills=kills,
        nested=nested,
        in_flight=kills * AT_ONCE,
        seconds=time.monotonic() - began,
    )


def told(folder: Path, needed: Counter[str], again: Counter[str], lost: set[str]) -> Outcome:
    """Compare a run that was killed with the uninterrupted one.

    Args:
        folder: folder of both.
        needed: requests of the uninterrupted run.
        again: requests of the killed run.
        lost: samples that were finished and later missing.
    """
    ended = finished(folder / "killed")
    for name in ("whole", "killed"):
        export_run(folder / name, folder / f"{name}.jsonl")
    whole, killed = ((folder / f"{name}.jsonl").read_bytes() for name in ("whole", "killed"))
    planned = set(finished(folder / "whole"))
    return Outcome(
        kills=0,
        samples=len(planned),
        lost=len(lost | (planned - set(ended))),
        twice=sum(count > 1 for count in ended.values()),
        changed=whole != killed or set(needed) != set(again),
        costs=_differ(*(_costs(folder / name) for name in ("whole", "killed"))),
        nested=0,
        calls=needed.total(),
        again=again.total() - needed.total(),
        in_flight=0,
        seconds=0.0,
    )


def slow(answer: Any) -> Any:
    """Delay the answers."""

    def reply(call: WireCall) -> AIMessage:
        time.sleep(_REPLY_S)
        said: AIMessage = answer(call)
        return said

    return reply


def start(
    server: ModelServer, out: Path, samples: int, kind: str, more: Sequence[str] = ()
) -> BaseProcess:
    """Start a session; ``more`` has further arguments of its command."""
    # Forked from a server that has everything imported: a kill in the imports would tell nothing.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    process = context.Process(
        target=_session, args=(server.openai_url, str(out), samples, kind, list(more))
    )
    process.start()
    return process


def _session(url: str, out: str, samples: int, kind: str, more: list[str]) -> None:
    os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "not-a-real-key-000"}
    words = ["synth", kind, "demo:", "--n", str(samples), "--model", "openai/gpt-4o-mini"]
    words += ["--no-cache", "--display", "none", "--max-connections", str(AT_ONCE), "--out", out]
    sys.exit(navloom([*words, *more]))


def _kill(server: ModelServer, out: Path, samples: int, dice: random.Random, kind: str) -> None:
    wanted = len(server.calls) + dice.randint(0, _MOST_CALLS_A_KILL)
    after = dice.uniform(0, _LONGEST_AFTER_S)
    process = start(server, out, samples, kind)
    until = time.monotonic() + _SESSION_S
    while len(server.calls) < wanted and process.is_alive() and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(after)
    if not process.is_alive():
        process.join()
        raise RuntimeError(f"the run was over ({process.exitcode}) before it could be killed")
    process.kill()
    process.join()


def finish(
    server: ModelServer, out: Path, samples: int, kind: str, more: Sequence[str] = ()
) -> None:
    """Run the command to its end."""
    process = start(server, out, samples, kind, more)
    process.join(_SESSION_S)
    if process.exitcode != 0:
        process.kill()
        raise RuntimeError(f"a session ended with {process.exitcode}; server: {server.errors[:3]}")


def asked(server: ModelServer) -> Counter[str]:
    """Count the requests of a server by their content."""
    return Counter(json.dumps(call.body, sort_keys=True) for call in server.calls)


def finished(out: Path) -> Counter[str]:
    """Count the lines of each sample in the file, whole lines only."""
    file = out / "samples.jsonl"
    if not file.exists():
        return Counter()
    lines = file.read_bytes().split(b"\n")[:-1]
    found = Counter(json.loads(line)["id"] for line in lines)
    if {row["id"] for row in read_samples(out)} != set(found):
        raise RuntimeError(f"{file} is not read as it stands")
    return found


def _is_within(out: Path) -> bool:
    """Check that a sample's last step on disk is one of its errand."""
    within = """
        SELECT thread_id FROM checkpoints WHERE checkpoint_ns LIKE 'errand:%' EXCEPT
        SELECT thread_id FROM checkpoints WHERE checkpoint_ns = ''
            AND json_extract(CAST(metadata AS TEXT), '$.step') >= 1"""
    with closing(sqlite3.connect(out / "checkpoints.sqlite")) as connection:
        return connection.execute(within).fetchone() is not None


def _costs(out: Path) -> dict[str, Any]:
    """Return the recorded usage and cost of each sample."""
    lines = map(json.loads, (out / "samples.jsonl").read_text().splitlines())
    return {line["id"]: (line["usage"], line["cost_usd"]) for line in lines}


def _differ(one: dict[str, Any], other: dict[str, Any]) -> int:
    """Count the names for which two dictionaries differ."""
    return sum(one.get(name) != other.get(name) for name in {**one, **other})


def main(arguments: list[str] | None = None) -> int:
    """Kill a run as often as the arguments say and print the result."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.testing.kill", description="Kill a run at random points."
    )
    parser.add_argument("--kills", type=int, default=100, help="how often (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    parser.add_argument("--nested", action="store_true", help="kill relays, in their errands too")
    parser.add_argument("--workers", action="store_true", help="kill workers, and their drivers")
    said = parser.parse_args(arguments)
    kind = "collab" if said.nested else "single"
    with tempfile.TemporaryDirectory() as folder:
        if said.workers:
            from tests.testing.kill_workers import kill_workers

            outcome = kill_workers(Path(folder), said.kills, seed=said.seed)
        else:
            outcome = kill_many(Path(folder), said.kills, seed=said.seed, kind=kind)
    print(outcome)
    return 0 if outcome.holds else 1


if __name__ == "__main__":
    sys.exit(main())
