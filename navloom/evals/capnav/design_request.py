"""What a synthesis of CapNav questions is asked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.request import made_again, read_fields
from navloom.graphs.capnav.designer_text import COMPACT_PROMPT, PROMPT, guideline_record
from navloom.prompts.load import load_prompt
from navloom.tools.capnav.questions import MOST_QUESTIONS

__all__ = ["KIND", "CapnavSynthRequest"]

KIND = "capnav_tasks"
_MOST = 1_000_000
_MOST_FRAMES = 512


@dataclass(frozen=True, kw_only=True)
class CapnavSynthRequest:
    """Everything the outcome depends on."""

    spec: str
    """Which scenes, as :func:`navloom.scenes.uri.list_scenes` takes them."""
    n: int
    """Accepted questions in all, spread evenly over scenes."""
    model: str = "builtin/heuristic"
    min_questions: int = 5
    """Questions that one conversation is asked for."""
    balance: bool = False
    """Ask for routes whose truth is rare so far."""
    video: str | None = None
    """A folder of ``ID.mp4``; where a scene has one, frames of it are shown."""
    frames: int = 16
    compact: bool = False
    """One question at a time in small choices, for small models."""
    constrain: bool = True
    precise_repairs: bool = True
    seed: int = 0
    max_turns: int = 12
    max_repairs: int = 3
    max_rounds: int = 3
    """Sessions of asking: after the first, only for what is missing yet."""

    def __post_init__(self) -> None:
        for name, least, most in (
            ("n", 1, _MOST),
            ("min_questions", 1, MOST_QUESTIONS),
            ("frames", 1, _MOST_FRAMES),
            ("max_turns", 1, _MOST),
            ("max_repairs", 0, _MOST),
            ("max_rounds", 1, 100),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise UsageError(f"{name} is {value}: expected {least} to {most}")

    @classmethod
    def read(cls, run: Path | str) -> CapnavSynthRequest:
        """The request that made a run, from its ``run.json``.

        Raises:
            RunError: the folder is no run, or none of questions.
        """
        beside = frozenset({"prompts", "guideline", "videos"})
        given = read_fields(run, cls, kinds=(KIND,), command="synth capnav", beside=beside)
        return made_again(run, cls, given)

    def record(self) -> dict[str, Any]:
        """The request as ``run.json`` keeps it, with the texts it will use; no folder of videos."""
        asked = {key: value for key, value in asdict(self).items() if key != "video"}
        texts: dict[str, Any] = {"prompts": [load_prompt(self.prompt).record]}
        if not self.compact:
            texts["guideline"] = guideline_record()
        return {**asked, **texts}

    @property
    def prompt(self) -> str:
        """Which prompt it asks with."""
        return COMPACT_PROMPT if self.compact else PROMPT

    def where(self) -> dict[str, str]:
        """Where this machine has what the request names by its content."""
        return {} if self.video is None else {"video": str(Path(self.video).absolute())}
