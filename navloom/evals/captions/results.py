"""Results of captioning as report blocks: table columns, viewpoint pages and totals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, encode_jpeg
from navloom.evals.run_folder import read_samples
from navloom.evals.run_scenes import load_run_scene, viewpoints_on_plan
from navloom.files import check_format
from navloom.scenes.distances import heading_to
from navloom.scenes.scene import Scene
from navloom.sim.scene_images import can_render, candidate_panorama
from navloom.sim.views import panel_name

_VIEW, _PICTURE = 256, 1024
"""Side of a view, and width of the four in a row, in pixels."""


def _told(line: ui.Line) -> Mapping[str, Any]:
    """Return the captions of a line's viewpoint."""
    found: Mapping[str, Any] = line["result"]["viewpoints"].get(line["viewpoint"]) or {}
    return found


def columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the columns of a viewpoint's captions, without the licensed texts."""
    del run
    return [
        ui.Column("viewpoint", lambda line: line["viewpoint"], "text"),
        ui.Column("ways", lambda line: len(_told(line).get("towards") or {}), "count"),
        ui.Column("missing", lambda line: line["result"]["missing"], "count",
                  better="less", help="questions without an answer"),
        ui.Column("reasks", lambda line: line["result"]["reasks"], "count", better="less",
                  help="replies that were sent back"),
        ui.Column("words", _words, "count", help="in all captions of the viewpoint"),
    ]  # fmt: skip


def _words(line: ui.Line) -> int:
    told = _told(line)
    texts = [str(told.get("summary") or ""), *map(str, (told.get("towards") or {}).values())]
    return sum(len(text.split()) for text in texts)


def detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of one viewpoint: map, views, and captions of it and of its candidates.

    Raises:
        RunError: the line does not have the form of a viewpoint's captions.
    """
    with check_format(f"{run}: sample {line.get('id')}", "a viewpoint's captions"):
        place, result, told = str(line["viewpoint"]), line["result"], _told(line)
        ways = {str(to): str(words) for to, words in (told.get("towards") or {}).items()}
        summary = str(told.get("summary") or "")
        blocks: list[ui.Block] = []
        scene: Scene | None = None
        try:
            scene = load_run_scene(run, str(line["scene"]))
        except NavloomError as error:
            said = f"The map is missing: {error}"
            blocks.append(ui.Prose(title="Map", text=said, tone="bad"))
        if summary:
            blocks.append(ui.Prose(title="Here", text=summary, private=True))
        order = _clockwise(scene, place, ways)
        blocks.append(_grid(scene, place, ways, order))
        if scene is not None:
            blocks += [*_looks(scene, place, order), _map(scene, place, order)]
        facts = tuple(ui.Fact(name, str(result[name])) for name in ("missing", "reasks"))
        blocks.append(ui.Facts(title="How it went", facts=facts))
        if faults := result.get("faults"):
            sent = tuple(ui.Utterance("sent back", str(each), tone="bad") for each in faults)
            blocks.append(ui.Transcript(title="Sent back", said=sent, private=True))
        headline = f"{line['scene']}, {place}"
        return ui.SampleDetail(title=place, headline=headline, blocks=tuple(blocks))


def _clockwise(scene: Scene | None, place: str, ways: Mapping[str, str]) -> list[str]:
    """Return the candidates in the order of their numbers in images; unknown ones last."""
    if scene is None or place not in scene.viewpoint_by_id:
        return list(ways)
    here = scene.viewpoint_by_id[place].position
    known = [way for way in ways if way in scene.viewpoint_by_id]
    known.sort(key=lambda way: heading_to(here, scene.viewpoint_by_id[way].position))
    return [*known, *(way for way in ways if way not in scene.viewpoint_by_id)]


def _grid(scene: Scene | None, place: str, ways: Mapping[str, str], order: list[str]) -> ui.Grid:
    rows = tuple(
        (str(number), way, _side(scene, place, way), ways[way])
        for number, way in enumerate(order, 1)
    )
    note = "Numbers are those on the picture and on the map, clockwise from north, which is Front."
    table = Table("Each way on", note, ("", "to", "side", "what is said"), rows)
    return ui.Grid(table, private=True)


def _side(scene: Scene | None, place: str, way: str) -> str:
    known = {} if scene is None else scene.viewpoint_by_id
    if place not in known or way not in known:
        return NOTHING
    return panel_name(0.0, heading_to(known[place].position, known[way].position))


def _looks(scene: Scene, place: str, order: list[str]) -> list[ui.Block]:
    """Return the four views with numbered candidates; [] if the scene cannot be rendered."""
    try:
        if not can_render(scene):
            return []
        seen = candidate_panorama(scene, place, 0.0, order, size=_VIEW, light="flat")
    except NavloomError:
        return []
    alt = f"Left, Front, Right and Back from {place}, its {len(order)} ways on numbered"
    return [ui.Picture(title="Left, Front, Right, Back", data=encode_jpeg(seen, _PICTURE), alt=alt,
                       private=True)]  # fmt: skip


def _map(scene: Scene, place: str, order: list[str]) -> ui.SceneMap:
    here = tuple(ui.MapMark("start", at, place) for at in viewpoints_on_plan(scene, [place]))
    shown = tuple(
        ui.MapOption(str(number), at)
        for number, way in enumerate(order, 1)
        for at in viewpoints_on_plan(scene, [way])
    )
    frame = ui.MapFrame(at=0.0, title=place, options=shown, heading=0.0)
    return ui.SceneMap(title="Map", scene=scene.uri, marks=here, frames=(frame,))


def tables(run: Path) -> list[ui.Block]:
    """Return the numbers of captions, and of viewpoints with complete captions by scene.

    Raises:
        RunError: a line is broken.
    """
    rows = read_samples(run)
    with check_format(f"{run}: a sample", "a viewpoint's captions"):
        counted: dict[str, list[int]] = {}
        for row in rows:
            whole = counted.setdefault(str(row["scene"]), [0, 0])
            whole[bool(row["result"]["missing"])] += 1
        facts = (
            ui.Fact("viewpoints", str(len(rows))),
            ui.Fact("words", f"{sum(map(_words, rows)):,}"),
            ui.Fact("missing", str(sum(row["result"]["missing"] for row in rows))),
            ui.Fact("reasks", str(sum(row["result"]["reasks"] for row in rows))),
        )
        names = ("whole", "something missing")
        bars = tuple(
            (scene, tuple(ui.Segment(name, n, to=ui.samples_address(scene=scene))
                          for name, n in zip(names, of, strict=True) if n))
            for scene, of in counted.items()
        )  # fmt: skip
        return [
            ui.Facts(title="Captions", facts=facts),
            ui.Bars(title="Viewpoints by home", bars=bars, unit="viewpoints"),
        ]


def pairing() -> ui.Pairing:
    """Return the rules for comparing two runs by viewpoint."""
    return ui.Pairing(
        identity=lambda line: [line["scene"], line["viewpoint"]],
        scores=lambda line: {
            "words": float(_words(line)),
            "missing": line["result"]["missing"],
            "reasks": line["result"]["reasks"],
        },
        what="a viewpoint",
        less=frozenset({"missing", "reasks"}),
        neither=frozenset({"words"}),
        cluster=lambda line: line["scene"],
        cluster_name="scene",
    )
