"""What a navigator is given: what kind of agent it is, where it walks, and where it goes.

All of it is checked when it is set, before anything is asked of a model.

The navigators there are by name are the one graph, set in different ways: a new agent is one line
of ``AGENTS``. What only prompts differ in (``cot``, ``reflect``, ``plan``, ``act``) goes with every
agent and is no agent of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

from navloom.errors import UsageError, did_you_mean
from navloom.graphs.agent import AgentContext, FromPython, ModelLike, SceneLike, SimulatorLike
from navloom.graphs.navigation.person import Person
from navloom.models.binding import sees
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.hints import viewpoint_hint
from navloom.scenes.scene import Scene
from navloom.sim.composer import one_line
from navloom.sim.media import MediaStore
from navloom.tools.navigation.things import Things


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How the navigator graph is set for an agent.

    Attributes:
        name: what it is called.
        memory: how it remembers (:mod:`navloom.graphs.navigation.text`).
        model: the model it always thinks with; None takes the caller's.
        oracle: who helps it always; None leaves that to the caller.
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
_MOST = 1_000
Bound = Annotated[int, Field(ge=0, le=_MOST)]
_MOST_FAILURES = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AgentContext):
    """What does not change during a run. Two contexts are equal only if they are one.

    Raises:
        UsageError: a setting that makes no sense.
    """

    simulator: SimulatorLike = "auto"
    """Where it walks: the backend to stand ``scene`` in, or what makes one for each run. One that
    is given whole is used as it is: two runs at once had better have one each."""
    scene: SceneLike | None = None
    """The scene or its URI, for a backend that is named."""
    agent: str = "navigator"
    """What it is called in its simulator."""
    model: ModelLike = "builtin/heuristic"
    """Who navigates, or its ``provider/name``."""
    oracle_model: ModelLike | None = None
    """Who answers as the oracle; the navigator's own model where it is None."""
    things: Mapping[str, Things] | None = None
    """By viewpoint, what is seen from there: where it is given, the walk ends with the question
    which of those the instruction is about (REVERIE)."""
    media: Annotated[MediaStore | None, FromPython()] = None
    """Where pictures are kept; None keeps none."""
    embodiment: Embodiment = DEFAULT_BODY
    """Whose body it is."""
    person: Annotated[Person | None, FromPython()] = None
    """Who walks in the place of the model."""
    motion: Literal["hops", "continuous"] = "hops"
    """How a person moves: from viewpoint to viewpoint, or driving while keys are held."""

    memory: Literal["history", "map"] = "history"
    """How it remembers (NavGPT, MapGPT)."""
    cot: bool = False
    """Ask for reasoning before the action."""
    reflect: bool = False
    """Ask for a reflection after it; one that says revise asks again."""
    scratchpad: bool | None = None
    """Whether the history shows what was thought before each move (NavGPT's scratchpad); None: with
    ``cot``, in our own prompts."""
    plan: bool | None = None
    """Whether to ask for a plan that is carried from step to step, which on a map also adds the
    supplementary places (MapGPT); None: with a map, in our own prompts."""
    jump: bool = False
    """Whether the options include every place it has stood on; it walks back there over the places
    that it knows (NavGPT)."""
    blank_options: bool = False
    """Whether the words of options and of moves made are left out: what they are worth."""
    prompts: Literal["navloom", "paper"] = "navloom"
    """Our own prompt, or what VLN-MME prints (Figures 9 and 10, D.3 to D.6), in our words."""
    act: Literal["text", "tool"] = "text"
    """Whether the action is read out of text, or is a tool call."""
    dialogue: bool = False
    """Whether it may ask."""
    oracle: Literal["off", "assistant", "bound"] = "off"
    """``assistant`` speaks where the agent struggles or would stop too early; ``bound`` knows the
    path and names its option at every step: the upper bound, and no model."""
    failures: Annotated[tuple[str, ...], Field(max_length=_MOST_FAILURES)] = ()
    """Accounts of failed walks, shown in the system prompt."""
    oracle_knows: Literal["model", "map", "path"] = "model"
    """What the oracle's model is given, assistant's or dialogue's: what the navigator sees (the
    papers' oracle, another model), the map too, or the shortest way too."""
    oracle_arrival: bool = True
    """Whether the oracle says if this is the goal; else such questions get no answer."""
    ask_cost: Bound = 0
    """Steps that a question costs; the papers' cost none."""
    max_steps: Annotated[int, Field(ge=1, le=_MOST)] = 15
    """Moves and the stop, and what questions cost, at most."""
    max_reasks: Bound = 2
    """Bad replies told back at one step, at most."""
    max_revisions: Bound = 1
    """Revisions at one step, at most."""
    max_questions: Bound = 3
    """Questions in a run, at most."""
    oracle_budget: Bound = 3
    """How often the oracle speaks of itself in a run, at most."""
    views: Literal[0, 4, 12, 24, 36] = 4
    """Pictures a step where the simulator has any: one strip of 4, or so many single views. A model
    that takes no images is shown none, and none is made."""

    def __post_init__(self) -> None:
        AgentContext.__post_init__(self)
        check_prompts(self)
        if self.motion == "continuous" and self.person is None:
            raise UsageError("motion continuous is a person's: give person, or leave it out")

    @cached_property
    def shown_views(self) -> int:
        """Pictures a step that the navigator is shown: none where its model takes none."""
        return self.views if self.views and sees(self.model) else 0

    @property
    def plans(self) -> bool:
        """Whether it keeps a plan."""
        own = self.memory == "map" and self.prompts == "navloom"
        return own if self.plan is None else self.plan

    @property
    def keeps_thoughts(self) -> bool:
        """Whether its history shows its thoughts."""
        own = self.cot and self.prompts == "navloom"
        return own if self.scratchpad is None else self.scratchpad

    @property
    def needs_goals(self) -> bool:
        """Whether some part of it reads the ground truth."""
        return self.dialogue or self.oracle != "off"


_PAPERS_LACK = {
    "plan": "plan",
    "scratchpad": "scratchpad",
    "jump": "jumps",
    "dialogue": "questions",
}


def check_prompts(settings: Any) -> None:
    """Refuse what the paper's prompt does not speak of, so that nothing is switched on in vain.

    Args:
        settings: a context, or a request with the fields of one.

    Raises:
        UsageError: there is something.
    """
    if settings.prompts == "navloom":
        return
    asked = [words for name, words in _PAPERS_LACK.items() if getattr(settings, name)]
    asked += ["actions as tool calls"] if settings.act == "tool" else []
    if asked:
        raise UsageError(
            f"The paper's prompt has no {asked[0]}: leave that out, or use prompts navloom."
        )


def read_input(state: Mapping[str, Any], context: Context, scene: Scene) -> dict[str, Any]:
    """The input, every key there and checked against the scene.

    Raises:
        UsageError: an instruction, a viewpoint or a heading that makes no sense, or no goals where
            a setting needs them.
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
