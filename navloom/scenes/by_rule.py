"""Whether a body may use a link, by rule: what a scene says of itself, against the body.

Doors, stairs, elevators, clear widths, sills, rises and head room are read off the link (CapNav,
supplementary A). Turning room and furniture are read off a plan of the two regions: their outlines,
the doorway between them, leaves that stand open, and the things that stand there
(:mod:`navloom_worlds.motion.passing`). A link that says nothing of a size is taken to be passable
in that respect, which is said in the note of no cell: it is an assumption of the whole table.

Where driving showed a rule wrong (:mod:`navloom_worlds.motion.by_driving`) it was mended:

- An open hinged leaf stands in its doorway and takes 4 cm of it, and 10 cm at its handle; the
  strips that it closes against take 1.2 cm on either side. What is left is found on the plan.
- A table is a top on legs: things are met part by part, at the heights that the body has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from navloom.disk_cache import TABLES, code_key, content_key
from navloom.scenes.bodies import Embodiment, builtin_bodies, canonical, code_folders, in_the_way
from navloom.scenes.scene import Link, Scene
from navloom.scenes.traverse_table import Cell, Pair, Traversability

Barrier = Literal[
    "stairs", "elevator", "door", "narrow", "head room", "sill", "step", "turning room", "furniture"
]
BARRIERS: tuple[Barrier, ...] = (
    "narrow", "step", "sill", "stairs", "door", "elevator", "head room", "turning room", "furniture"
)  # fmt: skip
"""Every kind of barrier, in the order of tables."""
_EPS = 1e-9
_Row = tuple[str, str, str, bool, str]
"""Of a table: the body, from, to, whether it passes, and why not."""
_ROWS = TypeAdapter(list[_Row])


@dataclass(frozen=True, slots=True)
class LinkFault:
    """One reason why a body cannot use a link.

    Attributes:
        kind: of barrier.
        note: in words.
        items: the ids of things that stand in the way.
    """

    kind: Barrier
    note: str
    items: tuple[str, ...] = ()


def from_geometry(scene: Scene, bodies: tuple[Embodiment, ...] | None = None) -> Traversability:
    """Whether bodies may use the links of a scene, by rule; plans take seconds and are kept.

    Nodes are region ids. Two regions with several links are joined where one of them is open.

    Args:
        scene: any scene.
        bodies: whose; the five of the benchmark unless given.
    """
    bodies = builtin_bodies() if bodies is None else bodies
    asked = (scene.model_dump_json(), *(body.model_dump_json() for body in bodies))
    key = content_key("by rule", *asked, code_key(__file__, *code_folders()))
    rows = TABLES.kept(
        f"{key}.json",
        lambda: _rows(scene, bodies),
        lambda file, made: file.write(_ROWS.dump_json(made)),
        lambda file: _ROWS.validate_json(file.read()),
    )
    cells: dict[str, dict[Pair, Cell]] = {
        name: {
            (a, b): Cell(traversable=goes, note=why) for by, a, b, goes, why in rows if by == name
        }
        for name in (canonical(body.name) for body in bodies)
    }
    edges = tuple(dict.fromkeys((link.a, link.b) for link in scene.links))
    return Traversability(
        tuple(region.id for region in scene.regions),
        edges,
        {region.id: region.id for region in scene.regions},
        cells,
        source="geometry",
    )


def _rows(scene: Scene, bodies: tuple[Embodiment, ...]) -> list[_Row]:
    found: dict[tuple[str, str, str], tuple[bool, str]] = {}
    for body in bodies:
        for link in scene.links:
            key = canonical(body.name), link.a, link.b
            if found.get(key, (False, ""))[0]:
                continue
            why = faults(scene, link, body)
            if key not in found or not why:
                found[key] = not why, "; ".join(fault.note for fault in why)
    return [(*key, *said) for key, said in found.items()]


def faults(scene: Scene, link: Link, body: Embodiment) -> tuple[LinkFault, ...]:
    """Every reason why a body cannot use a link of a scene; none where it can.

    The plan is asked only where the link's own figures let the body pass.
    """
    found = _of_link(link, body)
    if not found and (less := in_the_way(scene, link, body)) is not None:
        found = [LinkFault(*less)]
    return tuple(found)


def kinds(found: Sequence[LinkFault]) -> tuple[Barrier, ...]:
    """The kinds of some faults, each once, in the order of tables."""
    there = {fault.kind for fault in found}
    return tuple(kind for kind in BARRIERS if kind in there)


def _of_link(link: Link, body: Embodiment) -> list[LinkFault]:
    """What a link's own figures say."""
    out: list[LinkFault] = []
    if link.kind == "stairs" and not body.stairs:
        out.append(LinkFault("stairs", "cannot go up or down stairs"))
    if link.kind == "elevator" and not body.elevator:
        out.append(LinkFault("elevator", "cannot operate the elevator"))
    if link.door == "locked":
        out.append(LinkFault("door", "the door is locked"))
    elif link.door in ("ajar", "closed") and not body.doors:
        out.append(LinkFault("door", "cannot open the door"))
    if link.width is not None and link.width + _EPS < body.width:
        out.append(
            LinkFault("narrow", f"too narrow: {link.width:.2f} m for a body of {body.width:.2f} m")
        )
    if link.height is not None and link.height + _EPS < body.height:
        out.append(
            LinkFault(
                "head room", f"too low: {link.height:.2f} m for a body of {body.height:.2f} m"
            )
        )
    if link.threshold is not None and link.threshold > body.max_step + _EPS:
        out.append(
            LinkFault(
                "sill", f"a sill of {link.threshold:.3f} m, and it crosses {body.max_step:.3f} m"
            )
        )
    if (
        link.kind not in ("stairs", "elevator", "ramp")
        and link.step is not None
        and abs(link.step) > body.max_step + _EPS
    ):
        out.append(
            LinkFault(
                "step", f"a rise of {abs(link.step):.2f} m, and it crosses {body.max_step:.2f} m"
            )
        )
    # A sill lies on the higher of two floors.
    rise = abs(link.step or 0.0) + (link.threshold or 0.0)
    if not out and link.kind in ("door", "opening") and rise > body.max_step + _EPS:
        out.append(
            LinkFault(
                "sill", f"a sill {rise:.3f} m over the floor, and it crosses {body.max_step:.3f} m"
            )
        )
    return out
