"""Where one can stand in meshes made in code, and in homes."""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx
import numpy as np
import pytest
from shapely import Point, Polygon

from navloom.errors import SceneError
from navloom.scenes.scene import Box
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry.mesh import SceneMesh, merge_parts
from navloom_worlds.geometry.mesh_graph import MeshGraph, build_mesh_graph, find_levels
from navloom_worlds.geometry.solids import Part, Surface, as_f32, box
from navloom_worlds.geometry.walkable_area import WalkableField, build_walkable_field, walkable_mesh
from worlds.tests.geometry.free_floor import overlap, walked_in

pytestmark = pytest.mark.slow

PLAIN = Surface()
Corners = tuple[tuple[float, float, float], tuple[float, float, float]]


def mesh_of(*boxes: Corners, parts: Iterable[Part] = ()) -> SceneMesh:
    return merge_parts([(-6, part) for part in [*(box(a, b, PLAIN) for a, b in boxes), *parts]])


def shell(x0: float, z0: float, x1: float, z1: float, y: float = 0.0) -> list[Corners]:
    """A floor, a ceiling and four walls, each 10 cm thick."""
    return [
        ((x0, y - 0.1, z0), (x1, y, z1)),
        ((x0, y + 2.5, z0), (x1, y + 2.6, z1)),
        ((x0, y, z0), (x1, y + 2.5, z0 + 0.1)),
        ((x0, y, z1 - 0.1), (x1, y + 2.5, z1)),
        ((x0, y, z0), (x0 + 0.1, y + 2.5, z1)),
        ((x1 - 0.1, y, z0), (x1, y + 2.5, z1)),
    ]


def ramp(a: tuple[float, float, float], b: tuple[float, float, float], half: float) -> Part:
    """A slope along x from a up to b, so far to both sides."""
    (x, y, z), (u, w, _) = a, b
    corners = [(x, y, z - half), (u, w, z - half), (u, w, z + half), (x, y, z + half)]
    return Part(as_f32(corners), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32), PLAIN)


def connected(graph: MeshGraph) -> bool:
    joined: nx.Graph[str] = nx.Graph((edge.a, edge.b) for edge in graph.edges)
    joined.add_nodes_from(each.id for each in graph.viewpoints)
    return nx.is_connected(joined)


def area_at(field: WalkableField, height: float) -> float:
    near = np.abs(field.height[field.main] - height) < 0.05
    return float(np.count_nonzero(near)) * field.grid.cell**2


def test_an_empty_room_is_floor_less_a_body_at_the_walls() -> None:
    field = build_walkable_field(mesh_of(*shell(0, 0, 5, 4)))
    # Between the walls 4.8 x 3.8 m, less 0.2 m at each side.
    assert field.area == pytest.approx(4.4 * 3.4, rel=0.03)
    assert field.layers.shape[0] == 1
    assert field.stands((0.35, 0, 0.35))
    assert not field.stands((0.2, 0, 2))
    assert not field.stands((2, 2.6, 2))  # the roof
    near = field.nearest((-3, 0, 2))
    assert near is not None
    assert near == pytest.approx((0.3, 0, 2), abs=0.06)


@pytest.mark.parametrize(
    ("thing", "at"),
    [
        ([((2, 0.7, 1.5), (3.2, 0.75, 2.5))], 0.75),  # a table top without legs
        ([((2, 0, 1.5), (3.2, 0.5, 2.5))], 0.5),  # a bed
        ([((2, 0.24, 1.7), (2.2, 0.25, 1.9))], 0.25),  # a thing too small to step on
    ],
)
def test_tops_of_things_are_no_floor_nor_what_is_under_them(
    thing: list[Corners], at: float
) -> None:
    empty = build_walkable_field(mesh_of(*shell(0, 0, 5, 4)))
    field = build_walkable_field(mesh_of(*shell(0, 0, 5, 4), *thing))
    (x, _, z), (u, _, w) = thing[0]
    assert area_at(field, at) == 0
    assert not field.stands(((x + u) / 2, 0, (z + w) / 2))
    # What a body keeps clear of is the thing and 0.2 m around it, with round corners.
    wide, deep = u - x, w - z
    taken = wide * deep + 0.4 * (wide + deep) + np.pi * 0.04
    assert empty.area - field.area == pytest.approx(taken, rel=0.15)


def test_a_hollow_cabinet_has_no_floor_inside() -> None:
    sides = [
        (0.0, 0.0, 1.2, 0.02),
        (0.0, 1.18, 1.2, 1.2),
        (0.0, 0.0, 0.02, 1.2),
        (1.18, 0, 1.2, 1.2),
    ]
    cabinet = [((2 + a, 0, 1 + b), (2 + c, 2.3, 1 + d)) for a, b, c, d in sides]
    field = build_walkable_field(mesh_of(*shell(0, 0, 6, 5), *cabinet))
    assert not field.stands((2.6, 0, 1.6))
    assert field.stands((2.6, 0, 3))
    # It is found, and told to be apart.
    assert field.other_area == pytest.approx(0.76**2, rel=0.2)


def test_a_wall_as_thin_as_a_sheet_parts_two_rooms_and_a_door_in_it_joins_them() -> None:
    def wall(z0: float, z1: float) -> Part:
        corners = [(2.5, 0, z0), (2.5, 0, z1), (2.5, 2.5, z1), (2.5, 2.5, z0)]
        return Part(as_f32(corners), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32), PLAIN)

    parted = build_walkable_field(mesh_of(*shell(0, 0, 6, 4), parts=[wall(0, 4)]))
    assert parted.stands((4.5, 0, 2))
    assert not parted.stands((1, 0, 2))
    joined = build_walkable_field(mesh_of(*shell(0, 0, 6, 4), parts=[wall(0, 1), wall(1.8, 4)]))
    assert joined.stands((1, 0, 2))
    assert not joined.clear((1, 0, 3), (4, 0, 3))
    assert joined.clear((1, 0, 1.4), (4, 0, 1.4))
    graph = build_mesh_graph(joined)
    assert connected(graph)
    for edge in graph.edges:
        a, b = (next(v for v in graph.viewpoints if v.id == end) for end in (edge.a, edge.b))
        assert joined.clear(a.position, b.position)


def two_storeys(way_up: Iterable[Corners] = (), parts: Iterable[Part] = ()) -> SceneMesh:
    """A hall with a gallery over its far end, 2.8 m up, and a roof over both."""
    walls = [((x0, 0, z0), (x1, 5.4, z1)) for x0, z0, x1, z1 in
             ((0, 0, 9, 0.1), (0, 3.9, 9, 4), (0, 0, 0.1, 4), (8.9, 0, 9, 4))]  # fmt: skip
    slabs = [((0, -0.1, 0), (9, 0, 4)), ((6, 2.7, 0), (9, 2.8, 4)), ((0, 5.4, 0), (9, 5.5, 4))]
    return mesh_of(*walls, *slabs, *way_up, parts=parts)


STEPS: list[Corners] = [
    ((2.6 + 0.25 * k, 0.0, 1.5), (2.85 + 0.25 * k + 0.01, 0.2 * (k + 1), 2.5)) for k in range(14)
]


@pytest.mark.parametrize("way", ["steps", "ramp", "none"])
def test_two_storeys_are_joined_by_stairs_and_by_a_ramp(way: str) -> None:
    slope = ramp((1.6, 0, 2), (6.05, 2.8, 2), 0.5)
    mesh = two_storeys(STEPS if way == "steps" else (), [slope] if way == "ramp" else ())
    field = build_walkable_field(mesh)
    assert field.stands((1, 0, 2))
    # Under the gallery one stands too: two layers over one another.
    assert field.stands((8, 0, 2))
    assert field.stands((8, 2.8, 2)) == (way != "none")
    assert len(field.layers) == (1 if way == "none" else 2)
    graph = build_mesh_graph(field)
    assert connected(graph)
    assert [floor.height for floor in graph.floors] == pytest.approx(
        [0] if way == "none" else [0, 2.8], abs=0.02
    )
    assert all(field.stands(each.position) for each in graph.viewpoints)
    assert {each.id.partition("_")[0] for each in graph.viewpoints} == {
        str(floor.id) for floor in graph.floors
    }


def test_a_step_too_high_is_not_climbed() -> None:
    low = build_walkable_field(mesh_of(*shell(0, 0, 6, 4), ((4.0, 0.0, 0.0), (6.0, 0.2, 4.0))))
    assert low.stands((5, 0.2, 2))
    assert low.stands((1, 0, 2))
    high = build_walkable_field(mesh_of(*shell(0, 0, 6, 4), ((4.0, 0.0, 0.0), (6.0, 0.3, 4.0))))
    assert not high.stands((5, 0.3, 2))
    graph = build_mesh_graph(low)
    assert connected(graph)
    assert len(find_levels(low)) == 2
    assert len(graph.floors) == 1


def test_where_nobody_fits_there_is_no_viewpoint() -> None:
    field = build_walkable_field(mesh_of(((0, 0, 0), (1, 1.0, 1))), head=3.0, body=0.6)
    assert build_mesh_graph(field).viewpoints == ()
    assert field.nearest((0, 0, 0)) is None


def test_land_without_end_is_refused() -> None:
    with pytest.raises(SceneError, match=r"covers 400 x 400 m: expected at most 6,250 square"):
        build_walkable_field(mesh_of(((0, -1, 0), (400, 0, 400))))


@pytest.mark.parametrize("seed", [0, 55])
def test_a_home_from_its_mesh_is_its_true_free_floor(seed: int) -> None:
    home = load_scene(f"home:{seed}")
    field = build_walkable_field(walked_in(home))
    for share in overlap(home, field).values():
        assert share > 0.85
    graph = build_mesh_graph(field)
    assert connected(graph)
    assert [f.height for f in graph.floors] == pytest.approx(
        [f.height for f in home.floors], abs=0.03
    )
    for viewpoint in graph.viewpoints:
        x, y, z = viewpoint.position
        for item in home.items:
            if item.size is None or item.size[1] < 0.3:
                continue
            thing = Box(center=item.position, size=item.size, yaw=item.yaw)
            beside = not Polygon(thing.corners()).contains(Point(x, z))
            # On no table, in no cabinet; under what hangs.
            assert beside or thing.top < y - 0.05 or thing.bottom > y + 1.5, item.id


def test_doors_are_walked_through_and_windows_never() -> None:
    walls = [((2.4, 0, 0), (2.5, 2.5, 1)), ((2.4, 0, 2), (2.5, 2.5, 4))]
    hole = [((2.4, 0, 0.95), (2.5, 2.5, 1.0)), ((2.4, 0, 2.0), (2.5, 2.5, 2.05))]  # a frame
    rooms = [(-1, box(a, b, PLAIN)) for a, b in [*shell(0, 0, 6, 4), *walls]]
    frame = [(1, box(a, b, PLAIN)) for a, b in hole]
    leaf = [(2, box((2.44, 0, 1), (2.46, 2.5, 2), PLAIN))]
    assert build_walkable_field(merge_parts([*rooms, *frame])).stands((1, 0, 2))
    assert not build_walkable_field(walkable_mesh(merge_parts([*rooms, *frame]), [], [1])).stands(
        (1, 0, 2)
    )
    assert not build_walkable_field(merge_parts([*rooms, *leaf])).stands((1, 0, 2))
    assert build_walkable_field(walkable_mesh(merge_parts([*rooms, *leaf]), [2], [])).stands(
        (1, 0, 2)
    )


def test_land_under_eaves_is_no_part_of_a_house() -> None:
    house = [each for each in shell(0, 0, 6, 4) if each != ((0, 0, 0), (0.1, 2.5, 4))]
    # A wall is gone, the roof reaches 0.6 m over the lawn on all sides.
    lawn = [((-6, -0.2, -6), (12, -0.1, 10)), ((-0.6, 2.6, -0.6), (6.6, 2.7, 4.6))]
    field = build_walkable_field(mesh_of(*house, *lawn))
    assert field.stands((3, 0, 2))
    assert not field.stands((3, -0.1, -0.4))
    assert not field.stands((-4, -0.1, 2))
