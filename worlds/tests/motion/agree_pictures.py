"""What lies around a link on which rule and drive differ, seen from above."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

from navloom.scenes.bodies import Shape, Stand, get_body, shape_of
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.owners import door_owner
from navloom_worlds.motion.by_driving import Compared
from navloom_worlds.motion.link_ground import pushed
from navloom_worlds.motion.mover import Mover
from navloom_worlds.motion.rule_floor import obstacles_in

_REACH = 2.5
"""Metres around a link that are shown."""


def drawn(scene: Scene, one: Compared, file: Path) -> None:
    """Draw what a drive met: lines of the mesh at the body's height, rooms, things, the body.

    Args:
        scene: the scene.
        one: a link and a body.
        file: a PNG.
    """
    body, driven = get_body(one.driven.body), one.driven
    link = scene.links[driven.link]
    ends = [scene.region_by_id[each] for each in (link.a, link.b)]
    at = driven.path[-1].position if driven.path else link.point or ends[0].center
    near = link.point or at
    x, y, z = near if math.hypot(near[0] - at[0], near[2] - at[2]) < 2 * _REACH else at
    figure, axes = pyplot.subplots(figsize=(7, 7.6))
    for region, colour in zip(ends, ("#cfe3f5", "#f5e6cf"), strict=True):
        axes.fill(*np.array(region.outline).T, color=colour, zorder=0, label=region.id)
        for each in obstacles_in(scene, region.id):
            if each.meets(body):
                axes.fill(*each.points.T, color="#b0b0b0", alpha=0.5, zorder=1)
    mover = Mover(scene, body, pushed(scene, body) - {door_owner(driven.link)})
    lines = mover.lines(y, (x - _REACH, z - _REACH, x + _REACH, z + _REACH)).reshape(-1, 2, 2)
    axes.add_collection(LineCollection(lines, colors="black", linewidths=0.8, zorder=2))
    for flight in scene.stairs:
        if {flight.a, flight.b} & {link.a, link.b}:
            axes.plot(*np.array(flight.line)[:, [0, 2]].T, color="tab:purple", zorder=3)
    for stand in driven.path[-1:]:
        axes.fill(*footprint(shape_of(body), stand).T, color="tab:red", alpha=0.4, zorder=4)
    axes.plot(near[0], near[2], "+", color="tab:green", markersize=12)
    axes.set(xlim=(x - _REACH, x + _REACH), ylim=(z + _REACH, z - _REACH), aspect="equal")
    axes.legend(loc="lower right")
    axes.set_title(textwrap.fill(one.words, 80), fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=80)
    pyplot.close(figure)


def footprint(shape: Shape, stand: Stand) -> NDArray[np.float64]:
    """(n, 2) corners of a body that stands somewhere, (x, z)."""
    middle = np.array([stand.position[0], stand.position[2]])
    if shape.round:
        around = np.linspace(0, 2 * math.pi, 40)
        return middle + shape.ahead * np.stack([np.cos(around), np.sin(around)], axis=1)
    ahead = np.array([math.sin(stand.heading), -math.cos(stand.heading)])
    aside = np.array([-ahead[1], ahead[0]])
    signs = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]])
    return middle + signs[:, :1] * shape.ahead * ahead + signs[:, 1:] * shape.aside * aside
