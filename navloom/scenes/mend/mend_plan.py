"""A mend on the plan: the home as it is and the changed one, side by side, and each change near."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from navloom.scenes.mend.changes import price, rebuilt
from navloom.scenes.mend.mend_details import HIGH, MOST, draw_details, places_of
from navloom.scenes.mend.route_drive import Drive
from navloom.scenes.mend.search import Mend
from navloom.scenes.plan import draw_into
from navloom.scenes.plan_lines import Mark, Route
from navloom.scenes.scene import Scene

_WIDE, _HIGH = 7.0, 6.6
"""Inches of one plan."""


def draw_mend(scene: Scene, found: Mend) -> Figure:
    """Draw a home before and after a mend, with how the body drove in each, and what is changed.

    Args:
        scene: the home as it is.
        found: a mend of it.

    Raises:
        SceneError: a change cannot be made.
    """
    after = rebuilt(scene, found.changes)
    floors = sorted({scene.region_by_id[each].floor for each in (*found.path, found.start)})
    places = places_of(scene, found.changes)
    figure = Figure(figsize=(2 * _WIDE + 0.2, HIGH + _HIGH), dpi=100)
    FigureCanvasAgg(figure)
    changes = f"{len(found.changes)} change{'s' if len(found.changes) != 1 else ''}"
    said = f"{found.body} from {found.start} to {found.goal}"
    drawn = (
        (scene, found.before, f"before: {said} does not get through"),
        (after, found.after, f"after: {changes}, costs {found.cost:,.0f}"),
    )
    for number, (home, drive, title) in enumerate(drawn):
        rect = (number * (_WIDE + 0.2), HIGH, _WIDE, _HIGH)
        changed = [Mark("change", each.floor, each.x, each.z, each.label) for each in places]
        marks = [*_ends(scene, found, drive), *changed]
        draw_into(
            figure,
            rect,
            home,
            routes=_routes(scene, drive),
            marks=marks,
            title=title,
            items=True,
            floors=floors,
        )
    dear = sorted(places, key=lambda each: -price(each.changes))[:MOST]
    shown = sorted(dear, key=lambda each: each.numbers)
    row = (0.0, 0.1, 2 * _WIDE + 0.2, HIGH - 0.1)
    draw_details(figure, row, (scene, after), (found.before, found.after), shown)
    return figure


def _routes(scene: Scene, drive: Drive | None) -> list[Route]:
    legs = [] if drive is None else drive.path
    return [
        Route(tuple((_floor(scene, y), x, z) for x, y, z in leg), "robot_1", label="how it drove")
        for leg in legs
        if len(leg) > 1
    ]


def _floor(scene: Scene, y: float) -> int:
    return min(scene.floors, key=lambda floor: abs(floor.height - y)).id


def _ends(scene: Scene, found: Mend, drive: Drive | None) -> list[Mark]:
    marks = []
    goal = scene.region_by_id[found.goal]
    if drive is not None and drive.path:
        x, y, z = drive.path[0][0]
        marks.append(Mark("start", _floor(scene, y), x, z))
        x, y, z = drive.path[-1][-1]
        marks.append(Mark("goal" if drive.arrived else "stop", _floor(scene, y), x, z))
    else:
        start = scene.region_by_id[found.start]
        marks.append(Mark("start", start.floor, start.center[0], start.center[2]))
    if drive is None or not drive.arrived:
        marks.append(Mark("goal", goal.floor, goal.center[0], goal.center[2]))
    return marks
