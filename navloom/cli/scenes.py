"""``navloom scenes``: list, show, draw, export, annotate, compare and import homes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from navloom.cli import common
from navloom.cli.options import CommandApp, Json, SceneUri, add_plugins, with_options
from navloom.evals.capnav.request import CapnavExportOptions
from navloom.evals.option import Opt
from navloom.evals.request import HEURISTIC, Model, Seed, Spec
from navloom.models.redaction import print_err, print_wrapped
from navloom.plugins import load_plugin

if TYPE_CHECKING:
    from navloom.scenes.scene import Scene


EXPORTERS = "navloom.exporters"
Exporter: TypeAlias = "Callable[[Scene, Path], Path]"
"""Writes a scene to a path, and returns the file to open."""
_FOLDERS = ("habitat", "hm3d", "capnav")
"""Formats in which even one home is a folder."""
_SAID_EVERY_S = 5.0


@with_options()
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
    wanted: CapnavExportOptions,
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
    from navloom.files import check_writable
    from navloom.scenes.scene_uri import list_scenes, load_scene

    uris = list_scenes(spec)
    if form in _FOLDERS:
        check_writable(out, folder=True)
    else:
        check_homes_out(out, spec, uris)
    if form == "capnav":
        write_release = load_plugin(EXPORTERS, "capnav", "--format capnav", UsageError)
        write_release(uris, out, wanted, bodies, processes)
        return
    save = _saver(form)
    if len(uris) == 1:
        print_err(f"wrote {save(load_scene(uris[0]), out)}")
        return
    failed = 0
    for uri in _tracked(uris):
        try:
            scene = load_scene(uri)
            save(scene, out if form in _FOLDERS else out / f"{scene.id}.{form}")
        except SceneError as error:
            print_err(f"navloom: skipped {uri}: {error}")
            failed += 1
    print_err(f"wrote {common.count_noun(len(uris) - failed, 'homes')} to {out}")
    if failed:
        raise typer.Exit(1)


def check_homes_out(out: Path, spec: str, uris: list[str]) -> None:
    """Refuse an output path that cannot hold one home's file, or many homes' folder."""
    from navloom.errors import UsageError
    from navloom.files import check_writable

    if len(uris) > 1 and out.suffix:
        raise UsageError(f"{spec} is {len(uris)} homes: give --out a folder, not {out}")
    check_writable(out, folder=len(uris) > 1)


def _saver(form: str) -> Exporter:
    """Return the function that writes a scene in a format."""
    from navloom.errors import UsageError
    from navloom.scenes.formats.scene_json import save

    if form == "json":
        return save
    made: Exporter = load_plugin(EXPORTERS, form, f"--format {form}", UsageError)
    return made


def _tracked(uris: list[str]) -> Iterator[str]:
    """Yield the homes one by one, with a progress bar on a terminal, else a line now and then."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        yield from track(uris, "writing", console=Console(stderr=True), transient=True)
        return
    said = time.monotonic()
    for number, uri in enumerate(uris):
        if time.monotonic() - said > _SAID_EVERY_S:
            said = time.monotonic()
            print_err(f"{number}/{len(uris)} homes")
        yield uri


app = CommandApp("Look at homes, convert them, complete them.")
importer = CommandApp("Make homes from files that you own.")
app.add_typer(importer, name="import")


@app.command("list")
@with_options()
def list_(spec: Spec = "home:", as_json: Json = False) -> None:
    """List the homes of SPEC with their sizes.

    components counts the parts of the graph of rooms that no link joins. A broken home is said and
    skipped; the exit code is then 1.
    """
    from navloom.evals.report.formatting import Table
    from navloom.evals.run_scenes import COUNTS, scene_counts
    from navloom.scenes.scene_uri import list_scenes

    uris = list_scenes(spec)
    rows = [scene_counts(scene) for scene in common.load_homes(uris)]
    if as_json:
        common.print_json(rows)
    else:
        header = ("scene", *COUNTS)
        cells = tuple(tuple(str(row[name]) for name in header) for row in rows)
        common.print_table(Table("", "", header, cells))
    if len(rows) < len(uris):
        raise typer.Exit(1)


@app.command()
@with_options()
def show(
    uri: SceneUri,
    prompt: Annotated[
        bool, Opt("Print the JSON that a model reads, and nothing else.", env="")
    ] = False,
    out: Annotated[
        Path | None, Opt("Draw the floors to this file (.png, .svg, .pdf).", metavar="FILE", env="")
    ] = None,
    view: Annotated[
        str | None,
        Opt(
            "Draw what is seen from a viewpoint, its ways on numbered, from a room, or from "
            "x,z,heading in metres and degrees; to --out, a .png.",
            metavar="PLACE",
            env="",
        ),
    ] = None,
    light: Annotated[
        Literal["baked", "flat"],
        Opt("Of --view. baked: shadows and bounced light; flat takes no time.", env=""),
    ] = "baked",
    top_down: Annotated[
        bool, Opt("Draw the floors as they look from above, their ceilings off.", env="")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a home: its rooms, their links and their objects; or an image of it."""
    from navloom.errors import UsageError
    from navloom.files import check_writable
    from navloom.scenes.lexicon import scene_prompt
    from navloom.scenes.scene_uri import load_scene

    if out is None and (view or top_down):
        raise UsageError("say where the picture goes with --out FILE")
    if out is not None:
        check_writable(out, folder=False)
    scene = load_scene(uri)
    if out is not None:
        _draw(scene, out, view, top_down, light)
        if view or top_down:
            return
    if prompt:
        common.print_json(scene_prompt(scene))
    elif as_json:
        from navloom.evals.run_scenes import scene_counts, scene_rooms

        said = {**scene_counts(scene), "rooms": scene_rooms(scene), "notes": list(scene.notes)}
        common.print_json(said)
    else:
        _print_rooms(scene)


@app.command()
@with_options()
def sheet(
    out: Annotated[Path, Opt("The picture to write (.png, .svg, .pdf).", metavar="FILE", env="")],
    spec: Spec = "home:0-23",
    labels: Annotated[
        bool, Opt("Say what rooms are for; else they are numbered, all of one colour.", env="")
    ] = True,
    top_down: Annotated[
        bool, Opt("Draw floors as they look from above, their ceilings off.", env="")
    ] = False,
    assets: Annotated[
        bool, Opt("Draw each kind of furniture alone instead, from before it (.png).", env="")
    ] = False,
    objects: Annotated[
        bool, Opt("The same of portable things; with --assets both.", env="")
    ] = False,
) -> None:
    """Draw the furnished plans of up to 24 homes on one page, or each floor of one home.

    A broken home is said and skipped; the exit code is then 1.
    """
    from navloom.errors import SceneError
    from navloom.files import check_writable
    from navloom.scenes.plan_sheet import MOST_PLANS, draw_sheet
    from navloom.scenes.scene_uri import list_scenes

    check_writable(out, folder=False)
    if assets or objects:
        _draw_kinds(out, assets=assets, objects=objects, labels=labels)
        return
    uris = list_scenes(spec)
    if len(uris) > MOST_PLANS:
        print_err(f"{spec}: {len(uris)} homes, the first {MOST_PLANS} are drawn")
    scenes = list(common.load_homes(uris[:MOST_PLANS]))
    if not scenes:
        raise SceneError(f"{spec}: none of its homes can be loaded.")
    above = None
    if top_down:
        from navloom.sim.scene_images import render_floors

        above = partial(render_floors, a_metre=40)
    common.save_figure(draw_sheet(scenes, labels=labels, above=above), out)
    if len(scenes) < min(len(uris), MOST_PLANS):
        raise typer.Exit(1)


app.command()(export)


add_plugins(app, "scenes", "edit")


@app.command()
@with_options()
def annotate(
    spec: Spec,
    out: Annotated[
        Path | None,
        Opt("The scene.json to write; a folder where SPEC is many homes.", metavar="PATH", env=""),
    ] = None,
    model: Model = HEURISTIC,
    evaluate: Annotated[
        bool,
        Opt("Hide what is known, find it again, and print the accuracy after each stage.", env=""),
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Find the room of each viewpoint from the objects around it, and name unknown rooms.

    The four stages of CoNavBench 3.1.1: voting, consensus, contiguity and, by the model, typing. Of
    several homes a broken one is said and skipped; the exit code is then 1.
    """
    from navloom.errors import UsageError

    if evaluate:
        _evaluate(spec, model, seed, as_json)
    elif out is None:
        raise UsageError("say where to with --out scene.json, or how right it is with --evaluate")
    else:
        _annotate(spec, model, seed, out, as_json)


add_plugins(app, "scenes", "compare", "map", "render", "tour", "drive", "mend")


@importer.command("hm3d")
@with_options()
def import_hm3d(
    rooms: Annotated[Path, Opt("DomestiGraph's folder of YAML files.", metavar="DIR", env="")],
    objects: Annotated[Path, Opt("LH-VLN's folder of scene texts.", metavar="DIR", env="")],
    out: Annotated[Path, Opt("Where to write one ID.json per home.", metavar="DIR", env="")],
    overwrite: Annotated[bool, Opt("Replace files that are there already.", env="")] = False,
) -> None:
    """Make homes for hm3d: from DomestiGraph's rooms and LH-VLN's objects.

    A broken home is said and skipped; the exit code is then 1.
    """
    from navloom.scenes.formats.hm3d_import import import_folder

    report = import_folder(rooms, objects, out, overwrite=overwrite)
    for name, why in report.refused.items():
        print_err(f"navloom: skipped {name}: {why}")
    skipped = len(report.without_objects) + len(report.without_rooms)
    print_err(
        f"{out}: {len(report.written)} homes written, {len(report.kept)} were there already,"
        f" {skipped} without rooms or objects, {len(report.refused)} broken."
        f" Look at them with `navloom scenes list hm3d:{out}`"
    )
    if report.refused:
        raise typer.Exit(1)


def _print_rooms(scene: Scene) -> None:
    from navloom.evals.report.formatting import Table
    from navloom.evals.run_scenes import COUNTS, scene_counts, scene_rooms

    sizes = scene_counts(scene)
    counts = (common.count_noun(sizes[name], name) for name in COUNTS)
    print_wrapped(f"{sizes['scene']} · {', '.join(counts)}")
    rows = tuple(
        (
            room["region"],
            str(room["floor"]),
            *(", ".join(room[key]) for key in ("leads_to", "assets", "objects")),
        )
        for room in scene_rooms(scene)
    )
    header = ("region", "floor", "leads to", "assets", "objects")
    common.print_table(Table("", "", header, rows), of_words=True)
    for note in scene.notes:
        print_wrapped(f"note: {note}")


def _draw(scene: Scene, path: Path, view: str | None, top_down: bool, light: str) -> None:
    from navloom.scenes.plan_sheet import draw_plan

    if view is not None:
        from navloom.sim.scene_images import render_panorama

        common.save_png(render_panorama(scene, view, light=light), path)
        return
    above = None
    if top_down:
        from navloom.sim.scene_images import render_floors

        above = render_floors(scene)
    common.save_figure(draw_plan(scene, title=scene.uri, items=True, above=above), path)


def _draw_kinds(out: Path, *, assets: bool, objects: bool, labels: bool) -> None:
    """Write a sheet with each kind of furniture or object drawn alone."""
    from navloom.errors import UsageError
    from navloom.sim.scene_images import draw_item_kinds

    if out.suffix.casefold() != ".png":
        raise UsageError(f"--out {out}: expected a .png, which things are drawn to")
    sheet, count = draw_item_kinds(assets=assets, objects=objects, labels=labels)
    sheet.save(out)
    print_err(f"wrote {out}: {count} kinds")


def _annotate(spec: str, model: str, seed: int, out: Path, as_json: bool) -> None:
    from navloom.errors import SceneError
    from navloom.models.model_registry import resolve_model
    from navloom.scenes.formats.scene_json import save
    from navloom.scenes.scene_uri import list_scenes, load_scene

    chosen = resolve_model(model)
    uris = list_scenes(spec)
    check_homes_out(out, spec, uris)
    written = []
    for uri in uris:
        try:
            scene, said = _complete(load_scene(uri), chosen, seed)
        except SceneError as error:
            if len(uris) == 1:
                raise
            print_err(f"navloom: skipped {uri}: {error}")
            continue
        path = save(scene, out if len(uris) == 1 else out / f"{scene.id}.json")
        written.append({"scene": uri, "file": str(path), "done": said})
        print_err(f"{uri}: {said}; wrote {path}")
    if as_json:
        common.print_json(written)
    if len(written) < len(uris):
        raise typer.Exit(1)


def _complete(scene: Scene, model: Any, seed: int) -> tuple[Scene, str]:
    """Run all four annotation stages on a home; return it with a line about the result."""
    from navloom.graphs.annotation import room_typing
    from navloom.graphs.invocation import run
    from navloom.scenes.region_annotation import annotate_regions as place
    from navloom.scenes.region_annotation import apply_room_types
    from navloom.scenes.scene import UNKNOWN

    placed = place(scene)
    unknown = sum(region.label == UNKNOWN for region in placed.scene.regions)
    said = f"{len(placed.restored)} viewpoints placed, {len(placed.deleted)} deleted"
    if not unknown:
        return placed.scene, f"{said}, no room of unknown type"
    context = room_typing.Context(scene=placed.scene, model=model)
    types = run(room_typing.graph, {"seed": seed}, context=context)["result"]["types"]
    named = sum(kind is not None for kind in types.values())
    said += f", {named} of {unknown} unknown rooms typed"
    return apply_room_types(placed.scene, types), said


def _evaluate(spec: str, model: str, seed: int, as_json: bool) -> None:
    from navloom.evals.annotation.accuracy import accuracy_table, score_scenes
    from navloom.models.model_registry import resolve_model
    from navloom.scenes.scene_uri import iter_scenes

    scores = score_scenes(iter_scenes(spec), resolve_model(model), seed=seed)
    if as_json:
        common.print_json([score.to_json() for score in scores])
    else:
        common.print_table(accuracy_table(scores))
