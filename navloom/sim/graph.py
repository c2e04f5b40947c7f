"""``graph`` backend: agents move on the navigation graph and perceive captions, without images.

An agent stands on a viewpoint. It hops along edges, turns and looks. ``Forward`` and ``Velocity``
would leave the graph and are refused, although ``discrete`` is claimed for turning and looking.
Bodies are ignored: R2R's graphs are walkable for a person, and other bodies need a simulator with
geometry. Nothing is random, so the seed has no effect.

``Viewpoint.position`` is the camera in some formats. Headings, elevations and distances are between
these positions (R2R's own convention), while ``Pose.position`` and ``Path.points`` are on the
floor, ``eye_height`` below. A simulator is cheap to create: shared data is computed once per scene.

The module also defines a simulator's saved state as JSON, and validates it when it is read. Numbers
are exact to the last bit. The scene is stored as a hash, plus the difference of a changed copy
(:mod:`navloom.scenes.scene_diff`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from navloom.errors import SceneError, SimulatorError, did_you_mean
from navloom.scenes import distances
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.safe_files import first_problem, repr_of
from navloom.scenes.scene import Point3, Scene, distance_3d
from navloom.scenes.scene_diff import apply_diff, diff_scenes
from navloom.scenes.viewpoint_hints import viewpoint_hint
from navloom.sim.captions import captions_for
from navloom.sim.protocol import (
    THRESHOLD_M,
    Action,
    Candidate,
    Captions,
    CaptionSource,
    Contact,
    Hop,
    Look,
    Observation,
    Path,
    Pose,
    Stop,
    Turn,
    check_no_physics,
)

_FORM = ConfigDict(extra="forbid", frozen=True)
_Metres = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
_Radians = Annotated[float, Field(ge=-7.0, le=7.0, allow_inf_nan=False)]
_Text = Annotated[str, Field(min_length=1, max_length=200)]
_Place = tuple[_Metres, _Metres, _Metres]
_STEP_M, _STOREY_M = 0.5, 2.0


class SavedContact(BaseModel):
    """Saved contact of the last action."""

    model_config = _FORM

    what: _Text
    displacement: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
    point: _Place


class SavedAgent(BaseModel):
    """Saved agent: pose, body, and outcome of its last action."""

    model_config = _FORM

    name: Annotated[str, Field(max_length=1_000)]
    position: _Place
    heading: _Radians
    elevation: _Radians
    viewpoint: _Text | None
    body: Embodiment
    stopped: bool = False
    collision: bool = False
    contacts: Annotated[tuple[SavedContact, ...], Field(max_length=10_000)] = ()


class SavedState(BaseModel):
    """Saved state of a simulator, all but the scene that it was made of."""

    model_config = _FORM

    version: Literal["navloom.state/1"]
    scene: _Text
    scene_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    agents: Annotated[tuple[SavedAgent, ...], Field(min_length=1, max_length=10_000)]
    """Agents, in the order in which they were put into the scene."""
    changed: Annotated[dict[str, Any], Field(max_length=100)] | None = None


def state_record(made_of: Scene, scene: Scene, agents: Iterable[SavedAgent]) -> dict[str, Any]:
    """Return a simulator's state as JSON.

    Args:
        made_of: the scene that the simulator was made of.
        scene: the current scene, the same or a changed copy.
        agents: the agents in it.
    """
    return SavedState(
        version="navloom.state/1",
        scene=made_of.uri,
        scene_sha256=distances.scene_hash(made_of),
        agents=tuple(agents),
        changed=None if scene is made_of else diff_scenes(made_of, scene),
    ).model_dump(mode="json")


def read_state(made_of: Scene, scene: Scene, state: Mapping[str, Any]) -> tuple[SavedState, Scene]:
    """Validate a saved state, and return it with its scene.

    Args:
        made_of: the scene that the simulator was made of.
        scene: the current scene; it is returned if the state belongs to it.
        state: untrusted JSON.

    Raises:
        SimulatorError: it is no valid state, or one of another scene.
    """
    where = f"a state of {made_of.uri}"
    try:
        saved = SavedState.model_validate(state)
    except ValidationError as error:
        raise SimulatorError(f"{where}: {first_problem(error)}.") from error
    if (saved.scene, saved.scene_sha256) != (made_of.uri, distances.scene_hash(made_of)):
        other = "an older or a changed one" if saved.scene == made_of.uri else repr_of(saved.scene)
        raise SimulatorError(
            f"{where}: expected one of this very scene, found one of {other}: make the simulator of"
            " the scene that the state's was made of."
        )
    names = [agent.name for agent in saved.agents]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SimulatorError(f"{where}: agents: {repr_of(twice)} is named twice; names are unique.")
    if saved.changed is None:
        return saved, made_of
    try:
        changed = apply_diff(made_of, saved.changed)
    except SceneError as error:
        raise SimulatorError(f"{where}: changed: {error}") from error
    return saved, scene if changed == scene else changed


STANDING_M = 0.1
"""Metres within which a pose without a viewpoint is on the nearest viewpoint."""
_LIMIT = math.pi / 2

Ways: TypeAlias = dict[str, tuple[Candidate, ...]]


def make(
    scene: Scene,
    *,
    captions: CaptionSource | FilePath | str | None = None,
    physics: str = "off",
    collision_threshold: float = THRESHOLD_M,
) -> GraphSimulator:
    """Create the backend for the registry.

    Args:
        scene: the scene; Matterport's observations are looked up beside its origin.
        captions: a source of captions, or the file of a caption cache; None takes the best
            available.
        physics: only ``off``: on the graph nothing is touched.
        collision_threshold: ignored.

    Raises:
        SimulatorError: the scene has no viewpoints, the cache is broken, or physics is requested.
        SceneError: a file of observations is broken.
    """
    check_no_physics("the graph simulator", physics, collision_threshold)
    if captions is None or isinstance(captions, (str, FilePath)):
        captions = captions_for(scene, captions)
    return GraphSimulator(scene, captions)


def nearest_viewpoint(scene: Scene, position: Point3) -> tuple[str, float]:
    """Return the viewpoint whose floor is nearest to a floor point, and the distance in metres.

    Args:
        scene: it must have viewpoints.
        position: in metres.
    """
    floors = distances.scene_cached(
        scene, "viewpoint_floors", lambda: np.array([each.ground for each in scene.viewpoints])
    )
    off = np.sqrt(((floors - np.asarray(position)) ** 2).sum(axis=1))
    nearest = int(off.argmin())
    return scene.viewpoints[nearest].id, float(off[nearest])


def region_of(scene: Scene, pose: Pose) -> str | None:
    """Return a pose's region by outlines, else by its viewpoint or the nearest one."""
    import shapely

    def outlined() -> list[tuple[str, int, shapely.Polygon]]:
        shapes = [(each, shapely.Polygon(each.outline)) for each in scene.regions if each.outline]
        return [(each.id, each.floor, shape) for each, shape in shapes]

    x, y, z = pose.position
    spot, floors = shapely.Point(x, z), {floor.id: floor.height for floor in scene.floors}
    for name, floor, outline in distances.scene_cached(scene, "moving_outlines", outlined):
        # A storey is over 2 m high, and a flight of stairs begins on its floor.
        if -_STEP_M < y - floors[floor] < _STOREY_M and shapely.intersects(outline, spot):
            return name
    if not scene.viewpoints:
        return None
    name = pose.viewpoint or nearest_viewpoint(scene, pose.position)[0]
    known = scene.viewpoint_by_id.get(name)
    return None if known is None else known.region


@distances.cached_on_scene
def candidates_of(scene: Scene) -> Ways:
    """Return the neighbours of every viewpoint, without descriptions, by global heading, then id.

    Heading, elevation and distance are between the two positions. Computed once per scene.
    """
    places = scene.viewpoint_by_id
    pairs = {(e.a, e.b) for e in scene.edges} | {(e.b, e.a) for e in scene.edges}
    ways: dict[str, list[Candidate]] = {each: [] for each in places}
    for a, b in pairs:
        if a != b:
            here, there = places[a].position, places[b].position
            ways[a].append(
                Candidate(
                    viewpoint=b,
                    heading=distances.heading_to(here, there),
                    elevation=distances.elevation_to(here, there),
                    distance=distance_3d(here, there),
                    region=places[b].region,
                )
            )
    return {k: tuple(sorted(v, key=lambda c: (c.heading, c.viewpoint))) for k, v in ways.items()}


@dataclass(frozen=True, slots=True)
class AgentState:
    """State of an agent in a simulator.

    Attributes:
        pose: its pose.
        body: its embodiment.
        stopped: whether it has declared arrival.
        contacts: contacts of the last action.
        collision: whether a contact ended its run.
    """

    pose: Pose
    body: Embodiment = DEFAULT_BODY
    stopped: bool = False
    contacts: tuple[Contact, ...] = ()
    collision: bool = False


class GraphSimulator:
    """Simulator on the navigation graph; see the module's docstring.

    Args:
        scene: it must have viewpoints; its graph may be disconnected.
        captions: source of captions; by default :func:`navloom.sim.captions.captions_for`.

    Raises:
        SimulatorError: the scene has no viewpoints.
    """

    capabilities: frozenset[str] = frozenset({"hop", "discrete", "captions", "change", "restore"})

    def __init__(self, scene: Scene, captions: CaptionSource | None = None) -> None:
        self._check(scene)
        self.scene = self._made_of = scene
        self._words = self._own = captions_for(scene) if captions is None else captions
        self._ways = candidates_of(scene)
        self._agents: dict[str, AgentState] = {}
        self._seen: dict[str, tuple[Captions, tuple[Candidate, ...]]] = {}

    def reset(
        self,
        agents: Mapping[str, tuple[Pose, Embodiment]],
        *,
        seed: int = 0,  # noqa: ARG002
    ) -> Mapping[str, Observation]:
        """Put agents on viewpoints and return their observations; see :meth:`Simulator.reset`."""
        if not agents:
            raise SimulatorError("No agent to put in the scene: expected at least one.")
        if not isinstance(agents, Mapping):
            raise SimulatorError(_no_mapping(agents))
        placed: dict[str, AgentState] = {}
        for name, (pose, body) in agents.items():
            placed[name] = self._placed(name, pose, body, placed)
        self._agents = placed
        return self._observations()

    def place(self, agent: str, pose: Pose) -> Observation:
        """Put one agent on another viewpoint, return what it sees; see :meth:`Simulator.place`."""
        self._check_entered("place")
        body = self._agent(agent).body
        self._agents[agent] = self._placed(agent, pose, body, self._agents)
        return self._observations()[agent]

    def step(self, actions: Mapping[str, Action]) -> Mapping[str, Observation]:
        """Execute actions and return every agent's observation; see :meth:`Simulator.step`."""
        self._check_entered("step")
        before = self._agents
        try:
            self._agents = {name: replace(agent, contacts=()) for name, agent in before.items()}
            for name, action in actions.items():
                self._agents[name] = self._after(name, action)
        except BaseException:
            self._agents = before
            raise
        return self._observations()

    def geodesic(
        self,
        start: Pose | str,
        goals: Sequence[Pose | str],
        embodiment: Embodiment,  # noqa: ARG002
    ) -> Path | None:
        """Return the shortest path along edges; ties go to the first goal. Bodies are ignored."""
        if not goals:
            raise SimulatorError("No goal to go to: expected at least one.")
        table = distances.metre_table(self.scene, "3d")
        here, ends = self._viewpoint(start), [self._viewpoint(goal) for goal in goals]
        nearest = min(ends, key=lambda end: table.distance(here, end))
        through = table.path(here, nearest)
        if through is None:
            return None
        points = tuple(self.scene.viewpoint_by_id[each].ground for each in through)
        return Path(points, table.distance(here, nearest), tuple(through))

    def change(self, scene: Scene) -> Mapping[str, Observation]:
        """Replace the scene by a changed copy, whose captions are composed anew.

        See :meth:`navloom.sim.protocol.ChangingSimulator.change`.
        """
        self._check_entered("change")
        self._check(scene)
        for name, agent in self._agents.items():
            if agent.pose.viewpoint not in (None, *scene.viewpoint_by_id):
                raise SimulatorError(
                    f"{scene.uri} has no viewpoint {repr_of(agent.pose.viewpoint)}, on which "
                    f"{repr_of(name)} stands: expected every one that is stood on."
                )
        self._now_in(scene, captions_for(scene))
        self._agents = {
            name: replace(agent, pose=self._staying(agent.pose), contacts=())
            for name, agent in self._agents.items()
        }
        return self._observations()

    def _now_in(self, scene: Scene, words: CaptionSource) -> None:
        """Switch to a scene; subclasses rebuild their data of the scene."""
        self.scene, self._words, self._ways = scene, words, candidates_of(scene)
        self._seen = {}

    def state(self) -> dict[str, Any]:
        """Return agents and scene changes as JSON; see :meth:`RestorableSimulator.state`."""
        self._check_entered("state")
        return state_record(
            self._made_of, self.scene, (_saved(name, agent) for name, agent in self._agents.items())
        )

    def restore(self, state: Mapping[str, Any]) -> Mapping[str, Observation]:
        """Restore a saved state, return observations; see :meth:`RestorableSimulator.restore`."""
        saved, scene = read_state(self._made_of, self.scene, state)
        if scene is not self._made_of and "change" not in self.capabilities:
            raise SimulatorError(
                f"a state of {self._made_of.uri}: the scene was changed, and here it cannot be."
            )
        self._check(scene)
        agents = {each.name: self._restored(scene, each) for each in saved.agents}
        if scene is not self.scene:
            self._now_in(scene, self._own if scene is self._made_of else captions_for(scene))
        self._agents = agents
        return self._observations()

    def _restored(self, scene: Scene, saved: SavedAgent) -> AgentState:
        """Return the agent of a saved state, at a validated pose."""
        pose = Pose(saved.position, saved.heading, saved.elevation, saved.viewpoint)
        self._check_restored(scene, saved.name, pose)
        contacts = tuple(Contact(c.what, c.displacement, c.point) for c in saved.contacts)
        return AgentState(pose, saved.body, saved.stopped, contacts, saved.collision)

    def _check_restored(self, scene: Scene, name: str, pose: Pose) -> None:
        """Raise an error for an impossible pose; on the graph it must be a viewpoint's."""
        where = f"a state of {scene.uri}: {repr_of(name)}"
        if pose.viewpoint is not None and pose.viewpoint not in scene.viewpoint_by_id:
            raise SimulatorError(
                f"{where} stands on {repr_of(pose.viewpoint)}, which is not there."
            )
        if not (0 <= pose.heading < 2 * math.pi and abs(pose.elevation) <= _LIMIT):
            raise SimulatorError(
                f"{where}: expected a heading in [0, 2 pi) and an elevation within a quarter turn."
            )
        if not self._may_be_at(scene, pose):
            raise SimulatorError(
                f"{where} is at {repr_of(pose.position)}: expected the floor of its viewpoint."
            )

    def _may_be_at(self, scene: Scene, pose: Pose) -> bool:
        """Check whether an agent can have reached a pose, on an existing viewpoint or on none."""
        viewpoint = scene.viewpoint_by_id.get(pose.viewpoint or "")
        return viewpoint is not None and pose.position == viewpoint.ground

    def close(self) -> None:
        """Remove all agents."""
        self._agents = {}

    def _check(self, scene: Scene) -> None:
        """Raise an error for a scene without viewpoints."""
        if not scene.viewpoints:
            raise SimulatorError(f"{scene.uri} has no navigation graph: no viewpoint to stand on.")

    def _observations(self) -> dict[str, Observation]:
        seen = {name: self._observe(agent.pose) for name, agent in self._agents.items()}
        for name, agent in self._agents.items():
            if agent.contacts or agent.collision:
                told = replace(seen[name], contacts=agent.contacts, collision=agent.collision)
                seen[name] = told
        return seen

    def _observe(self, pose: Pose) -> Observation:
        viewpoint = pose.viewpoint or ""
        if viewpoint not in self._seen:
            candidates = tuple(
                replace(each, description=self._words.towards(viewpoint, each.viewpoint))
                for each in self._ways[viewpoint]
            )
            self._seen[viewpoint] = self._words.at(viewpoint), candidates
        captions, candidates = self._seen[viewpoint]
        return Observation(pose=pose, candidates=candidates, captions=captions)

    def _check_entered(self, call: str) -> None:
        if not self._agents:
            raise SimulatorError(f"Nobody is in the scene yet: call reset() before {call}().")

    def _agent(self, name: str) -> AgentState:
        if name not in self._agents:
            raise SimulatorError(
                f"There is no agent {repr_of(name)}: the scene holds {', '.join(self._agents)}."
                + did_you_mean(name, self._agents)
            )
        return self._agents[name]

    def _after(self, name: str, action: Action) -> AgentState:
        agent = self._agent(name)
        if agent.stopped:
            return agent
        match action:
            case Hop(viewpoint):
                return replace(agent, pose=self._hop(agent.pose, viewpoint))
            case Turn(radians):
                heading = distances.wrap_angle(agent.pose.heading + _finite(radians, "Turn"))
                return replace(agent, pose=replace(agent.pose, heading=heading))
            case Look(radians):
                elevation = agent.pose.elevation + _finite(radians, "Look")
                elevation = max(-_LIMIT, min(_LIMIT, elevation))
                return replace(agent, pose=replace(agent.pose, elevation=elevation))
            case Stop():
                return replace(agent, stopped=True)
        raise SimulatorError(
            f"The graph simulator has no {type(action).__name__}: expected Hop, Turn, Look or Stop."
        )

    def _hop(self, pose: Pose, viewpoint: str) -> Pose:
        here = pose.viewpoint or ""
        for way in self._ways[here]:
            if way.viewpoint == viewpoint:
                there = self.scene.viewpoint_by_id[viewpoint]
                return Pose(there.ground, way.heading, way.elevation, viewpoint)
        self._known(viewpoint)
        ways = [way.viewpoint for way in self._ways[here]]
        on = f"one of {', '.join(ways[:6])}" if ways else "none, no edge leads on from there"
        more = ", ..." if len(ways) > 6 else ""
        raise SimulatorError(f"No edge leads from {here} to {viewpoint}: expected {on}{more}.")

    def _placed(
        self,
        name: str,  # noqa: ARG002
        pose: Pose,
        body: Embodiment,
        others: Mapping[str, AgentState],  # noqa: ARG002
    ) -> AgentState:
        """Return an agent placed at a pose; on the graph agents do not block each other."""
        return AgentState(self._standing(pose), body)

    def _standing(self, pose: Pose) -> Pose:
        viewpoint = self._viewpoint(pose)
        return Pose(
            position=self.scene.viewpoint_by_id[viewpoint].ground,
            heading=distances.wrap_angle(_finite(pose.heading, "A heading")),
            elevation=max(-_LIMIT, min(_LIMIT, _finite(pose.elevation, "An elevation"))),
            viewpoint=viewpoint,
        )

    def _staying(self, pose: Pose) -> Pose:
        """Return the pose of an agent after the scene has changed."""
        return self._standing(pose)

    def _viewpoint(self, place: Pose | str) -> str:
        if isinstance(place, str):
            return self._known(place)
        if place.viewpoint is not None:
            return self._known(place.viewpoint)
        nearest, metres = nearest_viewpoint(self.scene, place.position)
        if not metres <= STANDING_M:
            raise SimulatorError(
                f"The pose at {repr_of(place.position)} names no viewpoint and is {metres:.2f} m "
                f"from the nearest, {nearest}: an agent of the graph simulator stands on one."
            )
        return nearest

    def _known(self, viewpoint: str) -> str:
        if viewpoint not in self._ways:
            raise SimulatorError(
                f"{self.scene.uri} has no viewpoint {repr_of(viewpoint)} (of {len(self._ways)})."
                + viewpoint_hint(self.scene, viewpoint)
            )
        return viewpoint


def _finite(value: float, what: str) -> float:
    if not math.isfinite(value):
        raise SimulatorError(f"{what} of {value} radians: expected a finite number.")
    return value


def _saved(name: str, agent: AgentState) -> SavedAgent:
    return SavedAgent(
        name=name,
        **asdict(agent.pose),
        body=agent.body,
        stopped=agent.stopped,
        collision=agent.collision,
        contacts=tuple(SavedContact(**asdict(each)) for each in agent.contacts),
    )


def _no_mapping(agents: Any) -> str:
    with suppress(TypeError, ValueError):
        names = [name for name, _ in agents]
        if twice := [name for name in names if names.count(name) > 1]:
            return f"The agent {repr_of(twice[0])} is named twice: expected each name once."
    return f"Agents: expected a mapping from name to (pose, body), found {repr_of(agents)}."
