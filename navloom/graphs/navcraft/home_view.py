"""A home as the rule-based baselines see it: what they read in the prompt, and nothing else."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

__all__ = ["Home", "likes", "pick_weighted", "suits_handoff", "taste"]

from navloom.scenes.lexicon import word_table

T = TypeVar("T")

_THINGS = word_table("errand_things")
_SURFACE_WORDS = frozenset(word_table("errand_surfaces")["words"].split())


@dataclass(frozen=True)
class Home:
    """Regions, links and items, parsed from the scene graph in a prompt."""

    links: dict[str, list[str]]
    assets: dict[str, list[str]] = field(default_factory=dict)
    objects: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, graph: dict[str, Any]) -> Home:
        """Read the JSON of CoNavBench A.10.1, floor by floor."""
        links: dict[str, list[str]] = {}
        assets: dict[str, list[str]] = {}
        objects: dict[str, list[str]] = {}
        for floor in graph.values():
            for region in floor["region"]:
                links.setdefault(region["id"], [])
            for item in floor["item"]:
                assets[item["region"]] = list(item["asset"])
                objects[item["region"]] = list(item["object"])
        for floor in graph.values():
            for link in floor["link"]:
                a, _, b = link.partition(" <-> ")
                links.setdefault(a, []).append(b)
                links.setdefault(b, []).append(a)
        return cls(links, assets, objects)

    @cached_property
    def regions(self) -> list[str]:
        """All region ids, in the prompt's order."""
        return list(self.links)

    def hops(self, start: str) -> dict[str, int]:
        """Links from a region to every region one can reach from it."""
        reached, queue = {start: 0}, deque([start])
        while queue:
            here = queue.popleft()
            for there in self.links[here]:
                if there not in reached:
                    reached[there] = reached[here] + 1
                    queue.append(there)
        return reached


def suits_handoff(asset: str) -> bool:
    """Whether an asset's name sounds like a surface one can put things on."""
    return bool(_SURFACE_WORDS & set(asset.split("_")))


def likes(profile: dict[str, Any] | None) -> dict[str, int]:
    """The words a profile speaks for: 2 for its own, 1 for what they bring to mind."""
    if not profile:
        return {}
    text = f"{profile.get('Occupation', '')} {profile.get('Lifestyle Description', '')}"
    words = re.findall(r"[a-z]+", text.casefold())
    liked = {other: 1 for word in words for other in _THINGS.get(word, "").split()}
    return {**liked, **{word.removesuffix("s"): 2 for word in words if len(word) > 3}}


def taste(name: str, liked: dict[str, int]) -> int:
    """How much an object's name is to somebody's taste."""
    return sum(liked.get(word.removesuffix("s"), 0) for word in name.split("_"))


def pick_weighted(rng: random.Random, options: Sequence[T], weights: Iterable[float]) -> T:
    """One option by weight."""
    return rng.choices(options, list(weights))[0]
