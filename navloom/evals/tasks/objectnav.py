"""Object navigation from REVERIE's data: find any object of a category (VLN-MME A.1, zero-grained).

The published episodes (Habitat's, continuous, in meshes) are not on R2R's viewpoints. These are,
but they are not the published ones: every episode says ``derived``. The files read are

    DATA/reverie/REVERIE_SPLIT.json   for the scans of the split
    DATA/reverie/BBox                 the objects that each viewpoint sees within 3 m
    DATA/connectivity, DATA/regions   the scans

The goals are all viewpoints that see an object of the category: stopping within 3 m of one is a
success. The path is the shortest to the nearest goal. Starts are drawn at 5 to 30 m from the
nearest goal, so that no episode succeeds at once. Episodes are spread as evenly as possible over
the categories, and within a category over the scans that have it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from navloom.evals.quota import equal_shares
from navloom.evals.session import sample_seed
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.evals.tasks.matterport import EpisodeFilter, ScanCache, read_visible
from navloom.evals.tasks.reverie import read_items
from navloom.evals.tasks.targets import CATEGORIES, category_of
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene

SPLITS = ("train", "val_seen", "val_unseen")
DEFAULT_SPLIT = "val_unseen"
SOURCE = "YuankaiQi/REVERIE"
NEAREST, FARTHEST = 5.0, 30.0
"""Metres from a start to the nearest goal: R2R's shortest path is 5 m, and its longest about 25."""


@dataclass(frozen=True)
class _ScanCategory:
    """A category in a scan, with the viewpoints that see it and the possible starts."""

    scene: Scene
    category: str
    goals: tuple[str, ...]
    starts: tuple[str, ...]


def load(data: Path, split: str, *, n: int = 400, seed: int = 0) -> TaskData:
    """Derive a split from REVERIE's files.

    Args:
        data: the folder; see the module's docstring.
        split: one of ``SPLITS``: the scans REVERIE has in it.
        n: the number of episodes; fewer if there are not enough starts.
        seed: of the starts and their headings.

    Returns:
        Episodes by category, then by scan: ``SCAN.CATEGORY.K``. ``columns`` has ``item`` and
        ``path_metres``.

    Raises:
        DataError: a file is missing or broken, or no episode can be made.
    """
    path, records = read_items(data, split)
    scans, sieve = ScanCache(data), EpisodeFilter()
    names = Counter[str]()
    places: dict[str, list[_ScanCategory]] = defaultdict(list)
    for scan in sorted({record.scan for record in records}):
        for place in _places(data, scan, scans, sieve, names):
            places[place.category].append(place)
    sieve.note_missing(scans, {})
    episodes = _drawn(places, n, seed)
    used = sorted({episode.scene.removeprefix("mp3d:") for episode in episodes})
    notes = _notes(places, names, episodes)
    task = TaskData("objectnav", split, tuple(episodes), scans.uris(used), notes)
    return sieve.finish(task, path)


def phrase_category(category: str) -> str:
    """Return the instruction of a category: its name, without hints where to find it.

    >>> phrase_category("chest_of_drawers")
    'Find a chest of drawers.'
    """
    return {
        "clothes": "Find some clothes.",
        "gym_equipment": "Find some gym equipment.",
        "seating": "Find a bench or another place to sit that is neither a chair nor a sofa.",
        "tv_monitor": "Find a TV or a monitor.",
    }.get(category, f"Find a {category.replace('_', ' ')}.")


def _places(
    data: Path, scan: str, scans: ScanCache, sieve: EpisodeFilter, names: Counter[str]
) -> list[_ScanCategory]:
    scene = scans.get(scan)
    seen = None if scene is None else read_visible(data, scan, scene.viewpoint_by_id)
    if scene is None or seen is None:
        why = scans.missing.get(scan, "it has no BBox file")
        sieve.note_oddity(f"Scans that are left out ({why.removesuffix('.')})", scan)
        return []
    goals: dict[str, list[str]] = defaultdict(list)
    for target in seen.values():
        category = category_of(target.name)
        if category is None:
            names[target.name] += 1
        else:
            goals[category] += target.viewpoints
    made = []
    for category in CATEGORIES:
        ends = tuple(dict.fromkeys(goals[category]))
        starts = _starts(scene, ends)
        if starts:
            made.append(_ScanCategory(scene, category, ends, starts))
    return made


def _starts(scene: Scene, goals: Sequence[str]) -> tuple[str, ...]:
    """Return the viewpoints with the nearest goal 5 to 30 m away, in a fixed order."""
    if not goals:
        return ()
    table = metre_table(scene, "3d")
    nearest = table.metres[:, [table.index[goal] for goal in goals]].min(axis=1)
    fit = np.flatnonzero((nearest >= NEAREST) & (nearest <= FARTHEST))
    return tuple(table.nodes[i] for i in fit)


def _drawn(places: Mapping[str, Sequence[_ScanCategory]], n: int, seed: int) -> list[Episode]:
    categories = [category for category in CATEGORIES if category in places]
    room = [sum(len(place.starts) for place in places[category]) for category in categories]
    episodes: list[Episode] = []
    for category, share in zip(categories, equal_shares(n, room), strict=True):
        # The order differs by category, so that not always the same scans get one more.
        order = sorted(
            places[category],
            key=lambda place: sample_seed(seed, f"{place.category}.{place.scene.id}"),
        )
        shares = equal_shares(share, [len(place.starts) for place in order])
        of = dict(zip((place.scene.id for place in order), shares, strict=True))
        for place in places[category]:
            episodes += _of_place(place, of[place.scene.id], seed)
    return episodes


def _of_place(place: _ScanCategory, count: int, seed: int) -> list[Episode]:
    rng = Random(sample_seed(seed, f"{place.scene.id}.{place.category}"))
    starts = rng.sample(place.starts, count)
    made = enumerate(starts)
    return [_episode(place, start, k, rng.uniform(0, 2 * math.pi)) for k, start in made]


def _episode(place: _ScanCategory, start: str, k: int, heading: float) -> Episode:
    table = metre_table(place.scene, "3d")
    # Ties are broken by name, so that the order of a file does not matter.
    goal = min(place.goals, key=lambda each: (table.distance(start, each), each))
    name = f"{place.scene.id}.{place.category}.{k}"
    return Episode(
        id=name,
        task="objectnav",
        scene=place.scene.uri,
        start=start,
        heading=round(heading, 3),
        instruction=phrase_category(place.category),
        goals=place.goals,
        path=tuple(table.path(start, goal) or ()),
        visible_from=place.goals,
        category=place.category,
        derived=True,
        columns={"item": name, "path_metres": round(table.distance(start, goal), 4)},
    )


def _notes(
    places: Mapping[str, Sequence[_ScanCategory]], names: Counter[str], episodes: Sequence[Episode]
) -> tuple[str, ...]:
    counts = Counter(episode.category for episode in episodes)
    each = ", ".join(f"{name} {counts[name]}" for name in CATEGORIES if counts[name])
    absent = [name for name in CATEGORIES if name not in places]
    notes = [
        "Derived from the objects that REVERIE's viewpoints see; not the published episodes of"
        " ObjectNav.",
        f"Episodes by category: {each}.",
        f"{sum(names.values())} seen objects of {len(names)} names fall under no category.",
    ]
    if absent:
        notes.append(f"Categories with no episode: {', '.join(absent)}.")
    return tuple(notes)
