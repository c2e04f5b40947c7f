"""Conformance checks of image contents on a known scene, and of scene changes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.distances import turn_between
from navloom.scenes.scene import Scene, Wall
from navloom.sim.conformance.testbed import (
    SkippedError,
    Testbed,
    expect,
    expect_angle,
    expect_close,
    expect_refusal,
    make_test_scene,
    reset_at,
    skip_unless,
)
from navloom.sim.protocol import ChangingSimulator, Observation, RenderedView, Simulator, View

_WALL_X = -3.0
_NEW_WALL_X = 1.5
_WITHIN_M = 0.12
"""Tolerance in metres for the thickness of walls."""
_LAMP = (0.6, -1.0, 1.8)
"""Position of the test scene's lamp from the eye on its hub, facing -z: right, up, ahead."""


def check_depth_known(bench: Testbed) -> None:
    """Check that depth is metres along the view axis, by a wall at a known distance."""
    with bench.made() as simulator:
        skip_unless(simulator, "depth")
        seen = reset_at(simulator, "hub", math.radians(270))
        view = _level(seen, "depth", 270)
        rows, columns = view.image.shape
        for part in (0.25, 0.5, 0.75):
            found = float(view.image[rows // 2, int(columns * part)])
            expect_close(f"the wall to the west, {part:.0%} across", found, -_WALL_X, _WITHIN_M)
        east = _middle(_level(reset_at(simulator, "hub", math.radians(90)), "depth", 90))
        expect(east == 0 or east > 3.5, f"to the east nothing is near: expected over 3.5, {east}")


def check_ids_known(bench: Testbed) -> None:
    """Check that an item's number in ``ids`` is at its known position and depth."""
    scene = make_test_scene()
    # Frames of ids number items from 1, in the order of the scene.
    lamp = 1 + [item.id for item in scene.items].index("lamp")
    with bench.made() as simulator:
        skip_unless(simulator, "ids")
        seen = reset_at(simulator, "hub", 0.0)
        view = _level(seen, "ids", 0)
        where = view.image == lamp
        expect(bool(where.any()), f"looking north: expected the lamp, {lamp}, in ids")
        right, up, ahead = _LAMP
        rows, columns = np.nonzero(where)
        height, width = view.image.shape
        half = math.tan(view.fov / 2)
        across = float(columns.mean() + 0.5) / width * 2 - 1
        down = float(rows.mean() + 0.5) / height * 2 - 1
        expect_close("the lamp across the view", across * half, right / ahead, 0.1)
        expect_close("the lamp down the view", down * half * height / width, -up / ahead, 0.3)
        if "depth" in simulator.capabilities:
            depth = _level(seen, "depth", 0).image
            if depth.shape == view.image.shape:
                expect_close("how far the lamp is", float(np.median(depth[where])), ahead, 0.3)


def check_seams(bench: Testbed) -> None:
    """Check that four level views of 90 degrees join: depths agree at adjacent edges."""
    with bench.simulator() as simulator:
        seen = reset_at(simulator, bench.start).images.get("depth", ())
        around = sorted(_square(seen), key=lambda view: view.heading)
        if len(around) != 4:
            raise SkippedError("no four level depth views of 90 degrees are taken")
        shares = []
        for one, two in zip(around, [*around[1:], around[0]], strict=True):
            left, right = one.image[:, -3:], two.image[:, :3]
            # Pixel centres are a pixel apart, also on walls that run towards the eye.
            slack = 0.04 * np.maximum(left.max(axis=1), right.max(axis=1))
            below = left.min(axis=1) - slack <= right.max(axis=1)
            shares.append(float((below & (right.min(axis=1) - slack <= left.max(axis=1))).mean()))
        found = ", ".join(f"{share:.0%}" for share in shares)
        # Rows may differ where an object ends at the seam.
        expect(sum(shares) / 4 >= 0.8, f"depth at the four edges: rows that agree: {found}")


def check_lazy(bench: Testbed) -> None:
    """Check that an image is rendered once, on first access, and that a step renders none."""
    with bench.simulator() as simulator:
        seen = reset_at(simulator, bench.start)
        views = [view for each in seen.images.values() for view in each]
        made = [view for view in views if isinstance(view, RenderedView)]
        if not made:
            raise SkippedError("no picture is a RenderedView: all are there at once")
        simulator.step({})
        early = sum(view.made for view in made)
        expect(not early, f"{early} of {len(made)} pictures were made before anybody looked")
        expect(made[0].image is made[0].image, "a picture read twice was made twice")


def check_change(bench: Testbed) -> None:
    """Check that a changed copy replaces the scene, agents stay, and old views stay old."""
    with bench.made() as simulator:
        skip_unless(simulator, "change")
        expect(isinstance(simulator, ChangingSimulator), "'change' is claimed: expected change()")
        assert isinstance(simulator, ChangingSimulator)  # noqa: S101  as was just seen
        expect_refusal("a change before reset", lambda: simulator.change(_changed()))
        before = reset_at(simulator, "hub", math.radians(90))
        after = simulator.change(_changed())["robot"]
        expect(simulator.scene == _changed(), "scene: expected the copy")
        expect(after.pose.viewpoint == "hub", f"it stood on the hub, now {after.pose.viewpoint}")
        expect_angle("its heading after the change", after.pose.heading, math.radians(90))
        _without_south(simulator, after)
        without_hub = _changed().replace(
            viewpoints=tuple(v for v in _changed().viewpoints if v.id != "hub"), edges=()
        )
        expect_refusal(
            "a copy without the viewpoint one is on", lambda: simulator.change(without_hub)
        )
        _without_south(simulator, simulator.step({})["robot"])
        if "depth" in simulator.capabilities:
            was, now = (_middle(_level(seen, "depth", 90)) for seen in (before, after))
            expect_close("the new wall to the east", now, _NEW_WALL_X, _WITHIN_M)
            apart = abs(was - now) > 1
            expect(apart, f"what was seen before the change shows the new wall, at {was:.2f} m")


def _without_south(simulator: Simulator, seen: Observation) -> None:
    if "hop" in simulator.capabilities:
        found = {way.viewpoint for way in seen.candidates}
        expect(found == {"north", "east", "west"}, f"ways in the copy: found {sorted(found)}")


def _changed() -> Scene:
    """Return the test scene without the edge to the south, and with a wall east of the hub."""
    scene = make_test_scene()
    wall = Wall(a=(_NEW_WALL_X, -3.0), b=(_NEW_WALL_X, 3.0), bottom=0.0, height=2.5)
    edges = tuple(each for each in scene.edges if "south" not in (each.a, each.b))
    return scene.replace(edges=edges, walls=(*scene.walls, wall))


def _square(views: tuple[View, ...]) -> list[View]:
    quarter = math.pi / 2
    return [
        view
        for view in views
        if view.projection == "pinhole"
        and view.elevation == 0
        and abs(view.fov - quarter) < 1e-6
        and abs(turn_between(round(view.heading / quarter) * quarter, view.heading)) < 1e-6
    ]


def _level(seen: Observation, sensor: str, degrees: float) -> View:
    for view in seen.images.get(sensor, ()):
        turn = turn_between(math.radians(degrees), view.heading)
        if view.projection == "pinhole" and abs(turn) < 0.01 and abs(view.elevation) < 0.01:
            return view
    raise SkippedError(f"no level view of {sensor} looks {degrees:.0f} degrees")


def _middle(view: View) -> float:
    image: NDArray[np.float32] = view.image
    return float(image[image.shape[0] // 2, image.shape[1] // 2])
