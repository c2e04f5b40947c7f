"""The chat as a textual app: conversation, map, status line and input line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual import events, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, RichLog, Static

from navloom.cli.chat.slash_commands import run_command
from navloom.cli.chat.terminal_map import map_text
from navloom.graphs.chat.chat_driver import ChatDriver
from navloom.graphs.chat.chat_turn import MOST_SAID
from navloom.models.redaction import printable_text
from navloom.tools.chat.places import floor_number, room_name

_INKS = {"person": "bold cyan", "robot": "bold green", "error": "bold red", "note": "dim"}
_HEADS = {"person": "you", "robot": "robot", "error": "!"}
# Keep a sign and its word on one row.
_LEGEND = "▫\u00a0door  ≡\u00a0stairs  ·\u00a0trail  ◆\u00a0goal"


class MapPane(Static):
    """The map, drawn again whenever its size changes."""

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002
        """Draw the map at the new size."""
        app = self.app
        assert isinstance(app, ChatApp)  # noqa: S101  no other app has this pane
        app.draw_map()


class TalkPane(RichLog):
    """The conversation, wrapped again whenever its width changes."""

    broken_at = 0

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines at the new width."""
        app = self.app
        assert isinstance(app, ChatApp)  # noqa: S101  no other app has this pane
        if self.broken_at and self.broken_at != event.size.width:
            app.show_talk()
        self.broken_at = event.size.width


class ChatApp(App[int]):
    """The textual app of the chat."""

    TITLE = "navloom chat"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #panes { height: 1fr; }
    #said { width: 2fr; border: round $primary; padding: 0 1; }
    #talk { height: 1fr; }
    #talk { overflow-x: hidden; overflow-y: scroll; scrollbar-size: 1 1; }
    #side { width: 3fr; border: round $primary; }
    #writing { height: auto; max-height: 50%; color: $text-muted; display: none; }
    #map { height: 1fr; content-align: center middle; }
    #legend { height: auto; color: $text-muted; text-align: center; }
    #now { height: auto; background: $primary-background; padding: 0 1; }
    .-narrow.-tall #panes { layout: vertical; }
    .-narrow.-tall #said { width: 1fr; height: 2fr; }
    .-narrow.-tall #side { width: 1fr; height: 3fr; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-wide")]  # noqa: RUF012  textual's own type
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "halt", "stop the walk", priority=True),
        Binding("ctrl+q", "leave", "leave", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.talk: ChatDriver | None = None
        self._again = False
        self._playing: Sequence[Sequence[Any]] | None = None
        self._lines: list[tuple[str, str]] = []

    @property
    def _open(self) -> ChatDriver:
        assert self.talk is not None  # noqa: S101  set before the app runs
        return self.talk

    def prepare(self, talk: ChatDriver, *, again: bool) -> None:
        """Set the conversation to show, before the app runs.

        Args:
            talk: the conversation, open.
            again: whether it is a resumed one.
        """
        self.talk, self._again = talk, again

    async def run_until_exit(self, talk: ChatDriver, *, again: bool) -> int:
        """Run the app until the user leaves, and return the exit code."""
        self.prepare(talk, again=again)
        code = await self.run_async()
        await talk.close()
        return code or 0

    def compose(self) -> ComposeResult:
        """Lay out conversation and map side by side, with two lines below."""
        with Horizontal(id="panes"):
            with Vertical(id="said"):
                yield TalkPane(id="talk", wrap=True, min_width=1)
                yield Static(id="writing")
            with Vertical(id="side"):
                yield MapPane(id="map")
                yield Static(_LEGEND, id="legend")
        yield Static(id="now")
        yield Input(placeholder="Say where to go, or /help", max_length=4 * MOST_SAID)

    def on_mount(self) -> None:
        """Show the earlier conversation, and wait for input."""
        self.redraw()
        if not self._again:
            self.said("note", f"{self._open.model} thinks. Say where to go; /help says more.")
        self.query_one(Input).focus()

    def said(self, who: str, text: str) -> None:
        """Add a line to the conversation."""
        self._lines.append((who, text))
        self._write(who, text)
        self._draw_now()

    def _write(self, who: str, text: str) -> None:
        line = Text()
        if who in _HEADS:
            line.append(f"{_HEADS[who]}  ", _INKS[who])
        line.append(printable_text(text), "" if who in ("person", "robot") else _INKS[who])
        self.query_one(RichLog).write(line)

    def moved(self, pose: Mapping[str, Any]) -> None:  # noqa: ARG002  the trail has it
        """Draw the robot at its new pose."""
        self.draw_map()
        self._draw_now()

    def writing(self, text: str) -> None:
        """Show the unfinished reply below the conversation."""
        pane = self.query_one("#writing", Static)
        pane.update(Text.assemble((f"{_HEADS['robot']}  ", _INKS["robot"]), printable_text(text)))
        pane.display = bool(text)

    def called(self, call: Mapping[str, Any]) -> None:
        """Ignore tool calls, which are not shown."""

    def show_map(self, trail: Sequence[Sequence[Any]]) -> None:
        """Draw the map; the trail of a replay stays until the robot moves."""
        self._playing = None if list(trail) == self._open.trail else trail
        self.draw_map()
        self._playing = None

    def play(self, trail: Sequence[Sequence[Any]]) -> None:
        """Draw one step of a replay."""
        self.show_map(trail)

    def redraw(self) -> None:
        """Show the whole conversation again."""
        self._lines = [(line["who"], line["text"]) for line in self._open.transcript]
        self.show_talk()
        self.draw_map()

    def show_talk(self) -> None:
        """Write every line again."""
        self.query_one(RichLog).clear()
        for who, text in self._lines:
            self._write(who, text)
        self._draw_now()

    def draw_map(self) -> None:
        """Draw the map at the size of its pane."""
        pane = self.query_one(MapPane)
        width, height = pane.size
        if width < 2 or height < 2:
            return
        trail = self._playing or self._open.trail
        text = map_text(self._open.scene, trail, width=width, height=height, goal=self._open.goal)
        pane.update(text)

    def _draw_now(self) -> None:
        talk = self._open
        here = talk.trail[-1][0]
        scene = talk.scene
        room = room_name(scene, scene.viewpoint_by_id[here].region)
        doing = "walking" if talk.walking else "thinking" if talk.busy else "listening"
        parts = [scene.uri, f"{room}, floor {floor_number(scene, here)}", doing, talk.model]
        if talk.tokens:
            parts.append(f"{talk.tokens:,} tokens")
        self.query_one("#now", Static).update(Text("  ·  ".join(parts)))

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Process the submitted line."""
        line = event.value
        event.input.clear()
        if line.lstrip().startswith("/"):
            self._command(line)
        elif line.strip():
            self._hear(line)

    @work(exit_on_error=True)
    async def _hear(self, line: str | None) -> None:
        await self._open.hear(line)
        self.draw_map()
        self._draw_now()

    @work(exclusive=True, group="command")
    async def _command(self, line: str) -> None:
        if self._open.busy:
            await self._open.hear(None)
        if await run_command(line, self._open, self):
            self.exit(0)
        self._draw_now()

    def action_halt(self) -> None:
        """Stop the robot (Ctrl-C); if it is idle, say how to leave."""
        if self._open.busy:
            self._hear(None)
        else:
            self.said("note", "Nothing is under way. /quit or Ctrl-Q leaves.")

    async def action_leave(self) -> None:
        """Leave the app (Ctrl-Q)."""
        self._open.stop_current()
        self.exit(0)
