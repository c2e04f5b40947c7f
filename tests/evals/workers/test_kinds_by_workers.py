"""Runs of every kind by two workers: the lines of one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evals.every_kind import make_every_kind
from tests.evals.workers.test_workers import lasting


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_kind_by_two_workers_has_the_lines_of_one_process(tmp_path: Path) -> None:
    # In one place, since lines name the runs that are judged.
    at = tmp_path / "runs"
    one = {kind: lasting(run) for kind, run in make_every_kind(at).items()}
    at.rename(tmp_path / "by-one")
    two = {kind: lasting(run) for kind, run in make_every_kind(at, "--workers", "2").items()}
    assert all(one.values())
    for kind, lines in one.items():
        assert two[kind] == lines, kind
