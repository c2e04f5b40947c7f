"""Command ``navloom scenes edit``: edited copies of homes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from navloom.cli.options import SceneUri, with_options
from navloom.evals.option import Opt
from navloom.models.redaction import print_err


@dataclass(frozen=True, kw_only=True)
class Edits:
    """Edits of a scene, as :func:`navloom_worlds.mend.scene_edits.edit_scene` takes them."""

    close: Annotated[
        tuple[str, ...],
        Opt(
            "Close a door: its two regions, or its number. As all these, may be given twice.",
            metavar="A<->B",
            env="",
        ),
    ] = ()
    open_: Annotated[
        tuple[str, ...], Opt("Open a door.", metavar="A<->B", flag="open", env="")
    ] = ()
    ajar: Annotated[tuple[str, ...], Opt("Leave a door ajar.", metavar="A<->B", env="")] = ()
    remove: Annotated[
        tuple[str, ...],
        Opt("Take a thing away, by name or id, and what stands on it.", metavar="THING", env=""),
    ] = ()
    widen: Annotated[
        tuple[str, ...], Opt("Make a way through a wall so wide.", metavar="A<->B@METRES", env="")
    ] = ()
    level: Annotated[tuple[str, ...], Opt("Take a sill away.", metavar="A<->B", env="")] = ()
    ramp: Annotated[tuple[str, ...], Opt("Lay a ramp over a step.", metavar="A<->B", env="")] = ()
    move: Annotated[
        tuple[str, ...],
        Opt(
            "Move a thing, and what stands on it, to a region's floor or onto another thing.",
            metavar="THING@PLACE",
            env="",
        ),
    ] = ()


@with_options()
def edit(
    uri: SceneUri,
    out: Annotated[
        Path, Opt("The scene.json to write; its name is the copy's.", metavar="FILE", env="")
    ],
    edits: Edits,
) -> None:
    """Write a changed copy of a home: close or widen doors, move or remove objects.

    Relations of what moved are dropped, and where one can no longer walk straight there is no edge.
    A closed door stays a way for those who can open it. What would leave no way is refused.
    """
    from navloom.errors import UsageError
    from navloom.files import check_writable
    from navloom.scenes.formats.scene_json import save
    from navloom.scenes.scene_uri import load_scene
    from navloom_worlds.mend import scene_edits as changes

    asked = asdict(edits)
    if not any(asked.values()):
        flags = [f"--{each.rstrip('_')}" for each in asked]
        raise UsageError(f"say what to change with {', '.join(flags[:-1])} or {flags[-1]}")
    check_writable(out, folder=False)
    copy = changes.edit_scene(load_scene(uri), out.stem, **asked)
    print_err(f"wrote {save(copy, out)}: {copy.notes[-1]}")
