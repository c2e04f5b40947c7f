"""Tasks as pictures and as plain sentences: routes on a plan, ten relays on a contact sheet."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from navloom.errors import SceneError
from navloom.evals.navcraft.task_words import task_story
from navloom.scenes.plan import draw_into
from navloom.scenes.plan_building import FromAbove
from navloom.scenes.plan_legend import draw_legend, legend_handles
from navloom.scenes.plan_lines import Mark, Route
from navloom.scenes.plan_look import MarkKind
from navloom.scenes.plan_shapes import readable
from navloom.scenes.scene import Scene
from navloom.sim.viewer import can_look, floors_from_above
from navloom.tools.navcraft.paths import Anchor, metric_graph, spot_of

Spot = tuple[int, float, float]

_COLUMNS = 2
_CELL, _STORY = (8.6, 5.8), 0.9
"""Inches of one cell of the sheet (wide, high), and of the sentences under its plan."""
_A_METRE = 50
"""Pixels of a floor's picture."""
_HEAD, _KEY = 0.6, 0.4
"""Inches above and below the cells of a sheet, for its title and its legend."""


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

    def mark(self, kind: MarkKind, anchor: Anchor, name: str | None = None) -> Mark:
        """A mark at an anchor, with the name of what is there."""
        return Mark(kind, *spot_of(self.scene, anchor.node), label=name and readable(name))

    def route(self, robot: str, start: Anchor, pick: Anchor, put: Anchor) -> Route:
        """From a start to where something is picked up, and on to where it is put."""
        there = self._leg(start, pick)
        on = self._leg(pick, put)
        return Route((*there, *on[1:]), robot, carried_from=len(there) - 1)

    def _leg(self, a: Anchor, b: Anchor) -> list[Spot]:
        nodes = self.graph.walk(a, b)
        if nodes is None:
            raise SceneError(f"{self.scene.uri}: there is no way from {a.node} to {b.node}")
        return [spot_of(self.scene, node) for node in nodes]


def _all_that_occurs(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Route], list[Mark]]:
    relays = any(row.get("phase_2") for row in rows)
    kinds: tuple[MarkKind, ...] = ("start_1", "start_2", "object", "handoff", "end")
    alone: tuple[MarkKind, ...] = ("start_1", "object", "end")
    robots = ("robot_1", "robot_2") if relays else ("robot_1",)
    routes = [Route((), robot, carried_from=0) for robot in robots]
    return routes, [Mark(kind, 0, 0.0, 0.0) for kind in (kinds if relays else alone)]


def _has_sizes(scene: Scene) -> bool:
    """Furniture of known size helps the eye; dots for the rest only hide the routes."""
    return any(item.size is not None for item in scene.items)


def _from_above(scene: Scene, floors: set[int]) -> dict[int, FromAbove] | None:
    """How floors look; None where they can only be drawn."""
    return floors_from_above(scene, floors, a_metre=_A_METRE) if can_look(scene) else None


def _floors(routes: Sequence[Route], marks: Sequence[Mark]) -> set[int]:
    return {at for route in routes for at, _, _ in route.points} | {mark.floor for mark in marks}


def contact_sheet(
    rows: Sequence[Mapping[str, Any]], scenes: Mapping[str, Scene], *, title: str = ""
) -> Figure:
    """Tasks side by side, each a plan and what happens in plain words; one legend for all.

    Args:
        rows: exported lines, ten at best; all are drawn.
        scenes: each row's scene by its name.
        title: what the sheet is of, above it.

    Raises:
        SceneError: as :func:`task_routes`.
    """
    down = max(1, -(-len(rows) // _COLUMNS))
    wide, high = _COLUMNS * _CELL[0], down * _CELL[1] + _HEAD + _KEY
    figure = Figure(figsize=(wide, high), dpi=100)
    figure.text(
        0.25 / wide, 1 - 0.3 / high, title, fontsize=14, va="center", weight="bold",
        color="#1d1d1d", parse_math=False,
    )  # fmt: skip
    handles = legend_handles(*_all_that_occurs(rows))
    draw_legend(figure, (0.0, 0.1, wide, high), handles, size=10)
    for number, row in enumerate(rows):
        left = number % _COLUMNS * _CELL[0]
        bottom = (down - 1 - number // _COLUMNS) * _CELL[1] + _KEY
        _cell(figure, (left, bottom), number + 1, row, scenes[row["scene"]])
    return figure


def _cell(
    figure: Figure, corner: tuple[float, float], number: int, row: Mapping[str, Any], scene: Scene
) -> None:
    routes, marks = task_routes(scene, row)
    floors, two = _floors(routes, marks), row.get("phase_2")
    kind = two["Collaborative type"] if two else "one robot"
    left, bottom = corner
    draw_into(
        figure,
        (left + 0.15, bottom + _STORY + 0.1, _CELL[0] - 0.3, _CELL[1] - _STORY - 0.2),
        scene,
        routes=routes,
        marks=marks,
        items=_has_sizes(scene),
        floors=floors,
        above=_from_above(scene, floors),
        title=f"{number}.  {row['scene']}  ({kind})",
        legend=False,
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
