"""Whether bodies may use links, by rule and by driving; where the two differ, the drive's word.

A drive that passed, or that found no way, has spoken. One that gave up has not: the rule's word
stands. Links whose regions have no outline are not driven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from navloom.scenes.bodies import Embodiment, builtin_bodies, canonical
from navloom.scenes.by_rule import Barrier, LinkFault, faults, from_geometry, kinds
from navloom.scenes.scene import Scene
from navloom.scenes.traverse_table import Cell, Pair, Traversability
from navloom_worlds.motion.driven import Driven, drive_edge

Reason = Literal["agree", "rule wrong", "driver gave up", "graph and geometry differ"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One link and one body, by rule and driven.

    Attributes:
        scene: the scene's URI.
        driven: what came of driving.
        kinds: of barrier, by rule; none where it is open.
        note: the rule's, for a blocked link.
        items: that the rule blames.
        reason: why the two differ, if they do.
    """

    scene: str
    driven: Driven
    kinds: tuple[Barrier, ...]
    note: str
    items: tuple[str, ...]
    reason: Reason

    @property
    def agrees(self) -> bool:
        """Whether the drive passed what the rule opens, or failed where the rule blocks."""
        return self.reason == "agree"

    @property
    def words(self) -> str:
        """One line on it."""
        one = self.driven
        rule = self.note or "open"
        drove = one.result + (f" by {one.stopped_by}" if one.stopped_by else "")
        if one.result == "passed":
            drove = f"passed in {one.metres:.2f} m"
        return (
            f"{self.scene} {one.body} {one.a} -> {one.b}: {self.reason}: by rule {rule};"
            f" driven: {drove}"
        )


def compared(scene: Scene, driven: Driven, found: Sequence[LinkFault]) -> Compared:
    """One link and one body, with why the two differ."""
    passed = driven.result == "passed"
    reason: Reason = "rule wrong"
    if passed == (not found):
        reason = "agree"
    elif driven.result == "gave up":
        reason = "driver gave up"
    elif not passed and not found and not driven.stopped_by:
        reason = "graph and geometry differ"
    return Compared(
        scene.uri,
        driven,
        kinds(found),
        "; ".join(fault.note for fault in found),
        tuple(item for fault in found for item in fault.items),
        reason,
    )


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
