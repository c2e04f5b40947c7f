"""What other packages add, and what is said where the world's package is not installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from typing import Any

import pytest

import navloom.cli.scenes  # noqa: F401  its commands are those of the packages that there are
from navloom import plugins
from navloom.cli.main import main
from navloom.cli.options import CommandApp, add_plugins
from navloom.errors import PromptError, RunError, SceneError, SimulatorError, UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.task_rules import find_violations
from navloom.prompts import prompt_loader as prompt_files
from navloom.prompts.prompt_loader import load_prompt, prompt_names
from navloom.scenes.bodies import has_geometry
from navloom.scenes.scene_uri import homes_mismatch, load_scene
from navloom.sim.caption_composer import ComposedCaptions
from navloom.sim.captions import captions_for
from navloom.sim.registry import get_simulator, resolve_backend
from navloom.sim.scene_images import can_render, render_panorama
from navloom.tools.navcraft.task_paths import (
    SoloTask,
    admissible_triples,
    shortest_path,
    solo_task_answer,
)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """No package but those whose entry points are put into the list."""
    there: list[EntryPoint] = []

    def found(group: str) -> list[EntryPoint]:
        return [each for each in there if each.group == group]

    monkeypatch.setattr(plugins, "entry_points", found)
    plugins.find_plugins.cache_clear()
    yield there
    plugins.find_plugins.cache_clear()


@pytest.mark.usefixtures("install")
def test_without_a_world_one_line_says_what_to_install(capsys: pytest.CaptureFixture[str]) -> None:
    needs = r"needs the package navloom-worlds, .*pip install ./worlds.*navloom\[worlds\]"
    with pytest.raises(SceneError, match=f"'home:' {needs}"):
        load_scene("home:7")
    with pytest.raises(SimulatorError, match=f"The simulator 'embedded' {needs}"):
        get_simulator("embedded", "demo:flat")
    with pytest.raises(SimulatorError, match=f"A picture of a scene {needs}"):
        render_panorama(load_scene("demo:flat"), "0,0")
    assert main(["scenes", "list", "home:7"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    app = CommandApp("Homes.")
    app.command("list")(lambda: None)
    add_plugins(app, "scenes", "drive")
    with pytest.raises(UsageError, match=f"drive` {needs}"):
        app(["drive", "home:7", "--body", "SPOT"], standalone_mode=False)


@pytest.mark.usefixtures("install")
@pytest.mark.parametrize("word", ["synth", "study"])
def test_without_a_world_plans_for_teams_say_what_to_install(word: str) -> None:
    app, name = CommandApp("Teams."), {"synth": "team", "study": "teams"}[word]
    app.command("other")(lambda: None)
    add_plugins(app, word, name)
    with pytest.raises(UsageError, match=f"{name}` needs the package navloom-worlds"):
        app([name, "demo:house", "--robots", "3", "--out", "r"], standalone_mode=False)


@pytest.mark.usefixtures("install")
@pytest.mark.parametrize("words", ["report RUN", "retry RUN", "export RUN --out t.jsonl"])
def test_without_a_world_a_run_of_a_team_says_what_to_install(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"navloom": "0.2.0", "kind": "team", "request": {"spec": "demo:house"}}
    (tmp_path / "run.json").write_text(json.dumps(said))
    (tmp_path / "errors.jsonl").write_text('{"id": "x-00000", "status": "error"}\n')
    assert main(words.replace("RUN", str(tmp_path)).split()) == 1
    err = capsys.readouterr().err
    assert "the kind of run 'team' needs the package navloom-worlds" in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("install")
def test_without_a_world_the_efficiency_library_says_what_to_install() -> None:
    with pytest.raises(UsageError, match="--tools library needs the package navloom-worlds"):
        SynthRequest(kind="collab", spec="demo:", tools="library")


@pytest.mark.usefixtures("install")
def test_without_a_world_a_line_of_a_team_says_what_to_install() -> None:
    scene = load_scene("demo:house")
    start, target, end = next(admissible_triples(scene))
    thing, asset = scene.items_in(target, "object")[0], scene.items_in(end, "asset")[0]
    errand = SoloTask(start, target, thing.prompt_name, end, asset.prompt_name)
    line = {
        **solo_task_answer(errand, shortest_path(scene, errand)),
        "phase_2": None,
        "navloom": {},
    }
    assert find_violations(scene, line) == []
    with pytest.raises(RunError, match="The key 'team' of a line needs the package navloom-worlds"):
        find_violations(scene, {**line, "team": {}})


@pytest.mark.usefixtures("install")
def test_without_a_world_demo_homes_are_graphs() -> None:
    scene = load_scene("demo:flat")
    assert scene.walls
    assert not has_geometry(scene)
    assert not can_render(scene)
    assert resolve_backend("auto", scene) == "graph"
    assert isinstance(captions_for(scene), ComposedCaptions)
    assert homes_mismatch("home:7", "1") is None


def read_names(words: str) -> list[str]:
    """The ids that a spec of the scheme below means."""
    return [words]


def load(folder: Path, scene_id: str) -> Any:
    """One scene of the scheme below."""
    # A copy, for a scene is told by what it was loaded.
    return load_scene(f"demo:{scene_id}").replace(id=scene_id)


def test_a_scheme_of_another_package(install: list[EntryPoint]) -> None:
    with pytest.raises(SceneError, match="'mine' is not a scene format"):
        load_scene("mine:flat")
    install.append(EntryPoint("mine", __name__, "navloom.scene_formats"))
    plugins.find_plugins.cache_clear()
    assert load_scene("mine:flat").viewpoints == load_scene("demo:flat").viewpoints


def test_prompts_of_another_package(
    install: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lent_prompts").mkdir()
    (tmp_path / "lent_prompts" / "__init__.py").touch()
    keys = "version: 1\ndescription: To be lent.\nvariables: []\nsystem: You greet.\nhuman: Hi.\n"
    (tmp_path / "lent_prompts" / "lent.yaml").write_text(f"name: lent\n{keys}")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PromptError, match="no prompt 'lent'"):
        load_prompt("lent")
    install.append(EntryPoint("mine", "lent_prompts", "navloom.prompts"))
    plugins.find_plugins.cache_clear()
    prompt_files._lent.cache_clear()
    assert load_prompt("lent").render().human == "Hi."
    assert {"lent", "navigator"} <= set(prompt_names())
    prompt_files._lent.cache_clear()


def test_a_broken_entry_point_is_one_line(install: list[EntryPoint]) -> None:
    install.append(EntryPoint("home", "no.such.module", "navloom.scene_formats"))
    with pytest.raises(SceneError, match=r"'home:' \(no.such.module\) cannot be imported: Module"):
        load_scene("home:7")


def test_a_broken_list_takes_no_other_package_away(
    install: list[EntryPoint], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Broken(Distribution):
        def read_text(self, filename: str) -> str | None:
            raise ValueError(filename)

        def locate_file(self, path: Any) -> Any:
            return tmp_path

    def broken(group: str) -> list[EntryPoint]:
        raise ValueError(group)

    made = tmp_path / "mine-1.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (made / "entry_points.txt").write_text(f"[navloom.scene_formats]\nmine = {__name__}\n")
    monkeypatch.setattr(plugins, "entry_points", broken)
    good = Distribution.at(made)
    monkeypatch.setattr(plugins, "distributions", lambda: [Broken(), good])
    assert list(plugins.find_plugins("navloom.scene_formats")) == ["mine"]
