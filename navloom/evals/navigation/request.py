"""What an evaluation of a navigator is asked to be, and what of it decides the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from navloom.errors import UsageError
from navloom.evals.kinds import Request
from navloom.graphs.navigation.context import AgentSettings, get_agent
from navloom.graphs.navigation.text import PROMPT
from navloom.prompts.load import load_prompt

_SPEC = "spec"
"""The one option of a dataset that names a place."""
_CHOICES: dict[str, tuple[Any, ...]] = {
    "act": ("text", "tool"),
    "oracle": ("off", "assistant", "path"),
    "views": (0, 4, 12, 24, 36),
}


@dataclass(frozen=True, kw_only=True)
class EvalRequest(Request):
    """Everything the outcome of an evaluation depends on, and where its files are."""

    KIND: ClassVar[str] = "navigate"
    PLACES: ClassVar[Sequence[str]] = ("data", "subset", "captions", "failures_from")
    DERIVED: ClassVar[frozenset[str]] = frozenset(
        {"settings", "prompts", "episodes", "scenes"}
        | {"subset_ids", "caption_files", "failure_examples"}
    )
    RANGES: ClassVar[Mapping[str, tuple[int, int]]] = {
        "max_steps": (1, 1000),
        "max_reprompts": (0, 100),
        "max_revisions": (0, 100),
        "max_questions": (0, 1000),
        "oracle_budget": (0, 1000),
        "epochs": (1, 1000),
        "few_shot_failures": (0, 3),
    }

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
    """An agent of :mod:`navloom.graphs.navigation.context`."""
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
        super().__post_init__()
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

    @property
    def models(self) -> Sequence[str]:
        """The navigator's, and the oracle's where it has one of its own."""
        return [each for each in (self.thinks_with, self.oracle_model) if each is not None]

    def record(self) -> dict[str, Any]:
        """As ``run.json`` keeps it, without what decides nothing."""
        asked = super().record()
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
        spec = self.options.get(_SPEC)
        return super().where() | ({} if spec is None else {_SPEC: str(spec)})

    @classmethod
    def restored(cls, given: dict[str, Any], where: Mapping[str, str]) -> dict[str, Any]:
        """The fields as they were: a spec of homes is among the dataset's options."""
        place = {_SPEC: where[_SPEC]} if _SPEC in where else {}
        return super().restored({**given, "options": {**given.get("options", {}), **place}}, where)
