"""``python -m tests.testing.kill_driven``: kill an evaluation with driven bodies many times.

Bodies slide along obstacles and stand beside their viewpoints. The state that is restored after a
kill must be exact to the last bit, else their next contact differs. A session is killed at a random
moment after a random number of further steps are on disk. At the end trajectories, contacts, steps
and scores must equal those of an uninterrupted run.
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
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from navloom.cli.main import main as navloom
from navloom.evals.run_folder import read_samples

AT_ONCE = 3
_MOST_STEPS_A_KILL = 24
_LONGEST_AFTER_S = 0.3
_SESSION_S = 900.0
_IMPORTED = [
    "navloom.cli.navigation.eval",
    "navloom.evals.navigation.run",
    "navloom_worlds.rendering",
]
_COUNTED = ("end", "trajectory", "contacts", "steps", "scores", "counts")


@dataclass(frozen=True)
class Outcome:
    """Result of many kills of a run.

    Attributes:
        kills: sessions that were killed.
        within: kills in the middle of an episode.
        episodes: episodes of the run.
        moves: moves of all episodes.
        contacts: contacts of all episodes.
        beside: poses that were beside their viewpoint.
        differ: episodes whose trajectory, contacts, steps or scores differ from those of the
            uninterrupted run.
        twice: duplicate episodes in the file.
        seconds: wall time.
    """

    kills: int
    within: int
    episodes: int
    moves: int
    contacts: int
    beside: int
    differ: int
    twice: int
    seconds: float

    @property
    def holds(self) -> bool:
        """True if no episode was lost, duplicated or changed."""
        return not self.differ and not self.twice

    def __str__(self) -> str:
        ended = "as promised" if self.holds else "BROKEN"
        return (
            f"kills {self.kills}, {self.within} of them within an episode; {self.episodes}"
            f" episodes, {self.moves} moves, {self.contacts} contacts, {self.beside} poses beside a"
            f" viewpoint: episodes that differ {self.differ}, twice {self.twice};"
            f" {self.seconds:.0f} s: {ended}"
        )


def kill_many(folder: Path, kills: int, *, spec: str, episodes: int, seed: int = 0) -> Outcome:
    """Make a run, killing it many times, and compare it with an uninterrupted one.

    Args:
        folder: an empty folder for both runs.
        kills: number of kills.
        spec: the homes.
        episodes: number of episodes.
        seed: seed of the moments.

    Raises:
        RuntimeError: the run was over before all kills, or a session did not end by itself.
    """
    began, dice, within = time.monotonic(), random.Random(seed), 0
    words = ["eval", "scene", spec, "--n", str(episodes), "--body", "VLNVERSE"]
    words += ["--physics", "slide", "--agent", "heuristic", "--max-steps", "12"]
    words += ["--display", "none", "--max-connections", str(AT_ONCE), "--out"]
    _finish([*words, str(folder / "whole")])
    for _ in range(kills):
        _kill(folder / "killed", words, dice)
        within += _steps_of(folder / "killed") > 0
    _finish([*words, str(folder / "killed")])
    whole, killed = (
        {line["id"]: line["result"] for line in read_samples(folder / name)}
        for name in ("whole", "killed")
    )
    lines = (folder / "killed" / "samples.jsonl").read_text().splitlines()
    poses = [pose for result in whole.values() for pose in result["trajectory"][1:]]
    return Outcome(
        kills,
        within,
        len(whole),
        len(poses),
        sum(len(result["contacts"]) for result in whole.values()),
        _beside(poses),
        sum(_told(whole.get(name)) != _told(killed.get(name)) for name in whole | killed),
        len(lines) - len({json.loads(line)["id"] for line in lines}),
        time.monotonic() - began,
    )


def _told(result: Any) -> Any:
    return result and {name: result[name] for name in _COUNTED}


def _beside(poses: list[list[Any]]) -> int:
    """Count the poses that are not the most frequent one of their viewpoint, its own place."""
    places: dict[str, dict[tuple[float, ...], int]] = {}
    for viewpoint, _, _, *place in poses:
        counts = places.setdefault(viewpoint, {})
        counts[tuple(place)] = counts.get(tuple(place), 0) + 1
    return sum(sum(counts.values()) - max(counts.values()) for counts in places.values())


def _start(words: list[str]) -> BaseProcess:
    # Forked from a server that has everything imported: a kill in the imports would tell nothing.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    process = context.Process(target=_session, args=(words,))
    process.start()
    return process


def _session(words: list[str]) -> None:
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        sys.exit(navloom(words))


def _kill(out: Path, words: list[str], dice: random.Random) -> None:
    wanted = dice.randint(1, _MOST_STEPS_A_KILL)
    after = dice.uniform(0, _LONGEST_AFTER_S)
    process = _start([*words, str(out)])
    until, last, grown = time.monotonic() + _SESSION_S, _steps_of(out), 0
    while grown < wanted and process.is_alive() and time.monotonic() < until:
        time.sleep(0.02)
        now = _steps_of(out)
        # Those of an episode that has ended are swept away.
        grown, last = grown + max(0, now - last), now
    time.sleep(after)
    if not process.is_alive():
        process.join()
        raise RuntimeError(f"the run was over ({process.exitcode}) before it could be killed")
    process.kill()
    process.join()


def _finish(words: list[str]) -> None:
    process = _start(words)
    process.join(_SESSION_S)
    if process.exitcode not in (0, 1):
        process.kill()
        raise RuntimeError(f"a session ended with {process.exitcode}")


def _steps_of(out: Path) -> int:
    """Count the steps on disk of episodes that have not ended."""
    file = out / "checkpoints.sqlite"
    if not file.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            asked = "SELECT count(*) FROM checkpoints"
            return int(connection.execute(asked).fetchone()[0])
    except sqlite3.Error:
        return 0


def main(arguments: list[str] | None = None) -> int:
    """Kill a run as often as the arguments say and print the result."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.testing.kill_driven", description="Kill an evaluation with bodies."
    )
    parser.add_argument("--kills", type=int, default=50, help="how often (50)")
    parser.add_argument("--spec", default="home:3-4", help="which homes (home:3-4)")
    parser.add_argument("--n", type=int, default=60, help="episodes (60)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        outcome = kill_many(
            Path(folder), asked.kills, spec=asked.spec, episodes=asked.n, seed=asked.seed
        )
    print(outcome)
    return 0 if outcome.holds else 1


if __name__ == "__main__":
    sys.exit(main())
