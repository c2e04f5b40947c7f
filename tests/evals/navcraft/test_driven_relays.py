"""What is counted of relays that were driven."""

from __future__ import annotations

import pytest

from navloom.errors import UsageError
from navloom.evals.navcraft.driven_relays import driven_table, summarise_driving
from navloom.evals.navcraft.request import SynthRequest

BODIES = {"robot_1": "FETCH", "robot_2": "SPOT"}
LEG = {"arrived": True, "contacts": 1}


def sample(**driven: object) -> dict[str, object]:
    return {"result": {"navloom": {"driven": {"bodies": BODIES, "reason": None, **driven}}}}


def test_relays_are_counted_with_why_they_were_not_driven() -> None:
    way = "robot_1: No way leads from A_1 to 'B_2' for FETCH"
    why = f"{way}: the door between the a and the b: too narrow: 0.50 m"
    found = summarise_driving(
        [
            sample(done=True, planned=10.0, driven=11.0, contacts=2, alpha=0.5, legs=[LEG] * 4),
            sample(done=False, legs=[{"arrived": False, "contacts": 0}], contacts=0, reason=why),
            {"result": None},
        ]
    )
    assert found is not None
    assert (found.done.hits, found.done.of) == (1, 2)
    assert found.longer.mean == pytest.approx(0.1)
    assert found.reasons == (("robot_1: too narrow: … m", 1),)
    assert "1/2" in str(driven_table([("run", found)]).rows[0])


def test_a_run_that_drives_nothing_is_recorded_as_before() -> None:
    asked = SynthRequest(kind="collab", spec="demo:").record()
    assert "verify_sim" not in asked
    driven = SynthRequest(kind="collab", spec="demo:", verify_sim=True).record()
    assert driven["bodies"]["robot_1"]["name"] == "FETCH"
    with pytest.raises(UsageError, match="goes with --verify-sim"):
        SynthRequest(kind="collab", spec="demo:", drop_undriven=True)
