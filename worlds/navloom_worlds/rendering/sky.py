"""What is seen outside, and what shines into a home: the sky and the sun."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.solids import Floats

SUN = np.array([0.52, 0.62, 0.59], dtype=np.float32)
"""The way to the sun, of length 1: it stands in the south-east, 38 degrees high."""
SUN /= np.float32(np.linalg.norm(SUN))
SUNLIGHT = np.array([2.4, 2.15, 1.75], dtype=np.float32)
"""What the sun gives a plane that faces it; a white plane in a lit room has about 1."""
SKYLIGHT = np.float32(3.2)
"""How much brighter the sky shines into rooms than it is drawn: as in photographs of rooms."""
ZENITH = np.array([0.30, 0.52, 0.86], dtype=np.float32)
HORIZON = np.array([0.80, 0.88, 0.95], dtype=np.float32)
EARTH = np.array([0.42, 0.44, 0.38], dtype=np.float32)


def sky(rise: NDArray[np.float32]) -> Floats:
    """The sky as it is seen, (n, 3) linear: paler towards the horizon, haze below it.

    Args:
        rise: (n,) the sine of how high one looks.
    """
    up = np.clip(rise, 0, 1)[:, None]
    down = np.clip(-rise * 6, 0, 1)[:, None]
    clear = HORIZON + (ZENITH - HORIZON) * np.sqrt(up)
    return np.asarray(clear + (EARTH - clear) * (down * down * (3 - 2 * down)), dtype=np.float32)
