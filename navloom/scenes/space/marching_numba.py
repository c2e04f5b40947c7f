"""The march over a field as numba compiles it; imported where numba is installed.

Places are settled from the goals outward, the nearest first (Dijkstra's order). Each is joined not
to the place beside it but to the last corner that its shortest way turns at, which it sees in a
straight line (Nash, Daniel, Koenig and Felner, "Theta*", AAAI 2007; the line is looked along when
the place is settled: Nash, Koenig and Tovey, "Lazy Theta*", AAAI 2010). So lengths are those of
taut strings, without the bias of a grid's eight directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numba import njit

from navloom.scenes.space.sight_line import sight_line

_sight: Any = njit(cache=True, nogil=True)(sight_line)


def _pushing(heap: Any, keys: Any, size: int, key: float, place: int) -> int:  # pragma: no cover
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at], heap[at] = keys[above], heap[above]
        at = above
    keys[at], heap[at] = key, place
    return size + 1


def _popping(heap: Any, keys: Any, size: int) -> int:  # pragma: no cover
    size -= 1
    key, place, at = keys[size], heap[size], 0
    while True:
        under = 2 * at + 1
        if under >= size:
            break
        if under + 1 < size and keys[under + 1] < keys[under]:
            under += 1
        if keys[under] >= key:
            break
        keys[at], heap[at] = keys[under], heap[under]
        at = under
    keys[at], heap[at] = key, place
    return size


_push: Any = njit(cache=True, nogil=True)(_pushing)
_pop: Any = njit(cache=True, nogil=True)(_popping)


def _beside(beside: Any, at: int, k: int) -> int:  # pragma: no cover
    """The k-th of eight neighbours: the four sides, then the corners between two of them."""
    if k < 4:
        return int(beside[at, k])
    one, other = k - 4, (k - 3) & 3
    there = beside[at, one]
    if there >= 0:
        there = beside[there, other]
    if there < 0:
        there = beside[at, other]
        if there >= 0:
            there = beside[there, one]
    return int(there)


_neighbour: Any = njit(cache=True, nogil=True)(_beside)


def _looked(
    p: int, x: Any, z: Any, base: Any, places: Any, metres: Any, via: Any, climb: Any, state: Any
) -> None:  # pragma: no cover
    """Join a place that does not see what it was joined to."""
    along, across, lift, beside = places
    best, came, rose = math.inf, -1, 0.0
    failed = via[p]
    for k in range(8):
        q = _neighbour(beside, p, k)
        if q < 0 or state[q] != 2:
            continue
        dx, dz, dy = x[p] - x[q], z[p] - z[q], lift[p] - lift[q]
        far = metres[q] + math.sqrt(dx * dx + dz * dz + dy * dy)
        if far < best:
            best, came, rose = far, q, far - metres[q] - math.sqrt(dx * dx + dz * dz)
    for k in range(8):
        q = _neighbour(beside, p, k)
        if q < 0 or state[q] != 2 or via[q] == failed or via[q] == came:
            continue
        r = via[q]
        dx, dz = x[p] - x[r], z[p] - z[r]
        flat = math.sqrt(dx * dx + dz * dz)
        if metres[r] + flat >= best:
            continue
        long = _sight(base[r], x[r], z[r], p, x[p], z[p], along, across, lift, beside)
        if long >= 0 and metres[r] + long < best:
            best, came, rose = metres[r] + long, r, long - flat
    metres[p], via[p], climb[p] = best, came, rose


_look: Any = njit(cache=True, nogil=True)(_looked)


def _march(
    x: Any, z: Any, base: Any, places: Any, stops: Any, slack: float, found: Any, work: Any
) -> None:  # pragma: no cover
    along, across, lift, beside = places
    metres, via = found
    climb, state, heap, keys = work
    n, size, bound = len(along), 0, math.inf
    for s in range(n, len(base)):
        p = base[s]
        far = metres[s] + math.sqrt((x[p] - x[s]) ** 2 + (z[p] - z[s]) ** 2)
        if far < metres[p]:
            metres[p], via[p] = far, s
            size = _push(heap, keys, size, far, p)
    while size > 0:
        far, p = keys[0], heap[0]
        size = _pop(heap, keys, size)
        if far > bound:
            break
        if state[p] == 2 or far > metres[p]:
            continue
        if state[p] == 0:
            r = via[p]
            long = _sight(base[r], x[r], z[r], p, x[p], z[p], along, across, lift, beside)
            state[p] = 1
            if long >= 0:
                metres[p] = metres[r] + long
                climb[p] = long - math.sqrt((x[p] - x[r]) ** 2 + (z[p] - z[r]) ** 2)
            else:
                _look(p, x, z, base, places, metres, via, climb, state)
            if size > 0 and metres[p] > keys[0]:
                size = _push(heap, keys, size, metres[p], p)
                continue
        state[p] = 2
        if stops[p] and metres[p] + slack < bound:
            bound = metres[p] + slack
        r = via[p]
        for k in range(8):
            q = _neighbour(beside, p, k)
            if q < 0 or state[q] != 0:
                continue
            flat = math.sqrt((x[q] - x[r]) ** 2 + (z[q] - z[r]) ** 2)
            rise = lift[q] - lift[p]
            up = climb[p]
            if rise != 0:
                run = math.sqrt((x[q] - x[p]) ** 2 + (z[q] - z[p]) ** 2)
                up += math.sqrt(run * run + rise * rise) - run
            far = metres[r] + flat + up
            if far < metres[q] - 1e-9:
                metres[q], via[q] = far, r
                size = _push(heap, keys, size, far, q)


march: Callable[..., None] = njit(cache=True, nogil=True)(_march)
