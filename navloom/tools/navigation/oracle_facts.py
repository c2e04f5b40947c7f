"""Facts about the map, and about the route, from which an oracle answers; they contain no ids.

There are two levels of oracle knowledge beyond what the navigator sees: the map (`map_facts`: rooms
and where the goal lies, without the route) and the path (`route_facts`: the map and the route). The
papers' oracle (VLN-MME 4.4, VLNVerse 5.4) is a model alone and has neither. A model puts the facts
into words. No fact holds a viewpoint id, a coordinate or an option number, and every name in it is
bounded and safe to quote.

>>> from navloom.scenes.scene_uri import load_scene
>>> facts = route_facts(load_scene("demo:flat"), "1_0", heading=0.0, goals=["5_0"])
>>> facts["at_goal"], facts["goal_region"]
(False, 'bathroom')
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypedDict

from navloom.errors import UsageError, did_you_mean
from navloom.scenes import distances
from navloom.scenes.scene import UNKNOWN, Point3, Scene, distance_2d, distance_3d, prompt_name
from navloom.sim.protocol import CaptionSource
from navloom.tools.model_output import sanitize_line
from navloom.tools.navigation.step_options import Direction, direction_of

Level = Literal["up", "down", "level"]
MOST_TOWARDS = 160
"""Characters of a candidate's description that a fact holds."""
_STOREY_M = 1.0
_LEVELS: dict[str, Level] = {"up": "up", "down": "down", "": "level"}
_STRAIGHT = math.radians(30)
_NEAR_M = 2.5
_AHEAD = math.radians(40)
_MOST_REGIONS = 6
_MOST_TURNS = 4


class MapFacts(TypedDict):
    """Facts that a map shows for one pose and one goal, without the route; None is unknown."""

    at_goal: bool
    """Whether the robot is at a goal viewpoint."""
    here: str | None
    """Type of the robot's room."""
    rooms: list[str]
    """Nearest other rooms of known type: type, direction, straight-line metres."""
    goal_direction: Direction | None
    """Straight-line direction of the goal, relative to the robot's heading."""
    goal_turn: str | None
    """The same direction in words, rounded to 10 degrees."""
    goal_m: float | None
    """Straight-line metres to the goal."""
    goal_up_down: Level
    """Whether the goal is over 1 m higher or lower than here."""
    goal_region: str | None
    """Type of the goal's room."""
    goal_landmark: str | None
    """Name of an item near the goal."""


class OracleFacts(MapFacts):
    """Map facts, and facts about the route."""

    reachable: bool
    """Whether a path to a goal exists."""
    direction: Direction | None
    """Quarter in which the path's next viewpoint lies, relative to the robot's heading."""
    turn: str | None
    """The same direction in words, rounded to 10 degrees."""
    next_m: float | None
    """Metres to the next viewpoint."""
    distance_m: float | None
    """Path length to the goal, in metres."""
    up_down: Level
    """Whether the next hop climbs (:data:`navloom.sim.protocol.STEEP_RAD`)."""
    next_region: str | None
    """Type of the next other room on the path."""
    regions_ahead: list[str]
    """Types of the other rooms on the path, in order, without unknown ones."""
    landmark: str | None
    """Name of an item to walk towards."""
    towards: str | None
    """Description of the path's next viewpoint, as navigators read it."""
    turns: list[str]
    """First turns and straight pieces of the path, in words."""


def route_facts(
    scene: Scene,
    viewpoint: str,
    heading: float,
    goals: Sequence[str],
    path: Sequence[str] = (),
    *,
    captions: CaptionSource | None = None,
) -> OracleFacts:
    """Compute the facts for one pose.

    Args:
        scene: the home.
        viewpoint: the robot's viewpoint.
        heading: the robot's heading, radians clockwise from -z.
        goals: the viewpoints that count as the goal; empty if the goal is unknown.
        path: the reference path; where the robot is on it, its rest is the route, since the
            instruction describes that route. Elsewhere the route is the shortest path to the
            nearest goal.
        captions: captions of viewpoints; without them ``towards`` is None.

    Raises:
        UsageError: a viewpoint that the scene does not have.
    """
    way = path_to_goal(scene, viewpoint, goals, path)
    pose = _Pose(scene, viewpoint, heading)
    ahead = way[1] if len(way) > 1 else None
    regions = _regions(scene, way)
    return OracleFacts(
        **_on_map(pose, viewpoint in goals, way[-1] if way else None),
        reachable=bool(way),
        direction=direction_of(pose.turn_to(ahead)) if ahead else None,
        turn=_turn_words(pose.turn_to(ahead)) if ahead else None,
        next_m=distances.path_metres(scene, way[:2]) if ahead else None,
        distance_m=distances.path_metres(scene, way) if way else None,
        up_down=pose.climb_to(ahead) if ahead else "level",
        next_region=regions[0] if regions else None,
        regions_ahead=regions[:_MOST_REGIONS],
        landmark=_landmark(pose, ahead, captions) if ahead else None,
        towards=_towards(captions, viewpoint, ahead) if ahead else None,
        turns=_turns(scene, way, heading),
    )


def map_facts(scene: Scene, viewpoint: str, heading: float, goals: Sequence[str]) -> MapFacts:
    """Compute the map's facts for one pose and the nearest goal in a straight line.

    Args:
        scene: the home.
        viewpoint: the robot's viewpoint.
        heading: the robot's heading, radians clockwise from -z.
        goals: the viewpoints that count as the goal; empty if the goal is unknown.

    Raises:
        UsageError: a viewpoint that the scene does not have.
    """
    check_viewpoints(scene, (viewpoint, *goals))
    pose, at = _Pose(scene, viewpoint, heading), scene.viewpoint_by_id
    end = min(goals, key=lambda goal: distance_3d(pose.at, at[goal].position), default=None)
    return _on_map(pose, viewpoint in goals, end)


def _on_map(pose: _Pose, at_goal: bool, end: str | None) -> MapFacts:
    scene, there = pose.scene, end and pose.scene.viewpoint_by_id[end].position
    ahead = end if end != pose.viewpoint else None
    return MapFacts(
        at_goal=at_goal,
        here=_region_words(scene, pose.viewpoint),
        rooms=_rooms(pose),
        goal_direction=direction_of(pose.turn_to(ahead)) if ahead else None,
        goal_turn=_turn_words(pose.turn_to(ahead)) if ahead else None,
        goal_m=round(distance_3d(pose.at, there), 1) if there else None,
        goal_up_down=pose.storeys_to(end) if end else "level",
        goal_region=_region_words(scene, end) if end else None,
        goal_landmark=_nearest(scene, end) if end else None,
    )


def _rooms(pose: _Pose) -> list[str]:
    """Describe the nearest other rooms, each by its nearest viewpoint."""
    scene, near = pose.scene, dict[str, tuple[float, str]]()
    for other in scene.viewpoints:
        region, metres = other.region, distance_3d(pose.at, other.position)
        if region is not None and metres < near.get(region, (math.inf, ""))[0]:
            near[region] = metres, other.id
    near.pop(scene.viewpoint_by_id[pose.viewpoint].region or "", None)
    return [
        f"{words}, {_turn_words(pose.turn_to(name))}, {metres:.0f} m"
        for metres, name in sorted(near.values())
        if (words := _region_words(scene, name))
    ][:_MOST_REGIONS]


def check_viewpoints(scene: Scene, named: Iterable[str]) -> None:
    """Refuse names that are no viewpoint of the scene.

    Raises:
        UsageError: an unknown viewpoint.
    """
    ids = distances.metre_table(scene, "3d").index
    for name in named:
        if name not in ids:
            raise UsageError(f"the scene has no viewpoint '{name[:80]}'.{did_you_mean(name, ids)}")


def path_to_goal(
    scene: Scene, viewpoint: str, goals: Sequence[str], path: Sequence[str] = ()
) -> list[str]:
    """Return the viewpoints from here to a goal, both included; empty without a path or goal.

    Raises:
        UsageError: a viewpoint that the scene does not have.
    """
    check_viewpoints(scene, (viewpoint, *goals, *path))
    table = distances.metre_table(scene, "3d")
    if not goals:
        return []
    if viewpoint in goals:
        return [viewpoint]
    if viewpoint in path and path[-1] in goals and _walkable(scene, path):
        return list(path[len(path) - 1 - path[::-1].index(viewpoint) :])
    nearest = min(goals, key=lambda goal: table.distance(viewpoint, goal))
    return table.path(viewpoint, nearest) or []


def _walkable(scene: Scene, path: Sequence[str]) -> bool:
    edges = distances.scene_cached(
        scene, "guide_edges", lambda: {frozenset((edge.a, edge.b)) for edge in scene.edges}
    )
    return all(frozenset(hop) in edges for hop in pairwise(path))


@dataclass(frozen=True)
class _Pose:
    scene: Scene
    viewpoint: str
    heading: float

    @property
    def at(self) -> Point3:
        return self.scene.viewpoint_by_id[self.viewpoint].position

    def turn_to(self, other: str) -> float:
        """Return the turn towards another viewpoint in radians, positive to the right."""
        there = self.scene.viewpoint_by_id[other].position
        # Between viewpoints above one another no turn is defined: go straight on.
        if distance_2d(self.at, there) < 1e-6:
            return 0.0
        return distances.turn_between(self.heading, distances.heading_to(self.at, there))

    def climb_to(self, other: str) -> Level:
        """Return whether the straight line there goes up or down, by the threshold of options."""
        there = self.scene.viewpoint_by_id[other].position
        return _LEVELS[distances.up_or_down(distances.elevation_to(self.at, there))]

    def storeys_to(self, other: str) -> Level:
        """Return whether the floor there is more than a metre higher or lower."""
        at = self.scene.viewpoint_by_id
        rise = at[other].ground[1] - at[self.viewpoint].ground[1]
        if abs(rise) <= _STOREY_M:
            return "level"
        return "up" if rise > 0 else "down"


def _turn_words(turn: float) -> str:
    degrees = round(math.degrees(abs(turn)) / 10) * 10
    if degrees == 0:
        return "straight ahead"
    if degrees >= 170:
        return "turn around"
    return f"about {degrees} degrees to the {'right' if turn > 0 else 'left'}"


def _words(name: str) -> str:
    return prompt_name(name).replace("_", " ")


def _region_words(scene: Scene, viewpoint: str) -> str | None:
    region = scene.viewpoint_by_id[viewpoint].region
    label = scene.region_by_id[region].label if region else UNKNOWN
    return None if label == UNKNOWN else _words(label)


def _regions(scene: Scene, way: Sequence[str]) -> list[str]:
    """Return the types of the rooms that the path enters, in order."""
    named: list[str] = []
    for a, b in pairwise(way):
        before, after = scene.viewpoint_by_id[a].region, scene.viewpoint_by_id[b].region
        words = _region_words(scene, b)
        if before != after and words:
            named.append(words)
    return named


def _towards(captions: CaptionSource | None, viewpoint: str, ahead: str) -> str | None:
    if captions is None:
        return None
    return sanitize_line(captions.towards(viewpoint, ahead), MOST_TOWARDS) or None


def _landmark(pose: _Pose, ahead: str, captions: CaptionSource | None) -> str | None:
    """Return the name of an item as a landmark of the next viewpoint, or None.

    The item is visible in the direction of that viewpoint. If there is none, it is within a few
    metres of that viewpoint.
    """
    seen = captions.at(pose.viewpoint).objects if captions is not None else ()
    way = pose.heading + pose.turn_to(ahead)
    in_view = [
        (_words(thing.name), thing.distance)
        for thing in seen
        if abs(distances.turn_between(way, thing.heading)) <= _AHEAD
    ]
    return _telling(pose.scene, in_view) or _nearest(pose.scene, ahead)


def _nearest(scene: Scene, viewpoint: str) -> str | None:
    """Return an item within a few metres of a viewpoint, in its own room if that is known."""
    there = scene.viewpoint_by_id[viewpoint]
    items = scene.items_in(there.region) if there.region else scene.items
    near = [
        (_words(item.name), distance_2d(item.position, there.position))
        for item in items
        if item.kind != "structure"
    ]
    return _telling(scene, [(name, metres) for name, metres in near if metres <= _NEAR_M])


def _telling(scene: Scene, near: Iterable[tuple[str, float]]) -> str | None:
    """Return the most distinctive item: furniture first, then rare in the home, then near."""
    common, furniture = _names(scene)
    ranked = sorted(near, key=lambda t: (t[0] not in furniture, common[t[0]], t[1], t[0]))
    return ranked[0][0] if ranked else None


@distances.cached_on_scene
def _names(scene: Scene) -> tuple[Counter[str], set[str]]:
    named = [(_words(item.name), item.kind) for item in scene.items]
    return Counter(name for name, _ in named), {name for name, kind in named if kind == "asset"}


def _turns(scene: Scene, way: Sequence[str], heading: float) -> list[str]:
    """Describe the path as turns and straight pieces, such as ``turn left, then 4 m``."""
    pieces: list[tuple[str, float]] = []
    looks = heading
    for a, b in pairwise(way):
        pose = _Pose(scene, a, looks)
        turn, metres = pose.turn_to(b), distances.path_metres(scene, (a, b))
        word = _manoeuvre(turn, pose.climb_to(b))
        if pieces and word == "straight on":
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + metres)
        else:
            pieces.append((word, metres))
        looks += turn
    return [f"{word}, {max(1, round(metres))} m" for word, metres in pieces[:_MOST_TURNS]]


def _manoeuvre(turn: float, level: Level) -> str:
    words = "straight on"
    if abs(turn) > _STRAIGHT:
        side = "right" if turn > 0 else "left"
        words = "turn around" if abs(turn) > math.radians(150) else f"turn {side}"
    return words if level == "level" else f"{words} and go {level}"
