import numpy as np
import pytest
from shapely import Point

from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry.building import building_of
from navloom_worlds.geometry.building_mesh import structure_parts
from navloom_worlds.geometry.mesh import merge_parts
from navloom_worlds.geometry.semantic_ids import CEILING, FLOOR, WALL, owner_name
from navloom_worlds.mend.scene_edits import edit_scene

pytestmark = pytest.mark.slow


def _turned(scene, angle=0.5):
    """The same home, askew."""
    cos, sin = np.cos(angle), np.sin(angle)

    def flat(spot):
        return spot[0] * cos - spot[1] * sin, spot[0] * sin + spot[1] * cos

    def spot(place):
        x, z = flat((place[0], place[2]))
        return x, place[1], z

    def boxes(many):
        return tuple(_with(b, center=spot(b.center), yaw=b.yaw + angle) for b in many)

    def spots(many):
        return many and tuple(flat(each) for each in many)

    def _with(part, **changes):
        return part.model_copy(update=changes)

    return scene.replace(
        walls=tuple(_with(w, a=flat(w.a), b=flat(w.b)) for w in scene.walls),
        regions=tuple(
            _with(r, center=spot(r.center), polygon=spots(r.polygon), box=boxes([r.box])[0])
            for r in scene.regions
        ),
        links=tuple(
            _with(k, point=spot(k.point), jambs=spots(k.jambs), swing=spots(k.swing))
            for k in scene.links
        ),
        openings=tuple(
            _with(o, jambs=spots(o.jambs), swing=spots(o.swing)) for o in scene.openings
        ),
        stairs=tuple(
            _with(
                f, treads=boxes(f.treads), landings=boxes(f.landings), line=tuple(map(spot, f.line))
            )
            for f in scene.stairs
        ),
    )


@pytest.fixture(
    scope="module", params=["home:4", "home:21", "demo:flat", "demo:villa", "home:9 askew"]
)
def home(request):
    uri, _, askew = request.param.partition(" ")
    scene = load_scene(uri)
    scene = _turned(scene) if askew else scene
    return scene, merge_parts(structure_parts(scene))


def _inside(scene, count, seed=0):
    """Places in rooms under a ceiling, at most heights."""
    dice = np.random.default_rng(seed)
    rooms = [r for s in building_of(scene).storeys for r in s.rooms if not r.outdoors]
    found = []
    while len(found) < count:
        room = rooms[dice.integers(len(rooms))]
        left, near, right, far = room.area.bounds
        x, z = dice.uniform(left, right), dice.uniform(near, far)
        if room.area.buffer(-0.1).contains(Point(x, z)):
            found.append((x, room.level + dice.uniform(0.2, 2.0), z))
    return np.array(found, dtype=np.float32)


def test_the_sky_is_seen_through_windows_and_front_doors_alone(home):
    scene, mesh = home
    dice = np.random.default_rng(1)
    places = _inside(scene, 15)
    ways = dice.standard_normal((1000, 3)).astype(np.float32)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    holes = [
        way
        for way in building_of(scene).ways
        if len(way.rooms) == 1
        or any(
            "outdoor" in r or "Terrace" in r or "Patio" in r or "Balcony" in r for r in way.rooms
        )
    ]
    leaks = 0
    for place in places:
        hits = mesh.caster.cast(place, ways)
        for way in ways[hits.face < 0]:
            leaks += not any(_goes_through(place, way, hole) for hole in holes)
    assert leaks == 0


def _goes_through(place, way, hole):
    """Whether a ray crosses a hole's plane within it."""
    (ax, az), (bx, bz) = hole.a, hole.b
    across = np.array([-(bz - az), bx - ax]) / hole.width
    speed = way[0] * across[0] + way[2] * across[1]
    if abs(speed) < 1e-9:
        return False
    t = ((ax - place[0]) * across[0] + (az - place[2]) * across[1]) / speed
    x, y, z = place + t * way
    along = ((x - ax) * (bx - ax) + (z - az) * (bz - az)) / hole.width
    slack = 0.01 + hole.thick / 2 * np.hypot(way[0], way[2]) / abs(speed)
    return (
        t > 0
        and -slack <= along <= hole.width + slack
        and hole.low - slack <= y <= hole.head + slack
    )


def test_floors_and_ceilings_are_where_rooms_say(home):
    scene, mesh = home
    for region in scene.regions:
        x, y, z = region.center
        down = mesh.caster.cast(
            np.array([x, y + 1.5, z], dtype=np.float32), np.array([[0, -1, 0]], dtype=np.float32)
        )
        owner = mesh.owners[down.face[0]]
        if "stair" in region.label:
            continue
        assert owner == FLOOR, (region.id, owner_name(scene, owner))
        assert down.distance[0] == pytest.approx(1.5, abs=2e-3)
        up = mesh.caster.cast(
            np.array([x, y + 1.5, z], dtype=np.float32), np.array([[0, 1, 0]], dtype=np.float32)
        )
        outdoors = region.label in ("terrace", "patio", "balcony")
        assert outdoors or mesh.owners[up.face[0]] == CEILING or region.floor == 1


def test_odd_scenes_are_built_as_far_as_they_go():
    wall = {"a": (0, 0), "b": (3, 0), "bottom": 0, "height": 2.5}
    rooms = [{"id": "A_1", "center": (0, 0, 0)}, {"id": "B_2", "center": (0, 0, 0)}]
    nowhere = {"center": (0, 0, 0), "size": (0, 0, 0)}
    odd = [
        {"walls": [{**wall, "b": (0, 0)}]},
        {"walls": [wall, wall]},
        {"regions": [{**rooms[0], "polygon": [(0, 0), (3, 3), (3, 0), (0, 3)]}]},
        {"regions": [{**rooms[0], "polygon": [(0, 0), (1, 0), (2, 0)]}]},
        {"walls": [{**wall, "bottom": 5}], "floors": [{"id": n, "height": 3 * n} for n in (1, 2)]},
        {"links": [{"a": "A_1", "b": "B_2", "kind": "door"}]},
        {"links": [{"a": "A_1", "b": "B_2", "kind": "door", "point": (1.5, 0, 0), "width": 9}]},
        {"links": [{"a": "A_1", "b": "B_2", "kind": "door", "jambs": [(1, 0), (1, 0)]}]},
        {"openings": [{"kind": "window", "region": "A_1", "jambs": [(1, 0), (1, 0)], "bottom": 1,
                       "height": 1}]},
        {"stairs": [{"a": "A_1", "b": "B_2", "treads": [nowhere], "line": [(0, 0, 0), (0, 0, 0)]}]},
    ]  # fmt: skip
    for each in odd:
        plain = {"id": "odd", "floors": [{"id": 1, "height": 0}], "regions": rooms, "walls": [wall]}
        mesh = merge_parts(structure_parts(Scene.model_validate({**plain, **each})))
        assert len(mesh.faces), each
        assert np.isfinite(mesh.vertices).all(), each


def test_a_changed_copy_keeps_its_paint() -> None:
    home = load_scene("home:3")
    copy = edit_scene(home, "another", close=("1",))
    before = {part.surface for owner, part in structure_parts(home) if owner in (WALL, FLOOR)}
    after = {part.surface for owner, part in structure_parts(copy) if owner in (WALL, FLOOR)}
    assert before == after
    other = {p.surface for owner, p in structure_parts(load_scene("home:4")) if owner == WALL}
    assert other - before
