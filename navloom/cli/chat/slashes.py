"""What begins with a slash in the chat: the same words in every display; and saved conversations.

A conversation as a file is what was said and every pose as JSON, and the walk as a picture:

    {"format": "navloom.chat/1", "scene": "demo:house", "model": "builtin/heuristic",
     "transcript": [{"who", "text", "turn", "at"}, ...], "trajectory": [[viewpoint, heading,
     elevation], ...]}

Of a body that drives ``positions`` holds x, y and z of every pose beside that, and its viewpoint is
the one it stands on or by. ``at`` is how many poses the robot had stood in when a line was said.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import NavloomError, UsageError, did_you_mean
from navloom.files import replace_file
from navloom.graphs.chat.talk import Listener, Talk
from navloom.models.secrets import redact
from navloom.scenes.checked_files import read_json
from navloom.scenes.scene import Scene

HELP = """\
Say where to go: go to the kitchen · take me to the sofa · turn left · go upstairs · come back
Ask: what do you see? · where are you? · is there a fridge near?      Correct: no, the other one
While it walks, any new line (or Ctrl-C) stops it at the next place.
/undo             back to before your last instruction
/map [FILE.png]   show the map, or save it as a picture
/look [FILE.png]  save what the robot sees: left, front, right and back, its ways on numbered
/save [FILE]      keep the conversation (JSON) and the walk (PNG)
                  a ! replaces files that are there: /save! /map! /look!
/replay [FILE]    go through this conversation, or a saved one, once more
/model [NAME]     which model thinks, or let another one: /model openai/gpt-4o-mini
/help             this page
/quit             leave; with --thread NAME you can come back"""
_MOST_PAUSE = 1.0


class View(Listener, Protocol):
    """A display."""

    def show_map(self, trail: Sequence[Sequence[Any]]) -> None:
        """Show the map with a walk on it; the last pose is the robot's."""
        ...

    def play(self, trail: Sequence[Sequence[Any]]) -> None:
        """Show one step of a replay, where that can be watched."""
        ...

    def redraw(self) -> None:
        """The conversation is another one: show it anew."""
        ...


async def run_command(line: str, talk: Talk, view: View) -> bool:
    """Do what a line that begins with a slash says.

    Args:
        line: the line.
        talk: the conversation.
        view: where to show what comes of it; mistakes are shown there, too.

    Returns:
        Whether to leave.
    """
    word, _, rest = line.strip().partition(" ")
    name, rest = word.removeprefix("/").casefold(), rest.strip()
    if name in ("quit", "exit", "q"):
        return True
    if name == "help":
        view.said("note", HELP)
        return False
    command = _COMMANDS.get(name)
    if command is None:
        hint = did_you_mean(name[:40], ["help", *_COMMANDS, "quit"])
        view.said("error", f"There is no command /{name[:40]}.{hint} /help lists them.")
        return False
    try:
        await command(rest, talk, view)
    except NavloomError as error:
        view.said("error", " ".join(redact(str(error)).split()))
    return False


def _place(typed: str) -> Path:
    """The file that somebody typed.

    Raises:
        UsageError: it can be none: the home of nobody, a folder, a name that is too long.
    """
    try:
        path = Path(typed).expanduser()
        if path.is_dir() or not path.name:
            raise UsageError(
                f"{path} is a folder: name a file in it, such as {path / 'walk.json'}."
            )
    except NavloomError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise UsageError(f"{typed[:100]} cannot be a file: {reason}.") from error
    return path


async def _undo(rest: str, talk: Talk, view: View) -> None:  # noqa: ARG001
    undone = await talk.undo()
    if undone is None:
        view.said("note", "There is nothing to undo.")
        return
    view.redraw()
    view.said("note", f"Undone: {undone}" if undone else "Undone.")


async def _map(rest: str, talk: Talk, view: View, *, replace: bool = False) -> None:
    if not rest:
        view.show_map(talk.trail)
        return
    path = _place(rest)
    path = path if path.suffix else path.with_suffix(".png")
    _must_be_free([path], f"/map! {rest}", replace=replace)
    await asyncio.to_thread(save_map, path, talk.scene, talk.trail)
    view.said("note", f"The map is in {path}.")


async def _look(rest: str, talk: Talk, view: View, *, replace: bool = False) -> None:
    from navloom.sim.embedded.lookout import can_look, panorama_at

    if not can_look(talk.scene):
        raise UsageError(
            f"{talk.scene.uri} cannot be looked at: it has neither walls nor a mesh, or embreex is "
            "not installed. Ask: what do you see?"
        )
    path = _place(rest or f"{talk.thread}-{len(talk.trail)}.png")
    path = path if path.suffix else path.with_suffix(".png")
    _must_be_free([path], f"/look! {rest}", replace=replace)
    viewpoint, heading = talk.trail[-1][:2]
    off = talk.state["pose"]["position"] if talk.state["pose"].get("beside") else None
    _write(path, await asyncio.to_thread(panorama_at, talk.scene, viewpoint, heading, at=off))
    view.said("note", f"What the robot sees is in {path}.")


async def _save(rest: str, talk: Talk, view: View, *, replace: bool = False) -> None:
    path = _place(rest or f"{talk.thread}.json")
    path = path if path.suffix else path.with_suffix(".json")
    picture = path.with_suffix(".png")
    if path == picture:
        raise UsageError(f"{path} would be the picture: name the JSON file, such as walk.json.")
    # Both, before either is written: half a save is none.
    _must_be_free([path, picture], f"/save! {rest}", replace=replace)
    await asyncio.to_thread(save_chat, path, talk.scene, talk.transcript, talk.trail, talk.model)
    await asyncio.to_thread(save_map, picture, talk.scene, talk.trail)
    view.said("note", f"Saved: {path} and {picture}.")


def _must_be_free(paths: Sequence[Path], anyway: str, *, replace: bool) -> None:
    """Ask before what is there is replaced: a chat has no other way of asking than a line.

    Raises:
        UsageError: something is there already, or is no file.
    """
    for path in filter(os.path.lexists, paths):
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is a device or the like, and no file: give another name.")
        if not replace:
            hint = f"give another name, or type {anyway.strip()} to replace it."
            raise UsageError(f"{path} is there already: {hint}")


async def _replay(rest: str, talk: Talk, view: View) -> None:
    if rest:
        saved = read_chat(_place(rest), talk.scene)
        lines = [line.model_dump() for line in saved.transcript]
        trail = saved.trail
    else:
        lines, trail = talk.transcript, talk.trail
    view.said("note", f"Replay: {len(lines)} lines, {len(trail)} poses.")
    shown, pause = 1, min(talk.pace, _MOST_PAUSE)
    for line in [*lines, {"who": "", "text": "", "at": len(trail)}]:
        while shown < min(line["at"], len(trail)):
            shown += 1
            view.play(trail[:shown])
            await asyncio.sleep(pause)
        if line["who"]:
            view.said(line["who"], line["text"])
            await asyncio.sleep(pause)
    view.show_map(trail)
    view.said("note", "End of the replay.")


async def _model(rest: str, talk: Talk, view: View) -> None:
    if rest:
        talk.use_model(rest)
    view.said("note", f"{talk.model} thinks.")


_COMMANDS: dict[str, Callable[[str, Talk, View], Awaitable[None]]] = {
    "undo": _undo,
    "map": _map,
    "map!": partial(_map, replace=True),
    "look": _look,
    "look!": partial(_look, replace=True),
    "save": _save,
    "save!": partial(_save, replace=True),
    "replay": _replay,
    "model": _model,
}


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
    """A file that `save_chat` wrote."""

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
    saved = {
        "format": FORMAT,
        "scene": scene.uri,
        "model": model,
        "transcript": list(transcript),
        "trajectory": [list(pose[:3]) for pose in trajectory],
        **({"positions": [list(pose[3:]) for pose in trajectory]} if trajectory[0][3:] else {}),
    }
    _write(path, json.dumps(saved, ensure_ascii=False, indent=1).encode())


def _write(path: Path, data: bytes) -> None:
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
    from io import BytesIO

    from navloom.scenes.plan import draw_plan
    from navloom.scenes.plan_lines import Mark, Route

    places = [(scene.viewpoint_by_id[pose[0]], pose[3:]) for pose in trajectory]
    points = tuple(
        (scene.floor_of(p), at[0] if at else p.position[0], at[2] if at else p.position[2])
        for p, at in places
    )
    marks = [Mark("start", *points[0]), Mark("stop", *points[-1], label="now")]
    walked = [Route(points, "robot_1")] if len(set(points)) > 1 else []
    figure = draw_plan(scene, routes=walked, marks=marks, title=f"{scene.uri}: the walk so far")
    drawn = BytesIO()
    figure.savefig(drawn, format="png")
    _write(path, drawn.getvalue())


def read_chat(path: Path, scene: Scene) -> Saved:
    """Read a saved conversation of this home.

    Raises:
        SceneError: it cannot be read, or is none that /save wrote.
        UsageError: it is of another home.
    """
    saved = read_json(path, TypeAdapter(Saved), most=_MOST_BYTES)
    if saved.scene != scene.uri:
        raise UsageError(f"{path} is a conversation in {saved.scene}, and this is {scene.uri}.")
    for viewpoint, *_ in saved.trajectory:
        if viewpoint not in scene.viewpoint_by_id:
            hint = did_you_mean(viewpoint[:80], scene.viewpoint_by_id)
            raise UsageError(f"{path}: {scene.uri} has no viewpoint '{viewpoint[:80]}'.{hint}")
    return saved
