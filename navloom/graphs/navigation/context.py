"""What a navigator is given: what kind of agent it is, where it walks, and where it goes.

All of it is checked when it is set, before anything is asked of a model.

The navigators there are by name are the one graph, set in different ways: a new agent is one line
of ``AGENTS``. What only prompts differ in (``cot``, ``reflect``, ``plan``, ``act``) goes with every
agent and is no agent of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

from navloom.errors import UsageError, did_you_mean
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.scene import Scene
from navloom.sim.media import MediaStore
from navloom.sim.protocol import Simulator
from navloom.sim.words import one_line


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How the navigator graph is set for an agent.

    Attributes:
        name: what it is called.
        memory: how it remembers (:mod:`navloom.graphs.navigation.text`).
        model: the model it always thinks with; None takes the caller's.
        show_path: whether it is shown the shortest path, which no fair navigator is.
        description: one line for a table.
    """

    name: str
    memory: Literal["history", "map"] = "history"
    model: str | None = None
    show_path: bool = False
    description: str = ""


AGENTS: dict[str, AgentSettings] = {
    agent.name: agent
    for agent in (
        AgentSettings("navgpt", description="text history as memory (NavGPT)"),
        AgentSettings("mapgpt", memory="map", description="text map as memory (MapGPT)"),
        AgentSettings("heuristic", model="builtin/heuristic", description="rules, not a model"),
        AgentSettings("random", model="builtin/random", description="draws among the options"),
        AgentSettings(
            "shortest-path",
            model="builtin/heuristic",
            show_path=True,
            description="is shown the shortest path: the upper bound",
        ),
        AgentSettings("human", model="builtin/human", description="a person at the terminal"),
    )
}


def get_agent(name: str) -> AgentSettings:
    """The agent of a name.

    Raises:
        UsageError: there is no such agent.
    """
    if name not in AGENTS:
        raise UsageError(
            f"'{name}' is not an agent: expected one of {', '.join(AGENTS)}."
            + did_you_mean(name, AGENTS)
        )
    return AGENTS[name]


MOST_INSTRUCTION = 20_000
"""Characters of an instruction; the longest of R2R has under 700."""
_CHOICES: dict[str, tuple[Any, ...]] = {
    "memory": ("history", "map"),
    "act": ("text", "tool"),
    "oracle": ("off", "assistant", "path"),
    "views": (0, 4, 12, 24, 36),
}
_LEAST = {
    "max_steps": 1,
    "max_reasks": 0,
    "max_revisions": 0,
    "max_questions": 0,
    "oracle_budget": 0,
}
_MOST = 1_000
_MOST_FAILURES = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """What does not change during a run. Two contexts are equal only if they are one.

    Raises:
        UsageError: a setting that makes no sense.
    """

    simulator: Simulator | Callable[[], Simulator] | None = None
    """Where it walks, or what makes one for each run; None makes one from ``scene``. One that is
    given is used as it is: two runs at once had better have one each."""
    scene: Scene | str | None = None
    """The scene or its URI, for a simulator on its navigation graph, without pictures."""
    agent: str = "navigator"
    """What it is called in its simulator."""
    model: BaseChatModel | str = "builtin/heuristic"
    """Who navigates, or its ``provider/name``."""
    oracle_model: BaseChatModel | str | None = None
    """Who answers as the oracle; the navigator's own model where it is None."""
    media: MediaStore | None = None
    """Where pictures are kept; None keeps none."""
    embodiment: Embodiment = DEFAULT_BODY
    """Whose body it is."""

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
    max_reasks: int = 2
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


def read_input(state: Mapping[str, Any], context: Context, scene: Scene) -> dict[str, Any]:
    """The input, every key there and checked against the scene.

    Raises:
        UsageError: an instruction, a viewpoint or a heading that makes no sense, or no goals where
            a setting needs them.
    """
    given = {
        "seed": _seed(state.get("seed") or 0),
        "instruction": _instruction(state.get("instruction")),
        "start": _viewpoint(scene, state.get("start"), "start"),
        "heading": _heading(state.get("heading") or 0.0),
        "goals": _viewpoints(scene, state.get("goals"), "goals", "goal"),
        "path": _viewpoints(scene, state.get("path"), "path", "path's"),
    }
    if context.needs_goals and not given["goals"]:
        raise UsageError(
            "An oracle, dialogue or show_path needs goals: give at least one viewpoint."
        )
    return given


def _seed(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"The seed is {str(value)[:40]!r}: expected a whole number.")
    return value


def _viewpoints(scene: Scene, names: object, key: str, what: str) -> list[str]:
    if names is None:
        return []
    # A text is a sequence too, of letters.
    if not isinstance(names, (list, tuple)):
        raise UsageError(f"{key} is {str(names)[:100]!r}: expected a list of viewpoints.")
    return [_viewpoint(scene, name, what) for name in names]


def _viewpoint(scene: Scene, name: object, what: str) -> str:
    if isinstance(name, str) and name in scene.viewpoint_by_id:
        return name
    shown = str(name)[:100]
    raise UsageError(
        f"The {what} viewpoint '{shown}' is not in {scene.uri}, which has"
        f" {len(scene.viewpoints)}.{did_you_mean(shown, scene.viewpoint_by_id)}"
    )


def _instruction(text: object) -> str:
    if not isinstance(text, str) or not one_line(text, MOST_INSTRUCTION):
        raise UsageError("The instruction is empty: say where the navigator should go.")
    if len(text) > MOST_INSTRUCTION:
        raise UsageError(
            f"The instruction has {len(text):,} characters: expected at most {MOST_INSTRUCTION:,}."
        )
    return one_line(text, max(len(text), 4))


def _heading(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"The heading is {str(value)[:40]!r}: expected radians, a finite number.")
    return float(value)
