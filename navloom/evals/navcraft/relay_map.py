"""Timed map of a NavCraft task on its scene's plan: routes, waits and the handoff.

Times come from :mod:`navloom.tools.navcraft.schedule`. Both robots move at 1 m/s, so seconds equal
metres over G+.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from navloom.evals.report import blocks as ui
from navloom.scenes.plan_style import to_words
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.relay import RelayChoice, RobotName, find_transfer, roles_of
from navloom.tools.navcraft.relay_schedule import RelaySchedule, schedule_relay, schedule_solo
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.schedule import RobotStop
from navloom.tools.navcraft.task_paths import Anchor, SoloTask, SoloTaskAnswer, plan_position

_NOTE = "Seconds are metres over the navigation graph: both robots walk at 1 m/s."


def build_relay_task(scene: Scene, line: ui.Line) -> RelayTask:
    """Return the task of a dataset line in its scene, with the item instances that it records.

    Raises:
        UsageError: a region, the object or the end asset is missing in the scene.
        ValidationError: the line is not a task.
    """
    errand: SoloTask = SoloTaskAnswer.model_validate(line["phase_1"]).errand
    rest = line.get("navloom") or {}
    keys = ("object_id", "end_asset_id", "transfer_asset_id")
    meant = frozenset(rest[key] for key in keys if isinstance(rest.get(key), str))
    return RelayTask(scene, *errand, meant=meant)


def solo_map(task: RelayTask) -> ui.SceneMap:
    """Return the timed map of robot_1 alone, in seconds.

    Raises:
        UsageError: the object or the end asset cannot be reached.
    """
    stops = schedule_solo(task)
    took = _first(stops, task.object_anchor)
    done = stops[-1].arrive
    thing, end = to_words(task.object_item.name), to_words(task.end_item.name)
    leg = _RobotLeg("robot_1", stops, took)
    there, goal = _spot(task, task.object_anchor), _spot(task, task.end_anchor)
    return ui.SceneMap(
        scene=task.scene.uri,
        note=_NOTE,
        unit="s",
        routes=(leg.route(task.scene),),
        marks=(
            ui.MapMark("start_1", _spot(task, task.start_anchor)),
            ui.MapMark("object", there, thing),
            ui.MapMark("end", goal, end),
        ),
        tracks=(leg.track(task.scene), ui.Track(thing, "object", leg.carried(task.scene))),
        lanes=(
            ui.Lane("robot_1", "robot_1", leg.spans(f"to the {thing}", f"to the {end}", done)),
            ui.Lane(
                thing,
                "object",
                positive_spans(
                    (0.0, stops[took].arrive, f"lies in {to_words(task.target_region)}", "idle"),
                    (stops[took].leave, done, "carried by robot_1", "carry"),
                ),
            ),
        ),
        frames=sort_frames(
            [
                (0.0, f"robot_1 sets out in {to_words(task.start_region)}", "plain"),
                (stops[took].arrive, f"robot_1 takes the {thing}", "plain"),
                (done, f"the {thing} is on the {end}", "good"),
            ]
        ),
    )


def relay_map(task: RelayTask, relay: RelayChoice) -> ui.SceneMap:
    """Return the timed map of both robots, the object and the handoff, in seconds.

    Raises:
        UsageError: a name is missing in the scene, or a viewpoint cannot be reached.
    """
    plan = schedule_relay(task, *relay)
    fetcher, receiver = roles_of(relay.collab_type)
    transfer = find_transfer(task, relay.transfer_region, relay.transfer_asset)
    place = None if transfer is None else transfer.anchor
    first, second = plan.routes[fetcher], plan.routes[receiver]
    fetch = _RobotLeg(fetcher, first, _first(first, task.object_anchor))
    bring = _RobotLeg(receiver, second, _first(second, place))
    legs = {leg.robot: leg for leg in (fetch, bring)}
    thing, end = to_words(task.object_item.name), to_words(task.end_item.name)
    at = f"the {to_words(relay.transfer_asset)} in {to_words(relay.transfer_region)}"
    said = {
        fetcher: (f"to the {thing}", f"to the {to_words(relay.transfer_asset)}"),
        receiver: (f"to the {to_words(relay.transfer_asset)}", f"to the {end}"),
    }
    return ui.SceneMap(
        scene=task.scene.uri,
        note=_NOTE,
        unit="s",
        routes=tuple(legs[name].route(task.scene) for name in sorted(legs)),
        marks=_relay_marks(task, relay, plan, place),
        tracks=(
            *(legs[name].track(task.scene) for name in sorted(legs)),
            ui.Track(thing, "object", (*fetch.carried(task.scene), *bring.carried(task.scene))),
        ),
        lanes=(
            *(
                ui.Lane(name, name, legs[name].spans(*said[name], plan.makespan_s))
                for name in sorted(legs)
            ),
            ui.Lane(thing, "object", _object_spans(task, plan, fetch, bring, at)),
        ),
        frames=_relay_frames(task, relay, plan, fetch, bring),
    )


def driven_map(task: RelayTask, relay: RelayChoice, driven: Mapping[str, Any]) -> ui.SceneMap:
    """Return the map of a driven relay: planned routes with the recorded times of both bodies.

    Args:
        task: the task.
        relay: the relay that was driven.
        driven: result of :func:`navloom_worlds.moving.relay_drive.drive_relay`.

    Raises:
        UsageError: as for :func:`relay_map`.
    """
    planned = relay_map(task, relay)
    end = float(driven.get("seconds") or 0.0)
    lanes: list[ui.Lane] = []
    frames: list[tuple[float, str, ui.Tone]] = [(0.0, "both set out", "plain")]
    names: tuple[RobotName, RobotName] = ("robot_1", "robot_2")
    for name in names:
        legs = [leg for leg in driven.get("legs", ()) if leg["robot"] == name]
        lanes.append(ui.Lane(name, name, _driven_spans(legs, end)))
        came = 0.0
        for leg in legs:
            if leg["arrived"]:
                came = float(leg["seconds"])
                frames.append((leg["seconds"], f"{name} is at the {to_words(leg['to'])}", "plain"))
            elif leg["reason"]:
                # A leg that never began has no time. It fails once the robot has waited.
                when = max(float(leg["seconds"]), came + float(leg["waited"]))
                frames.append((when, f"{name}: {leg['reason']}", "bad"))
    return ui.SceneMap(
        scene=planned.scene,
        note="The ways are those planned over the navigation graph: of the bodies' own ways a line"
        " keeps how long they were, when each came, and what it touched.",
        unit="s",
        routes=planned.routes,
        marks=tuple(
            replace(mark, label=to_words(relay.transfer_asset)) if mark.kind == "handoff" else mark
            for mark in planned.marks
        ),
        lanes=tuple(lanes),
        frames=sort_frames(frames),
    )


@dataclass(frozen=True)
class _RobotLeg:
    """Stops of one robot, and the index of the stop at which it takes the object."""

    robot: RobotName
    stops: Sequence[RobotStop]
    takes: int

    def route(self, scene: Scene) -> ui.MapRoute:
        """Return the route on the map."""
        points = tuple(plan_position(scene, stop.node) for stop in self.stops)
        return ui.MapRoute(self.robot, self.robot, points, carried_from=self.takes)

    def track(self, scene: Scene) -> ui.Track:
        """Return the route in time. A wait is one position at two times."""
        return ui.Track(self.robot, self.robot, timed_spots(scene, self.stops))

    def carried(self, scene: Scene) -> tuple[ui.Timed, ...]:
        """Return the timed positions of the object while this robot carries it."""
        where = plan_position(scene, self.stops[self.takes].node)
        taken = (self.stops[self.takes].leave, *where)
        return taken, *timed_spots(scene, self.stops[self.takes + 1 :])

    def spans(self, to: str, on: str, until: float) -> tuple[ui.Span, ...]:
        """Return the spans of the robot's lane: moving, waiting, carrying and done."""
        there, done = self.stops[self.takes], self.stops[-1].arrive
        return positive_spans(
            (0.0, there.arrive, to, "move"),
            (there.arrive, there.leave, "waits for the object", "wait"),
            (there.leave, done, on, "carry"),
            (done, until, "is done", "idle"),
        )


def timed_spots(scene: Scene, stops: Sequence[RobotStop]) -> tuple[ui.Timed, ...]:
    """Return the timed positions of a robot. A wait is one position at two times."""
    found: list[ui.Timed] = []
    for stop in stops:
        spot = plan_position(scene, stop.node)
        found.append((stop.arrive, *spot))
        if stop.leave > stop.arrive:
            found.append((stop.leave, *spot))
    return tuple(found)


def positive_spans(*spans: tuple[float, float, str, Any]) -> tuple[ui.Span, ...]:
    """Return the spans whose duration is positive."""
    return tuple(
        ui.Span(start=start, end=end, words=words, kind=kind)
        for start, end, words, kind in spans
        if end > start
    )


def _first(stops: Sequence[RobotStop], anchor: Anchor | None) -> int:
    nodes = [stop.node for stop in stops]
    return nodes.index(anchor.node) if anchor is not None and anchor.node in nodes else 0


def _spot(task: RelayTask, anchor: Anchor | None) -> ui.Spot:
    # A scheduled task has all anchors.
    return plan_position(task.scene, "" if anchor is None else anchor.node)


def _relay_marks(
    task: RelayTask, relay: RelayChoice, plan: RelaySchedule, place: Anchor | None
) -> tuple[ui.MapMark, ...]:
    waits = "" if plan.wait is None else f"{plan.wait.robot} waits {plan.wait.seconds:.1f} s"
    rests = "" if not plan.object_rests_s else f"it lies there {plan.object_rests_s:.1f} s"
    handoff = ", ".join(filter(None, [to_words(relay.transfer_asset), waits, rests]))
    helper = task.helpers[relay.robot_2_start_region].anchor
    marks = (
        ("start_1", task.start_anchor, ""),
        ("start_2", helper, ""),
        ("object", task.object_anchor, to_words(task.object_item.name)),
        ("handoff", place, handoff),
        ("end", task.end_anchor, to_words(task.end_item.name)),
    )
    return tuple(ui.MapMark(kind, _spot(task, anchor), label) for kind, anchor, label in marks)


def _object_spans(
    task: RelayTask, plan: RelaySchedule, fetch: _RobotLeg, bring: _RobotLeg, at: str
) -> tuple[ui.Span, ...]:
    taken, brought = fetch.stops[fetch.takes], fetch.stops[-1].arrive
    on = bring.stops[bring.takes].leave
    return positive_spans(
        (0.0, taken.leave, f"lies in {to_words(task.target_region)}", "idle"),
        (taken.leave, brought, f"carried by {fetch.robot}", "carry"),
        (brought, on, f"lies on {at}", "idle"),
        (on, plan.makespan_s, f"carried by {bring.robot}", "carry"),
    )


def _relay_frames(
    task: RelayTask, relay: RelayChoice, plan: RelaySchedule, fetch: _RobotLeg, bring: _RobotLeg
) -> tuple[ui.MapFrame, ...]:
    thing, asset = to_words(task.object_item.name), to_words(relay.transfer_asset)
    there = bring.stops[bring.takes]
    events: list[tuple[float, str, ui.Tone]] = [
        (0.0, "both robots set out", "plain"),
        (fetch.stops[fetch.takes].arrive, f"{fetch.robot} takes the {thing}", "plain"),
        (fetch.stops[-1].arrive, f"{fetch.robot} puts the {thing} on the {asset}", "plain"),
        (there.leave, f"{bring.robot} takes the {thing} from the {asset}", "plain"),
        (plan.makespan_s, f"the {thing} is on the {to_words(task.end_item.name)}", "good"),
    ]
    if plan.wait is not None:
        waits = f"{bring.robot} waits {plan.wait.seconds:.1f} s"
        events.append((there.arrive, waits, "quiet"))
    return sort_frames(events)


def sort_frames(events: Sequence[tuple[float, str, ui.Tone]]) -> tuple[ui.MapFrame, ...]:
    """Return frames in the order of time. Events of one moment keep their order."""
    return tuple(
        ui.MapFrame(at=at, title=title, tone=tone)
        for at, title, tone in sorted(events, key=lambda each: each[0])
    )


def _driven_spans(legs: Sequence[Mapping[str, Any]], end: float) -> tuple[ui.Span, ...]:
    spans: list[tuple[float, float, str, str]] = []
    now = 0.0
    for number, leg in enumerate(legs):
        out, to = now + float(leg["waited"]), f"to the {to_words(str(leg['to']))}"
        gone = float(leg["seconds"])
        if gone <= now and not leg["arrived"]:
            break  # it never set out
        spans.append((now, out, "waits", "wait"))
        spans.append((out, gone, to, "carry" if number else "move"))
        now = gone
    spans.append((now, end, "is done" if legs and legs[-1]["arrived"] else "stands", "idle"))
    return positive_spans(*spans)
