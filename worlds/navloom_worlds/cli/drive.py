"""Command ``navloom scenes drive``: drive a body through a home, report and film it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.common import print_json
from navloom.cli.options import Json, SceneUri, with_options
from navloom.evals.option import Opt
from navloom.models.redaction import print_err, print_out
from navloom_worlds.cli.tour import with_progress

if TYPE_CHECKING:
    from navloom.scenes.bodies import Embodiment
    from navloom.scenes.scene import Point3, Scene
    from navloom_worlds.motion.body_field import BodyField
    from navloom_worlds.motion.path_follower import MotionSnapshot, PathFollower

_RATE = 12
_NEAR_M = 1.0
"""Maximum distance from --from of a start chosen for its turning space."""
_FAR_M = 3.0
"""Maximum distance of the start from --from."""
_OFF_M = 0.5
"""Distance of the start from --from above which a message is printed."""
_PLACE = "a room, a viewpoint, or x,z or x,y,z in metres"


@with_options()
def drive(
    uri: SceneUri,
    start: Annotated[str, Opt(f"Where from: {_PLACE}.", metavar="PLACE", flag="from", env="")],
    goal: Annotated[str, Opt(f"Where to: {_PLACE}.", metavar="PLACE", flag="to", env="")],
    body: Annotated[
        str, Opt("Whose: HUMAN, WHEELCHAIR, SPOT, ... or FILE.json#NAME of yours.", metavar="NAME")
    ] = "WHEELCHAIR",
    video: Annotated[
        Path | None, Opt("Film it: the .mp4 to write.", metavar="FILE", env="")
    ] = None,
    as_json: Json = False,
) -> None:
    """Drive a body from one place of a home to another, and list its contacts.

    It starts at the free place that is nearest to --from and goes the shortest way that it fits
    through. Where there is none it goes as far as it can on the way of one that climbs and opens
    everything, and what stops it is told; the exit code is then 1. The film is in real time, seen
    aslant from above with all that is higher left away; a red pin is where something is touched.
    """
    from navloom.errors import UsageError
    from navloom.evals.video import check_pyav, write_video
    from navloom.files import check_writable
    from navloom.scenes.bodies import resolve_body
    from navloom.scenes.scene_uri import load_scene
    from navloom_worlds.motion.path_follower import follow_alone
    from navloom_worlds.rendering.body_film import film_bodies

    if video is not None:
        check_pyav()
        if video.suffix.casefold() != ".mp4":
            raise UsageError(f"cannot film to {video}: expected a name that ends in .mp4")
        check_writable(video, folder=False)
    scene, whose = load_scene(uri), resolve_body(body)
    ride, planned = _set_out(scene, whose, start, goal)
    instants = list(follow_alone(whose.name, ride, _RATE))
    told = _told(ride, planned, instants)
    if planned is None:
        told["barrier"] = _barrier(scene, whose, instants[0], _points(scene, goal)[0])
    if video is not None:
        frames = with_progress(film_bodies(scene, instants), f"filming {scene.uri}", len(instants))
        count = write_video(video, frames, _RATE)
        told["video"] = str(video)
        print_err(f"wrote {video}: {count / _RATE:.0f} s, {count} frames")
    if as_json:
        print_json(told)
    else:
        _say(whose, told)
    if not told["arrived"]:
        raise typer.Exit(1)


def _set_out(scene: Scene, body: Embodiment, a: str, b: str) -> tuple[PathFollower, float | None]:
    """Return the body at its start, and its path's length; None if the path is not its own."""
    from navloom.errors import SceneError
    from navloom.scenes.bodies import FloorPose
    from navloom.scenes.distances import heading_to
    from navloom_worlds.motion.body_field import body_field
    from navloom_worlds.motion.body_planner import drive_to_goal
    from navloom_worlds.motion.collision_motion import mover_of
    from navloom_worlds.motion.path_follower import PathFollower

    mover, field = mover_of(scene, body), body_field(scene, body)
    wanted, goals = _points(scene, a)[0], _points(scene, b)
    here = _with_room(field, wanted)
    stand = None if here is None else mover.settled(FloorPose(here, 0.0))
    if stand is None:
        raise SceneError(
            f"{body.name}, {body.width:.2f} m wide, fits nowhere near {a}: expected a place"
            " with room for it."
        )
    if (off := math.dist(stand.position, wanted)) > _FAR_M:
        there = ",".join(f"{each:.2f}" for each in stand.position)
        raise SceneError(
            f"{a} is {off:.1f} m from the nearest place with room for {body.name}: expected at"
            f" most {_FAR_M:g} m. Start there instead: --from={there}."
        )
    if off > _OFF_M:
        x, y, z = stand.position
        print_err(f"starts {off:.1f} m from {a}, where there is room: ({x:.2f}, {y:.2f}, {z:.2f})")
    own = field.way(stand.position, goals, driven=True)
    points = own.points if own else _towards(scene, field, stand.position, goals)
    if not points:
        raise SceneError(f"No way leads from {a} to {b}, for no body at all.")
    ahead = next((p for p in points if p != stand.position), goals[0])
    facing = FloorPose(stand.position, heading_to(stand.position, ahead))
    if mover.fits(facing):
        stand = facing
    ride = PathFollower(mover, stand, points[1:])
    if own is not None and not mover.shape.round:
        # The field takes its width into account, but not its corners.
        found = drive_to_goal(scene, body, [stand], own.points[-1])
        if found is not None and found.arrived:
            ride.set_path((), found.path)
    return ride, None if own is None else own.metres


def _with_room(field: BodyField, wanted: Point3) -> Point3 | None:
    """Return the nearest position where the body can turn, else where it can stand."""
    import numpy as np

    from navloom.scenes.bodies import outer_radius

    roomy = np.flatnonzero(field.clear >= outer_radius(field.body))
    if len(roomy):
        found = field.found
        off = np.hypot(found.x[roomy] - wanted[0], found.z[roomy] - wanted[2])
        off = off + 3 * np.abs(found.height[roomy] - wanted[1])
        if off.min() <= _NEAR_M:
            return field.position(int(roomy[off.argmin()]))
    return field.nearest(wanted)


def _towards(
    scene: Scene, field: BodyField, start: Point3, goals: Sequence[Point3]
) -> tuple[Point3, ...]:
    """Return the path of a more capable body, which this one can follow in part."""
    import numpy as np

    from navloom.scenes.bodies import DEFAULT_BODY
    from navloom_worlds.motion.body_field import body_field

    able = {"max_step": 0.4, "stairs": True, "elevator": True, "doors": True}
    for body in (field.body.model_copy(update=able), DEFAULT_BODY):
        way = body_field(scene, body).way(start, goals, driven=True)
        if way is not None:
            break
    else:
        return ()
    metres, points = field.distances([start]), list(way.points)
    # The last position on it that the body can reach, and the rest from there.
    for number in range(len(points) - 1, 0, -1):
        for part in np.arange(1.0, 0.0, -0.05):
            a, b = points[number - 1], points[number]
            x, y, z = (float(p + (q - p) * part) for p, q in zip(a, b, strict=True))
            place = field.at((x, y, z))
            if place < 0 or not np.isfinite(metres[place]):
                continue
            own = field.way(start, [(x, y, z)], driven=True)
            if own is not None:
                return (*own.points, *points[number:])
    return tuple(points)


def _points(scene: Scene, place: str) -> list[Point3]:
    """Return the floor position of a place; for a room its viewpoints, centre first."""
    from navloom.errors import UsageError
    from navloom_worlds.moving.surroundings import goal_places, parse_point
    from navloom_worlds.rendering.embedded import floor_at

    parts = place.split(",")
    if len(parts) in (2, 3) and place not in scene.region_by_id:
        try:
            numbers = [float(each) for each in parts]
        except ValueError as error:
            raise UsageError(f"'{place[:60]}' is no place: expected {_PLACE}") from error
        if len(numbers) == 2:
            numbers.insert(1, floor_at(scene, *numbers))
        return [parse_point(numbers)]
    ids = [each for each in goal_places(scene, place) if isinstance(each, str)]
    return [scene.viewpoint_by_id[each].ground for each in ids]


def _told(
    ride: PathFollower, planned: float | None, instants: Sequence[MotionSnapshot]
) -> dict[str, Any]:
    """Return the result as JSON."""
    touched = [
        {
            "what": bump.what,
            "displacement": round(bump.displacement, 3),
            "point": [round(each, 3) for each in bump.point],
        }
        for bump in ride.bumps
    ]
    worst = max(ride.bumps, key=lambda bump: bump.displacement, default=None)
    return {
        "arrived": ride.arrived,
        "planned_m": None if planned is None else round(planned, 2),
        "driven_m": round(ride.metres, 2),
        "seconds": round(instants[-1].second, 1),
        "ends_at": [round(each, 3) for each in ride.stand.position],
        "touched": touched,
        "stopped_by": None if ride.arrived or not worst else worst.what,
    }


def _barrier(scene: Scene, body: Embodiment, begun: MotionSnapshot, goal: Point3) -> str | None:
    """Return a link's own barrier to the body on the path, if there is one."""
    from navloom.sim.graph import nearest_viewpoint
    from navloom.tools.chat.obstructions import first_barrier

    ((_, stand),) = begun.bodies.values()
    here, there = (nearest_viewpoint(scene, each)[0] for each in (stand.position, goal))
    found = first_barrier(scene, here, there, body)
    return None if found is None else f"{found.words(scene)}: {found.note}"


def _say(body: Embodiment, told: dict[str, Any]) -> None:
    gone = f"{told['driven_m']:.2f} m in {told['seconds']:.0f} s"
    if told["arrived"]:
        print_out(f"{body.name} arrives after {gone} (planned {told['planned_m']:.2f} m)")
    else:
        what = told["stopped_by"] or "too little room"
        x, y, z = told["ends_at"]
        way = "no way of its own leads there; " if told["planned_m"] is None else ""
        print_out(
            f"{body.name} does not arrive: {way}{what} stops it at ({x}, {y}, {z}) after {gone}"
        )
    if told.get("barrier"):
        print_out(f"   {told['barrier']}")
    for each in told["touched"]:
        x, _, z = each["point"]
        print_out(f"   touched {each['what']} at ({x:.2f}, {z:.2f})")
