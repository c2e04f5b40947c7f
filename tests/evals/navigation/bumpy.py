"""Test simulator with bodies and no geometry, whose hops have known contacts."""

from __future__ import annotations

from dataclasses import replace

from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Scene
from navloom.sim.graph import AgentState, GraphSimulator
from navloom.sim.protocol import Action, Contact, Hop, Observation, Pose

BESIDE_M, GRAZED_M, STRUCK_M = 0.2, 0.05, 0.3


def make(scene: Scene, *, physics: str = "off", collision_threshold: float = 0.1) -> BumpySimulator:
    """Make a simulator as the registry does."""
    return BumpySimulator(scene, physics, collision_threshold)


class BumpySimulator(GraphSimulator):
    """Simulator whose hops end beside their viewpoints; some graze a wall and some are blocked."""

    capabilities = GraphSimulator.capabilities | {"collide"}

    def __init__(self, scene: Scene, physics: str, threshold: float) -> None:
        super().__init__(scene)
        self.physics, self.threshold = physics, threshold

    def _may_be_at(self, scene: Scene, pose: Pose) -> bool:
        del scene, pose
        return True

    def _observe(self, pose: Pose) -> Observation:
        return super()._observe(pose) if pose.viewpoint else Observation(pose)

    def _after(self, name: str, action: Action) -> AgentState:
        agent, after = self._agent(name), super()._after(name, action)
        if not isinstance(action, Hop) or self.physics == "off" or agent.collision:
            return replace(after, contacts=()) if not agent.collision else agent
        kind = hop_kind(self.scene, agent.pose.viewpoint or "", action.viewpoint)
        touched = Contact("wall", GRAZED_M if kind == "grazed" else STRUCK_M, agent.pose.position)
        if kind == "free":
            return replace(after, pose=beside(after.pose), contacts=())
        if kind == "grazed":
            return replace(after, pose=beside(after.pose), contacts=(touched,))
        if self.physics == "strict" and touched.displacement >= self.threshold:
            half = halfway(agent.pose, after.pose)
            return replace(agent, pose=half, contacts=(touched,), collision=True)
        return replace(agent, contacts=(touched,))


def hop_kind(scene: Scene, a: str, b: str) -> str:
    """Return the kind of a hop: ``free``, ``grazed`` or ``shut``."""
    number = sum(scene.viewpoint_by_id[each].position[0] for each in (a, b))
    turn = int(abs(number) * 100) % 5
    return ("shut", "free", "grazed", "free", "grazed")[turn]


def beside(pose: Pose) -> Pose:
    """Return a pose moved beside its viewpoint."""
    x, y, z = pose.position
    return replace(pose, position=(x + BESIDE_M, y, z))


def halfway(before: Pose, after: Pose) -> Pose:
    """Return the pose between two others, on no viewpoint."""
    middle = tuple((a + b) / 2 for a, b in zip(before.position, after.position, strict=True))
    x, y, z = middle
    return replace(after, position=(x, y, z), viewpoint=None)


def body_graph(scene: Scene, body: Embodiment) -> Scene:
    """Return the scene with only the edges whose hops are free of contacts."""
    del body
    free = tuple(e for e in scene.edges if {hop_kind(scene, e.a, e.b)} == {"free"})
    joined = {place for edge in free for place in (edge.a, edge.b)}
    viewpoints = tuple(each for each in scene.viewpoints if each.id in joined)
    return scene.replace(viewpoints=viewpoints, edges=free)
