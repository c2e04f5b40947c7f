"""Commands generated from the request of another package's kind of run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from navloom.cli.common import run_request
from navloom.cli.options import Out, RunMode, with_options
from navloom.evals.run_kinds import RunKind
from navloom.evals.session import Session


def make_command(kind: RunKind) -> Callable[..., None]:
    """Make the command of a kind of run, with its request's options and those of all runs."""

    def command(request: Any, out: Out, session: Session, how: RunMode) -> None:
        run_request(request, out, session, how)

    command.__doc__ = kind.words
    command.__annotations__["request"] = kind.request
    return with_options()(command)
