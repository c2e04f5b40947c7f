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

import numpy as np
from numba import njit

from navloom_worlds.motion.sight_line import sight_line

_RING = 511
"""Buckets in a ring, half a cell each, less one."""
_NONE = np.uint32(0xFFFFFFFF)
"""No way turns here yet."""
_LOOKED = np.uint32(0xFFFFFFFE)
"""Looked along, and put off once."""
_HAIR = 1e-6
"""Cells: what is no shorter than this is no shorter way."""

_PLAIN: Any = {"error_model": "numpy", "_nrt": False}
"""How all here is compiled. It allocates nothing, and is told so (``_nrt``): else numba counts who
holds an array wherever one is handed on, atomically, which took a fifth of the time."""
_INLINE: Any = {**_PLAIN, "inline": "always"}
_KEPT: Any = {**_PLAIN, "cache": True, "nogil": True}

_sight: Any = njit(**_KEPT)(sight_line)


def _slope(
    p: int, one: int, other: int, share: float, lift: Any, climb: Any
) -> float:  # pragma: no cover - compiled
    """What stairs add to the way from a place to a corner that two places beside it see.

    Args:
        p: the place.
        one: the place beside it.
        other: the place at its corner; the way comes by between the two.
        share: how far from the one, in cells.
        lift: (n,) the height of each place, in cells.
        climb: (n,) what stairs add to the way from each to where that turns.

    Returns:
        In cells.
    """
    up = climb[one] + share * (climb[other] - climb[one])
    rise = lift[p] - lift[one] - share * (lift[other] - lift[one])
    if rise != 0:
        run = math.sqrt(1 + share * share)
        up += math.sqrt(run * run + rise * rise) - run
    return float(up)


_sloped: Any = njit(**_INLINE)(_slope)


def _between(
    p: int, r: int, on: int, dx: float, dz: float, lift: Any, ways: Any, root: Any, climb: Any
) -> float:  # pragma: no cover - compiled
    """What stairs add to the way to a corner that two places see between which it would be seen.

    Args:
        p: a place.
        r: the corner.
        on: the place that the corner is on.
        dx: from the place to the corner, in cells.
        dz: the same.
        lift: as :func:`sight_line` takes it, and so ``ways``.
        ways: of each place.
        root: of each place that is settled, where its way turns.
        climb: of each place.

    Returns:
        In cells; -1 where it is not known that the place sees the corner.
    """
    wide, deep = abs(dx), abs(dz)
    side_x, side_z = np.uint32(0 if dx > 0 else 2), np.uint32(1 if dz > 0 else 3)
    if wide >= deep:
        straight, aside, less, more = side_x, side_z, deep, wide
    else:
        straight, aside, less, more = side_z, side_x, wide, deep
    one = ways[p, straight]
    if root[one] != r and one != on:
        return -1.0
    other = one
    if less > _HAIR * more:
        other = ways[one, aside]
        if other == len(ways) - 1:
            other = ways[ways[p, aside], straight]
    if root[other] != r and other != on:
        return -1.0
    if climb[one] == 0 and climb[other] == 0 and lift[p] == lift[one] and lift[one] == lift[other]:
        return 0.0
    return float(_sloped(p, one, other, less / max(more, 1e-9), lift, climb))


_seen_between: Any = njit(**_INLINE)(_between)


def _joined(
    p: int,
    x: Any,
    z: Any,
    base: Any,
    along: Any,
    across: Any,
    lift: Any,
    ways: Any,
    metres: Any,
    via: Any,
    climb: Any,
    root: Any,
) -> None:  # pragma: no cover - compiled
    """Join a place to the best that it sees, of what those around it are joined to, and of them."""
    none, best, came, rose, tried = len(ways) - 1, math.inf, _NONE, 0.0, via[p]
    for again in range(2):
        for k in range(8):
            q = ways[p, k & 3]
            if k >= 4:
                q = ways[q, (k + 1) & 3]
                if q == none:
                    q = ways[ways[p, (k + 1) & 3], k & 3]
            if q == none or root[q] >= _LOOKED:
                continue
            r = root[q] if again else q
            if r == came or (again and r == tried):
                continue
            flat = math.sqrt((x[p] - x[r]) ** 2 + (z[p] - z[r]) ** 2)
            if metres[r] + flat >= best:
                continue
            if again:
                tried = r
                long = _sight(base[r], x[r], z[r], p, x[p], z[p], along, across, lift, ways)
            else:
                long = math.sqrt(flat * flat + (lift[p] - lift[q]) ** 2)
            if long >= 0 and metres[r] + long < best:
                best, came, rose = metres[r] + long, r, long - flat
    metres[p], via[p], climb[p] = best, came, rose


_join: Any = njit(**_KEPT)(_joined)


def _put(
    p: int, far: float, bucket: int, first: Any, onward: Any, entry: Any, entries: int
) -> Any:  # pragma: no cover - compiled
    """Put a place into the bucket of its distance, or the one that is being emptied."""
    k = np.uint32(max(int(far * 2), bucket) & _RING)
    entry[entries], onward[entries], first[k] = p, first[k], entries
    return np.uint32(entries + np.uint32(1))


_queued: Any = njit(**_INLINE)(_put)


def _march(
    x: Any,
    z: Any,
    base: Any,
    along: Any,
    across: Any,
    lift: Any,
    ways: Any,
    stops: Any,
    slack: float,
    strict: bool,
    metres: Any,
    via: Any,
    climb: Any,
    root: Any,
    first: Any,
    onward: Any,
    entry: Any,
) -> None:  # pragma: no cover - compiled
    entries, gone, bucket, bound = np.uint32(0), 0, 0, math.inf
    for s in range(len(ways), len(base)):
        p = base[s]
        far = math.sqrt((x[p] - x[s]) ** 2 + (z[p] - z[s]) ** 2)
        if far < metres[p]:
            metres[p], via[p] = far, np.uint32(s)
            entries = _queued(p, far, 0, first, onward, entry, entries)
    while gone < entries and bucket * 0.5 <= bound:
        b = np.uint32(bucket & _RING)
        e = first[b]
        if e == _NONE:
            bucket += 1
            continue
        first[b] = onward[e]
        p, gone = entry[e], gone + 1
        r, settled = via[p], root[p]
        if settled < _LOOKED:
            continue
        if settled == _NONE:
            dx, dz, was = x[r] - x[p], z[r] - z[p], metres[p]
            flat = math.sqrt(dx * dx + dz * dz)
            up = -1.0
            if not strict:
                up = _seen_between(p, r, base[r], dx, dz, lift, ways, root, climb)
            if up < 0:
                up = _sight(base[r], x[r], z[r], p, x[p], z[p], along, across, lift, ways) - flat
            if up >= -1e-9:
                climb[p], metres[p] = up, metres[r] + flat + up
            else:
                _join(p, x, z, base, along, across, lift, ways, metres, via, climb, root)
            if metres[p] > was and int(metres[p] * 2) > bucket:
                root[p] = _LOOKED
                entries = _queued(p, metres[p], bucket, first, onward, entry, entries)
                continue
            r = via[p]
        root[p] = r
        if stops[p] and metres[p] + slack < bound:
            bound = metres[p] + slack
        before, u, w = metres[r] + climb[p], x[r], z[r]
        for side in range(4):
            q = ways[p, np.uint32(side)]
            if root[q] != _NONE or via[q] == r:
                continue
            far = before + math.sqrt((x[q] - u) ** 2 + (z[q] - w) ** 2)
            if far < metres[q] - _HAIR:
                metres[q], via[q] = far, r
                entries = _queued(q, far, bucket, first, onward, entry, entries)


march: Callable[..., None] = njit(**_KEPT)(_march)
