"""What an evaluation of a navigator is asked to be, and what of it decides the outcome.

Two halves: what decides goes into ``run.json`` as the request and is hashed; where this machine
happens to keep the files (dataset, subset, captions) stands beside it, so that a folder that has
moved is no other run. The files themselves are in the request by their content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from navloom.errors import UsageError
from navloom.evals.request import made_again, read_fields
from navloom.evals.run_folder import read_run
from navloom.graphs.navigation.agents import AgentSettings, get_agent
from navloom.graphs.navigation.text import PROMPT
from navloom.prompts.load import load_prompt

__all__ = ["KIND", "EvalRequest"]

KIND = "navigate"
"""The kind of an evaluation's run, in its ``run.json``."""
_PLACES = ("data", "subset", "captions", "failures_from")
_SPEC = "spec"
"""The one option of a dataset that names a place."""
_DERIVED = frozenset(
    {"settings", "prompts", "episodes", "scenes", "subset_ids", "caption_files", "failure_examples"}
)
_CHOICES: dict[str, tuple[Any, ...]] = {
    "act": ("text", "tool"),
    "oracle": ("off", "assistant", "path"),
    "views": (0, 4, 12, 24, 36),
}
_MOST = {
    "max_steps": (1, 1000),
    "max_reprompts": (0, 100),
    "max_revisions": (0, 100),
    "max_questions": (0, 1000),
    "oracle_budget": (0, 1000),
    "epochs": (1, 1000),
    "few_shot_failures": (0, 3),
}


@dataclass(frozen=True, kw_only=True)
class EvalRequest:
    """Everything the outcome of an evaluation depends on, and where its files are."""

    task: str
    """A dataset of :mod:`navloom.evals.tasks.registry`."""
    split: str | None = None
    """Of the dataset; its own default unless given."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the dataset itself takes, such as ``spec`` and ``n`` of homes of ours."""
    data: str | None = None
    """The dataset's folder; ``$NAVLOOM_DATA/mp3d`` unless given."""
    subset: str | None = None
    """An index file of :mod:`navloom.evals.navigation.subset`: only its episodes."""
    agent: str = "heuristic"
    """An agent of :mod:`navloom.graphs.navigation.agents`."""
    model: str = "builtin/heuristic"
    """The navigator's; an agent that brings its own model keeps that."""
    oracle_model: str | None = None
    """The oracle's; the navigator's unless given."""
    cot: bool = False
    reflect: bool = False
    plan: bool = False
    act: Literal["text", "tool"] = "text"
    dialogue: bool = False
    """Whether the navigator may ask."""
    oracle: Literal["off", "assistant", "path"] = "off"
    oracle_budget: int = 3
    max_questions: int = 3
    few_shot_failures: int = 0
    """How many failures of ``failures_from`` the navigator is shown."""
    failures_from: str | None = None
    """A run to take them from; never those of the episode itself, its path or its goal."""
    max_steps: int = 15
    max_reprompts: int = 2
    max_revisions: int = 1
    captions: str | None = None
    """A run of `navloom caption`, or a file of captions; they go before the dataset's own."""
    backend: str = "graph"
    """A simulator of :mod:`navloom.sim.registry`."""
    views: Literal[0, 4, 12, 24, 36] = 4
    """Pictures a step, where the backend has any."""
    epochs: int = 1
    """How often each episode is tried."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                said = ", ".join(map(str, choices))
                raise UsageError(f"{name} is {value}: expected one of {said}")
        for name, (least, most) in _MOST.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise UsageError(f"{name} is {value}: expected {least} to {most}")
        if bool(self.few_shot_failures) != (self.failures_from is not None):
            raise UsageError("few_shot_failures and failures_from go together: how many, of which")
        get_agent(self.agent)

    @property
    def settings(self) -> AgentSettings:
        """What the agent is, by the registry."""
        return get_agent(self.agent)

    @property
    def thinks_with(self) -> str:
        """The navigator's model: the agent's own where it brings one."""
        return self.settings.model or self.model

    def record(self) -> dict[str, Any]:
        """What ``run.json`` keeps of the request itself; files are added by their content."""
        asked = asdict(self)
        for name in _PLACES:
            asked.pop(name)
        asked["options"].pop(_SPEC, None)
        for name in self.idle():
            asked.pop(name)
        settings = self.settings
        prompts = [PROMPT, *(["oracle"] if self.oracle == "assistant" else [])]
        prompts += ["dialogue_oracle"] if self.dialogue else []
        return {
            **asked,
            "model": self.thinks_with,
            "settings": {"memory": settings.memory, "show_path": settings.show_path},
            "prompts": [load_prompt(name).record for name in prompts],
        }

    def idle(self) -> list[str]:
        """The fields that decide nothing, since what they are about is off."""
        return [name for name, used in self._used().items() if not used]

    def _used(self) -> dict[str, bool]:
        """What decides something only where something else is on."""
        asks = self.dialogue or self.oracle == "assistant"
        return {
            "oracle_model": asks and self.oracle_model is not None,
            "max_questions": self.dialogue,
            "oracle_budget": self.oracle != "off",
            "max_revisions": self.reflect,
            "few_shot_failures": self.few_shot_failures > 0,
        }

    def where(self) -> dict[str, str]:
        """Where the files are on this machine."""
        named = {name: getattr(self, name) for name in _PLACES}
        named[_SPEC] = self.options.get(_SPEC)
        return {name: str(value) for name, value in named.items() if value is not None}

    @classmethod
    def read(cls, run: Path | str) -> EvalRequest:
        """The request that made a run, from its ``run.json``.

        Raises:
            RunError: the folder is no run, or none that an evaluation of this version made.
        """
        given = read_fields(run, cls, kinds=(KIND,), command="eval", beside=_DERIVED)
        where = read_run(run).get("where") or {}
        place = {_SPEC: where[_SPEC]} if _SPEC in where else {}
        given["options"] = {**given.get("options", {}), **place}
        return made_again(run, cls, given)
