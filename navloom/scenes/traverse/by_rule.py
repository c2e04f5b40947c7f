"""What a scene's links say about bodies: widths, rises, doors, stairs, elevators, head room."""

from __future__ import annotations

from navloom.scenes.bodies import Embodiment, builtin_bodies, canonical
from navloom.scenes.scene import Link, Scene
from navloom.scenes.traverse.traverse_table import Cell, Pair, Traversability

_EPS = 1e-9


def from_geometry(scene: Scene, bodies: tuple[Embodiment, ...] | None = None) -> Traversability:
    """What a scene's links say about bodies: doors, stairs, elevators, rises and clear widths.

    Nodes are region ids. A link that says nothing of its width or rise is taken to be passable in
    that respect, which is said in the note of no cell: it is an assumption of the whole table.

    Args:
        scene: any scene.
        bodies: whose; the five of the benchmark unless given.
    """
    bodies = builtin_bodies() if bodies is None else bodies
    cells: dict[str, dict[Pair, Cell]] = {canonical(body.name): {} for body in bodies}
    edges = tuple(dict.fromkeys((link.a, link.b) for link in scene.links))
    for body in bodies:
        mine = cells[canonical(body.name)]
        for link in scene.links:
            faults = _faults(link, body)
            known = mine.get((link.a, link.b))
            if known is None or (faults == [] and not known.traversable):
                mine[link.a, link.b] = Cell(traversable=not faults, note="; ".join(faults))
    return Traversability(
        tuple(region.id for region in scene.regions),
        edges,
        {region.id: region.id for region in scene.regions},
        cells,
        source="geometry",
    )


def _faults(link: Link, body: Embodiment) -> list[str]:
    """Every reason why a body cannot use a link."""
    faults: list[str] = []
    if link.kind == "stairs" and not body.stairs:
        faults.append("cannot go up or down stairs")
    if link.kind == "elevator" and not body.elevator:
        faults.append("cannot operate the elevator")
    if link.door == "locked":
        faults.append("the door is locked")
    elif link.door in ("ajar", "closed") and not body.doors:
        faults.append("cannot open the door")
    if link.width is not None and link.width + _EPS < body.width:
        faults.append(f"too narrow: {link.width:.2f} m for a body of {body.width:.2f} m")
    if link.height is not None and link.height + _EPS < body.height:
        faults.append(f"too low: {link.height:.2f} m for a body of {body.height:.2f} m")
    if link.threshold is not None and link.threshold > body.max_step + _EPS:
        faults.append(f"a sill of {link.threshold:.3f} m, and it crosses {body.max_step:.3f} m")
    if (
        link.kind not in ("stairs", "elevator", "ramp")
        and link.step is not None
        and abs(link.step) > body.max_step + _EPS
    ):
        faults.append(f"a rise of {abs(link.step):.2f} m, and it crosses {body.max_step:.2f} m")
    return faults
