"""``navloom scenes``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from navloom.cli.main import main
from navloom.scenes.lexicon import scene_prompt
from navloom.scenes.scene_uri import load_scene
from tests.cli.small import small_file, small_scene


def test_list_counts_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_file(tmp_path, "one")
    small_file(tmp_path, "two")
    assert main(["scenes", "list", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["scene"] for row in rows] == ["made:one", "made:two"]
    assert rows[0] == {
        "scene": "made:one",
        "floors": 1,
        "regions": 3,
        "links": 1,
        "objects": 1,
        "assets": 2,
        "viewpoints": 2,
        "edges": 1,
        "components": 2,
    }
    assert main(["scenes", "list", str(tmp_path)]) == 0
    assert "made:two" in capsys.readouterr().out


def test_a_broken_home_is_said_and_the_others_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_file(tmp_path, "good")
    (tmp_path / "bad.json").write_text('{"version": "navloom.scene/1"}')
    assert main(["scenes", "list", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "made:good" in out
    assert "bad.json" in err
    assert err.count("\n") == 1


def test_show_and_prompt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uri = small_file(tmp_path)
    assert main(["scenes", "show", uri]) == 0
    out = capsys.readouterr().out
    assert "Kitchen_0" in out
    assert "tea_cup" in out
    assert "note: made up" in out
    assert main(["scenes", "show", uri, "--prompt"]) == 0
    assert json.loads(capsys.readouterr().out) == scene_prompt(small_scene())
    assert main(["scenes", "show", uri, "--json"]) == 0
    rooms = json.loads(capsys.readouterr().out)["rooms"]
    assert rooms[0]["leads_to"] == ["Hallway_1"]


def test_rooms_keep_to_eighty_columns_where_nobody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns, most in ((None, 80), ("100", 100)):
        monkeypatch.delenv("COLUMNS", raising=False)
        if columns:
            monkeypatch.setenv("COLUMNS", columns)
        assert main(["scenes", "show", "demo:villa"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert most - 15 < max(map(len, lines)) <= most
        assert any("sofa" in line for line in lines)


def test_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uri, plan = small_file(tmp_path), tmp_path / "plan.png"
    assert main(["scenes", "show", uri, "--out", str(plan)]) == 0
    assert plan.read_bytes().startswith(b"\x89PNG")
    for bad, said in (("plan.docx", "cannot draw to "), ("small.json/plan.png", "lies in one")):
        capsys.readouterr()
        assert main(["scenes", "show", uri, "--out", str(tmp_path / bad)]) == 1
        assert said in capsys.readouterr().err


def test_many_homes_are_exported_to_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "homes"
    assert main(["scenes", "export", "home:3-4?rooms=6&floors=1", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "3.rooms-6.floors-1.json",
        "4.rooms-6.floors-1.json",
    ]
    assert load_scene(f"{out}/3.rooms-6.floors-1.json") == load_scene("home:3.rooms-6.floors-1")
    assert main(["scenes", "export", "home:3-4", "--out", str(tmp_path / "x.json")]) == 1


def test_export_round_trips(tmp_path: Path) -> None:
    uri, out = small_file(tmp_path), tmp_path / "out.json"
    assert main(["scenes", "export", uri, "--out", str(out)]) == 0
    assert load_scene(str(out)) == small_scene()


def test_annotate_places_viewpoints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uri, out = small_file(tmp_path), tmp_path / "out.json"
    assert main(["scenes", "annotate", uri, "--out", str(out)]) == 0
    assert "2 viewpoints placed" in capsys.readouterr().err
    assert {v.id for v in load_scene(str(out)).viewpoints} == {"a", "b"}


def test_annotate_types_unknown_rooms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from navloom.scenes.formats.scene_json import save
    from navloom.scenes.region_annotation import relabel_regions

    scene = relabel_regions(small_scene(), {"Kitchen_0": "Unknown"})
    uri, out = str(save(scene, tmp_path / "in.json")), tmp_path / "out.json"
    assert main(["scenes", "annotate", uri, "--out", str(out)]) == 0
    assert "1 of 1 unknown rooms typed" in capsys.readouterr().err
    assert not any(r.label == "Unknown" for r in load_scene(str(out)).regions)


def test_annotate_needs_to_know_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_file(tmp_path, "one")
    small_file(tmp_path, "two")
    assert main(["scenes", "annotate", str(tmp_path)]) == 1
    assert "--out" in capsys.readouterr().err
    assert main(["scenes", "annotate", str(tmp_path), "--out", str(tmp_path / "x.json")]) == 1
    assert "give --out a folder" in capsys.readouterr().err
    folder = tmp_path / "done"
    assert main(["scenes", "annotate", str(tmp_path), "--out", str(folder)]) == 0
    assert sorted(p.name for p in folder.iterdir()) == ["one.json", "two.json"]


def test_annotate_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenes", "annotate", small_file(tmp_path), "--evaluate", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["scene"] == "made:small"


def test_import_of_folders_that_are_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--rooms", str(tmp_path / "r"), "--objects", str(tmp_path), "--out", str(tmp_path)]
    assert main(["scenes", "import", "hm3d", *words]) == 1
    assert capsys.readouterr().err.startswith("navloom: ")


@pytest.mark.slow
def test_compare_prints_every_figure_and_draws_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "both.png"
    asked = ["scenes", "compare", "demo:", "demo:villa", "--tasks", "2"]
    assert main([*asked, "--figure", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "rooms a home" in out
    assert "does not" in out
    assert "WHEELCHAIR" in out
    assert picture.stat().st_size > 10_000
    assert main([*asked, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["homes"] == [3, 1]
    assert {each["figure"] for each in said["figures"]} >= {"cycles a home", "mix of room types"}


def test_compare_skips_a_broken_home_and_refuses_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_file(tmp_path, "good")
    (tmp_path / "bad.json").write_text('{"version": "navloom.scene/1"}')
    assert main(["scenes", "compare", str(tmp_path), str(tmp_path)]) == 1
    assert "bad.json" in capsys.readouterr().err
    (tmp_path / "good.json").unlink()
    assert main(["scenes", "compare", str(tmp_path), "demo:"]) == 1
    assert "none of its homes" in capsys.readouterr().err


def test_sheet_draws_many_homes_or_one_floor_by_floor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "all.png"
    assert main(["scenes", "sheet", "demo:", "--out", str(out)]) == 0
    assert Image.open(out).size == (1560, 440)
    assert main(["scenes", "sheet", "demo:villa", "--out", str(out), "--no-labels"]) == 0
    assert Image.open(out).size[0] > 1000
    small_file(tmp_path / "homes", "good")
    (tmp_path / "homes" / "bad.json").write_text("{}")
    assert main(["scenes", "sheet", str(tmp_path / "homes"), "--out", str(out)]) == 1
    assert "bad.json" in capsys.readouterr().err


@pytest.mark.slow
def test_homes_are_exported_for_other_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    homes = tmp_path / "homes"
    small_file(homes, "bare")
    assert main(["scenes", "export", "demo:flat", "--out", str(homes / "flat.json")]) == 0
    for form, made in (
        ("habitat", "x.scene_dataset_config.json"),
        ("hm3d", "00000-demo-flat/demo-flat.semantic.txt"),
    ):
        out = tmp_path / form / "x"
        capsys.readouterr()
        assert main(["scenes", "export", str(homes), "--format", form, "--out", str(out)]) == 1
        said = capsys.readouterr().err
        assert "bare.json: " in said
        assert "has no triangles, it is a graph alone" in said
        assert f"wrote 1 home to {out}" in said
        assert (out / made).is_file()


@pytest.mark.slow
def test_a_home_is_exported_as_a_mesh_that_opens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mesh = tmp_path / "flat.glb"
    assert main(["scenes", "export", "demo:flat", "--format", "glb", "--out", str(mesh)]) == 0
    capsys.readouterr()
    assert main(["scenes", "show", str(mesh)]) == 0
    assert "mesh:flat.glb · 1 floor" in capsys.readouterr().out
