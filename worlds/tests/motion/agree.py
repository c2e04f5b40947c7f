"""How far driving agrees with the rule over many homes, in figures and in pictures.

    python -m worlds.tests.motion.agree home:0-99 --out runs/agree
    python -m worlds.tests.motion.agree home:0-99 --out runs/agree --lower 1.6

A home that is done is not done again; what differs is printed, a line each, and drawn, a picture
each. ``--lower`` takes copies whose doors are so many metres high; ``--links elevator`` looks at
links of a kind alone, for barriers that are rare.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from navloom.scenes import load_scene
from navloom.scenes.bodies import builtin_bodies
from navloom.scenes.by_rule import BARRIERS, faults
from navloom.scenes.scene import Scene
from navloom.scenes.uri import list_scenes
from navloom_worlds.motion.by_driving import Compared, Driven, compared, drive_edge
from worlds.tests.motion.agree_pictures import drawn

_NO_KIND = "open"


def compare(scene: Scene, kinds_of_links: Collection[str] | None = None) -> list[Compared]:
    """Every link that can be driven, by each of the benchmark's bodies."""
    out = []
    for body in builtin_bodies():
        for number, link in enumerate(scene.links):
            if kinds_of_links is not None and link.kind not in kinds_of_links:
                continue
            driven = drive_edge(scene, body, number)
            if driven is not None:
                out.append(compared(scene, driven, faults(scene, link, body)))
    return out


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: how many links, and how many of them driving agrees with."""

    body: str
    barrier: str
    links: int
    agree: int

    @property
    def share(self) -> float:
        """Of links that agree; 1 where there are none."""
        return self.agree / self.links if self.links else 1.0


def rows(found: Iterable[Compared]) -> list[Row]:
    """Per body: links that the rule opens, those that it blocks, and the latter by barrier.

    A link with several barriers counts for each of them.
    """
    links: Counter[tuple[str, str]] = Counter()
    agree: Counter[tuple[str, str]] = Counter()
    bodies: dict[str, None] = {}
    for each in found:
        body = each.driven.body
        bodies[body] = None
        for key in ("blocked", *each.kinds) if each.kinds else (_NO_KIND,):
            links[body, key] += 1
            agree[body, key] += each.agrees
    return [
        Row(body, key, links[body, key], agree[body, key])
        for body in bodies
        for key in (_NO_KIND, "blocked", *BARRIERS)
        if links[body, key] or key in (_NO_KIND, "blocked")
    ]


def lowered(scene: Scene, height: float) -> Scene:
    """A copy whose doors are so low: homes as they are have no head that anybody hits."""
    links = [
        link.model_copy(update={"height": height}) if link.kind == "door" else link
        for link in scene.links
    ]
    walls = [
        wall.model_copy(
            update={
                "bottom": wall.bottom - (link_height - height),
                "height": wall.height + (link_height - height),
            }
        )
        if (link_height := _over_door(scene, wall)) is not None
        else wall
        for wall in scene.walls
    ]
    return scene.replace(id=f"{scene.id}-low", links=tuple(links), walls=tuple(walls))


def _over_door(scene: Scene, wall: Any) -> float | None:
    """The height of the door under a piece of wall; None where there is none."""
    middle = ((wall.a[0] + wall.b[0]) / 2, (wall.a[1] + wall.b[1]) / 2)
    for link in scene.links:
        if link.kind != "door" or link.jambs is None or link.height is None:
            continue
        (ax, az), (bx, bz) = link.jambs
        low = max(scene.region_by_id[each].center[1] for each in (link.a, link.b))
        off = abs((ax + bx) / 2 - middle[0]) + abs((az + bz) / 2 - middle[1])
        if off < 0.05 and abs(wall.bottom - low - link.height) < 0.1:
            return float(wall.bottom - low)
    return None


def done(uri: str, out: Path, lower: float | None, links: str | None) -> list[Compared]:
    """What was found of a home, read back or found now."""
    file = out / f"{uri.replace(':', '-')}{'-low' if lower else ''}.json"
    if file.exists():
        return [_read(each) for each in json.loads(file.read_text())]
    scene = load_scene(uri) if lower is None else lowered(load_scene(uri), lower)
    found = compare(scene, kinds_of_links=links.split(",") if links else None)
    for each in found:
        if not each.agrees:
            name = f"{file.stem}-{each.driven.body}-{each.driven.link}.png"
            drawn(scene, each, out / name)
    file.write_text(json.dumps([_written(each) for each in found]))
    return found


def _written(each: Compared) -> dict[str, Any]:
    return {**asdict(each), "driven": {**asdict(each.driven), "path": []}}


def _read(row: dict[str, Any]) -> Compared:
    return Compared(
        row["scene"],
        Driven(**{**row["driven"], "path": ()}),
        tuple(row["kinds"]),
        row["note"],
        tuple(row["items"]),
        row["reason"],
    )


def _job(given: tuple[str, Path, float | None, str | None]) -> list[Compared]:
    return done(*given)


def gathered(
    spec: str, out: Path, jobs: int, lower: float | None, links: str | None
) -> Iterator[Compared]:
    """All homes, several at a time."""
    out.mkdir(parents=True, exist_ok=True)
    todo = [(uri, out, lower, links) for uri in list_scenes(spec)]
    if jobs == 1:
        for each in todo:
            yield from _job(each)
        return
    with get_context("spawn").Pool(jobs) as pool:
        for found in pool.imap(_job, todo):
            yield from found


def table(found: list[Compared]) -> str:
    """The table as text."""
    lines = ["| body | barrier | links | driving agrees |", "| --- | --- | ---: | ---: |"]
    for row in rows(found):
        lines.append(f"| {row.body} | {row.barrier} | {row.links} | {row.share:.1%} |")
    blocked: Counter[str] = Counter()
    agree: Counter[str] = Counter()
    for each in found:
        for kind in each.kinds:
            blocked[kind] += 1
            agree[kind] += each.agrees
    for kind in BARRIERS:
        row = Row("all", kind, blocked[kind], agree[kind])
        lines.append(f"| all | {kind} | {row.links} | {row.share:.1%} |")
    return "\n".join(lines)


def main() -> None:
    """Compare, and say what differs."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("spec")
    given.add_argument("--out", type=Path, required=True)
    given.add_argument("--jobs", type=int, default=1)
    given.add_argument("--lower", type=float)
    given.add_argument("--links")
    args = given.parse_args()
    found = list(gathered(args.spec, args.out, args.jobs, args.lower, args.links))
    for each in found:
        if not each.agrees:
            print(each.words)
    print(Counter(each.reason for each in found))
    print(table(found))


if __name__ == "__main__":
    main()
