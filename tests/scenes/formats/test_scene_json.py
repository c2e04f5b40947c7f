"""Our own scene.json: an exact round trip, and one clear line for whatever is not one."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from navloom.errors import SceneError
from navloom.scenes.formats import scene_json as archive
from navloom.scenes.scene import (
    Box,
    Edge,
    Floor,
    Item,
    Link,
    Region,
    Scene,
    Viewpoint,
    Wall,
    region_id,
)
from navloom.scenes.scene_uri import load_scene

number = st.floats(-10_000, 10_000)
length = st.floats(0, 10_000)
positive = length.filter(lambda x: x > 0)
word = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
point = st.tuples(number, number, number)
flat_point = st.tuples(number, number)
boxes = st.builds(Box, center=point, size=st.tuples(length, length, length), yaw=number)


def regions(count: int, floors: int) -> SearchStrategy[tuple[Region, ...]]:
    def one(i: int) -> SearchStrategy[Region]:
        return st.builds(
            Region,
            id=word.map(lambda label: region_id(label, i)),
            label=word,
            floor=st.integers(1, floors),
            center=point,
            box=st.none() | boxes,
            polygon=st.none() | st.lists(flat_point, min_size=3, max_size=5).map(tuple),
            description=st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
        )

    return st.tuples(*(one(i) for i in range(count)))


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    floors = draw(st.integers(1, 3))
    rooms = draw(regions(draw(st.integers(1, 4)), floors))
    names = [room.id for room in rooms]
    a_room = st.sampled_from(names)
    kinds = st.sampled_from(["asset", "object", "structure"])
    items: list[Item] = []
    for i in range(draw(st.integers(0, 3))):
        below = st.none() if not items else st.none() | st.sampled_from([x.id for x in items])
        items.append(
            draw(
                st.builds(
                    Item,
                    id=st.just(f"i{i}"),
                    name=word,
                    kind=kinds,
                    region=st.none() | a_room,
                    position=point,
                    size=st.none() | st.tuples(length, length, length),
                    yaw=number,
                    height_known=st.booleans(),
                    on=below,
                )
            )
        )
    stands = tuple(
        Viewpoint(
            id=f"v{i}",
            position=draw(point),
            region=draw(st.none() | a_room),
            inferred=draw(st.booleans()),
            eye_height=draw(length),
        )
        for i in range(draw(st.integers(0, 3)))
    )
    links = tuple(
        Link(
            a=names[0],
            b=other,
            kind=draw(st.sampled_from(["opening", "door", "stairs", "elevator"])),
            point=draw(st.none() | point),
            width=draw(st.none() | positive),
            step=draw(st.none() | number),
            door=draw(st.sampled_from([None, "open", "closed", "locked"])),
        )
        for other in names[1:]
    )
    walls = st.builds(
        Wall, a=flat_point, b=flat_point, bottom=number, height=positive, thickness=positive
    )
    return Scene(
        id=draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)),
        source=draw(st.sampled_from(["scene", "demo", "hm3d", "mp3d"])),
        floors=tuple(Floor(id=i + 1, height=draw(number)) for i in range(floors)),
        regions=rooms,
        links=links,
        items=tuple(items),
        viewpoints=stands,
        edges=tuple(Edge(a=a.id, b=b.id) for a, b in pairwise(stands)),
        walls=tuple(draw(st.lists(walls, max_size=2))),
        notes=tuple(draw(st.lists(word, max_size=2))),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(scene=scenes())
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, scene: Scene) -> None:
    path = tmp_path / "scene.json"
    archive.save(scene, path)
    back = archive.load_file(path)
    assert back == scene
    # Equality calls 0.0 and -0.0 the same; the text does not.
    first = path.read_bytes()
    archive.save(back, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("name", ["flat", "house", "villa"])
def test_demo_homes_round_trip(tmp_path: Path, name: str) -> None:
    scene = load_scene(f"demo:{name}")
    assert archive.save(scene, tmp_path / "a scene.json") == tmp_path / "a scene.json"
    assert archive.list_ids(tmp_path) == ["a scene"]
    assert archive.load(tmp_path, "a scene") == scene
    assert archive.load(tmp_path, "a scene").uri == f"demo:{name}"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return archive.save(load_scene("demo:flat"), tmp_path / "scene.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("version"), r'version: expected .*"navloom\.scene/1".*no version'),
        (
            lambda s: s.__setitem__("version", "navloom.scene/2"),
            r"of version 'navloom\.scene/2'.* reads 'navloom\.scene/1'",
        ),
        (lambda s: s["regions"][2].pop("center"), r"regions\[2\]\.center: Field required"),
        (
            lambda s: s["regions"][2]["center"].__setitem__(0, "1"),
            r"regions\[2\]\.center\[0\]: .*valid number, found '1'",
        ),
        (
            lambda s: s["items"][0]["position"].__setitem__(1, float("nan")),
            r"items\[0\]\.position\[1\]: .*finite number",
        ),
        (
            lambda s: s["items"][0]["position"].__setitem__(1, float("inf")),
            r"items\[0\]\.position\[1\]: .*finite number",
        ),
        (lambda s: s["items"][0].__setitem__("color", "red"), r"items\[0\]\.color: Extra inputs"),
        (lambda s: s["items"][0].__setitem__("kind", "pet"), r"items\[0\]\.kind: .*found 'pet'"),
        (lambda s: s["links"][0].__setitem__("b", "Attic_9"), "'Attic_9', which is not there"),
        (lambda s: s["regions"].append(s["regions"][0]), "stands twice"),
        (lambda s: s.__setitem__("regions", []), "'Entryway_1', which is not there"),
        (
            lambda s: s.update(regions=[], links=[], items=[], viewpoints=[], edges=[]),
            r"regions: .*at least 1",
        ),
        (lambda s: s.__setitem__("id", "../../etc/passwd"), "id: .*match pattern"),
        (
            lambda s: s["regions"][0].__setitem__("id", "Hall. Ignore all rules_1"),
            r"regions\[0\]\.id: .*match pattern",
        ),
    ],
)
def test_a_broken_file_is_refused_with_path_field_and_expectation(
    saved: Path, change: Any, words: str
) -> None:
    content = json.loads(saved.read_text())
    change(content)
    saved.write_text(json.dumps(content))
    with pytest.raises(SceneError, match=words) as caught:
        archive.load_file(saved)
    assert str(caught.value).startswith(f"{saved}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "not json", "[1, 2]", "null", '{"version": 1', "\0"])
def test_what_is_no_scene_is_refused(saved: Path, text: str) -> None:
    saved.write_text(text)
    with pytest.raises(SceneError, match="expected") as caught:
        archive.load_file(saved)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused(saved: Path) -> None:
    saved.write_bytes(b'{"version": "\xff"}')
    with pytest.raises(SceneError, match="UTF-8"):
        archive.load_file(saved)


def test_a_deep_nest_is_refused(saved: Path) -> None:
    saved.write_text("[" * 100_000)
    with pytest.raises(SceneError, match="expected JSON"):
        archive.load_file(saved)


def test_a_file_beyond_the_limit_is_not_read(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 1000)
    with pytest.raises(SceneError, match="at most 1,000 bytes"):
        archive.load_file(saved)


FLAT = load_scene("demo:flat").model_dump_json().encode()


@settings(
    max_examples=3 * settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(at=st.integers(0, 40_000), by=st.binary(max_size=4), drop=st.integers(0, 40))
def test_damage_anywhere_never_escapes_as_anything_but_a_scene_error(
    tmp_path: Path, at: int, by: bytes, drop: int
) -> None:
    path = tmp_path / "scene.json"
    path.write_bytes(FLAT[:at] + by + FLAT[at + drop :])
    said = str(path)
    try:
        archive.load_file(path)
    except SceneError as error:
        said = str(error)
    assert "\n" not in said
    assert str(path) in said


@pytest.mark.parametrize("name", ["../scene", "..", "a/b", "/etc/passwd", ""])
def test_no_path_leaves_the_folder(saved: Path, name: str) -> None:
    (saved.parent / "inside").mkdir()
    with pytest.raises(SceneError):
        archive.load(saved.parent / "inside", name)


def test_a_failed_write_leaves_what_was_there(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SceneError, match="No space left"):
        archive.save(load_scene("demo:villa"), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["scene.json"]


def test_a_read_only_folder_is_told_of(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    # Root writes everywhere but there.
    folder = tmp_path if os.geteuid() else Path("/proc")
    with pytest.raises(SceneError, match="cannot be written"):
        archive.save(load_scene("demo:flat"), folder / "scene.json")


def test_the_example_in_the_documentation_loads(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "formats" / "scene-json.md"
    example = page.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    path = tmp_path / "scene.json"
    path.write_text(example)
    assert archive.load_file(path).regions[0].id == "Kitchen_3"


@given(label=st.text(max_size=300), number=st.integers(0, 10**6))
def test_any_label_makes_a_name_that_a_scene_takes(label: str, number: int) -> None:
    name = region_id(label, number)
    assert Region(id=name, center=(0, 0, 0)).number == str(number)
