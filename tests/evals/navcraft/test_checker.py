"""The independent checker: it lets the good through and rejects every corruption, as does
``navloom validate``, which asks what makes tasks: the checker is what keeps both honest."""

import ast
import copy
import json
from pathlib import Path

import pytest

from navloom.evals.navcraft.dataset_check import check_dataset
from tests.evals import tiny
from tests.evals.navcraft import checker
from tests.evals.navcraft.corruptions import CORRUPTIONS

SCENE = json.loads(tiny.home().model_dump_json())


def test_there_are_at_least_thirty_corruptions():
    assert len(CORRUPTIONS) >= 30


@pytest.mark.parametrize("make", [tiny.single, tiny.relay_a1, tiny.relay_a2])
def test_the_checker_accepts_what_is_right(make):
    assert checker.check(make(), SCENE) == []


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_the_checker_and_validate_reject_each_corruption(name, tmp_path):
    row = copy.deepcopy(tiny.relay_a1())
    CORRUPTIONS[name](row)
    assert checker.check(row, SCENE) != []
    file = tiny.write_rows(tmp_path / "tasks.jsonl", [tiny.relay_a1(), row])
    # The spoilt row has an id of its own, or it would be rejected for that alone.
    text = file.read_text().splitlines()
    second = json.loads(text[1])
    second["navloom"]["id"] = "other"
    tiny.write_rows(file, [tiny.relay_a1(), second])
    result = check_dataset(file, tiny.scene_file(tmp_path))
    assert (result.tasks, result.valid) == (2, 1)
    assert {finding.line for finding in result.findings} == {2}


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_the_checker_imports_nothing_of_ours():
    assert _imports(Path(checker.__file__)) == {"itertools", "math", "re"}


@pytest.mark.parametrize("make", [tiny.relay_a1, tiny.relay_a2])
@pytest.mark.parametrize("by", [-0.05, 0.002])
@pytest.mark.parametrize("key", ["best_alpha", "best_g_rate", "regret_alpha", "regret_g"])
def test_the_checker_and_validate_search_for_the_best(make, key, by, tmp_path):
    row = make()
    rest = row["navloom"]
    rest[key] += by
    if key == "best_alpha":
        rest["regret_alpha"] = rest["alpha"] - rest[key]
    elif key == "best_g_rate":
        rest["regret_g"] = rest["g_rate"] / rest[key] - 1
    assert len(checker.check(row, SCENE)) == 1
    found = check_dataset(tiny.write_rows(tmp_path / "t.jsonl", [row]), tiny.scene_file(tmp_path))
    assert [finding.where for finding in found.findings] == [f'navloom "{key}"']


def test_the_checker_and_validate_hold_the_helper_to_the_stricter_rule(tmp_path):
    row = tiny.relay_a1()
    row["navloom"]["strict_helper"] = True
    assert "next to the target or the transfer region" in checker.check(row, SCENE)[0]
    found = check_dataset(tiny.write_rows(tmp_path / "t.jsonl", [row]), tiny.scene_file(tmp_path))
    assert found.valid == 0


def _spoilt(row, other, number):
    """A row with one part of another, or one number that is off."""
    parts = [("phase_1", key) for key in row["phase_1"]]
    parts += [("phase_2", key) for key in row["phase_2"]]
    parts += [("navloom", key) for key, value in row["navloom"].items() if key in NUMBERS]
    part, key = parts[number % len(parts)]
    spoilt = copy.deepcopy(row)
    spoilt[part][key] = row[part][key] + 0.01 if part == "navloom" else other[part][key]
    return spoilt


NUMBERS = (
    "solo_metres",
    "alpha",
    "alpha_other",
    "r1_rate",
    "g_rate",
    "gain_alpha",
    "gain_g",
    "best_alone",
    "best_alpha",
    "best_g_rate",
    "regret_alpha",
    "regret_g",
)


@pytest.mark.slow
def test_the_checker_and_validate_agree_on_spoilt_tasks_of_a_demo_home(tmp_path):
    from navloom.evals.navcraft.export import export_lines
    from navloom.evals.navcraft.request import SynthRequest
    from navloom.evals.runner import run_request
    from navloom.scenes.scene_uri import load_scene

    asked = SynthRequest(kind="collab", spec="demo:house", n=8, seed=11)
    run_request(asked, tmp_path / "run")
    rows = export_lines(tmp_path / "run")
    scene = json.loads(load_scene("demo:house").model_dump_json())
    verdicts = {True: 0, False: 0}
    for number in range(46):
        row, other = rows[number % len(rows)], rows[(number * 3 + 1) % len(rows)]
        spoilt = _spoilt(row, other, number)
        good = checker.check(spoilt, scene) == []
        found = check_dataset(tiny.write_rows(tmp_path / "one.jsonl", [spoilt]))
        assert (found.findings == ()) is good, spoilt
        verdicts[good] += 1
    assert verdicts[False] > 20
