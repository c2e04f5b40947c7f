"""Helpers of the navigator's tests: a small home, a scripted model, generated images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from langchain_core.messages import BaseMessage, HumanMessage

from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.navigator import Context
from navloom.models.messages import message_text
from navloom.models.scripted import Reply, ScriptedChatModel
from navloom.scenes.bodies import Embodiment
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import Action, Contact, Hop, Observation, Pose, View
from tests.graphs.states import run
from tests.tools.navcraft.rooms_in_a_row import HALL, KITCHEN, SINK, home

__all__ = ["GIVEN", "BumpingSimulator", "PictureSimulator", "humans", "section", "walk"]

GIVEN: dict[str, Any] = {
    "seed": 5,
    "instruction": "Walk down the hall, turn right and stop at the sink.",
    "start": HALL,
    "heading": 0.0,
    "goals": [SINK],
    "path": [HALL, KITCHEN, SINK],
}


def walk(
    replies: Sequence[Reply], *, given: Mapping[str, Any] | None = None, **settings: Any
) -> tuple[dict[str, Any], ScriptedChatModel]:
    """Run the navigator with scripted replies; all of them must be used."""
    with ScriptedChatModel(replies) as model:
        settings = {"simulator": GraphSimulator(home()), **settings}
        state = run(
            navigator.graph, {**GIVEN, **(given or {})}, context=Context(model=model, **settings)
        )
    return state, model


def humans(messages: Sequence[BaseMessage]) -> list[str]:
    """Return the texts of the human messages."""
    return [message_text(m.content) for m in messages if isinstance(m, HumanMessage)]


def section(prompt: str, head: str) -> list[str]:
    """Return the lines of a prompt that start with a heading."""
    return [line for line in prompt.splitlines() if line.startswith(head)]


class PictureSimulator(GraphSimulator):
    """Graph backend with noise images that depend on viewpoint and direction."""

    capabilities = frozenset({"hop", "discrete", "captions", "rgb"})
    taken = 0

    def reset(
        self, agents: Mapping[str, tuple[Pose, Embodiment]], *, seed: int = 0
    ) -> Mapping[str, Observation]:
        return self._with_pictures(super().reset(agents, seed=seed))

    def step(self, actions: Mapping[str, Action]) -> Mapping[str, Observation]:
        return self._with_pictures(super().step(actions))

    def _with_pictures(self, seen: Mapping[str, Observation]) -> dict[str, Observation]:
        self.taken += 1
        return {
            name: replace(each, images={"rgb": tuple(_views(each.pose.viewpoint or ""))})
            for name, each in seen.items()
        }


def _views(viewpoint: str) -> list[View]:
    views = []
    for tilt in (30, 0, -30):
        for turn in range(0, 360, 15):
            rng = np.random.default_rng([turn, tilt + 90, *viewpoint.encode()])
            image = rng.integers(0, 255, (24, 32, 3), dtype=np.uint8)
            fov = math.pi / 2
            views.append(View(math.radians(turn), math.radians(tilt), fov, image))
    return views


class BumpingSimulator(GraphSimulator):
    """Graph backend that reports a contact with a wall on every hop."""

    def step(self, actions: Mapping[str, Action]) -> Mapping[str, Observation]:
        touched = (Contact("wall", 0.25, (1.0, 0.0, 2.0)),)
        hops = any(isinstance(action, Hop) for action in actions.values())
        return {
            name: replace(each, contacts=touched if hops else ())
            for name, each in super().step(actions).items()
        }
