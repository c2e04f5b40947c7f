"""Errands that two robots may share, to be planned by people (CoNavBench A.7).

Given are both robots' starts, the thing and its end; asked are the transfer region with an asset,
and who does what. What the generator chose and what is best with these starts is kept beside: the
optimum is over all guarded relays of robot_2's given start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from navloom.errors import NavloomError, UsageError
from navloom.evals.navcraft.export import export_lines
from navloom.evals.navcraft.relay_map import placed_task
from navloom.evals.people.form import Answer, Form
from navloom.evals.people.instruction_items import Note, lines_of
from navloom.evals.people.shown_parts import records, rooms_block
from navloom.evals.people.study_folder import Item
from navloom.evals.report.blocks import Block, MapMark, Prose, Said, SceneMap, Transcript
from navloom.evals.run_scenes import run_scene
from navloom.scenes.plan_shapes import readable
from navloom.scenes.scene import Scene
from navloom.scenes.uri import SceneNames
from navloom.tools.navcraft.optimum import Relay, all_relays
from navloom.tools.navcraft.paths import spot_of
from navloom.tools.navcraft.task import RelayTask

RULES = (
    ("A1", "Robot 2 fetches the thing and brings it to the place in between; robot 1 takes it on"
           " from there to its end."),
    ("A2", "Robot 1 fetches the thing and brings it to the place in between; robot 2 takes it on"
           " from there to its end."),
)  # fmt: skip


def read_relays(source: str, note: Note) -> list[tuple[Mapping[str, Any], Scene]]:
    """The relays of a run of ``synth collab`` or of a dataset, each with its scene.

    Raises:
        UsageError: it holds none; NavloomError: it cannot be read.
    """
    path = Path(source)
    found: list[tuple[Mapping[str, Any], Scene]] = []
    load: Callable[[str], Scene]
    if path.is_dir():
        lines = export_lines(path)
        load = partial(run_scene, path)
    else:
        lines = [line for _, line in lines_of(path, note)]
        load = SceneNames(None).load
    for line in lines:
        if not line.get("phase_2"):
            continue
        try:
            found.append((line, load(str(line.get("scene")))))
        except NavloomError as error:
            note(f"{_name(line)} is left out: {error}")
    if not found:
        raise UsageError(
            f"{source}: no relay is in it: name a run of `navloom synth collab`, or what `navloom"
            " export` made of one"
        )
    return found


def _name(line: Mapping[str, Any]) -> str:
    rest = line.get("navloom")
    return str((rest.get("id") if isinstance(rest, Mapping) else None) or "a relay")[:200]


def relay_items(
    form: Form, relays: list[tuple[Mapping[str, Any], Scene]], note: Note
) -> Iterator[Item]:
    """Relays as items; one that is no relay of its home is left out."""
    number = 0
    for line, scene in relays:
        try:
            task = placed_task(scene, line)
            item = _item(f"i{number:04}", form, task, line)
        except (NavloomError, ValidationError, KeyError, TypeError) as error:
            note(f"{_name(line)} is left out: {str(error).partition(chr(10))[0][:200]}")
            continue
        number += 1
        yield item


def _item(name: str, form: Form, task: RelayTask, line: Mapping[str, Any]) -> Item:
    plan, rest = line["phase_2"], line.get("navloom") or {}
    helper = str(plan["Collaborative robot start region"]["robot_2"])
    made: dict[str, Callable[[], Block]] = {
        "task": lambda: _errand(task, helper),
        "rules": _rules,
        "plan": lambda: _map(task, helper),
        "rooms": lambda: rooms_block(task.scene),
    }
    chosen = _answer(
        plan["Transfer region"], rest.get("transfer_asset"), plan["Collaborative type"]
    )
    references = {"generator": chosen, **_optima(task, helper)}
    return Item(
        id=name,
        scene=task.scene.uri,
        blocks=records(made[part]() for part in form.shows),
        places=_places(task),
        references=references,
        tags={"of": _name(line), "home": task.scene.uri, "author": str(rest.get("model") or "")},
    )


def _places(task: RelayTask) -> dict[str, tuple[str, ...]]:
    """Where the guards let the thing change hands: what a generator may choose, and no more."""
    found: dict[str, tuple[str, ...]] = {}
    for region, name in task.fit_transfers:
        found[region] = (*found.get(region, ()), name)
    return found


def _answer(region: Any, asset: Any, kind: Any) -> dict[str, Answer]:
    place: dict[Any, str] = {"region": str(region)}
    if asset:
        place["asset"] = str(asset)
    return {"transfer": place, "type": str(kind).removeprefix("Type-")}


def _optima(task: RelayTask, helper: str) -> dict[str, dict[str, Answer]]:
    """The best relays from these starts: by robot_1's share of the way, and by time."""
    relays = all_relays(task)
    here = np.array([start.region == helper for start in relays.starts], dtype=bool)
    found: dict[str, dict[str, Answer]] = {}
    for name, by in (("optimum", "alpha"), ("optimum in time", "g_rate")):
        ranked = relays.ranking(by)  # type: ignore[arg-type]
        ours = ranked[here[relays.start[ranked]]] if len(relays) else ranked
        if len(ours):
            best: Relay = relays.relay(int(ours[0]))
            found[name] = _answer(best.transfer_region, best.transfer_asset, best.collab_type)
    return found


def _errand(task: RelayTask, helper: str) -> Prose:
    thing, end = readable(task.object_item.name), readable(task.end_item.name)
    start, there = readable(task.start_region), readable(task.target_region)
    return Prose(
        title="The errand",
        text=f"Take the {thing} from {there} to the {end} in {readable(task.end_region)}."
        f" Robot 1 starts in {start}, robot 2 in {readable(helper)}.",
    )


def _rules() -> Transcript:
    note = "Both robots are equally fast. The thing is put down at the place in between."
    said = tuple(Said(who=name, text=text) for name, text in RULES)
    return Transcript(title="Two ways to share it", said=said, note=note)


def _map(task: RelayTask, helper: str) -> SceneMap:
    anchors = (
        ("start_1", task.start_anchor, ""),
        ("start_2", task.helpers[helper].anchor, ""),
        ("object", task.object_anchor, readable(task.object_item.name)),
        ("end", task.end_anchor, readable(task.end_item.name)),
    )
    marks = tuple(
        MapMark(kind=kind, at=spot_of(task.scene, anchor.node), label=label)
        for kind, anchor, label in anchors
        if anchor is not None
    )
    return SceneMap(title="The home from above", scene=task.scene.uri, marks=marks)
