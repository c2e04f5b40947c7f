"""What every study asks of its folder and of its runs."""

from __future__ import annotations

from pathlib import Path

from navloom.errors import RunError, UnfinishedError
from navloom.evals.run import read_errors
from navloom.evals.summary import Summary

__all__ = ["check_free", "check_whole"]


def check_free(out: Path) -> None:
    """Refuse a folder that is a run itself: a study keeps its runs in folders of its own."""
    if (out / "run.json").exists():
        raise RunError(f"{out} holds a run: give --out a new folder, or one of this study")


def check_whole(summary: Summary, folder: Path) -> None:
    """Refuse to draw conclusions from a run that is not whole.

    Raises:
        UnfinishedError: it was stopped, met a limit, or some of its samples ended in an error.
    """
    again = "the same command on the same folder goes on"
    if summary.interrupted:
        raise UnfinishedError(f"{folder}: stopped with {summary.left} samples left; {again}", 130)
    if summary.limit:
        raise UnfinishedError(
            f"{folder}: {summary.limit} with {summary.left} samples left; the same command with a"
            " higher limit goes on",
            2,
        )
    if summary.error:
        first = next(iter(read_errors(folder)), {}).get("message")
        said = f"{folder}: {summary.error} of {summary.samples} samples ended in an error, {first}"
        raise UnfinishedError(f"{said}; {again}", 2)
