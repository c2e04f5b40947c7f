"""Simulators by name: the built-in backends, and those of other packages.

A package names its backend in its own pyproject.toml:

    [project.entry-points."navloom.simulators"]
    mine = "my_package.navloom:make"

A backend is a function ``make(scene, **options) -> Simulator``: the scene, which knows what it was
loaded by (``scene.origin``), and options of its own. It is imported when it is first named.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from typing import Any

from navloom.errors import NavloomError, SimulatorError, did_you_mean
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Simulator

GROUP = "navloom.simulators"
BACKENDS: dict[str, str] = {
    "auto": "navloom.sim.auto:make",
    "graph": "navloom.sim.graph:make",
    "embedded": "navloom.sim.embedded:make",
    "panorama": "navloom.sim.panorama:make",
    "habitat": "navloom.sim.habitat:make",
}
"""Name -> ``module:function``."""


def known_simulators() -> tuple[str, ...]:
    """The names that :func:`get_simulator` takes, our own first; nothing is imported."""
    return tuple(dict.fromkeys([*BACKENDS, *sorted(_plugins())]))


def get_simulator(name: str, scene: Scene | str, **options: Any) -> Simulator:
    """Make a simulator.

    Args:
        name: a backend's name; our own win over those of other packages.
        scene: a scene, or its URI, which is then loaded.
        options: the backend's own: see :func:`navloom.sim.graph.make`,
            :func:`navloom.sim.embedded.make`, :func:`navloom.sim.auto.make`.

    Raises:
        SimulatorError: there is no such backend or option, it cannot be imported, or it cannot
            stand in this scene.
        SceneError: the URI names no scene, or the scene is broken.
    """
    make = _maker(name)
    _check_options(name, make, options)
    if isinstance(scene, str):
        from navloom.scenes.uri import load_scene

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


def seeing_simulator(name: str, scene: Scene | str, views: int, **options: Any) -> Simulator:
    """A simulator whose rig gives what so many views need, where its rig can be chosen.

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
        from navloom.sim.embedded.sensors import rig_for_views

        options = {"rig": rig_for_views(views), **options}
    return get_simulator(name, scene, **options)


def simulator_name(name: str, scene: Scene) -> str:
    """The backend that a name means in a scene: ``auto`` is another's.

    Args:
        name: a backend's.
        scene: where it is to be.
    """
    if name != "auto":
        return name
    from navloom.sim.auto import backend_of

    return backend_of(scene)


def _plugins() -> dict[str, EntryPoint]:
    try:
        return {each.name: each for each in entry_points(group=GROUP)}
    except Exception:
        # One package with a broken list of entry points makes importlib give up on all of them.
        return {}


def _maker(name: str) -> Callable[..., Any]:
    if name in BACKENDS:
        module, _, function = BACKENDS[name].partition(":")
        make: Callable[..., Any] = getattr(import_module(module), function)
        return make
    plugin = _plugins().get(name)
    if plugin is None:
        known = known_simulators()
        raise SimulatorError(
            f"'{name}' is not a simulator: expected one of {', '.join(known)}."
            + did_you_mean(name, known)
        )
    try:
        found = plugin.load()
    except Exception as error:
        raise SimulatorError(
            f"The simulator '{name}' ({plugin.value}) cannot be imported: {_line(error)}"
        ) from error
    if not callable(found):
        raise SimulatorError(
            f"The simulator '{name}' ({plugin.value}) is a {type(found).__name__}: expected a "
            "function (scene, **options) -> Simulator."
        )
    return found  # type: ignore[no-any-return]


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
