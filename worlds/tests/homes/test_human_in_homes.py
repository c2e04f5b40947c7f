"""CapNav's HUMAN stands on every viewpoint of a generated home and walks to every other."""

from __future__ import annotations

import pytest

from navloom.scenes.bodies import FloorPose, get_body, motion_model_of
from navloom.scenes.scene import Scene
from navloom_worlds.homes.home_generator import make_home
from navloom_worlds.motion.body_field import body_field

HUMAN = get_body("HUMAN")


def _without_leaves(home: Scene) -> Scene:
    """The home with an opening in place of each door but those of elevators, which need theirs."""
    opened = {"leaf": None, "door": None, "swing": None, "kind": "opening"}
    links = tuple(
        link.model_copy(update=opened)
        if link.kind == "door" and not any("Elevator" in name for name in (link.a, link.b))
        else link
        for link in home.links
    )
    return home.replace(links=links, id=f"{home.id}-opened")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4, 8, 12, 21])
def test_human_stands_on_all_viewpoints_and_walks_between_them(seed: int) -> None:
    home = _without_leaves(make_home(seed))
    mover, field = motion_model_of(home, HUMAN), body_field(home, HUMAN)
    floors = {region.id: region.center[1] for region in home.regions}
    for viewpoint in home.viewpoints:
        x, y, z = viewpoint.position
        foot = (x, y - viewpoint.eye_height, z)
        if foot[1] == floors[str(viewpoint.region)]:
            assert mover.fits(FloorPose(foot, 0.0)), viewpoint.id
        # Fields take a patio on the ground for the land around the home.
        if "Patio" not in str(viewpoint.region):
            place = field.at(foot)
            assert place >= 0, viewpoint.id
            assert field.part[place] == 0, viewpoint.id
