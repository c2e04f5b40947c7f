"""The independent checker: it lets the good through and rejects every corruption, as does
``navloom validate``; and neither leans on what makes tasks."""

import ast
import copy
import json
from pathlib import Path

import pytest

import navloom.evals
from navloom.evals.navcraft.validate import check_file
from tests.evals import tiny
from tests.evals.navcraft import checker
from tests.evals.navcraft.corruptions import CORRUPTIONS

_VALIDATE = ("best", "claim", "ground", "rates", "rules")
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
    result = check_file(file, tiny.scene_file(tmp_path))
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


def test_validate_shares_nothing_with_generation_but_the_scene_loaders():
    folder = Path(navloom.evals.__file__).parent
    own = {f"navloom.evals.navcraft.{name}" for name in _VALIDATE}
    own.add("navloom.evals.scene_names")
    allowed = own | {"navloom.errors", "navloom.scenes.scene", "navloom.scenes.uri"}
    for name in ("navcraft/validate", "scene_names", *(f"navcraft/{each}" for each in _VALIDATE)):
        ours = {each for each in _imports(folder / f"{name}.py") if each.startswith("navloom")}
        assert ours <= allowed, name
