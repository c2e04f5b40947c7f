"""Finished samples of a run as scoring reads them: the episode, and where the agent went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import RunError
from navloom.evals.jsonl import read_lines
from navloom.evals.navigation.metrics import Contacts, Invalid
from navloom.evals.navigation.submission import viewpoints_of
from navloom.evals.run_folder import read_run
from navloom.evals.tasks.episode import Episode

__all__ = ["EFFORT", "Trial", "effort_of", "read_trials"]

EFFORT = ("steps", "input_tokens", "output_tokens", "cost_usd", "seconds")
"""What an episode took, where the source says."""


@dataclass(frozen=True)
class Trial:
    """One finished sample.

    Attributes:
        id: the sample's.
        episode: as the line has it.
        path: viewpoints, or what is wrong with them.
        stopped: False where the end is none that the agent chose.
        contacts: what it touched, where that was reported.
        effort: by ``EFFORT``, what it took.
    """

    id: str
    episode: Episode
    path: list[str] | Invalid
    stopped: bool
    contacts: Contacts | None
    effort: Mapping[str, float | None]


def read_trials(run: Path | str) -> Iterator[Trial]:
    """The finished samples of a run, in the order they ended; only what scoring needs is kept.

    Raises:
        RunError: the folder is no run, or a line has not the form of an episode.
    """
    read_run(run)
    for line in read_lines(Path(run) / "samples.jsonl"):
        try:
            yield _trial(line)
        except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
            what = "its episode" if isinstance(error, ValidationError) else repr(error)[:100]
            raise RunError(
                f"{run}: the sample '{line['id']}' has not the form of a navigated episode"
                f" ({what}): give a run of `navloom eval`"
            ) from None


def effort_of(line: Mapping[str, Any]) -> dict[str, float | None]:
    """What a finished sample took, by ``EFFORT``; None where its line does not say."""
    usage, result = line.get("usage") or {}, line.get("result") or {}
    values = {
        "steps": (result.get("counts") or {}).get("steps"),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cost_usd": line.get("cost_usd"),
        "seconds": line.get("seconds"),
    }
    return {name: float(v) if isinstance(v, int | float) else None for name, v in values.items()}


def _trial(line: Mapping[str, Any]) -> Trial:
    result = line["result"]
    path = viewpoints_of(result["trajectory"])
    touched, scores = result.get("contacts") or [], result.get("scores") or {}
    contacts = None
    if (touched or "SR_telhop" in scores) and not isinstance(path, Invalid):
        metres = tuple(float(each["displacement"]) for each in touched)
        contacts = Contacts(metres, len(path) - 1)
    return Trial(
        line["id"],
        Episode.model_validate(result["episode"]),
        path,
        # Whose reply could not be read chose no place to end at: never silently a stop.
        result.get("end") != "unparsed",
        contacts,
        effort_of(line),
    )
