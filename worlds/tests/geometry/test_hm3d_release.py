"""``hm3d:`` homes as HM3D releases them: what they become, and how broken ones are refused.

Nobody may pass the release on, so these are our own homes, written in its form.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import shapely

from navloom.errors import SceneError
from navloom.graphs.annotation import room_typing
from navloom.graphs.annotation.room_typing import ANSWER_KEY
from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.formats.scene_json import save
from navloom.scenes.region_annotation import apply_room_types
from navloom.scenes.scene import Link, Scene
from navloom.scenes.scene_uri import list_scenes, load_scene
from navloom_worlds.exporting.face_orientation import orient_faces
from navloom_worlds.exporting.glb_writer import GlbPrimitive, GlbWriter
from navloom_worlds.exporting.hm3d_files import save_hm3d
from navloom_worlds.exporting.semantic_numbers import semantic_lines
from navloom_worlds.geometry.mesh import has_geometry, scene_mesh
from tests.graphs.states import run
from worlds.tests.geometry.release_files import copied, files_of, painted

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def flat() -> Scene:
    return load_scene("demo:flat")


@pytest.fixture(scope="module")
def release(flat: Scene, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hm3d")
    save_hm3d(flat, folder)
    return folder


@pytest.fixture(scope="module")
def home(release: Path) -> Path:
    return next(each for each in release.iterdir() if each.is_dir())


@pytest.fixture(scope="module")
def read(home: Path) -> Scene:
    return load_scene(f"hm3d:{home}")


def test_it_is_found_however_it_is_called(release: Path, home: Path, tmp_path: Path) -> None:
    name = f"hm3d:{release}/{home.name}"
    assert list_scenes(f"hm3d:{release}") == list_scenes(f"hm3d:{home}") == [name]
    assert list_scenes(f"hm3d:{release}/demo-flat") == [name]
    copied(home, tmp_path / "val")
    assert list_scenes(f"hm3d:{tmp_path}") == [f"hm3d:{tmp_path}/{home.name}"]
    assert list_scenes(f"hm3d:{tmp_path}/val") == [f"hm3d:{tmp_path}/val/{home.name}"]


def test_rooms_are_the_floors_of_its_regions(flat: Scene, read: Scene) -> None:
    theirs = {region.number: region for region in read.regions}
    assert [r.number for r in flat.regions] == list(theirs)
    assert {r.label for r in read.regions} == {"Unknown"}
    for region in flat.regions:
        first, second = (shapely.Polygon(each.outline) for each in (region, theirs[region.number]))
        # The demo homes' outlines run in the middle of walls, floors end before them.
        assert shapely.hausdorff_distance(first.exterior, second.exterior) < 0.08
        assert abs(region.center[1] - theirs[region.number].center[1]) < 0.01
        assert region.floor == theirs[region.number].floor


def _pairs(links: tuple[Link, ...]) -> Counter[tuple[str, ...]]:
    ends = (sorted(each.rpartition("_")[2] for each in (link.a, link.b)) for link in links)
    return Counter((*end, link.kind) for end, link in zip(ends, links, strict=True))


def test_links_are_where_floors_meet(flat: Scene, read: Scene) -> None:
    assert _pairs(read.links) == _pairs(flat.links)
    for link in flat.links:
        near = [
            np.hypot(link.point[0] - each.point[0], link.point[2] - each.point[2])
            for each in read.links
            if link.point is not None and each.point is not None
        ]
        assert min(near) < 0.08


def test_things_have_the_numbers_names_and_boxes_of_the_text(flat: Scene, read: Scene) -> None:
    for line, item in zip(semantic_lines(flat), flat.items, strict=False):
        if line.category in ("wall", "floor", "ceiling"):
            continue
        found = read.item_by_id[str(line.number)]
        assert found.name == item.name.casefold()
        assert (found.region or "_").rpartition("_")[2] == (item.region or "_").rpartition("_")[2]
        assert np.hypot(*np.subtract(found.position, item.position)[[0, 2]]) < 0.15
    assert "door" in {item.name for item in read.items}


def test_an_elevator_joins_the_rooms_that_are_its_stops(tmp_path: Path) -> None:
    source = load_scene("home:55")
    read = load_scene(f"hm3d:{save_hm3d(source, tmp_path)}")
    (link,) = (each for each in source.links if each.kind == "elevator")
    (found,) = (each for each in read.links if each.kind == "elevator")
    assert _pairs((found,)) == _pairs((link,))
    assert found.step == pytest.approx(link.step, abs=0.05)
    ends = {frozenset(read.viewpoint_by_id[v].region for v in (e.a, e.b)) for e in read.edges}
    assert frozenset((found.a, found.b)) in ends


def test_everybody_can_walk_everywhere(read: Scene) -> None:
    import networkx as nx

    assert nx.is_connected(read.navigation_graph())
    assert {v.region for v in read.viewpoints} == {r.id for r in read.regions}
    assert nx.is_connected(read.region_graph())


def test_its_mesh_knows_whose_each_face_is(flat: Scene, read: Scene) -> None:
    assert has_geometry(read)
    ours, theirs = orient_faces(scene_mesh(flat))[0], scene_mesh(read)
    assert len(ours.faces) == len(theirs.faces)
    # Its faces are in the order of what it looks like.
    corners, other = (each.vertices[each.faces].reshape(-1, 9) for each in (ours, theirs))
    order, order_there = (np.lexsort(np.sort(np.round(c, 4)).T) for c in (corners, other))
    np.testing.assert_allclose(np.sort(corners[order]), np.sort(other[order_there]), atol=2e-4)
    owners, owners_there = ours.owners[order], theirs.owners[order_there]
    mine = owners > 0
    names = np.array([item.id for item in read.items])
    same = names[owners_there[mine] - 1] == owners[mine].astype(str)
    # Where a face of one thing lies in a face of another nobody can say whose it is.
    assert same.mean() > 0.995
    walls = (owners <= -1) & (owners >= -3)
    assert (owners_there[walls] == owners[walls]).mean() > 0.995


def test_a_changed_home_has_its_things_where_they_are(read: Scene) -> None:
    chair = next(item for item in read.items if item.kind == "object")
    x, y, z = chair.position
    moved = chair.model_copy(update={"position": (x + 1, y, z), "yaw": chair.yaw + 0.3})
    rest = [item for item in read.items if item.id != chair.id]
    mesh = scene_mesh(read.replace(items=(moved, *rest)))
    mine = mesh.vertices[mesh.faces[mesh.owners == 1]].reshape(-1, 3)
    middle = (mine.min(axis=0) + mine.max(axis=0)) / 2
    np.testing.assert_allclose(middle, moved.position, atol=0.05)
    gone = scene_mesh(read.replace(items=tuple(rest)))
    assert len(scene_mesh(read).faces) - len(gone.faces) == (mesh.owners == 1).sum()


@pytest.mark.parametrize("form", ["plain", "blurred", "y_up"])
def test_colours_may_be_in_a_texture(
    flat: Scene, home: Path, read: Scene, tmp_path: Path, form: str
) -> None:
    there = copied(home, tmp_path)
    glb, _ = files_of(there)
    glb.write_bytes(painted(flat, blurred=form == "blurred", y_up=form == "y_up"))
    again = load_scene(f"hm3d:{there}")
    assert (again.items, again.links, again.regions) == (read.items, read.links, read.regions)
    assert any("y up" in note for note in again.notes) == (form == "y_up")


def test_a_graph_of_rooms_beside_it_names_them(flat: Scene, home: Path, tmp_path: Path) -> None:
    there = copied(home, tmp_path)
    rooms = [
        {"id": k, "label": r.label, "centroid": list(r.box.center), "dims": list(r.box.size)}
        for k, r in enumerate(flat.regions)
        if r.box is not None
    ]
    named = {"scene": there.name, "rooms": rooms, "connections": [], "objects": []}
    (tmp_path / f"{there.name}.json").write_text(json.dumps(named), encoding="utf-8")
    scene = load_scene(f"hm3d:{there}")
    assert [r.id for r in scene.regions] == [r.id for r in flat.regions]
    assert {v.region for v in scene.viewpoints} == {r.id for r in flat.regions}


def _text(change: Callable[[str], str]) -> Callable[[Path], None]:
    def broken(home: Path) -> None:
        _, path = files_of(home)
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")

    return broken


def _glb(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def broken(home: Path) -> None:
        path, _ = files_of(home)
        path.write_bytes(change(path.read_bytes()))

    return broken


def _line(number: int, text: str) -> Callable[[Path], None]:
    def change(content: str) -> str:
        lines = content.splitlines()
        lines[number - 1] = text
        return "\n".join(lines)

    return _text(change)


def _other_length(raw: bytes) -> bytes:
    return raw[:8] + struct.pack("<I", 10**9) + raw[12:]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (_line(1, "HM3D"), r"line 1: expected 'HM3D Semantic Annotations', found 'HM3D'"),
        (_line(3, "2,00FF00,chair,0"), r'line 3: expected number,RRGGBB,"category",region'),
        (_line(3, '2,00FF0,"chair",0'), r"line 3: expected a colour of six hex digits"),
        (_line(3, '2,9E3779,"chair",0'), r"line 3: expected each colour once, and 9E3779 is"),
        (_line(3, '1,123456,"chair",0'), r"line 3: expected each number once, and 1 is line 2's"),
        (_line(3, '2,123456,"chair",999999999'), r"line 3: expected a region from 0 to 100,000"),
        (_line(3, '99999999999,123456,"chair",1'), r"line 3: expected a number from 1 to"),
        (_text(lambda _: "HM3D Semantic Annotations\n"), r"there is no thing in it"),
        (_text(lambda text: text[:200]), r"do not|does not say|expected number"),
        (lambda home: files_of(home)[1].unlink(), r"there is no demo-flat.semantic.txt"),
        (lambda home: files_of(home)[0].unlink(), r"there is no demo-flat.semantic.glb"),
        (_glb(lambda raw: raw[: len(raw) // 2]), r"is cut short: it says that it has"),
        (_glb(_other_length), r"is cut short"),
        (_glb(lambda _: b""), r"expected a GLB, and the file has 0 bytes"),
        (_glb(lambda _: b"glTF" + b"x" * 40), r"is no GLB|is glTF"),
    ],
)  # fmt: skip
def test_what_is_broken_is_told_in_one_line(
    home: Path, tmp_path: Path, broken: Callable[[Path], None], said: str
) -> None:
    there = copied(home, tmp_path)
    broken(there)
    with pytest.raises(SceneError, match=said) as caught:
        load_scene(f"hm3d:{there}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("scale", "said"), [(100, "centimetres"), (1000, "millimetres")])
def test_other_units_are_said(
    flat: Scene, home: Path, tmp_path: Path, scale: int, said: str
) -> None:
    there = copied(home, tmp_path)
    files_of(there)[0].write_bytes(painted(flat, scale=scale))
    with pytest.raises(SceneError, match=rf"wide: are its units {said}\? Expected metres, z up"):
        load_scene(f"hm3d:{there}")


def test_a_home_without_floors_has_rooms_of_its_things(home: Path, tmp_path: Path) -> None:
    there = copied(home, tmp_path)
    _text(lambda text: text.replace('"floor"', '"surface"'))(there)
    scene = load_scene(f"hm3d:{there}")
    assert len(scene.regions) == 6
    assert any(note.startswith("Rooms without a floor") for note in scene.notes)


def test_nowhere_to_stand_and_too_many_regions_are_said(home: Path, tmp_path: Path) -> None:
    there = copied(home, tmp_path)
    glb, text = files_of(there)
    made = GlbWriter("two")
    look = made.material(pbrMetallicRoughness={})
    at = np.array([[0, 0, 0], [4, 0, 0], [0, 0, 2]], dtype=np.float32)
    white = np.full((3, 4), 65_535, dtype=np.uint16)
    made.node("a", [GlbPrimitive(at, np.array([[0, 1, 2]]), look, colours=white)])
    glb.write_bytes(made.done())
    text.write_text('HM3D Semantic Annotations\n1,FFFFFF,"wall",0\n', encoding="utf-8")
    with pytest.raises(SceneError, match="there is no place in it where a person can stand"):
        load_scene(f"hm3d:{there}")
    lines = [f'{k},{k:06X},"floor",{k}' for k in range(1, 1_500)]
    text.write_text("\n".join(["HM3D Semantic Annotations", *lines, '1500,FFFFFF,"wall",0']))
    with pytest.raises(SceneError, match=r"expected at most 1,000 regions, found 1,500"):
        load_scene(f"hm3d:{there}")


def test_a_mesh_of_nothing_is_said(home: Path, tmp_path: Path) -> None:
    there = copied(home, tmp_path)
    files_of(there)[0].write_bytes(GlbWriter("nothing").done())
    with pytest.raises(SceneError, match="there is no triangle in it"):
        load_scene(f"hm3d:{there}")


def _packed(raw: bytes) -> bytes:
    """A GLB whose textures are packed as those of ID.basis.glb are."""
    size = struct.unpack("<I", raw[12:16])[0]
    content = json.loads(raw[20 : 20 + size])
    content["extensionsUsed"] = ["KHR_texture_basisu"]
    for image in content["images"]:
        image["mimeType"] = "image/ktx2"
    for texture in content["textures"]:
        texture["extensions"] = {"KHR_texture_basisu": {"source": texture.pop("source")}}
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    whole = struct.pack("<III", 2, len(raw) - size + len(text), len(text))
    return raw[:4] + whole + raw[16:20] + text + raw[20 + size :]


def test_packed_textures_are_said_and_grey(home: Path, read: Scene, tmp_path: Path) -> None:
    there = copied(home, tmp_path)
    looks = there / "demo-flat.glb"
    (there / "demo-flat.basis.glb").write_bytes(_packed(looks.read_bytes()))
    looks.unlink()
    scene = load_scene(f"hm3d:{there}")
    assert any("basis" in note and "grey" in note for note in scene.notes)
    assert len(scene_mesh(scene).surfaces) == 1
    for path in files_of(there):
        path.unlink()
    bare = load_scene(f"hm3d:{there}")
    assert (bare.regions, bare.items) == ((), ())
    assert bare.viewpoints
    assert len(scene_mesh(bare).faces) == len(scene_mesh(scene).faces)


def test_looks_of_another_place_are_refused(home: Path, tmp_path: Path) -> None:
    there = copied(home, tmp_path)
    made = GlbWriter("far")
    look = made.material(pbrMetallicRoughness={})
    at = np.array([[40, 0, 0], [44, 0, 0], [40, 0, 2]], dtype=np.float32)
    made.node("a", [GlbPrimitive(at, np.array([[0, 1, 2]]), look)])
    (there / "demo-flat.glb").write_bytes(made.done())
    with pytest.raises(SceneError, match="100% of its triangles lie off those of the"):
        scene_mesh(load_scene(f"hm3d:{there}"))


def test_rooms_that_annotate_named_are_kept_beside_it(
    home: Path, read: Scene, tmp_path: Path
) -> None:
    there = copied(home, tmp_path)
    scene = load_scene(f"hm3d:{there}")
    with ScriptedChatModel(lambda _: json.dumps({ANSWER_KEY: "Kitchen"})) as model:
        context = room_typing.Context(scene=scene, model=model)
        types = run(room_typing.graph, {"seed": 7}, context=context)["result"]["types"]
    assert len(types) == len(read.regions)
    save(apply_room_types(scene, types), tmp_path / f"{there.name}.json")
    named = load_scene(f"hm3d:{there}")
    assert {region.label for region in named.regions} == {"kitchen"}
    assert named.origin == scene.origin
    assert len(scene_mesh(named).faces) == len(scene_mesh(read).faces)


def test_colours_of_another_home_are_said(home: Path, tmp_path: Path) -> None:
    there = copied(home, tmp_path)
    _, path = files_of(there)
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [lines[0], *lines[1:4]]
    path.write_text("\n".join(kept), encoding="utf-8")
    with pytest.raises(SceneError, match=r"9\d% of its triangles have colours that .*semantic.txt"):
        load_scene(f"hm3d:{there}")
