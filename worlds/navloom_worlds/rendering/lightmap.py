"""Light worked out beforehand with rays: of sky, sun, ceilings and lamps, and its bounces.

Light is relative: 1 on white paper is a bright photograph's white paper. Each spot of the layout
gathers what comes from the half of the world before it; what it gives back is gathered by others.
The same mesh has the same light to the bit: nothing is random, nothing runs at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.laid_flat import tangents
from navloom_worlds.geometry.owners import CEILING, FLOOR
from navloom_worlds.geometry.rays import RayCaster
from navloom_worlds.geometry.solids import Floats, Ints
from navloom_worlds.rendering.charts import Layout
from navloom_worlds.rendering.facets import Facets
from navloom_worlds.rendering.lamps import lamplight
from navloom_worlds.rendering.sky import SKYLIGHT, SUN, SUNLIGHT, sky

RAYS = 64
"""Rays from each spot."""
BOUNCES = 3
_OFF_M = 0.004
"""So far off its face a spot's rays begin."""
_CEILING = np.array([0.95, 0.90, 0.82], dtype=np.float32) * np.float32(0.7)
"""What ceilings shine down with: lamps are on in every room, none is seen."""
_ON_CEILINGS = np.array([0.36, 0.34, 0.31], dtype=np.float32)
"""What lamps throw up at them."""
_AMBIENT = np.array([0.06, 0.06, 0.065], dtype=np.float32)
_BURIED_M = 0.05
"""Spots with less room before them lie within walls or under things that stand flat."""
_CEILING_ROOM_M = 0.97
_OUTSIDE = 0.4
_PATTERN = 4
"""Rays' directions differ over so many by so many texels, over which light is then averaged."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """What the rays of each spot met.

    Attributes:
        met: (RAYS, spots) int32, the spot that was met, or -1.
        direct: (spots, 3) light of the sky and the sun.
        room: (spots,) metres, the mean way of the rays, each taken as 1 m at most.
        out: (spots,) the share of the rays that meet nothing.
    """

    met: Ints
    direct: Floats
    room: Floats
    out: Floats


def spot_light(
    facets: Facets, layout: Layout
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """The light on each spot.

    Returns:
        (spots, 3) linear light, (spots,) which are open: not within walls, and (spots,) which are
        of the floors of rooms, by whose light pictures are exposed.
    """
    caster = facets.mesh.caster
    turned = _turned(caster, layout)
    layout_normal = layout.normal * turned[:, None]
    gathered = _gathered(layout, caster, layout_normal)
    of_lamps = lamplight(facets, layout, layout_normal, _patterns(layout))
    open_ = gathered.room >= _BURIED_M
    albedo = np.minimum(facets.albedo[layout.face], 0.85)
    shine = (facets.glow[:, None] * facets.albedo)[layout.face]
    owner = facets.mesh.owners[layout.face]
    ceiling, floor = owner == CEILING, owner == FLOOR
    if not ceiling.any():
        # A mesh that does not say what is its ceiling has it where there is most room below.
        ceiling = (gathered.room > _CEILING_ROOM_M) & (layout_normal[:, 1] < -0.8)
    if not floor.any():
        floor = (layout_normal[:, 1] > 0.7) & (gathered.out < _OUTSIDE)
    shine = shine + ceiling[:, None] * _CEILING
    light = gathered.direct
    thrown = ceiling[:, None] * _ON_CEILINGS * gathered.room[:, None]
    for _ in range(BOUNCES):
        # Nothing shines out of walls; and no light is not a hole, but a corner.
        sent = np.where(open_[:, None], shine + albedo * light, 0)
        sent = np.vstack([sent, np.zeros((1, 3), dtype=np.float32)]).astype(np.float32)
        light = np.zeros_like(gathered.direct)
        for row in gathered.met:
            light += sent[row]
        light = gathered.direct + light / np.float32(RAYS)
        light += _AMBIENT * (0.25 + 0.75 * gathered.room[:, None]) + thrown + of_lamps
        light = smoothed(layout, light, open_)
    return light, open_, open_ & floor


def _turned(caster: RayCaster, layout: Layout) -> Floats:
    """1 where a spot's side of its chart is the one it is wound to, -1 where the other."""
    depth = []
    across, down = tangents(layout.normal)
    for sign in (1, -1):
        normal = layout.normal * np.float32(sign)
        near = np.zeros(len(normal), dtype=np.float32)
        for turn in range(5):
            angle = np.float32(turn * 2 * np.pi / 5 + 0.3)
            ways = normal + np.float32(0.8) * (across * np.cos(angle) + down * np.sin(angle))
            hits = caster.cast(layout.where + normal * np.float32(_OFF_M), ways)
            near += np.minimum(hits.distance, 1)
        groups = int(layout.group.max(initial=0)) + 1
        whole = np.bincount(layout.group, near, groups)
        depth.append(whole / np.maximum(np.bincount(layout.group, minlength=groups), 1) / 5)
    # Winding is believed where both sides are open, as of a curtain.
    back = depth[1] > 1.5 * depth[0] + 0.02
    return np.where(back, -1, 1).astype(np.float32)[layout.group]


def _gathered(layout: Layout, caster: RayCaster, normal: Floats) -> Gathered:
    count = len(normal)
    across, down = tangents(normal)
    start = layout.where + normal * np.float32(_OFF_M)
    local = _directions()
    which = _patterns(layout)
    met = np.empty((RAYS, count), dtype=np.int32)
    direct = np.zeros((count, 3), dtype=np.float32)
    room = np.zeros(count, dtype=np.float32)
    lost = np.zeros(count, dtype=np.float32)
    for ray in range(RAYS):
        x, y, z = (part[which][:, None] for part in local[ray])
        ways = across * x + down * y + normal * z
        hits = caster.cast(start, ways)
        met[ray] = _spots_met(layout, hits.face, hits.u, hits.v)
        out = hits.face < 0
        direct[out] += sky(ways[out, 1]) * SKYLIGHT
        room += np.minimum(hits.distance, 1)
        lost += out
    direct /= RAYS
    facing = normal @ SUN
    lit = np.flatnonzero(facing > 0)
    seen = caster.cast(start[lit], np.broadcast_to(SUN, (len(lit), 3))).face < 0
    direct[lit[seen]] += facing[lit[seen]][:, None] * SUNLIGHT
    return Gathered(met, direct, room / np.float32(RAYS), lost / np.float32(RAYS))


def _spots_met(layout: Layout, face: Ints, u: Floats, v: Floats) -> Ints:
    place = layout.place[face]
    x = (place[:, 0] + u * place[:, 1] + v * place[:, 2]).astype(np.int32)
    y = (place[:, 3] + u * place[:, 4] + v * place[:, 5]).astype(np.int32)
    cluster = layout.cluster[face]
    spot = np.where(cluster >= 0, cluster + layout.texels, layout.spot[y, x])
    return np.where(face >= 0, spot, -1).astype(np.int32)


def _directions() -> Floats:
    """(RAYS, 3, patterns): across, down and out; denser the straighter out."""
    patterns = _PATTERN * _PATTERN
    index = np.arange(RAYS)
    reverse = np.zeros(RAYS)
    for bit in range(12):
        reverse += ((index >> bit) & 1) / 2.0 ** (bit + 1)
    shift = np.arange(patterns)[None]
    # Each pattern is the same set moved a little on the torus, by the plastic number's fractions.
    first = ((index[:, None] + 0.5) / RAYS + shift * 0.7548776662466927) % 1
    second = (reverse[:, None] + shift * 0.5698402909980532) % 1
    radius, angle = np.sqrt(first), 2 * np.pi * second
    return np.stack(
        [radius * np.cos(angle), radius * np.sin(angle), np.sqrt(1 - first)], axis=1
    ).astype(np.float32)


def _patterns(layout: Layout) -> Ints:
    y, x = np.nonzero(layout.spot >= 0)
    of_texels = (x % _PATTERN) + _PATTERN * (y % _PATTERN)
    clusters = len(layout.where) - layout.texels
    return np.concatenate([of_texels, np.arange(clusters) % _PATTERN**2]).astype(np.int32)


_KERNEL = (0.5, 1.0, 1.0, 1.0, 0.5)


def smoothed(layout: Layout, light: Floats, open_: NDArray[np.bool_]) -> Floats:
    """Light averaged over neighbours in the same chart, less where it differs as by a shadow."""
    image = np.zeros((layout.high, layout.wide, 3), dtype=np.float32)
    known = layout.spot >= 0
    image[known] = light[: layout.texels]
    counts = np.zeros(known.shape, dtype=np.bool_)
    counts[known] = open_[: layout.texels]
    bright = image.sum(axis=2) + np.float32(0.02)
    total = np.zeros_like(image)
    weights = np.zeros(known.shape, dtype=np.float32)
    for dy, wy in zip(range(-2, 3), _KERNEL, strict=True):
        for dx, wx in zip(range(-2, 3), _KERNEL, strict=True):
            here, there = _moved(known.shape, dy, dx)
            same = counts[there] & (layout.chart[here] == layout.chart[there])
            ratio = bright[there] / bright[here]
            alike = np.minimum(ratio, 1 / ratio)
            weight = same * np.float32(wx * wy) * np.clip(alike * 2.5 - 0.75, 0.02, 1)
            total[here] += weight[..., None] * image[there]
            weights[here] += weight
    usable = known & (weights > 0)
    image[usable] = total[usable] / weights[usable][:, None]
    result = light.copy()
    result[: layout.texels] = image[known]
    return result


def _moved(shape: tuple[int, int], dy: int, dx: int) -> tuple[tuple[slice, slice], ...]:
    """Two windows of an image, the second moved by so much against the first."""
    high, wide = shape
    here = (slice(max(0, -dy), high - max(0, dy)), slice(max(0, -dx), wide - max(0, dx)))
    there = (slice(max(0, dy), high + min(0, dy)), slice(max(0, dx), wide + min(0, dx)))
    return here, there
