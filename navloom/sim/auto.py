"""The ``auto`` backend: the one that a scene can have, ``embedded`` where there is geometry.

Where a scene has none, where embreex has no wheel for this machine, or where no package has a
renderer, it is ``graph``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from navloom.errors import SimulatorError
from navloom.plugins import plugin, plugins
from navloom.scenes.scene import Scene
from navloom.scenes.terrain import has_geometry
from navloom.sim.physics import THRESHOLD_M
from navloom.sim.protocol import CaptionSource, Simulator
from navloom.sim.viewer import check_rig

BACKENDS = "navloom.simulators"


def backend_of(scene: Scene) -> str:
    """Which backend ``auto`` is in a scene: ``embedded`` or ``graph``."""
    if find_spec("embreex") is None or "embedded" not in plugins(BACKENDS):
        return "graph"
    return "embedded" if scene.viewpoints and has_geometry(scene) else "graph"


def make(
    scene: Scene,
    *,
    captions: CaptionSource | Path | str | None = None,
    rig: str | None = None,
    light: str = "baked",
    physics: str = "off",
    collision_threshold: float = THRESHOLD_M,
) -> Simulator:
    """The backend as the registry makes it.

    Args:
        scene: any scene with viewpoints.
        captions: a source of captions, or the file of a caption cache; None takes what there is.
        rig: which pictures are taken where there are any; None is the backend's own.
        light: in pictures, as :func:`navloom_worlds.rendering.make` has it.
        physics: what a touch comes to, as there; anything but ``off`` needs geometry.
        collision_threshold: as there.

    Raises:
        SimulatorError: the scene has no viewpoints, there is no such rig or physics, the scene has
            no geometry for it, or the cache is broken.
        SceneError: a file of observations is broken.
    """
    if rig is not None:
        # A wrong name is wrong wherever it is said.
        check_rig(rig)
    if backend_of(scene) == "graph":
        from navloom.sim import graph

        return graph.make(
            scene, captions=captions, physics=physics, collision_threshold=collision_threshold
        )
    embedded = plugin(BACKENDS, "embedded", "The simulator 'embedded'", SimulatorError)
    made: Simulator = embedded(
        scene,
        captions=captions,
        rig=rig or "vln-mme",
        light=light,
        physics=physics,
        collision_threshold=collision_threshold,
    )
    return made
