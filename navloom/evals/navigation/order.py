"""The order in which episodes are gone through."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from navloom.evals.tasks.episode import Episode


def spread(episodes: Sequence[Episode], seed: int) -> list[Episode]:
    """Episodes in an order whose beginnings are fair samples: the first N of it are N of all.

    Scenes take turns, in an order drawn by the seed; each scene's paths come in an order drawn
    likewise, and none a second time before all of its scene have come.
    """

    def drawn(*what: Any) -> bytes:
        said = json.dumps([seed, *what]).encode()
        return blake2b(said, digest_size=8).digest()

    paths: dict[tuple[str, str], list[Episode]] = {}
    for episode in sorted(episodes, key=lambda each: drawn(each.id)):
        path = str(episode.columns.get("path_id", episode.id))
        paths.setdefault((episode.scene, path), []).append(episode)
    scenes: dict[str, list[tuple[int, bytes, Episode]]] = {}
    for (scene, path), told in paths.items():
        ranked = [(again, drawn(scene, path), each) for again, each in enumerate(told)]
        scenes.setdefault(scene, []).extend(ranked)
    turns = [
        (turn, drawn(scene), episode)
        for scene, ranked in scenes.items()
        for turn, (*_, episode) in enumerate(sorted(ranked, key=lambda each: each[:2]))
    ]
    return [episode for *_, episode in sorted(turns, key=lambda each: each[:2])]
