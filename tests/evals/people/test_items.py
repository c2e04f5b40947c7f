"""What of a source becomes an item, what is known of it, and what raters are shown of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from navloom.cli.main import main
from navloom.errors import UsageError
from navloom.evals.navcraft.export import export_lines
from navloom.evals.navcraft.relay_map import build_relay_task
from navloom.evals.people import rated_items
from navloom.evals.people.people_study import prepare_study
from navloom.evals.people.rating_form import read_form
from navloom.evals.people.study_folder import PeopleStudy, RatedItem
from navloom.evals.run_folder import read_samples
from navloom.scenes.scene_uri import load_scene
from navloom.sim import scene_images
from navloom.tools.navcraft.relay import check_collab_path_efficient

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Relays, walks with reasons and a judging of those."""
    folder, quiet = tmp_path_factory.mktemp("made"), ["--display", "none"]
    relays = ["synth", "collab", "demo:", "--n", "8", "--out", str(folder / "relays"), *quiet]
    assert main(relays) == 0
    walks = ["eval", "scene", "demo:flat", "--n", "6", "--agent", "heuristic", "--cot", *quiet]
    assert main([*walks, "--out", str(folder / "walks")]) == 0
    for kind in ("trace", "failures"):
        judge = ["judge", kind, str(folder / "walks"), "--model", "builtin/heuristic", *quiet]
        assert main([*judge, "--out", str(folder / kind)]) == 0
    return folder


def asked(form: str, out: Path, *sources: Path | str, **more: Any) -> PeopleStudy:
    named = [str(each) for each in sources]
    return prepare_study(read_form(form), named, out, raters=2, **more)


def shown(item: RatedItem) -> str:
    return json.dumps(item.blocks)


def test_the_optimum_is_the_best_relay_from_the_given_starts(made: Path, tmp_path: Path) -> None:
    """Held against every place and type, one by one, by the guards' own check."""
    people = asked("relay", tmp_path / "asked", made / "relays")
    lines = {each["navloom"]["id"]: each for each in export_lines(made / "relays")}
    assert len(people.items) == len(lines) > 5
    for item in list(people.items.values())[:3]:
        line = lines[item.tags["of"]]
        task = build_relay_task(load_scene(item.scene), line)
        helper = line["phase_2"]["Collaborative robot start region"]["robot_2"]
        rates = {}
        for region, things in item.places.items():
            for thing in things:
                for kind in ("Type-A1", "Type-A2"):
                    found = check_collab_path_efficient(task, helper, region, thing, kind)
                    if found.get("efficient"):
                        rates[region, thing, kind.removeprefix("Type-")] = found["r1_rate"]
        best = item.references["optimum"]
        place = best["transfer"]
        assert isinstance(place, dict)
        assert rates[place["region"], place["asset"], best["type"]] == pytest.approx(
            min(rates.values())
        )
        generator = item.references["generator"]
        assert generator["type"] == line["phase_2"]["Collaborative type"].removeprefix("Type-")
        assert generator["transfer"] == {
            "region": line["phase_2"]["Transfer region"],
            "asset": line["navloom"]["transfer_asset"],
        }


def test_a_relay_is_shown_without_its_handoff(made: Path, tmp_path: Path) -> None:
    people = asked("relay", tmp_path / "asked", made / "relays")
    for item in people.items.values():
        (shown_map,) = [each for each in item.blocks if each["block"] == "SceneMap"]
        kinds = [mark["kind"] for mark in shown_map["marks"]]
        assert kinds == ["start_1", "start_2", "object", "end"]
        assert not shown_map.get("routes")
        assert item.tags["of"] not in shown(item)


def test_instructions_stand_beside_their_way(made: Path, tmp_path: Path) -> None:
    people = asked("instruction", tmp_path / "asked", made / "walks")
    lines = {each["id"]: each["result"]["episode"] for each in read_samples(made / "walks")}
    for item in people.items.values():
        episode = lines[item.tags["of"]]
        assert item.blocks[0]["text"] == episode["instruction"]
        assert len(item.blocks[1]["routes"][0]["points"]) == len(episode["path"])
        assert item.tags["maker"] == "model"


def test_writers_are_told_apart_by_lot_and_named_nowhere(made: Path, tmp_path: Path) -> None:
    people = asked("author", tmp_path / "asked", made / "walks", made / "relays")
    said = {
        each.tags["author"]: each.references["truth"]["writer"] for each in people.items.values()
    }
    assert sorted(said) == ["builtin/heuristic", "rules"]
    assert sorted(map(str, said.values())) == ["writer_1", "writer_2"]
    for item in people.items.values():
        assert "builtin" not in shown(item)
        own = item.blocks[0]["text"]
        assert own not in [each["text"] for each in item.blocks[1]["said"]]
    with pytest.raises(UsageError, match="of two writers, and here are 1"):
        asked("author", tmp_path / "one", made / "walks")


def test_questions_of_a_judging_come_from_its_run(made: Path, tmp_path: Path) -> None:
    people = asked("grade", tmp_path / "trace", made / "trace", n=5)
    names = [each.name for each in people.form.questions]
    assert names == ["grounded", "history", "action_follows"]
    judged = {each["id"]: each["result"]["criteria"] for each in read_samples(made / "trace")}
    for item in people.items.values():
        grades = {name: each["grade"] for name, each in judged[item.tags["of"]].items()}
        assert item.references["judge:builtin/heuristic"] == grades
        people.form.check(item.references["judge:builtin/heuristic"], {})
        assert "Random seed" not in shown(item)
    people = asked("grade", tmp_path / "failures", made / "failures")
    (question,) = people.form.questions
    assert "premature_stop" in [each.name for each in question.options]
    for item in people.items.values():
        for answers in item.references.values():
            people.form.check(answers, {})


def test_a_file_of_anybodys_lines(tmp_path: Path) -> None:
    file, notes = tmp_path / "said.jsonl", list[str]()
    path = [each.id for each in load_scene("demo:flat").viewpoints[:3]]
    line = {"scene": "demo:flat", "instruction": "Go on.", "path": path, "author": "me"}
    lines = [line, {**line, "scene": "home:x"}, {"scene": "demo:flat"}, "[]", line, line]
    file.write_text("".join(f"{x if isinstance(x, str) else json.dumps(x)}\n" for x in lines))
    people = asked("instruction", tmp_path / "asked", file, note=notes.append)
    assert len(people.items) == 3
    assert [f"line {n} is left out" in " ".join(notes) for n in (2, 3, 4)] == [True] * 3


def test_the_same_command_goes_on_and_another_is_refused(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["study", "people", "relay", str(made / "relays"), "--out", str(tmp_path / "asked")]
    assert main([*command, "--raters", "2"]) == 0
    first = capsys.readouterr()
    assert first.out.count("#rater=") == 2
    assert main([*command, "--raters", "2"]) == 0
    assert capsys.readouterr().out == first.out
    for more, said in (
        (["--raters", "3"], "its raters was another"),
        (["--raters", "2", "--answers", str(tmp_path / "x")], "cannot read"),
    ):
        assert main([*command, *more]) == 1
        told = capsys.readouterr().err
        assert said in told
        assert len(told.strip().splitlines()) == 1
    wrong = ["study", "people", "relays", str(made / "relays"), "--out", str(tmp_path / "b")]
    assert main(wrong) == 1
    assert "Did you mean 'relay'?" in capsys.readouterr().err
    assert (
        main(["study", "people", "relay", str(made / "walks"), "--out", str(tmp_path / "b")]) == 1
    )
    assert "walks is a run of" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


def test_a_path_of_two_viewpoints_is_seen_from_its_start_and_its_end(monkeypatch) -> None:
    monkeypatch.setattr(scene_images, "render_panorama", lambda *_: np.zeros((8, 8, 3), np.uint8))
    scene = load_scene("demo:flat")
    here, there = scene.edges[0].a, scene.edges[0].b
    notes = [block.note for block in rated_items.view_blocks(scene, [here, there])]
    assert [note.split(":")[0] for note in notes] == [
        "What is seen at the start",
        "What is seen at the end",
    ]
