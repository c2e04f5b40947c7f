"""Report of a home's mends: the changes, their cost, and plans before and after.

A plan shows the home before and after, side by side, and a close-up of each changed place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from navloom.errors import SceneError
from navloom.evals.report.blocks import Block, Grid, Picture, Prose
from navloom.evals.report.formatting import Table
from navloom.evals.report.report_files import SavedReport, save_report, write_markdown
from navloom.files import make_folder, write_run_file
from navloom.scenes.formats.scene_json import save
from navloom.scenes.plan_data import plan_data
from navloom.scenes.plan_sheet import PlanMark, PlanRoute, PlanSheet, Rect, draw_plan
from navloom.scenes.plan_style import Ink, TextLayout
from navloom.scenes.plan_svg import SvgNode, SvgPen, arrow_head, draw_floor
from navloom.scenes.scene import Box, Link, Scene
from navloom_worlds.mend.building_changes import plan_ramp
from navloom_worlds.mend.home_changes import HomeChange, apply_changes, mended_copy, total_cost
from navloom_worlds.mend.mend_search import Mend
from navloom_worlds.mend.route_drive import RouteDrive

_WIDE, _HIGH, _BETWEEN = 504.0, 475.0, 14.0
"""Size of one plan and gap between two, in points."""
_MOST = 4
"""Maximum number of close-ups; the most expensive changes are shown."""
_HALF = 1.25
"""Half the side of a close-up in metres."""
_BESIDE = 0.4
_INK, _WAY = "#d6303a", "#1f5fbf"
_SIDE, _GAP, _SAID, _LINE = 112.0, 9.0, 25.0, 8.5
"""Points: side of a close-up, gap beside it, height of its caption, and of a line of it."""


@dataclass(frozen=True)
class MendSite:
    """Place of one or more changes.

    Attributes:
        numbers: numbers of the changes, from 1.
        changes: the changes made there.
        floor: id of its floor.
        x: x of its centre.
        z: z of its centre.
        half: half the side of its close-up, in metres.
    """

    numbers: tuple[int, ...]
    changes: tuple[HomeChange, ...]
    floor: int
    x: float
    z: float
    half: float = _HALF

    @property
    def label(self) -> str:
        """Numbers of the changes at the place, as text."""
        return ", ".join(map(str, self.numbers))


def draw_mend(scene: Scene, found: Mend) -> PlanSheet:
    """Return a sheet of a home before and after a mend, with the body's drives and the changes.

    Args:
        scene: the original home.
        found: a mend of it.

    Raises:
        SceneError: a change cannot be applied.
    """
    after = apply_changes(scene, found.changes)
    floors = sorted({scene.region_by_id[each].floor for each in (*found.path, found.start)})
    places = change_sites(scene, found.changes)
    close = _SIDE + _SAID + _GAP
    sheet = PlanSheet(2 * _WIDE + _BETWEEN, _HIGH + close, dpi=110)
    changes = f"{len(found.changes)} change{'s' if len(found.changes) != 1 else ''}"
    said = f"{found.body} from {found.start} to {found.goal}"
    drawn = (
        (scene, found.before, f"before: {said} does not get through"),
        (after, found.after, f"after: {changes}, costs {found.cost:,.0f}"),
    )
    for number, (home, drive, title) in enumerate(drawn):
        changed = [PlanMark("change", each.floor, each.x, each.z, each.label) for each in places]
        draw_plan(
            home,
            routes=_routes(scene, drive),
            marks=[*_ends(scene, found, drive), *changed],
            title=title,
            items=True,
            floors=floors,
            on=sheet,
            rect=(number * (_WIDE + _BETWEEN), 0.0, _WIDE, _HIGH),
        )
    dear = sorted(places, key=lambda each: -total_cost(each.changes))[:_MOST]
    wide = 2 * _SIDE + _GAP
    apart = (sheet.width - len(dear) * wide) / (len(dear) + 1)
    for k, place in enumerate(sorted(dear, key=lambda each: each.numbers)):
        left, top = apart + k * (wide + apart), _HIGH + _SAID
        sheet.write(place.label, (left - 4, top + 6), 9, _INK, anchor="end")
        for number, (home, drive, _) in enumerate(drawn):
            x = left + number * (_SIDE + _GAP)
            _close_up(sheet, (x, top, _SIDE, _SIDE), scene, home, place, drive)
            lines = [_said(scene, each)[number] for each in place.changes[:2]]
            for up, line in enumerate(reversed(lines)):
                sheet.write(line, (x + _SIDE / 2, top - 7 - up * _LINE), 7)
    return sheet


def _routes(scene: Scene, drive: RouteDrive | None) -> list[PlanRoute]:
    legs = [] if drive is None else drive.path
    return [
        PlanRoute(
            tuple((_floor(scene, y), x, z) for x, y, z in leg), "robot_1", label="how it drove"
        )
        for leg in legs
        if len(leg) > 1
    ]


def _floor(scene: Scene, y: float) -> int:
    return min(scene.floors, key=lambda floor: abs(floor.height - y)).id


def _ends(scene: Scene, found: Mend, drive: RouteDrive | None) -> Iterator[PlanMark]:
    goal = scene.region_by_id[found.goal]
    if drive is not None and drive.path:
        x, y, z = drive.path[0][0]
        yield PlanMark("start", _floor(scene, y), x, z)
        x, y, z = drive.path[-1][-1]
        yield PlanMark("goal" if drive.arrived else "stop", _floor(scene, y), x, z)
    else:
        start = scene.region_by_id[found.start]
        yield PlanMark("start", start.floor, start.center[0], start.center[2])
    if drive is None or not drive.arrived:
        yield PlanMark("goal", goal.floor, goal.center[0], goal.center[2])


def change_sites(scene: Scene, changes: Sequence[HomeChange]) -> list[MendSite]:
    """Return the places of changes, one for all changes of a link; a lift has two."""
    found: dict[tuple[int, float, float], MendSite] = {}
    for number, change in enumerate(changes, start=1):
        for floor, x, z, half in _where(scene, change):
            key = floor, round(x, 2), round(z, 2)
            known = found.get(key)
            numbers = (*known.numbers, number) if known else (number,)
            made = (*known.changes, change) if known else (change,)
            found[key] = MendSite(numbers, made, floor, x, z, half)
    return list(found.values())


def _where(scene: Scene, change: HomeChange) -> Iterator[tuple[int, float, float, float]]:
    if change.item is not None:
        item = scene.item_by_id[change.item]
        region = scene.region_by_id[str(item.region)]
        wide = math.hypot(item.size[0], item.size[2]) / 2 if item.size else 0.0
        yield region.floor, item.position[0], item.position[2], max(_HALF, wide + _BESIDE)
    elif change.ends is not None and change.at is not None:
        for each in change.ends:
            yield scene.region_by_id[each].floor, *change.at, _HALF
    elif (link := scene.links[change.link or 0]).point is not None:
        x, _, z = link.point
        half = max(_HALF, (link.width or 0.0) / 2 + 2 * _BESIDE)
        yield scene.region_by_id[link.a].floor, x, z, half


def _close_up(
    sheet: PlanSheet, rect: Rect, first: Scene, home: Scene, at: MendSite, drive: RouteDrive | None
) -> None:
    """Draw a close-up, changed items and doorways in red; ``first`` is the original home."""
    pen = SvgPen(2 * at.half / rect[2])
    (data,) = plan_data(home, floors=[at.floor]).floors
    nodes = list(draw_floor(data, pen))
    high = next(each.height for each in home.floors if each.id == at.floor)
    for leg in drive.path if drive else ():
        near = tuple((x, -z) for x, y, z in leg if abs(y - high) < 1.0)
        nodes += [pen.draw([near], Ink(_WAY, 1.2))] if near else []
    for change in at.changes:
        item = None if change.item is None else first.item_by_id[change.item]
        if item is not None and item.size is not None:
            box = Box(center=item.position, size=item.size, yaw=item.yaw)
            dash = () if home is first else (1.0, 1.65)
            ring = tuple((x, -z) for x, z in box.corners())
            nodes.append(pen.draw([ring], Ink(_INK, 1.2, dash=dash), close=True))
    for number in {each.link for each in at.changes} - {None}:
        nodes += _measured(home.links[number or 0], pen)
    x, y, half = at.x, -at.z, at.half
    sheet.place(nodes, (x - half, y - half, x + half, y + half), rect, cut=True)
    left, top, wide, tall = rect[0], -rect[1], rect[2], rect[3]
    frame = ((left, top), (left + wide, top), (left + wide, top - tall), (left, top - tall))
    sheet.nodes.append(SvgPen(1.0).draw([frame], Ink("#000000", 0.8), close=True))


def _measured(link: Link, pen: SvgPen) -> Iterator[SvgNode]:
    """Yield the drawing of a line from jamb to jamb with its length."""
    if link.jambs is None or link.width is None:
        return
    a, b = ((x, -z) for x, z in link.jambs)
    heads = arrow_head((a, b), pen), arrow_head((b, a), pen)
    yield pen.draw([(a, b), *heads], Ink(_INK, 1.0))
    # The text is beside the line, to the right and above its midpoint.
    at = (a[0] + b[0]) / 2 + 20 * pen.point, (a[1] + b[1]) / 2 + 11 * pen.point
    yield pen.words(TextLayout(f"{link.width * 100:.0f} cm", 7.5, False), at, _INK)


def _said(scene: Scene, change: HomeChange) -> tuple[str, str]:
    """Describe a change by a phrase for before and one for after."""
    if change.item is not None:
        return change.item, "taken away"
    if change.ends is not None:
        return "floor", "platform lift"
    link = scene.links[change.link or 0]
    now = f"{(link.width or 0.0) * 100:.0f} cm wide"
    if change.kind == "ramp":
        ramp = plan_ramp(scene, link)
        return f"step of {ramp.rise * 100:.0f} cm", f"ramp of 1:{ramp.slope}"
    said: dict[str, tuple[str, str]] = {
        "open": (f"door {link.door}", "door open"),
        "slide": ("door folds" if link.leaf == "folding" else "door swings", "door slides"),
        "level": (f"sill of {(link.threshold or 0.0) * 100:.1f} cm", "no sill"),
        "widen": (now, f"{(change.width or 0.0) * 100:.0f} cm wide"),
    }
    return said[change.kind]


_MOST_DRAWN = 40


def write_mends(scene: Scene, found: Sequence[Mend], folder: Path) -> list[str]:
    """Write ``report.md``, ``report.json``, ``mends.json``, and for each mend a plan and a copy.

    Args:
        scene: the original home.
        found: mends of it.
        folder: the output folder, created if missing.

    Returns:
        Messages for the user.

    Raises:
        RunError: a file cannot be written.
    """
    make_folder(folder)
    said: list[str] = []
    pictures: list[Picture] = []
    for number, each in enumerate(_proven(found)[:_MOST_DRAWN], start=1):
        drawn = draw_mend(scene, each).png()
        write_run_file(folder / f"mend-{number}.png", drawn)
        numbered = enumerate(each.changes, start=1)
        listed = "; ".join(f"{k}. {c.words} ({c.cost:,.0f})" for k, c in numbered)
        title = f"{number}. {each.body}: {each.start} to {each.goal}"
        alt = f"Before and after of {title}"
        pictures.append(Picture(title=title, data=drawn, alt=alt, note=listed, private=True))
        try:
            copy = mended_copy(scene, each.changes, f"{scene.id}-mended-{number}")
            save(copy, folder / f"mend-{number}.json")
        except SceneError as error:
            said.append(f"mend {number}: no copy of the home is written: {error}")
    blocks: list[Block] = [_summary(scene, found), Grid(mends_table(found)), *pictures]
    write_markdown(folder, blocks)
    scenes = (scene.uri,)
    report = SavedReport(title="Ways to mend", what="mends", blocks=tuple(blocks), scenes=scenes)
    save_report(folder, report)
    record = {"scene": scene.uri, "mends": [each.record() for each in found]}
    write_run_file(folder / "mends.json", (json.dumps(record, indent=1) + "\n").encode())
    return said


def _proven(found: Sequence[Mend]) -> list[Mend]:
    return [each for each in found if each.proven]


def mends_table(found: Sequence[Mend]) -> Table:
    """Return a table with a row per pair of rooms: the changes and their cost."""
    rows = []
    for each in found:
        if each.before.arrived:
            what, cost = "nothing: it gets there", "0"
        elif each.proven:
            what, cost = "; ".join(c.words for c in each.changes), f"{each.cost:,.0f}"
        else:
            what, cost = f"no mend was found: {each.why}", "–"
        rows.append((f"{each.start} to {each.goal}", each.body, cost, what))
    note = "Costs are those of the table that was given, or rough prices in euros."
    return Table("Mends", note, ("rooms", "body", "cost", "what is done"), tuple(rows))


def _summary(scene: Scene, found: Sequence[Mend]) -> Prose:
    blocked = [each for each in found if not each.before.arrived]
    headline = (
        f"{scene.uri}: of {len(found)} pairs of rooms {len(blocked)} are blocked, and for"
        f" {len(_proven(found))} of these a mend was found and proven: the body fails in the home"
        " as it is and arrives in the changed one, driven by its exact shape. Costs are a table's."
    )
    return Prose(title="Ways to mend", text=headline)
