"""Baked lighting: the light on every face of a mesh as one texture, blended between its texels.

It is computed in advance with rays: light of the sky, the sun, ceilings and lamps, and its bounces.
Light is relative: 1 on white paper is the white paper of a bright photograph. A *spot* is a texel
(a pixel of the texture) or a cluster of small faces (:mod:`navloom_worlds.rendering.light_charts`).
Each spot gathers light from the hemisphere in front of it, and the light it reflects is gathered by
others. The same mesh has the same light to the bit: nothing is random, nothing runs in parallel.

Lamps are glowing items, treated as balls that cast soft shadows.

The sky and the sun are seen outside and shine into a home.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.arrays import F32, I32, I64, Bools
from navloom_worlds.geometry.planar_uv import plane_tangents
from navloom_worlds.geometry.ray_casting import RayCaster
from navloom_worlds.geometry.semantic_ids import CEILING, FLOOR
from navloom_worlds.rendering.facets import Facets
from navloom_worlds.rendering.light_charts import ChartLayout, lay_out_charts

SUN = np.array([0.52, 0.62, 0.59], dtype=np.float32)
"""Unit vector to the sun: in the south-east, at an elevation of 38 degrees."""
SUN /= np.float32(np.linalg.norm(SUN))
SUNLIGHT = np.array([2.4, 2.15, 1.75], dtype=np.float32)
"""Light of the sun on a plane that faces it; a white plane in a lit room has about 1."""
SKYLIGHT = np.float32(3.2)
"""Ratio of the sky's light in rooms to its drawn brightness, as in photographs of rooms."""
ZENITH = np.array([0.30, 0.52, 0.86], dtype=np.float32)
HORIZON = np.array([0.80, 0.88, 0.95], dtype=np.float32)
EARTH = np.array([0.42, 0.44, 0.38], dtype=np.float32)


def sky_colour(rise: F32) -> F32:
    """Return the visible sky colour, (n, 3) linear: paler towards the horizon, haze below it.

    Args:
        rise: (n,) the sine of the elevation.
    """
    up = np.clip(rise, 0, 1)[:, None]
    down = np.clip(-rise * 6, 0, 1)[:, None]
    clear = HORIZON + (ZENITH - HORIZON) * np.sqrt(up)
    return np.asarray(clear + (EARTH - clear) * (down * down * (3 - 2 * down)), dtype=np.float32)


_REACH_M = 7.0
_POWER = np.float32(1.7)
"""Light of a lamp on a plane that faces it at 1 m."""
_COLOUR = np.array([1.0, 0.93, 0.82], dtype=np.float32)
_LEAST_GLOW = 0.3
_LEAST_M2 = 0.005
"""Minimum glowing area of a lamp in m2; smaller ones are pilot lights."""
_PATTERNS = 16


@dataclass(frozen=True, eq=False)
class Lamp:
    """Lamp: the glowing faces of one owner.

    Attributes:
        owner: its owner id.
        where: (3,) its centre.
        radius: metres.
        power: relative to a full lamp.
    """

    owner: int
    where: F32
    radius: float
    power: float


def find_lamps(facets: Facets) -> list[Lamp]:
    """Return the lamps of a mesh, one per owner, in the owners' order."""
    mesh = facets.mesh
    glowing = np.flatnonzero(facets.glow >= _LEAST_GLOW)
    found = []
    for owner in np.unique(mesh.owners[glowing]):
        faces = glowing[mesh.owners[glowing] == owner]
        area = facets.area[faces].astype(np.float64)
        if area.sum() < _LEAST_M2:
            continue
        middles = mesh.vertices[mesh.faces[faces]].mean(axis=1).astype(np.float64)
        where = np.average(middles, axis=0, weights=area)
        spread = np.sqrt(np.average(((middles - where) ** 2).sum(axis=1), weights=area))
        glow = float(np.average(facets.glow[faces], weights=area))
        power = min(1.0, glow) * min(1.0, 0.45 + float(area.sum()) * 4)
        found.append(
            Lamp(int(owner), where.astype(np.float32), float(np.clip(spread, 0.08, 0.4)), power)
        )
    return found


def lamp_light(facets: Facets, layout: ChartLayout, normal: F32, pattern: I32) -> F32:
    """Return the light of all lamps on each spot, (spots, 3).

    Args:
        facets: of the mesh.
        layout: the spots.
        normal: (spots, 3) the open direction of each spot.
        pattern: (spots,) 0 to 15, differing between neighbours: the part of a lamp that each sees.
    """
    total = np.zeros(len(normal), dtype=np.float32)
    parts = _ball()
    start = layout.where + normal * np.float32(0.004)
    owners = facets.mesh.owners
    for lamp in find_lamps(facets):
        near = np.flatnonzero(((layout.where - lamp.where) ** 2).sum(axis=1) < _REACH_M**2)
        target = lamp.where + parts[pattern[near]] * np.float32(lamp.radius)
        way = target - start[near]
        away = np.sqrt((way**2).sum(axis=1))
        facing = (way * normal[near]).sum(axis=1) / np.maximum(away, 1e-3)
        lit = facing > 0
        near, way, away, facing = near[lit], way[lit], away[lit], facing[lit]
        hits = facets.mesh.caster.cast(start[near], way)
        # A lamp's own shade and arms let its light through.
        free = (hits.distance >= 0.999) | (owners.take(hits.face, mode="clip") == lamp.owner)
        fade = np.clip(1 - (away / _REACH_M) ** 2, 0, 1)
        light = _POWER * lamp.power * facing * fade / (away**2 + np.float32(0.35))
        total[near] += np.where(free, light, 0).astype(np.float32)
    return total[:, None] * _COLOUR


def _ball() -> F32:
    """Return (16, 3) points in a unit ball, spread evenly."""
    index = np.arange(_PATTERNS) + 0.5
    height = 1 - 2 * index / _PATTERNS
    angle = index * np.pi * (3 - np.sqrt(5))
    level = np.sqrt(1 - height**2)
    # The order makes neighbours in a square of four by four differ much.
    order = np.array([0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5])
    ball = np.stack([level * np.cos(angle), height, level * np.sin(angle)], axis=1)
    return np.asarray(ball[order] * 0.9, dtype=np.float32)


RAYS = 28
"""Rays from each spot: images have a PSNR of about 45 dB against those with 512."""
BOUNCES = 3
_ASKED = 12
"""Minimum number of spots that determine the open side of a chart."""
_OFF_M = 0.004
"""Distance from the face at which a spot's rays begin."""
_CEILING = np.array([0.95, 0.90, 0.82], dtype=np.float32) * np.float32(0.7)
"""Light that ceilings emit: it stands for lamps in every room."""
_ON_CEILINGS = np.array([0.36, 0.34, 0.31], dtype=np.float32)
"""Light that those lamps cast on the ceilings."""
_AMBIENT = np.array([0.06, 0.06, 0.065], dtype=np.float32)
_BURIED_M = 0.05
"""Spots with less free space in front lie within walls or under items that touch them."""
_CEILING_ROOM_M = 0.97
_OUTSIDE = 0.4
_PATTERN = 4
"""Side of the square of texels whose ray directions differ, over which light is averaged."""


@dataclass(frozen=True, eq=False)
class GatheredLight:
    """Hits of the rays of each spot.

    Attributes:
        met: (RAYS, spots) int32, the spot that was hit, or -1.
        direct: (spots, 3) light of the sky and the sun.
        room: (spots,) metres, the mean length of the rays, each capped at 1 m.
        out: (spots,) the share of the rays that hit nothing.
    """

    met: I32
    direct: F32
    room: F32
    out: F32


def texel_light(facets: Facets, layout: ChartLayout) -> tuple[F32, Bools, Bools]:
    """Compute the light on each spot.

    Returns:
        (spots, 3) linear light, (spots,) whether a spot is open: not within walls, and (spots,)
        whether it is on the floor of a room. The light of these floors sets the exposure.
    """
    caster = facets.mesh.caster
    turned = _turned(caster, layout)
    layout_normal = layout.normal * turned[:, None]
    gathered = _gathered(layout, caster, layout_normal)
    of_lamps = lamp_light(facets, layout, layout_normal, _patterns(layout))
    open_ = gathered.room >= _BURIED_M
    albedo = np.minimum(facets.albedo[layout.face], 0.85)
    shine = (facets.glow[:, None] * facets.albedo)[layout.face]
    owner = facets.mesh.owners[layout.face]
    ceiling, floor = owner == CEILING, owner == FLOOR
    if not ceiling.any():
        # In a mesh without ceiling labels, downward faces with free space below are ceilings.
        ceiling = (gathered.room > _CEILING_ROOM_M) & (layout_normal[:, 1] < -0.8)
    if not floor.any():
        floor = (layout_normal[:, 1] > 0.7) & (gathered.out < _OUTSIDE)
    shine = shine + ceiling[:, None] * _CEILING
    light = gathered.direct
    thrown = ceiling[:, None] * _ON_CEILINGS * gathered.room[:, None]
    for _ in range(BOUNCES):
        # Spots within walls emit nothing. An unlit spot is a corner, not a hole.
        sent = np.where(open_[:, None], shine + albedo * light, 0)
        sent = np.vstack([sent, np.zeros((1, 3), dtype=np.float32)]).astype(np.float32)
        light = np.zeros_like(gathered.direct)
        for row in gathered.met:
            light += sent[row]
        light = gathered.direct + light / np.float32(RAYS)
        light += _AMBIENT * (0.25 + 0.75 * gathered.room[:, None]) + thrown + of_lamps
        light = smooth_light(layout, light, open_)
    return light, open_, open_ & floor


def _turned(caster: RayCaster, layout: ChartLayout) -> F32:
    """Return 1 where the open side of a spot's chart is its winding side, -1 where the other."""
    depth = []
    # A sample of spots decides for their chart.
    size = np.bincount(layout.group, minlength=1)
    order = np.argsort(layout.group, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    asked = np.flatnonzero(rank % np.maximum(size // _ASKED, 1)[layout.group] == 0)
    group, where = layout.group[asked], layout.where[asked]
    across, down = plane_tangents(layout.normal[asked])
    for sign in (1, -1):
        normal = layout.normal[asked] * np.float32(sign)
        near = np.zeros(len(normal), dtype=np.float32)
        for turn in range(5):
            angle = np.float32(turn * 2 * np.pi / 5 + 0.3)
            ways = normal + np.float32(0.8) * (across * np.cos(angle) + down * np.sin(angle))
            hits = caster.cast(where + normal * np.float32(_OFF_M), ways)
            near += np.minimum(hits.distance, 1)
        whole = np.bincount(group, near, len(size))
        depth.append(whole / np.maximum(np.bincount(group, minlength=len(size)), 1) / 5)
    # The winding decides where both sides are open, as for a curtain.
    back = depth[1] > 1.5 * depth[0] + 0.02
    return np.where(back, -1, 1).astype(np.float32)[layout.group]


def _gathered(layout: ChartLayout, caster: RayCaster, normal: F32) -> GatheredLight:
    count = len(normal)
    across, down = plane_tangents(normal)
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
        direct[out] += sky_colour(ways[out, 1]) * SKYLIGHT
        room += np.minimum(hits.distance, 1)
        lost += out
    direct /= RAYS
    facing = normal @ SUN
    lit = np.flatnonzero(facing > 0)
    seen = caster.cast(start[lit], np.broadcast_to(SUN, (len(lit), 3))).face < 0
    direct[lit[seen]] += facing[lit[seen]][:, None] * SUNLIGHT
    return GatheredLight(met, direct, room / np.float32(RAYS), lost / np.float32(RAYS))


def _spots_met(layout: ChartLayout, face: I32, u: F32, v: F32) -> I32:
    place = layout.place[face]
    x = (place[:, 0] + u * place[:, 1] + v * place[:, 2]).astype(np.int32)
    y = (place[:, 3] + u * place[:, 4] + v * place[:, 5]).astype(np.int32)
    cluster = layout.cluster[face]
    spot = np.where(cluster >= 0, cluster + layout.texels, layout.spot[y, x])
    return np.where(face >= 0, spot, -1).astype(np.int32)


def _directions() -> F32:
    """Return ray directions (RAYS, 3, patterns): across, down, out; denser near the normal."""
    patterns = _PATTERN * _PATTERN
    index = np.arange(RAYS)
    reverse = np.zeros(RAYS)
    for bit in range(12):
        reverse += ((index >> bit) & 1) / 2.0 ** (bit + 1)
    shift = np.arange(patterns)[None]
    # Each pattern is the same set shifted on the torus by fractions of the plastic number.
    first = ((index[:, None] + 0.5) / RAYS + shift * 0.7548776662466927) % 1
    second = (reverse[:, None] + shift * 0.5698402909980532) % 1
    radius, angle = np.sqrt(first), 2 * np.pi * second
    return np.stack(
        [radius * np.cos(angle), radius * np.sin(angle), np.sqrt(1 - first)], axis=1
    ).astype(np.float32)


def _patterns(layout: ChartLayout) -> I32:
    y, x = np.nonzero(layout.spot >= 0)
    of_texels = (x % _PATTERN) + _PATTERN * (y % _PATTERN)
    clusters = len(layout.where) - layout.texels
    return np.concatenate([of_texels, np.arange(clusters) % _PATTERN**2]).astype(np.int32)


_KERNEL = (0.5, 1.0, 1.0, 1.0, 0.5)


def smooth_light(layout: ChartLayout, light: F32, open_: Bools) -> F32:
    """Return light averaged over neighbours in the same chart, less across shadow edges."""
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
    """Return two windows of an image, the second shifted against the first."""
    high, wide = shape
    here = (slice(max(0, -dy), high - max(0, dy)), slice(max(0, -dx), wide - max(0, dx)))
    there = (slice(max(0, dy), high + min(0, dy)), slice(max(0, dx), wide + min(0, dx)))
    return here, there


FINE = 2
"""Texels of the texture across one of the layout: 5 cm."""
UNIT = 16_384
"""Integer value of a light of 1."""
_FEW = 50
"""Minimum number of floor spots that determine the exposure."""
_CORNER = 2
"""Texels along the side of a small round face: one for each corner."""


@dataclass(frozen=True, eq=False)
class LightMap:
    """Light map as shading reads it.

    Attributes:
        texels: (rows * wide, 3) uint16, linear; ``UNIT`` is a light of 1.
        wide: texels in a row.
        place: (m, 6) float32: across = p0 + u * p1 + v * p2, down = p3 + u * p4 + v * p5, from the
            centre of the first texel; light is interpolated between four texels.
    """

    texels: NDArray[np.uint16]
    wide: int
    place: F32


DARK = LightMap(np.zeros((16, 3), dtype=np.uint16), 4, np.zeros((1, 6), dtype=np.float32))
"""Light map without light, for meshes that glow at their final brightness."""


def bake_light(facets: Facets) -> LightMap:
    """Compute the light map of a mesh; takes seconds."""
    layout = lay_out_charts(facets)
    light, open_, floor = texel_light(facets, layout)
    light = _exposed(light, floor if floor.sum() >= _FEW else open_)
    fine = _finer(_filled(layout, light, open_))
    wide = layout.wide * FINE
    blocks, place = _small(facets, layout, light, len(fine), wide)
    # The last rows only pad the interpolation, and are never visible.
    spare = np.zeros((2, wide, 3), dtype=np.float32)
    texels = np.concatenate([fine, blocks, spare]).reshape(-1, 3)
    # From here on coordinates start at the centres of texels.
    place[:, 0::3] -= np.float32(0.5)
    return LightMap(np.clip(texels * UNIT, 0, 65_535).astype(np.uint16), wide, place)


def _exposed(light: F32, inside: Bools) -> F32:
    """Return light tone-mapped as in a photograph: bright rooms, the brightest areas compressed."""
    tone = light @ np.array([0.3, 0.55, 0.15], dtype=np.float32)
    usual = float(np.median(tone[inside])) if inside.any() else 1.0
    scaled = tone * np.float32(0.78 / max(usual, 1e-3))
    # Eyes and cameras adapt to the room: dim areas are lifted, bright ones compressed.
    bent = np.where(scaled > 1, 1 + 0.4 * np.log(np.maximum(scaled, 1)), scaled**0.7)
    return np.asarray(light * (bent / np.maximum(tone, 1e-4))[:, None], dtype=np.float32)


def _filled(layout: ChartLayout, light: F32, open_: Bools) -> F32:
    """Return the texels' light as an image; texels within walls take their neighbours' light."""
    image = np.zeros((layout.high, layout.wide, 3), dtype=np.float32)
    known = np.zeros((layout.high, layout.wide), dtype=np.bool_)
    texel = layout.spot >= 0
    image[texel] = light[: layout.texels]
    known[texel] = open_[: layout.texels]
    chart = layout.chart
    for _ in range(12):
        total = np.zeros_like(image)
        count = np.zeros(known.shape, dtype=np.float32)
        for axis in (0, 1):
            for step in (1, -1):
                take = np.roll(known, step, axis) & (np.roll(chart, step, axis) == chart)
                take &= ~known & (chart >= 0)
                total[take] += np.roll(image, step, axis)[take]
                count[take] += 1
        found = count > 0
        if not found.any():
            break
        image[found] = total[found] / count[found][:, None]
        known |= found
    # A plane that lies on another is hardly visible: its own light is good enough.
    dark = np.zeros_like(image)
    dark[texel] = light[: layout.texels]
    image[~known] = dark[~known]
    return image


def _finer(image: F32) -> F32:
    """Return an image upsampled by ``FINE`` without steps: averaged twice over a texel."""
    fine = image
    for axis in (0, 1):
        fine = np.repeat(fine, FINE, axis=axis)
        for _ in range(2):
            fine = _averaged(fine, axis)
    return fine


def _averaged(image: F32, axis: int) -> F32:
    """Return the average over three texels along one axis, the middle one with double weight."""
    total = (np.roll(image, 1, axis) + np.roll(image, -1, axis)) * np.float32(0.25)
    return np.asarray(total + image * np.float32(0.5))


def _small(facets: Facets, layout: ChartLayout, light: F32, top: int, wide: int) -> tuple[F32, F32]:
    """Lay out the light of small faces: a texel per cluster, blocks of four for round faces.

    Returns:
        Rows to append below ``top`` rows, and all faces' texture coordinates.
    """
    place = layout.place * np.float32(FINE)
    of_cluster = light[layout.texels :]
    lone = np.flatnonzero((layout.cluster >= 0) & ~facets.mesh.smooth)
    rows = -(-max(1, len(of_cluster)) // wide)
    flat = np.zeros((rows * wide, 3), dtype=np.float32)
    flat[: len(of_cluster)] = of_cluster
    cluster = layout.cluster[lone]
    place[lone, 0] = cluster % wide + np.float32(0.5)
    place[lone, 3] = top + cluster // wide + np.float32(0.5)
    round_ = np.flatnonzero((layout.cluster >= 0) & facets.mesh.smooth)
    blocks = _round_blocks(facets, of_cluster, layout, round_)
    across = wide // _CORNER
    down = -(-len(round_) // across)
    image = np.zeros((down * across, _CORNER, _CORNER, 3), dtype=np.float32)
    image[: len(round_)] = blocks
    image = image.reshape(down, across, _CORNER, _CORNER, 3).transpose(0, 2, 1, 3, 4)
    lower = np.zeros((down * _CORNER, wide, 3), dtype=np.float32)
    lower[:, : across * _CORNER] = image.reshape(down * _CORNER, across * _CORNER, 3)
    order = np.arange(len(round_))
    # A face's corners lie at the centres of the block's texels.
    place[round_, 0] = order % across * _CORNER + np.float32(0.5)
    place[round_, 1] = _CORNER - 1
    place[round_, 3] = top + rows + order // across * _CORNER + np.float32(0.5)
    place[round_, 5] = _CORNER - 1
    return np.concatenate([flat.reshape(rows, wide, 3), lower]), place


def _round_blocks(facets: Facets, of_cluster: F32, layout: ChartLayout, faces: I64) -> F32:
    """Return the light at the corners of round faces, (n, 2 down, 2 across, 3)."""
    corners = facets.mesh.faces[faces]
    own = of_cluster[layout.cluster[faces]]
    size = facets.area[faces] + 1e-9
    count = len(facets.mesh.vertices)
    weight = sum(np.bincount(corners[:, k], size, count) for k in range(3))
    at = np.zeros((count, 3), dtype=np.float32)
    for channel in range(3):
        total = sum(np.bincount(corners[:, k], size * own[:, channel], count) for k in range(3))
        at[:, channel] = total / np.maximum(weight, 1e-12)
    a, b, c = (at[corners[:, k]] for k in range(3))
    # The fourth value makes the interpolation between the other three linear.
    fourth = np.maximum(b + c - a, 0)
    return np.stack([np.stack([a, b], axis=1), np.stack([c, fourth], axis=1)], axis=1)
