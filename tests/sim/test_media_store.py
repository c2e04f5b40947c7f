"""Pictures by the hash of what they hold."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import SimulatorError
from navloom.sim import media_store
from navloom.sim.media_store import FolderMedia, MediaStore, MemoryMedia, media_name

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
PICTURES = {
    "png": PNG,
    "jpg": b"\xff\xd8\xff\xe0jpeg",
    "gif": b"GIF89agif",
    "webp": b"RIFF\x00\x00\x00\x00WEBPVP8 ",
}


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> MediaStore:
    return FolderMedia(tmp_path / "run" / "media") if request.param == "folder" else MemoryMedia()


@pytest.mark.parametrize("ending", PICTURES)
def test_what_is_put_is_got(store: MediaStore, ending: str) -> None:
    name = store.put(PICTURES[ending])
    assert name == f"{sha256(PICTURES[ending]).hexdigest()}.{ending}"
    assert store.put(PICTURES[ending]) == name
    assert store.get(name) == PICTURES[ending]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../secret.png",
        "a" * 64,
        "A" * 64 + ".png",
        "a" * 64 + ".svg",
        "a" * 64 + ".png\n",
        "/" + "a" * 63 + ".png",
        "a" * 64 + ".png/../x",
        None,
    ],
)
def test_other_names_are_refused(store: MediaStore, name: str) -> None:
    with pytest.raises(SimulatorError, match="names no picture"):
        store.get(name)


@given(st.text(max_size=80))
def test_no_text_at_all_makes_a_path(name: str) -> None:
    with pytest.raises(SimulatorError):
        FolderMedia("/").get(name)


def test_what_is_not_there_and_what_is_no_picture(store: MediaStore) -> None:
    with pytest.raises(SimulatorError):
        store.get(media_name(PNG))
    for data in (b"", b"<svg/>", b"\x89PNG"):
        with pytest.raises(SimulatorError, match="Expected a PNG"):
            store.put(data)


def test_size_is_bounded(store: MediaStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_store, "MOST_BYTES", len(PNG) - 1)
    with pytest.raises(SimulatorError, match="expected at most 13"):
        store.put(PNG)


def test_files_are_whole_and_alone(tmp_path: Path) -> None:
    store = FolderMedia(tmp_path)
    name = store.put(PNG)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    (tmp_path / name).write_bytes(PNG[:-1])
    with pytest.raises(SimulatorError, match="another hash"):
        store.get(name)
    assert store.put(PNG) == name
    assert store.get(name) == PNG, "a file that was cut short is written anew"


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SimulatorError, match="cannot be written"):
        FolderMedia(tmp_path / "file").put(PNG)


def test_memory_lets_go_of_the_oldest() -> None:
    store = MemoryMedia(most=40)
    first, second = store.put(PNG), store.put(PICTURES["jpg"])
    store.get(first)
    third = store.put(PICTURES["webp"] + b"0123456789")
    assert store.get(first) == PNG
    with pytest.raises(SimulatorError, match="no longer"):
        store.get(second)
    assert store.get(third)
