"""Conditions on tasks: what they read, what they refuse, and what an export keeps by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.errors import UsageError
from navloom.evals.navcraft.export import MEASURES, ExportFilter, export_run
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.runner import run_request

RECORD = {
    "legs": [2, 3],
    "solo_metres": 21.5,
    "alpha": 0.7,
    "worth": {"plausible": 0.6, "unambiguous": True, "doors": None, "storeys": 2},
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("plausible>=0.6", True),
        ("plausible > .6", False),
        ("plausible=0.6", True),
        ("unambiguous=1", True),
        ("hops<=4", False),
        ("hops=5", True),
        ("metres<21.5", False),
        ("alpha<0.75", True),
        ("storeys>=2", True),
        # What was not measured fulfils nothing.
        ("doors>=0", False),
        ("doors<9", False),
        ("g_rate<9", False),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    assert ExportFilter.read(text).holds(RECORD) is holds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plausible", "is no condition: write plausible>=0.6"),
        ("plausible>=high", "is no condition"),
        ("__import__('os')>1", "is no condition"),
        ("plausibel>=1", "Did you mean 'plausible'"),
    ],
)
def test_what_is_no_condition(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ExportFilter.read(text)


def test_an_export_keeps_what_fulfils_all(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_request(SynthRequest(kind="single", spec="demo:", n=12, seed=5), run)
    everything, some, none = (tmp_path / name for name in ("all", "some", "none"))
    assert export_run(run, everything) == 12
    kept = export_run(run, some, keep=["plausible>=0.6", "hops<=9"])
    rows = [json.loads(line) for line in everything.read_text().splitlines()]
    by_hand = [
        row
        for row in rows
        if row["navloom"]["worth"]["plausible"] >= 0.6 and sum(row["navloom"]["legs"]) <= 9
    ]
    assert 0 < kept == len(by_hand) < 12
    assert [json.loads(line) for line in some.read_text().splitlines()] == by_hand
    assert export_run(run, none, keep=["metres>9999"]) == 0
    with pytest.raises(UsageError, match="no condition"):
        export_run(run, none, keep=["nonsense"])


def test_every_measure_stands_in_the_guide() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "dataset.md").read_text()
    assert [name for name in MEASURES if f"`{name}`" not in guide] == []
