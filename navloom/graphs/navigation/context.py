"""Settings and input of the navigator graph, and the named agents.

Everything is checked when it is set, before a model is called.

Named navigators are the same graph with different settings: a new agent is one line of ``AGENTS``.
Settings that only change the prompt (``cot``, ``reflect``, ``plan``, ``act``) work with every agent
and are no agents of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

from navloom.errors import UsageError, one_of
from navloom.graphs import agent_graph
from navloom.graphs.navigation.human_input import HumanNavigator
from navloom.models.structured_output import sees_images
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.scene import Scene
from navloom.scenes.viewpoint_hints import viewpoint_hint
from navloom.sim.caption_composer import one_line
from navloom.sim.media_store import MediaStore
from navloom.tools.navigation.visible_objects import Things


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Settings of a named navigator.

    Attributes:
        name: the agent's name.
        memory: its memory strategy (:mod:`navloom.graphs.navigation.prompt_text`).
        model: the model that it always uses; None takes the caller's.
        oracle: the oracle that it always has; None leaves that to the caller.
        description: one line for a table.
    """

    name: str
    memory: Literal["history", "map"] = "history"
    model: str | None = None
    oracle: Literal["bound"] | None = None
    description: str = ""


AGENTS: dict[str, AgentSettings] = {
    agent.name: agent
    for agent in (
        AgentSettings("navgpt", description="text history as memory (NavGPT)"),
        AgentSettings("mapgpt", memory="map", description="text map as memory (MapGPT)"),
        AgentSettings("heuristic", model="builtin/heuristic", description="R2R-tuned rules"),
        AgentSettings(
            "heuristic-no-length",
            model="builtin/heuristic-no-length",
            description="R2R-tuned rules that do not know how long its paths are",
        ),
        AgentSettings("random", model="builtin/random", description="draws among the options"),
        AgentSettings(
            "shortest-path",
            model="builtin/heuristic",
            oracle="bound",
            description="is told the shortest path at every step: the upper bound",
        ),
        AgentSettings("human", model="builtin/human", description="a person, here or in a browser"),
    )
}


def get_agent(name: str) -> AgentSettings:
    """Return the settings of a named agent.

    Raises:
        UsageError: there is no such agent.
    """
    if name not in AGENTS:
        raise UsageError(f"'{name}' is not an agent: {one_of(name, AGENTS)}")
    return AGENTS[name]


MOST_INSTRUCTION = 20_000
"""Most characters of an instruction; the longest of R2R has under 700."""
_MOST = 1_000
Bound = Annotated[int, Field(ge=0, le=_MOST)]
_MOST_FAILURES = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(agent_graph.AgentContext):
    """Settings of the navigator, fixed during a run. Contexts are compared by identity.

    Raises:
        UsageError: a setting is invalid.
    """

    simulator: agent_graph.SimulatorLike = "auto"
    """The simulator: a backend's name for ``scene``, or a factory called for each run. An instance
    is used as it is: two simultaneous runs should have one each."""
    scene: agent_graph.SceneLike | None = None
    """The scene or its URI, for a backend given by name."""
    agent: str = "navigator"
    """The agent's name in its simulator."""
    model: agent_graph.ModelLike = "builtin/heuristic"
    """The navigator's model, or its ``provider/name``."""
    oracle_model: agent_graph.ModelLike | None = None
    """The oracle's model; None takes the navigator's."""
    things: Mapping[str, Things] | None = None
    """The objects visible from each viewpoint. If given, the walk ends with the question which of
    them the instruction means (REVERIE)."""
    media: Annotated[MediaStore | None, agent_graph.PythonField()] = None
    """Store for images; None keeps none."""
    embodiment: Embodiment = DEFAULT_BODY
    """The navigator's body."""
    person: Annotated[HumanNavigator | None, agent_graph.PythonField()] = None
    """A person who navigates in place of the model."""
    motion: Literal["hops", "continuous"] = "hops"
    """A person's motion: from viewpoint to viewpoint, or driving while keys are held."""

    memory: Literal["history", "map"] = "history"
    """Memory strategy (NavGPT, MapGPT)."""
    cot: bool = False
    """Ask for reasoning before the action."""
    reflect: bool = False
    """Ask for a reflection after it; one that says revise asks for a new choice."""
    scratchpad: bool | None = None
    """Show the reasoning before each move in the history (NavGPT's scratchpad); None: with ``cot``,
    in our own prompts."""
    plan: bool | None = None
    """Ask for a plan that is carried from step to step, and with a map also show the supplementary
    places (MapGPT); None: with a map, in our own prompts."""
    jump: bool = False
    """Offer every visited place as an option; the navigator walks back there over places that it
    knows (NavGPT)."""
    blank_options: bool = False
    """Omit the descriptions of options and of past moves, to measure their contribution."""
    prompts: Literal["navloom", "paper"] = "navloom"
    """Our own prompt, or VLN-MME's printed one (Figures 9 and 10, D.3 to D.6), in our words."""
    act: Literal["text", "tool"] = "text"
    """Read the action from text, or from a tool call."""
    dialogue: bool = False
    """Allow the navigator to ask questions."""
    oracle: Literal["off", "assistant", "bound"] = "off"
    """``assistant`` speaks when the agent struggles or would stop too early. ``bound`` knows the
    path and names its option at every step: the upper bound, which is no model."""
    failures: Annotated[tuple[str, ...], Field(max_length=_MOST_FAILURES)] = ()
    """Accounts of failed walks, shown in the system prompt."""
    oracle_knows: Literal["model", "map", "path"] = "model"
    """Knowledge of the oracle's model, in guidance and dialogue: the navigator's view (the papers'
    oracle, another model), the map too, or the shortest path too."""
    oracle_arrival: bool = True
    """Let the oracle say whether this is the goal; else such questions get no answer."""
    ask_cost: Bound = 0
    """Steps that a question costs; the papers' cost none."""
    max_steps: Annotated[int, Field(ge=1, le=_MOST)] = 15
    """Most moves, the stop and the cost of questions included."""
    max_reasks: Bound = 2
    """Most invalid replies that are sent back at one step."""
    max_revisions: Bound = 1
    """Most revisions at one step."""
    max_questions: Bound = 3
    """Most questions in a run."""
    oracle_budget: Bound = 3
    """Most times that the oracle speaks unasked in a run."""
    views: Literal[0, 4, 12, 24, 36] = 4
    """Images for each step if the simulator has any: one strip of 4, or this many single views. A
    model that takes no images is shown none, and none is rendered."""

    def __post_init__(self) -> None:
        agent_graph.AgentContext.__post_init__(self)
        check_prompts(self)
        if self.motion == "continuous" and self.person is None:
            raise UsageError("motion continuous is a person's: give person, or leave it out")

    @cached_property
    def shown_views(self) -> int:
        """Number of views shown at each step; 0 where the model takes no images."""
        return self.views if self.views and sees_images(self.model) else 0

    @property
    def plans(self) -> bool:
        """True if the navigator keeps a plan."""
        own = self.memory == "map" and self.prompts == "navloom"
        return own if self.plan is None else self.plan

    @property
    def keeps_thoughts(self) -> bool:
        """True if the navigator's history shows its reasoning."""
        own = self.cot and self.prompts == "navloom"
        return own if self.scratchpad is None else self.scratchpad

    @property
    def needs_goals(self) -> bool:
        """True if some part of the navigator reads the ground truth."""
        return self.dialogue or self.oracle != "off"


_LACKING = {"plan": "plan", "scratchpad": "scratchpad", "jump": "jumps", "dialogue": "questions"}


def check_prompts(settings: Any) -> None:
    """Reject settings that the paper's prompt does not support, so that none is silently ignored.

    Args:
        settings: a context, or a request with the fields of one.

    Raises:
        UsageError: a setting is not supported.
    """
    if settings.prompts == "navloom":
        return
    asked = [words for name, words in _LACKING.items() if getattr(settings, name)]
    asked += ["actions as tool calls"] if settings.act == "tool" else []
    if asked:
        raise UsageError(
            f"The paper's prompt has no {asked[0]}: leave that out, or use prompts navloom."
        )


def read_input(state: Mapping[str, Any], context: Context, scene: Scene) -> dict[str, Any]:
    """Return the complete input, checked against the scene.

    Raises:
        UsageError: an instruction, viewpoint or heading is invalid, or goals that a setting needs
            are missing.
    """
    text = one_line(state["instruction"], max(len(state["instruction"]), 4))
    if not text:
        raise UsageError("The instruction is empty: say where the navigator should go.")
    given = {
        "seed": state.get("seed") or 0,
        "instruction": text,
        "start": _viewpoint(scene, state["start"], "start"),
        "heading": state.get("heading") or 0.0,
        "goals": [_viewpoint(scene, name, "goal") for name in state.get("goals") or ()],
        "path": [_viewpoint(scene, name, "path's") for name in state.get("path") or ()],
        "target": state.get("target"),
    }
    if context.needs_goals and not given["goals"]:
        raise UsageError("An oracle or dialogue needs goals: give at least one viewpoint.")
    return given


def _viewpoint(scene: Scene, name: str, what: str) -> str:
    if name in scene.viewpoint_by_id:
        return name
    raise UsageError(
        f"The {what} viewpoint '{name[:100]}' is not in {scene.uri}, which has"
        f" {len(scene.viewpoints)}.{viewpoint_hint(scene, name)}"
    )
