"""Test videos with one second of each colour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

RATE = 10


def write_video(av: Any, path: Path, colours: Sequence[tuple[int, int, int]]) -> Path:
    """Write an MP4 in which each colour fills the frame for one second, one after another."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for colour in colours:
            picture = np.full((48, 64, 3), colour, dtype=np.uint8)
            for _ in range(RATE):
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path
