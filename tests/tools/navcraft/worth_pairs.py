"""Validity of the grades of ``belongs.yaml``: true pairs of real homes against shuffled ones.

A true object-room pair is an object and the label of its room. A true object-surface pair is an
object and the nearest supporting furniture in its room, within 0.8 m horizontally and at most 0.4 m
above or 1.2 m below it. HM3D has no better data on what stands on what. Only objects that people
ask for (``carry: often``) count.

A shuffled pair is the same object with the room or surface of another pair of its home, whose name
it is not truly paired with there. It is drawn 20 times, because the area for surfaces varies by
.008 between single draws. The area under the curve is the probability that a true pair scores
higher than a shuffled one; ties count half.

``python -m tests.tools.navcraft.worth_pairs DIR`` prints it for the homes that the grades were
written on, for both halves of them, and for all other homes of a folder.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from scipy.stats import mannwhitneyu

from navloom.judges.preference_items import find_support
from navloom.scenes.lexicon import room_types
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import iter_scenes
from navloom.tools.navcraft.relay_task import can_hold, grade_plausibility, room_grade

WRITTEN_ON = frozenset(
    {
        "00006-HkseAnWCgqk",
        "00009-vLpv2VX547B",
        "00016-qk9eeNeR4vw",
        "00017-oEPjPNSPmzL",
        "00031-Wo6kuutE9i7",
        "00033-oPj9qMxrDEa",
        "00034-6imZUJGRUq4",
        "00055-HxmXPBbFCkH",
        "00064-gQgtJ9Stk5s",
        "00081-5biL7VEkByM",
        "00096-6HRFAUDqpTb",
        "00099-226REUyJh2K",
        "00143-5Kw4nGdqYtS",
        "00149-UuwwmrTsfBN",
        "00150-LcAd9dhvVwh",
        "00172-bB6nKqfsb1z",
        "00210-j2EJhFEQGCL",
        "00222-g8Xrdbe9fir",
        "00234-nACV8wLu1u5",
        "00241-h6nwVLpAKQz",
    }
)
"""HM3D homes that were used while the grades were written."""
_DRAWS = 20
Pair = tuple[str, ...]


class Areas(NamedTuple):
    """Areas under the curve, numbers of true pairs, and the share of comparisons that tie."""

    room: float
    surface: float
    rooms: int
    surfaces: int
    ties: float


def true_pairs(scene: Scene) -> tuple[list[Pair], list[Pair]]:
    """Return a home's (object, room label) pairs and its (object, asset, room label) pairs."""
    rooms: list[Pair] = []
    surfaces: list[Pair] = []
    for region in (r for r in scene.regions if room_types(r.label)):
        holders = [each for each in scene.items_in(region.id, "asset") if can_hold(each.name)]
        for thing in scene.items_in(region.id, "object"):
            if grade_plausibility(thing.name, "table", region.label).carry < 0.5:
                continue
            rooms.append((thing.name, region.label))
            if asset := find_support(thing, holders):
                surfaces.append((thing.name, asset.name, region.label))
    return rooms, surfaces


def shuffled(pairs: Sequence[Pair], seed: str) -> list[Pair]:
    """Return each object with the rest of another pair, whose name it is not truly paired with."""
    draw, truth = random.Random(seed), {pair[:2] for pair in pairs}
    made = []
    for pair in pairs:
        others = [each for each in pairs if (pair[0], each[1]) not in truth]
        if others:
            made.append((pair[0], *draw.choice(others)[1:]))
    return made


def areas(scenes: Iterable[Scene]) -> Areas:
    """Compute how well the grades separate true pairs of some homes from shuffled ones."""
    scores: list[list[float]] = [[], [], [], []]
    for scene in scenes:
        rooms, surfaces = true_pairs(scene)
        scores[0] += [room_grade(*pair) for pair in rooms]
        scores[2] += [grade_plausibility(*pair).score for pair in surfaces]
        for draw in range(_DRAWS):
            seed = f"{scene.uri}/{draw}"
            scores[1] += [room_grade(*pair) for pair in shuffled(rooms, seed)]
            scores[3] += [grade_plausibility(*pair).score for pair in shuffled(surfaces, seed)]
    true, false = Counter(scores[2]), Counter(scores[3])
    ties = sum(n * false[score] for score, n in true.items()) / (true.total() * false.total())
    counts = len(scores[0]), len(scores[2])
    return Areas(_area(*scores[:2]), _area(*scores[2:]), *counts, ties)


def _area(true: list[float], false: list[float]) -> float:
    return float(mannwhitneyu(true, false).statistic) / (len(true) * len(false))


def halves(folder: Path) -> tuple[list[Scene], list[Scene]]:
    """Return the homes of a folder that the grades were written on, and the others."""
    scenes = list(iter_scenes(f"hm3d:{folder}"))
    return (
        [each for each in scenes if each.uri.partition(":")[2] in WRITTEN_ON],
        [each for each in scenes if each.uri.partition(":")[2] not in WRITTEN_ON],
    )


if __name__ == "__main__":
    written, reported = halves(Path(sys.argv[1]))
    random.Random(0).shuffle(written)
    groups = {
        "written on": written,
        "one half of them": written[::2],
        "the other half": written[1::2],
        "reported": reported,
    }
    for words, homes in groups.items():
        found = areas(homes)
        print(
            f"{words}: {len(homes)} homes, object-room {found.room:.3f} ({found.rooms} pairs), "
            f"object-surface {found.surface:.3f} ({found.surfaces} pairs, {found.ties:.1%} ties)"
        )
