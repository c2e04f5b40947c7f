"""Every error Navloom raises on purpose, as one small tree.

    NavloomError            base: the message is one clear line for a person
    ├── SceneError          a scene that is missing, broken or unknown
    ├── ModelError          a model that cannot be named, reached or used
    │   ├── ModelRefusedError   every call would be refused alike: key, name or credit
    │   └── ScriptError     a scripted test model was asked something it was not told of
    ├── SimulatorError      a simulator asked for what it cannot do
    ├── DataError           a dataset's file that is missing or broken
    ├── LimitReachedError   a limit of the session is reached; nothing is broken
    ├── StoppedError        a call that failed while the session ends: the next one makes it
    ├── PromptError         a prompt that is missing, or filled with the wrong variables
    ├── RunError            a run folder that cannot be used
    │   └── UnfinishedError   a run that was stopped or has errors, where a whole one is needed
    └── UsageError          arguments that make no sense together

The command line prints the message of a ``NavloomError`` and exits with its code, which is 1 unless
the class says otherwise; anything else that escapes is a defect of Navloom. A message says what was
wrong, where, what was expected, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class NavloomError(RuntimeError):
    """Base of all errors meant for a person; ``str(error)`` is one line.

    A ``RuntimeError``, since LangGraph's server hands on the words of those and of few others.

    Attributes:
        exit_code: what the command line ends with.
    """

    exit_code: int = 1


class SceneError(NavloomError):
    """A scene is missing, broken or unknown."""


class ModelError(NavloomError):
    """A model cannot be named, reached or used."""


class ModelRefusedError(ModelError):
    """The key, the model's name or the account is refused, so every further call would be too."""


class ScriptError(ModelError):
    """A scripted model met a call it was not told of, or was left with replies unused."""


class SimulatorError(NavloomError):
    """A simulator that is not there, or was asked for what it cannot do."""


class DataError(NavloomError):
    """A file of a dataset, a submission or answers is missing or broken."""


class LimitReachedError(NavloomError):
    """A limit of the session is reached; nothing is broken, and more may be allowed."""

    exit_code = 2


class StoppedError(NavloomError):
    """A call failed while the session ends; nothing is broken, the next one makes it again."""

    exit_code = 2


class PromptError(NavloomError):
    """A prompt is missing, or was filled with missing or unknown variables."""


class RunError(NavloomError):
    """A run folder cannot be used as asked."""


class UnfinishedError(RunError):
    """A run was stopped, or some of its samples ended in an error, where a whole one is needed."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(NavloomError):
    """Arguments that make no sense, alone or together."""


def did_you_mean(name: str, known: Iterable[str], *, most: int = 3) -> str:
    """Say which known names are near ``name``, as the tail of an error message.

    Args:
        name: what was asked for.
        known: the names there are.
        most: how many near names to give at most.

    Returns:
        ``" Did you mean 'a' or 'b'?"`` with a leading space, or ``""`` where nothing is near.
    """
    options = list(known)
    folded = {option.casefold(): option for option in reversed(options)}
    near = get_close_matches(name.casefold(), folded, n=most, cutoff=0.6)
    if not near:
        return ""
    return " Did you mean " + " or ".join(f"'{folded[n]}'" for n in near) + "?"
