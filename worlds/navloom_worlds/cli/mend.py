"""Command ``navloom scenes mend``: changes that let a body pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from navloom.cli.common import print_json, write_page
from navloom.cli.options import Json, SceneUri, WithLicensed, with_options
from navloom.evals.option import Opt
from navloom.models.redaction import print_err, print_out

if TYPE_CHECKING:
    from navloom.scenes.scene import Scene


@with_options()
def mend(
    uri: SceneUri,
    out: Annotated[Path, Opt("The folder to write.", metavar="DIR", env="")],
    body: Annotated[
        str, Opt("Whose: WHEELCHAIR, FETCH, ... or FILE.json#NAME of yours.", metavar="NAME")
    ] = "WHEELCHAIR",
    start: Annotated[
        str | None, Opt("The room it starts in.", metavar="ROOM", flag="from", env="")
    ] = None,
    goal: Annotated[
        str | None, Opt("The room it is to come to.", metavar="ROOM", flag="to", env="")
    ] = None,
    costs: Annotated[
        Path | None, Opt('A JSON file of prices, such as {"widen": 700}.', metavar="FILE", env="")
    ] = None,
    with_licensed: WithLicensed = False,
    as_json: Json = False,
) -> None:
    """Find the cheapest changes of a home that let a body pass, and prove them by driving.

    Doors are opened, widened or slid, sills taken away, ramps laid, things carried away, lifts
    built. A mend counts if the body fails in the home as it is and arrives in the changed one.
    Written are a page with both on the plan, and each changed home. Without --from or --to it is
    all rooms; without both, rooms that are joined. The exit code is 1 where a pair stays blocked.
    """
    from navloom.files import check_writable
    from navloom.scenes.bodies import resolve_body
    from navloom.scenes.scene_uri import load_scene
    from navloom_worlds.mend.home_changes import load_costs
    from navloom_worlds.mend.mend_report import mends_table, write_mends
    from navloom_worlds.mend.mend_search import find_mend as mended

    check_writable(out, folder=True)
    prices, whose = load_costs(costs), resolve_body(body)
    scene = load_scene(uri)
    found = []
    for a, b in _pairs(scene, start, goal):
        one = mended(scene, whose, a, b, prices)
        found.append(one)
        if not as_json:
            done = "gets there" if one.before.arrived else "mended" if one.proven else "blocked"
            print_err(f"{a} to {b}: {done}" + (f", {one.cost:,.0f}" if one.proven else ""))
            for change in one.changes:
                print_out(f"  {change.words} ({change.cost:,.0f})")
            if one.why:
                print_err(f"   {one.why}")
    for line in write_mends(scene, found, out):
        print_err(line)
    if as_json:
        print_json([one.record() for one in found])
    page = write_page([out], out, licensed=with_licensed)
    print_err(f"wrote {page}: {len(mends_table(found).rows)} pairs")
    if any(not one.before.arrived and not one.proven for one in found):
        raise typer.Exit(1)


def _pairs(scene: Scene, start: str | None, goal: str | None) -> Iterator[tuple[str, str]]:
    from navloom.errors import UsageError, did_you_mean

    rooms = [region.id for region in scene.regions]
    for name in (start, goal):
        if name is not None and name not in rooms:
            hint = did_you_mean(name, rooms)
            raise UsageError(f"{scene.uri} has no room '{name}'.{hint} See `navloom scenes show`.")
    if start is not None and start == goal:
        raise UsageError(f"--from and --to are both {start}: name two rooms")
    if start is None and goal is None:
        yield from dict.fromkeys(
            (link.a, link.b) for link in scene.links if link.kind in ("door", "opening", "ramp")
        )
        return
    for a in [start] if start is not None else rooms:
        for b in [goal] if goal is not None else rooms:
            if a is not None and b is not None and a != b:
                yield a, b
