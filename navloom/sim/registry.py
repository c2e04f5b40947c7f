"""Registry of simulators: the built-in backends, and those of other packages.

A package registers its backend in its own pyproject.toml:

    [project.entry-points."navloom.simulators"]
    mine = "my_package.navloom:make"

A backend is a function ``make(scene, **options) -> Simulator``. It gets the scene, whose
``scene.origin`` is the URI it was loaded by, and options of its own. It is imported on first use.

``auto`` selects ``embedded`` if a scene has geometry. It selects ``graph`` if the scene has none,
if embreex has no wheel for this machine, or if no package has a renderer.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError, SimulatorError, did_you_mean, one_of
from navloom.plugins import find_plugins, load_plugin
from navloom.scenes.bodies import has_geometry
from navloom.scenes.scene import Scene
from navloom.sim.protocol import THRESHOLD_M, CaptionSource, Simulator
from navloom.sim.scene_images import check_rig

GROUP = "navloom.simulators"
BACKENDS: dict[str, str | None] = {
    "auto": "navloom.sim.registry:make_auto",
    "graph": "navloom.sim.graph:make",
    "embedded": None,
    "panorama": "navloom.sim.panorama:make",
    "habitat": None,
}
"""Name -> ``module:function``; None if ``navloom-worlds`` provides it."""


def known_simulators() -> tuple[str, ...]:
    """Return the names that :func:`get_simulator` accepts, built-in ones first, without imports."""
    return tuple(dict.fromkeys([*BACKENDS, *find_plugins(GROUP)]))


def get_simulator(name: str, scene: Scene | str, **options: Any) -> Simulator:
    """Create a simulator.

    Args:
        name: a backend's name; built-in ones take precedence over those of other packages.
        scene: a scene, or its URI, which is then loaded.
        options: the backend's own: see :func:`navloom.sim.graph.make`,
            :func:`make_auto`, and the page of the backend.

    Raises:
        SimulatorError: there is no such backend or option, it cannot be imported, or it does not
            support this scene.
        SceneError: the URI names no scene, or the scene is broken.
    """
    make = _maker(name)
    _check_options(name, make, options)
    if isinstance(scene, str):
        from navloom.scenes.scene_uri import load_scene

        scene = load_scene(scene)
    try:
        made = make(scene, **options)
    except NavloomError:
        raise
    except Exception as error:
        raise SimulatorError(
            f"The simulator '{name}' cannot be made for {scene.origin}: {_line(error)}"
        ) from error
    if not isinstance(made, Simulator):
        raise SimulatorError(
            f"The simulator '{name}' gave a {type(made).__name__}: expected a Simulator."
        )
    return made


def simulator_for_views(name: str, scene: Scene | str, views: int, **options: Any) -> Simulator:
    """Create a simulator with the rig that a number of views needs, if its rig can be chosen.

    Args:
        name: a backend's name.
        scene: a scene, or its URI.
        views: one of :data:`navloom.sim.views.FORMS`.
        options: the backend's own.

    Raises:
        SimulatorError: as :func:`get_simulator`.
        SceneError: as there.
    """
    if name in ("auto", "embedded", "habitat"):
        from navloom.sim.scene_images import rig_for_views

        options = {"rig": rig_for_views(views), **options}
    return get_simulator(name, scene, **options)


def resolve_backend(name: str, scene: Scene) -> str:
    """Return the backend that a name selects for a scene: ``auto`` is resolved.

    Args:
        name: a backend's.
        scene: the scene.
    """
    if name != "auto":
        return name
    return auto_backend(scene)


def _maker(name: str) -> Callable[..., Any]:
    if ours := BACKENDS.get(name):
        module, _, function = ours.partition(":")
        make: Callable[..., Any] = getattr(import_module(module), function)
        return make
    entry = find_plugins(GROUP).get(name)
    if entry is None and name not in BACKENDS:
        known = known_simulators()
        raise SimulatorError(f"'{name}' is not a simulator: {one_of(name, known)}")
    found = load_plugin(GROUP, name, f"The simulator '{name}'", SimulatorError)
    if not callable(found):
        raise SimulatorError(
            f"The simulator '{name}' ({entry and entry.value}) is a {type(found).__name__}:"
            " expected a function (scene, **options) -> Simulator."
        )
    return found  # type: ignore[no-any-return]


def backend_module(name: str) -> Any:
    """Return the module of a backend, which may define more than its ``make`` function.

    Raises:
        SimulatorError: as :func:`get_simulator`.
    """
    return import_module(_maker(name).__module__)


def _check_options(name: str, make: Callable[..., Any], options: dict[str, Any]) -> None:
    try:
        parameters = signature(make).parameters
    except (TypeError, ValueError):
        return
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values()):
        return
    known = [each for each in parameters if each != "scene"]
    for option in options:
        if option not in known:
            raise SimulatorError(
                f"The simulator '{name}' has no option '{option}': expected "
                f"{', '.join(known) or 'none'}.{did_you_mean(option, known)}"
            )


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def auto_backend(scene: Scene) -> str:
    """Return the backend that ``auto`` selects for a scene: ``embedded`` or ``graph``."""
    if find_spec("embreex") is None or "embedded" not in find_plugins(GROUP):
        return "graph"
    return "embedded" if scene.viewpoints and has_geometry(scene) else "graph"


def make_auto(
    scene: Scene,
    *,
    captions: CaptionSource | Path | str | None = None,
    rig: str | None = None,
    light: str = "baked",
    physics: str = "off",
    collision_threshold: float = THRESHOLD_M,
) -> Simulator:
    """Create the simulator that ``auto`` selects for a scene.

    Args:
        scene: any scene with viewpoints.
        captions: a source of captions, or the file of a caption cache; None takes the best
            available.
        rig: camera rig, if there are images; None is the backend's own.
        light: of images, as for :func:`navloom_worlds.rendering.make`.
        physics: consequences of contacts, as there; anything but ``off`` needs geometry.
        collision_threshold: as there.

    Raises:
        SimulatorError: the scene has no viewpoints, there is no such rig or physics, the scene has
            no geometry for it, or the cache is broken.
        SceneError: a file of observations is broken.
    """
    if rig is not None:
        # A wrong name is refused even if the backend would not use it.
        check_rig(rig)
    if auto_backend(scene) == "graph":
        from navloom.sim import graph

        return graph.make(
            scene, captions=captions, physics=physics, collision_threshold=collision_threshold
        )
    embedded = load_plugin(GROUP, "embedded", "The simulator 'embedded'", SimulatorError)
    made: Simulator = embedded(
        scene,
        captions=captions,
        rig=rig or "vln-mme",
        light=light,
        physics=physics,
        collision_threshold=collision_threshold,
    )
    return made
