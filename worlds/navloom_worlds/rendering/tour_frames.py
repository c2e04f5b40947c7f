"""Frames of a tour: the views of a camera at eye height along its path."""

from __future__ import annotations

from collections.abc import Iterator

from navloom.sim.scene_images import EYE_M
from navloom_worlds.geometry.arrays import U8
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.embedded import scene_renderer
from navloom_worlds.rendering.tour import Tour, TourMoment

FILM_SIZE = (640, 480)
"""Pixels wide and high."""


def render_tour(tour: Tour, rate: int) -> Iterator[tuple[TourMoment, U8]]:
    """Yield the moments of a tour and their images.

    Args:
        tour: through a scene with geometry.
        rate: frames per second.

    Yields:
        The moment, and (480, 640, 3) uint8.

    Raises:
        SimulatorError: the scene has no geometry.
    """
    renderer = scene_renderer(tour.scene)
    width, height = FILM_SIZE
    for moment in tour.moments(rate):
        x, y, z = moment.pose.position
        camera = Camera((x, y + EYE_M, z), moment.pose.heading, width=width, height=height)
        yield moment, renderer.frame(camera).rgb
