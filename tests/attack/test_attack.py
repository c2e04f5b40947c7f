"""A share of every attack holds, and one that gets through is seen to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack import __main__ as program
from tests.attack.attack import Attack, carry_out
from tests.attack.rows import ATTACKS

SHARED = [attack for attack in ATTACKS if attack.share]


@pytest.mark.slow
@pytest.mark.parametrize("attack", SHARED, ids=lambda attack: attack.name.replace(" ", "-"))
def test_it_holds(attack: Attack) -> None:
    row = carry_out(attack, attack.share, seed=1)
    assert row.tried > 0
    assert not row.through, "\n".join(row.through)


def _every_third(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    del folder, dice
    yield from (f"number {n} got in" if n % 3 == 0 else None for n in range(tries))


def test_what_gets_through_is_counted_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        program, "ATTACKS", (Attack("doors", "closed", _every_third, whole=7, share=2),)
    )
    assert program.main([]) == 1
    assert "3 THROUGH\n    number 0 got in\n" in capsys.readouterr().out
    assert program.main(["--share"]) == 1
    assert "1 got through" in capsys.readouterr().out
