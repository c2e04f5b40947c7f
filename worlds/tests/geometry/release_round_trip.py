"""Round trip of homes through HM3D's release format: statistics of what stays the same.

    python -m worlds.tests.geometry.release_round_trip home:0-9 [--painted | --rough] [--views 10]

``--painted`` writes instance colours in a texture, as the release has them. ``--rough`` writes a
mesh as a scanner would give it. ``--views`` compares frames of ids from so many viewpoints per
home.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray

from navloom.scenes.scene import Box, Item, Scene
from navloom.scenes.scene_uri import iter_scenes, load_scene
from navloom_worlds.exporting.hm3d_files import save_hm3d
from navloom_worlds.exporting.semantic_numbers import semantic_lines
from navloom_worlds.geometry.mesh import scene_mesh
from navloom_worlds.geometry.semantic_ids import CEILING, FLOOR, WALL
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer
from worlds.tests.geometry.release_files import files_of, painted, roughened

_PLAIN = {"wall": WALL, "floor": FLOOR, "ceiling": CEILING}


@dataclass
class Tally:
    """Counts over all homes."""

    seconds: list[float] = field(default_factory=list)
    regions: Counter[str] = field(default_factory=Counter)
    overlap: list[float] = field(default_factory=list)
    outline: list[float] = field(default_factory=list)
    things: Counter[str] = field(default_factory=Counter)
    middle: list[float] = field(default_factory=list)
    footprint: list[float] = field(default_factory=list)
    links: Counter[str] = field(default_factory=Counter)
    point: list[float] = field(default_factory=list)
    pixels: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def main() -> None:
    """Print the statistics of each home and of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("homes")
    parser.add_argument("--painted", action="store_true")
    parser.add_argument("--rough", action="store_true")
    parser.add_argument("--views", type=int, default=10)
    chosen = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for scene in iter_scenes(chosen.homes):
            home = save_hm3d(scene, Path(folder))
            if chosen.painted:
                files_of(home)[0].write_bytes(painted(scene))
            if chosen.rough:
                files_of(home)[0].write_bytes(roughened(scene))
            begun = time.perf_counter()
            read = load_scene(f"hm3d:{home}")
            tally.seconds.append(time.perf_counter() - begun)
            before = len(tally.wrong)
            _rooms(scene, read, tally)
            _things(scene, read, tally)
            _links(scene, read, tally)
            if not chosen.rough:
                _frames(scene, read, tally, chosen.views)
            print(f"{scene.uri}: {'; '.join(tally.wrong[before:]) or 'all the same'}", flush=True)
    _print(tally)


def _number(region: str) -> int:
    return int(region.rpartition("_")[2])


def _rooms(scene: Scene, read: Scene, tally: Tally) -> None:
    theirs = {_number(region.id): region for region in read.regions}
    for region in scene.regions:
        tally.regions["in the home"] += 1
        found = theirs.get(_number(region.id))
        if found is None:
            tally.wrong.append(f"no region {region.id}")
            continue
        tally.regions["found"] += 1
        tally.regions["on their storey"] += found.floor == region.floor
        tally.regions["at their height"] += abs(found.center[1] - region.center[1]) < 0.02
        first, second = shapely.Polygon(region.outline), shapely.Polygon(found.outline)
        tally.overlap.append(first.intersection(second).area / first.union(second).area)
        tally.outline.append(shapely.hausdorff_distance(first.exterior, second.exterior))
    if extra := theirs.keys() - {_number(region.id) for region in scene.regions}:
        tally.wrong.append(f"regions {sorted(extra)} too many")


def _things(scene: Scene, read: Scene, tally: Tally) -> None:
    mesh = scene_mesh(scene)
    seen = set(np.unique(mesh.owners).tolist())
    for line, item in zip(semantic_lines(scene), scene.items, strict=False):
        if line.owner not in seen or line.category in _PLAIN:
            continue
        tally.things["in the home"] += 1
        found = read.item_by_id.get(str(line.number))
        if found is None:
            tally.wrong.append(f"no item {item.id}")
            continue
        tally.things["found"] += 1
        tally.things["of their name"] += found.name == item.name.casefold()
        tally.things["of their kind"] += found.kind == item.kind
        same = (item.region or "_0").rpartition("_")[2] == (found.region or "_0").rpartition("_")[2]
        tally.things["in their room"] += same
        tally.middle.append(float(np.linalg.norm(np.subtract(found.position, item.position))))
        first, second = _flat(item), _flat(found)
        if first.area and second.area:
            tally.footprint.append(first.intersection(second).area / first.union(second).area)


def _flat(item: Item) -> shapely.Polygon:
    size = item.size or (0.0, 0.0, 0.0)
    return shapely.Polygon(Box(center=item.position, size=size, yaw=item.yaw).corners())


def _links(scene: Scene, read: Scene, tally: Tally) -> None:
    def ends(a: str, b: str) -> tuple[int, int]:
        low, high = sorted((_number(a), _number(b)))
        return low, high

    for link in scene.links:
        tally.links["in the home"] += 1
        found = [x for x in read.links if ends(x.a, x.b) == ends(link.a, link.b)]
        tally.links["found"] += bool(found)
        if not found:
            tally.wrong.append(f"no {link.kind} {link.a} - {link.b}")
            continue
        at = np.array(link.point or (0, 0, 0))
        far = [float(np.linalg.norm((np.array(x.point) - at)[[0, 2]])) for x in found]
        best = found[int(np.argmin(far))]
        if best.kind == link.kind:
            tally.links["of their kind"] += 1
        else:
            tally.wrong.append(f"{link.kind} {link.a} - {link.b} read as {best.kind}")
        if link.kind not in ("stairs", "elevator"):
            tally.point.append(min(far))
    ours = Counter(ends(x.a, x.b) for x in scene.links)
    for pair, count in (Counter(ends(x.a, x.b) for x in read.links) - ours).items():
        tally.links["too many"] += count
        tally.wrong.append(f"{count} links too many between {pair}")


def _frames(scene: Scene, read: Scene, tally: Tally, views: int) -> None:
    """Compare frames of ids, with items mapped to the owners of the original home."""
    ours, theirs = (Renderer(scene_mesh(each), light="flat") for each in (scene, read))
    doors = {line.number: line.owner for line in semantic_lines(scene)}
    dice = np.random.default_rng(len(scene.items))
    for k in dice.permutation(len(scene.viewpoints))[:views].tolist():
        x, y, z = scene.viewpoints[k].position
        camera = Camera(position=(x, y + 1.5, z), heading=float(dice.uniform(0, 6.28)))
        first = ours.frame(camera).ids
        second = theirs.frame(camera).ids
        named = _mapped(second, ((i + 1, doors.get(int(item.id), 0))
                                 for i, item in enumerate(read.items)))  # fmt: skip
        same = named == first
        tally.pixels.append(float(same.mean()))
        if same.mean() < 0.999:
            tally.wrong.append(f"ids {same.mean():.4f} at {scene.viewpoints[k].id}")


def _mapped(ids: NDArray[np.int32], pairs: Iterable[tuple[int, int]]) -> NDArray[np.int32]:
    table = dict(pairs)
    kinds, again = np.unique(ids, return_inverse=True)
    mapped = np.array([table.get(each, each) for each in kinds.tolist()], dtype=np.int32)
    return mapped[again.reshape(ids.shape)]


def _print(tally: Tally) -> None:
    print(f"seconds a home: median {np.median(tally.seconds):.1f}, most {max(tally.seconds):.1f}")
    for name in ("regions", "things", "links"):
        counted = getattr(tally, name)
        print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in counted.items()))
    for name, values, unit in (
        ("outlines, overlap", tally.overlap, ""),
        ("outlines, farthest corner", tally.outline, " m"),
        ("things, middle off by", tally.middle, " m"),
        ("things, footprints' overlap", tally.footprint, ""),
        ("links, point off by", tally.point, " m"),
        ("pixels with the same id", tally.pixels, ""),
    ):
        if values:
            low, some, half, most, high = np.quantile(values, [0, 0.05, 0.5, 0.95, 1])
            print(f"{name}: least {low:.3f}{unit}, 5 % {some:.3f}, median {half:.3f}, "
                  f"95 % {most:.3f}, most {high:.3f} ({len(values)})")  # fmt: skip


if __name__ == "__main__":
    main()
