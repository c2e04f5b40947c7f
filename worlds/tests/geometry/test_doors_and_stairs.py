from dataclasses import replace

import numpy as np
import pytest

from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry.building import building_of
from navloom_worlds.geometry.building_mesh import structure_parts
from navloom_worlds.geometry.mesh import merge_parts
from navloom_worlds.geometry.semantic_ids import STAIRS, WALL, door_owner, opening_owner
from navloom_worlds.mend.scene_edits import edit_scene

pytestmark = pytest.mark.slow

HOME = load_scene("home:4")  # Has doors of all three kinds.


def _meshed(scene):
    return merge_parts(structure_parts(scene))


def _share_shut(scene, way):
    """Of rays straight through a doorway, how many its door stops; how many something else does."""
    mesh = _meshed(scene)
    across = np.array([-way.along[1], way.along[0]])
    spots = [
        np.array(way.a) + way.along * way.width * u - across * 0.6
        for u in np.linspace(0.05, 0.95, 19)
    ]
    height = way.low + np.linspace(0.3, 1.7, 15)
    origins = np.array([(x, y, z) for x, z in spots for y in height], dtype=np.float32)
    ways = np.tile(np.array([across[0], 0, across[1]], dtype=np.float32), (len(origins), 1))
    hits = mesh.caster.cast(origins, ways)
    stopped = (hits.face >= 0) & (hits.distance < 1.2)
    by_door = stopped & (mesh.owners[hits.face] == way.owner)
    return by_door.mean(), (stopped & ~by_door).mean()


def _state(scene, number, state):
    links = list(scene.links)
    links[number] = links[number].model_copy(update={"door": state})
    return scene.replace(links=tuple(links))


@pytest.mark.parametrize("leaf", ["hinged", "sliding", "folding"])
def test_a_door_stands_as_its_state_says(leaf):
    way = next(w for w in building_of(HOME).ways if w.leaf == leaf and w.kind == "door")
    number = next(i for i in range(len(HOME.links)) if door_owner(i) == way.owner)
    shut = {
        state: _share_shut(_state(HOME, number, state), way)
        for state in ("open", "ajar", "closed", "locked", None)
    }
    assert all(other == 0 for _, other in shut.values())
    assert shut["open"][0] < 0.25
    assert shut["closed"][0] == shut["locked"][0] > 0.98
    assert shut["open"][0] + 0.2 < shut["ajar"][0] < 0.95
    assert shut[None] == shut["open"]


def test_a_hinged_leaf_stays_within_the_floor_that_it_sweeps():
    from shapely import MultiPoint, Polygon

    for way in building_of(HOME).ways:
        if way.leaf != "hinged" or way.swing is None or way.kind != "door":
            continue
        for part_owner, part in structure_parts(_state(HOME, -way.owner + door_owner(0), "open")):
            if part_owner == way.owner and part.vertices[:, 1].max() < way.head - 0.001:
                reach = Polygon(way.swing).buffer(0.09).union(way.strip(0.09).buffer(0.02))
                assert reach.contains(MultiPoint(part.vertices[:, [0, 2]]))
        break


def test_windows_have_frames_and_front_doors_leaves_of_their_own_number():
    mesh = _meshed(HOME)
    for number, opening in enumerate(HOME.openings):
        faces = mesh.faces[mesh.owners == opening_owner(number)]
        corners = mesh.vertices[faces].reshape(-1, 3)
        (ax, az), (bx, bz) = opening.jambs
        assert len(faces) > 20, opening
        middle = np.array([(ax + bx) / 2, (az + bz) / 2])
        far = np.abs(corners[:, [0, 2]] - middle).max()
        assert far < np.hypot(ax - bx, az - bz) / 2 + 1.0, opening


def test_a_doorway_is_cut_into_a_wall_that_leaves_none():
    flat = load_scene("demo:flat")
    number = next(i for i, link in enumerate(flat.links) if link.kind == "door")
    link = flat.links[number]
    whole = [w for w in flat.walls if w.a[1] == w.b[1] == link.point[2]]
    long = whole[0].model_copy(update={"a": (0.0, link.point[2]), "b": (2.4, link.point[2])})
    solid = flat.replace(walls=(*(w for w in flat.walls if w not in whole), long))
    opened = _state(solid, number, "open")
    way = next(w for w in building_of(opened).ways if w.owner == door_owner(number))
    assert _share_shut(opened, way)[1] == 0
    down = _meshed(opened).caster.cast(
        np.array([link.point[0], 2.4, link.point[2] - 0.2], dtype=np.float32),
        np.array([[0, 0, 1]], dtype=np.float32),
    )
    assert down.distance[0] == pytest.approx(0.15, abs=1e-3), "there is wall over the doorway"


@pytest.mark.parametrize("uri", ["home:0", "home:4", "home:9"])
def test_one_steps_on_treads_where_the_scene_has_them_and_finds_headroom(uri):
    scene = load_scene(uri)
    mesh = _meshed(scene)
    for flight in scene.stairs:
        for step in (*flight.treads, *flight.landings):
            eye = np.array([step.center[0], step.top + 1.0, step.center[2]], dtype=np.float32)
            ways = np.array([[0, -1, 0], [0, 1, 0]], dtype=np.float32)
            hits = mesh.caster.cast(eye, ways)
            assert mesh.owners[hits.face[0]] == STAIRS
            assert hits.distance[0] == pytest.approx(1.0, abs=2e-3)
            assert hits.distance[1] > 0.85, "one hits one's head"


def test_ramps_rise_evenly_and_what_is_sunk_lies_lower():
    scene = load_scene("home:1110")
    ramp = next(f for f in scene.stairs if len(f.treads) > 5 and f.treads[0].size[1] < 0.05)
    mesh = _meshed(scene)
    (x0, y0, z0), (x1, y1, z1) = ramp.line[:2]
    for share in np.linspace(0.05, 0.95, 7):
        x, y, z = x0 + (x1 - x0) * share, y0 + (y1 - y0) * share, z0 + (z1 - z0) * share
        hits = mesh.caster.cast(
            np.array([x, y + 1, z], dtype=np.float32), np.array([[0, -1, 0]], dtype=np.float32)
        )
        assert mesh.owners[hits.face[0]] == STAIRS
        assert hits.distance[0] == pytest.approx(1.0, abs=2e-3)


def test_no_two_looks_lie_in_one_place():
    """Faces of different looks in one plane would flicker."""
    for uri in ("home:0", "home:2", "demo:villa"):
        scene = load_scene(uri)
        mesh = _meshed(scene)
        dice = np.random.default_rng(5)
        eyes = np.add([v.position for v in scene.viewpoints[::6]], (0, 1.4, 0))
        origins = np.repeat(eyes, 400, axis=0).astype(np.float32)
        ways = dice.standard_normal(origins.shape).astype(np.float32)
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        first = mesh.caster.cast(origins, ways)
        corners = mesh.vertices[mesh.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        for bit in range(int(mesh.surface.max()).bit_length()):
            odd = (mesh.surface >> bit) & 1 == 1
            near = []
            for hidden in (odd, ~odd):
                hits = mesh.without(hidden).caster.cast(origins, ways)
                faces = np.flatnonzero(~hidden)[hits.face]
                facing = (normals[faces] * ways).sum(axis=1) < -0.02
                near.append(np.where(facing, hits.distance, np.inf))
            seen = np.minimum(near[0], near[1]) <= first.distance + 1e-5
            with np.errstate(invalid="ignore"):
                assert not (seen & (np.abs(near[0] - near[1]) < 1e-4)).any(), uri


@pytest.mark.parametrize("home", [HOME, load_scene("home:26")])  # The second has handrails.
def test_faces_are_turned_to_who_sees_them(home: Scene):
    mesh = _meshed(home)
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    dice = np.random.default_rng(2)
    for viewpoint in home.viewpoints[::5]:
        eye = np.array(viewpoint.position, dtype=np.float32) + np.float32([0, 1.4, 0])
        ways = dice.standard_normal((500, 3)).astype(np.float32)
        hits = mesh.caster.cast(eye, ways)
        met = (hits.face >= 0) & (mesh.owners[hits.face] >= -10)
        assert ((normals[hits.face[met]] * ways[met]).sum(axis=1) <= 0).all()


def test_edits_open_and_shut_what_is_seen():
    doors = [link for link in HOME.links if link.kind == "door" and link.door == "open"]
    words = f"{doors[0].a}<->{doors[0].b}"
    shut = edit_scene(HOME, "shut", close=[words])
    way = next(
        w for w in building_of(shut).ways if w.owner == door_owner(HOME.links.index(doors[0]))
    )
    assert way.state == "closed"
    assert replace(way, state="open") == next(
        w for w in building_of(HOME).ways if w.owner == way.owner
    )
    assert WALL in merge_parts(structure_parts(shut)).owners
