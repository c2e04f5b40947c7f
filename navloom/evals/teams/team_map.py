"""A team's plan on its scene's plan and in time: who goes where, when, who waits, every handoff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from navloom.evals.navcraft.relay_map import frames_of, spans_of, timed
from navloom.evals.report.blocks import (
    Lane,
    MapMark,
    MapRoute,
    RobotStyle,
    SceneMap,
    Span,
    Tone,
    Track,
)
from navloom.scenes.plan_shapes import readable
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.paths import ITEM_NODE, Anchor, spot_of
from navloom.tools.navcraft.schedule import Stop, TimedLeg, Timetable
from navloom.tools.teams.team import TeamPlan

_STYLES: tuple[RobotStyle, ...] = get_args(RobotStyle)
_NOTE = "Ways are those over the navigation graph, each robot at its own speed."


def team_map(scene: Scene, plan: TeamPlan) -> SceneMap:
    """All robots, their objects and handoffs, in seconds.

    Raises:
        UsageError: a robot does not get to a place of its legs.
    """
    table = plan.schedule(scene)
    styles = dict(zip((robot.name for robot in plan.robots), _STYLES, strict=False))
    carried = _carried(table)
    things = _things(scene, plan)
    return SceneMap(
        scene=scene.uri,
        note=_NOTE,
        unit="s",
        routes=tuple(
            MapRoute(
                name=each.leg.robot,
                style=styles[each.leg.robot],
                points=tuple(spot_of(scene, stop.node) for stop in stops),
                carried_from=taken,
            )
            for each, stops, taken in sorted(
                carried, key=lambda it: [*styles].index(it[0].leg.robot)
            )
        ),
        marks=_marks(scene, plan, things),
        tracks=(
            *(
                Track(name=name, style=style, points=timed(scene, table.routes[name]))
                for name, style in styles.items()
            ),
            *(
                Track(
                    name=things[thing],
                    style="object",
                    points=tuple(
                        point
                        for each, stops, taken in sorted(carried, key=lambda it: it[0].takes)
                        if each.leg.object == thing
                        for point in (
                            (each.takes, *spot_of(scene, each.leg.origin.node)),
                            *timed(scene, stops[taken + 1 :]),
                        )
                    ),
                )
                for thing in plan.ways
            ),
        ),
        lanes=(
            *(
                Lane(name=name, style=style, spans=_robot_spans(scene, table, name, things))
                for name, style in styles.items()
            ),
            *(
                Lane(name=things[thing], style="object", spans=_thing_spans(scene, table, thing))
                for thing in plan.ways
            ),
        ),
        frames=frames_of(_events(scene, plan, table, things)),
    )


def _carried(table: Timetable) -> list[tuple[TimedLeg, Sequence[Stop], int]]:
    """Each leg, its robot's stops from where it sets out, and at which it takes the object."""
    found: list[tuple[TimedLeg, Sequence[Stop], int]] = []
    at = dict.fromkeys(table.routes, 0)
    for each in table.legs:
        stops, begin = table.routes[each.leg.robot], at[each.leg.robot]
        taken = next(
            i
            for i in range(begin, len(stops))
            if stops[i].node == each.leg.origin.node and abs(stops[i].leave - each.takes) < 1e-9
        )
        end = next(
            i
            for i in range(taken, len(stops))
            if stops[i].node == each.leg.to.node and abs(stops[i].arrive - each.ends) < 1e-9
        )
        found.append((each, stops[begin : end + 1], taken - begin))
        at[each.leg.robot] = end
    return found


def _marks(scene: Scene, plan: TeamPlan, things: dict[str, str]) -> tuple[MapMark, ...]:
    marks = [
        MapMark(kind=f"start_{number}", at=spot_of(scene, robot.start.node))
        for number, robot in enumerate(plan.robots, 1)
    ]
    for each in plan.errands:
        thing = things[each.object]
        marks.append(MapMark(kind="object", at=spot_of(scene, each.origin.node), label=thing))
        label = f"{_place(scene, each.end)} ({thing})"
        marks.append(MapMark(kind="end", at=spot_of(scene, each.end.node), label=label))
    for before, _ in plan.handoffs:
        label = f"{_place(scene, before.to)} ({things[before.object]})"
        marks.append(MapMark(kind="handoff", at=spot_of(scene, before.to.node), label=label))
    return tuple(marks)


def _things(scene: Scene, plan: TeamPlan) -> dict[str, str]:
    """What the things that are carried are called; those of one name with where they lie."""
    called = {thing: _called(scene, thing) for thing in plan.ways}
    names = [*called.values()]
    where = {thing: readable(scene.item_by_id[thing].region or "") for thing in called}
    return {
        thing: f"{name} of {where[thing]}" if names.count(name) > 1 else name
        for thing, name in called.items()
    }


def _robot_spans(
    scene: Scene, table: Timetable, name: str, things: dict[str, str]
) -> tuple[Span, ...]:
    spans: list[tuple[float, float, str, str]] = []
    done = 0.0
    for each in table.legs:
        if each.leg.robot != name:
            continue
        thing = things[each.leg.object]
        spans += [
            (each.sets_out, each.arrives, f"to the {thing}", "move"),
            (each.arrives, each.takes, f"waits for the {thing}", "wait"),
            (each.takes, each.ends, f"{thing} to the {_place(scene, each.leg.to)}", "carry"),
        ]
        done = each.ends
    spans.append((done, table.makespan_s, "is done" if spans else "has nothing to do", "idle"))
    return spans_of(*spans)


def _thing_spans(scene: Scene, table: Timetable, thing: str) -> tuple[Span, ...]:
    spans: list[tuple[float, float, str, str]] = []
    since = 0.0
    for each in sorted(table.legs, key=lambda it: it.takes):
        if each.leg.object == thing:
            spans.append((since, each.takes, f"lies on {_place(scene, each.leg.origin)}", "idle"))
            spans.append((each.takes, each.ends, f"carried by {each.leg.robot}", "carry"))
            since = each.ends
    where = scene.item_by_id[thing].region
    if spans:
        begin, end, _, kind = spans[0]
        spans[0] = begin, end, f"lies in {readable(where or '')}", kind
    return spans_of(*spans)


def _events(
    scene: Scene, plan: TeamPlan, table: Timetable, things: dict[str, str]
) -> list[tuple[float, str, Tone]]:
    events: list[tuple[float, str, Tone]] = [(0.0, "the robots set out", "plain")]
    ends = {each.object: each.end.node for each in plan.errands}
    for each in table.legs:
        who, thing = each.leg.robot, things[each.leg.object]
        to = _place(scene, each.leg.to)
        if each.waits > 0:
            events.append((each.arrives, f"{who} waits {each.waits:.1f} s", "quiet"))
        events.append((each.takes, f"{who} takes the {thing}", "plain"))
        if each.leg.to.node == ends[each.leg.object]:
            events.append((each.ends, f"the {thing} is on the {to}", "good"))
        else:
            events.append((each.ends, f"{who} puts the {thing} on the {to}", "plain"))
    return events


def _called(scene: Scene, item: str) -> str:
    known = scene.item_by_id.get(item)
    return readable(known.name if known else item)


def _place(scene: Scene, anchor: Anchor) -> str:
    if anchor.node.startswith(ITEM_NODE):
        return _called(scene, anchor.node.removeprefix(ITEM_NODE))
    return "floor"
