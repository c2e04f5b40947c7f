"""Saved conversations: what was said and every pose as JSON, and the walk as a picture.

    {"format": "navloom.chat/1", "scene": "demo:house", "model": "builtin/heuristic",
     "transcript": [{"who", "text", "turn", "at"}, ...], "trajectory": [[viewpoint, heading,
     elevation], ...]}

Of a body that drives ``positions`` holds x, y and z of every pose beside that, and its viewpoint is
the one it stands on or by. ``at`` is how many poses the robot had stood in when a line was said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import UsageError, did_you_mean
from navloom.files import replace_file
from navloom.scenes.checked_files import checked, parse_json, read_json
from navloom.scenes.scene import Scene

FORMAT: Literal["navloom.chat/1"] = "navloom.chat/1"
_MOST_BYTES = 20_000_000
Angle = Annotated[float, Field(allow_inf_nan=False)]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    who: Literal["person", "robot", "note"]
    text: str = Field(max_length=10_000)
    turn: int = Field(ge=0)
    at: int = Field(ge=0)


class Saved(BaseModel):
    """A conversation as `save_chat` writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["navloom.chat/1"]
    scene: str = Field(max_length=300)
    model: str = Field(max_length=300)
    transcript: list[_Line] = Field(max_length=100_000)
    trajectory: list[tuple[str, Angle, Angle]] = Field(min_length=1, max_length=1_000_000)
    positions: list[tuple[Angle, Angle, Angle]] = Field(default=[], max_length=1_000_000)

    @property
    def trail(self) -> list[list[Any]]:
        """Every pose as the conversation had it."""
        at = self.positions if len(self.positions) == len(self.trajectory) else repeat(())
        return [[*pose, *where] for pose, where in zip(self.trajectory, at, strict=False)]


def save_chat(
    path: Path,
    scene: Scene,
    transcript: Sequence[Mapping[str, Any]],
    trajectory: Sequence[Sequence[Any]],
    model: str,
) -> None:
    """Write a conversation as JSON, in place of what is there.

    Args:
        path: the file.
        scene: the home.
        transcript: the lines.
        trajectory: the poses.
        model: who answered.

    Raises:
        UsageError: it cannot be written.
    """
    saved = record_of_chat(scene, transcript, trajectory, model)
    write_file(path, json.dumps(saved, ensure_ascii=False, indent=1).encode())


def record_of_chat(
    scene: Scene,
    transcript: Sequence[Mapping[str, Any]],
    trajectory: Sequence[Sequence[Any]],
    model: str,
) -> dict[str, Any]:
    """A conversation as JSON."""
    return {
        "format": FORMAT,
        "scene": scene.uri,
        "model": model,
        "transcript": list(transcript),
        "trajectory": [list(pose[:3]) for pose in trajectory],
        **({"positions": [list(pose[3:]) for pose in trajectory]} if trajectory[0][3:] else {}),
    }


def write_file(path: Path, data: bytes) -> None:
    """Write a file, in place of what is there.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{str(path)[:200]} cannot be written: {reason}.") from error


def save_map(path: Path, scene: Scene, trajectory: Sequence[Sequence[Any]]) -> None:
    """Draw the home from above with the whole walk, as a PNG file, in place of what is there.

    Raises:
        UsageError: it cannot be written.
    """
    write_file(path, map_picture(scene, trajectory))


def map_picture(scene: Scene, trajectory: Sequence[Sequence[Any]]) -> bytes:
    """The home from above with the whole walk, as a PNG file."""
    from navloom.scenes.plan import Mark, Route, draw_plan

    places = [(scene.viewpoint_by_id[pose[0]], pose[3:]) for pose in trajectory]
    points = tuple(
        (scene.floor_of(p), at[0] if at else p.position[0], at[2] if at else p.position[2])
        for p, at in places
    )
    marks = [Mark("start", *points[0]), Mark("stop", *points[-1], label="now")]
    walked = [Route(points, "robot_1")] if len(set(points)) > 1 else []
    title = f"{scene.uri}: the walk so far"
    return draw_plan(scene, routes=walked, marks=marks, title=title).png()


def read_chat(path: Path, scene: Scene) -> Saved:
    """Read a saved conversation of this home.

    Raises:
        SceneError: it cannot be read, or is none that /save wrote.
        UsageError: it is of another home.
    """
    return _of_home(read_json(path, TypeAdapter(Saved), most=_MOST_BYTES), path, scene)


def chat_of(data: bytes, name: str, scene: Scene) -> Saved:
    """The same of a file's content that was handed over, by the name that it had there."""
    path = Path(name or "the file")
    parse_json(data, path)
    with checked(path):
        return _of_home(Saved.model_validate_json(data), path, scene)


def _of_home(saved: Saved, path: Path, scene: Scene) -> Saved:
    if saved.scene != scene.uri:
        raise UsageError(f"{path} is a conversation in {saved.scene}, and this is {scene.uri}.")
    for viewpoint, *_ in saved.trajectory:
        if viewpoint not in scene.viewpoint_by_id:
            hint = did_you_mean(viewpoint[:80], scene.viewpoint_by_id)
            raise UsageError(f"{path}: {scene.uri} has no viewpoint '{viewpoint[:80]}'.{hint}")
    return saved
