"""Parts of maps that several kinds of runs show: ways, marks, options and tracks over viewpoints.

What a scene does not have is left out, never guessed: lines of a run may be older than its scene.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from navloom.evals.report.blocks import MapMark, MapOption, MapRoute, Spot, Track
from navloom.scenes.plan_look import MarkKind
from navloom.scenes.scene import Point3, Scene
from navloom.sim.graph import nearest_viewpoint

RouteStyle = Literal["walk", "true", "other", "robot_1", "robot_2", "cut", "unknown"]
TrackStyle = Literal["walk", "other", "robot_1", "robot_2", "object"]


def spot_of(scene: Scene, place: str | Point3) -> Spot | None:
    """Where a viewpoint, or a point (x, y, z) in metres, is on a map.

    Args:
        scene: the map's.
        place: a viewpoint's id; or a point, which is on the floor of the viewpoint nearest to it.

    Returns:
        (floor, x, z); None where the scene has no such viewpoint, or none at all.
    """
    if isinstance(place, str):
        viewpoint = scene.viewpoint_by_id.get(place)
        if viewpoint is None:
            return None
        return scene.floor_of(viewpoint), viewpoint.position[0], viewpoint.position[2]
    if not scene.viewpoints:
        return None
    nearest, _ = nearest_viewpoint(scene, place)
    return scene.floor_of(scene.viewpoint_by_id[nearest]), place[0], place[2]


def spots_of(scene: Scene, places: Iterable[str | Point3]) -> tuple[Spot, ...]:
    """Where several are, without those that the scene lacks."""
    return tuple(spot for place in places if (spot := spot_of(scene, place)) is not None)


def route(
    scene: Scene,
    places: Sequence[str | Point3],
    style: RouteStyle,
    name: str,
    *,
    carried_from: int | None = None,
) -> tuple[MapRoute, ...]:
    """A way through viewpoints or points: one route, or none where fewer than two are known.

    Args:
        scene: the map's.
        places: viewpoints' ids, or points in metres.
        style: as :class:`~navloom.evals.report.blocks.MapRoute` says.
        name: in the legend.
        carried_from: index among ``places`` from which the object is carried.
    """
    points = spots_of(scene, places)
    if carried_from is not None:
        carried_from = len(spots_of(scene, places[:carried_from]))
    if len(points) < 2:
        return ()
    return (MapRoute(name=name, style=style, points=points, carried_from=carried_from),)


def mark(
    scene: Scene,
    kind: MarkKind,
    place: str | Point3 | None,
    label: str = "",
    *,
    radius: float = 0.0,
    to: str = "",
) -> tuple[MapMark, ...]:
    """A mark at a viewpoint or a point; none where that is unknown.

    Args:
        scene: the map's.
        kind: which sign.
        place: a viewpoint's id, or a point in metres.
        label: what is written beside it.
        radius: metres of a circle around it.
        to: where it leads.
    """
    at = None if place is None else spot_of(scene, place)
    return () if at is None else (MapMark(kind=kind, at=at, label=label, radius=radius, to=to),)


def options(
    scene: Scene,
    viewpoints: Sequence[str],
    *,
    chosen: str | None = None,
    right: str | None = None,
    numbers: Sequence[str] | None = None,
) -> tuple[MapOption, ...]:
    """The ways on that were open at a step.

    Args:
        scene: the map's.
        viewpoints: where each leads, in the order in which they were offered.
        chosen: the one that was taken.
        right: where truth goes on.
        numbers: what each was called; counted from 1 by default.
    """
    named = numbers or [str(k) for k in range(1, len(viewpoints) + 1)]
    return tuple(
        MapOption(number=number, at=at, chosen=name == chosen, right=name == right)
        for number, name in zip(named, viewpoints, strict=True)
        if (at := spot_of(scene, name)) is not None
    )


def track(
    scene: Scene, timed: Iterable[tuple[float, str | Point3]], style: TrackStyle, name: str
) -> tuple[Track, ...]:
    """Who is where, when, over (when, place) in order; none where no place is known."""
    points = tuple(
        (when, *at) for when, place in timed if (at := spot_of(scene, place)) is not None
    )
    return (Track(name=name, style=style, points=points),) if points else ()
