"""The march over a field as numba compiles it; imported where numba is installed.

Places are settled from the goals outward, the nearest first (Dijkstra's order, in buckets: Dial,
1969). Each is joined not to the place beside it but to the last corner that its shortest way turns
at, which it sees in a straight line (Nash, Daniel, Koenig and Felner, "Theta*", AAAI 2007), and the
line is looked along when the place is settled (Nash, Koenig and Tovey, "Lazy Theta*", AAAI 2010);
seldom cell by cell, since a place between two that see a corner sees it too. So lengths are those
of taut strings, without the bias of a grid's eight directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numba import njit

from navloom.scenes.space.sight_line import sight_line

BUCKETS = 512
"""In a ring, half a cell each."""
_RING = BUCKETS - 1

_sight: Any = njit(cache=True, nogil=True, error_model="numpy")(sight_line)


def _corner(beside: Any, at: int, one: int, other: int) -> int:  # pragma: no cover - compiled
    """The place at the corner between two sides; -1 for none."""
    there = beside[at, one]
    if there >= 0:
        there = beside[there, other]
    if there < 0:
        there = beside[at, other]
        if there >= 0:
            there = beside[there, one]
    return int(there)


_at_corner: Any = njit(inline="always", error_model="numpy")(_corner)


def _between(
    p: int,
    r: int,
    root: int,
    dx: float,
    dz: float,
    lift: Any,
    beside: Any,
    via: Any,
    climb: Any,
    state: Any,
) -> float:  # pragma: no cover - compiled
    """What stairs add to the way to a corner that two places see between which it would be seen.

    Args:
        p: a place.
        r: the corner.
        root: the place that the corner is on.
        dx: from the place to the corner, in cells.
        dz: the same.
        lift: as :func:`sight_line` takes it, and so ``beside``.
        beside: of each place.
        via: of each place.
        climb: of each place.
        state: of each place.

    Returns:
        In cells; -1 where it is not known that the place sees the corner.
    """
    wide, deep = abs(dx), abs(dz)
    side_x, side_z = 0 if dx > 0 else 2, 1 if dz > 0 else 3
    if wide >= deep:
        straight, aside, share = side_x, side_z, deep / max(wide, 1e-9)
    else:
        straight, aside, share = side_z, side_x, wide / deep
    up = -1.0
    one = beside[p, straight]
    if one >= 0 and state[one] == 2 and (via[one] == r or root == one):
        other = one
        if share > 1e-6:
            other = _at_corner(beside, p, straight, aside)
        if other >= 0 and state[other] == 2 and (via[other] == r or root == other):
            up = climb[one] + share * (climb[other] - climb[one])
            rise = lift[p] - lift[one] - share * (lift[other] - lift[one])
            if rise != 0:
                run = math.sqrt(1 + share * share)
                up += math.sqrt(run * run + rise * rise) - run
    return up


_seen_between: Any = njit(inline="always", error_model="numpy")(_between)


def _joined(
    p: int,
    x: Any,
    z: Any,
    base: Any,
    along: Any,
    across: Any,
    lift: Any,
    beside: Any,
    metres: Any,
    via: Any,
    climb: Any,
    state: Any,
) -> None:  # pragma: no cover - compiled
    """Join a place to the best that it sees, of what those around it are joined to, and of them."""
    best, came, rose, tried = math.inf, -1, 0.0, via[p]
    for again in range(2):
        for k in range(8):
            q = beside[p, k] if k < 4 else _at_corner(beside, p, k - 4, (k - 3) & 3)
            if q < 0 or state[q] != 2:
                continue
            r = via[q] if again else q
            if r == came or (again and r == tried):
                continue
            flat = math.sqrt((x[p] - x[r]) ** 2 + (z[p] - z[r]) ** 2)
            if metres[r] + flat >= best:
                continue
            if again:
                tried = r
                long = _sight(base[r], x[r], z[r], p, x[p], z[p], along, across, lift, beside)
            else:
                long = math.sqrt(flat * flat + (lift[p] - lift[q]) ** 2)
            if long >= 0 and metres[r] + long < best:
                best, came, rose = metres[r] + long, r, long - flat
    metres[p], via[p], climb[p] = best, came, rose


_join: Any = njit(cache=True, nogil=True, error_model="numpy")(_joined)


def _march(
    x: Any,
    z: Any,
    base: Any,
    along: Any,
    across: Any,
    lift: Any,
    beside: Any,
    stops: Any,
    slack: float,
    strict: bool,
    metres: Any,
    via: Any,
    climb: Any,
    state: Any,
    first: Any,
    onward: Any,
    entry: Any,
) -> None:  # pragma: no cover - compiled
    n, entries, held, bucket, bound = len(along), 0, 0, 0, math.inf
    for s in range(n, len(base)):
        p = base[s]
        far = math.sqrt((x[p] - x[s]) ** 2 + (z[p] - z[s]) ** 2)
        if far < metres[p]:
            metres[p], via[p] = far, s
            k = int(far * 2) & _RING
            entry[entries], onward[entries], first[k] = p, first[k], entries
            entries, held = entries + 1, held + 1
    while held > 0 and bucket * 0.5 <= bound:
        e = first[bucket & _RING]
        if e < 0:
            bucket += 1
            continue
        first[bucket & _RING] = onward[e]
        p, held = entry[e], held - 1
        if state[p] == 2:
            continue
        r = via[p]
        if state[p] == 0:
            state[p] = 1
            dx, dz, was = x[r] - x[p], z[r] - z[p], metres[p]
            flat = math.sqrt(dx * dx + dz * dz)
            up = -1.0
            if not strict:
                up = _seen_between(p, r, base[r], dx, dz, lift, beside, via, climb, state)
            if up < 0:
                up = _sight(base[r], x[r], z[r], p, x[p], z[p], along, across, lift, beside) - flat
            if up >= -1e-9:
                climb[p], metres[p] = up, metres[r] + flat + up
            else:
                _join(p, x, z, base, along, across, lift, beside, metres, via, climb, state)
            if metres[p] > was and int(metres[p] * 2) > bucket:
                k = int(metres[p] * 2) & _RING
                entry[entries], onward[entries], first[k] = p, first[k], entries
                entries, held = entries + 1, held + 1
                continue
            r = via[p]
        state[p] = 2
        if stops[p] and metres[p] + slack < bound:
            bound = metres[p] + slack
        before, u, w = metres[r] + climb[p], x[r], z[r]
        for side in range(4):
            q = beside[p, side]
            if q < 0 or state[q] or via[q] == r:
                continue
            far = before + math.sqrt((x[q] - u) ** 2 + (z[q] - w) ** 2)
            if far < metres[q] - 1e-6:
                metres[q], via[q] = far, r
                k = max(int(far * 2), bucket) & _RING
                entry[entries], onward[entries], first[k] = q, first[k], entries
                entries, held = entries + 1, held + 1


march: Callable[..., None] = njit(cache=True, nogil=True, error_model="numpy")(_march)
