"""Homes as GLB, as HM3D's release and as a Habitat dataset: what was written is what there was."""

from __future__ import annotations

import csv
import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from navloom.errors import SceneError
from navloom.scenes.formats.scene_json import save
from navloom.scenes.scene import Floor, Region, Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.exporting import face_numbers, glb_writer, semantic_lines, semantic_numbers
from navloom_worlds.exporting.face_orientation import orient_faces
from navloom_worlds.exporting.glb_export import save_glb, scene_glb
from navloom_worlds.exporting.habitat_files import save_habitat, scene_handle
from navloom_worlds.exporting.hm3d_files import save_hm3d, semantic_glb
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.geometry.mesh import merge_parts
from navloom_worlds.geometry.semantic_ids import FLOOR, WALL, owner_name
from navloom_worlds.geometry.solids import Part, Surface, TextureImage, box, quad
from navloom_worlds.rendering.facets import build_facets

pytestmark = pytest.mark.slow

_TYPES = {5126: "<f4", 5123: "<u2", 5125: "<u4"}
_WIDE = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


class Glb:
    """A GLB read by the letter of glTF 2.0, with no code of the writer's."""

    def __init__(self, raw: bytes) -> None:
        magic, version, whole, long = struct.unpack("<4sIII", raw[:16])
        assert (magic, version, whole, long % 4) == (b"glTF", 2, len(raw), 0)
        self.content: dict[str, Any] = json.loads(raw[20 : 20 + long])
        size, kind = struct.unpack("<I4s", raw[20 + long : 28 + long])
        assert (kind, size) == (b"BIN\0", self.content["buffers"][0]["byteLength"])
        self.binary = raw[28 + long :]
        assert len(self.binary) == size

    def view(self, number: int) -> bytes:
        view = self.content["bufferViews"][number]
        assert view["byteOffset"] % 4 == 0
        return self.binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]

    def values(self, number: int) -> NDArray[Any]:
        each = self.content["accessors"][number]
        raw = np.frombuffer(self.view(each["bufferView"]), _TYPES[each["componentType"]])
        values = raw.reshape(each["count"], _WIDE[each["type"]])
        if "min" in each:
            assert (values.min(axis=0).tolist(), values.max(axis=0).tolist()) == (
                each["min"], each["max"],
            )  # fmt: skip
        return values


@pytest.fixture(scope="module")
def home() -> Scene:
    """Two storeys, stairs, a lift, two windows of one name."""
    return load_scene("home:7")


@pytest.fixture(scope="module")
def flat() -> Scene:
    return load_scene("demo:flat")


def test_a_glb_reads_back_as_the_home_was(home: Scene, tmp_path: Path) -> None:
    path = save_glb(home, tmp_path / "home.glb")
    save(home, tmp_path / "home.json")
    mesh, again = scene_mesh(home), scene_mesh(load_scene(str(path)))
    assert len(again.faces) == len(mesh.faces)
    for one, other in zip(mesh.bounds, again.bounds, strict=True):
        assert one.tolist() == other.tolist()
    assert np.unique(again.owners, return_counts=True)[1].tolist() == (
        np.unique(mesh.owners, return_counts=True)[1].tolist()
    )
    # Face by face: whose it is, where, whether it is round, and the place on its texture.
    order, order_again = (_by_place(each) for each in (mesh, again))
    corners, other = (m.vertices[m.faces[o]] for m, o in ((mesh, order), (again, order_again)))
    assert np.array_equal(np.sort(corners, axis=1), np.sort(other, axis=1))
    assert np.array_equal(mesh.owners[order], again.owners[order_again])
    assert np.array_equal(mesh.smooth[order], again.smooth[order_again])
    textured = np.array([bool(look.texture) for look in mesh.surfaces])[mesh.surface[order]]
    pictured = [isinstance(look.texture, TextureImage) for look in again.surfaces]
    assert np.array_equal(textured, np.array(pictured)[again.surface[order_again]])
    laid, laid_again = (
        _texture_at_middle(m, o)[textured] for m, o in ((mesh, order), (again, order_again))
    )
    apart = (laid - laid_again + 0.5) % 1 - 0.5
    assert np.abs(apart).max() < 1e-3


def _by_place(mesh: Any) -> NDArray[np.int64]:
    """Faces in an order that only their places and owners say."""
    corners = np.sort(mesh.vertices[mesh.faces].reshape(-1, 9), axis=1)
    middle = mesh.vertices[mesh.faces].astype(np.float64).mean(axis=1)
    keys = [*np.round(corners, 5).T, *np.round(middle, 5).T, mesh.owners]
    return np.lexsort(keys)


def _texture_at_middle(mesh: Any, order: NDArray[np.int64]) -> NDArray[np.float64]:
    p = build_facets(mesh).place[order].astype(np.float64)
    return np.stack([p[:, 0] + (p[:, 1] + p[:, 2]) / 3, p[:, 3] + (p[:, 4] + p[:, 5]) / 3], axis=1)


def test_things_called_by_numbers_alone_keep_their_names(tmp_path: Path) -> None:
    home = load_scene("demo:house")
    numbered = {item.id: f"{k + 1}" for k, item in enumerate(home.items)}
    items = [
        item.model_copy(update={"id": numbered[item.id], "on": numbered.get(item.on or "")})
        for item in home.items
    ]
    home = home.replace(items=tuple(items), relations=())
    again = load_scene(str(save_glb(home, tmp_path / "house.glb")))
    built = {item.id for item in home.items if item.size is not None}
    assert built <= set(again.item_by_id)


def test_a_glb_is_plain_gltf_with_each_picture_once(home: Scene) -> None:
    glb = Glb(scene_glb(home))
    content = glb.content
    assert "extensionsUsed" not in content
    names = [node["name"] for node in content["nodes"]]
    assert len(set(names)) == len(names)
    assert set(names) >= {item.id for item in home.items if item.size is not None}
    pictures = [glb.view(image["bufferView"]) for image in content["images"]]
    assert len(set(pictures)) == len(pictures) > 10
    used = {
        each["pbrMetallicRoughness"]["baseColorTexture"]["index"]
        for each in content["materials"]
        if "baseColorTexture" in each["pbrMetallicRoughness"]
    }
    assert used == set(range(len(content["textures"])))
    for mesh in content["meshes"]:
        for part in mesh["primitives"]:
            found = {name: glb.values(each) for name, each in part["attributes"].items()}
            assert glb.values(part["indices"]).max() == len(found["POSITION"]) - 1
            if "NORMAL" in found:
                assert np.linalg.norm(found["NORMAL"], axis=1) == pytest.approx(1, abs=1e-5)


def test_the_same_home_gives_the_same_bytes(flat: Scene, tmp_path: Path) -> None:
    again = load_scene("demo:flat")
    assert again is not flat
    assert scene_glb(flat) == scene_glb(again)
    for number, scene in enumerate((flat, again)):
        save_hm3d(scene, tmp_path / f"hm3d{number}")
        save_habitat([scene], tmp_path / str(number) / "set")
    for one, other in (("hm3d0", "hm3d1"), ("0", "1")):
        files = [each for each in (tmp_path / one).rglob("*") if each.is_file()]
        assert files
        for file in files:
            twin = tmp_path / other / file.relative_to(tmp_path / one)
            assert file.read_bytes() == twin.read_bytes(), file


def test_numbers_are_items_then_what_is_built(home: Scene) -> None:
    lines, numbers = semantic_lines(home), face_numbers(home)
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert len({line.colour for line in lines} - {"000000"}) == len(lines)
    for item, line in zip(home.items, lines, strict=False):
        assert (line.category, f"{line.region}") == (item.name, (item.region or "").split("_")[-1])
        assert owner_name(home, line.owner) == item.id
    mesh = scene_mesh(home)
    owner_of = np.array([0, *(line.owner for line in lines)])
    assert np.array_equal(owner_of[numbers], mesh.owners)
    built = lines[len(home.items) :]
    called = {line.category.removeprefix("elevator ") for line in built}
    assert called == {
        "floor", "ceiling", "wall", "door", "window", "stairs", "ground",
    }  # fmt: skip
    # Every region has a floor, a ceiling and walls; its floor lies within it, or in a doorway.
    for category in ("floor", "ceiling", "wall"):
        regions = {line.region for line in built if line.category.endswith(category)}
        assert regions - {-1} == {int(each.number) for each in home.regions}
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    for line in built:
        if line.owner == FLOOR:
            region = next(each for each in home.regions if each.number == str(line.region))
            assert np.abs(middle[numbers == line.number, 1] - region.center[1]).max() < 0.1


def test_hm3d_is_written_as_it_is_published(flat: Scene, tmp_path: Path) -> None:
    folder = save_hm3d(flat, tmp_path)
    assert folder.name == "00000-demo-flat"
    assert sorted(each.name for each in folder.iterdir()) == [
        "demo-flat.glb", "demo-flat.semantic.glb", "demo-flat.semantic.txt",
    ]  # fmt: skip
    header, *rows = (folder / "demo-flat.semantic.txt").read_text().splitlines()
    assert header == "HM3D Semantic Annotations"
    told = {
        tuple(bytes.fromhex(colour)): (int(number), category, int(region))
        for number, colour, category, region in csv.reader(rows)
    }
    assert len(told) == len(semantic_lines(flat))
    glb = Glb((folder / "demo-flat.semantic.glb").read_bytes())
    part = glb.content["meshes"][0]["primitives"][0]
    accessor = glb.content["accessors"][part["attributes"]["COLOR_0"]]
    assert (accessor["normalized"], accessor["componentType"]) == (True, 5123)
    colours = _srgb(glb.values(part["attributes"]["COLOR_0"])[:, :3] / 65_535)
    faces = glb.values(part["indices"]).reshape(-1, 3)
    numbers = [[told[tuple(colours[v])][0] for v in face] for face in faces.tolist()]
    mesh, of_face = orient_faces(scene_mesh(flat))
    expected = face_numbers(flat)[of_face]
    assert np.array_equal(np.array(numbers), expected[:, None].repeat(3, axis=1))
    # z is up and y is ahead, where Navloom has y and -z.
    x, y, z = glb.values(part["attributes"]["POSITION"])[faces].astype(np.float64).T
    assert np.array_equal(np.stack([x, z, -y]).T, mesh.vertices[mesh.faces])


def test_hm3d_has_its_looks_in_pictures_alone(flat: Scene) -> None:
    glb = Glb(scene_glb(flat, colours="painted"))
    pictures = {}
    for number, each in enumerate(glb.content["materials"]):
        rough = each["pbrMetallicRoughness"]
        assert "baseColorFactor" not in rough
        texture_ = glb.content["textures"][rough["baseColorTexture"]["index"]]
        pictures[number] = glb.view(glb.content["images"][texture_["source"]]["bufferView"])
    item = next(k for k, each in enumerate(flat.items) if each.size is not None)
    mesh = scene_mesh(flat)
    looks = np.unique(mesh.surface[mesh.owners == item + 1])
    plain = [mesh.surfaces[look].rgb for look in looks if not mesh.surfaces[look].texture]
    node = next(n for n in glb.content["nodes"] if n["name"] == flat.items[item].id)
    seen = []
    for part in glb.content["meshes"][node["mesh"]]["primitives"]:
        pixels = np.asarray(Image.open(io.BytesIO(pictures[part["material"]])).convert("RGB"))
        uv = glb.values(part["attributes"]["TEXCOORD_0"])
        if len(np.unique(uv, axis=0)) == 1:
            x, y = (uv[0] * pixels.shape[1::-1]).astype(int)
            seen.append(tuple(pixels[y, x]))
    assert plain
    assert sorted(set(seen)) == sorted({tuple(round(c * 255) for c in each) for each in plain})


def test_habitat_makes_one_box_of_a_thing(flat: Scene) -> None:
    glb = Glb(semantic_glb(flat, joined=True))
    part = glb.content["meshes"][0]["primitives"][0]
    at, colours = (glb.values(part["attributes"][name]) for name in ("POSITION", "COLOR_0"))
    faces = glb.values(part["indices"]).reshape(-1, 3).astype(np.int64)
    # As Habitat does it: what lies at one place in one colour is one vertex.
    keys = np.concatenate([at.view("<u4"), colours], axis=1)
    faces = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)[faces]
    ends = np.concatenate([faces[:, :2], faces[:, 1:]])
    count = int(faces.max()) + 1
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    body = connected_components(graph, directed=False)[1][faces[:, 0]]
    numbers = face_numbers(flat)
    for k, item in enumerate(flat.items):
        bodies = np.unique(body[: len(numbers)][numbers == k + 1])
        assert len(bodies) == (item.size is not None), item.id


def _srgb(linear: NDArray[np.floating]) -> NDArray[np.int64]:
    bent = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(bent * 255 + 0.5, dtype=np.int64)


def test_every_srgb_byte_is_told_apart_as_16_bit_linear_light() -> None:
    from navloom_worlds.exporting.hm3d_files import linear_colours

    grey = np.arange(256, dtype=np.uint8)[:, None].repeat(3, axis=1)
    assert np.array_equal(_srgb(linear_colours(grey)[:, :3] / 65_535), grey)


def test_sheets_are_seen_from_both_sides_and_bodies_from_outside() -> None:
    outside = box((0, 0, 0), (1, 1, 1), Surface())
    inside = Part(outside.vertices + 2, outside.faces[:, ::-1])
    corners = [[5, 0, 0], [6, 0, 0], [6, 1, 0], [5, 1, 0]]
    sheet, wall = quad(corners, Surface()), quad(corners, Surface())
    mesh = merge_parts([(1, outside), (1, inside), (2, sheet), (WALL, wall)])
    seen, of_face = orient_faces(mesh)
    assert of_face.tolist() == [*range(28), 24, 25]
    assert seen.owners[28:].tolist() == [2, 2]
    assert np.array_equal(seen.faces[:12], mesh.faces[:12])
    assert np.array_equal(seen.faces[12:24], mesh.faces[12:24, ::-1])
    assert np.array_equal(seen.faces[24:28], mesh.faces[24:28])
    backs = seen.vertices[seen.faces[28:]]
    assert np.array_equal(backs, mesh.vertices[mesh.faces[24:26, ::-1]])


def test_a_habitat_dataset_names_what_is_there(flat: Scene, tmp_path: Path) -> None:
    config = save_habitat([flat, load_scene("demo:house")], tmp_path / "homes")
    assert config.name == "homes.scene_dataset_config.json"
    folder = config.parent
    for paths in json.loads(config.read_text()).values():
        assert all((folder / each).is_dir() for each in paths["paths"][".json"])
    instance = json.loads((folder / scene_handle(flat)).read_text())
    stage = folder / instance["stage_instance"]["template_name"]
    semantic = folder / instance["semantic_scene_instance"]
    for file, keys in {
        stage: (
            "render_asset",
            "collision_asset",
            "semantic_asset",
            "semantic_descriptor_filename",
        ),
        semantic: ("semantic_asset", "semantic_descriptor_filename"),
    }.items():
        content = json.loads(file.read_text())
        assert all((file.parent / content[key]).is_file() for key in keys)
    content = json.loads(stage.read_text())
    assert (content["up"], content["front"]) == ([0, 1, 0], [0, 0, -1])
    regions = json.loads(semantic.read_text())["region_annotations"]
    assert [each["name"] for each in regions] == [each.id for each in flat.regions]


def test_what_cannot_be_written_is_said_in_a_line(flat: Scene, tmp_path: Path) -> None:
    bare = Scene(id="bare", floors=(Floor(id=1, height=0),), regions=(
        Region(id="Hall_1", center=(0, 0, 0)),
    ))  # fmt: skip
    file = tmp_path / "file"
    file.touch()
    for write in (
        lambda scene, to: save_glb(scene, to / "x.glb"),
        save_hm3d,
        lambda scene, to: save_habitat([scene], to),
    ):
        with pytest.raises(SceneError, match=r"^scene:bare has no triangles, it is a graph"):
            write(bare, tmp_path / "out")
        with pytest.raises(SceneError, match=r"file.* is a file, or lies in one: give"):
            write(flat, file)
    with pytest.raises(SceneError, match="two homes would be called demo-flat"):
        save_habitat([flat, flat], tmp_path / "twice")
    with pytest.raises(SceneError, match="there is no home to be written"):
        save_habitat([], tmp_path / "none")


def test_what_is_too_large_for_a_format_is_said(
    flat: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semantic_numbers, "MOST_NUMBERS", 100)
    with pytest.raises(SceneError, match=r"^demo:flat has 126 things .* at most 100, which is wh"):
        semantic_lines(load_scene("demo:flat"))
    monkeypatch.setattr(glb_writer, "MOST_BYTES", 1_000_000)
    with pytest.raises(SceneError, match=r"^demo:flat as a GLB has [\d,]+ bytes: expected at most"):
        scene_glb(flat)


def test_regions_without_numbers_get_free_ones_and_quotes_are_taken_out(flat: Scene) -> None:
    first, *rest = flat.regions
    name = first.id.rsplit("_", 1)[0] + "_a1"
    text = json.loads(flat.model_dump_json())
    text = json.loads(json.dumps(text).replace(f'"{first.id}"', f'"{name}"'))
    text["items"][0]["name"] = 'a "7 inch" plate,\n chipped'
    lines = semantic_lines(Scene(**text))
    assert lines[0].text.endswith("\"a '7 inch' plate, chipped\",7")
    floors = sorted(line.region for line in lines if line.category == "floor")
    assert floors == sorted([7, *(int(region.number) for region in rest)])
