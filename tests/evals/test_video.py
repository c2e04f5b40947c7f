"""Frames of a video: which, how large, and what is refused."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from navloom.errors import DataError, UsageError
from navloom.evals import video
from navloom.evals.video import sample_frames


def film(path: Path, frames: int, *, fps: int = 10, size: tuple[int, int] = (160, 96)) -> Path:
    """A video whose k-th frame is of brightness 10 + 4 k."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=fps)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for k in range(frames):
            picture = np.full((size[1], size[0], 3), min(250, 10 + 4 * k), np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def brightness(jpeg: bytes) -> float:
    return float(np.asarray(Image.open(BytesIO(jpeg)).convert("L")).mean())


def shown(jpegs: list[bytes]) -> list[int]:
    return [round((brightness(jpeg) - 10) / 4) for jpeg in jpegs]


def test_frames_are_evenly_spaced_and_in_order(tmp_path: Path) -> None:
    file = film(tmp_path / "tour.mp4", 40)
    for n in (1, 4, 8, 40):
        found = shown(sample_frames(file, n))
        wanted = [(k + 0.5) * 40 / n for k in range(n)]
        assert len(found) == n
        assert np.abs(np.array(found) - wanted).max() <= 1.6
        assert found == sorted(found)


def test_a_video_with_fewer_frames_gives_each_once(tmp_path: Path) -> None:
    found = shown(sample_frames(film(tmp_path / "short.mp4", 5), 64))
    assert found == [0, 1, 2, 3, 4]


def test_a_stream_that_does_not_say_how_long_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video, "_seconds", lambda *_: None)
    found = shown(sample_frames(film(tmp_path / "t.mp4", 30), 3))
    assert np.abs(np.array(found) - [5, 15, 25]).max() <= 1


def test_large_frames_are_made_smaller(tmp_path: Path) -> None:
    file = film(tmp_path / "large.mp4", 3, size=(1280, 640))
    (frame,) = sample_frames(file, 1)
    assert frame[:3] == b"\xff\xd8\xff"
    assert Image.open(BytesIO(frame)).size == (512, 256)


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video at all" * 100)
    with pytest.raises(DataError, match=r"broken\.mp4: no video that can be read"):
        sample_frames(broken, 4)
    with pytest.raises(DataError, match=r"nothere\.mp4: there is no such video"):
        sample_frames(tmp_path / "nothere.mp4", 4)
    with pytest.raises(DataError, match="expected a video of at most"):
        sample_frames(tmp_path, 4)
    with pytest.raises(UsageError, match="0 frames: expected 1 to 512"):
        sample_frames(broken, 0)
    sound = tmp_path / "sound.wav"
    with av.open(str(sound), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), "s16", "mono")
        frame.sample_rate = 8000
        for packet in [*stream.encode(frame), *stream.encode()]:
            container.mux(packet)
    with pytest.raises(DataError, match="found no picture in it"):
        sample_frames(sound, 2)
    long = film(tmp_path / "long.mp4", 3)
    monkeypatch.setattr(video, "_MOST_SECONDS", 0)
    with pytest.raises(DataError, match="at most 0 s are read"):
        sample_frames(long, 2)
    for error in (broken, long):
        with pytest.raises(DataError) as caught:
            sample_frames(error, 2)
        assert "\n" not in str(caught.value)


def test_without_pyav_one_line_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(name: str, *more: Any) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(video, "import_module", gone)
    with pytest.raises(UsageError, match=r"pip install 'navloom\[video\]'"):
        sample_frames(tmp_path / "any.mp4", 4)
