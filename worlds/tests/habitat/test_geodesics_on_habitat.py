"""Ways of a body's field are as long as those over habitat's navmesh."""

from __future__ import annotations

import numpy as np
import pytest

from navloom.scenes.bodies import resolve_body
from worlds.tests.motion.check_geodesics import Found, compare

pytestmark = pytest.mark.usefixtures("habitat")


def test_ways_are_as_long_as_over_habitats_navmesh() -> None:
    body = resolve_body("VLNVERSE").model_copy(update={"doors": False, "elevator": False})
    found = Found()
    compare("home:7", body, 25, found)
    ratios = [*found.level, *found.stairs]
    assert len(found.stairs) > 3
    assert len(ratios) > 15
    assert np.median(ratios) == pytest.approx(1, abs=0.015)
    assert np.percentile(ratios, 5) > 0.96
    assert np.percentile(ratios, 95) < 1.04
    assert not [each for each in found.alone if "UNEXPLAINED" in each]
