"""Base of studies: several complete runs in one folder, under common limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from navloom.errors import RunError, UnfinishedError, UsageError, did_you_mean
from navloom.evals.progress import Summary
from navloom.evals.request import RunRequest
from navloom.evals.run_folder import read_errors
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.files import check_writable

_LEAST = 0.000001
"""Smallest value of a limit."""


def check_study_folder(out: Path) -> None:
    """Refuse a folder that is itself a run; a study keeps its runs in subfolders."""
    check_writable(out, folder=True)
    if (out / "run.json").exists():
        raise RunError(f"{out} holds a run: give --out a new folder, or one of this study")


def check_arms(arms: Iterable[str], known: Collection[str]) -> None:
    """Refuse an arm that the study does not have.

    Raises:
        UsageError: there is such an arm.
    """
    for name in arms:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f"no arm '{name}': choose {', '.join(known)}.{hint}")


class StudyRuns:
    """The runs of one study, all of which must be complete.

    Args:
        models: all models that it will call; they are checked before the first run.
        session: execution settings. Limits of tokens, cost and time apply to all runs together.

    Raises:
        ModelError: a model's name is invalid, or it is unusable.
        UsageError: a model is given twice, or a cost limit cannot be enforced.
    """

    def __init__(self, models: Sequence[str | None], session: Session | None = None) -> None:
        self._session = replace(session or Session(), retry=True)
        self._used: list[Summary] = []
        given = [model for model in models if model is not None]
        for model in given:
            if given.count(model) > 1:
                raise UsageError(f"{model} is given twice")
        self._session.check_models(*given)

    def sitting(self, *, part: bool = False) -> Session:
        """Return the session of the next run, with what earlier runs left of the limits.

        Args:
            part: run only the samples that the session selects; else all.

        Raises:
            UnfinishedError: earlier runs have used up a limit.
        """
        most, used = self._session.limits, self._used
        tokens = [each.usage["input_tokens"] + each.usage["output_tokens"] for each in used]
        rest = {
            "token_limit": _rest(most.token_limit, tokens),
            "cost_limit": _rest(most.cost_limit, [each.cost_usd or 0.0 for each in used]),
            "time_limit": _rest(most.time_limit, [each.session_seconds for each in used]),
        }
        for name, left in rest.items():
            if left is not None and left < _LEAST:
                flag = f"--{name.replace('_', '-')} {getattr(most, name):g}"
                raise UnfinishedError(
                    f"{flag} is reached by the runs before; the same command with a higher limit"
                    " goes on",
                    2,
                )
        session = replace(self._session, **rest)
        return session if part else replace(session, limit=None, sample_id=())

    def run(self, request: RunRequest, folder: Path, *, part: bool = False) -> Summary:
        """Execute one run and return its summary; the run must become complete.

        Args:
            request: the request.
            folder: the run's folder.
            part: as :meth:`sitting`.

        Raises:
            UnfinishedError: as :meth:`sitting` and :meth:`ended`.
        """
        summary = run_request(request, folder, self.sitting(part=part))
        self.ended(summary, folder)
        return summary

    def ended(self, summary: Summary, folder: Path) -> None:
        """Record a finished run; refuse one that is incomplete.

        Raises:
            UnfinishedError: it was stopped, reached a limit, or has samples with errors.
        """
        self._used.append(summary)
        again = "the same command on the same folder goes on"
        if summary.interrupted:
            said = f"{folder}: stopped with {summary.left} samples left; {again}"
            raise UnfinishedError(said, 130)
        if summary.limit:
            # The run reached the remainder of the limit; name the user's whole limit.
            flag = summary.limit.split()[0]
            most = getattr(self._session.limits, flag.strip("-").replace("-", "_"))
            raise UnfinishedError(
                f"{folder}: {flag} {most:g} is reached with {summary.left} samples left; the same"
                " command with a higher limit goes on",
                2,
            )
        if summary.error:
            first = next(iter(read_errors(folder)), {}).get("message")
            said = f"{folder}: {summary.error} of {summary.samples} samples ended in an error"
            raise UnfinishedError(f"{said}, {first}; {again}", 2)


def _rest(most: float | None, used: Sequence[float]) -> Any:
    return None if most is None else most - sum(used)
