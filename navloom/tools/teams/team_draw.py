"""Robots' starts and errands of a team, drawn by a seed."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.errand import admissible_triples
from navloom.tools.navcraft.paths import Anchor, metric_graph
from navloom.tools.navcraft.task import RelayTask, usable_surface
from navloom.tools.navcraft.worth import can_hold
from navloom.tools.teams.team import TeamErrand

_TRIES = 300
"""Draws of an attempt before its scene is given up."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """An attempt.

    Attributes:
        regions: where robots start, the first robot_1's; all different.
        starts: the same as places.
        errands: what is to be carried.
    """

    regions: tuple[str, ...]
    starts: tuple[Anchor, ...]
    errands: tuple[TeamErrand, ...]


def draw(
    scene: Scene, robots: int, errands: int, seed: int, attempt: int = 0, *, tau: int | None = None
) -> Drawn | None:
    """Starts and errands of an attempt, the same for the same seed whatever else is asked.

    A thing and its end lie in different regions, a robot that passes everything gets to all of
    them, the end can hold the thing, each is drawn once, and no two of them go by one name.

    Args:
        scene: the scene.
        robots: how many.
        errands: how many.
        seed: of the run, or of the sample.
        attempt: in the scene.
        tau: hops that each leg of robot_1's way through the first errand has at least, as an errand
            of NavCraft's (A.10); any unless given.

    Returns:
        The attempt; None where the scene has too few starts, things or ends.
    """
    graph = metric_graph(scene)
    at = sorted(graph.starts)
    kinds: dict[str, list[str]] = {"object": [], "asset": []}
    items = scene.item_by_id
    for item in sorted(scene.items, key=lambda each: each.id):
        placed = item.kind in kinds and item.id in graph.items and item.region
        if placed and (item.kind == "object" or usable_surface(scene, item)):
            kinds[item.kind].append(item.id)
    if len(at) < robots or any(len(each) < errands for each in kinds.values()):
        return None
    dice = random.Random(f"{scene.uri} {seed} {attempt}")
    triples = (
        []
        if tau is None
        else per_scene(
            scene, f"admissible_triples {tau}", lambda: [*admissible_triples(scene, tau)]
        )
    )
    if tau is not None and not triples:
        return None
    for _ in range(_TRIES):
        # Starts first, so that more errands leave them as they are.
        regions = dice.sample(at, robots)
        things, ends = (dice.sample(kinds[kind], errands) for kind in ("object", "asset"))
        if triples:
            first = _first_errand(scene, dice, dice.choice(triples), kinds)
            if first is None or first[0] not in at:
                continue
            regions = [first[0], *[each for each in regions if each != first[0]]][:robots]
            things[0], ends[0] = first[1:]
        ways = [
            (items[x].region or "", items[y].region or "")
            for x, y in zip(things, ends, strict=True)
        ]
        named = {(items[each].region, items[each].prompt_name) for each in (*things, *ends)}
        if len(named) < 2 * errands or any(a == b for a, b in ways) or len(regions) < robots:
            continue
        if not all(
            can_hold(items[end].prompt_name, items[thing].prompt_name)
            for thing, end in zip(things, ends, strict=True)
        ):
            continue
        places = [graph.items[each] for each in (*things, *ends)]
        starts = [graph.starts[each] for each in regions]
        if any(math.isinf(graph.distance(a, b)) for a in starts for b in places):
            continue
        made = zip(things, places, places[errands:], strict=False)
        return Drawn(tuple(regions), tuple(starts), tuple(TeamErrand(*each) for each in made))
    return None


def _first_errand(
    scene: Scene, dice: random.Random, triple: tuple[str, str, str], kinds: dict[str, list[str]]
) -> tuple[str, str, str] | None:
    """A start, a thing and an end that are a task of NavCraft's; None where a draw gives none."""
    start, target, end = triple
    things = [x.id for x in scene.items_in(target, "object") if x.id in kinds["object"]]
    ends = [x.id for x in scene.items_in(end, "asset") if x.id in kinds["asset"]]
    if not things or not ends:
        return None
    thing, asset = (scene.item_by_id[dice.choice(each)].prompt_name for each in (things, ends))
    # Of things of one name a task means those that add least to its way.
    task = RelayTask(scene, start, target, thing, end, asset)
    found = task.object_item.id, task.end_item.id
    return (start, *found) if found[0] in things and found[1] in ends else None
