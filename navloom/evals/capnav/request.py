"""What an evaluation on CapNav is asked to be, and what of it decides the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from navloom.errors import UsageError
from navloom.evals.capnav.data import Benchmark
from navloom.evals.kinds import Request
from navloom.evals.video import MOST_FRAMES, video_digest
from navloom.graphs.capnav.answering import PROMPT
from navloom.prompts.load import load_prompt


@dataclass(frozen=True, kw_only=True)
class CapnavRequest(Request):
    """Everything the outcome of an evaluation depends on, and where its files are."""

    KIND: ClassVar[str] = "capnav"
    PLACES: ClassVar[Sequence[str]] = ("data", "bodies", "videos")
    DERIVED: ClassVar[frozenset[str]] = frozenset({"prompts", "questions", "video_files"})
    RANGES: ClassVar[Mapping[str, tuple[int, int]]] = {
        "frames": (1, MOST_FRAMES),
        "max_reasks": (0, 100),
    }

    data: str
    """The benchmark's folder."""
    model: str = "builtin/heuristic"
    judge_model: str | None = None
    """Grades the reasons of a "no"; None leaves reasoning validity unscored."""
    scenes: tuple[str, ...] | None = None
    """Only these; all unless given."""
    bodies: str | None = None
    """A JSON file of profiles in place of the benchmark's own."""
    videos: str | None = None
    """A folder with ``ID.mp4`` a scene; without it models get text alone."""
    frames: int = 64
    """Of each video, evenly spaced."""
    thinking: bool = False
    constrain: bool = True
    max_reasks: int = 1
    partial: bool = False
    """Credit a reason for the share of barriers that it names."""
    keep_hallucinated: bool = False
    """Ask the questions, too, that the annotators struck out."""
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.partial and self.judge_model is None:
            raise UsageError("partial credit is the judge's: give --model-role judge=… too")

    @property
    def models(self) -> Sequence[str]:
        """Who answers, and the judge where there is one."""
        return [each for each in (self.model, self.judge_model) if each is not None]

    def record(self) -> dict[str, Any]:
        """As ``run.json`` keeps it, without what decides nothing."""
        asked = super().record()
        if self.videos is None:
            asked.pop("frames")
        if self.scenes is not None:
            asked["scenes"] = sorted(self.scenes)
        prompts = [PROMPT, *(["judge_reasoning"] if self.judge_model else [])]
        return {**asked, "prompts": [load_prompt(name).record for name in prompts]}


def content_of(benchmark: Benchmark, videos: Mapping[str, Path]) -> dict[str, Any]:
    """What decides the outcome besides the request's own words, by content."""
    whole = sha256()
    for question in benchmark.questions:
        whole.update(repr(question).encode(errors="surrogatepass"))
    for name, table in benchmark.traversability.items():
        said = (name, table.nodes, table.names, table.edges, sorted(_cells(table.cells)))
        whole.update(repr(said).encode(errors="surrogatepass"))
    for body in benchmark.bodies:
        whole.update(body.model_dump_json().encode())
    count = {"count": len(benchmark.questions), "sha256": whole.hexdigest()}
    if not videos:
        return {"questions": count}
    seen = sha256()
    for name, path in sorted(videos.items()):
        seen.update(name.encode() + b"\0" + bytes.fromhex(video_digest(path)))
    files = {"count": len(videos), "sha256": seen.hexdigest()}
    return {"questions": count, "video_files": files}


def _cells(cells: Mapping[str, Mapping[tuple[str, str], Any]]) -> list[str]:
    return [repr((b, p, c.traversable, c.note)) for b, of in cells.items() for p, c in of.items()]


def videos_of(benchmark: Benchmark, folder: str | None) -> dict[str, Path]:
    """The videos there are, by scene.

    Raises:
        UsageError: there is no such folder.
    """
    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise UsageError(f"--videos {folder}: expected a folder with ID.mp4 for each scene")
    named = {name: Path(folder) / f"{name}.mp4" for name in benchmark.scenes}
    return {name: path for name, path in named.items() if path.is_file()}
