"""What begins with a slash in the chat: the same words in every display."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from navloom.errors import NavloomError, did_you_mean
from navloom.graphs.chat.saved import read_chat, save_chat, save_map
from navloom.graphs.chat.talk import Listener, Talk
from navloom.models.secrets import redact

HELP = """\
Say where to go: go to the kitchen · take me to the sofa · turn left · go upstairs · come back
Ask: what do you see? · where are you? · is there a fridge near?      Correct: no, the other one
While it walks, any new line (or Ctrl-C) stops it at the next place.
/undo             back to before your last instruction
/map [FILE.png]   show the map, or save it as a picture
/save [FILE]      keep the conversation (JSON) and the walk (PNG)
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


async def _undo(rest: str, talk: Talk, view: View) -> None:  # noqa: ARG001
    undone = await talk.undo()
    if undone is None:
        view.said("note", "There is nothing to undo.")
        return
    view.redraw()
    view.said("note", f"Undone: {undone}" if undone else "Undone.")


async def _map(rest: str, talk: Talk, view: View) -> None:
    if not rest:
        view.show_map(talk.trail)
        return
    path = Path(rest)
    path = path if path.suffix else path.with_suffix(".png")
    await asyncio.to_thread(save_map, path, talk.scene, talk.trail)
    view.said("note", f"The map is in {path}.")


async def _save(rest: str, talk: Talk, view: View) -> None:
    path = Path(rest or f"{talk.thread}.json")
    written = await asyncio.to_thread(
        save_chat, path, talk.scene, talk.transcript, talk.trail, talk.model
    )
    view.said("note", f"Saved: {written[0]} and {written[1]}.")


async def _replay(rest: str, talk: Talk, view: View) -> None:
    if rest:
        saved = read_chat(Path(rest), talk.scene)
        lines = [line.model_dump() for line in saved.transcript]
        trail: list[list[Any]] = [list(pose) for pose in saved.trajectory]
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


_COMMANDS = {
    "undo": _undo,
    "map": _map,
    "save": _save,
    "replay": _replay,
    "model": _model,
}
