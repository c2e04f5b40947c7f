"""Passability of links for bodies: a quick estimate from link dimensions, or the driven truth.

The estimate compares a link's dimensions (clear width, sill, rise, kind of door, head room) with
the body, as CapNav defines it (supplementary A). Unknown dimensions count as passable, and
furniture and turning room are ignored. The estimate costs nothing and may be wrong.

For the truth, a package that moves bodies through geometry drives each body through each link
(entry point ``driven`` of ``navloom.traversability``; :mod:`navloom_worlds.motion.link_driving`).
Scenes without walls of their own have the estimate only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from navloom.errors import SceneError
from navloom.plugins import load_plugin
from navloom.scenes.bodies import TERRAIN, Embodiment, builtin_bodies, canonical_name, has_geometry
from navloom.scenes.scene import Link, Scene
from navloom.scenes.traversability_table import Pair, PassageCell, Traversability

Barrier = Literal["stairs", "elevator", "door", "narrow", "head room", "sill", "step"]
_EPS = 1e-9


@dataclass(frozen=True, slots=True)
class LinkFault:
    """Reason why a body cannot use a link.

    Attributes:
        kind: kind of barrier.
        note: the reason in words.
    """

    kind: Barrier
    note: str


def link_traversability(
    scene: Scene, bodies: tuple[Embodiment, ...] | None = None
) -> Traversability:
    """Return the best known traversability: driven if the scene has walls, else estimated.

    Driving a home takes ten seconds or more. Results are cached on disk, one table a body.

    Args:
        scene: any scene.
        bodies: the bodies; the five of the benchmark unless given.

    Raises:
        SceneError: the scene's geometry is broken, or it has no floor.
    """
    # In scans the borders of rooms and links are not known to a centimetre.
    if not scene.walls or not has_geometry(scene):
        return estimate_links(scene, bodies)
    drive = load_plugin(TERRAIN, "driven", "Driving bodies through a scene", SceneError)
    found: Traversability = drive(scene, builtin_bodies() if bodies is None else bodies)
    return found


def estimate_links(scene: Scene, bodies: tuple[Embodiment, ...] | None = None) -> Traversability:
    """Estimate from the links' dimensions which bodies can use which links.

    Two regions with several links are joined if one of them is passable.

    Args:
        scene: any scene.
        bodies: the bodies; the five of the benchmark unless given.
    """
    bodies = builtin_bodies() if bodies is None else bodies
    cells: dict[str, dict[Pair, PassageCell]] = {}
    for body in bodies:
        mine = cells.setdefault(canonical_name(body.name), {})
        for link in scene.links:
            pair = link.a, link.b
            found = link_faults(link, body)
            if pair not in mine or not (found or mine[pair].traversable):
                mine[pair] = PassageCell(traversable=not found, note=faults_text(found))
    return region_table(scene, cells)


def region_table(scene: Scene, cells: dict[str, dict[Pair, PassageCell]]) -> Traversability:
    """Return a traversability table whose nodes are the scene's regions."""
    return Traversability(
        tuple(region.id for region in scene.regions),
        tuple(dict.fromkeys((link.a, link.b) for link in scene.links)),
        {region.id: region.id for region in scene.regions},
        cells,
        source="geometry",
    )


def faults_text(found: Sequence[LinkFault]) -> str:
    """Join the notes of some faults to one text."""
    return "; ".join(fault.note for fault in found)


def link_faults(link: Link, body: Embodiment) -> tuple[LinkFault, ...]:
    """Return every reason in a link's dimensions why a body cannot use the link; empty if none."""
    out: list[LinkFault] = []

    def add(kind: Barrier, note: str) -> None:
        out.append(LinkFault(kind, note))

    step = body.max_step + _EPS
    if link.kind == "stairs" and not body.stairs:
        add("stairs", "cannot go up or down stairs")
    if link.kind == "elevator" and not body.elevator:
        add("elevator", "cannot operate the elevator")
    if link.door == "locked":
        add("door", "the door is locked")
    elif link.door in ("ajar", "closed") and not body.doors:
        add("door", "cannot open the door")
    if link.width is not None and link.width + _EPS < body.width:
        add("narrow", f"too narrow: {link.width:.2f} m for a body of {body.width:.2f} m")
    if link.height is not None and link.height + _EPS < body.height:
        add("head room", f"too low: {link.height:.2f} m for a body of {body.height:.2f} m")
    if link.threshold is not None and link.threshold > step:
        crosses = f"and it crosses {body.max_step:.3f} m"
        add("sill", f"a sill of {link.threshold:.3f} m, {crosses}")
    level = link.kind not in ("stairs", "elevator", "ramp")
    if level and link.step is not None and abs(link.step) > step:
        crosses = f"and it crosses {body.max_step:.2f} m"
        add("step", f"a rise of {abs(link.step):.2f} m, {crosses}")
    # A sill lies on the higher of the two floors.
    rise = abs(link.step or 0.0) + (link.threshold or 0.0)
    if not out and link.kind in ("door", "opening") and rise > step:
        add("sill", f"a sill {rise:.3f} m over the floor, and it crosses {body.max_step:.3f} m")
    return tuple(out)
