"""What is kept on disk: read again, made anew where it is broken, bounded, whole or not at all."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from navloom import disk_cache
from navloom.disk_cache import STORES, TOKEN_FILE, CacheStore, code_key, content_key
from navloom.models.response_cache import ResponseCache

BOOKS = CacheStore("books", "a book", 9_000)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(disk_cache, "_warned", set())
    return tmp_path / "books"


def never() -> Any:
    raise AssertionError("it was there already")


def save(file: IO[bytes], value: Any) -> None:
    file.write(json.dumps(value).encode())


def load(file: IO[bytes]) -> Any:
    found = json.load(file)
    if not isinstance(found, list):
        raise TypeError("not what was written")
    return found


def kept(make: Callable[[], Any], name: str = "ab12.json", on: CacheStore = BOOKS) -> Any:
    return on.kept(name, make, save, load)


def test_what_was_made_once_is_read(root: Path) -> None:
    assert kept(lambda: [1]) == kept(never) == [1]
    assert kept(lambda: [2], "cd34.json") == [2]
    assert [each.path.name for each in BOOKS.entries()] == ["ab12.json", "cd34.json"]
    assert not list(root.glob("*.tmp"))


@pytest.mark.parametrize("harm", [b"", b"[1", b"\x00" * 500, b'{"a": 1}', b"[" * 100_000])
def test_what_is_broken_is_made_anew_and_said_once(
    harm: bytes, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for value in (1, 2):
        root.mkdir(exist_ok=True)
        (root / "ab12.json").write_bytes(harm)
        with caplog.at_level(logging.WARNING, logger="navloom"):
            assert kept(lambda value=value: [value]) == [value]
    assert kept(never) == [2]
    assert len([each for each in caplog.messages if "worked out anew" in each]) == 1


def test_a_folder_that_takes_nothing_is_no_reason_to_stop(root: Path) -> None:
    root.write_text("")
    assert kept(lambda: [3]) == [3]


def test_a_store_keeps_to_its_bound_and_leaves_what_is_not_its_own(root: Path) -> None:
    root.mkdir()
    now = time.time()
    for name, when in (
        ("a.npz", 2000),
        ("b.npz", 1000),
        ("c.json.9-0.tmp", 1000),
        ("notes.txt", 1),
    ):
        (root / name).write_bytes(b"x" * 4000)
        os.utime(root / name, (when, when))
    (root / "d.json.9-1.tmp").write_bytes(b"x" * 3000)
    kept(lambda: ["y" * 1000])
    # The last one is young and half made: another process may be writing it.
    assert {each.name for each in root.iterdir()} == {
        *("a.npz", "ab12.json", "d.json.9-1.tmp", "notes.txt")
    }
    assert BOOKS.prune(now)[0] == 0
    assert BOOKS.prune(3600.0) == (1, 4000)
    assert BOOKS.prune()[0] == 2
    assert [each.name for each in root.iterdir()] == ["notes.txt"]


def test_a_process_that_writes_little_does_not_look_through_a_store_each_time(root: Path) -> None:
    large = CacheStore("large", "a book", 9_000_000)
    assert kept(lambda: ["x"], "ab12.json", large) == ["x"]
    half = large.root() / "c.json.9-0.tmp"
    half.write_bytes(b"x")
    os.utime(half, (1000, 1000))
    kept(lambda: ["x" * 1000], "cd34.json", large)
    assert half.exists()
    kept(lambda: ["x" * 200_000], "ef56.json", large)
    assert not half.exists()
    assert len(list(large.entries())) == 3


def test_what_is_used_stays_longest(root: Path) -> None:
    for name in ("ab12.json", "cd34.json"):
        kept(lambda: ["x" * 4000], name)
    os.utime(root / "ab12.json", (1000, 1000))
    os.utime(root / "cd34.json", (2000, 2000))
    kept(never, "ab12.json")
    kept(lambda: ["x" * 4000], "ef56.json")
    assert {each.path.name for each in BOOKS.entries()} == {"ab12.json", "ef56.json"}


def test_a_folder_is_filled_once_and_again_where_it_is_not_whole(root: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "page").write_text("1")

    def whole(folder: Path) -> bool:
        return (folder / "page").exists()

    folder = BOOKS.folder("ab12", fill, whole)
    assert BOOKS.folder("ab12", never, whole) == folder == root / "ab12"
    (folder / "page").unlink()
    assert (BOOKS.folder("ab12", fill, whole) / "page").read_text() == "1"

    def fails(folder: Path) -> None:
        (folder / "page").write_text("1")
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        BOOKS.folder("cd34", fails, whole)
    assert [each.path.name for each in BOOKS.entries()] == ["ab12"]
    assert BOOKS.prune() == (1, 1)


def many(seed: int) -> list[int]:
    return [kept(lambda: list(range(2000)), f"{k % 5}.json")[seed + k] for k in range(40)]


def test_two_processes_share_a_store(root: Path) -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(many, range(4))
    assert found == [list(range(seed, seed + 40)) for seed in range(4)]
    assert not list(root.glob("*.tmp"))


def test_keys_tell_contents_apart(tmp_path: Path) -> None:
    ones, file = np.ones(4), tmp_path / "a.py"
    keys = [content_key("a", "b"), content_key("ab"), content_key("a"), content_key(ones)]
    keys += [content_key(ones.reshape(2, 2)), content_key(ones.astype(np.float32))]
    assert len(set(keys)) == len(keys)
    file.write_text("1")
    before = code_key(str(tmp_path))
    file.write_text("2")
    code_key.cache_clear()
    changed = code_key(str(tmp_path))
    (tmp_path / "b.yaml").write_text("3")
    code_key.cache_clear()
    assert len({before, changed, code_key(str(tmp_path))}) == 3


def test_replies_are_kept_beside_all_that_is_ours(tmp_path: Path) -> None:
    for each in STORES:
        (tmp_path / each.name).mkdir()
    (tmp_path / TOKEN_FILE).write_text("of `navloom view`")
    assert ResponseCache(tmp_path).get("0" * 64) is None
