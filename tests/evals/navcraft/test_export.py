"""Export: only valid tasks, a form that never varies, whole or not at all."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import RunError, UsageError
from navloom.evals.navcraft.dataset_check import check_dataset
from navloom.evals.navcraft.export import _plain, export_lines, export_run
from tests.evals import tiny


def _samples() -> list:
    return [
        tiny.sample(tiny.relay_a2(), 2, seconds=9.9, cost_usd=0.5),
        tiny.failed("tiny-home-0003", "out_of_turns"),
        tiny.sample(tiny.single(), 0),
        tiny.sample(tiny.relay_a1(), 1),
    ]


def test_a_collab_run_gives_its_relays_and_a_single_run_its_tasks(tmp_path):
    collab = tiny.run_folder(tmp_path / "c", _samples())
    assert [line["navloom"]["id"] for line in export_lines(collab)] == [
        "tiny-home-0001",
        "tiny-home-0002",
    ]
    single = tiny.run_folder(tmp_path / "s", [tiny.sample(tiny.single(), 0)], kind="single")
    (line,) = export_lines(single)
    assert line["phase_2"] is None


def test_what_is_exported_validates(tmp_path):
    run = tiny.run_folder(tmp_path / "run", _samples())
    assert export_run(run, tmp_path / "tasks.jsonl") == 2
    result = check_dataset(tmp_path / "tasks.jsonl", tiny.scene_file(tmp_path))
    assert result.summary == "2 tasks: 2 valid"


def test_a_line_has_the_papers_keys_in_their_order_and_tells_no_time(tmp_path):
    run = tiny.run_folder(tmp_path / "run", _samples())
    line = export_lines(run)[0]
    assert list(line) == ["scene", "profile", "phase_1", "phase_2", "navloom"]
    assert list(line["phase_1"]) == list(tiny.relay_a1()["phase_1"])
    assert list(line["phase_2"]) == list(tiny.relay_a1()["phase_2"])
    assert list(line["navloom"])[:4] == ["id", "seed", "model", "tau"]
    assert line["navloom"]["model"] == "builtin/heuristic"
    assert not {"seconds", "cost_usd", "usage", "attempt", "created"} & set(line["navloom"])


def test_the_order_of_samples_and_what_they_took_change_no_byte(tmp_path):
    one = tiny.run_folder(tmp_path / "one", _samples())
    other = [dict(reversed(sample.items())) | {"seconds": 77.0} for sample in _samples()[::-1]]
    for sample in other:
        if sample["result"]:
            rest = sample["result"]["navloom"]
            sample["result"] = copy.deepcopy(sample["result"])
            sample["result"]["navloom"] = dict(reversed(rest.items()))
    two = tiny.run_folder(tmp_path / "two", other)
    with (two / "samples.jsonl").open("a") as file:
        file.write('{"id": "torn-by-a-ki')
    export_run(one, tmp_path / "one.jsonl")
    export_run(two, tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_floats_are_rounded_once_and_for_all(value):
    once = _plain({"a": [value]})["a"][0]
    assert abs(once - value) <= 5.1e-7 or abs(value) > 1e9
    assert _plain(once) == once
    assert not str(once).startswith("-0.0") or once != 0


def test_a_run_without_a_task_gives_an_empty_file(tmp_path):
    run = tiny.run_folder(tmp_path / "run", [tiny.failed("a", "out_of_turns")])
    assert export_run(run, tmp_path / "none.jsonl") == 0
    assert (tmp_path / "none.jsonl").read_bytes() == b""


def test_what_cannot_be_written_leaves_what_was_there(tmp_path):
    run = tiny.run_folder(tmp_path / "run", _samples())
    (tmp_path / "keep.jsonl").write_text("kept\n")
    broken = _samples()
    del broken[3]["result"]["phase_1"]["Target object"]
    bad = tiny.run_folder(tmp_path / "bad", broken)
    with pytest.raises(RunError, match="tiny-home-0001"):
        export_run(bad, tmp_path / "keep.jsonl")
    assert (tmp_path / "keep.jsonl").read_text() == "kept\n"
    with pytest.raises(RunError, match="lies in one"):
        export_run(run, tmp_path / "keep.jsonl" / "folder.jsonl")
    assert not list(tmp_path.glob(".*"))


def test_users_mistakes_are_said_plainly(tmp_path):
    run = tiny.run_folder(tmp_path / "run", _samples())
    with pytest.raises(UsageError, match="navcraft"):
        export_run(run, tmp_path / "x.jsonl", format="navcarft")
    with pytest.raises(UsageError, match="is a folder"):
        export_run(run, tmp_path)
    with pytest.raises(RunError, match="is not a run"):
        export_run(tmp_path / "nowhere", tmp_path / "x.jsonl")


def test_lines_are_json_of_one_line_each(tmp_path):
    samples = _samples()
    samples[3]["profile"] = {"Occupation": "line\nbreak \u2028 \ud800"}
    run = tiny.run_folder(tmp_path / "run", samples)
    export_run(run, tmp_path / "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text().splitlines()
    assert [json.loads(line)["scene"] for line in lines] == ["tiny:home", "tiny:home"]
