"""A robot as its tools are told of it: where it stands, what it perceives, what has been said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.distances import turn_between
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Observation
from navloom.tools.chat.places import Past
from navloom.tools.navigation.options import direction_of

SIDES = {"Front": "ahead", "Left": "left", "Right": "right", "Back": "behind"}
Turn: TypeAlias = tuple[str, Sequence[tuple[str, Mapping[str, Any], Any]]]
"""What the person said, and the calls it led to: tool, arguments, answer."""


@dataclass(frozen=True)
class Now:
    """What tools are told of a robot before each call.

    Attributes:
        scene: the home.
        observation: what it perceives; its pose stands on a viewpoint.
        past: what was talked of, the latest last.
        begun: the viewpoints its walks began on, the latest last.
        goal: the walk that was stopped and not taken up since: ``place``, ``viewpoint``, ``face``,
            ``note``, and ``left``, the calls that were to follow.
        trail: the viewpoints it has stood on, the first one first.
        turns: what was said, each with the calls that it led to: tool, arguments, answer.
        body: its body.
        drives: whether that body drives, so that it can leave the graph.
        beside: whether it stands off its viewpoint now.
        whole: the home with the ways of a slim body, where its own are fewer.
    """

    scene: Scene
    observation: Observation
    past: Past = ()
    begun: Sequence[str] = ()
    goal: Mapping[str, Any] | None = None
    trail: Sequence[str] = ()
    turns: Sequence[Turn] = ()
    body: Embodiment = DEFAULT_BODY
    drives: bool = False
    beside: bool = False
    whole: Scene | None = None
    room: str | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "room", self.scene.viewpoint_by_id[self.viewpoint].region)

    @property
    def viewpoint(self) -> str:
        """Where it stands."""
        return self.observation.pose.viewpoint or ""

    @property
    def heading(self) -> float:
        """Where it looks, radians."""
        return self.observation.pose.heading


def side_of(now: Now, heading: float) -> str:
    """Which way a heading lies as the robot looks: ahead, left, right or behind."""
    return SIDES[direction_of(turn_between(now.heading, heading))]
