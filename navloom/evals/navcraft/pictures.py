"""Tasks as pictures and as plain sentences: routes on a plan, ten relays on a contact sheet."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from navloom.errors import SceneError
from navloom.scenes.plan import draw_into, draw_plan
from navloom.scenes.plan_lines import Mark, MarkKind, Route
from navloom.scenes.plan_shapes import readable
from navloom.scenes.scene import Scene, Viewpoint
from navloom.tools.navcraft.paths import Anchor, metric_graph, whereabouts

Spot = tuple[int, float, float]

_COLUMNS = 2
_CELL, _STORY = (8.6, 6.0), 0.9
"""Inches of one cell of the sheet (wide, high), and of the sentences under its plan."""


def task_routes(scene: Scene, row: Mapping[str, Any]) -> tuple[list[Route], list[Mark]]:
    """The robots' ways over G+ and the points that matter, for one line of a dataset.

    Args:
        scene: the task's scene.
        row: an exported line; its ``navloom`` part names the instances.

    Returns:
        Routes (one for a single task, two for a relay) and marks.

    Raises:
        SceneError: the scene has not what the row names, or no way to it.
    """
    ways = _Ways(scene)
    one, two, rest = row["phase_1"], row.get("phase_2"), row["navloom"]
    start = ways.start(one["Single robot start region"]["robot_1"])
    thing, asset = ways.item(rest["object_id"]), ways.item(rest["end_asset_id"])
    marks = [ways.mark("start_1", start), ways.mark("object", thing), ways.mark("end", asset)]
    if two is None:
        return [ways.route("robot_1", start, thing, asset)], marks
    handoff = ways.item(rest["transfer_asset_id"])
    helper = ways.start(two["Collaborative robot start region"]["robot_2"])
    marks += [ways.mark("start_2", helper), ways.mark("handoff", handoff)]
    first, second = (thing, handoff), (handoff, asset)
    if two["Collaborative type"] == "Type-A1":
        first, second = second, first
    return [ways.route("robot_1", start, *first), ways.route("robot_2", helper, *second)], marks


class _Ways:
    """Where anchors are on a scene's plan, and the ways between them over G+."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.graph = metric_graph(scene)

    def start(self, region: str) -> Anchor:
        """Where a robot that starts in a region stands."""
        if region not in self.graph.starts:
            raise SceneError(f"{self.scene.uri}: {region} has no viewpoint to start from")
        return self.graph.starts[region]

    def item(self, name: str) -> Anchor:
        """An item by its id."""
        if name not in self.graph.items:
            raise SceneError(f"{self.scene.uri} has no item '{name}', or no viewpoint near it")
        return self.graph.items[name]

    def spot(self, node: str) -> Spot:
        """A node of G+ on the plan."""
        place = whereabouts(self.scene, node)
        if isinstance(place, Viewpoint):
            floor = self.scene.floor_of(place)
        else:
            floor = self.scene.region_by_id[place.region or ""].floor
        return floor, place.position[0], place.position[2]

    def mark(self, kind: MarkKind, anchor: Anchor) -> Mark:
        """A mark at an anchor."""
        return Mark(kind, *self.spot(anchor.node))

    def route(self, robot: str, start: Anchor, pick: Anchor, put: Anchor) -> Route:
        """From a start to where something is picked up, and on to where it is put."""
        there = self._leg(start, pick)
        on = self._leg(pick, put)
        return Route((*there, *on[1:]), robot, carried_from=len(there) - 1)

    def _leg(self, a: Anchor, b: Anchor) -> list[Spot]:
        nodes = self.graph.walk(a, b)
        if nodes is None:
            raise SceneError(f"{self.scene.uri}: there is no way from {a.node} to {b.node}")
        return [self.spot(node) for node in nodes]


def task_story(row: Mapping[str, Any]) -> str:
    """One line of a dataset as two or three plain sentences."""
    one, two, rest = row["phase_1"], row.get("phase_2"), row["navloom"]
    start = readable(one["Single robot start region"]["robot_1"])
    target = readable(one["Single robot target object region"]["robot_1"])
    thing = f"the {readable(one['Target object'])}"
    end_region = readable(one["Single robot end region"]["robot_1"])
    goal = f"the {readable(rest['end_asset'])} in {end_region}"
    solo = rest.get("solo_metres")
    if two is None:
        how_far = f": {solo:.0f} m in all" if solo is not None else ""
        return f"robot_1 goes from {start} to {target}, takes {thing} to {goal}{how_far}."
    place = f"the {readable(rest['transfer_asset'])} in {readable(two['Transfer region'])}"
    helper = readable(two["Collaborative robot start region"]["robot_2"])
    starts = {"robot_1": start, "robot_2": helper}
    first, second = (
        ("robot_2", "robot_1") if two["Collaborative type"] == "Type-A1" else ("robot_1", "robot_2")
    )
    return (
        f"{_fetches(first, starts[first], target, thing)} and brings it to {place}. "
        f"{second} comes from {starts[second]}, takes it from there and carries it on to {goal}. "
        f"{_worth(rest)}"
    )


def _fetches(robot: str, start: str, target: str, thing: str) -> str:
    if start == target:
        return f"{robot} takes {thing} in {target}, where it starts,"
    return f"{robot} goes from {start} to {target}, takes {thing} there"


def _worth(rest: Mapping[str, Any]) -> str:
    alpha, g_rate, solo = rest["alpha"], rest["g_rate"], rest["solo_metres"]
    sooner = f"{1 - g_rate:.0%} sooner" if g_rate <= 1 else f"{g_rate - 1:.0%} later"
    return (
        f"robot_1 walks {alpha * solo:.0f} m instead of {solo:.0f} m ({1 - alpha:.0%} less); "
        f"together they are done {sooner} than it alone."
    )


def task_picture(scene: Scene, row: Mapping[str, Any], *, width: float = 6.6) -> Figure:
    """One task on its scene's plan, on the floors it uses.

    Raises:
        SceneError: as :func:`task_routes`.
    """
    routes, marks = task_routes(scene, row)
    return draw_plan(
        scene,
        routes=routes,
        marks=marks,
        items=_has_sizes(scene),
        floors=_floors(routes, marks),
        width=width,
        height=6.5,
    )


def _has_sizes(scene: Scene) -> bool:
    """Furniture of known size helps the eye; dots for the rest only hide the routes."""
    return any(item.size is not None for item in scene.items)


def _floors(routes: Sequence[Route], marks: Sequence[Mark]) -> set[int]:
    return {at for route in routes for at, _, _ in route.points} | {mark.floor for mark in marks}


def pick_tasks(rows: Sequence[Mapping[str, Any]], most: int = 10) -> list[Mapping[str, Any]]:
    """Choose tasks to show: spread over the scenes, relays before single tasks, always the same."""
    by_scene: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda r: r.get("phase_2") is None):
        by_scene.setdefault(row["scene"], []).append(row)
    names = list(by_scene)
    if len(names) > most:
        names = [names[i * len(names) // most] for i in range(most)]
    for name in names[1::2]:
        # Every other home shows a Type-A2 first, so that both types are seen.
        by_scene[name].sort(
            key=lambda row: (row.get("phase_2") or {}).get("Collaborative type") != "Type-A2"
        )
    picked: list[Mapping[str, Any]] = []
    for turn in range(max((len(by_scene[name]) for name in names), default=0)):
        for name in names:
            tasks = by_scene[name]
            if turn < len(tasks) and len(picked) < most:
                picked.append(tasks[turn])
    return picked


def contact_sheet(rows: Sequence[Mapping[str, Any]], scenes: Mapping[str, Scene]) -> Figure:
    """Tasks side by side, each a plan and what happens in plain words.

    Args:
        rows: exported lines, ten at best; all are drawn.
        scenes: each row's scene by its name.

    Raises:
        SceneError: as :func:`task_routes`.
    """
    down = max(1, -(-len(rows) // _COLUMNS))
    figure = Figure(figsize=(_COLUMNS * _CELL[0], down * _CELL[1]), dpi=100)
    for number, row in enumerate(rows):
        left = number % _COLUMNS * _CELL[0]
        bottom = (down - 1 - number // _COLUMNS) * _CELL[1]
        _cell(figure, (left, bottom), number + 1, row, scenes[row["scene"]])
    return figure


def _cell(
    figure: Figure, corner: tuple[float, float], number: int, row: Mapping[str, Any], scene: Scene
) -> None:
    routes, marks = task_routes(scene, row)
    two = row.get("phase_2")
    kind = two["Collaborative type"] if two else "one robot"
    left, bottom = corner
    draw_into(
        figure,
        (left + 0.15, bottom + _STORY + 0.1, _CELL[0] - 0.3, _CELL[1] - _STORY - 0.2),
        scene,
        routes=routes,
        marks=marks,
        items=_has_sizes(scene),
        floors=_floors(routes, marks),
        title=f"{number}.  {row['scene']}  ({kind})",
    )
    figure.text(
        (left + 0.25) / figure.get_figwidth(),
        (bottom + _STORY) / figure.get_figheight(),
        "\n".join(textwrap.wrap(task_story(row), 105)),
        fontsize=9.5,
        va="top",
        linespacing=1.35,
        color="#222222",
        parse_math=False,
    )
