"""A navigator's switches and bounds, checked when they are set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from navloom.errors import UsageError, did_you_mean

__all__ = ["Settings"]

_CHOICES: dict[str, tuple[Any, ...]] = {
    "memory": ("history", "map"),
    "act": ("text", "tool"),
    "oracle": ("off", "assistant", "path"),
    "views": (0, 4, 12, 24, 36),
}
_LEAST = {
    "max_steps": 1,
    "max_reprompts": 0,
    "max_revisions": 0,
    "max_questions": 0,
    "oracle_budget": 0,
}
_MOST = 1_000
_MOST_FAILURES = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """The part of a navigator's context that says what kind of agent it is.

    Raises:
        UsageError: a setting that makes no sense.
    """

    memory: Literal["history", "map"] = "history"
    """How it remembers (NavGPT, MapGPT)."""
    cot: bool = False
    """Ask for reasoning before the action."""
    reflect: bool = False
    """Ask for a reflection after it; one that says revise asks again."""
    plan: bool = False
    """Ask for a plan that is carried from step to step; a map adds its supplementary places."""
    act: Literal["text", "tool"] = "text"
    """Whether the action is read out of text, or is a tool call."""
    dialogue: bool = False
    """Whether it may ask."""
    oracle: Literal["off", "assistant", "path"] = "off"
    """``assistant`` speaks where the agent struggles; ``path`` then names the option (the bound),
    and answers questions so, too."""
    show_path: bool = False
    """Show it the shortest path at every step: the upper bound."""
    failures: tuple[str, ...] = ()
    """Accounts of failed walks, shown in the system prompt."""
    max_steps: int = 15
    """Moves and the stop, at most; questions are counted apart."""
    max_reprompts: int = 2
    """Bad replies told back at one step, at most."""
    max_revisions: int = 1
    """Revisions at one step, at most."""
    max_questions: int = 3
    """Questions in a run, at most."""
    oracle_budget: int = 3
    """How often the oracle speaks of itself in a run, at most."""
    views: Literal[0, 4, 12, 24, 36] = 4
    """Pictures a step where the simulator has any: one strip of 4, or so many single views."""

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                names = [str(each) for each in known]
                raise UsageError(
                    f"{name} is {str(value)[:60]!r}: expected one of {', '.join(names)}."
                    + did_you_mean(str(value), names)
                )
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= _MOST:
                raise UsageError(f"{name} is {str(value)[:60]}: expected {least} to {_MOST}.")
        # JSON, which `langgraph dev` sends, has lists and no tuples.
        object.__setattr__(self, "failures", _texts(self.failures))

    @property
    def needs_goals(self) -> bool:
        """Whether some part of it reads the ground truth."""
        return self.dialogue or self.show_path or self.oracle != "off"


def _texts(failures: Any) -> tuple[str, ...]:
    texts = tuple(failures) if isinstance(failures, (list, tuple)) else ()
    if not isinstance(failures, (list, tuple)) or not all(isinstance(t, str) for t in texts):
        raise UsageError("failures is not a list of texts: give one text a failed walk.")
    if len(texts) > _MOST_FAILURES:
        raise UsageError(f"failures has {len(texts)} texts: expected at most {_MOST_FAILURES}.")
    return texts
