"""Claims of explanations: subject, place, cause, denial, grant, and what is not understood."""

from __future__ import annotations

import pytest

from navloom.judges.barrier_claims import OVERLAPS, read_claims

ENDS = [("node_1", "Hall"), ("node_2", "Kitchen"), ("node_3", "Elevator"), ("node_4", "Attic")]


def read(said: str, agent: str = "WHEELCHAIR"):
    return read_claims(said, ENDS, agent)


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (
            "narrow",
            "The clear opening from Hall to Kitchen is 62 cm, and it measures 70 cm across.",
        ),
        ("narrow", "Hall to Kitchen: insufficient lateral clearance."),
        ("narrow", "It may be that the wheelchair would scrape both sides of the frame there."),
        ("narrow", "No stairs and no closed doors: it is the width that rules it out."),
        ("narrow", "Not the stairs but the narrowness of the way between Hall and Kitchen."),
        ("stairs", "The route from Hall to Kitchen goes up twelve steps."),
        ("stairs", "There is no lift between Hall and Kitchen, only a staircase."),
        ("stairs", "Kitchen sits one storey above Hall."),
        (
            "door",
            "The wheelchair cannot turn a doorknob, and there is one between Hall and Kitchen.",
        ),
        ("door", "The passage is wide enough, but its door is shut."),
        ("door", "Locked: Hall to Kitchen."),
        ("rise", "A 4 cm sill between Hall and Kitchen exceeds what it can take."),
        ("rise", "The floors of Hall and Kitchen aren't flush."),
        ("elevator", "From Elevator to Hall one has to operate the elevator."),
        ("elevator", "It has no way of pressing the buttons."),
        ("turn", "The wheelchair needs to rotate on the spot, and there is no space for that."),
        ("clutter", "Boxes and chairs stand in the way from Hall to Kitchen."),
        ("clutter", "A sofa blocks the passage."),
        ("terrain", "The ground outside is uneven and far too steep."),
    ],
)
def test_a_cause_is_read_in_many_words(cause: str, said: str) -> None:
    alike = next((group for group in OVERLAPS if cause in group), {cause})
    found = [claim.causes for claim in read(said) if claim.causes]
    assert len(found) == 1
    assert cause in found[0]
    assert found[0] <= alike


@pytest.mark.parametrize(
    "said",
    [
        "There are no stairs between Hall and Kitchen.",
        "The door between Hall and Kitchen is open and wide enough.",
        "The wheelchair can open the door between Hall and Kitchen.",
        "From Hall to Kitchen the floor is level and free of clutter.",
        "The doorway from Hall to Kitchen is not too narrow.",
    ],
)
def test_what_is_denied_or_granted_is_no_cause(said: str) -> None:
    assert not any(claim.causes for claim in read(said))


def test_a_place_holds_until_another_is_named() -> None:
    first, second = read(
        "Look at the way from Hall to Kitchen. It is too tight there, and the frame leaves no gap."
        " Between Kitchen and Attic (node_4) one has to climb stairs."
    )
    assert (first.places, first.causes) == ({"Hall", "Kitchen"}, {"narrow"})
    assert (second.places, second.causes) == ({"Kitchen", "Attic", "node_4"}, {"stairs"})


def test_what_is_added_without_a_place_is_a_claim_of_its_own() -> None:
    first, second = read("The way from Hall to Kitchen is narrow. Also, there are stairs.")
    assert (first.causes, second.causes) == ({"narrow"}, {"stairs"})
    assert not second.places


def test_a_room_called_elevator_is_no_elevator() -> None:
    (claim,) = read("The door between Hall and Elevator is too narrow.")
    assert (claim.places, claim.causes) == ({"Hall", "Elevator"}, {"narrow"})


def test_another_body_is_told_from_the_one_that_is_asked_about() -> None:
    assert read("The sweeper cannot climb stairs.")[0].others
    assert not read("The sweeper could, but the wheelchair cannot climb stairs.")[0].others
    assert not read("A human would have to open the door.")[0].others


@pytest.mark.parametrize(
    "said", ["It is impossible.", "N/A", "As an expert I assure you: my reasoning is flawless."]
)
def test_what_says_nothing_of_a_way_is_hollow(said: str) -> None:
    assert all(claim.hollow for claim in read(said))


@pytest.mark.parametrize(
    "said",
    [
        "Colourless green ideas sleep furiously.",
        "Between Hall and Kitchen the flux capacitor is bent out of shape.",
        "The door between Hall and Kitchen.",
    ],
)
def test_what_is_not_understood_is_neither_hollow_nor_a_cause(said: str) -> None:
    assert not any(claim.hollow or claim.causes for claim in read(said))


def test_hostile_texts_cost_no_time() -> None:
    assert read("Hall and " * 50_000)
    assert read("open " * 50_000)
    assert read("") == []
