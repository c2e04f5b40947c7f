"""One thing to do, with its ground truth, whatever dataset it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Episode", "TaskData"]

_Id = Annotated[str, Field(min_length=1, max_length=200)]


class Episode(BaseModel):
    """An instruction, where it starts, and what counts as having followed it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=@-]{0,199}$")]
    """Unique in its dataset and safe as a file name: the sample's id. R2R: ``PATHID_K``."""
    task: _Id
    """The dataset's name, such as ``r2r``."""
    scene: _Id
    """The scene's portable name, such as ``mp3d:2azQ1b91cZZ``."""
    start: _Id
    """The viewpoint it starts on."""
    heading: Annotated[float, Field(ge=-7, le=7, allow_inf_nan=False)] = 0.0
    """Heading at the start, radians clockwise from -z."""
    instruction: Annotated[str, Field(min_length=1, max_length=20_000)]
    goals: Annotated[tuple[_Id, ...], Field(min_length=1)]
    """Viewpoints that count as the goal; distances are to the nearest."""
    path: tuple[_Id, ...] = ()
    """The ground-truth path, start and goal included; empty where there is none."""
    visible_from: tuple[_Id, ...] = ()
    """Viewpoints that see the target, where the dataset says so (REVERIE)."""
    category: str | None = None
    """The target's category, of object navigation."""
    derived: bool = False
    """True where the episode was worked out from another dataset and is not the published one."""
    columns: Mapping[str, Any] = Field(default_factory=dict)
    """Whatever else the dataset says, for records (``path_id``, ``instruction_index``, ...)."""


@dataclass(frozen=True)
class TaskData:
    """A dataset's split, loaded.

    Attributes:
        task: its name.
        split: which part.
        episodes: in the dataset's order.
        scenes: the URI each scene is loaded by, by its portable name.
        notes: what a reader must know: derived, left out, inferred.
    """

    task: str
    split: str
    episodes: tuple[Episode, ...]
    scenes: Mapping[str, str]
    notes: tuple[str, ...] = ()
