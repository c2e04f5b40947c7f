"""A judging's pages show what people said of the same items."""

from __future__ import annotations

import json
from pathlib import Path

from navloom.evals.judging.request import JudgeRequest
from navloom.evals.people.rating_form import FormQuestion
from navloom.evals.people.results import find_studies, sample_blocks
from navloom.evals.people.study_folder import PeopleStudy, RatedItem
from navloom.evals.runner import run_request
from navloom.web.documents import Documents
from navloom.web.source_discovery import open_sources
from tests.evals.people.simulated import make_study, say
from tests.judges.paths import RIGHT, WRONG, record

RIGHT_OR_WRONG = FormQuestion.model_validate(
    {
        "name": "verdict",
        "kind": "choice",
        "text": "Is it right?",
        "options": [{"name": name, "text": name} for name in ("correct", "wrong")],
    }
)


def judged(folder: Path, n: int = 3) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [
        {"id": f"e{k}", "explanation": (RIGHT, WRONG)[k % 2], "record": record()} for k in range(n)
    ]
    (folder / "f.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run_request(JudgeRequest(of=str(folder / "f.jsonl")), folder / "run")
    return folder / "run"


def graded(folder: Path, source: str) -> PeopleStudy:
    items = [
        RatedItem(id=f"i{k}", tags={"of": f"e{k}"}, references={"judge:builtin/heuristic": {
            "verdict": ("correct", "wrong")[k % 2]}})
        for k in range(3)
    ]  # fmt: skip
    people = make_study(folder, (RIGHT_OR_WRONG,), items, 3, source)
    verdicts = dict.fromkeys(people.raters[:2], "wrong") | {people.raters[2]: "correct"}
    return say(people, [(r.name, i, {"verdict": verdicts[r.name]})
                        for r in people.file.raters for i in r.items])  # fmt: skip


def test_people_stand_beside_the_judge_on_its_pages(tmp_path: Path) -> None:
    run = judged(tmp_path)
    before = Documents(open_sources([str(run)], print)).get("source/0/sample/e0")
    graded(tmp_path / "people", "elsewhere/run")
    documents = Documents(open_sources([str(run)], print))
    blocks = documents.get("source/0/sample/e0")["blocks"]
    (beside,) = [each for each in blocks if each not in before["blocks"]]
    assert beside["table"]["rows"] == [
        ["verdict", "2 × wrong, 1 × correct", "wrong", "judge:builtin/heuristic: correct"]
    ]
    titles = [each.get("table", {}).get("title") for each in documents.get("source/0/tab/scores")]
    assert "The judge beside the people" in titles


def test_a_study_of_another_run_is_not_beside_this_one(tmp_path: Path) -> None:
    run = judged(tmp_path)
    graded(tmp_path / "people", "runs/another")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "people.json").write_text("{")
    assert find_studies(run) == ()
    assert sample_blocks(run, "e0") == []


def test_what_people_say_meanwhile_is_shown(tmp_path: Path) -> None:
    run = judged(tmp_path)
    people = graded(run / "people", str(run))
    assert "2 × wrong" in str(sample_blocks(run, "e1"))
    say(people, [(people.raters[2], "i1", {"verdict": "wrong"})])
    assert "3 × wrong" in str(sample_blocks(run, "e1"))
    assert sample_blocks(run, "nobody's") == []
