import numpy as np
import pytest

from navloom.scenes.geometry.building import building_of
from navloom.scenes.geometry.mesh import assembled
from navloom.scenes.geometry.owners import CEILING, FLOOR, owner_name
from navloom.scenes.geometry.structure import structure_parts
from navloom.scenes.uri import load_scene


@pytest.fixture(scope="module", params=["home:4", "home:21", "demo:flat", "demo:villa"])
def home(request):
    scene = load_scene(request.param)
    return scene, assembled(structure_parts(scene))


def _inside(scene, count, seed=0):
    """Places in rooms under a ceiling, at most heights."""
    dice = np.random.default_rng(seed)
    rooms = [r for s in building_of(scene).storeys for r in s.rooms if not r.outdoors]
    found = []
    while len(found) < count:
        room = rooms[dice.integers(len(rooms))]
        left, near, right, far = room.area.bounds
        x, z = dice.uniform(left, right), dice.uniform(near, far)
        from shapely import Point

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
