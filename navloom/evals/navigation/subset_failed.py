"""Hard negatives: the episodes that every one of some runs failed on (VLN-MME 4.4).

An episode on which the machinery broke is not failed, and counts for no run. Where an episode was
run several times (epochs), a run failed on it if it failed every time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.errors import RunError, UsageError
from navloom.evals.run_folder import read_run, read_samples

__all__ = ["Failed", "failed_by"]


@dataclass(frozen=True)
class Failed:
    """What every run failed on.

    Attributes:
        task: the runs' task.
        split: its split.
        options: what the dataset was loaded with.
        data: the dataset's folder, as the first run found it; None where it was not said.
        ids: the episodes, sorted.
        finished: how many episodes every run has finished.
        left_out: how many episodes some run has finished and another has not.
    """

    task: str
    split: str
    options: Mapping[str, Any]
    data: str | None
    ids: tuple[str, ...]
    finished: int
    left_out: int


def failed_by(runs: Sequence[Path]) -> Failed:
    """Read which episodes every run failed on.

    Args:
        runs: folders of runs of `navloom eval`, one or more.

    Raises:
        RunError: a folder is no such run, or is broken.
        UsageError: no run, or runs over different tasks, splits or options.
    """
    if not runs:
        raise UsageError("no run was given: say which with --failed-by RUN")
    asked = [_asked(run) for run in runs]
    for run, other in zip(runs[1:], asked[1:], strict=True):
        for name in ("task", "split", "options"):
            if other[name] != asked[0][name]:
                raise UsageError(
                    f"{runs[0]} and {run} are over different episodes: {name} "
                    f"{asked[0][name] or 'default'} and {other[name] or 'default'}."
                    " Give runs of one task and one split."
                )
    ended = [_ended(run) for run in runs]
    by_all = set.intersection(*(set(each) for each in ended))
    by_any = set.union(*(set(each) for each in ended))
    ids = sorted(name for name in by_all if all(each[name] for each in ended))
    return Failed(
        task=asked[0]["task"],
        split=asked[0]["split"],
        options=asked[0]["options"],
        data=asked[0]["data"],
        ids=tuple(ids),
        finished=len(by_all),
        left_out=len(by_any) - len(by_all),
    )


def _asked(run: Path) -> dict[str, Any]:
    record = read_run(run)
    request, where = record["request"], record.get("where") or {}
    task, split = request.get("task"), request.get("split")
    if not isinstance(task, str) or not isinstance(split, str):
        raise RunError(
            f"{run} is no run of `navloom eval`: its request names no task and split."
            " Give a folder that `navloom eval TASK --out` made."
        )
    options = dict(request.get("options") or {})
    if isinstance(where, dict) and isinstance(where.get("spec"), str):
        options["spec"] = where["spec"]
    data = where.get("data") if isinstance(where, dict) else None
    return {"task": task, "split": split, "options": options, "data": data}


def _ended(run: Path) -> dict[str, bool]:
    """Episode id -> whether the run failed on it every time it finished it."""
    statuses: dict[str, list[str]] = defaultdict(list)
    for line in read_samples(run):
        statuses[_episode(line)].append(str(line.get("status")))
    return {name: all(status == "failed" for status in each) for name, each in statuses.items()}


def _episode(line: Mapping[str, Any]) -> str:
    result = line.get("result")
    episode = result.get("episode") if isinstance(result, dict) else None
    name = episode.get("id") if isinstance(episode, dict) else None
    return name if isinstance(name, str) else str(line["id"])
