"""Requests of a CapNav evaluation and of a synthesis of CapNav questions."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from navloom.errors import UsageError
from navloom.evals import request
from navloom.evals.option import Opt
from navloom.evals.video import MOST_FRAMES

if TYPE_CHECKING:
    from navloom.scenes.bodies import Embodiment

_QUESTIONS = 5
"""Default number of questions of a conversation."""
Data = Annotated[
    str,
    Opt(
        "The benchmark's folder: graphs/, traverse/ and qa/, as docs/formats/capnav.md says.",
        metavar="DIR",
        env="NAVLOOM_DATA_DIR",
        shown="$NAVLOOM_DATA/capnav",
        kind=Path,
    ),
]
Scene = Annotated[
    tuple[str, ...] | None,
    Opt("Only this scene; may be given several times.", metavar="ID", shown="all"),
]
Bodies = Annotated[
    str | None,
    Opt(
        "Profiles in place of the benchmark's own; each needs annotations of its name.",
        metavar="FILE",
        kind=Path,
    ),
]
Frames = Annotated[int, Opt("Frames of each video, evenly spaced.", min=1, max=MOST_FRAMES)]


def data_folder(given: str) -> str:
    """Return the benchmark's folder: the given one, else ``$NAVLOOM_DATA/capnav``.

    Raises:
        UsageError: neither is given.
    """
    root = os.environ.get("NAVLOOM_DATA")
    if not given and not root:
        raise UsageError(
            "--data DIR: give CapNav's folder, or set NAVLOOM_DATA to the one above it"
        )
    return given or str(Path(str(root)) / "capnav")


@dataclass(frozen=True, kw_only=True)
class CapnavRequest(request.RunRequest):
    """All inputs that the outcome of an evaluation depends on, and locations of its files."""

    KIND: ClassVar[str] = "capnav"
    PLACES: ClassVar[Sequence[str]] = ("data", "bodies", "videos")
    DERIVED: ClassVar[frozenset[str]] = frozenset({"prompts", "questions", "video_files"})

    data: Data = ""
    model: request.Navigator = request.HEURISTIC
    judge_model: Annotated[str | None, Opt(role="judge")] = None
    """Judge of the reasons of a "no"; None leaves reasoning validity unscored."""
    scene: Scene = None
    bodies: Bodies = None
    videos: Annotated[
        str | None, Opt("A folder of ID.mp4; without it text alone.", metavar="DIR", kind=Path)
    ] = None
    frames: Frames = 64
    thinking: Annotated[bool, Opt("Ask for a thought before the answer.")] = False
    constrain: request.Constrain = True
    max_reasks: request.MaxReasks = 1
    partial: Annotated[bool, Opt("RV by the share of barriers that a reason names.")] = False
    keep_hallucinated: Annotated[bool, Opt("Ask questions that annotators struck out too.")] = False
    seed: request.Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "data", data_folder(self.data))
        if self.partial and self.judge_model is None:
            raise UsageError("partial credit is the judge's: give --model-role judge=… too")

    @property
    def models(self) -> Sequence[str]:
        """The answering model, and the judge if there is one."""
        return [each for each in (self.model, self.judge_model) if each is not None]

    def record(self) -> dict[str, Any]:
        """Return the entry of ``run.json``, without fields that have no effect."""
        from navloom.graphs.capnav.answerer import PROMPT
        from navloom.prompts.prompt_loader import load_prompt

        asked = super().record()
        if self.videos is None:
            asked.pop("frames")
        if self.scene is not None:
            asked["scene"] = sorted(self.scene)
        prompts = [PROMPT, *(["judge_reasoning"] if self.judge_model else [])]
        return {**asked, "prompts": [load_prompt(name).record for name in prompts]}


@dataclass(frozen=True, kw_only=True)
class CapnavSynthRequest(request.RunRequest):
    """All inputs that the outcome of a synthesis of questions depends on."""

    KIND: ClassVar[str] = "capnav_tasks"
    PLACES: ClassVar[Sequence[str]] = ("video", "qa")
    DERIVED: ClassVar[frozenset[str]] = frozenset({"prompts", "guideline", "videos"})

    spec: request.Spec
    questions: Annotated[
        int,
        Opt(
            "Accepted questions in all, shared out over the scenes evenly. What is missing after"
            " all rounds is said.",
            min=1,
            max=request.MOST,
        ),
    ] = 20
    model: request.Generator = request.HEURISTIC
    video: Annotated[
        str | None,
        Opt(
            "A folder of ID.mp4. Where a scene has a video and the model takes images, frames of it"
            " are shown.",
            metavar="DIR",
            kind=Path,
        ),
    ] = None
    frames: Frames = 16
    min_questions: Annotated[
        int,
        Opt(
            "Questions that one conversation is asked for; a model may give more.",
            min=1,
            max=50,
            shown=f"{_QUESTIONS}; 1 with --compact",
        ),
    ] = request.UNSAID
    balance: Annotated[
        bool,
        Opt(
            "Ask for routes whose truth is rare so far. That is: bodies that can and cannot,"
            " lengths, kinds of barrier."
        ),
    ] = False
    compact: Annotated[
        bool,
        Opt(
            "For small models: one route at a time, no tools. The prompt is short; the sentence is"
            " filled in, and checked like any."
        ),
    ] = False
    constrain: request.Constrain = True
    precise_repairs: bool = True
    seed: request.Seed = 0
    max_turns: request.MaxTurns = 12
    max_reasks: request.MaxReasks = 3
    max_rounds: Annotated[
        int, Opt("Rounds of asking: after the first, only for what is missing yet.", min=1, max=100)
    ] = 3
    qa: Annotated[
        str | None,
        Opt("Where the benchmark's files ID_QA.json go.", metavar="DIR", shown="OUT/qa", kind=Path),
    ] = None

    def __post_init__(self) -> None:
        if self.min_questions is None:
            object.__setattr__(self, "min_questions", 1 if self.compact else _QUESTIONS)
        super().__post_init__()

    def record(self) -> dict[str, Any]:
        """Return the entry of ``run.json``, with prompts and guideline, without locations."""
        from navloom.graphs.capnav.designer_prompt import guideline_record
        from navloom.prompts.prompt_loader import load_prompt

        texts: dict[str, Any] = {"prompts": [load_prompt(self.prompt).record]}
        if not self.compact:
            texts["guideline"] = guideline_record()
        return {**super().record(), **texts}

    @property
    def prompt(self) -> str:
        """The name of the prompt that the synthesis uses."""
        from navloom.graphs.capnav.designer_prompt import COMPACT_PROMPT, PROMPT

        return COMPACT_PROMPT if self.compact else PROMPT

    def where(self) -> dict[str, str]:
        """Return the absolute locations of the files on this machine."""
        return {name: str(Path(at).absolute()) for name, at in super().where().items()}


Truth = Literal["driven", "estimate"]


@dataclass(frozen=True)
class CapnavExportOptions:
    """Options of an export in CapNav format.

    Attributes:
        truth: source of the traversability.
        bodies: the bodies.
        questions: maximum number of questions of each scene.
        seed: seed of random choices in the questions.
        tours: whether to film a tour of each scene.
    """

    truth: Annotated[
        Truth,
        Opt(
            "capnav: driven has each body drive every link of scenes with walls; estimate reads"
            " the links' widths, sills, rises and doors, and nothing else.",
            env="",
        ),
    ] = "driven"
    bodies: tuple[Embodiment, ...] = ()
    questions: Annotated[int, Opt("capnav: questions a home.", min=0, max=500, env="")] = 12
    seed: Annotated[int, Opt("capnav: of what is left to chance in them.", min=0, env="")] = 0
    tours: Annotated[bool, Opt("capnav: film ID.mp4 of each, a frame a second.", env="")] = True

    def record(self) -> dict[str, Any]:
        """Return all fields as JSON, with a hash of the bodies."""
        bodies = json.dumps([body.model_dump() for body in self.bodies], sort_keys=True)
        return {**asdict(self), "bodies": sha256(bodies.encode()).hexdigest()}
