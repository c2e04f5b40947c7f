"""The traversability record: what C.2 lists, missing and unlabelled passages, anybody's JSON."""

from __future__ import annotations

import pytest

from navloom.errors import DataError
from navloom.judges.traversability import NO_EDGE, barrier_causes, build_record, read_record
from tests.judges.paths import NODES, TRUTH, record


def test_the_record_has_the_keys_of_the_paper() -> None:
    made = record()
    assert (made["total_edges"], made["traversable"], made["non_traversable"]) == (3, 1, 2)
    first = made["edges"][0]
    assert list(first) == [
        "from", "to", "from_name", "to_name", "exists", "traversable", "note", "ground_truth",
    ]  # fmt: skip
    assert first["ground_truth"] == {
        "exists": True,
        "traversable": False,
        "note": "door too narrow",
    }
    assert (first["from_name"], first["to_name"]) == ("Hall", "Kitchen")


def test_a_cell_is_found_against_the_direction_too() -> None:
    assert record()["edges"][2]["note"] == "cannot go up/down stairs"


def test_a_step_along_no_edge_is_missing_and_blocks() -> None:
    made = build_record(TRUTH, "WHEELCHAIR", ("node_1", "node_4", "nowhere"))
    assert [edge["exists"] for edge in made["edges"]] == [False, False]
    assert [edge["note"] for edge in made["edges"]] == [NO_EDGE, NO_EDGE]
    assert len(read_record(made).barriers) == made["missing"] == 2


def test_an_unlabelled_passage_is_no_barrier() -> None:
    made = record(body="SWEEPER")
    assert made["unlabelled"] == 2
    assert made["non_traversable"] == 0
    assert read_record(made).barriers == ()


def test_ground_truth_counts_where_the_two_differ() -> None:
    made = record(NODES[:2])
    made["edges"][0]["traversable"] = True
    assert [edge.name for edge in read_record(made).barriers] == ["node_1->node_2"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "expected a traversability record"),
        ({}, "edges"),
        ({"edges": [{"from": "a", "traversable": True}]}, "edges[0].to"),
        ({"edges": [{"from": "a", "to": "b", "traversable": "no"}]}, "traversable"),
        ({"edges": [{"from": "a", "to": "b", "traversable": None}] * 3000}, "edges"),
    ],
)
def test_a_broken_record_is_named_in_one_line(value: object, said: str) -> None:
    with pytest.raises(DataError) as error:
        read_record(value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("note", "causes"),
    [
        ("dooe too narrow", {"narrow"}),
        ("cannot use stair", {"stairs"}),
        ("hallway next to the stairs too narrow", {"narrow"}),
        ("sofa block thw way", {"clutter"}),
        ("door sill; cannot open door", {"rise", "door"}),
        ("no enough turning space at the bedroom entrance", {"turn"}),
        ("a rise of 0.05 m, and it crosses 0.01 m", {"rise"}),
        ("invalid node", set()),
    ],
)
def test_notes_are_sorted_by_what_stops_the_body(note: str, causes: set[str]) -> None:
    assert barrier_causes(note) >= causes
    assert bool(barrier_causes(note)) == bool(causes)


def edge(**changes: object) -> dict[str, object]:
    return {"from": "a", "to": "b", "traversable": True, **changes}


@pytest.mark.parametrize(
    ("within", "over"),
    [
        ([edge(to="x" * 300)], [edge(to="x" * 301)]),
        ([edge(from_name="x" * 300)], [edge(from_name="x" * 301)]),
        ([edge(note="x" * 4_000)], [edge(note="x" * 4_001)]),
        ([edge()] * 2_000, [edge()] * 2_001),
    ],
)
def test_a_record_is_bounded(
    within: list[dict[str, object]], over: list[dict[str, object]]
) -> None:
    assert len(read_record({"edges": within}).edges) == len(within)
    with pytest.raises(DataError, match=r"edges"):
        read_record({"edges": over})


def test_a_barrier_is_named_within_4000_characters_of_a_note() -> None:
    assert barrier_causes("x" * 3_992 + " terrain") == {"terrain"}
    assert barrier_causes("x" * 3_993 + " terrain") == set()
