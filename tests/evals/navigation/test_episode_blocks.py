"""What navigation runs say to pages: columns, details, tables, whatever a line holds."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from navloom.errors import RunError
from navloom.evals.navigation.episode_detail import BodyPositions
from navloom.evals.navigation.episode_display import BEHAVED, COUNTED
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.results import write_report
from navloom.evals.navigation.scores import COUNTS
from navloom.evals.report.blocks import (
    Bars,
    Block,
    Column,
    Facts,
    Grid,
    Prose,
    SampleDetail,
    SceneMap,
    Transcript,
    Variants,
    block_to_json,
)
from navloom.evals.run_folder import iter_samples
from navloom.evals.run_kinds import kind_of
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.sim.protocol import Pose
from navloom.sim.registry import get_simulator
from navloom.sim.views import strip_panels
from navloom.tools.navigation.step_records import Trajectory
from navloom.web.line_index import row_cells
from tests.evals.navigation.walks import PATH, episode, line, result, run_folder, scene

LOOP = ("1_0", "1_1", "1_2", "1_0", "1_3", "1_4", "1_0")
KITCHEN = (*PATH[:4], "2_1", "3_0")
WALKS = (PATH, PATH[:-1], LOOP, KITCHEN, PATH[:3])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    lines = [line(episode(id=f"e{k}"), result(*walk), f"s{k}") for k, walk in enumerate(WALKS)]
    return run_folder(tmp_path / "run", lines)


def looked(run: Path, name: str) -> SampleDetail:
    told = next(each for each in iter_samples(run) if each["id"] == name)
    detail = kind_of(run).detail
    assert detail is not None
    return detail(run, told)


def seen_map(detail: SampleDetail) -> SceneMap:
    return next(block for block in detail.blocks if isinstance(block, SceneMap))


def columns(run: Path) -> list[Column]:
    said = json.loads((run / "run.json").read_text())
    return list(kind_of(run).columns(said))


def test_columns_of_a_line(run: Path) -> None:
    cells = {
        told["id"]: dict(
            zip([c.name for c in columns(run)], row_cells(columns(run), told), strict=True)
        )
        for told in iter_samples(run)
    }
    assert cells["s0"]["instruction"] == episode().instruction
    assert (cells["s0"]["SR"], cells["s0"]["steps"], cells["s0"]["cause"]) == (1.0, 7, "none")
    assert (cells["s0"]["deviation"], cells["s0"]["behaviours"]) == (None, ["none"])
    assert "loop" in cells["s2"]["behaviours"]
    assert cells["s2"]["behaviour"] == "loop"
    # The living room's door is the fifth place: it is left by the fourth hop.
    assert (cells["s3"]["deviation"], cells["s3"]["left_at"]) == (4, PATH[3])
    by_name = {column.name: column for column in columns(run)}
    assert (by_name["NE"].better, by_name["NE"].form) == ("less", "metres")
    assert (by_name["SPL"].better, by_name["SPL"].form) == ("more", "share")
    assert by_name["TL"].better is None
    assert "RGS" not in by_name
    assert "contacts" not in by_name


def test_columns_follow_the_request(tmp_path: Path) -> None:
    lines = [line(episode(id="e0"), result(*PATH), "s0")]
    bodied = run_folder(tmp_path / "a", lines, physics="strict")
    assert {"contacts", "SR_strict"} <= {column.name for column in columns(bodied)}
    named = run_folder(tmp_path / "b", lines, task="reverie", physics="off")
    assert {"RGS", "SR_visible"} <= {column.name for column in columns(named)}


def wrong(run: Path) -> list[Block]:
    """What went wrong in a run."""
    failures = kind_of(run).failures
    assert failures is not None
    return list(failures(run))


@pytest.mark.slow
def test_tables_are_the_report(run: Path, tmp_path: Path) -> None:
    blocks = [*kind_of(run).tables(run), *wrong(run)]
    shown = [block.table for block in blocks if isinstance(block, Grid)]
    report = write_report(run, tmp_path).blocks
    tables = [block.table for block in report if isinstance(block, Grid)]
    assert tables[0].title == "Request"
    assert shown == tables[1:]
    assert isinstance(blocks[0], Prose)
    assert blocks[0] == report[0]
    said = (tmp_path / "report.md").read_text()
    assert all(f"## {table.title}" in said for table in tables)


def _terms(to: str) -> dict[str, str]:
    assert to.startswith("samples?filter=")
    words = unquote(to.removeprefix("samples?filter=")).split(" ")
    found = {}
    for word in words:
        at = next(k for k, letter in enumerate(word) if letter in ":=")
        found[word[:at]] = word[at + 1 :].strip('"')
    return found


def test_every_segment_leads_to_as_many_episodes_as_it_counts(run: Path) -> None:
    told = list(iter_samples(run))
    names = ["status", *(column.name for column in columns(run))]
    rows = [
        dict(zip(names, [each["status"], *row_cells(columns(run), each)], strict=True))
        for each in told
    ]
    bars = [block for block in wrong(run) if isinstance(block, Bars)]
    assert len(bars) == 2
    assert sum(part.count for _, parts in bars[0].bars for part in parts) == len(told)
    for _, parts in (each for block in bars for each in block.bars):
        for part in parts:
            terms = _terms(part.to)
            held = [r for r in rows if all(str(r[k]) == v for k, v in terms.items())]
            assert len(held) == part.count, part.to


def test_where_it_went_wrong_leads_to_the_episode(run: Path) -> None:
    (places,) = [b for b in wrong(run) if isinstance(b, Variants)]
    ((name, (plan,)),) = places.variants
    assert name == "demo:flat (3)"
    assert isinstance(plan, SceneMap)
    assert sum(int(mark.label) for mark in plan.marks) == 3
    assert {mark.to.partition("?")[0] for mark in plan.marks} <= {
        "samples",
        *(f"sample/s{k}" for k in range(len(WALKS))),
    }


def test_an_episode_step_by_step(run: Path) -> None:
    detail = looked(run, "s3")
    json.dumps(block_to_json(detail), allow_nan=False)
    assert "failed" in detail.headline
    plan = seen_map(detail)
    assert plan.scene == "demo:flat"
    assert {route.style for route in plan.routes} == {"true", "walk"}
    walk = next(route for route in plan.routes if route.style == "walk")
    assert len(walk.points) == len(KITCHEN)
    kinds = [mark.kind for mark in plan.marks]
    assert {"start", "goal", "stop", "deviation"} <= set(kinds)
    assert next(mark for mark in plan.marks if mark.kind == "goal").radius == 3.0
    assert [frame.at for frame in plan.frames] == list(range(len(KITCHEN) + 1))
    wrong = plan.frames[3]
    assert "first deviation" in wrong.title
    assert [option.chosen for option in wrong.options].count(True) == 1
    assert [option.right for option in wrong.options].count(True) == 1
    assert [seen.name for seen in wrong.strip] == ["Left", "Front", "Right", "Back"]
    reply = next(block for block in wrong.blocks if isinstance(block, Prose))
    assert reply.exact
    assert reply.private
    assert reply.text.startswith("Action: ")
    # In time the body is where the step's record says.
    assert plan.tracks[0].points[-1][0] == len(KITCHEN) - 1


def test_a_loop_says_where_it_stood_again(run: Path) -> None:
    detail = looked(run, "s2")
    again = [mark for mark in seen_map(detail).marks if mark.kind == "revisit"]
    assert [mark.label for mark in again] == ["3x"]
    tags = next(b for b in detail.blocks if isinstance(b, Grid) and b.table.title == "Tags")
    assert tags.table.rows[0][0] == "loop"
    assert "1_0 3x" in tags.table.rows[0][1]


def _tags(detail: SampleDetail) -> dict[str, str]:
    rows = [b.table.rows for b in detail.blocks if isinstance(b, Grid) and b.table.title == "Tags"]
    return {row[0]: row[1] for row in rows[0]} if rows else {}


def test_another_way_that_succeeds_is_no_fault(run: Path, tmp_path: Path) -> None:
    fork = looked(run, "s3")
    assert "first deviation" in _tags(fork)
    # The same walk as a success: its tags stay, the page says them otherwise.
    told = next(each for each in iter_samples(run) if each["id"] == "s3")
    for spl, words in ((1.0, "another way, equally short"), (0.8, "another way")):
        again = copy.deepcopy(told)
        again["result"]["tags"]["success"] = True
        again["result"]["scores"]["SPL"] = spl
        detail = looked(run_folder(tmp_path / words, [again]), "s3")
        assert words in _tags(detail)
        assert "first deviation" not in json.dumps(block_to_json(detail))
        plan = seen_map(detail)
        assert plan.frames[3].title.endswith(f"({words})")
        assert plan.frames[3].tone == "plain"
        assert "other_way" in {mark.kind for mark in plan.marks}


def test_scores_and_behaviours_say_what_they_are(run: Path) -> None:
    detail = looked(run, "s4")
    rows = next(
        block.table.rows
        for block in detail.blocks
        if isinstance(block, Grid) and block.table.folded == "What these scores mean"
    )
    units = {name: unit for name, unit, _ in rows}
    scores = next(block for block in detail.blocks if isinstance(block, Facts))
    assert {fact.name for fact in scores.facts} == set(units)
    assert (units["NE"], units["SPL"], units["steps"]) == ("m", "%", "how many")
    means = {name: words for name, _, words in rows}
    assert "the behaviour 'early stop'" in means["early_stop"]
    assert "it had not left the right way" in _tags(detail)["early stop"]
    assert set(BEHAVED) == set(BEHAVIOURS) - {"none"}
    assert set(COUNTED) == set(COUNTS)
    # Every score has a unit where a person reads it.
    assert next(f.value for f in scores.facts if f.name == "NE").endswith(" m")


def test_one_facet_speaks_of_behaviours(run: Path) -> None:
    named = {c.name: c.facet for c in columns(run) if c.name.startswith("behaviour")}
    assert named == {"behaviours": True, "behaviour": False}


def test_what_was_chosen_stands_second_among_options(run: Path) -> None:
    frame = seen_map(looked(run, "s3")).frames[3]
    table = next(block.table for block in frame.blocks if isinstance(block, Grid))
    assert table.header[:3] == ("option", "which", "where")
    assert {row[1] for row in table.rows} >= {"chosen", "right way"}


def test_questions_answers_and_faults_are_told_whole(tmp_path: Path) -> None:
    how = result(*PATH)
    how["steps"][1] |= {
        "reasoning": "because " * 400,
        "faults": ["refusal: no"],
        "asked": {"question": "Left?", "answer": "Yes.", "leaked": False},
        "oracle": {"trigger": "loop", "answer": "Turn back.", "leaked": True},
    }
    run = run_folder(tmp_path / "r", [line(episode(id="e0"), how, "s0")])
    frame = seen_map(looked(run, "s0")).frames[1]
    said = next(block for block in frame.blocks if isinstance(block, Transcript)).said
    assert [each.who for each in said] == [
        *("reasoning", "fault", "question", "answer", "guidance (loop)", "leak")
    ]
    assert said[0].text == "because " * 400
    assert frame.tone == "bad"


def test_a_scene_that_is_gone_leaves_all_but_the_map(tmp_path: Path) -> None:
    told = line(episode(id="e0"), result(*KITCHEN), "s0")
    told["scene"] = told["result"]["episode"]["scene"] = "demo:gone"
    run = run_folder(tmp_path / "r", [told])
    detail = looked(run, "s0")
    plan = seen_map(detail)
    assert plan.note.startswith("There is no plan of demo:gone: ")
    assert "\n" not in plan.note
    assert (plan.routes, plan.marks) == ((), ())
    assert len(plan.frames) == len(KITCHEN) + 1
    assert plan.frames[0].strip[1].words.startswith("Option")
    assert any(isinstance(block, Grid) for block in plan.frames[0].blocks)
    (places,) = [b for b in wrong(run) if isinstance(b, Variants)]
    ((_, (said,)),) = places.variants
    assert isinstance(said, Prose)
    assert said.text.startswith("There is no plan of demo:gone")


def _broken(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of everything within a line."""
    if isinstance(value, dict):
        items: Any = value.items()
    elif isinstance(value, list):
        items = list(enumerate(value))[:2]
    else:
        return
    for key, each in items:
        yield (*path, key)
        yield from _broken(each, (*path, key))


@pytest.mark.some(3)
@pytest.mark.parametrize("junk", [None, "x", 7, math.inf, [], {}, ["x", None], {"step": {}}])
def test_whatever_a_line_holds_it_is_shown_or_refused_in_a_line(run: Path, junk: Any) -> None:
    told = next(each for each in iter_samples(run) if each["id"] == "s2")
    kind = kind_of(run)
    assert kind.detail is not None
    shown = refused = tried = 0
    for path in _broken(told):
        if path == ("id",):
            continue
        line_of_others = copy.deepcopy(told)
        place: Any = line_of_others
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = junk
        cells = row_cells(columns(run), line_of_others)
        json.dumps(cells, allow_nan=False)
        try:
            record = block_to_json(kind.detail(run, line_of_others))
        except RunError as error:
            refused += str(error).count("\n") == 0
        else:
            json.dumps(record, allow_nan=False)
            shown += 1
        tried += 1
    assert shown + refused == tried
    assert shown > refused > 0


def test_a_jump_is_spread_over_its_step() -> None:
    how = result(*PATH[:3], "2_0", "1_0", end="max_steps")
    how["steps"] = how["steps"][:3]
    how["steps"][2]["options"] = [
        {"id": 9, "viewpoint": "1_0", "direction": "Back", "description": "", "hops": 2}
    ]
    how["steps"][2]["action"] = {"kind": "move", "option": 9, "viewpoint": "1_0"}
    stands = BodyPositions.of(Trajectory.read(how), scene())
    assert stands.times == (0.0, 1.0, 2.0, 2.5, 3.0)
    assert stands.again() == {"1_0": 2, "2_0": 2}


def test_panels_have_their_markers_beside_them() -> None:
    pytest.importorskip("embreex")
    simulator = get_simulator("embedded", scene(), light="flat")
    try:
        pose = Pose((0.0, 0.0, 0.0), 0.0, 0.0, "2_0")
        seen = simulator.reset({"a": (pose, DEFAULT_BODY)})["a"]
        found = strip_panels(seen, 0.0)
    finally:
        simulator.close()
    assert [panel.name for panel in found] == ["Left", "Front", "Right", "Back"]
    numbers = [number for panel in found for _, _, number in panel.markers]
    assert sorted(numbers) == list(range(1, len(seen.candidates) + 1))
    assert all(0 <= u <= 1 and 0 <= v <= 1 for panel in found for u, v, _ in panel.markers)
