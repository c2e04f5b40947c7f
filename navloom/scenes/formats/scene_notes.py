"""Notes that the loaders of several formats have to make about a scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import networkx as nx

from navloom.scenes.lexicon import unlisted
from navloom.scenes.parts import Link, prompt_name

_MOST_NAMES = 20


def unlisted_note(names: Iterable[str]) -> Iterator[str]:
    """What the lexicon does not know of the names of things; nothing where it knows them all."""
    strange = unlisted(names)
    if strange:
        shown = [f"{prompt_name(name)} ({n})" for name, n in strange.most_common(_MOST_NAMES)]
        more = len(strange) - _MOST_NAMES
        rest = f" and {more} more names" if more > 0 else ""
        yield (
            f"{sum(strange.values())} things are kept out of tasks as structure, since the lexicon "
            f"does not know their kind: {', '.join(shown)}{rest}."
        )


def apart_note(regions: Iterable[str], links: Iterable[Link]) -> Iterator[str]:
    """In how many parts regions, by their ids, fall; nothing where links join them all."""
    graph: nx.Graph[str] = nx.Graph((link.a, link.b) for link in links)
    graph.add_nodes_from(regions)
    parts = nx.number_connected_components(graph)
    if parts > 1:
        yield f"The home falls into {parts} parts that no link joins."
