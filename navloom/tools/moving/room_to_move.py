"""How much room a body has somewhere, by the scene's own geometry."""

from __future__ import annotations

from typing import Any

from navloom.scenes.bodies import DEFAULT_BODY, Embodiment, inner, outer
from navloom.scenes.scene import Scene
from navloom.scenes.terrain import Stand, has_geometry, mover_of
from navloom.sim.graph import floor_of
from navloom.sim.protocol import Pose
from navloom.tools.moving.surroundings import Spot, goals_of

_REACH_M = 1.0


def clearance(scene: Scene, spot: Spot | Pose, body: Embodiment = DEFAULT_BODY) -> dict[str, Any]:
    """How far it is from a place to the nearest obstacle at a body's height.

    Args:
        scene: where.
        spot: a viewpoint's id, a region's (its middle), a point, or a pose.
        body: whose height and climb count.

    Returns:
        ``clearance`` in metres, ``to_pass`` and ``to_turn`` (what the body needs from its middle),
        ``fits``, and where it does not ``nearest``, a place within a metre where it does; where the
        scene has no geometry ``{"clearance": None, "reason": ...}``.

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
    named = place if isinstance(place, str) else place.viewpoint
    at = floor_of(scene.viewpoint_by_id[named]) if named and spot is not place else None
    position = at or (place.position if isinstance(place, Pose) else (0.0, 0.0, 0.0))
    heading = place.heading if isinstance(place, Pose) else 0.0
    mover, stand = mover_of(scene, body), Stand(position, heading)
    fits = mover.fits(stand)
    told: dict[str, Any] = {
        "clearance": round(mover.clearance(position), 3),
        "body": body.name,
        "to_pass": round(inner(body), 3),
        "to_turn": round(outer(body), 3),
        "fits": fits,
    }
    near = None if fits else mover.settled(stand, {}, _REACH_M)
    return told if fits else {**told, "nearest": near and [round(v, 3) for v in near.position]}
