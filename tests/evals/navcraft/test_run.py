"""Batch synthesis: how attempts are spread, what is skipped, what makes a run the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import RunError, SceneError, UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.run import profile_for
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.runner import arun_request, run_request
from navloom.evals.session import Session
from navloom.scenes.formats.scene_json import save
from navloom.tools.navcraft.relay_task import can_hold
from tests.evals.lines import checked, records
from tests.tools.navcraft.worlds import row_house


def asked(**changes: Any) -> SynthRequest:
    return SynthRequest(**{"kind": "single", "spec": "demo:", "n": 7, **changes})


def test_attempts_are_spread_evenly_and_profiles_take_turns(tmp_path: Path) -> None:
    summary = run_request(asked(n=7, profile=("child", "none")), tmp_path / "r")
    rows = read_samples(tmp_path / "r")
    assert (summary.ok, len(rows)) == (7, 7)
    assert sorted(Counter(row["scene"] for row in rows).values()) == [2, 2, 3]
    ages = Counter((row["profile"] or {}).get("Age") for row in rows)
    assert ages in ({9: 4, None: 3}, {9: 3, None: 4})
    assert all(row["cost_usd"] == 0 and row["usage"]["calls"] >= 2 for row in rows)


@pytest.mark.parametrize(
    ("homes", "profiles", "n"), [(35, 6, 20), (3, 6, 20), (20, 5, 20), (6, 4, 24), (1, 6, 12)]
)
def test_every_profile_has_its_share_however_many_homes(homes: int, profiles: int, n: int) -> None:
    names = tuple("abcdef"[:profiles])
    shares = Counter(profile_for(k, names, homes) for k in range(n))
    assert max(shares.values()) - min(shares[name] for name in names) <= 1
    # In the end each home has seen each profile equally often.
    whole = Counter((k % homes, profile_for(k, names, homes)) for k in range(homes * profiles * 2))
    assert set(whole.values()) == {2}


def test_all_profiles_over_few_homes(tmp_path: Path) -> None:
    run_request(asked(spec="demo:", n=12, profile=("all",)), tmp_path / "r")
    shares = Counter((row["profile"] or {}).get("Age") for row in read_samples(tmp_path / "r"))
    assert sorted(shares.values()) == [2] * 6


@pytest.mark.slow
def test_relays_are_of_both_types_and_their_helpers_from_elsewhere(tmp_path: Path) -> None:
    run_request(asked(kind="collab", n=24, compact=True), tmp_path / "r")
    made = [row["result"] for row in read_samples(tmp_path / "r") if row["result"]["phase_2"]]
    kinds = Counter(each["phase_2"]["Collaborative type"] for each in made)
    assert 0.4 <= kinds["Type-A1"] / kinds.total() <= 0.6
    first = [each for each in made if each["navloom"]["asked"]["type"] == "Type-A1"]
    assert sum(each["navloom"]["g_rate"] < 1 for each in first) >= 0.8 * len(first)
    beside = [
        each["phase_2"]["Collaborative robot start region"]["robot_2"]
        == each["phase_1"]["Single robot target object region"]["robot_1"]
        for each in made
    ]
    assert sum(beside) <= len(made) / 3
    for each in made:
        one, two = each["phase_1"], each["navloom"]
        assert can_hold(two["end_asset"], one["Target object"])
        assert can_hold(two["transfer_asset"], one["Target object"])
        # No more than the best of all is missed among those as asked.
        assert -1e-9 <= two["regret_asked"] <= two["regret_alpha"] + 1e-9


def test_only_what_is_asked_for_is_made(tmp_path: Path) -> None:
    run_request(asked(kind="collab", n=12, faster=True, min_gain=0.3), tmp_path / "r")
    rows = [row["result"] for row in read_samples(tmp_path / "r")]
    made = [each["navloom"] for each in rows if each["phase_2"]]
    assert made
    assert all(each["g_rate"] < 1 and each["gain_alpha"] >= 0.3 - 1e-9 for each in made)


def test_same_request_same_tasks_and_another_seed_others(tmp_path: Path) -> None:
    def tasks(name: str, seed: int) -> list[Any]:
        run_request(asked(kind="collab", n=6, seed=seed), tmp_path / name)
        return [(row["id"], row["result"]) for row in read_samples(tmp_path / name)]

    assert tasks("a", 1) == tasks("b", 1)
    assert tasks("c", 2) != tasks("a2", 1)


def test_calls_of_the_errand_count_too(tmp_path: Path) -> None:
    run_request(asked(kind="collab", n=3), tmp_path / "r")
    for row in read_samples(tmp_path / "r"):
        assert row["usage"]["calls"] == row["result"]["navloom"]["turns"]


def test_homes_without_an_errand_are_said_and_left_out(tmp_path: Path) -> None:
    homes = tmp_path / "homes"
    homes.mkdir()
    whole = row_house()
    save(whole, homes / "a.json")
    save(whole.replace(id="bare", items=()), homes / "b.json")
    save(whole.replace(id="apart", links=()), homes / "c.json")
    said: list[str] = []

    class Notes:
        def start(self, total: int, done: int) -> None: ...
        def step(self, tally: Any) -> None: ...
        def close(self) -> None: ...
        def note(self, text: str) -> None:
            said.append(text)

    run_request(asked(spec=str(homes), n=3), tmp_path / "r", Session(display=Notes()))
    assert {row["scene"] for row in read_samples(tmp_path / "r")} == {"test:row"}
    assert "skipped 1 of 3 scenes: there are no objects (test:bare)" in said
    assert any("links apart" in line and "(test:apart)" in line for line in said)
    with pytest.raises(SceneError, match="no errand is possible in any scene"):
        run_request(asked(spec=str(homes / "b.json")), tmp_path / "r2")


def test_relays_from_a_run_keep_its_errands(tmp_path: Path) -> None:
    run_request(asked(n=6), tmp_path / "s")
    run_request(asked(kind="collab", n=4, source=str(tmp_path / "s")), tmp_path / "c")
    errands = {row["id"]: row["result"]["phase_1"] for row in read_samples(tmp_path / "s")}
    rows = read_samples(tmp_path / "c")
    assert len(rows) == 4
    assert all(row["result"]["phase_1"] == errands[row["id"]] for row in rows)
    # A source that has grown since is another request, not a longer one.
    samples = tmp_path / "s" / "samples.jsonl"
    line = records(tmp_path / "s")[0]
    with samples.open("a") as file:
        file.write(checked(tmp_path / "s", {**line, "id": "demo-flat-00000-again", "attempt": 0}))
    with pytest.raises(RunError, match="errands was"):
        run_request(asked(kind="collab", n=4, source=str(tmp_path / "s")), tmp_path / "c")
    with pytest.raises(RunError, match="collab`: expected one of `navloom synth single`"):
        run_request(asked(kind="collab", source=str(tmp_path / "c")), tmp_path / "x")


def test_limit_and_sample_id_do_part_of_a_run(tmp_path: Path) -> None:
    out = tmp_path / "r"
    run_request(asked(), out, Session(limit=2))
    assert len(read_samples(out)) == 2
    run_request(asked(), out, Session(sample_id=["demo-villa-00001"]))
    assert "demo-villa-00001" in {row["id"] for row in read_samples(out)}
    assert run_request(asked(), out).ok == 7
    with pytest.raises(UsageError, match="Did you mean 'demo-villa-00001'"):
        run_request(asked(), out, Session(sample_id=["demo-vila-00001"]))


def test_another_request_in_the_folder_is_refused(tmp_path: Path) -> None:
    run_request(asked(n=2), tmp_path / "r")
    with pytest.raises(RunError, match="n was 2, now 3"):
        run_request(asked(n=3), tmp_path / "r")


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "collab", "types": "a2", "faster": True},
        {"n": 0},
        {"tau": 0},
        {"source": "x"},
        {"choices": "blind"},
        {"model": "builtin/first"},
    ],
)
def test_requests_that_make_no_sense(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        asked(**changes)


def test_run_json_names_the_prompts(tmp_path: Path) -> None:
    run_request(asked(kind="collab", n=1), tmp_path / "r")
    prompts = read_run(tmp_path / "r")["request"]["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["navcraft_single", "navcraft_collab"]


async def test_a_notebook_awaits_the_same(tmp_path: Path) -> None:
    summary = await arun_request(asked(n=2), tmp_path / "r")
    assert summary.ok == 2
