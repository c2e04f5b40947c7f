"""Command ``navloom scenes render``: panoramas on disk."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from navloom.cli.common import count_noun, print_json
from navloom.cli.options import Json, with_options
from navloom.evals.option import Opt
from navloom.evals.progress import DisplayName
from navloom.evals.request import Spec
from navloom.models.redaction import print_err, printable_text

if TYPE_CHECKING:
    from navloom_worlds.rendering.panorama_export import RenderOutcome

_SAID_EVERY_S = 5.0


@with_options()
def render(
    spec: Spec,
    out: Annotated[
        Path, Opt("The folder to write; each home has one of its own in it.", metavar="DIR", env="")
    ],
    backend: Annotated[
        str, Opt("The simulator whose pictures are kept.", metavar="NAME", env="")
    ] = "embedded",
    views: Annotated[
        Literal[4, 12, 24, 36], Opt("Views a viewpoint: 4, 12, 24 or 36.", kind=int, env="")
    ] = 4,
    size: Annotated[
        int, Opt("Pixels that a view is wide and high.", min=16, max=4096, env="")
    ] = 512,
    format_: Annotated[
        Literal["png", "jpg"],
        Opt("png keeps every pixel, jpg is smaller and quicker.", flag="format", env=""),
    ] = "png",
    depth: Annotated[bool, Opt("Keep depth, in millimetres.", env="")] = False,
    ids: Annotated[bool, Opt("Keep whose each pixel is.", env="")] = False,
    light: Annotated[
        Literal["baked", "flat"],
        Opt("baked: shadows and bounced light; flat takes no time.", env=""),
    ] = "baked",
    processes: Annotated[int, Opt("How many render at once.", min=1, max=256, env="")] = 1,
    display: Annotated[
        DisplayName | None, Opt("Progress on stderr.", shown="rich on a terminal, else plain")
    ] = None,
    as_json: Json = False,
) -> None:
    """Render panoramas of homes to disk, for --backend panorama, which needs no renderer.

    The same command on the same folder goes on where it stopped, looks at what is there, and
    renders again what is missing or was changed. A broken home is said and skipped; the exit code
    is then 1.
    """
    from navloom.files import check_writable
    from navloom.scenes.scene_uri import list_scenes
    from navloom.sim.panorama.manifest import RenderRequest
    from navloom_worlds.rendering.panorama_export import render_scenes

    check_writable(out, folder=True)
    uris = list_scenes(spec)
    asked = RenderRequest(
        backend=backend, views=views, size=size, format=format_, depth=depth, ids=ids, light=light
    )
    shown = _Progress(len(uris), display)
    try:
        outcome = render_scenes(
            uris, out, asked, processes=processes, note=shown.note, tell=shown.tell
        )
    finally:
        shown.close()
    if as_json:
        print_json(
            {
                "folder": str(out),
                "homes": outcome.scenes,
                "rendered": outcome.rendered,
                "kept": outcome.kept,
                "failed": outcome.failed,
            }
        )
    print_err(
        f"{out}: {count_noun(outcome.scenes, 'homes')}, {outcome.rendered} viewpoints rendered,"
        f" {outcome.kept} were there already"
    )
    if outcome.failed:
        raise typer.Exit(1)


class _Progress:
    """Progress of a rendering: a bar on a terminal, a line now and then elsewhere, or nothing.

    Args:
        homes: number of homes.
        display: rich, plain or none; None chooses by the terminal.
    """

    def __init__(self, homes: int, display: DisplayName | None) -> None:
        self._homes = homes
        self._kind = display or ("rich" if sys.stderr.isatty() else "plain")
        self._begun = self._said = time.monotonic()
        self._bar: Any = None
        if self._kind == "rich":
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("homes"), BarColumn(), TextColumn("{task.fields[said]}"))
            self._bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True))
            self._task = self._bar.add_task("", total=homes, said="")
            self._bar.start()

    def tell(self, outcome: RenderOutcome) -> None:
        """Show the progress."""
        now = time.monotonic()
        rate = outcome.rendered / max(now - self._begun, 1e-9)
        line = (
            f"{outcome.scenes}/{self._homes} homes, {outcome.rendered} viewpoints rendered,"
            f" {outcome.kept} kept, {rate:.1f}/s"
        )
        if self._bar is not None:
            self._bar.update(self._task, completed=outcome.scenes, said=line)
        elif self._kind == "plain" and now - self._said >= _SAID_EVERY_S:
            self._said = now
            print_err(line)

    def note(self, text: str) -> None:
        """Print one line for the user."""
        if self._bar is not None:
            self._bar.console.print(
                printable_text(text), markup=False, highlight=False, soft_wrap=True
            )
        elif self._kind != "none":
            print_err(text)

    def close(self) -> None:
        """Stop the bar in its current state."""
        if self._bar is not None:
            self._bar.stop()
