"""Simulators by name, ours and other packages'."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from navloom import plugins
from navloom.errors import SceneError, SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.scene import Scene
from navloom.sim import get_simulator, registry
from navloom.sim.graph import GraphSimulator


def test_by_name_with_a_scene_or_a_uri() -> None:
    made = get_simulator("graph", "demo:flat")
    assert isinstance(made, GraphSimulator)
    assert made.scene.uri == "demo:flat"
    scene = load_scene("demo:flat")
    assert get_simulator("graph", scene).scene is scene


def test_an_unknown_name_is_named() -> None:
    with pytest.raises(SimulatorError, match=r"'grahp' is not a simulator.*Did you mean 'graph'"):
        get_simulator("grahp", "demo:flat")
    with pytest.raises(SceneError):
        get_simulator("graph", "demo:nowhere")


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(SimulatorError, match=r"no option 'caption'.*Did you mean 'captions'"):
        get_simulator("graph", "demo:flat", caption=None)


def mine(scene: Scene, **options: Any) -> GraphSimulator:
    if options.get("broken"):
        raise ValueError("no such\nengine")
    return options.get("instead") or GraphSimulator(scene)


def plug(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    entry = EntryPoint("mine", value, registry.GROUP)
    known = plugins.find_plugins(registry.GROUP)

    def found(group: str) -> Mapping[str, EntryPoint]:
        return {**known, "mine": entry} if group == registry.GROUP else plugins_of(group)

    plugins_of = plugins.find_plugins
    monkeypatch.setattr(registry, "find_plugins", found)
    monkeypatch.setattr(plugins, "find_plugins", found)


def test_a_backend_of_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    plug(monkeypatch, f"{__name__}:mine")
    assert registry.known_simulators() == (*registry.BACKENDS, "mine")
    assert get_simulator("mine", "demo:flat").scene.id == "flat"
    with pytest.raises(SimulatorError, match="cannot be made for demo:flat: ValueError: no such"):
        get_simulator("mine", "demo:flat", broken=True)
    with pytest.raises(SimulatorError, match="gave a str: expected a Simulator"):
        get_simulator("mine", "demo:flat", instead="text")


@pytest.mark.parametrize("value", [f"{__name__}:nothing", f"{__name__}:__doc__", "no.such.place:x"])
def test_a_broken_package_is_one_line(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    plug(monkeypatch, value)
    with pytest.raises(SimulatorError, match="The simulator 'mine'"):
        get_simulator("mine", "demo:flat")
    assert get_simulator("graph", "demo:flat")
