"""Figures of NavCraft tasks: routes on a floor plan, and a contact sheet of several tasks."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from navloom.errors import SceneError
from navloom.evals.navcraft.task_results import task_story
from navloom.scenes.plan_sheet import (
    PlanMark,
    PlanRoute,
    PlanSheet,
    Spot,
    draw_legend,
    draw_plan,
    legend_entries,
)
from navloom.scenes.plan_style import MarkKind, to_words
from navloom.scenes.scene import Scene
from navloom.sim.scene_images import can_render, render_floors
from navloom.tools.navcraft.task_paths import Anchor, metric_graph, plan_position

_COLUMNS = 2
_CELL, _STORY = (620.0, 418.0), 65.0
"""Size of one cell of the sheet (width, height) and height of its text, in points."""
_A_METRE = 50
"""Pixels a metre of the rendered floor."""
_HEAD, _KEY = 43.0, 29.0
"""Points above the cells for the title, and below them for the legend."""


def task_routes(scene: Scene, row: Mapping[str, Any]) -> tuple[list[PlanRoute], list[PlanMark]]:
    """Return the robots' paths over G+ and the marked points of one dataset line.

    Args:
        scene: the task's scene.
        row: an exported line. Its ``navloom`` part names the instances.

    Returns:
        Routes (one for a single task, two for a relay) and marks.

    Raises:
        SceneError: the scene lacks an item of the row, or a path to it.
    """
    ways = _Ways(scene)
    one, two, rest = row["phase_1"], row.get("phase_2"), row["navloom"]
    start = ways.start(one["Single robot start region"]["robot_1"])
    thing, asset = ways.item(rest["object_id"]), ways.item(rest["end_asset_id"])
    marks = [
        ways.mark("start_1", start),
        ways.mark("object", thing, one["Target object"]),
        ways.mark("end", asset, rest["end_asset"]),
    ]
    if two is None:
        return [ways.route("robot_1", start, thing, asset)], marks
    handoff = ways.item(rest["transfer_asset_id"])
    helper = ways.start(two["Collaborative robot start region"]["robot_2"])
    place = ways.mark("handoff", handoff, rest["transfer_asset"])
    marks += [ways.mark("start_2", helper), place]
    first, second = (thing, handoff), (handoff, asset)
    if two["Collaborative type"] == "Type-A1":
        first, second = second, first
    return [ways.route("robot_1", start, *first), ways.route("robot_2", helper, *second)], marks


class _Ways:
    """Positions of anchors on a scene's plan, and the paths between them over G+."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.graph = metric_graph(scene)

    def start(self, region: str) -> Anchor:
        """Return the anchor at which a robot of a start region stands."""
        if region not in self.graph.starts:
            raise SceneError(f"{self.scene.uri}: {region} has no viewpoint to start from")
        return self.graph.starts[region]

    def item(self, name: str) -> Anchor:
        """Return the anchor of an item by its id."""
        if name not in self.graph.items:
            raise SceneError(f"{self.scene.uri} has no item '{name}', or no viewpoint near it")
        return self.graph.items[name]

    def mark(self, kind: MarkKind, anchor: Anchor, name: str | None = None) -> PlanMark:
        """Return a plan mark at an anchor, labelled with the name of its item."""
        return PlanMark(
            kind, *plan_position(self.scene, anchor.node), label=name and to_words(name)
        )

    def route(self, robot: str, start: Anchor, pick: Anchor, put: Anchor) -> PlanRoute:
        """Return the route of a robot from its start to the pick-up and on to the put-down."""
        there = self._leg(start, pick)
        on = self._leg(pick, put)
        return PlanRoute((*there, *on[1:]), robot, carried_from=len(there) - 1)

    def _leg(self, a: Anchor, b: Anchor) -> list[Spot]:
        nodes = self.graph.walk(a, b)
        if nodes is None:
            raise SceneError(f"{self.scene.uri}: there is no way from {a.node} to {b.node}")
        return [plan_position(self.scene, node) for node in nodes]


def _all_that_occurs(rows: Sequence[Mapping[str, Any]]) -> tuple[list[PlanRoute], list[PlanMark]]:
    relays = any(row.get("phase_2") for row in rows)
    kinds: tuple[MarkKind, ...] = ("start_1", "start_2", "object", "handoff", "end")
    alone: tuple[MarkKind, ...] = ("start_1", "object", "end")
    robots = ("robot_1", "robot_2") if relays else ("robot_1",)
    routes = [PlanRoute((), robot, carried_from=0) for robot in robots]
    return routes, [PlanMark(kind, 0, 0.0, 0.0) for kind in (kinds if relays else alone)]


def _floors(routes: Sequence[PlanRoute], marks: Sequence[PlanMark]) -> set[int]:
    return {at for route in routes for at, _, _ in route.points} | {mark.floor for mark in marks}


def contact_sheet(
    rows: Sequence[Mapping[str, Any]], scenes: Mapping[str, Scene], *, title: str = ""
) -> PlanSheet:
    """Return a sheet of tasks side by side, each a plan with a description, and one legend.

    Args:
        rows: exported lines. All are drawn; about ten fit well.
        scenes: scene of each row, by its name.
        title: title of the sheet.

    Raises:
        SceneError: as for :func:`task_routes`.
    """
    down = max(1, -(-len(rows) // _COLUMNS))
    sheet = PlanSheet(_COLUMNS * _CELL[0], down * _CELL[1] + _HEAD + _KEY, dpi=100)
    sheet.write(title, (18, 22), 14, bold=True, anchor="start")
    place = (0.0, sheet.height - _KEY, sheet.width, _KEY)
    draw_legend(sheet, place, legend_entries(*_all_that_occurs(rows)), size=10)
    for number, row in enumerate(rows):
        down, across = divmod(number, _COLUMNS)
        corner = (across * _CELL[0], _HEAD + down * _CELL[1])
        _cell(sheet, corner, number + 1, row, scenes[row["scene"]])
    return sheet


def _cell(
    sheet: PlanSheet, corner: tuple[float, float], number: int, row: Mapping[str, Any], scene: Scene
) -> None:
    routes, marks = task_routes(scene, row)
    floors, two = _floors(routes, marks), row.get("phase_2")
    kind = two["Collaborative type"] if two else "one robot"
    draw_plan(
        scene,
        routes=routes,
        marks=marks,
        items=any(item.size is not None for item in scene.items),
        floors=floors,
        above=render_floors(scene, floors, a_metre=_A_METRE) if can_render(scene) else None,
        title=f"{number}.  {row['scene']}  ({kind})",
        legend=False,
        on=sheet,
        rect=(corner[0] + 11, corner[1] + 7, _CELL[0] - 22, _CELL[1] - _STORY - 14),
    )
    left, top = corner[0] + 18, corner[1] + _CELL[1] - _STORY
    for line in textwrap.wrap(task_story(row), 105):
        top += 13
        sheet.write(line, (left, top - 7), 9.5, "#222222", anchor="start")
