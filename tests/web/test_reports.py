"""Reports of no single run: written by studies and mends, read as files of other hands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError
from navloom.evals.report.blocks import (
    Bars,
    Block,
    Columns,
    Grid,
    Picture,
    Prose,
    Segment,
    Variants,
)
from navloom.evals.report.formatting import Table
from navloom.evals.report.report_files import SavedReport, read_report, save_report
from navloom.web.bundle import write_bundle
from navloom.web.documents import Documents
from navloom.web.report_page import write_report_page
from navloom.web.source_discovery import open_sources
from tests.web.one_file import documents_of, opens_on

PNG = b"\x89PNG\r\n\x1a\n and so on"
HOSTILE = '<img src=x onerror="alert(1)">'
BLOCKS: tuple[Block, ...] = (
    Prose(title="Mends", text=HOSTILE),
    Grid(table=Table("T", "n", ("run", "SR"), (("a", "1"), ("b", "2")), pale=1), to=("", "x")),
    Variants(variants=(("one", (Columns(columns=((Prose(text="1"),), ())),)),)),
    Bars(bars=(("bar", (Segment(name="part", count=2, to="run/heuristic/scores"),)),)),
    Picture(title="Plan", data=PNG, alt="before and after", private=True),
)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    save_report(
        tmp_path, SavedReport(title="Ways", what="mends", blocks=BLOCKS, scenes=("hm3d:7",))
    )
    return tmp_path


def test_what_is_kept_is_read_as_it_was(kept: Path) -> None:
    read = read_report(kept)
    assert read == SavedReport(title="Ways", what="mends", blocks=BLOCKS, scenes=("hm3d:7",))


def _touched(path: Path) -> list[Any]:
    """The file with something else in one place, each time another."""
    told = json.loads(path.read_text())
    found: list[Any] = []

    def walk(value: Any, put: Any) -> None:
        for junk in (None, 7, "x", [], {}, [None], {"block": "Grid"}):
            put(junk)
            found.append(json.loads(json.dumps(told)))
        put(value)
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in list(items):
            if isinstance(each, dict | list):
                walk(each, lambda junk, at=key: value.__setitem__(at, junk))

    walk(told["blocks"], lambda junk: told.__setitem__("blocks", junk))
    return [*found, {**told, "report_version": 2}, {**told, "what": "run"}, {**told, "scenes": [7]}]


def _refused(folder: Path) -> str:
    try:
        read_report(folder)
    except RunError as error:
        return str(error)
    return ""


def test_whatever_other_hands_wrote_is_shown_or_refused_in_a_line(kept: Path) -> None:
    path, shown, refused = kept / "report.json", 0, 0
    for told in _touched(path):
        path.write_text(json.dumps(told))
        said = _refused(kept)
        assert "\n" not in said
        assert len(said) < 600
        shown, refused = shown + (not said), refused + bool(said)
    assert refused > 50
    assert refused > 3 * shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "has not the form of a report"),
        ("[]", "has not the form of a report"),
        ('{"report_version": 9}', "is of version 9 and this Navloom reads 1"),
        ("[" * 100_000, "has not the form of a report"),
        ('{"report_version": NaN}', "NaN is no number"),
    ],
)
def test_a_broken_file_is_one_line(kept: Path, text: str, said: str) -> None:
    (kept / "report.json").write_text(text)
    with pytest.raises(RunError, match=said) as raised:
        open_sources([str(kept)], print)
    assert "\n" not in str(raised.value)


def test_a_picture_is_a_picture_and_no_scene_comes_in(kept: Path) -> None:
    path = kept / "report.json"
    text = path.read_text()
    svg = text.replace("data:image/png;base64,", "data:image/svg+xml;base64,")
    for changed in (svg, text.replace("iVBOR", "PHN2Z"), text.replace('"Prose"', '"SceneMap"')):
        assert changed != text
        path.write_text(changed)
        with pytest.raises(RunError, match="has not the form"):
            read_report(kept)


def test_a_page_that_is_given_away_leaves_licensed_plans_out_and_says_so(kept: Path) -> None:
    said: list[str] = []
    for licensed in (False, True):
        sources = open_sources([str(kept)], print)
        page, told = kept / "page.html", []  # type: ignore[var-annotated]
        write_bundle(Documents(sources, given=True, licensed=licensed), page, told.append)
        shown = documents_of(page)["source/0/tab/report"]
        assert ("data" in shown[-1]) is licensed
        said += told
    assert len(said) == 1
    assert "hm3d:7" in said[0]
    assert "--with-licensed" in said[0]


def test_a_study_leads_into_its_runs(runs: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    for name in ("heuristic", "random"):
        (study / name).mkdir()
        for file in ("run.json", "samples.jsonl", "errors.jsonl", "summary.json"):
            (study / name / file).write_bytes((runs / name / file).read_bytes())
    save_report(study, SavedReport(title="Study", blocks=BLOCKS[:4]))
    sources = open_sources([str(study)], print)
    assert [source.header().kind for source in sources] == ["study", "run", "run"]
    blocks = Documents(sources).get("source/0/tab/report")
    assert blocks[3]["bars"][0][1][0]["to"] == "#/source/1/scores"
    alone = Documents(sources[:1]).get("source/0/tab/report")
    assert alone[3]["bars"][0][1][0]["to"] == ""
    # As it goes on it is written anew.
    save_report(study, SavedReport(title="Further", blocks=BLOCKS[:1]))
    assert len(Documents(sources).get("source/0/tab/report")) == 1
    assert sources[0].header().cells["task"] == "Further"


def test_two_runs_that_pair_open_on_their_comparison(runs: Path, tmp_path: Path) -> None:
    both, out = [str(runs / name) for name in ("heuristic", "random")], tmp_path / "out"
    out.mkdir()
    copies = []
    for each in map(Path, both):
        (out / each.name).mkdir()
        for file in ("run.json", "samples.jsonl", "errors.jsonl", "summary.json"):
            (out / each.name / file).write_bytes((each / file).read_bytes())
        copies.append(out / each.name)
    page = write_report_page(copies, out, print)
    assert opens_on(page) == "#/compare/0/1"
    found = documents_of(page)
    assert {"compare/0/1", "source/0/tab/scores", "source/1/tab/scores"} <= found.keys()
    assert str(tmp_path) not in json.dumps(found)


@pytest.mark.slow
def test_mends_are_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mend"
    assert main(["scenes", "mend", "home:9", "--from", "Hallway_1", "--to", "Toilet_5",
                 "--out", str(out)]) in (0, 1)  # fmt: skip
    assert f"wrote {out}/report.html: 1 pairs" in capsys.readouterr().err
    assert opens_on(out / "report.html") == "#/source/0"
    blocks = documents_of(out / "report.html")["source/0/tab/report"]
    assert [block["block"] for block in blocks[:2]] == ["Prose", "Grid"]
    pictures = [block for block in blocks if block["block"] == "Picture"]
    assert len(pictures) == len(list(out.glob("mend-*.png")))
    for block in pictures:
        assert block["data"].startswith("data:image/png;base64,")
        assert block["note"].startswith("1. ")
    assert (out / "report.md").read_text().startswith("# Ways to mend\n")
