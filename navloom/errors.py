"""Errors that Navloom raises on purpose, as one small tree.

    NavloomError            base: the message is one clear line for the user
    ├── SceneError          a scene that is missing, broken or unknown
    ├── ModelError          a model that cannot be named, reached or used
    │   ├── ModelRefusedError   every call would be refused alike: key, name or credit
    │   └── ScriptError     a scripted test model received an unexpected call
    ├── SimulatorError      a simulator that is missing or cannot do what is asked
    ├── DataError           a dataset's file that is missing or broken
    ├── LimitReachedError   a limit of the session is reached
    ├── StoppedError        a call that failed as the session ends; made again later
    ├── PromptError         a prompt that is missing, or filled with the wrong variables
    ├── RunError            a run folder that cannot be used
    │   └── UnfinishedError   a complete run is needed, this one was stopped or has errors
    └── UsageError          arguments that make no sense together

The command line prints the message of a ``NavloomError`` and exits with its code, which is 1 unless
the class says otherwise. Any other exception that escapes is a defect of Navloom. A message says
what was wrong, where, what was expected, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class NavloomError(RuntimeError):
    """Base of all errors meant for the user; ``str(error)`` is one line.

    A ``RuntimeError``, since LangGraph's server passes on the message of those and of few others.

    Attributes:
        exit_code: exit code of the command line.
    """

    exit_code: int = 1


class SceneError(NavloomError):
    """A scene is missing, broken or unknown."""


class ModelError(NavloomError):
    """A model cannot be named, reached or used."""


class ModelRefusedError(ModelError):
    """The server refuses the key, the model's name or the account, so every call would fail."""


class ScriptError(ModelError):
    """A scripted model received an unexpected call, or was left with unused replies."""


class SimulatorError(NavloomError):
    """A simulator is missing, or was asked for something it cannot do."""


class DataError(NavloomError):
    """A file of a dataset, a submission or answers is missing or broken."""


class LimitReachedError(NavloomError):
    """A limit of the session is reached; the run can go on with a higher one."""

    exit_code = 2


class StoppedError(NavloomError):
    """A call failed while the session ends; the next session makes it again."""

    exit_code = 2


class PromptError(NavloomError):
    """A prompt is missing, or was filled with missing or unknown variables."""


class RunError(NavloomError):
    """A run folder cannot be used as asked."""


class UnfinishedError(RunError):
    """A complete run is needed, but this one was stopped or has samples with errors."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(NavloomError):
    """Arguments that are invalid, alone or together."""


def one_of(name: str, known: Iterable[str]) -> str:
    """Return the tail of an error message: the valid names, and the ones similar to ``name``."""
    return f"expected one of {', '.join(known)}.{did_you_mean(name, known)}"


def did_you_mean(name: str, known: Iterable[str], *, most: int = 3) -> str:
    """Suggest known names similar to ``name``, as the tail of an error message.

    Args:
        name: what was asked for.
        known: the valid names.
        most: how many near names to give at most.

    Returns:
        ``" Did you mean 'a' or 'b'?"`` with a leading space, or ``""`` if no name is similar.
    """
    options = list(known)
    folded = {option.casefold(): option for option in reversed(options)}
    near = get_close_matches(name.casefold(), folded, n=most, cutoff=0.6)
    if not near:
        return ""
    return " Did you mean " + " or ".join(f"'{folded[n]}'" for n in near) + "?"
