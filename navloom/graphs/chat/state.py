"""State, input and context of the chat graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from pydantic import Field
from typing_extensions import TypedDict

from navloom.graphs import agent_graph
from navloom.models.structured_output import sees_images
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment


class Input(TypedDict, total=False):
    """Input of the chat graph; all keys are optional."""

    seed: int
    """Seed of the baselines' random choices; 0 where it is left out."""
    said: str | None
    """The person's words; without them the graph waits for words."""
    halt: bool
    """Stop a walk that is under way, and listen."""
    back: bool
    """Resume after the process has ended: report what was interrupted, and listen."""
    undo: bool
    """Undo the last instruction, and listen."""
    undo_to: int | None
    """With ``undo``: undo back to the instruction that this line of the transcript belongs to."""
    start: str
    """The viewpoint a new conversation starts on; by default one by the entrance."""
    heading: Annotated[float, Field(allow_inf_nan=False)]
    """The robot's heading at the start, radians clockwise from -z."""


class State(Input, agent_graph.Outcome, total=False):
    """State of a conversation: ids and text, never a frame or a scene.

    Its status is always ``ok``: only the person can say whether an order was carried out well. Keys
    of its result: ``home``, ``pose``, ``room``, ``turn`` and ``said``, the robot's last words.
    """

    home: str
    """The scene's portable name; a conversation cannot change its home."""
    pose: dict[str, Any]
    """The robot's pose: viewpoint, heading and elevation (radians); of a body that drives also its
    position, and ``beside`` where it stands off its viewpoint."""
    body: str
    """The body's name; a conversation cannot change its body."""
    simulator: dict[str, Any] | None
    """Simulator state that restores a driving body exactly."""
    trajectory: agent_graph.Growing[list[Any]]
    """Every pose so far, the start first: [viewpoint, heading, elevation], of a body that drives
    with x, y and z after that."""
    messages: agent_graph.Growing[AnyMessage]
    """The conversation as the model reads it, without the opening. It sees the latest part."""
    transcript: agent_graph.Growing[dict[str, Any]]
    """The conversation as people read it: ``who`` (person, robot, note), ``text``, ``turn``, and
    ``at``, the number of poses so far."""
    past: agent_graph.Growing[dict[str, Any]]
    """Rooms and items that were talked of (:data:`navloom.tools.chat.places.Past`)."""
    begun: agent_graph.Growing[str]
    """The viewpoints at which its walks began."""
    walk: dict[str, Any] | None
    """The walk under way: the call it answers, the rest of the path, the destination."""
    goal: dict[str, Any] | None
    """The walk that was stopped and not resumed since (:func:`~.exchange.stopped_goal`)."""
    stopped: bool
    """True if a walk was under way when this run of the graph began."""
    question: dict[str, Any] | None
    """The question to the person, the call it answers, and ``choices``, suggested answers; empty
    where any words may be an answer."""
    turn: int
    """Number of the person's messages so far."""
    thought: int
    """Model calls in this turn."""
    marks: agent_graph.Growing[dict[str, Any]]
    """Undo snapshots, one before each message of the person (:mod:`.exchange`)."""
    over: bool
    """True once the person has left."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(agent_graph.AgentContext):
    """Settings of the chat graph, fixed during a run. Contexts are compared by identity.

    Raises:
        UsageError: a setting is invalid.
    """

    simulator: agent_graph.SimulatorLike = "auto"
    """The simulator: a backend's name for ``scene``, or an instance for this conversation alone."""
    scene: agent_graph.SceneLike | None = None
    """The scene or its URI, for a backend given by name."""
    agent: str = "robot"
    """The agent's name in its simulator."""
    model: agent_graph.ModelLike = "builtin/heuristic"
    """The model, or its ``provider/name``."""
    embodiment: Embodiment = DEFAULT_BODY
    """The robot's body; it drives where the simulator has physics."""
    whole: agent_graph.SceneLike | None = None
    """The home with a slim body's graph, where ``scene`` has that of a wider one. It serves to
    explain which barrier blocks a path."""
    views: Literal[0, 4] = 4
    """4 shows the model a strip of images, if the simulator has images and the model takes them."""
    max_turns: Annotated[int, Field(ge=1, le=100)] = 10
    """Most model calls for each instruction."""
    before_hop: Annotated[Callable[[], Awaitable[None]] | None, agent_graph.PythonField()] = None
    """Awaited before each hop, once the last one is on disk: lets a display show each hop."""

    @cached_property
    def shown_views(self) -> int:
        """Number of views that the model is shown; 0 if the model takes no images."""
        return self.views if self.views and sees_images(self.model) else 0
