"""What every kind of run says to a page: columns, a detail of each line, tables, a pairing.

A tiny run of every kind is made once, by rule-based models.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError
from navloom.evals.call_log import conversation_of
from navloom.evals.capnav.benchmark_data import load_benchmark
from navloom.evals.capnav.scores import read_capnav
from navloom.evals.capnav.synthesis_results import scene_question_map
from navloom.evals.navcraft.dataset_page import (
    dataset_columns,
    dataset_detail,
    dataset_rows,
    dataset_tables,
)
from navloom.evals.navcraft.relay_map import build_relay_task, relay_map
from navloom.evals.navcraft.scores import score_run
from navloom.evals.report import blocks as b
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.run_kinds import KINDS, get_kind, kind_of
from navloom.evals.run_scenes import load_run_scene, scene_blocks
from navloom.scenes.plan_style import to_words
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.relay import RelayAnswer
from navloom.tools.navcraft.relay_schedule import schedule_relay
from tests.evals.every_kind import Made, make_every_kind


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A run of each kind, by kind."""
    return make_every_kind(tmp_path_factory.mktemp("runs"))


def blocks_in(value: Any) -> Iterator[Any]:
    """All blocks, at any depth."""
    if isinstance(value, b.SampleDetail):
        yield from blocks_in(value.blocks)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from blocks_in(each)
    elif hasattr(value, "note"):
        yield value
        for inner in ("columns", "variants"):
            for each in getattr(value, inner, ()):
                yield from blocks_in(each[1] if inner == "variants" else each)


def test_every_kind_says_all_four() -> None:
    for name in KINDS:
        kind = get_kind(name)
        assert kind.detail is not None, name
        assert kind.pairing is not None, name
        assert kind.columns({"kind": name, "request": {}}), name


def test_what_an_entry_names_is_there() -> None:
    for name in KINDS:
        named = [each for each in vars(get_kind(name)).values() if isinstance(each, partial)]
        assert len(named) >= 4, name
        for each in named:
            module, _, function = each.args[0].partition(":")
            assert callable(getattr(import_module(module), function)), each


@pytest.mark.slow
def test_every_line_of_every_kind_turns_into_json(made: Made) -> None:
    for name, run in made.items():
        kind, said, lines = kind_of(run), read_run(run), read_samples(run)
        assert lines, name
        assert kind.detail is not None
        assert kind.pairing is not None
        columns, pairing = kind.columns(said), kind.pairing()
        assert len({column.name for column in columns}) == len(columns)
        for line in lines:
            json.dumps(b.block_to_json(kind.detail(run, line)), allow_nan=False)
            json.dumps([pairing.identity(line), pairing.scores(line)], allow_nan=False)
        firsts = [column.name for column in columns if any(_cell(column, x) for x in lines)]
        assert len(firsts) >= 2, (name, firsts)
        tables = kind.tables(run)
        assert tables, name
        json.dumps(b.block_to_json(tables), allow_nan=False)


def _cell(column: Any, line: Any) -> Any:
    try:
        return column.of(line)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def test_parts_of_bars_lead_to_as_many_samples_as_they_count(made: Made) -> None:
    """What a cell opens is filtered by columns that there are, and counts the same."""
    kinds = ("capnav", "judge_reasoning", "calibrate_reasoning", "calibrate_prefer", "judge_prefer")
    looked = 0
    for name in kinds:
        kind, lines = kind_of(made[name]), read_samples(made[name])
        columns = {c.name: c for c in kind.columns(read_run(made[name]))}
        for block in blocks_in(list(kind.tables(made[name]))):
            for _, segments in getattr(block, "bars", ()):
                for segment in segments:
                    wanted = dict(re.findall(r'(\w+):"([^"]*)"', _plain(segment.to)))
                    assert wanted, (name, segment)
                    assert wanted.keys() <= columns.keys(), (name, segment)
                    found = [
                        line
                        for line in lines
                        if all(str(_cell(columns[k], line)) == v for k, v in wanted.items())
                    ]
                    assert len(found) == segment.count, (name, segment)
                    looked += 1
    assert looked > 10


def _plain(address: str) -> str:
    from urllib.parse import unquote

    return unquote(address)


def test_lanes_and_tracks_are_the_schedules(made: Made) -> None:
    run = made["collab"]
    relays = [line for line in read_samples(run) if line["result"].get("phase_2")]
    assert relays
    for line in relays:
        task = build_relay_task(load_run_scene(run, line["scene"]), line["result"])
        choice = RelayAnswer.model_validate(line["result"]["phase_2"]).choice
        plan, seen = schedule_relay(task, *choice), relay_map(task, choice)
        recorded = line["result"]["navloom"]
        assert plan.makespan_s == pytest.approx(recorded["makespan_s"])
        for lane in seen.lanes:
            assert lane.spans[-1].end == pytest.approx(plan.makespan_s)
            assert all(x.end == y.start for x, y in zip(lane.spans, lane.spans[1:], strict=False))
        waits = {
            lane.name: sum(s.end - s.start for s in lane.spans if s.kind == "wait")
            for lane in seen.lanes
        }
        said = recorded["waits"]
        for robot in ("robot_1", "robot_2"):
            due = said["seconds"] if said["robot"] == robot else 0.0
            assert waits[robot] == pytest.approx(due)
        for track in seen.tracks[:2]:
            stops = plan.routes[track.name]  # type: ignore[index]
            assert [p[0] for p in track.points] == [
                when
                for stop in stops
                for when in (
                    (stop.arrive, stop.leave) if stop.leave > stop.arrive else (stop.arrive,)
                )
            ]
        thing = seen.tracks[2].points
        assert [p[0] for p in thing] == sorted(p[0] for p in thing)
        assert math.isclose(thing[-1][0], plan.makespan_s)


def test_tries_are_told_in_the_words_of_the_calls(made: Made) -> None:
    run = made["collab"]
    line = read_samples(run)[0]
    said = conversation_of(run, line["id"])
    assert sum(each.who == "the model" for each in said) == line["usage"]["calls"]
    assert "check_two_path_and_adjacency(" in said[0].text
    assert "phase_2" in said[-1].text
    # What begins a conversation is the prompt, which stands among the calls.
    assert not any("Random seed" in each.text for each in said)
    assert conversation_of(run, "nobody") == ()


def test_numbers_are_the_reports(made: Made) -> None:
    score = score_run(made["collab"])
    alphas = [
        1 - gain
        for line in read_samples(made["collab"])
        for c in get_kind("collab").columns({"kind": "collab"})
        if c.name == "gain" and (gain := _cell(c, line)) is not None
    ]
    assert sorted(alphas) == pytest.approx(sorted(1 - v for v in score.gain_alpha.values))
    found = read_capnav(made["capnav"]).totals()
    rights = [
        value
        for line in read_samples(made["capnav"])
        for c in get_kind("capnav").columns({})
        if c.name == "PV" and (value := _cell(c, line)) is not None
    ]
    assert sum(rights) / len(rights) == pytest.approx(found.measures["PV"].value)


def test_a_relay_that_nobody_could_drive_says_so_at_once(made: Made) -> None:
    run = made["collab"]
    line = next(each for each in read_samples(run) if each["result"].get("phase_2"))

    def leg(robot: str, seconds: float, waited: float = 0.0, reason: str = "") -> dict[str, Any]:
        where = {"robot": robot, "to": "coffee_table", "region": "Living_room_2"}
        metres = {"planned": 2.0, "way": None, "driven": 0.0, "touched": []}
        ended = {"seconds": seconds, "waited": waited, "arrived": not reason, "reason": reason}
        return {**where, **metres, **ended}

    legs = [leg("robot_1", 0.5, reason="No way."), leg("robot_2", 9.0)]
    legs.append(leg("robot_2", 0.0, waited=0.5, reason="what it waits for does not come"))
    driven = {"bodies": {"robot_1": "FETCH", "robot_2": "SPOT"}, "legs": legs, "seconds": 9.5}
    told = {**line["result"]["navloom"], "driven": {**driven, "done": False, "reason": "No way."}}
    shown = detail_of(run, {**line, "result": {**line["result"], "navloom": told}})
    assert shown.headline.endswith("FETCH and SPOT could not drive it.")
    blocks = list(blocks_in(shown))
    last = [block for block in blocks if isinstance(block, b.SceneMap)][-1].frames[-1]
    assert (last.at, last.title) == (9.5, "robot_2: what it waits for does not come")
    rows = next(x.table for x in blocks if isinstance(x, b.Grid) and x.title.startswith("Driven"))
    assert rows.header[:2] == ("leg", "ended")
    assert rows.rows[0][:2] == ("robot_1 to the coffee table in Living room 2", "No way.")
    means = next(x.table for x in blocks if isinstance(x, b.Grid) and x.table.folded)
    worth = next(x for x in blocks if isinstance(x, b.Facts) and x.title == "What it is worth")
    assert {f.name for f in worth.facts} - {"type"} == {row[0] for row in means.rows}


def detail_of(run: Path, line: dict[str, Any]) -> b.SampleDetail:
    detail = kind_of(run).detail
    assert detail is not None
    return detail(run, line)


def test_a_barrier_stands_where_the_cut_is(made: Made) -> None:
    run = made["capnav"]
    kind = kind_of(run)
    assert kind.detail is not None
    no = next(
        line
        for line in read_samples(run)
        if line["result"]["score"]["truth"] is False and line["result"]["score"]["barriers"]
    )
    found = list(blocks_in(kind.detail(run, no)))
    first = next(block for block in found if isinstance(block, b.SceneMap))
    assert {"start", "goal", "barrier"} <= {mark.kind for mark in first.marks}
    assert "cut" in {route.style for route in first.routes}
    tables = {block.table.title for block in found if isinstance(block, b.Grid)}
    assert "In the way" in tables


def test_what_must_open_together_comes_first_and_the_cut_after_it(made: Made) -> None:
    run, bench = made["capnav"], load_benchmark(made["capnav"].parent / "bench")
    lengths = set()
    for name, body in (("HOUSE01_q02", "WHEELCHAIR"), ("HOUSE01_q04", "HUMANOID")):
        line = read_samples(run)[0]
        score = {**line["result"]["score"], "question_id": name, "body": body, "truth": False}
        asked = {**line, "result": {**line["result"], "score": {**score, "scene": "HOUSE01"}}}
        blocks = list(blocks_in(detail_of(run, asked)))
        truth = bench.truth(bench.by_id[name], body)
        grids = [block.table for block in blocks if isinstance(block, b.Grid)]
        titles = [table.title for table in grids]
        assert titles.index("In the way") < titles.index("What every way meets")
        must = grids[titles.index("In the way")].rows
        assert len(must) == len(truth.alternatives[0])
        cut = grids[titles.index("What every way meets")]
        assert len(cut.rows) == len(truth.blocking)
        assert cut.folded
        drawn = next(block for block in blocks if isinstance(block, b.SceneMap))
        assert [m.label[:2] for m in drawn.marks if m.kind == "barrier"] == [r[0][:2] for r in must]
        assert "the way, once these are open" in {route.name for route in drawn.routes}
        lengths.add(len(must))
    assert max(lengths) > 1


def test_rooms_have_the_plans_names_wherever_the_page_speaks(made: Made) -> None:
    assert "Kitchen 10" in scene_question_map(load_scene("home:4")).names.values()
    for line in read_samples(made["capnav"])[:6]:
        said = next(x for x in blocks_in(detail_of(made["capnav"], line)) if hasattr(x, "said"))
        told = {each.who: each.text for each in said.said}
        nodes = [n for n in line["result"]["nodes"] or () if n]
        scene = load_run_scene(made["capnav"], line["scene"])
        region = [to_words(scene.viewpoint_by_id[node].region or "") for node in nodes]
        assert told.get("by way of", "") == " → ".join(region)
        assert told["on the plan"].startswith("from ")


def test_where_it_gets_there_no_barriers_are_counted(made: Made) -> None:
    run = made["capnav"]
    line = next(each for each in read_samples(run) if each["result"].get("verdict"))
    for truth in (True, False):
        score = {**line["result"]["score"], "truth": truth}
        shown = detail_of(run, {**line, "result": {**line["result"], "score": score}})
        judged = next(x for x in blocks_in(shown) if x.title == "The judge on the reason")
        assert ("share of barriers" in {fact.name for fact in judged.facts}) is not truth
        assert ("there is no barrier to name" in judged.note) is truth


def test_an_injected_payload_stands_apart(made: Made) -> None:
    run = made["calibrate_injections"]
    kind = kind_of(run)
    assert kind.detail is not None
    lines = [line for line in read_samples(run) if line["payload"]]
    said = [kind.detail(run, line).blocks[0].said for line in lines]  # type: ignore[union-attr]
    assert len(said) == 16  # eight payloads, with the defences and without
    assert {each[-1].tone for each in said} == {"bad"}
    assert all(each[-1].who.startswith("the payload") for each in said)
    assert all(each[-1].text not in each[0].text for each in said)


@pytest.mark.worlds  # a run of each kind, of teams too
def test_what_is_gone_leaves_the_rest_and_what_is_broken_is_one_line(made: Made) -> None:
    for name, run in made.items():
        kind = kind_of(run)
        assert kind.detail is not None
        line = read_samples(run)[0]
        gone = {**line, "scene": "hm3d:gone"}
        assert kind.detail(run, gone).blocks, name
        for broken in (
            {**line, "result": "no object"},
            {**line, "result": dict.fromkeys((*line["result"], "phase_1"), 7)},
        ):
            with pytest.raises(RunError, match="has not the form") as raised:
                kind.detail(run, broken)
            assert "\n" not in str(raised.value), name


def test_a_dataset_is_shown_as_a_run_is(made: Made, tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    assert main(["export", str(made["collab"]), "--out", str(file)]) == 0
    good = file.read_text().splitlines()
    first = json.loads(good[0])
    first["navloom"]["alpha"] = 0.001
    file.write_text("\n".join([json.dumps(first), *good[1:], "{torn", "[1]"]) + "\n")
    rows = list(dataset_rows(file))
    assert [row["status"] for row in rows[:2]] == ["not valid", "valid"]
    assert [row["result"] for row in rows[-2:]] == [None, None]
    assert "alpha" in str(rows[0]["findings"])
    names = [column.name for column in dataset_columns()]
    assert {"faults", "alpha", "gain", "instruction"} <= set(names)
    for row in rows:
        json.dumps(b.block_to_json(dataset_detail(file, row)), allow_nan=False)
    shown = list(blocks_in(dataset_detail(file, rows[1])))
    assert any(isinstance(block, b.SceneMap) and block.tracks for block in shown)
    json.dumps(b.block_to_json(dataset_tables(file, rows)), allow_nan=False)


def test_a_home_has_its_rooms_and_links() -> None:
    scene = load_scene("demo:flat")
    found = {getattr(x, "table", x).title: x for x in scene_blocks(scene)}
    assert len(found["Rooms"].table.rows) == len(scene.regions)  # type: ignore[union-attr]
    assert len(found["Links"].table.rows) == len(scene.links)  # type: ignore[union-attr]
    json.dumps(b.block_to_json(list(found.values())), allow_nan=False)
