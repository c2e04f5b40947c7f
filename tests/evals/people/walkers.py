"""Scripted walkers that know the path, and a study for them to walk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from navloom.evals.people.people_study import assign_items
from navloom.evals.people.rating_form import read_form
from navloom.evals.people.study_folder import PeopleStudy, RatedItem, write_people_study
from navloom.evals.tasks.episode import Episode
from navloom.evals.tasks.registry import load_task
from navloom.graphs.navigation.human_input import HumanInput, HumanObservation
from navloom.graphs.navigation.teleoperation import TICK_S
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import heading_to, metre_table, turn_between
from navloom.scenes.scene import Scene
from navloom.sim.registry import get_simulator
from navloom_worlds.walks.walk_run import Motion


def study(
    out: Path,
    motion: Motion,
    spec: str = "home:0-2",
    n: int = 3,
    raters: Sequence[str] = ("r1",),
    source: str = "",
) -> PeopleStudy:
    """Make a study of episodes to walk, in which homes may repeat."""
    made = load_task("scene", spec=spec, n=n, kind="fine")
    items = [
        RatedItem(
            id=f"i{k:04}",
            page="walk",
            scene=each.scene,
            blocks=({"block": "Prose", "text": each.instruction},),
            task={"episode": each.model_dump(mode="json")},
        )
        for k, each in enumerate(made.episodes)
    ]
    form = read_form("walk").model_copy(update={"new_homes": False, "motion": motion})
    dealt, _ = assign_items(items, raters, form, 0)
    out.mkdir(parents=True)
    return write_people_study(
        out, form, items, dealt, seed=0, request={"sources": [source or spec]}
    )


class Hopper:
    """Walker that hops along the shortest path, up to ``most`` hops."""

    def __init__(self, episode: Episode, scene: Scene, most: int = 1_000) -> None:
        self.way = metre_table(scene, "3d").path(episode.start, episode.path[-1]) or []
        self.asked, self.most = 0, most

    async def wish(self, standing: HumanObservation) -> HumanInput:
        """Return the next hop, or the stop."""
        at = self.way.index(str(standing.pose.viewpoint))
        self.asked += 1
        if at == len(self.way) - 1 or self.asked > self.most:
            return HumanInput(standing.seconds + 1, "stop")
        chosen = (o.id for o in standing.options if o.viewpoint == self.way[at + 1])
        return HumanInput(standing.seconds + 1, option=next(chosen))


class Driver:
    """Walker that drives along the shortest path on the floor."""

    def __init__(self, episode: Episode, scene: Scene) -> None:
        simulator: Any = get_simulator("embedded", scene, physics="slide")
        self._way, self._goal = simulator.floor_path, episode.path[-1]
        self._left: list[Any] | None = None
        self.asked = 0

    async def wish(self, standing: HumanObservation) -> HumanInput:
        """Return the key input of the next 50 ms."""
        self.asked += 1
        pose, now = standing.pose, standing.seconds + TICK_S
        if self._left is None:
            way = self._way(replace(pose, viewpoint=None), [self._goal], DEFAULT_BODY)
            self._left = list(way.points)
        x, _, z = pose.position
        far = [math.hypot(p[0] - x, p[2] - z) for p in self._left]
        while far and far[0] < 0.08:
            self._left.pop(0)
            far.pop(0)
        if not far:
            return HumanInput(now, "stop")
        turn = turn_between(pose.heading, heading_to(pose.position, self._left[0]))
        if abs(turn) > 0.05:
            most = DEFAULT_BODY.turn_speed * TICK_S
            return HumanInput(now, turn=max(-1.0, min(1.0, turn / most)))
        return HumanInput(now, forward=min(1.0, far[0] / (DEFAULT_BODY.speed * TICK_S)))
