"""What further robots are worth: nested teams, proofs that show, a study that goes on."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError, SceneError, UsageError
from navloom.evals.report.report_files import read_report
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.task_paths import metric_graph
from navloom_worlds.teams import team_study
from navloom_worlds.teams.team_study import (
    LINES,
    Regime,
    TeamStudy,
    is_sooner,
    measure_attempt,
    study_teams,
)
from navloom_worlds.teams.team_task import draw_attempt


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:0")


def records(home: Scene, regime: Regime, attempt: int) -> list[dict[str, Any]]:
    drawn = draw_attempt(home, 4, 2, 3, attempt)
    assert drawn is not None
    return measure_attempt(home, drawn, regime, seconds=10.0)


def test_what_is_drawn_is_apart_reachable_and_the_same_again(home: Scene) -> None:
    graph, region = metric_graph(home), {item.id: item.region for item in home.items}
    seen = set()
    for attempt in range(10):
        drawn = draw_attempt(home, 4, 2, 0, attempt)
        assert drawn is not None
        assert drawn == draw_attempt(home, 4, 2, 0, attempt)
        assert len({each.node for each in drawn.starts}) == 4
        assert len({each.object for each in drawn.errands}) == 2
        for each in drawn.errands:
            assert region[each.object] != region[each.end.node.removeprefix("item ")]
            assert graph.distance(drawn.starts[0], each.end) < float("inf")
        seen.add(drawn.errands)
    assert len(seen) == 10
    assert draw_attempt(home, 99, 1, 0, 0) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "regime",
    [
        Regime("equal", ""),
        Regime("bodies", "", bodies=("FETCH", "SPOT")),
        Regime("capped", "", cap=0.75),
        Regime("several", "", errands=2),
    ],
    ids=lambda each: each.name,
)
def test_a_further_robot_never_makes_anything_worse(home: Scene, regime: Regime) -> None:
    for attempt in range(3):
        told = records(home, regime, attempt)
        assert [each["robots"] for each in told] == [1, 2, 3, 4]
        for fewer, more in pairwise(told):
            assert more["done"] >= fewer["done"]
            for key in ("makespan_s", "load", "longest", "best_alone_s"):
                if fewer[key] is not None:
                    assert more[key] <= fewer[key] + 1e-9, (attempt, key)
        for each in told:
            if each["load"] is not None and not regime.bodies:
                # Whoever leaves as late as delays nobody may still wait on the way.
                assert each["absence"] >= each["load"] - 1e-9


def test_of_equal_robots_one_errand_ends_no_sooner_than_the_best_placed_would(home: Scene) -> None:
    equal = [each for i in range(5) for each in records(home, Regime("equal", ""), i)]
    assert {is_sooner(each) for each in equal} == {False}
    assert {each["handoffs"] for each in equal} == {0}
    assert [each["makespan_s"] for each in equal[::4]] == [each["alone_s"] for each in equal[::4]]
    several = [records(home, Regime("several", "", errands=2), i)[-1] for i in range(3)]
    assert all(is_sooner(each) for each in several)


def test_a_cap_forces_handoffs_that_nothing_else_asks_for(home: Scene) -> None:
    told = [records(home, Regime("capped", "", cap=0.75), i) for i in range(8)]
    assert not any(each[0]["done"] for each in told)
    assert any(each[-1]["handoffs"] for each in told if each[-1]["done"])
    assert all(each["done"] == (each["longest"] <= 0.75) for row in told for each in row)


@pytest.mark.slow
def test_a_study_goes_on_where_it_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = TeamStudy(spec="demo:flat", n=4, robots=2)
    tables = study_teams(asked, tmp_path / "whole")
    assert [len(each.rows) for each in tables] == [2] * 4
    whole = (tmp_path / "whole" / LINES).read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "teams.json").write_bytes((tmp_path / "whole" / "teams.json").read_bytes())
    (cut / LINES).write_bytes(b"".join(whole[:2]) + whole[2][:40])
    made = []
    monkeypatch.setattr(
        team_study, "draw_attempt", lambda *given: made.append(given[-1]) or draw_attempt(*given)
    )
    again = study_teams(asked, cut)
    assert made == [2, 3]
    assert (cut / LINES).read_bytes() == b"".join(whole)
    assert [each.rows for each in again] == [each.rows for each in tables]
    assert again[0].record["homes"] == 1
    assert len(read_report(cut).blocks) == 8
    with pytest.raises(RunError, match="another study of teams \\(its seed was another\\)"):
        study_teams(TeamStudy(spec="demo:flat", n=4, robots=2, seed=1), cut)
    (cut / LINES).write_bytes(whole[0].replace(b'"attempt": 0', b'"attempt": 7'))
    with pytest.raises(RunError, match="changed"):
        study_teams(asked, cut)


def test_bodies_are_left_out_where_no_link_says_how_wide_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Scene
) -> None:
    bare = home.model_copy(
        update={"links": tuple(x.model_copy(update={"width": None}) for x in home.links)}
    )
    monkeypatch.setattr(team_study, "load_scene", lambda _: bare)
    tables = study_teams(TeamStudy(spec="home:0", n=1, robots=2), tmp_path)
    assert [len(each.rows) for each in tables] == [2, 0, 2, 2]
    assert "use home:" in tables[1].note
    assert len(read_report(tmp_path).blocks) == 7


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"robots": 0}, "robots is 0: expected 1 to 6"),
        ({"robots": 40}, "robots is 40: expected 1 to 6"),
        ({"errands": 1}, "errands is 1: expected 2 to 4"),
        ({"n": 0}, "n is 0"),
        ({"cap": 0.0}, "cap is 0: expected a share above 0"),
        ({"cap": float("nan")}, "cap is nan"),
        ({"seconds": -1.0}, "seconds is -1"),
        ({"bodies": ()}, "bodies is empty"),
        ({"bodies": ("FETCH", "")}, "no body ''"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(changes: dict[str, Any], said: str) -> None:
    with pytest.raises((UsageError, SceneError)) as told:
        TeamStudy(**{"spec": "home:0", **changes})
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_the_command_prints_what_programs_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["study", "teams", "demo:flat", "--n-each", "1", "--robots", "2", "--json"]
    assert main([*words, "--out", str(tmp_path / "t")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [*told["regimes"]] == ["equal robots", "bodies", "capped metres", "several errands"]
    assert told["attempts"] == 1
    assert told["regimes"]["equal robots"][0]["seconds"]["mean"] == pytest.approx(1.0)
    assert read_report(tmp_path / "t").title == "What further robots are worth: equal robots"
    assert (tmp_path / "t" / "report.html").exists()
    assert main([*words, "--out", str(tmp_path / "t"), "--bodies", "TANK"]) == 1
    assert "TANK" in capsys.readouterr().err
