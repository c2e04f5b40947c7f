"""What a conversation remembers, and what does not change while it lasts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from pydantic import Field
from typing_extensions import TypedDict

from navloom.graphs.agent import (
    AgentContext,
    FromPython,
    Growing,
    ModelLike,
    Outcome,
    SceneLike,
    SimulatorLike,
)
from navloom.models.binding import sees
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment


class Input(TypedDict, total=False):
    """What a caller gives; nothing is needed."""

    seed: int
    """Drawn upon by baselines; 0 where it is left out."""
    said: str | None
    """What the person says; without it the graph waits for words."""
    halt: bool
    """Stop a walk that is under way, and listen."""
    back: bool
    """Come back after the process that was at work is gone: say what was cut off, and listen."""
    undo: bool
    """Go back to before the last instruction, and listen."""
    undo_to: int | None
    """With ``undo``: to before the instruction that this line of the transcript belongs to."""
    start: str
    """The viewpoint a new conversation starts on; by default one by the entrance."""
    heading: Annotated[float, Field(allow_inf_nan=False)]
    """Where the robot looks at the start, radians clockwise from -z."""


class State(Input, Outcome, total=False):
    """What a conversation remembers: ids and text, never a frame or a scene.

    Its status is always ``ok``: whether the person is content is for the person to say. Keys of its
    result: ``home``, ``pose``, ``room``, ``turn`` and ``said``, the robot's last words.
    """

    home: str
    """The scene's portable name: a conversation stays in its home."""
    pose: dict[str, Any]
    """Where the robot is: viewpoint, heading and elevation (radians); a body that drives also its
    position, and ``beside`` where it stands off its viewpoint."""
    body: str
    """The body's name: a conversation stays in its body, too."""
    simulator: dict[str, Any] | None
    """What puts a body that drives back exactly."""
    trajectory: Growing[list[Any]]
    """Every pose it stood in, the start first: [viewpoint, heading, elevation], of a body that
    drives with x, y and z after that."""
    messages: Growing[AnyMessage]
    """The conversation as the model reads it, without its opening; it is shown the latest part."""
    transcript: Growing[dict[str, Any]]
    """The conversation as people read it: ``who`` (person, robot, note), ``text``, ``turn``, and
    ``at``, how many poses the robot had stood in."""
    past: Growing[dict[str, Any]]
    """Rooms and things that were talked of (:data:`navloom.tools.chat.places.Past`)."""
    begun: Growing[str]
    """The viewpoints that its walks began on."""
    walk: dict[str, Any] | None
    """The walk under way: the call it answers, the way left, the place."""
    goal: dict[str, Any] | None
    """The walk that was stopped and not taken up since (:func:`~.exchange.goal_of`)."""
    stopped: bool
    """Whether a walk was under way when this run of the graph began."""
    question: dict[str, Any] | None
    """The question the person is to answer, the call it answers, and ``choices``, answers that it
    may have, in words; none where any words may be one."""
    turn: int
    """How often the person has spoken."""
    thought: int
    """Model calls in this turn."""
    marks: Growing[dict[str, Any]]
    """What undo goes back to, before each time the person spoke (:mod:`.exchange`)."""
    over: bool
    """Whether the person has left."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AgentContext):
    """What does not change during a run. Two contexts are equal only if they are one.

    Raises:
        UsageError: a bound that makes no sense.
    """

    simulator: SimulatorLike = "auto"
    """Where it walks: the backend to stand ``scene`` in, or one for this conversation alone."""
    scene: SceneLike | None = None
    """The scene or its URI, for a backend that is named."""
    agent: str = "robot"
    """What it is called in its simulator."""
    model: ModelLike = "builtin/heuristic"
    """Who thinks, or its ``provider/name``."""
    embodiment: Embodiment = DEFAULT_BODY
    """Whose body it is; it drives where the simulator has physics."""
    whole: SceneLike | None = None
    """The home with the ways of a slim body, where ``scene`` has those of a wider one: what bars
    its way is told by it."""
    views: Literal[0, 4] = 4
    """4 shows the model a strip where the simulator has pictures and the model takes them."""
    max_turns: Annotated[int, Field(ge=1, le=100)] = 10
    """Model calls an instruction, at most."""
    before_hop: Annotated[Callable[[], Awaitable[None]] | None, FromPython()] = None
    """Awaited before each hop, when the one before is on disk: for displays that show each."""

    @cached_property
    def shown_views(self) -> int:
        """Pictures that the model is shown: none where it takes none."""
        return self.views if self.views and sees(self.model) else 0
