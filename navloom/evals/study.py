"""What every study asks of its folder, and of its runs: each whole, all under one limit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from navloom.errors import RunError, UnfinishedError, UsageError, did_you_mean
from navloom.evals.progress import Summary
from navloom.evals.request import Request
from navloom.evals.run_folder import read_errors
from navloom.evals.runner import run_kind
from navloom.evals.session import Session
from navloom.files import check_place

_LEAST = 0.000001
"""Of any limit."""


def check_free(out: Path) -> None:
    """Refuse a folder that is a run itself: a study keeps its runs in folders of its own."""
    check_place(out, folder=True)
    if (out / "run.json").exists():
        raise RunError(f"{out} holds a run: give --out a new folder, or one of this study")


def check_arms(arms: Iterable[str], known: Collection[str]) -> None:
    """Refuse an arm that a study has not.

    Raises:
        UsageError: there is one.
    """
    for name in arms:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f"no arm '{name}': choose {', '.join(known)}.{hint}")


class Study:
    """The runs of one study: half a run would answer another question.

    Args:
        models: all that it will call; what is wrong with one is said before the first run.
        session: how to go through the runs. Limits of tokens, cost and time are for all together.

    Raises:
        ModelError: a model cannot be named or used.
        UsageError: a model is given twice, or a limit of cost cannot be kept.
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
        """How to go through the next run, with what the runs before it have left of the limits.

        Args:
            part: keep to the samples that the session picks; else all.

        Raises:
            UnfinishedError: the runs before have used all of a limit.
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

    def run(self, request: Request, folder: Path, *, part: bool = False) -> Summary:
        """Make one run, whole.

        Args:
            request: what is asked for.
            folder: the run's.
            part: as :meth:`sitting`.

        Raises:
            UnfinishedError: as :meth:`sitting` and :meth:`ended`.
        """
        summary = run_kind(request, folder, self.sitting(part=part))
        self.ended(summary, folder)
        return summary

    def ended(self, summary: Summary, folder: Path) -> None:
        """Take a run in; refuse to draw conclusions from one that is not whole.

        Raises:
            UnfinishedError: it was stopped, met a limit, or some of its samples ended in an error.
        """
        self._used.append(summary)
        again = "the same command on the same folder goes on"
        if summary.interrupted:
            said = f"{folder}: stopped with {summary.left} samples left; {again}"
            raise UnfinishedError(said, 130)
        if summary.limit:
            # The run met what was left of it; the user knows the whole.
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
