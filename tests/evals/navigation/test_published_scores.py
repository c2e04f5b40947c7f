"""Published rows: as they are printed, beside the runs that they are of, and in no statistic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.evals.navigation.metrics import METRICS
from navloom.evals.navigation.published_scores import (
    comparable_rows,
    published_rows,
    published_table,
    published_text,
)
from tests.evals.tasks.folder import folder
from tests.web.one_file import said_in

R2R = {"task": "r2r", "split": "val_unseen", "agent": "navgpt"}
SCORES: dict[str, Any] = {
    "agent": "heuristic", "model": "builtin/heuristic", "episodes": 7,
    "metrics": {"SR": {"mean": 0.25}, "NE": {"mean": 6.5}},
}  # fmt: skip


def test_what_is_printed() -> None:
    found = {
        (row.source, row.group, row.model, row.task, row.part): row for row in published_rows()
    }
    # 40 whole rows of three tasks and one that breaks off; four rows of four blocks, one of two.
    assert len(found) == len(published_rows()) == 40 * 3 + 1 + 4 * 4 + 2
    gpt = found["VLN-MME Table 2", "NavGPT w/ CoT", "GPT-5", "objectnav", "subset"]
    assert dict(gpt.values) == pytest.approx({
        "TL": 9.92, "NE": 4.58, "nDTW": 0.3106, "SDTW": 0.1403, "CLS": 0.2507, "OSR": 0.7,
        "SR": 0.465, "SPL": 0.2367,
    })  # fmt: skip
    duet = found["VLN-MME Table 6", "VLN Specialist", "DUET (2022)", "reverie", "val_unseen"]
    assert (duet.values["NE"], duet.values["SR"], duet.trained) == (3.93, 0.47, True)


def test_every_row_can_be() -> None:
    for row in published_rows():
        values = row.values
        assert values.keys() <= set(METRICS), row
        assert 0 <= values["SPL"] <= values["SR"] <= values["OSR"] <= 1, row
        assert 0 < values["NE"] < 15, row
        assert values.get("SDTW", 0) <= values["SR"], row


def test_the_rows_of_ones_own_kind_stand_beside_a_run() -> None:
    def groups(**changes: Any) -> list[str]:
        return list(dict.fromkeys(row.group for row in comparable_rows({**R2R, **changes})))

    trained = ["VLN Specialist", "Finetuned MLLM"]
    assert groups() == ["NavGPT", *trained]
    assert groups(agent="heuristic") == ["NavGPT", *trained]
    assert groups(agent="mapgpt", cot=True) == ["MapGPT w/ CoT", *trained]
    assert groups(cot=True, reflect=True) == ["NavGPT w/ CoT & Reflection", *trained]
    assert groups(task="objectnav") == ["NavGPT"]
    assert groups(split="train") == groups(task="r4r") == groups(task="scene", split="all") == []
    parts = {
        row.part for row in comparable_rows({**R2R, "subset_ids": {"count": 9}}) if row.trained
    }
    assert parts == {"subset"}
    assert len(comparable_rows(R2R, every=True)) == 41 + 5 * 2


def test_ours_come_first_and_theirs_are_pale() -> None:
    (table,) = published_table(R2R, SCORES)
    assert table.pale == len(table.rows) - 1 == 11
    assert table.rows[0][:5] == (
        "heuristic, this run", "builtin/heuristic (a baseline)", "7 of it", "25.0%", "–",
    )  # fmt: skip
    assert all(row[2].startswith("published") for row in table.rows[1:])
    assert "not measured here" in table.note
    assert list(published_table({**R2R, "split": "train"}, SCORES)) == []
    assert published_text({**R2R, "task": "scene"}) == ""


@pytest.mark.slow
def test_a_run_shows_them_and_counts_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = folder(tmp_path / "data")
    assert main(["eval", "r2r", "--data", str(data), "--agent", "heuristic", "--out", "run"]) == 0
    out = capsys.readouterr().out
    assert "Published SR, not measured here: NavGPT" in out
    summary = (tmp_path / "run" / "summary.json").read_text()
    assert "ublished" not in summary
    assert json.loads(summary)["scores"]["metrics"]["SR"]["n"] == 6
    assert main(["report", "run"]) == 0
    page = said_in(tmp_path / "run" / "report.html", "source/0/tab/scores")
    assert "All published rows of this task" in page
    assert "MapGPT w/ CoT" in page
    assert "MapGPT w/ CoT" not in (tmp_path / "run" / "report.md").read_text()
