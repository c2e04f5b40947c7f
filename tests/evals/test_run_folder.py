"""The run folder: what is on disk, what is refused, what a kill leaves."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom import files as lines_module
from navloom.errors import RunError
from navloom.evals.run_folder import RunFolder, read_errors, read_run, read_samples
from navloom.evals.session import attempt_id, check_sample_id, sample_seed
from navloom.files import JsonlFile, read_lines
from tests.evals.lines import checked


def folder(path: Path, *, seed: int = 1, kind: str = "single", **request: Any) -> RunFolder:
    return RunFolder(path, kind=kind, request={"spec": "demo:", "n": 4, **request}, seed=seed)


def line(name: str, status: str = "ok", **more: Any) -> dict[str, Any]:
    usage = {"calls": 1, "input_tokens": 3, "output_tokens": 2}
    return {"id": name, "status": status, "usage": usage, "cost_usd": 0.5, "seconds": 1.0, **more}


def one(error: pytest.ExceptionInfo[RunError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


# --- run.json ------------------------------------------------------------------------------------


def test_run_json_says_what_was_asked_and_by_what(tmp_path: Path) -> None:
    with folder(tmp_path / "a" / "r", tau=3):
        pass
    said = read_run(tmp_path / "a" / "r")
    assert said["request"] == {"spec": "demo:", "n": 4, "tau": 3}
    assert said["kind"] == "single"
    assert said["seed"] == 1
    assert said["versions"]["python"].startswith("3.")
    assert said["versions"]["langgraph"]
    assert {"navloom", "created", "git", "request_hash"} <= said.keys()


def test_the_same_request_goes_on_and_run_json_is_left_alone(tmp_path: Path) -> None:
    with folder(tmp_path) as first:
        first.add_sample(line("a-1"))
    before = (tmp_path / "run.json").read_bytes()
    with folder(tmp_path) as again:
        assert again.finished == {"a-1"}
    assert (tmp_path / "run.json").read_bytes() == before


def test_another_request_is_refused_and_the_keys_are_named(tmp_path: Path) -> None:
    with folder(tmp_path, model="builtin/heuristic"):
        pass
    with pytest.raises(RunError) as error:
        folder(tmp_path, model="openai/x", n=9, seed=2)
    said = one(error)
    assert 'model was "builtin/heuristic", now "openai/x"' in said
    assert "n was 4, now 9" in said
    assert "seed was 1, now 2" in said
    assert "spec" not in said
    assert "--out" in said


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"request": 1}', '{"request": {}, "where": 3}', "[" * 100_000]
)
def test_a_broken_run_json_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunError) as error:
        folder(tmp_path)
    assert "run.json is broken" in one(error)


def test_a_folder_of_other_files_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(RunError) as error:
        folder(tmp_path)
    assert "thesis.tex" in one(error)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_kill_before_run_json_was_whole_leaves_a_folder_that_can_be_used(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("process 1")
    (tmp_path / ".run.json.a1b2c3").write_text('{"navl')
    with folder(tmp_path):
        assert read_run(tmp_path)["kind"] == "single"


def test_reading_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run"):
        read_samples(tmp_path / "nothing")


# --- samples and errors --------------------------------------------------------------------------


def test_samples_come_back_sorted_and_errors_stay_apart(tmp_path: Path) -> None:
    with folder(tmp_path) as run:
        for name in ("b-2", "a-1", "b-1"):
            run.add_sample(line(name))
        run.add_error(line("c-1", "error"))
        assert run.tally.counts == {"ok": 3, "error": 1}
        assert run.tally.usage["input_tokens"] == 12
        assert run.tally.cost_usd == 2.0
        # On disk at once, for any reader, while the run is open.
        assert [s["id"] for s in read_samples(tmp_path)] == ["a-1", "b-1", "b-2"]
        assert [s["id"] for s in read_errors(tmp_path)] == ["c-1"]


def test_an_id_cannot_be_there_twice(tmp_path: Path) -> None:
    with folder(tmp_path) as run:
        run.add_sample(line("a-1"))
        with pytest.raises(RunError, match="twice"):
            run.add_sample(line("a-1"))
    with folder(tmp_path) as run, pytest.raises(RunError, match="twice"):
        run.add_sample(line("a-1"))
    assert len(read_samples(tmp_path)) == 1
    with (tmp_path / "samples.jsonl").open("a") as file:
        file.write(checked(tmp_path, line("a-1")))
    for reader in (lambda: folder(tmp_path), lambda: read_samples(tmp_path)):
        with pytest.raises(RunError, match="twice"):
            reader()


def test_an_unknown_price_makes_the_sum_unknown(tmp_path: Path) -> None:
    with folder(tmp_path) as run:
        run.add_sample(line("a-1"))
        run.add_sample(line("a-2", cost_usd=None))
        run.add_sample(line("a-3"))
        assert run.tally.cost_usd is None


def test_a_torn_line_is_moved_aside_and_never_parsed(tmp_path: Path) -> None:
    with folder(tmp_path) as run:
        run.add_sample(line("a-1"))
    whole = json.dumps(line("a-2")).encode()  # all of it but the newline
    with (tmp_path / "samples.jsonl").open("ab") as file:
        file.write(whole)
    assert [s["id"] for s in read_samples(tmp_path)] == ["a-1"]
    with folder(tmp_path) as run:
        assert run.finished == {"a-1"}
        run.add_sample(line("a-2", "failed"))
    assert [s["status"] for s in read_samples(tmp_path)] == ["ok", "failed"]
    assert (tmp_path / "torn.txt").read_bytes() == whole + b"\n"


@given(cut=st.integers(0, 400), names=st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_a_file_cut_anywhere_keeps_its_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, cut: int, names: list[str]
) -> None:
    path = tmp_path_factory.mktemp("cut") / "s.jsonl"
    with JsonlFile(path) as file:
        for name in names:
            file.append({"id": name, "text": "é\n\u2028"})
    data = path.read_bytes()[:cut]
    path.write_bytes(data)
    with JsonlFile(path) as file:
        assert len(file.ids) == data.count(b"\n")
        for name in set(names) - file.ids:
            file.append({"id": name, "text": "again"})
    assert {r["id"] for r in read_lines(path)} == set(names)


@pytest.mark.parametrize("bad", [b"not json\n", b"[1]\n", b'{"id": 3}\n', b"\x00\xff\n", b"\n"])
def test_a_broken_whole_line_is_refused_with_its_number(tmp_path: Path, bad: bytes) -> None:
    with folder(tmp_path) as run:
        run.add_sample(line("a-1"))
    with (tmp_path / "samples.jsonl").open("ab") as file:
        file.write(bad)
    for reader in (lambda: folder(tmp_path), lambda: read_samples(tmp_path)):
        with pytest.raises(RunError, match="line 2"):
            reader()


def test_half_a_surrogate_pair_survives(tmp_path: Path) -> None:
    with folder(tmp_path) as run:
        run.add_sample(line("a-1", message="bad \ud800 half, 厨房"))
    assert read_samples(tmp_path)[0]["message"] == "bad \ud800 half, 厨房"
    (tmp_path / "samples.jsonl").read_bytes().decode("utf-8")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object()])
def test_what_is_not_json_is_refused_and_leaves_nothing(tmp_path: Path, value: Any) -> None:
    with folder(tmp_path) as run:
        with pytest.raises((TypeError, ValueError)):
            run.add_sample(line("a-1", result=value))
        run.add_sample(line("a-1"))
    assert len(read_samples(tmp_path)) == 1


def test_errors_are_tried_again_only_when_asked(tmp_path: Path) -> None:
    with folder(tmp_path) as run:
        run.add_error(line("a-1", "error"))
    with folder(tmp_path) as run:
        assert run.error_ids == {"a-1"}
        assert run.retry_errors() == 1
        assert run.error_ids == set()
        assert run.tally.counts == {}
        assert run.retry_errors() == 0
        run.add_error(line("a-1", "error"))
    assert len(read_errors(tmp_path)) == 1
    assert len(list(read_lines(tmp_path / "errors-retried.jsonl"))) == 1


# --- a disk that will not take it ----------------------------------------------------------------


def test_a_full_disk_in_the_middle_of_a_line_leaves_the_lines_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with folder(tmp_path) as run:
        run.add_sample(line("a-1"))
        real = os.write

        def full(fd: int, data: bytes) -> int:
            if len(data) <= 10:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(fd, data[:-10])

        monkeypatch.setattr(lines_module.os, "write", full)
        with pytest.raises(RunError) as error:
            run.add_sample(line("a-2"))
        assert "No space left" in one(error)
        monkeypatch.undo()
        run.add_sample(line("a-2"))  # there is space again
    assert [s["id"] for s in read_samples(tmp_path)] == ["a-1", "a-2"]
    assert not (tmp_path / "torn.txt").exists()


def test_a_real_limit_of_the_file_system(tmp_path: Path) -> None:
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from navloom.errors import RunError\n"
        "from navloom.evals.run_folder import RunFolder\n"
        "run = RunFolder(Path(sys.argv[1]), kind='x', request={}, seed=0)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "try:\n"
        "    for i in range(100): run.add_sample({'id': f's{i:03d}', 'text': 'x' * 200})\n"
        "except RunError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("cannot write to ")
    assert "File too large" in done.stdout
    kept = read_samples(tmp_path)
    assert [s["id"] for s in kept] == [f"s{i:03d}" for i in range(len(kept))]
    assert 10 <= len(kept) <= 13
    assert (tmp_path / "samples.jsonl").read_bytes().endswith(b"\n")


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: Any, **__: Any) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(RunError) as error:
        folder(tmp_path / "r")
    assert os.strerror(number) in one(error)


@pytest.mark.parametrize("below", ["", "r"])
def test_a_path_that_is_a_file(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RunError) as error:
        folder(tmp_path / "file" / below)
    assert str(tmp_path / "file") in one(error)
    assert (tmp_path / "file").read_text() == "mine"


# --- two at once ---------------------------------------------------------------------------------


def test_a_folder_in_use_is_refused_and_says_by_whom(tmp_path: Path) -> None:
    with folder(tmp_path):
        with pytest.raises(RunError) as error:
            folder(tmp_path)
        assert f"in use by process {os.getpid()} on " in one(error)
    with folder(tmp_path):
        pass


def test_a_folder_that_was_refused_is_not_kept_locked(tmp_path: Path) -> None:
    with folder(tmp_path):
        pass
    (tmp_path / "samples.jsonl").write_bytes(b"bad\n")
    with pytest.raises(RunError, match="line 1"):
        folder(tmp_path)
    (tmp_path / "samples.jsonl").write_bytes(b"")
    with folder(tmp_path):
        pass


# --- ids and seeds -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../a", "a:b", "a b", "a\n", "-x", "x" * 201]
)
def test_ids_that_are_no_file_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError, match="sample id"):
        check_sample_id(name)
    with folder(tmp_path) as run, pytest.raises(RunError, match="sample id"):
        run.add_sample(line(name))


def test_ids_of_attempts_sort_by_scene_and_number() -> None:
    assert attempt_id("hm3d:00006-HkseAnWCgqk", 3) == "hm3d-00006-HkseAnWCgqk-00003"
    names = [attempt_id("demo:flat", number) for number in range(0, 2000, 7)]
    assert names == sorted(names)
    assert attempt_id("../../etc/passwd", 0) == "etc-passwd-00000"


def test_seeds_depend_on_run_and_id_and_nothing_else() -> None:
    # printf '7:demo-flat-00000' | b2sum -l 48
    assert sample_seed(7, "demo-flat-00000") == 0xD3B2E2AB357A
    seeds = {sample_seed(run, f"s{i}") for run in range(3) for i in range(500)}
    assert len(seeds) == 1500
    assert all(0 <= seed < 2**48 for seed in seeds)
