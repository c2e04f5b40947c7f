"""The search behind routes made anew: A* in time windows, over the rows of a graph.

Safe-interval path planning (Phillips and Likhachev 2011): a state is a row and one of the spells in
which it is free. Of two arrivals in one spell only the sooner counts, since one may wait there.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence

from navloom.tools.navcraft.schedule import Spell

Edge = tuple[int, int]
"""Rows of an edge's two ends, the lower first."""
_ALWAYS: tuple[Spell, ...] = ((-math.inf, math.inf),)


class WindowSearch:
    """The search over one graph.

    Attributes:
        neighbours: by row: the rows one edge away, and the metres.
        left: by row: metres to the goal where nobody is in the way; ``inf`` where there is no way.
        speed: metres a second.
    """

    def __init__(
        self, neighbours: list[list[tuple[int, float]]], left: list[float], speed: float
    ) -> None:
        self.neighbours, self.left, self.speed = neighbours, left, speed

    def run(
        self,
        start: int,
        goal: int,
        depart: float,
        shut: set[int | Edge],
        taken: Mapping[int | Edge, tuple[Spell, ...]],
    ) -> list[tuple[int, float, float]] | None:
        """The way that arrives first.

        Args:
            start: row of the start; free at ``depart``.
            goal: row of the goal.
            depart: second from which it may set out.
            shut: rows and edges that are closed.
            taken: when rows and edges are somebody else's, as :func:`merged` gives it.

        Returns:
            Rows with the seconds of coming and going; None where there is no way.
        """
        speed, left, neighbours = self.speed, self.left, self.neighbours
        if start in shut or goal in shut or math.isinf(left[start]):
            return None
        free = {row: _gaps(spells) for row, spells in taken.items() if isinstance(row, int)}
        first = next(k for k, (a, b) in enumerate(free.get(start, _ALWAYS)) if a <= depart <= b)
        # Of equal arrivals the shorter walk: the heap compares metres after seconds.
        queue = [(depart + left[start] / speed, 0.0, depart, start, first, depart, (-1, -1))]
        came: dict[tuple[int, int], tuple[float, float, tuple[int, int]]] = {}
        while queue:
            _, metres, now, here, spell, left_at, before = heapq.heappop(queue)
            state = here, spell
            if state in came:
                continue
            came[state] = now, left_at, before
            if here == goal:
                return _traced(came, state)
            until = free.get(here, _ALWAYS)[spell][1]
            for there, length in neighbours[here]:
                edge = (here, there) if here < there else (there, here)
                if math.isinf(left[there]) or there in shut or edge in shut:
                    continue
                lasts = length / speed
                for k, (opens, closes) in enumerate(free.get(there, _ALWAYS)):
                    if (there, k) in came:
                        continue
                    go = opens - lasts if opens - lasts > now else now
                    if edge in taken:
                        go = _clear(taken[edge], go, lasts)
                    if go > until or go + lasts > closes or go == math.inf:
                        continue
                    arrive = max(go + lasts, opens)
                    rank = arrive + left[there] / speed, metres + length
                    heapq.heappush(queue, (*rank, arrive, there, k, go, state))
        return None


def _traced(
    came: Mapping[tuple[int, int], tuple[float, float, tuple[int, int]]], state: tuple[int, int]
) -> list[tuple[int, float, float]]:
    """The states on the way, first to last: a row, when it comes there and when it goes on."""
    back: list[tuple[int, float, float]] = []
    goes = came[state][0]
    while state in came:
        arrive, left_at, before = came[state]
        back.append((state[0], arrive, goes))
        state, goes = before, left_at
    return back[::-1]


def _clear(taken: Sequence[Spell], go: float, lasts: float) -> float:
    """The first second from ``go`` on at which an edge is free for so long."""
    for begin, end in taken:
        if begin < go + lasts and go < end:
            go = end
    return go


def _gaps(taken: Sequence[Spell]) -> tuple[Spell, ...]:
    """The spells in which a thing is free, bounds included."""
    ends = [-math.inf, *(end for _, end in taken)]
    gaps = zip(ends, [*(begin for begin, _ in taken), math.inf], strict=True)
    return tuple(gap for gap in gaps if gap[0] < math.inf)


def merged(spells: Sequence[Spell]) -> tuple[Spell, ...]:
    """Spells in order, each apart from the next: what touches is one."""
    found: list[Spell] = []
    for begin, end in sorted(spells):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return tuple(found)


def free_at(taken: Sequence[Spell], second: float) -> bool:
    """Whether a thing is free at one second; its bounds are free."""
    return not any(begin < second < end for begin, end in taken)
