"""What people walk is a run: scored as an agent's, gone on with after a kill, taken back whole."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import RunError, StoppedError
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.rescore import score_run
from navloom.evals.people.results import people_results, walk_table
from navloom.evals.people.study_folder import WALKS, PeopleStudy
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.runner import run_request
from navloom.graphs.navigation.human_input import HumanInput, HumanObservation
from navloom.graphs.navigation.teleoperation import BURST, TICK_S
from navloom.scenes.scene_uri import get_scene
from navloom_worlds.walks.walk_run import WalkRun, run_random_walks, walk_plan
from tests.evals.people.walkers import Driver, Hopper, study

pytestmark = pytest.mark.slow


class _Cut:
    """A person who walks as another does, and is gone after so many wishes."""

    def __init__(self, person: Any, after: int) -> None:
        self.person, self.left = person, after

    async def wish(self, standing: HumanObservation) -> HumanInput:
        self.left -= 1
        if self.left < 0:
            raise StoppedError("gone")
        wish: HumanInput = await self.person.wish(standing)
        return wish


def _walk(people: PeopleStudy, cut: int = 0) -> list[dict[str, Any]]:
    async def all_of_them() -> None:
        plan = walk_plan(people)
        for rater in people.file.raters:
            for item in rater.items:
                walks = WalkRun(people.path / WALKS, plan)
                sample = walks.sample(rater.name, item)
                episode = plan.episodes[sample.id]
                how = Hopper if people.form.motion == "hops" else Driver
                person: Any = how(episode, get_scene(plan.scenes[episode.scene]))
                await walks.open()
                if cut:
                    with pytest.raises(StoppedError):
                        await walks.walk(sample, _Cut(person, cut))
                    await walks.close()
                    walks = WalkRun(people.path / WALKS, plan)
                    await walks.open()
                await walks.walk(sample, person)
                await walks.close()

    asyncio.run(all_of_them())
    return read_samples(people.path / WALKS)


def test_hops_are_a_run_of_agent_human_and_go_on_after_a_cut(tmp_path: Path) -> None:
    whole = _walk(study(tmp_path / "a", "hops"))
    cut = _walk(study(tmp_path / "b", "hops"), cut=2)
    said = read_run(tmp_path / "a" / WALKS)["request"]
    assert (said["agent"], said["model"]) == ("human", "builtin/human")
    for line, other in zip(whole, cut, strict=True):
        scores = line["result"]["scores"]
        assert [scores[name] for name in ("SR", "SPL", "nDTW")] == pytest.approx([1, 1, 1])
        assert line["rater"] == "r1"
        assert line["result"]["trajectory"] == other["result"]["trajectory"]
        assert line["seconds"] == len(line["result"]["steps"]) == other["seconds"]


def test_driving_keeps_a_pose_every_50_ms_and_goes_on_where_it_was(tmp_path: Path) -> None:
    people = study(tmp_path / "a", "continuous", "home:2", 1)
    (line,) = _walk(people)
    (cut,) = _walk(study(tmp_path / "b", "continuous", "home:2", 1), cut=3 * BURST + 4)
    poses = line["result"]["poses"]
    assert {round(b[0] - a[0], 6) for a, b in pairwise(poses)} == {TICK_S}
    # What was driven since the last checkpoint is driven again: less than a burst.
    assert cut["result"]["poses"][: 3 * BURST + 1] == poses[: 3 * BURST + 1]
    for each in (line, cut):
        result = each["result"]
        assert result["scores"]["SR"] == 1
        assert result["scores"]["invalid"] is None
        assert result["trajectory"][-1][3:] == result["poses"][-1][1:4]
        assert len(result["trajectory"]) < len(poses) / 10
    again = score_run(people.path / WALKS)
    assert again.records[line["id"]]["SPL"] == pytest.approx(line["result"]["scores"]["SPL"])


def test_whoever_withdraws_leaves_no_walk_and_others_stay(tmp_path: Path) -> None:
    people = study(tmp_path / "a", "hops", n=4, raters=("r1", "r2"))
    lines = _walk(people)

    async def withdraw() -> None:
        walks = WalkRun(people.path / WALKS, walk_plan(people))
        await walks.open()
        with pytest.raises(RunError, match="in use"):
            await WalkRun(people.path / WALKS, walk_plan(people)).open()
        await walks.forget("r1")
        await walks.close()

    asyncio.run(withdraw())
    left = read_samples(people.path / WALKS)
    assert left == [line for line in lines if line["rater"] == "r2"]
    assert left


def test_scores_of_walks_stand_beside_blind_picks_and_the_agent(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    asked = EvalRequest(
        task="scene", options={"spec": "home:0-2", "n": 3, "kind": "fine"}, agent="shortest-path"
    )
    run_request(asked, agent)
    people = study(tmp_path / "a", "hops", raters=("r1", "r2"), source=str(agent))
    lot = run_random_walks(people)
    assert walk_table(people) is None
    _walk(people)
    table = walk_table(people)
    assert table is not None
    rows = {row[0]: row for row in table.rows}
    assert list(rows) == ["people", "r1", "r2", "blind picks", "agent shortest-path (agent)"]
    n, success = table.header.index("walks"), table.header.index("SR")
    assert [row[n] for row in rows.values()] == ["3", "2", "1", "3", "3"]
    assert rows["people"][success].startswith("100")
    picks = read_samples(lot)
    walked = read_samples(people.path / WALKS)
    assert {line["id"] for line in picks} == {line["id"] for line in walked}
    mean = sum(line["result"]["scores"]["SR"] for line in picks) / 3
    assert table.record["blind picks"]["metrics"]["SR"]["mean"] == pytest.approx(mean)
    assert mean < 1
    assert people_results(people).record()["walks"] == table.record
