"""Without Ray: one line that says how to get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.cli.main import main


def test_a_cluster_without_ray_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("navloom.evals.workers.worker_pools.find_spec", lambda _: None)
    words = ["synth", "single", "demo:flat", "--n", "1", "--out", str(tmp_path / "r")]
    assert main([*words, "--workers", "2", "--cluster", "ray", "--display", "none"]) == 1
    err = capsys.readouterr().err
    assert "--cluster ray needs Ray: pip install 'navloom[ray]'" in err
    assert err.count("\n") == 1
