"""A run's folder that other hands touched: said with file and line, and counted nowhere."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError
from navloom.evals.run_folder import iter_samples, read_samples
from navloom.files import encode_line
from tests.evals.lines import checked, records, rewrite

WORDS = ["synth", "single", "demo:flat", "--n", "3", "--display", "none", "--out"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    assert main([*WORDS, str(tmp_path / "r")]) == 0
    return tmp_path / "r"


def refused(run: Path, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command that reads the file says it in one line, and writes nothing."""
    export = ["export", str(run), "--out", str(run.parent / "x.jsonl")]
    third = export if "samples.jsonl" in said else ["retry", str(run)]
    for words in (["report", str(run)], [*WORDS, str(run)], third):
        before = (run / "samples.jsonl").read_bytes()
        capsys.readouterr()
        assert main(words) == 1, words
        out, err = capsys.readouterr()
        assert said in err
        assert (err.count("\n"), out) == (1, "")
        assert (run / "samples.jsonl").read_bytes() == before
    assert not (run.parent / "x.jsonl").exists()


def test_a_line_that_was_changed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = run / "samples.jsonl"
    text = file.read_text()
    lines = text.splitlines(keepends=True)
    lines[1] = lines[1].replace('"status": "ok"', '"status": "failed"')
    file.write_text("".join(lines))
    refused(run, f"{file} line 2: it was changed since it was written", capsys)
    file.write_text(text)
    assert main(["report", str(run)]) == 0


def test_any_byte_of_a_line(run: Path) -> None:
    file, dice = run / "samples.jsonl", random.Random(3)
    whole = file.read_bytes()
    first = whole.index(b"\n")
    for _ in range(200):
        changed = bytearray(whole)
        changed[dice.randrange(first)] ^= 1 << dice.randrange(8)
        file.write_bytes(changed)
        with pytest.raises(RunError, match=r"line [12]: "):
            read_samples(run)
        with pytest.raises(RunError, match=r"line [12]: "):
            list(iter_samples(run))


def test_a_check_that_was_taken_off(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = run / "samples.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in records(run)))
    refused(run, f"{file} line 1: it was changed since it was written", capsys)


def test_a_line_of_another_run_of_the_kind(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, str(tmp_path / "other"), "--seed", "5"]) == 0
    file = run / "samples.jsonl"
    theirs = (tmp_path / "other" / "samples.jsonl").read_text().splitlines(keepends=True)
    mine = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*mine[:2], theirs[2]]))
    refused(run, f"{file} line 3: it was changed since it was written, or is of another", capsys)


def test_a_run_json_that_says_another_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = json.loads((run / "run.json").read_text())
    said["request"]["tau"] = 4
    (run / "run.json").write_text(json.dumps(said))
    for words in (["report", str(run)], ["export", str(run), "--out", str(run / "x")]):
        assert main(words) == 1
        assert f"{run / 'run.json'} was changed by other hands" in capsys.readouterr().err


def test_an_unknown_status(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite(run, lambda rows: [*rows[:2], rows[2] | {"status": "great"}])
    said = "samples.jsonl line 3: its status is 'great', expected ok or failed"
    refused(run, said, capsys)
    rewrite(run, lambda rows: rows[:2])
    rewrite(run, lambda _: [{"id": "x", "status": "ok"}], "errors.jsonl")
    refused(run, "errors.jsonl line 1: its status is 'ok', expected error", capsys)


def test_a_sample_that_is_not_of_the_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite(run, lambda rows: [*rows, rows[0] | {"id": "demo-flat-00077"}])
    capsys.readouterr()
    assert main([*WORDS, str(run)]) == 1
    err = capsys.readouterr().err
    assert "samples.jsonl line 4: this run has no sample 'demo-flat-00077'" in err
    assert err.count("\n") == 1


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


FORGED = [
    ({"result": nested(300)}, "line 1: it is nested beyond reason"),
    ({"usage": {"calls": 1 << 2000}}, "line 1: its usage holds no counts"),
    ({"usage": {"calls": -5}}, "line 1: its usage holds no counts"),
    ({"seconds": float("nan")}, "line 1: its seconds is no number that it can be"),
    ({"cost_usd": 1e308}, "line 1: its cost_usd is no number that it can be"),
    ({"models": [{"calls": "x"}]}, "has not the form of a"),
    ({"models": 3}, "has not the form of a"),
]


@pytest.mark.parametrize(("change", "said"), FORGED)
def test_whoever_makes_a_line_anew_reaches_no_further(
    run: Path, change: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(run, lambda rows: [rows[0] | change, *rows[1:]])
    for words in (["report", str(run)], [*WORDS, str(run)]):
        capsys.readouterr()
        assert main(words) == 1
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1


def test_values_that_no_report_can_use_are_one_line(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def forged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row in rows:
            row["result"]["phase_1"]["Single robot start region"] = {"robot_1": 1.5}
        return rows

    rewrite(run, forged)
    capsys.readouterr()
    assert main(["report", str(run)]) == 1
    err = capsys.readouterr().err
    assert "has not the form of a NavCraft task" in err
    assert err.count("\n") == 1


def test_an_export_of_what_is_no_json_is_one_line(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def forged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[0]["result"]["navloom"]["solo_metres"] = float("nan")
        return rows

    rewrite(run, forged)
    capsys.readouterr()
    assert main(["export", str(run), "--out", str(run.parent / "x.jsonl")]) == 1
    err = capsys.readouterr().err
    assert "has not the form of one of `navloom synth single`" in err
    assert err.count("\n") == 1
    assert not (run.parent / "x.jsonl").exists()


def test_a_survey_without_homes_is_broken(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "scenes.json").write_text('{"scenes": {}, "skipped": {}}')
    capsys.readouterr()
    assert main([*WORDS, str(run)]) == 1
    assert "scenes.json is broken: delete it, and it is made anew" in capsys.readouterr().err


def test_a_sample_that_is_nested_beyond_reason_is_not_written() -> None:
    assert encode_line({"id": "x", "result": nested(100)})
    with pytest.raises(ValueError, match="nested beyond reason"):
        encode_line({"id": "x", "result": nested(300)})


@pytest.mark.slow
def test_a_run_of_before_is_read_and_gone_on_with_as_before(run: Path) -> None:
    rows = records(run)
    said = json.loads((run / "run.json").read_text())
    del said["line_check"]
    (run / "run.json").write_text(json.dumps(said))
    rows[0]["message"] = "changed"
    (run / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    assert main([*WORDS, str(run)]) == 0
    text = (run / "samples.jsonl").read_text()
    assert '"check"' not in text
    assert text.count("\n") == 3
    assert main(["report", str(run)]) == 0


def test_no_reader_and_no_export_sees_a_check(run: Path) -> None:
    assert (run / "samples.jsonl").read_text().count('"check": "') == 3
    assert (run / "samples.jsonl").read_text().splitlines()[0] + "\n" == checked(
        run, read_samples(run)[0]
    )
    assert not any("check" in row for row in [*read_samples(run), *iter_samples(run)])
    assert main(["export", str(run), "--out", str(run.parent / "x.jsonl")]) == 0
    assert "check" not in json.loads((run.parent / "x.jsonl").read_text().splitlines()[0])
