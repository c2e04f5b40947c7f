"""Changes of a home, each with its cost and description, and their application to a scene.

The costs are a table, the user's or the default one. The default costs are rough craftsman prices
in euros; only their order of magnitude matters: opening a door costs almost nothing, a lift as much
as a car. A JSON file replaces them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.scenes.safe_files import read_json
from navloom.scenes.scene import Point2, Scene
from navloom_worlds.mend.building_changes import (
    LIFT,
    add_lift,
    add_ramp,
    plan_ramp,
    remove_sill,
    replace_link,
    widen_doorway,
)
from navloom_worlds.mend.scene_edits import name_copy, rebuild_graph, without_item

_MOST_BYTES = 100_000
_Price = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class ChangeCosts(BaseModel):
    """Cost of each kind of change; a kind that is left out keeps its default cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    open: _Price = 5.0
    """Leave a closed door open, or unlock one."""
    remove: _Price = 15.0
    """Remove an item, with everything on it."""
    remove_kilogram: _Price = 0.5
    """Additional cost per kilogram of the item."""
    remove_fixed: _Price = 600.0
    """Additional cost of a fitted item: sinks, kitchens, toilets, stoves."""
    slide: _Price = 400.0
    """Replace a swinging door by a sliding one."""
    level: _Price = 80.0
    """Remove a sill."""
    ramp: _Price = 200.0
    """Lay a ramp over a step."""
    ramp_metre: _Price = 2_000.0
    """Additional cost per metre of rise."""
    widen: _Price = 900.0
    """Widen a doorway, with a new door."""
    widen_metre: _Price = 2_000.0
    """Additional cost per metre of added width."""
    lift: _Price = 15_000.0
    """Build a platform lift through a floor."""


_FILE = TypeAdapter(ChangeCosts)


def load_costs(path: Path | None) -> ChangeCosts:
    """Load the costs from a JSON file, such as ``{"widen": 700}``; the defaults without a file.

    Raises:
        SceneError: the file is missing or broken, or has an unknown key.
    """
    if path is None:
        return ChangeCosts()
    found: ChangeCosts = read_json(path, _FILE, most=_MOST_BYTES)
    return found


ChangeKind = Literal["open", "remove", "slide", "level", "ramp", "widen", "lift"]
KINDS: tuple[ChangeKind, ...] = ("open", "remove", "slide", "level", "widen", "ramp", "lift")
"""Every kind, in the order in which changes are applied."""
_FIXED = re.compile(
    r"\b(?:toilet|bidet|sink|basin|washbasin|bathtub|shower|shower cabin|wash cabinet|counter"
    r"|countertop|kitchen (?:cabinet|island)|lower cabinet|oven|stove|stovetop|dishwasher|boiler"
    r"|fireplace|radiator)$"
)


@dataclass(frozen=True, slots=True)
class HomeChange:
    """One change of a home.

    Attributes:
        kind: kind of change.
        cost: its cost.
        words: description for people.
        link: index of the changed link; None for items and lifts.
        item: id of the removed item.
        width: new clear width of a doorway in metres.
        ends: regions of a lift, the lower first.
        at: position of a lift, (x, z).
    """

    kind: ChangeKind
    cost: float
    words: str
    link: int | None = None
    item: str | None = None
    width: float | None = None
    ends: tuple[str, str] | None = None
    at: Point2 | None = None

    @property
    def what(self) -> tuple[object, ...]:
        """Identity of the change: equal for two changes of one kind to one target."""
        return (self.kind, self.link, self.item, self.ends)

    def record(self) -> dict[str, Any]:
        """Return the change as JSON."""
        said = {"kind": self.kind, "cost": round(self.cost, 2), "what": self.words}
        more = {"item": self.item, "width": self.width, "at": self.at}
        return said | {key: value for key, value in more.items() if value is not None}


def opening_change(scene: Scene, link: int, costs: ChangeCosts) -> HomeChange:
    """Create the change that leaves a door open."""
    verb = "unlock the door" if scene.links[link].door == "locked" else "leave the door open"
    return HomeChange("open", costs.open, f"{verb} {_between(scene, link)}", link)


def removal_change(scene: Scene, item: str, costs: ChangeCosts) -> HomeChange:
    """Create the change that removes an item."""
    thing = scene.item_by_id[item]
    price = costs.remove + costs.remove_kilogram * (thing.mass or 0.0)
    if _FIXED.search(thing.name.casefold()) is not None:
        price += costs.remove_fixed
    words = f"take away the {thing.name} {item} in {thing.region}"
    return HomeChange("remove", price, words, item=item)


def sliding_change(scene: Scene, link: int, costs: ChangeCosts) -> HomeChange:
    """Create the change that replaces a door by a sliding door."""
    return HomeChange("slide", costs.slide, f"hang a sliding door {_between(scene, link)}", link)


def sill_change(scene: Scene, link: int, costs: ChangeCosts) -> HomeChange:
    """Create the change that removes a sill."""
    high = scene.links[link].threshold or 0.0
    words = f"take away the sill of {high * 100:.1f} cm {_between(scene, link)}"
    return HomeChange("level", costs.level, words, link)


def ramp_change(scene: Scene, link: int, costs: ChangeCosts) -> HomeChange:
    """Create the change that lays a ramp over a step.

    Raises:
        SceneError: there is no space.
    """
    ramp = plan_ramp(scene, scene.links[link])
    words = f"lay a ramp of 1:{ramp.slope} over the step of {ramp.rise * 100:.0f} cm"
    price = costs.ramp + costs.ramp_metre * ramp.rise
    return HomeChange("ramp", price, f"{words} {_between(scene, link)}", link)


def widening_change(scene: Scene, link: int, width: float, costs: ChangeCosts) -> HomeChange:
    """Create the change that widens a doorway."""
    now = scene.links[link].width or 0.0
    words = f"widen the way {_between(scene, link)} from {now:.2f} to {width:.2f} m"
    price = costs.widen + costs.widen_metre * max(0.0, width - now)
    return HomeChange("widen", price, words, link, width=round(width, 3))


def lift_change(ends: tuple[str, str], at: Point2, costs: ChangeCosts) -> HomeChange:
    """Create the change that builds a lift."""
    words = f"build a lift of {LIFT[0]:.1f} by {LIFT[1]:.1f} m from {ends[0]} up to {ends[1]}"
    return HomeChange("lift", costs.lift, words, ends=ends, at=at)


def _between(scene: Scene, link: int) -> str:
    here = scene.links[link]
    alike = Counter(frozenset((each.a, each.b)) for each in scene.links)
    more = ""
    if alike[frozenset((here.a, here.b))] > 1 and here.point is not None:
        more = f" at ({here.point[0]:.1f}, {here.point[2]:.1f})"
    return f"between {here.a} and {here.b}{more}"


def merge_changes(changes: Sequence[HomeChange]) -> tuple[HomeChange, ...]:
    """Return each change once, in the order of application; of several widenings the widest."""
    best: dict[tuple[object, ...], HomeChange] = {}
    for each in changes:
        known = best.get(each.what)
        if known is None or (each.width or 0.0) > (known.width or 0.0):
            best[each.what] = each
    order = {kind: place for place, kind in enumerate(KINDS)}
    return tuple(sorted(best.values(), key=lambda c: (order[c.kind], c.words)))


def total_cost(changes: Sequence[HomeChange]) -> float:
    """Return the total cost of changes."""
    return math.fsum(each.cost for each in changes)


def apply_changes(scene: Scene, changes: Sequence[HomeChange]) -> Scene:
    """Return a scene with changes, its viewpoints not recomputed; used to drive bodies.

    Raises:
        SceneError: a change cannot be applied.
    """
    return reduce(_made, merge_changes(changes), scene)


def _made(scene: Scene, change: HomeChange) -> Scene:
    if change.item is not None:
        # The item may have been removed with its holder.
        there = change.item in scene.item_by_id
        return without_item(scene, scene.item_by_id[change.item]) if there else scene
    if change.ends is not None and change.at is not None:
        return add_lift(scene, *change.ends, change.at)
    link = scene.links[change.link or 0]
    if change.kind == "open":
        opened = link.model_copy(update={"door": "open"})
        return scene.replace(links=replace_link(scene, link, opened))
    if change.kind == "slide":
        hung = link.model_copy(update={"leaf": "sliding", "swing": None})
        return scene.replace(links=replace_link(scene, link, hung))
    if change.kind == "level":
        return remove_sill(scene, link)
    if change.kind == "ramp":
        return add_ramp(scene, link)
    return widen_doorway(scene, link, change.width or 0.0)


def mended_copy(scene: Scene, changes: Sequence[HomeChange], name: str) -> Scene:
    """Return a copy of a scene with changes, new viewpoints and edges, and its own id.

    Raises:
        SceneError: a change cannot be applied, or parts of the home become unreachable.
    """
    made = rebuild_graph(scene, apply_changes(scene, changes))
    told = "; ".join(each.words for each in merge_changes(changes))
    return name_copy(scene, made, name, f"A mended copy of {scene.uri}", told)
