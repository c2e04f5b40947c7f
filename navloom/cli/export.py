"""``navloom scenes export``: homes as files, for Navloom itself and for other programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from navloom.cli.common import counted
from navloom.cli.options import takes
from navloom.evals.capnav.request import Wanted
from navloom.evals.option import Opt
from navloom.evals.request import Spec
from navloom.plugins import plugin
from navloom.terminal import say

if TYPE_CHECKING:
    from navloom.scenes.scene import Scene

EXPORTERS = "navloom.exporters"
Exporter: TypeAlias = "Callable[[Scene, Path], Path]"
"""Writes a scene to a path, and gives the file to open."""
_FOLDERS = ("habitat", "hm3d", "capnav")
"""Forms of which even one home is a folder."""
_SAID_EVERY_S = 5.0


@takes()
def export(
    spec: Spec,
    out: Annotated[
        Path,
        Opt(
            "The file to write; a folder where SPEC is many homes, and for habitat and hm3d.",
            metavar="PATH",
            env="",
        ),
    ],
    *,
    form: Annotated[
        Literal["json", "glb", "habitat", "hm3d", "capnav"],
        Opt(
            "json holds all of a home; glb its triangles in their textures, a node a thing; habitat"
            " is a scene dataset for habitat-sim; hm3d is as HM3D-Semantics is published; capnav"
            " is a benchmark for eval capnav.",
            flag="--format",
            env="",
        ),
    ] = "json",
    wanted: Wanted,
    bodies: Annotated[
        Path | None,
        Opt("capnav: profiles of bodies; the five unless given.", metavar="FILE", env=""),
    ] = None,
    processes: Annotated[
        int, Opt("capnav: how many homes are made at once.", min=1, max=256, env="")
    ] = 1,
) -> None:
    """Write homes as scene.json, GLB, a Habitat scene dataset, HM3D's release or CapNav's.

    All but Habitat's open again. Of several homes a broken one, or one without walls or a mesh
    where triangles are asked for, is said and skipped; the exit code is then 1. capnav keeps what
    it finds whole in the folder.
    """
    from navloom.errors import SceneError, UsageError
    from navloom.files import check_place
    from navloom.scenes.uri import list_scenes, load_scene

    uris = list_scenes(spec)
    if form in _FOLDERS:
        check_place(out, folder=True)
    else:
        check_homes_out(out, spec, uris)
    if form == "capnav":
        write_release = plugin(EXPORTERS, "capnav", "--format capnav", UsageError)
        write_release(uris, out, wanted, bodies, processes)
        return
    save = _saver(form)
    if len(uris) == 1:
        say(f"wrote {save(load_scene(uris[0]), out)}")
        return
    failed = 0
    for uri in _tracked(uris):
        try:
            scene = load_scene(uri)
            save(scene, out if form in _FOLDERS else out / f"{scene.id}.{form}")
        except SceneError as error:
            say(f"navloom: skipped {uri}: {error}")
            failed += 1
    say(f"wrote {counted(len(uris) - failed, 'homes')} to {out}")
    if failed:
        raise typer.Exit(1)


def check_homes_out(out: Path, spec: str, uris: list[str]) -> None:
    """Refuse a place that cannot hold one home's file, or many homes' folder."""
    from navloom.errors import UsageError
    from navloom.files import check_place

    if len(uris) > 1 and out.suffix:
        raise UsageError(f"{spec} is {len(uris)} homes: give --out a folder, not {out}")
    check_place(out, folder=len(uris) > 1)


def _saver(form: str) -> Exporter:
    """What writes a scene in a form."""
    from navloom.errors import UsageError
    from navloom.scenes.formats.scene_json import save

    if form == "json":
        return save
    made: Exporter = plugin(EXPORTERS, form, f"--format {form}", UsageError)
    return made


def _tracked(uris: list[str]) -> Iterator[str]:
    """The homes one by one: a bar on a terminal, a line at times elsewhere."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        yield from track(uris, "writing", console=Console(stderr=True), transient=True)
        return
    said = time.monotonic()
    for number, uri in enumerate(uris):
        if time.monotonic() - said > _SAID_EVERY_S:
            said = time.monotonic()
            say(f"{number}/{len(uris)} homes")
        yield uri
