"""How much room a body has somewhere, by the scene's own geometry."""

from __future__ import annotations

from typing import Any

from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.geometry import has_geometry
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Pose
from navloom.tools.moving.surroundings import Spot, goals_of


def clearance(scene: Scene, spot: Spot | Pose, body: Embodiment = DEFAULT_BODY) -> dict[str, Any]:
    """How far it is from a place to the nearest obstacle at a body's height.

    Args:
        scene: where.
        spot: a viewpoint's id, a region's (its middle), a point, or a pose.
        body: whose height and climb count.

    Returns:
        ``clearance`` in metres, ``needed`` (half the body's width), ``fits``; where the scene has
        no geometry ``{"clearance": None, "reason": ...}``.

    Raises:
        SimulatorError: a place that is not there.
    """
    place = spot if isinstance(spot, Pose) else goals_of(scene, spot)[0]
    if not has_geometry(scene):
        why = (
            f"{scene.uri} is a graph without geometry: nobody knows how much room there is. Use a"
            " home, or a scene with walls or a mesh."
        )
        return {"clearance": None, "body": body.name, "reason": why}
    why = f"how much room {body.name} has at {place} is not measured yet"
    return {"clearance": None, "body": body.name, "reason": why}
