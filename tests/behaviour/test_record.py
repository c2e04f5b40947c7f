"""Tests of ``record --compare``: which differences it ignores, and which it must report."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest

from tests.behaviour.record import compare, said_by

MARKDOWN = (
    "## Scores\n\n| metric | mean |\n|---|---:|\n| SR | 52.0% |\n| a\\|b | – |\n\nOver paths.\n"
)
DRAWN = """Over
paths.

Scores
┏━━━━━━━━┳━━━━━━━┓
┃ metric ┃ mean  ┃
┡━━━━━━━━╇━━━━━━━┩
│ a|b    │     – │
│ SR     │ 52.0% │
└────────┴───────┘
"""


def _page(*texts: str) -> bytes:
    blocks = [{"block": "Prose", "text": text} for text in texts]
    packed = base64.b64encode(zlib.compress(json.dumps({"blocks": blocks}).encode())).decode()
    return f'<script type="text/plain" id="pack-0">{packed}</script>'.encode()


def test_a_table_is_its_cells_however_it_is_drawn() -> None:
    drawn = DRAWN.replace("a|b ", "a b ").encode()
    plain = "Scores\n\nmetric    mean\nSR       52.0%\na b          –\n\nOver paths."
    assert said_by("02-report.txt", drawn) == said_by("02-report.txt", plain.encode())
    markdown = MARKDOWN.replace("a\\|b", "a b").encode()
    assert said_by("files/report.md", markdown) == said_by("02-report.txt", drawn)
    assert "a|b | –" in said_by("files/report.md", MARKDOWN.encode())


@pytest.mark.parametrize(("old", "new"), [("52.0%", "52.1%"), ("metric", "score"), ("–", "0")])
def test_a_changed_cell_is_seen(old: str, new: str) -> None:
    for name, text in (("files/report.md", MARKDOWN), ("02-report.txt", DRAWN)):
        assert said_by(name, text.encode()) != said_by(name, text.replace(old, new).encode())


def test_a_page_is_its_words_and_no_images() -> None:
    before = said_by("report.html", _page("one", "two words", "data:image/png;base64,AAAA"))
    assert before == said_by("report.html", _page("two", "words one", "data:image/png;base64,BB"))
    assert before == said_by("report.html", _page("one two words", "2026-11-28T03:06:14+00:00"))
    assert before != said_by("report.html", _page("one", "two wards"))


def test_two_recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side, said, picture in (("a", "SR", "one"), ("b", "SR", "other")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "samples.jsonl").write_text(f'{{"id": "{said}"}}')
        (tmp_path / side / "plan.png.sha256").write_text(picture)
    assert compare(tmp_path / "a", tmp_path / "b") == 0
    (tmp_path / "b" / "samples.jsonl").write_text('{"id": "SPL"}')
    assert compare(tmp_path / "a", tmp_path / "b") == 1
    assert "samples.jsonl: differs" in capsys.readouterr().out
