"""Video files of tours: writing frame by frame, and sampling frames for a model.

PyAV (the ``video`` extra) encodes and decodes. A video to be read is untrusted, so its length,
the size of its frames and the output are bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import file_digest
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from navloom.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

MOST_FRAMES = 512
LONGEST_SIDE = 512
"""Maximum longer side of a returned frame in pixels; larger frames are scaled down."""
_MOST_BYTES = 4_000_000_000
_MOST_SECONDS = 7_200
_MOST_PIXELS = 8_192 * 8_192
_QUALITY = 85


def video_digest(path: Path) -> str:
    """Return the SHA-256 of a video in hex, read block by block.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error


def check_pyav() -> None:
    """Check that PyAV is installed.

    Raises:
        UsageError: PyAV is not installed; one line that names the extra.
    """
    _av()


def write_video(path: Path, frames: Iterable[NDArray[np.uint8]], rate: int) -> int:
    """Write an MP4 file (H.264) atomically.

    Args:
        path: the output file; its folder is created.
        frames: (height, width, 3) uint8 each, all of one size; height and width even.
        rate: frames per second.

    Returns:
        The number of frames.

    Raises:
        UsageError: PyAV is not installed, or the file cannot be written.
        DataError: there is no frame.
    """
    av, count = _av(), 0
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with av.open(str(part), "w", format="mp4") as container:
            stream = container.add_stream("libx264", rate=rate)
            stream.options = {"crf": "23", "preset": "veryfast"}
            stream.pix_fmt = "yuv420p"
            for pixels in frames:
                if not count:
                    stream.height, stream.width = pixels.shape[:2]
                container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
                count += 1
            if not count:
                raise DataError(f"{path}: there is no frame to write")
            container.mux(stream.encode())
        part.replace(path)
    except (OSError, av.error.FFmpegError) as error:
        said = " ".join(str(error).split())[:200]
        raise UsageError(f"{path}: cannot be written: {said}") from error
    finally:
        part.unlink(missing_ok=True)
    return count


def sample_frames(path: Path | str, n: int) -> list[bytes]:
    """Return evenly spaced frames of a video as JPEG files.

    Args:
        path: the video.
        n: number of frames, 1 to ``MOST_FRAMES``; a shorter video gives all its frames.

    Returns:
        JPEG files, in the order of the video.

    Raises:
        DataError: the file is missing, no video, too large or too long.
        UsageError: PyAV is not installed, or ``n`` makes no sense.
    """
    if not 1 <= n <= MOST_FRAMES:
        raise UsageError(f"{n} frames: expected 1 to {MOST_FRAMES}")
    av, where = _av(), Path(path)
    try:
        size = where.stat().st_size
    except OSError as error:
        raise DataError(f"{where}: there is no such video: {error.strerror}") from error
    if not where.is_file() or size > _MOST_BYTES:
        raise DataError(f"{where}: expected a video of at most {_MOST_BYTES:,} bytes")
    try:
        with av.open(str(where)) as container:
            if not container.streams.video:
                raise DataError(f"{where}: expected a video, found no picture in it")
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            drawn = _evenly(container, stream, n, where)
            frames = [_jpeg(frame, LONGEST_SIDE, where) for frame in drawn]
    except av.error.FFmpegError as error:
        said = " ".join(str(error).split())[:200]
        raise DataError(f"{where}: no video that can be read: {said}") from error
    if not frames:
        raise DataError(f"{where}: the video holds no frame")
    return frames


def _av() -> Any:
    try:
        av = import_module("av")
        import_module("av.error")
    except ImportError as error:
        raise UsageError(
            "frames of a video need PyAV: pip install 'navloom[video]', or leave --videos out"
        ) from error
    return av


def _evenly(container: Any, stream: Any, n: int, path: Path) -> Iterator[Any]:
    """Yield the frames at the middles of n equal parts of the video, each once."""
    seconds = _seconds(container, stream)
    if seconds is None:
        yield from _of_all(container, stream, n)
        return
    if seconds > _MOST_SECONDS:
        raise DataError(
            f"{path}: the video is {seconds:.0f} s long; at most {_MOST_SECONDS} s are read"
        )
    begin, given, shown, frame = float((stream.start_time or 0) * stream.time_base), 0, True, None
    stays = float(1 / stream.average_rate) if stream.average_rate else 0.0
    for frame in container.decode(stream):
        until = (frame.time or 0.0) - begin + stays
        due = min(n, max(given, int(until * n / seconds + 0.5) if seconds else n))
        shown = due > given
        if shown:
            given = due
            yield frame
        if given == n:
            return
    if not shown:
        # The video is shorter than its header says.
        yield frame


def _of_all(container: Any, stream: Any, n: int) -> Iterator[Any]:
    """Yield n evenly spaced frames of a stream of unknown length, counting frames first."""
    total = sum(1 for _ in container.decode(stream))
    container.seek(0)
    chosen = {int((k + 0.5) * total / n) for k in range(n)}
    yield from (frame for k, frame in enumerate(container.decode(stream)) if k in chosen)


def _seconds(container: Any, stream: Any) -> float | None:
    if stream.duration is not None and stream.time_base is not None:
        return float(stream.duration * stream.time_base)
    return None if container.duration is None else container.duration / 1_000_000


def _jpeg(frame: Any, longest: int, path: Path) -> bytes:
    if frame.width * frame.height > _MOST_PIXELS:
        raise DataError(f"{path}: a frame of {frame.width} x {frame.height} is too large")
    picture: Image.Image = frame.to_image()
    picture.thumbnail((longest, longest))
    out = BytesIO()
    picture.save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()
