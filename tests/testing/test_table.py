"""A small fault table, and kills; the whole ones are commands (docs/testing.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.testing import kill
from tests.testing.__main__ import main
from tests.testing.catalogue import KINDS, Kind, kind_of
from tests.testing.kill import Outcome, kill_many
from tests.testing.table import Row, Setting, fault_table, write_table

SMALL = Setting(samples=12, concurrency=12, share=0.6, for_good=0.3, patience=1.0)


async def right_under(kinds: Sequence[Kind], setting: Setting) -> None:
    rows = await fault_table(kinds, setting)
    assert len(rows) == 1 + len(kinds)
    assert [line for row in rows for line in row.wrong] == []
    assert all(row.ended.total() == setting.samples for row in rows)
    assert rows[0].ended == Counter(ok=setting.samples)
    for row, kind in zip(rows[1:], kinds, strict=True):
        met, for_good = row.met
        assert met > 0
        assert row.ended["ok"] == setting.samples - for_good
        assert (row.retries > 0) == (kind.whose == "server")
    assert any(row.met[1] for row in rows)


@pytest.mark.slow
async def test_every_sample_is_in_its_right_place_under_a_fault_of_each_sort() -> None:
    """A refusal, a stall, a cut and a model's fault; all sixteen are met in the slow table."""
    await right_under([kind_of(name) for name in ("refused", "stall", "cut", "15")], SMALL)


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_every_sample_is_in_its_right_place_under_every_fault() -> None:
    """The whole table, as docs/testing.md prints it."""
    await right_under(KINDS, Setting())


async def test_the_table_sees_a_sample_in_the_wrong_place() -> None:
    setting = replace(SMALL, samples=4, share=1.0, for_good=1.0)
    wrongly = [replace(kind_of("500"), whose="model"), replace(kind_of("16"), whose="server")]
    _, error, failed = await fault_table(wrongly, setting)
    assert error.ended == Counter(error=4)
    assert failed.ended == Counter(failed=4)
    assert len(error.wrong) == len(failed.wrong) == 4
    assert "is error, not failed" in error.verdict
    assert "is failed, not error" in failed.verdict


@pytest.mark.slow
async def test_the_same_seed_gives_the_same_row() -> None:
    kinds = [kind_of("429"), kind_of("unknown-tool")]
    first, second = [await fault_table(kinds, replace(SMALL, seed=5)) for _ in range(2)]
    for one, other in zip(first, second, strict=True):
        assert replace(one, seconds=0) == replace(other, seconds=0)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--faults", "12, filtered", "--samples", "3", "--wire", "anthropic"]) == 0
    out = capsys.readouterr().out
    assert "12 empty" in out
    assert "16 filtered" in out
    assert out.count("as expected") == 3
    assert main(["--faults", "17"]) == 1
    assert "no fault is called '17'" in capsys.readouterr().err


def test_a_row_in_text() -> None:
    row = Row("4 500", Counter(ok=3, error=1), (2, 1), 11, 2, 0.25, ("a is ok, not error",))
    line = write_table([row]).splitlines()[2]
    assert " ".join(line.split()) == "4 500 4 3 0 1 2 1 11 2 0.2 1 WRONG: a is ok, not error"


@pytest.mark.slow
def test_killed_at_random_points_nothing_is_lost_or_paid_twice(tmp_path: Path) -> None:
    """The one that kills a command, end to end; its errands are graphs within the graph."""
    outcome = kill_many(tmp_path, 3, seed=3, kind="collab")
    assert (outcome.kills, outcome.samples) == (3, 18)
    assert outcome.holds, outcome
    assert (outcome.lost, outcome.twice, outcome.changed, outcome.costs) == (0, 0, False, 0)
    # The kills came while calls were under way, and not between runs.
    assert 0 < outcome.again <= outcome.in_flight == 12


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("nested", [(), ("--nested",)])
def test_killed_many_times(nested: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert kill.main(["--kills", "20", *nested]) == 0
    said = capsys.readouterr().out
    assert "kills 20, samples 120: finished and lost 0, twice 0, tasks unchanged" in said
    assert ("kills within an errand 0;" in said) is not bool(nested)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_workers_and_drivers_killed_many_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert kill.main(["--kills", "6", "--workers"]) == 0
    said = capsys.readouterr().out
    assert "kills 6, samples 96: finished and lost 0, twice 0, tasks unchanged" in said


@pytest.mark.parametrize(
    "broken", [{"lost": 1}, {"twice": 1}, {"changed": True}, {"costs": 1}, {"again": 25}], ids=str
)
def test_what_kills_must_not_do(broken: dict[str, Any]) -> None:
    well = Outcome(
        kills=6,
        samples=36,
        lost=0,
        twice=0,
        changed=False,
        costs=0,
        nested=2,
        calls=72,
        again=24,
        in_flight=24,
        seconds=1.0,
    )
    assert well.holds
    outcome = replace(well, **broken)
    assert not outcome.holds
    assert "BROKEN" in str(outcome)
