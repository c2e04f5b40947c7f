"""Commands generated from the request of another package's kind of run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from navloom.cli.common import carry_out
from navloom.cli.options import How, Out, takes
from navloom.evals.kinds import Kind
from navloom.evals.session import Session


def command_of(kind: Kind) -> Callable[..., None]:
    """Make the command of a kind of run, with its request's options and those of all runs."""

    def command(request: Any, out: Out, session: Session, how: How) -> None:
        carry_out(request, out, session, how)

    command.__doc__ = kind.words
    command.__annotations__["request"] = kind.request
    return takes()(command)
