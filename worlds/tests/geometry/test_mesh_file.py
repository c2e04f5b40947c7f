"""Meshes from files: what they become, and how broken ones are refused."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

from navloom.errors import SceneError
from navloom.scenes.formats.scene_json import save
from navloom.scenes.scene_uri import list_scenes, load_scene
from navloom.sim.registry import get_simulator
from navloom_worlds.exporting.glb_export import save_glb
from navloom_worlds.geometry import has_geometry, scene_mesh
from navloom_worlds.geometry.mesh_file import load_mesh_file
from navloom_worlds.geometry.mesh_scene import readable_name
from navloom_worlds.geometry.semantic_ids import SHELL, item_owner, owner_name
from navloom_worlds.geometry.solids import TextureImage


def cuboid(*low_high: float, **more: Any) -> trimesh.Trimesh:
    low, high = np.array(low_high[:3]), np.array(low_high[3:])
    middle = trimesh.transformations.translation_matrix((low + high) / 2)
    return trimesh.creation.box(high - low, middle, **more)


def a_room() -> trimesh.Scene:
    """A room of 5 x 4 m with a table, a picture on the wall and a cup that stands turned."""
    scene = trimesh.Scene()
    for name, part in {
        "Floor": cuboid(0, -0.1, 0, 5, 0, 4),
        "Ceiling": cuboid(0, 2.5, 0, 5, 2.6, 4),
        "Wall_1": cuboid(0, 0, 0, 5, 2.5, 0.1),
        "Wall_2": cuboid(0, 0, 3.9, 5, 2.5, 4),
        "Wall_3": cuboid(0, 0, 0, 0.1, 2.5, 4),
        "Wall_4": cuboid(4.9, 0, 0, 5, 2.5, 4),
        "CoffeeTable_02.001": cuboid(2, 0, 1.5, 3, 0.45, 2),
    }.items():
        scene.add_geometry(part, node_name=name, geom_name=name)
    cup = trimesh.creation.box((0.1, 0.2, 0.05))
    lifted = trimesh.transformations.translation_matrix((2.5, 0.55, 1.75))
    turned = trimesh.transformations.rotation_matrix(np.pi / 2, (0, 1, 0))
    cup.visual = TextureVisuals(material=PBRMaterial(baseColorFactor=[0.5, 0.0, 0.0, 1.0]))
    scene.add_geometry(cup, node_name="mug", geom_name="mug", transform=lifted @ turned)
    return scene


@pytest.fixture
def room(tmp_path: Path) -> Path:
    path = tmp_path / "room.glb"
    a_room().export(path)
    return path


def test_a_mesh_is_a_scene_of_things_and_places_to_stand(room: Path) -> None:
    scene = load_scene(str(room))
    assert (scene.uri, scene.origin) == ("mesh:room.glb", str(room))
    assert scene.regions == ()
    items = scene.item_by_id
    assert set(items) == {
        "Floor", "Ceiling", "Wall_1", "Wall_2", "Wall_3", "Wall_4", "CoffeeTable_02.001", "mug",
    }  # fmt: skip
    table, mug = items["CoffeeTable_02.001"], items["mug"]
    assert (table.name, table.kind, items["Wall_1"].kind) == ("coffee table", "asset", "structure")
    assert table.position == pytest.approx((2.5, 0.225, 1.75))
    assert table.size == pytest.approx((1, 0.45, 0.5))
    # The node's transform is applied: the mug is turned by a quarter.
    assert mug.position == pytest.approx((2.5, 0.55, 1.75))
    assert mug.size == pytest.approx((0.05, 0.2, 0.1))
    assert scene.floors[0].height == pytest.approx(0, abs=0.01)
    assert scene.viewpoints
    assert has_geometry(scene)
    assert list_scenes(f"mesh:{room.parent}") == [f"mesh:{room.parent}/room.glb"]
    again = load_scene(f"mesh:{room.parent}/room.glb")
    assert again == scene
    assert has_geometry(again)


def test_owners_are_items_and_colours_become_srgb(room: Path) -> None:
    scene = load_scene(str(room))
    mesh = scene_mesh(scene)
    names = {owner_name(scene, owner) for owner in np.unique(mesh.owners).tolist()}
    assert names == set(scene.item_by_id)
    mine = mesh.owners == item_owner([item.id for item in scene.items].index("mug"))
    assert mine.sum() == 12
    surface = mesh.surfaces[mesh.surface[mine][0]]
    assert surface.rgb == pytest.approx((0.735, 0, 0), abs=0.01)  # 0.5 linear


def test_what_moves_is_seen_elsewhere_and_what_is_taken_away_is_gone(room: Path) -> None:
    scene = load_scene(str(room))
    items = list(scene.items)
    index = [item.id for item in items].index("mug")
    items[index] = items[index].model_copy(update={"position": (1.0, 0.1, 1.0)})
    moved = scene_mesh(scene.replace(items=tuple(items)))
    at = moved.vertices[moved.faces[moved.owners == item_owner(index)]].reshape(-1, 3)
    assert (at.min(axis=0) + at.max(axis=0)) / 2 == pytest.approx([1.0, 0.1, 1.0], abs=1e-5)
    del items[index]
    assert len(scene_mesh(scene.replace(items=tuple(items))).faces) == len(moved.faces) - 12


def test_pictures_lie_as_they_are_meant_to(tmp_path: Path) -> None:
    pixels = np.zeros((4, 4, 3), dtype=np.uint8)
    pixels[0] = (255, 0, 0)  # the first row is the picture's top
    plate = trimesh.Trimesh(
        [[0, 0, 0], [3, 0, 0], [3, 3, 0], [0, 3, 0]],
        [[0, 1, 2], [0, 2, 3]],
        process=False,
        visual=TextureVisuals(
            uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1]]),
            material=PBRMaterial(baseColorTexture=Image.fromarray(pixels)),
        ),
    )
    plate.export(tmp_path / "plate.glb")
    part = load_mesh_file(tmp_path / "plate.glb").nodes[0].parts[0]
    assert isinstance(part.surface.texture, TextureImage)
    assert part.surface.texture.pixels[0, 0].tolist() == [255, 0, 0]
    assert part.uv is not None
    top = part.vertices[:, 1] > 2
    assert part.uv[top, 1] == pytest.approx(0)
    assert part.uv[~top, 1] == pytest.approx(1)


def test_vertex_colours_become_a_colour_a_face_and_not_too_many(tmp_path: Path) -> None:
    ball = trimesh.creation.icosphere(subdivisions=4, radius=2)
    ball.visual.vertex_colors = (ball.vertices * 60 + 128).astype(np.uint8)
    ball.export(tmp_path / "ball.obj")
    file = load_mesh_file(tmp_path / "ball.obj")
    parts = file.nodes[0].parts
    assert sum(len(part.faces) for part in parts) == len(ball.faces)
    assert 20 < len(parts) <= 256
    for part in parts:
        middle = part.vertices[part.faces].reshape(-1, 3).mean(axis=0)
        assert np.array(part.surface.rgb) == pytest.approx((middle * 60 + 128) / 255, abs=0.13)


def test_an_obj_has_its_objects_and_a_mesh_of_one_thing_has_none(tmp_path: Path) -> None:
    text = ["o seat", *(f"v {x} {y} {z}" for x, y, z in [(0, 0, 0), (2, 0, 0), (0, 0, 2)])]
    text += ["f 1 2 3", "o back", "v 0 1 0", "v 2 1 0", "v 0 3 0", "f 4 5 6"]
    (tmp_path / "chair.obj").write_text("\n".join(text))
    nodes = load_mesh_file(tmp_path / "chair.obj").nodes
    assert sorted(node.name for node in nodes) == ["back", "seat"]
    assert {node.name: node.middle for node in nodes}["back"] == (1, 2, 0)
    cuboid(0, 0, 0, 3, 2, 3).export(tmp_path / "scan.glb")
    assert [node.name for node in load_mesh_file(tmp_path / "scan.glb").nodes] == [""]


def test_a_scene_beside_it_gives_rooms(tmp_path: Path) -> None:
    home = load_scene("demo:flat")
    path = save_glb(home, tmp_path / "flat.glb")
    save(home, tmp_path / "flat.json")
    scene = load_scene(str(path))
    assert (scene.regions, scene.viewpoints, scene.items) == (
        home.regions, home.viewpoints, home.items,
    )  # fmt: skip
    assert scene.uri == "mesh:flat.glb"
    mesh, own = scene_mesh(scene), scene_mesh(home)
    assert len(mesh.faces) == len(own.faces)
    assert set(mesh.owners.tolist()) == set(own.owners.tolist())
    assert SHELL not in mesh.owners


def test_the_embedded_backend_stands_in_it(room: Path) -> None:
    simulator = get_simulator("embedded", str(room))
    assert {"rgb", "depth", "ids"} <= simulator.capabilities


def gltf(folder: Path, name: str = "x.gltf", **change: Any) -> Path:
    """A floor of two triangles as text, with changes at its top level."""
    corners = struct.pack("<12f", 0, 0, 0, 4, 0, 0, 4, 0, 4, 0, 0, 4)
    faces = struct.pack("<6H", 0, 1, 2, 0, 2, 3)
    raw = corners + faces
    content: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "ground"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [
            {
                "byteLength": len(raw),
                "uri": f"data:application/octet-stream;base64,{base64.b64encode(raw).decode()}",
            }
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 48},
            {"buffer": 0, "byteOffset": 48, "byteLength": 12},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"},
        ],
    }
    path = folder / name
    path.write_text(json.dumps({**content, **change}))
    return path


def test_a_small_gltf_is_read(tmp_path: Path) -> None:
    assert len(load_mesh_file(gltf(tmp_path)).nodes[0].parts[0].faces) == 2


def _scaled(folder: Path, size: float) -> Path:
    path = folder / "s.glb"
    cuboid(0, 0, 0, size, size / 2, size).export(path)
    return path


def _with(folder: Path, **change: Any) -> Path:
    return gltf(folder, **change)


def _nan(folder: Path) -> Path:
    bad = cuboid(0, 0, 0, 4, 3, 4)
    scene = trimesh.Scene()
    bad.vertices[5] = (np.nan, 0, 1)
    scene.add_geometry(bad, node_name="sofa")
    scene.add_geometry(cuboid(0, 0, 0, 4, 3, 4), node_name="bed")
    path = folder / "nan.glb"
    path.write_bytes(trimesh.exchange.gltf.export_glb(scene))
    return path


def _bytes(folder: Path, name: str, raw: bytes) -> Path:
    (folder / name).write_bytes(raw)
    return folder / name


def _cut(folder: Path, keep: float) -> Path:
    raw = _scaled(folder, 4).read_bytes()
    return _bytes(folder, "cut.glb", raw[: int(len(raw) * keep)])


REFUSED: list[tuple[Callable[[Path], Path], str]] = [
    (lambda d: _with(d, meshes=[]), "no triangle"),
    (lambda d: _with(d, nodes=[]), "cannot be read as gltf|no triangle"),
    (_nan, r"sofa: vertex 5 is \(nan, 0, 1\): expected numbers"),
    (lambda d: _scaled(d, 4000), "this home is 4 km wide: are its units millimetres\\? Expected m"),
    (lambda d: _scaled(d, 700), "this home is 700 m wide: are its units centimetres\\?"),
    (lambda d: _scaled(d, 0.03), "this home is 3 cm wide: are its units kilometres\\?"),
    (lambda d: _scaled(d, 1e9), "km wide: expected metres"),
    (lambda d: _cut(d, 0.6), "is cut short: it says that it has"),
    (lambda d: _cut(d, 0.01), "expected a GLB, and the file has"),
    (lambda d: _bytes(d, "a.glb", b"PK\3\4" + bytes(40)), "is no GLB: it begins with"),
    (lambda d: _bytes(d, "a.glb", b""), "has 0 bytes"),
    (lambda d: _bytes(d, "a.gltf", b"[1]"), "expected a glTF object"),
    (lambda d: _bytes(d, "a.gltf", b"{"), "expected JSON"),
    (lambda d: _bytes(d, "a.gltf", b"{}"), "no triangle|cannot be read"),
    (lambda d: _bytes(d, "a.obj", b""), "no triangle|cannot be read"),
    (lambda d: _bytes(d, "a.obj", bytes(range(256)) * 40), "no triangle|cannot be read"),
    (lambda d: _bytes(d, "a.obj", b"v 0 0 0\nv 4 0 0\nv 0 0 4\nf 1 2 9\n"), "not there|cannot be"),
    (lambda d: _bytes(d, "a.stl", b"solid"), "ends in .glb, .gltf, .obj"),
    (lambda d: d / "none.glb", "No such file"),
    (lambda d: _with(d, buffers=[{"byteLength": 4, "uri": "../../etc/passwd"}]), "out of its fol"),
    (lambda d: _with(d, buffers=[{"byteLength": 4, "uri": "/etc/passwd"}]), "out of its folder"),
    (lambda d: _with(d, buffers=[{"byteLength": 4, "uri": "%2e%2e/x.bin"}]), "out of its folder"),
    (lambda d: _with(d, buffers=[{"byteLength": 4, "uri": "http://a/b"}]), "out of its folder"),
    (lambda d: _with(d, images=[{"uri": "..\\x.png"}]), "out of its folder"),
    (lambda d: _with(d, buffers=[{"byteLength": 60, "uri": "gone.bin"}]), "gone.bin"),
    (lambda d: _with(d, accessors=[{"count": 10**12, "type": "VEC3"}]), "3,000,000,000,000 numb"),
    (lambda d: _with(d, accessors=[{"count": -1, "type": "VEC3"}]), r"accessors\[0\]"),
    (lambda d: _with(d, nodes=[{"children": [0]}]), "cannot be|no triangle"),
    (lambda d: _with(d, nodes=[{"children": [1, 1]}, {}]), r"nodes\[0\]: expected children"),
    (lambda d: _with(d, extensionsUsed=["KHR_draco_mesh_compression"]), "triangles are packed"),
]


@pytest.mark.parametrize(("make", "said"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_wrong_is_said_in_one_line(
    make: Callable[[Path], Path], said: str, tmp_path: Path
) -> None:
    path = make(tmp_path)
    with pytest.raises(SceneError, match=said) as refused:
        load_mesh_file(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_material_file_may_not_climb_either(tmp_path: Path) -> None:
    (tmp_path / "secret.mtl").write_text("newmtl a\nKd 1 0 0\n")
    (tmp_path / "in").mkdir()
    body = "usemtl a\nv 0 0 0\nv 4 0 0\nv 0 0 4\nf 1 2 3\n"
    path = _bytes(tmp_path / "in", "a.obj", f"mtllib ../secret.mtl\n{body}".encode())
    with pytest.raises(SceneError, match="leads out of its folder"):
        load_mesh_file(path)
    # A picture that is not there is no reason to see nothing.
    path = _bytes(tmp_path / "in", "b.obj", f"mtllib gone.mtl\n{body}".encode())
    assert load_mesh_file(path).missing == ("gone.mtl",)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(60))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "near.bin").symlink_to(tmp_path / "secret.bin")
    path = gltf(tmp_path / "in", buffers=[{"byteLength": 60, "uri": "near.bin"}])
    with pytest.raises(SceneError, match="leads out of its folder"):
        load_mesh_file(path)


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ("Furniture/CoffeeTable_02.001", "coffee table"),
        ("sofa", "sofa"),
        ("ceiling_lamp_1", "ceiling lamp"),
        ("door Hallway_1 <-> Kitchen_4", "door hallway 1 kitchen"),
        ("42", "thing"),
    ],
)
def test_names_of_nodes_become_plain_words(node: str, name: str) -> None:
    assert readable_name(node) == name
