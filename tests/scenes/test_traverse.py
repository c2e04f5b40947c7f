"""Bodies and links: what geometry says of every kind of link, at its bounds, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from navloom.scenes.bodies import Embodiment
from navloom.scenes.passability import estimate_links
from navloom.scenes.scene import Floor, Link, Region, Scene

BODY = Embodiment(name="LOADER", width=0.6, max_step=0.05)


def verdict(*links: dict[str, Any], body: Embodiment = BODY) -> tuple[bool | None, str]:
    """Whether the body may go from one of two rooms to the other, and why not."""
    rooms = tuple(Region(id=f"Room_{n}", center=(4 * n, 0, 0)) for n in (1, 2, 3))
    scene = Scene(
        id="rooms",
        floors=(Floor(id=1, height=0),),
        regions=rooms,
        links=tuple(Link(**{"a": "Room_1", "b": "Room_2", **link}) for link in links),
    )
    found = estimate_links(scene, (body,)).passage("LOADER", "Room_1", "Room_2")
    back = estimate_links(scene, (body,)).passage("LOADER", "Room_2", "Room_1")
    assert (back.traversable, back.note) == (found.traversable, found.note)
    assert {found.source, back.source} <= {"geometry", "reversed", "unlabelled"}
    return found.traversable, found.note


def able(**changes: Any) -> Embodiment:
    return BODY.model_copy(update=changes)


@pytest.mark.parametrize(
    ("link", "body", "why_not"),
    [
        ({}, BODY, ""),
        ({"kind": "stairs", "step": 3.0}, BODY, ""),
        ({"kind": "stairs"}, able(stairs=False), "cannot go up or down stairs"),
        ({"kind": "elevator", "step": 3.0}, BODY, ""),
        ({"kind": "elevator"}, able(elevator=False), "cannot operate the elevator"),
        ({"kind": "elevator"}, able(stairs=False, doors=False), ""),
        ({"kind": "door", "door": "closed"}, BODY, ""),
        ({"kind": "door", "door": "closed"}, able(doors=False), "cannot open the door"),
        ({"kind": "door", "door": "open"}, able(doors=False), ""),
        ({"kind": "door", "door": "locked"}, BODY, "the door is locked"),
        ({"kind": "door", "door": "locked"}, able(doors=False), "the door is locked"),
        ({"width": 0.6}, BODY, ""),
        ({"width": 0.59}, BODY, "too narrow: 0.59 m for a body of 0.60 m"),
        ({"width": 0.6 - 1e-12}, BODY, ""),
        ({"step": 0.05}, BODY, ""),
        ({"step": -0.05 - 1e-12}, BODY, ""),
        ({"step": -0.06}, BODY, "a rise of 0.06 m, and it crosses 0.05 m"),
        ({"kind": "door", "step": -0.02, "threshold": 0.03}, BODY, ""),
        (
            {"kind": "door", "step": -0.02, "threshold": 0.04},
            BODY,
            "a sill 0.060 m over the floor, and it crosses 0.050 m",
        ),
        (
            {"kind": "door", "door": "closed", "width": 0.5, "step": 0.1},
            able(doors=False),
            "cannot open the door; too narrow: 0.50 m for a body of 0.60 m;"
            " a rise of 0.10 m, and it crosses 0.05 m",
        ),
    ],
)
def test_a_link_stops_a_body_for_its_reasons(
    link: dict[str, Any], body: Embodiment, why_not: str
) -> None:
    assert verdict(link, body=body) == (not why_not, why_not)


def test_of_several_links_between_two_rooms_one_that_can_be_used_is_enough() -> None:
    narrow, wide, locked = {"width": 0.5}, {"width": 0.9}, {"kind": "door", "door": "locked"}
    assert verdict(narrow, wide) == (True, "")
    assert verdict(wide, narrow) == (True, "")
    assert verdict(locked, narrow, wide, narrow) == (True, "")
    # Where none can be, the first says why.
    assert verdict(narrow, locked) == (False, "too narrow: 0.50 m for a body of 0.60 m")
    assert verdict(locked, narrow) == (False, "the door is locked")


def test_rooms_without_a_link_are_unlabelled() -> None:
    assert verdict() == (None, "")
    assert verdict({"b": "Room_3"}) == (None, "")


def test_without_bodies_the_benchmarks_five_are_asked_about() -> None:
    scene = Scene(
        id="rooms",
        floors=(Floor(id=1, height=0),),
        regions=(Region(id="Room_1", center=(0, 0, 0)),),
    )
    assert len(estimate_links(scene).bodies) == 5
    assert estimate_links(scene, (BODY,)).bodies == ("LOADER",)
