"""Compare habitat's rendering of an exported home with embedded's rendering of the home itself.

``python -m worlds.tests.habitat.check_against_embedded home:7 --poses 200 --out DIR``.

habitat renders the export with OpenGL, and embedded casts rays at the original home, so the check
covers the export. At random poses at eye height, away from walls, it compares depth within 2 cm and
ids, pixel by pixel. It prints the worst pose and draws both images side by side. ``--shift 0.5``
shifts the image by half a pixel, which the check must detect.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.habitat import HabitatSimulator, make
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer
from navloom_worlds.rendering.sensors import Sensor

SHARE, NEAR_M, EYE_M, SIDE = 0.995, 0.02, 1.5, 224
OFF_WALLS_M = 0.35
SENSORS = tuple(Sensor(each, width=SIDE, height=SIDE) for each in ("rgb", "depth", "ids"))  # type: ignore[arg-type]
Pictures = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Compared:
    """One pose: its camera, and the shares of pixels that agree."""

    camera: Camera
    depth: float
    ids: float
    both: float


def cameras_of(scene: Scene, count: int, seed: int = 17) -> list[Camera]:
    """Draw cameras at eye height in rooms, away from walls and items, with random directions."""
    rng = np.random.default_rng(seed)
    caster = scene_mesh(scene).caster
    rooms = [each for each in scene.regions if each.outline is not None]
    shapes = [shapely.Polygon(each.outline).buffer(0) for each in rooms]
    sizes = np.array([each.area for each in shapes])
    turns = np.arange(0, 2 * math.pi, math.pi / 16)
    around = np.stack([np.sin(turns), np.zeros_like(turns), -np.cos(turns)], axis=1)
    ways = np.concatenate([around, [[0, -1, 0]]]).astype(np.float32)
    found: list[Camera] = []
    while len(found) < count:
        k = int(rng.choice(len(rooms), p=sizes / sizes.sum()))
        west, north, east, south = shapes[k].bounds
        x, z = float(rng.uniform(west, east)), float(rng.uniform(north, south))
        heading, elevation = float(rng.uniform(0, 2 * math.pi)), float(rng.uniform(-0.5, 0.4))
        eye = (x, rooms[k].center[1] + EYE_M, z)
        if not shapes[k].contains(shapely.Point(x, z)):
            continue
        free = caster.cast(np.asarray(eye, dtype=np.float32), ways).distance
        if free[:-1].min() >= OFF_WALLS_M and free[-1] >= OFF_WALLS_M:
            found.append(Camera(eye, heading, elevation, SIDE, SIDE))
    return found


def by_embedded(renderer: Renderer, camera: Camera, shift: float = 0.0) -> Pictures:
    """Render depth and ids with embedded; ``shift`` moves the image by so many pixels."""
    starts, ways = camera.rays((shift, 0.0))
    hits = renderer.caster.cast_picture(starts, ways, camera.width)
    shape = (camera.height, camera.width)
    met = hits.face >= 0
    ids = np.where(met, renderer.mesh.owners[hits.face], 0)
    return {"depth": np.where(met, hits.distance, 0).reshape(shape), "ids": ids.reshape(shape)}


def by_habitat(simulator: HabitatSimulator, camera: Camera, *kinds: str) -> Pictures:
    """Render images of some kinds with habitat."""
    look = simulator._eyes.look
    return {each.modality: look(each, camera) for each in SENSORS if each.modality in kinds}


def compared(camera: Camera, one: Pictures, other: Pictures) -> Compared:
    """Return the shares of pixels that agree."""
    near = np.abs(one["depth"] - other["depth"]) <= NEAR_M
    same = one["ids"] == other["ids"]
    return Compared(camera, near.mean(), same.mean(), (near & same).mean())


def all_compared(scene: Scene, count: int, shift: float = 0.0) -> list[Compared]:
    """Compare random poses of a home."""
    renderer = Renderer(scene_mesh(scene))
    simulator = make(scene, rig=SENSORS)
    return [
        compared(
            camera,
            by_embedded(renderer, camera, shift),
            by_habitat(simulator, camera, "depth", "ids"),
        )
        for camera in cameras_of(scene, count)
    ]


def side_by_side(scene: Scene, camera: Camera) -> Image.Image:
    """Draw embedded above habitat: colour, depth, ids, and their differences at the right."""
    frame = Renderer(scene_mesh(scene)).frame(camera)
    ours: Pictures = {"rgb": frame.rgb, "depth": frame.depth, "ids": frame.ids}
    theirs = by_habitat(make(scene, rig=SENSORS), camera, "rgb", "depth", "ids")
    far = max(float(ours["depth"].max()), 1.0)
    apart = np.abs(ours["depth"] - theirs["depth"])
    rows = [
        [
            ("RGB", each["rgb"]),
            ("depth", _grey(each["depth"] / far)),
            ("ids", _painted(each["ids"])),
            last,
        ]
        for each, last in (
            (ours, ("depth apart, white is 2 cm and more", _grey(apart / NEAR_M))),
            (theirs, ("ids differ", _grey((ours["ids"] != theirs["ids"]).astype(float)))),
        )
    ]
    label, gap = 18, 6
    sheet = Image.new("RGB", (4 * (SIDE + gap) + gap, 2 * (SIDE + label + gap)), "white")
    draw = ImageDraw.Draw(sheet)
    for down, (name, row) in enumerate(zip(("embedded", "habitat"), rows, strict=True)):
        for across, (title, image) in enumerate(row):
            x, y = gap + across * (SIDE + gap), down * (SIDE + label + gap)
            draw.text((x, y + 3), title if across == 3 else f"{name}: {title}", fill="black")
            sheet.paste(Image.fromarray(image), (x, y + label))
    return sheet


def _grey(values: NDArray[Any]) -> NDArray[np.uint8]:
    return np.repeat((np.clip(values, 0, 1) * 255).astype(np.uint8)[..., None], 3, axis=2)


def _painted(ids: NDArray[Any]) -> NDArray[np.uint8]:
    colours = ids.astype(np.int64) * 0x9E3779B1 & 0xFFFFFF
    return np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=2).astype(np.uint8)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home")
    parser.add_argument("--poses", type=int, default=200)
    parser.add_argument("--shift", type=float, default=0.0, help="plant a shift of so many pixels")
    parser.add_argument("--out", type=Path, help="a folder for the worst pose as a picture")
    chosen = parser.parse_args(arguments)
    scene = load_scene(chosen.home)
    found = all_compared(scene, chosen.poses, chosen.shift)
    for said, value in (("depth within 2 cm", "depth"), ("ids equal", "ids"), ("both", "both")):
        shares = np.array([getattr(each, value) for each in found])
        print(
            f"{said:18} {shares.mean():9.4%} of pixels, {shares.min():9.4%} at the worst pose, "
            f"{(shares >= SHARE).sum()} of {len(shares)} poses at {SHARE:.1%} or more"
        )
    worst = min(found, key=lambda each: each.both)
    x, y, z = worst.camera.position
    print(
        f"worst: ({x:.3f}, {y:.3f}, {z:.3f}), heading {math.degrees(worst.camera.heading):.1f}, "
        f"elevation {math.degrees(worst.camera.elevation):.1f} degrees: {worst.both:.4%}"
    )
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        side_by_side(scene, worst.camera).save(chosen.out / "worst.png")
        print(f"drawn: {chosen.out / 'worst.png'}")
    agree = all(np.mean([getattr(f, v) for f in found]) >= SHARE for v in ("depth", "ids"))
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
