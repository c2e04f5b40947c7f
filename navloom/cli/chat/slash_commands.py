"""Slash commands of the chat, the same in every display."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from navloom.errors import NavloomError, UsageError, did_you_mean
from navloom.graphs.chat import threads
from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.models.redaction import redact

HELP = """\
Say where to go: go to the kitchen · take me to the sofa · turn left · go upstairs · come back
Ask: what do you see? · where are you? · is there a fridge near?      Correct: no, the other one
While it walks, any new line (or Ctrl-C) stops it at the next place.
/undo [N]         back to before your last instruction, or your last N
/map [FILE.png]   show the map, or save it as a picture
/look [FILE.png]  save what the robot sees: left, front, right and back, its ways on numbered
/save [FILE]      keep the conversation (JSON) and the walk (PNG)
                  a ! replaces files that are there: /save! /map! /look!
/replay [FILE]    go through this conversation, or a saved one, once more
/model [NAME]     which model thinks, or let another one: /model openai/gpt-4o-mini
/threads          the conversations that are kept; /rename NAME NEW, /delete NAME
/help             this page
/quit             leave; with --thread NAME you can come back"""
_MOST_PAUSE = 1.0
_MOST_LAST = 60


class ChatView(ChatDisplay, Protocol):
    """A display of the chat."""

    def show_map(self, trail: Sequence[Sequence[Any]]) -> None:
        """Show the map with a trail on it; the trail's last pose is the robot's."""
        ...

    def play(self, trail: Sequence[Sequence[Any]]) -> None:
        """Show one step of a replay, if the display can animate."""
        ...

    def redraw(self) -> None:
        """Show the conversation again after it has changed as a whole."""
        ...


async def run_command(line: str, talk: ChatDriver, view: ChatView) -> bool:
    """Run the slash command of a line.

    Args:
        line: the line.
        talk: the conversation.
        view: shows the result and any error.

    Returns:
        True to leave the chat.
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
    """Return the path of a file that the user typed.

    Raises:
        UsageError: it is no valid file: an unknown user's home, a folder, a name that is too long.
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


async def _undo(rest: str, talk: ChatDriver, view: ChatView) -> None:
    starts = talk.instructions
    if rest and not (rest.isascii() and rest.isdigit() and 1 <= int(rest[:9]) <= len(starts)):
        raise UsageError(
            f"/undo {rest[:40]}: expected how many instructions to take back, of {len(starts)}."
        )
    undone = await talk.undo(starts[-int(rest)] if rest else None)
    if undone is None:
        view.said("note", "There is nothing to undo.")
        return
    view.redraw()
    view.said("note", f"Undone: {undone}" if undone else "Undone.")


async def _map(rest: str, talk: ChatDriver, view: ChatView, *, replace: bool = False) -> None:
    if not rest:
        view.show_map(talk.trail)
        return
    path = _place(rest)
    path = path if path.suffix else path.with_suffix(".png")
    _must_be_free([path], f"/map! {rest}", replace=replace)
    await asyncio.to_thread(threads.save_map, path, talk.scene, talk.trail)
    view.said("note", f"The map is in {path}.")


async def _look(rest: str, talk: ChatDriver, view: ChatView, *, replace: bool = False) -> None:
    from navloom.sim.scene_images import can_render, candidate_panorama

    if not can_render(talk.scene):
        raise UsageError(
            f"{talk.scene.uri} cannot be looked at: it has neither walls nor a mesh, or embreex is "
            "not installed. Ask: what do you see?"
        )
    path = _place(rest or f"{talk.thread}-{len(talk.trail)}.png")
    path = path if path.suffix else path.with_suffix(".png")
    _must_be_free([path], f"/look! {rest}", replace=replace)
    viewpoint, heading = talk.trail[-1][:2]
    off = talk.state["pose"]["position"] if talk.state["pose"].get("beside") else None
    threads.write_file(
        path, await asyncio.to_thread(candidate_panorama, talk.scene, viewpoint, heading, at=off)
    )
    view.said("note", f"What the robot sees is in {path}.")


async def _save(rest: str, talk: ChatDriver, view: ChatView, *, replace: bool = False) -> None:
    path = _place(rest or f"{talk.thread}.json")
    path = path if path.suffix else path.with_suffix(".json")
    picture = path.with_suffix(".png")
    if path == picture:
        raise UsageError(f"{path} would be the picture: name the JSON file, such as walk.json.")
    # Check both before writing either, so that no save is partial.
    _must_be_free([path, picture], f"/save! {rest}", replace=replace)
    await asyncio.to_thread(
        threads.save_chat, path, talk.scene, talk.transcript, talk.trail, talk.model
    )
    await asyncio.to_thread(threads.save_map, picture, talk.scene, talk.trail)
    view.said("note", f"Saved: {path} and {picture}.")


def _must_be_free(paths: Sequence[Path], anyway: str, *, replace: bool) -> None:
    """Refuse to replace existing files, unless the user typed the command with ``!``.

    Raises:
        UsageError: a file exists already, or is no regular file.
    """
    for path in filter(os.path.lexists, paths):
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is a device or the like, and no file: give another name.")
        if not replace:
            hint = f"give another name, or type {anyway.strip()} to replace it."
            raise UsageError(f"{path} is there already: {hint}")


async def _replay(rest: str, talk: ChatDriver, view: ChatView) -> None:
    if rest:
        saved = threads.read_chat(_place(rest), talk.scene)
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


async def _threads(rest: str, talk: ChatDriver, view: ChatView) -> None:  # noqa: ARG001
    found, notes = await threads.list_threads(talk.folder)
    width = max((len(each.name) for each in found), default=0)
    listed = [f"{each.name:{width}}  {_about(each, talk)}" for each in found]
    view.said("note", "\n".join(listed) or f"No conversation is kept in {talk.folder}.")
    for note in notes:
        view.said("error", note)


def _about(thread: threads.ChatThread, talk: ChatDriver) -> str:
    """Return a line about a stored conversation, with its last words at the end."""
    when = thread.when[:16].replace("T", " ")
    held = (", this one" if thread.name == talk.thread else ", open elsewhere") * thread.held
    said = f": {thread.last[:_MOST_LAST]}" if thread.last else ""
    return f"{thread.scene}, {when} UTC, {thread.lines} lines{held}{said}"


async def _rename(rest: str, talk: ChatDriver, view: ChatView) -> None:
    names = rest.split()
    if len(names) != 2:
        raise UsageError("/rename: expected two names, such as /rename monday evening.")
    await asyncio.to_thread(threads.rename_thread, talk.folder, *names)
    view.said("note", f"'{names[0]}' is called '{names[1]}' now.")


async def _delete(rest: str, talk: ChatDriver, view: ChatView) -> None:
    await asyncio.to_thread(threads.delete_thread, talk.folder, rest)
    view.said("note", f"'{rest}' is deleted.")


async def _model(rest: str, talk: ChatDriver, view: ChatView) -> None:
    if rest:
        talk.use_model(rest)
    view.said("note", f"{talk.model} thinks.")


_COMMANDS: dict[str, Callable[[str, ChatDriver, ChatView], Awaitable[None]]] = {
    "undo": _undo,
    "map": _map,
    "map!": partial(_map, replace=True),
    "look": _look,
    "look!": partial(_look, replace=True),
    "save": _save,
    "save!": partial(_save, replace=True),
    "replay": _replay,
    "model": _model,
    "threads": _threads,
    "rename": _rename,
    "delete": _delete,
}
