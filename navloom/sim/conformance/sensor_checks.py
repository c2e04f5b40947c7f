"""Conformance checks of captions, images and contacts."""

from __future__ import annotations

import math

import numpy as np

from navloom.sim import protocol
from navloom.sim.conformance.testbed import (
    SkippedError,
    Testbed,
    expect,
    reset_at,
    skip_unless,
    step_agent,
)

_SENSORS: dict[str, tuple[int, type[np.generic]]] = {
    "rgb": (3, np.uint8),
    "depth": (2, np.float32),
    "ids": (2, np.int32),
    "lidar": (2, np.float32),
}
_WALL_X = -3.0


def check_captions(bench: Testbed) -> None:
    """Check that captions are one bounded line, with 8 sectors or none, objects within 3 m."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            found = reset_at(simulator, viewpoint).captions
            expect(found is not None, f"{viewpoint}: 'captions' is claimed and there are none")
            if found is not None:
                _check_captions(viewpoint, found)
                known = found.region is None or found.region in bench.scene.region_by_id
                expect(known, f"{viewpoint}: region: the scene has no {found.region}")


def check_no_captions(bench: Testbed) -> None:
    """Check that there are no captions if they are not claimed."""
    if "captions" in bench.capabilities:
        raise SkippedError("'captions' is claimed")
    with bench.simulator() as simulator:
        found = reset_at(simulator, bench.start).captions
        expect(found is None, "there are captions, and 'captions' is not claimed")


def check_descriptions(bench: Testbed) -> None:
    """Check that a candidate's description is one bounded line."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            for way in reset_at(simulator, viewpoint).candidates:
                _line(f"{viewpoint} to {way.viewpoint}", way.description, protocol.MOST_DESCRIPTION)


def check_images(bench: Testbed) -> None:
    """Check that exactly the claimed sensors have images, of the protocol's shapes and types."""
    with bench.simulator() as simulator:
        first = reset_at(simulator, bench.start)
        claimed = set(_SENSORS) & set(simulator.capabilities)
        found = {sensor for sensor, views in first.images.items() if views}
        expect(found == claimed, f"claimed: {sorted(claimed)}, found: {sorted(found)}")
        for sensor, views in first.images.items():
            for view in views:
                _check_view(sensor, view)
        if not claimed:
            raise SkippedError("no sensor is claimed, and there are no pictures")


def check_frames_agree(bench: Testbed) -> None:
    """Check that rgb, depth and ids have the same views, if they are equally many."""
    with bench.simulator() as simulator:
        seen = reset_at(simulator, bench.start).images
        seen = {sensor: views for sensor, views in seen.items() if sensor != "lidar"}
        if len(seen) < 2:
            raise SkippedError("fewer than two sensors are claimed")
        looks = {
            sensor: [(v.heading, v.elevation, v.fov, v.position, v.projection) for v in views]
            for sensor, views in seen.items()
        }
        first = next(iter(looks.values()))
        if any(len(each) != len(first) for each in looks.values()):
            raise SkippedError("some sensors take more pictures than others")
        expect(all(each == first for each in looks.values()), f"they look elsewhere: {looks}")
        if bench.capabilities >= {"depth", "ids"}:
            sizes = [[v.image.shape for v in seen[sensor]] for sensor in ("depth", "ids")]
            expect(sizes[0] == sizes[1], f"depth and ids are of two sizes: {sizes}")


def check_no_contacts(bench: Testbed) -> None:
    """Check that there are no contacts if collision is not claimed."""
    if "collide" in bench.capabilities:
        raise SkippedError("'collide' is claimed")
    with bench.simulator() as simulator:
        first = reset_at(simulator, bench.start)
        (later,) = simulator.step({}).values()
        expect(not first.contacts + later.contacts, "contacts, and 'collide' is not claimed")


def check_collision(bench: Testbed) -> None:
    """Check that driving at a wall gives contacts, stops before it, and ends after a turn."""
    with bench.made() as simulator:
        skip_unless(simulator, "collide")
        drive: protocol.Action = protocol.Velocity(0.25, 0.0, 1.0)
        if "continuous" not in simulator.capabilities:
            skip_unless(simulator, "discrete")
            drive = protocol.Forward(0.25)
        reset_at(simulator, "west", math.radians(270))
        contacts: list[protocol.Contact] = []
        for _ in range(12):
            seen = step_agent(simulator, drive)
            contacts += seen.contacts
            x = seen.pose.position[0]
            expect(x > _WALL_X - 0.1, f"it went through the wall at x = {_WALL_X}, to {x:.2f}")
        expect(bool(contacts), f"3 m straight at a wall 1.5 m away, and no contact (x = {x:.2f})")
        for contact in contacts:
            deep = math.isfinite(contact.displacement) and contact.displacement >= 0
            expect(bool(contact.what) and deep, f"a contact of something, in metres: {contact}")
        discrete = "discrete" in simulator.capabilities
        turn = protocol.Turn() if discrete else protocol.Velocity(0.0, math.radians(30), 1.0)
        turned = step_agent(simulator, turn)
        expect(not turned.contacts, "turning on the spot touches nothing")


def _check_captions(viewpoint: str, found: protocol.Captions) -> None:
    _line(f"{viewpoint}: summary", found.summary, protocol.MOST_SUMMARY)
    count = len(found.sectors)
    expect(count in (0, 8), f"{viewpoint}: expected eight sectors or none, found {count}")
    for k, sector in enumerate(found.sectors):
        _line(f"{viewpoint}: sector {k}", sector, protocol.MOST_CAPTION)
    metres = [each.distance for each in found.objects]
    expect(metres == sorted(metres), f"{viewpoint}: objects: expected the nearest first: {metres}")
    for each in found.objects:
        what = f"{viewpoint}: {each.name[:20]!r}"
        _line(what, each.name, protocol.MOST_NAME)
        expect(bool(each.name), f"{viewpoint}: an object without a name")
        expect(0 <= each.distance <= protocol.NEAR_M, f"{what}: within 3 m, found {each.distance}")
        expect(0 <= each.heading < 2 * math.pi, f"{what}: heading in [0, 2 pi): {each.heading}")


def _line(what: str, text: str, most: int) -> None:
    expect(len(text) <= most, f"{what}: expected at most {most} characters, found {len(text)}")
    expect(not text or text.isprintable(), f"{what}: expected one line, found {text!r}")


def _check_view(sensor: str, view: protocol.View) -> None:
    expect(sensor in _SENSORS, f"images: the protocol knows no sensor {sensor!r}")
    dimensions, kind = _SENSORS[sensor]
    shape, dtype = view.image.shape, view.image.dtype
    fits = len(shape) == dimensions and dtype == kind and min(shape) > 0
    expect(fits, f"{sensor}: expected {dimensions} dimensions of {kind.__name__}: {shape} {dtype}")
    if sensor == "rgb":
        expect(shape[2] == 3, f"rgb: expected (height, width, 3), found {shape}")
    if sensor in ("depth", "lidar"):
        far = view.image
        expect(
            bool(np.all(far[np.isfinite(far)] >= 0)), f"{sensor}: expected metres, found below 0"
        )
    widest = math.pi if view.projection == "pinhole" else 2 * math.pi + 1e-6
    expect(0 < view.fov < widest, f"{sensor}: fov in radians: {view.fov}")
    expect(0 <= view.heading < 2 * math.pi, f"{sensor}: heading in [0, 2 pi): {view.heading}")
    expect(abs(view.elevation) <= math.pi / 2, f"{sensor}: elevation: {view.elevation}")
