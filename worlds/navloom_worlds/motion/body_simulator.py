"""Simulator of moving bodies: they hop on the navigation graph and drive off it.

Hops, turns and looks work as in the ``graph`` backend. ``Forward``, ``Velocity`` and ``Waypoint``
drive over the floor, slide along obstacles, and report contacts. Within 0.1 m of a viewpoint a
body is at that viewpoint again, at a position of its own. Off the graph there are no candidates.
Agents of one scene block each other. They act in the mapping's order, each with the others where
they then are.

``physics`` (:class:`navloom.sim.protocol.PhysicsRules`) sets the consequences of contacts. Under
``off`` a body exactly at a viewpoint hops and turns as on the graph and has no contacts. Nothing
is built from the scene's geometry before a body drives. Under the other rules a body that does
not fit at its viewpoint is placed at the nearest free position and keeps the viewpoint's name.

The backend provides motion and planning:
:class:`navloom_worlds.motion.motion_backend.MotionBackend`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import shapely

from navloom.errors import SceneError, SimulatorError
from navloom.scenes.bodies import (
    SETTLE_M,
    Embodiment,
    FloorPose,
    MotionModel,
    MotionResult,
    Others,
    is_lift_or_stairs,
)
from navloom.scenes.distances import heading_to, wrap_angle
from navloom.scenes.safe_files import repr_of
from navloom.scenes.scene import Point3, Scene, distance_2d, distance_3d
from navloom.sim.graph import STANDING_M, AgentState, GraphSimulator, nearest_viewpoint
from navloom.sim.protocol import (
    Action,
    Captions,
    CaptionSource,
    Contact,
    Forward,
    Hop,
    Observation,
    Path,
    Physics,
    PhysicsRules,
    Pose,
    Turn,
    Velocity,
    Waypoint,
)
from navloom_worlds.geometry.semantic_ids import door_owner, owner_name
from navloom_worlds.motion.collision_mesh import SHUT, find_moved_doors
from navloom_worlds.motion.motion_backend import MotionBackend

_PIECE_M = 0.02
"""Piece length in metres with which a terminating contact is located."""
_STOREY_M = 1.0
_LEAF = 0.8
"""Share of a doorway's width within which all of a closed or ajar leaf lies, from its middle."""
_TRIES = 4


class BodyMotion:
    """One action of one body while it is carried out: pose, path, contacts, collision.

    Args:
        moves: motion of the body.
        stand: its pose at the start.
        others: as below.
        rules: consequences of contacts.

    Attributes:
        others: the other bodies, by name.
        stand: its current pose.
        path: its poses: at the start, at each bend, and now.
        contacts: one contact per object touched: the total displacement that it took, and the
            point where it was touched first.
        collision: whether a contact reached the threshold under rules with consequences. The body
            does not move after that.
    """

    def __init__(
        self, moves: MotionModel, stand: FloorPose, others: Others, rules: PhysicsRules
    ) -> None:
        self.stand = stand
        self.path = [stand]
        self.contacts: dict[str, Contact] = {}
        self.collision = False
        self.others = others
        self._moves, self._rules = moves, rules

    def forward(self, metres: float) -> None:
        """Drive straight ahead, or backwards if metres are negative."""

        def go(stand: FloorPose, part: float) -> MotionResult:
            return self._moves.forward(stand, metres * part, others=self.others)

        self._go(go, abs(metres))

    def turn(self, radians: float) -> None:
        """Turn on the spot, or on the body's arc."""

        def go(stand: FloorPose, part: float) -> MotionResult:
            return self._moves.turn(stand, radians * part, others=self.others)

        self._go(go, abs(radians))

    def velocity(self, forward: float, turn: float, seconds: float) -> None:
        """Drive at a velocity, in metres and radians per second, for some seconds."""

        def go(stand: FloorPose, part: float) -> MotionResult:
            return self._moves.drive(stand, forward, turn, seconds * part, others=self.others)

        self._go(go, max(abs(forward), abs(turn)) * seconds)

    def along(self, points: Sequence[Point3]) -> None:
        """Drive from point to point, facing the direction of travel."""
        if self.collision or not points:
            return
        whole = self._moves.follow(self.stand, points, others=self.others)
        if not self._ends(whole):
            self._take(whole)
            return
        for point in points:
            self._leg(point)

    def to(
        self,
        goal: Point3,
        way: Callable[[Point3], Sequence[Point3]],
        route: Callable[[Sequence[FloorPose], Point3], MotionResult | None],
    ) -> bool:
        """Drive to a point along planned paths, and plan again if the body was pushed off.

        Args:
            goal: on the floor.
            way: returns the path points after a start; none if there is no path.
            route: as :class:`navloom_worlds.motion.motion_backend.MotionBackend` has it.

        Returns:
            Whether the body is within 0.1 m of the goal.
        """
        for _ in range(_TRIES):
            before = self.stand.position
            self.along(way(before))
            if self.collision or self.at(goal):
                break
            if distance_2d(before, self.stand.position) <= STANDING_M:
                break
        # A driven route ignores other bodies, so it is tried only without them.
        if not (self.collision or self.others or self.at(goal)):
            gone = route(self.path, goal)
            if gone is not None and not self._ends(gone):
                self._take(gone)
        return self.at(goal)

    def _leg(self, point: Point3) -> None:
        x, y, z = point
        start, _, begun = self.stand.position

        def go(stand: FloorPose, part: float) -> MotionResult:
            here, _, there = stand.position
            # The direction stays the same: a body displaced a little does not turn back for it.
            goal = (here + (x - start) * part, y, there + (z - begun) * part)
            return self._moves.follow(stand, [goal], others=self.others)

        self._go(go, math.hypot(x - start, z - begun))

    def put(self, goal: FloorPose | None, asked: FloorPose) -> None:
        """Place the body at once; record a contact if the body does not fit at the asked pose.

        Args:
            goal: the free pose nearest to ``asked``; None if there is none, and the body stays.
            asked: the pose that was asked for.
        """
        start = self.stand if goal is None else goal
        metres = distance_2d(start.position, asked.position)
        if goal is not None:
            self.stand = goal
        if metres <= _EXACT_M:
            return
        met = self._moves.follow(start, [asked.position], slide=False, others=self.others).bumps
        what, point = (met[0].what, met[0].point) if met else ("wall", asked.position)
        self.touched(Contact(what, metres, point))

    def at(self, goal: Point3) -> bool:
        """Check whether the body is within 0.1 m of a goal and on the goal's storey."""
        x, y, z = self.stand.position
        return math.hypot(goal[0] - x, goal[2] - z) <= STANDING_M and abs(goal[1] - y) <= _STOREY_M

    def touched(self, contact: Contact) -> None:
        """Record a contact; contacts with the same object are added up."""
        before = self.contacts.get(contact.what)
        if before is not None:
            contact = replace(before, displacement=before.displacement + contact.displacement)
        self.contacts[contact.what] = contact
        if self._rules.strict and contact.displacement >= self._rules.threshold:
            self.collision = True

    def _go(self, go: Callable[[FloorPose, float], MotionResult], long: float) -> None:
        if self.collision:
            return
        whole = go(self.stand, 1.0)
        if not self._ends(whole):
            self._take(whole)
            return
        pieces = max(1, math.ceil(long / _PIECE_M))
        for _ in range(pieces):
            self._take(go(self.stand, 1 / pieces))
            if self.collision:
                return

    def _ends(self, moved: MotionResult) -> bool:
        """Check whether a contact would reach the collision threshold."""
        if not self._rules.strict or not moved.bumps:
            return False
        metres: dict[str, float] = {}
        for bump in moved.bumps:
            before = self.contacts.get(bump.what)
            told = metres.get(bump.what, before.displacement if before else 0.0)
            metres[bump.what] = told + bump.displacement
        return max(metres.values()) >= self._rules.threshold

    def _take(self, moved: MotionResult) -> None:
        self.stand = moved.stand
        self.path += [*moved.path, moved.stand]
        for bump in moved.bumps:
            self.touched(Contact(bump.what, bump.displacement, bump.point))


_MOST_M = 100.0
_MOST_SECONDS = 100.0
_MOST_RAD = 100.0
_EXACT_M = 1e-3
_EPS = 1e-9


class BodySimulator(GraphSimulator, ABC):
    """Simulator of bodies that hop on the graph or drive, with the given physics rules.

    Args:
        scene: a scene with viewpoints.
        captions: source of captions.
        rules: consequences of contacts.

    Raises:
        SimulatorError: the scene has no viewpoints.
    """

    capabilities = GraphSimulator.capabilities | {"continuous", "waypoint", "collide"}

    def __init__(
        self, scene: Scene, captions: CaptionSource | None = None, rules: PhysicsRules | None = None
    ) -> None:
        super().__init__(scene, captions)
        self._rules = PhysicsRules() if rules is None else rules
        self._footings: dict[Embodiment, MotionBackend] = {}

    @property
    def physics(self) -> Physics:
        """Physics mode that sets the consequences of contacts."""
        return self._rules.physics

    def seen_from(self, viewpoint: str) -> Observation:
        """Return the candidates and captions at a viewpoint as an observation.

        Raises:
            SimulatorError: there is no such viewpoint.
        """
        standing = self._standing(Pose((0.0, 0.0, 0.0), viewpoint=self._known(viewpoint)))
        return self._observe(standing)

    @abstractmethod
    def _made_footing(self, body: Embodiment) -> MotionBackend:
        """Return what provides motion and planning for a body in the current scene."""

    def geodesic(
        self, start: Pose | str, goals: Sequence[Pose | str], embodiment: Embodiment
    ) -> Path | None:
        """Return the shortest path: along edges between viewpoints, else the body's own path."""
        if all(self._is_on_graph(each) for each in (start, *goals)):
            return super().geodesic(start, goals, embodiment)
        return self.floor_path(start, goals, embodiment)

    def floor_path(
        self, start: Pose | str, goals: Sequence[Pose | str], embodiment: Embodiment
    ) -> Path | None:
        """Return a body's shortest path over the floor, also between viewpoints.

        Args:
            start: a pose, or a viewpoint's id.
            goals: poses or viewpoint ids; at least one.
            embodiment: the body.

        Returns:
            The path, which names no viewpoints; None if there is none.

        Raises:
            SimulatorError: no goal, an unknown viewpoint, or the scene has no ground to drive on.
        """
        if not goals:
            raise SimulatorError("No goal to go to: expected at least one.")
        places = [self._floor(each) for each in (start, *goals)]
        if places[0] in places[1:]:
            return Path((places[0],), 0.0)
        way = self._footing(embodiment).way(places[0], places[1:])
        return None if way is None else Path(way.points, way.metres)

    def _now_in(self, scene: Scene, words: CaptionSource) -> None:
        super()._now_in(scene, words)
        self._footings = {}

    def _footing(self, body: Embodiment) -> MotionBackend:
        if body not in self._footings:
            self._footings[body] = self._made_footing(body)
        return self._footings[body]

    def _observe(self, pose: Pose) -> Observation:
        if pose.viewpoint is None:
            return Observation(pose=pose, captions=Captions())
        return super()._observe(pose)

    # Standing.

    def _placed(
        self, name: str, pose: Pose, body: Embodiment, others: Mapping[str, AgentState]
    ) -> AgentState:
        around = _others(name, others)
        if self._is_on_graph(pose):
            agent = super()._placed(name, pose, body, others)
            if self._rules.physics == "off":
                return agent
            stand = self._settled(body, _stand(agent.pose), around)
            if stand is None:
                raise SimulatorError(
                    f"{_named(body)}, fits nowhere within {SETTLE_M:g} m of viewpoint"
                    f" {agent.pose.viewpoint}: expected one that it can stand on; take another"
                    " viewpoint or another body."
                )
            return replace(agent, pose=self._posed(agent.pose, stand, agent.pose.viewpoint))
        # Only the angles are checked against a viewpoint: the position is off the graph.
        checked = self._standing(replace(pose, viewpoint=self.scene.viewpoints[0].id))
        checked = replace(checked, position=_finite_point(pose.position), viewpoint=None)
        return AgentState(self._free(body, checked, around), body)

    def _free(self, body: Embodiment, pose: Pose, around: Others) -> Pose:
        """Return a pose off the graph and on the floor, or raise where the body does not fit."""
        moves = self._footing(body).moves
        near = moves.settled(_stand(pose), around, SETTLE_M)
        if near is not None and distance_2d(near.position, pose.position) <= _EXACT_M:
            return self._posed(pose, near, None)
        where = f"The pose at {_spot(pose.position)}: {_named(body)}, does not fit there"
        if near is None:
            raise SimulatorError(
                f"{where}, nor anywhere within {SETTLE_M:g} m: expected a place on the floor with"
                " room for it."
            )
        metres = distance_3d(near.position, pose.position)
        raise SimulatorError(
            f"{where}: the nearest free place is {_spot(near.position)}, {metres:.2f} m off."
        )

    def _settled(self, body: Embodiment, stand: FloorPose, around: Others) -> FloorPose | None:
        moves = self._footing(body).moves
        return stand if moves.fits(stand, around) else moves.settled(stand, around, SETTLE_M)

    def _posed(self, pose: Pose, stand: FloorPose, viewpoint: str | None) -> Pose:
        """Return the pose of a body that now stands somewhere.

        Args:
            pose: the pose before; its elevation is kept.
            stand: the new position and heading.
            viewpoint: the viewpoint to name, whatever the position.
        """
        position = stand.position
        if viewpoint is not None:
            own = self.scene.viewpoint_by_id[viewpoint].ground
            # At the viewpoint itself the pose is exactly the viewpoint's.
            if distance_2d(own, position) <= _EXACT_M:
                position = own
        return Pose(position, wrap_angle(stand.heading), pose.elevation, viewpoint)

    def _viewpoint_at(self, position: Point3) -> str | None:
        nearest, metres = nearest_viewpoint(self.scene, position)
        return nearest if metres <= STANDING_M else None

    def _is_on_graph(self, place: Pose | str) -> bool:
        if isinstance(place, str) or place.viewpoint is not None:
            return True
        return self._viewpoint_at(_finite_point(place.position)) is not None

    def _floor(self, place: Pose | str) -> Point3:
        if isinstance(place, Pose) and place.viewpoint is None:
            return _finite_point(place.position)
        return self.scene.viewpoint_by_id[self._viewpoint(place)].ground

    def _staying(self, pose: Pose) -> Pose:
        if pose.viewpoint is None:
            return pose
        moved = super()._staying(pose)
        before = self._before.viewpoint_by_id[pose.viewpoint].ground
        return moved if pose.position == before else pose

    def change(self, scene: Scene) -> Mapping[str, Observation]:
        """Replace the scene by a changed copy, while bodies off the graph stay in place."""
        self._before = self.scene
        return super().change(scene)

    def _may_be_at(self, scene: Scene, pose: Pose) -> bool:
        if pose.viewpoint is None:
            return True
        floor = scene.viewpoint_by_id[pose.viewpoint].ground
        return distance_3d(floor, pose.position) <= SETTLE_M + STANDING_M

    # Acting.

    def _after(self, name: str, action: Action) -> AgentState:
        agent = self._agent(name)
        if agent.stopped or agent.collision:
            return agent
        try:
            match action:
                case Hop(viewpoint):
                    return self._hop_after(name, agent, viewpoint)
                case Turn() if self._on_rails(agent.pose):
                    return super()._after(name, action)
                case Forward() | Turn() | Velocity() | Waypoint():
                    return self._moved(agent, self._driven(name, agent, action))
        except SceneError as error:
            # The scene gives no ground to move on.
            raise SimulatorError(f"{name}: {error}") from error
        return super()._after(name, action)

    def _driven(
        self, name: str, agent: AgentState, action: Forward | Turn | Velocity | Waypoint
    ) -> BodyMotion:
        match action:
            case Forward(metres):
                _check_size("Forward", metres, _MOST_M, "m")
                motion = self._motion(name, agent, forward=metres)
                motion.forward(metres)
            case Turn(radians):
                _check_size("Turn", radians, _MOST_RAD, "radians")
                motion = self._motion(name, agent, turn=radians)
                motion.turn(radians)
            case Velocity(forward, turn, seconds):
                _check_velocity(name, agent.body, action)
                motion = self._motion(name, agent, forward=forward, turn=turn)
                motion.velocity(forward, turn, seconds)
            case Waypoint(position):
                motion = self._motion(name, agent, forward=1.0)
                goal = _finite_point(position)
                self._check_way(name, agent.body, motion.stand, goal)
                footing = self._footing(agent.body)
                motion.to(goal, lambda start: self._way(agent.body, start, goal), footing.route)
        return motion

    def _on_rails(self, pose: Pose) -> bool:
        """Check whether a body is exactly at a viewpoint and physics are off."""
        if self._rules.physics != "off" or pose.viewpoint is None:
            return False
        return pose.position == self.scene.viewpoint_by_id[pose.viewpoint].ground

    def _hop_after(self, name: str, agent: AgentState, viewpoint: str) -> AgentState:
        if agent.pose.viewpoint is None:
            self._known(viewpoint)
            raise SimulatorError(
                f"{name} stands off the graph, so no edge leads to {viewpoint}: go Forward to"
                f" within {STANDING_M} m of a viewpoint, or place() it on one."
            )
        if self._rules.physics == "off":
            return replace(agent, pose=self._hop(agent.pose, viewpoint))
        return self._hopped(name, agent, viewpoint)

    def _motion(
        self, name: str, agent: AgentState, *, forward: float = 0.0, turn: float = 0.0
    ) -> BodyMotion:
        """Return the motion with which an action moves a body, at its start.

        Raises:
            SimulatorError: the body cannot move by itself, or stands where it does not fit.
        """
        body = agent.body
        for asked, most, what in (
            (forward, body.speed, "drive (its speed is 0)"),
            (turn, body.turn_speed, "turn (its turn_speed is 0)"),
        ):
            if asked and not most:
                raise SimulatorError(f"{name}: {_named(body)}, does not {what}.")
        moves, stand = self._footing(body).moves, _stand(agent.pose)
        around = _others(name, self._agents)
        if not moves.fits(stand, around):
            # Under off several bodies may have hopped onto one viewpoint and overlap.
            apart = {who: at for who, at in around.items() if moves.fits(stand, {who: at})}
            around = apart if self._rules.physics == "off" and moves.fits(stand) else around
            settled = self._settled(body, stand, around)
            if settled is None:
                raise SimulatorError(
                    f"{name} cannot move from {_spot(stand.position)}: {_named(body)}, fits nowhere"
                    f" within {SETTLE_M:g} m of it; place() it elsewhere."
                )
            stand = settled
        return BodyMotion(moves, stand, around, self._rules)

    def _moved(self, agent: AgentState, motion: BodyMotion) -> AgentState:
        """Return the agent after it drove."""
        before, stand = agent.pose, motion.stand
        stayed = distance_3d(before.position, stand.position) <= _EPS
        viewpoint = before.viewpoint if stayed else self._viewpoint_at(stand.position)
        pose = self._posed(before, stand, viewpoint)
        contacts = self._contacts(agent, motion)
        return replace(agent, pose=pose, contacts=contacts, collision=motion.collision)

    def _contacts(self, agent: AgentState, motion: BodyMotion) -> tuple[Contact, ...]:
        """Return the contacts of a motion, with opened doors as contacts of displacement 0."""
        links, found = self.scene.links, dict(motion.contacts)
        path = [each.position for each in motion.path]
        line = shapely.LineString([(x, z) for x, _, z in (*path, path[-1])])
        shut = [(k, each.point) for k, each in enumerate(links) if each.door in SHUT and each.point]
        # Most steps come near no door: leaves are looked up only near one.
        near = {}
        for k, at in shut:
            reach = _LEAF * (links[k].width or 1.0) + agent.body.width / 2
            if line.distance(shapely.Point(at[0], at[2])) <= reach:
                near[k] = at
        for k in find_moved_doors(self.scene, agent.body, path) if near else ():
            if k in near:
                door = owner_name(self.scene, door_owner(k))
                found.setdefault(door, Contact(door, 0.0, near[k]))
        return tuple(found.values())

    def _way(self, body: Embodiment, start: Point3, goal: Point3) -> Sequence[Point3]:
        """Return the path points after a start; none if there is no path."""
        way = self._footing(body).way(start, [goal])
        if way is None or distance_2d(way.points[-1], goal) > STANDING_M:
            return ()
        return way.points[1:]

    def _check_way(self, name: str, body: Embodiment, stand: FloorPose, goal: Point3) -> None:
        if distance_3d(stand.position, goal) <= STANDING_M or self._way(body, stand.position, goal):
            return
        near = self._footing(body).moves.settled(replace(stand, position=goal), {}, SETTLE_M)
        far = near is not None and distance_2d(near.position, goal) > _EXACT_M
        free = f"; the nearest free place is {_spot(near.position)}" if far and near else ""
        raise SimulatorError(
            f"No way leads {name} from {_spot(stand.position)} to {_spot(goal)}: {_named(body)},"
            f" needs room all along{free}."
        )

    def _hopped(self, name: str, agent: AgentState, viewpoint: str) -> AgentState:
        """Hop by driving, or under telhop by placing the body; return the agent's new state."""
        after = self._hop(agent.pose, viewpoint)
        motion = self._motion(name, agent, forward=1.0)
        looking = FloorPose(after.position, heading_to(motion.stand.position, after.position))
        goal = self._settled(agent.body, looking, motion.others)
        if is_lift_or_stairs(self.scene, agent.pose.viewpoint or "", viewpoint, agent.body):
            motion.stand = motion.stand if goal is None else goal
        elif self._rules.physics == "telhop":
            motion.put(goal, looking)
        elif goal is not None:
            end = goal.position
            motion.along([end])
            if not motion.at(end):
                route = self._footing(agent.body).route
                motion.to(end, lambda start: self._way(agent.body, start, end), route)
        if motion.collision:
            return self._moved(agent, motion)
        contacts = self._contacts(agent, motion)
        if goal is None or not motion.at(goal.position):
            return replace(agent, contacts=contacts)
        return replace(agent, pose=self._posed(after, motion.stand, viewpoint), contacts=contacts)


def _stand(pose: Pose) -> FloorPose:
    return FloorPose(pose.position, pose.heading)


def _others(name: str, agents: Mapping[str, AgentState]) -> Others:
    return {who: (agent.body, _stand(agent.pose)) for who, agent in agents.items() if who != name}


def _named(body: Embodiment) -> str:
    return f"{body.name}, {body.width:.2f} m wide"


def _spot(point: Point3) -> str:
    return f"({point[0]:.2f}, {point[1]:.2f}, {point[2]:.2f})"


def _finite_point(point: Point3) -> Point3:
    if not all(math.isfinite(each) for each in point):
        raise SimulatorError(
            f"A place at {repr_of(point)}: expected three finite numbers, in metres."
        )
    x, y, z = point
    return float(x), float(y), float(z)


def _check_size(what: str, value: float, most: float, unit: str) -> None:
    if not abs(value) <= most:
        raise SimulatorError(f"{what} of {value} {unit}: expected -{most:.0f} to {most:.0f}.")


def _check_velocity(name: str, body: Embodiment, asked: Velocity) -> None:
    """Reject values that are no motion, or no motion of this body."""
    told = {"forward": asked.forward, "turn": asked.turn, "seconds": asked.seconds}
    for what, value in told.items():
        if not math.isfinite(value):
            raise SimulatorError(f"A Velocity of {what} {value}: expected a finite number.")
    if not 0 <= asked.seconds <= _MOST_SECONDS:
        raise SimulatorError(
            f"A Velocity for {asked.seconds:g} seconds: expected 0 to {_MOST_SECONDS:.0f}."
        )
    if abs(asked.forward) > body.speed + _EPS and body.speed:
        raise SimulatorError(
            f"{name}: {body.name} drives at most {body.speed:g} m/s: found {asked.forward:g}."
        )
    most, why = body.turn_speed, ""
    if body.turning_radius and abs(asked.forward) / body.turning_radius < most:
        most = abs(asked.forward) / body.turning_radius
        why = f" on its arc of {body.turning_radius:g} m at {abs(asked.forward):g} m/s"
    if abs(asked.turn) > most + _EPS and body.turn_speed:
        raise SimulatorError(
            f"{name}: {body.name} turns at most {most:.4g} rad/s{why}: found {asked.turn:g}."
        )
