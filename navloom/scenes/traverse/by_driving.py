"""Whether bodies may use links, by rule and by driving; where the two differ, the drive's word.

A drive that passed, or that found no way, has spoken. One that gave up has not: the rule's word
stands. Links whose regions have no outline are not driven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from navloom.scenes.bodies import Embodiment, builtin_bodies, canonical
from navloom.scenes.scene import Scene
from navloom.scenes.traverse.by_rule import faults, from_geometry
from navloom.scenes.traverse.driven import drive_edge
from navloom.scenes.traverse.rule_and_drive import Compared, compared
from navloom.scenes.traverse.traverse_table import Cell, Pair, Traversability


@dataclass(frozen=True)
class DrivenTruth:
    """A table, and how it came about.

    Attributes:
        table: of the scene's regions.
        links: every link that was driven, by each body.
    """

    table: Traversability
    links: tuple[Compared, ...]

    def record(self) -> dict[str, object]:
        """As JSON: how many were driven, and in words those that the rule took for something else.

        ``gave_up`` are links that the rule opens and whose drive had no word.
        """
        return {
            "driven": len(self.links),
            "gave_up": sum(each.reason == "driver gave up" for each in self.links),
            "overruled": [each.words for each in self.links if _overruled(each)],
        }


def from_driving(scene: Scene, bodies: tuple[Embodiment, ...] | None = None) -> DrivenTruth:
    """Whether bodies may use the links of a scene, each driven.

    Args:
        scene: with geometry, and regions that have outlines.
        bodies: whose; the five of the benchmark unless given.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    rule = from_geometry(scene, bodies)
    cells = {name: dict(mine) for name, mine in rule.cells.items()}
    every: list[Compared] = []
    for body in builtin_bodies() if bodies is None else bodies:
        said: dict[Pair, list[Compared]] = {}
        for number, link in enumerate(scene.links):
            driven = drive_edge(scene, body, number)
            if driven is not None:
                one = compared(scene, driven, faults(scene, link, body))
                said.setdefault((link.a, link.b), []).append(one)
        for pair, found in said.items():
            every += found
            cells[canonical(body.name)][pair] = _cell(scene, found)
    return DrivenTruth(replace(rule, cells=cells), tuple(every))


def _overruled(one: Compared) -> bool:
    return not one.agrees and one.reason != "driver gave up"


def _open(one: Compared) -> bool:
    return (not one.kinds) != _overruled(one)


def _cell(scene: Scene, found: Sequence[Compared]) -> Cell:
    """What is said of the ways between two regions: the first that is open, else the first."""
    one = next((each for each in found if _open(each)), found[0])
    if not _overruled(one):
        return Cell(traversable=_open(one), note=one.note)
    if _open(one):
        return Cell(traversable=True, note=f"driven through, though by rule {one.note}")
    by = one.driven.stopped_by
    what = scene.item_by_id[by].name if by in scene.item_by_id else by
    return Cell(traversable=False, note=f"driven, it does not get through: {what or 'no way'}")
