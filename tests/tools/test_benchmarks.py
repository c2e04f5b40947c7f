"""The benchmark table, without measuring anything."""

from __future__ import annotations

import pytest

from benchmarks import Claim, __main__, tools_vs_networkx
from benchmarks.__main__ import format_table, main


def test_a_claim_holds_where_it_is_fast_enough_and_not_different() -> None:
    assert Claim("a", "b", ratio=500, wanted=500, equal=True).holds
    assert Claim("a", "b", ratio=500, wanted=500).holds
    assert not Claim("a", "b", ratio=499, wanted=500, equal=True).holds
    assert not Claim("a", "b", ratio=900, wanted=500, equal=False).holds


def test_the_table_says_all() -> None:
    text = format_table([Claim("fast", "slow " * 30, 1234.5, 500, equal=False, note="beside it")])
    assert "1,234.5x" in text
    assert "DIFFER" in text
    assert "DOES NOT HOLD" in text
    assert "fast: beside it" in text


def test_benchmarks_are_found_by_being_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "tools_vs_networkx" in __main__._claim_files()
    assert "reference" not in __main__._claim_files()
    monkeypatch.setattr(tools_vs_networkx, "claims", lambda: [Claim("c", "r", 9, 5, equal=True)])
    assert main(["tools_vs_networkx"]) == 0
    assert "holds" in capsys.readouterr().out
    monkeypatch.setattr(tools_vs_networkx, "claims", lambda: [Claim("c", "r", 4, 5, equal=True)])
    assert main(["tools_vs_networkx"]) == 1
    assert main(["tools_vs_networks"]) == 1
    assert "Did you mean 'tools_vs_networkx'?" in capsys.readouterr().err
