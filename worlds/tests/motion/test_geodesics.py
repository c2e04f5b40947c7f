"""Ways of a body's field beside those over a navmesh that shares no code with it."""

from __future__ import annotations

import pytest

from navloom.scenes.bodies import resolve_body
from worlds.tests.motion.check_geodesics import Found, compare


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_ways_are_as_long_as_over_a_navmesh_of_recast() -> None:
    body = resolve_body("VLNVERSE").model_copy(update={"doors": False, "elevator": False})
    found = Found()
    compare("home:7?rooms=4", body, 60, "pynavmesh", found)
    assert len(found.level) + found.neither == 60
    assert len(found.level) > 30
    assert found.kept(), found.told()
