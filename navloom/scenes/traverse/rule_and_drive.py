"""How far the rule and the drive say the same of links, and why they differ where they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from navloom.scenes.bodies import Embodiment, builtin_bodies
from navloom.scenes.scene import Scene
from navloom.scenes.traverse.by_rule import BARRIERS, Barrier, Fault, faults, kinds
from navloom.scenes.traverse.driven import Driven, drive_edge

Reason = Literal["agree", "rule wrong", "driver gave up", "graph and geometry differ"]
_NO_KIND = "open"


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


def compare(
    scene: Scene,
    bodies: Sequence[Embodiment] | None = None,
    kinds_of_links: Collection[str] | None = None,
) -> list[Compared]:
    """Every link of a scene for every body, by rule and driven.

    Args:
        scene: with geometry, and regions that have outlines.
        bodies: the five of CapNav unless given.
        kinds_of_links: links of these kinds alone, such as ``elevator``.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    out = []
    for body in builtin_bodies() if bodies is None else bodies:
        for number, link in enumerate(scene.links):
            if kinds_of_links is not None and link.kind not in kinds_of_links:
                continue
            driven = drive_edge(scene, body, number)
            if driven is not None:
                out.append(compared(scene, driven, faults(scene, link, body)))
    return out


def compared(scene: Scene, driven: Driven, found: Sequence[Fault]) -> Compared:
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
