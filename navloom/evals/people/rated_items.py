"""Study items about runs and relays, and the blocks that show scenes and paths to raters.

Questions about judge runs come from the run: correctness of an explanation, the rubric's criteria
for a step, the causes of VLN-MME E.2 for a failed walk, the better of two tasks.

A relay item gives both robots' starts, the object and its destination. It asks for the transfer
region with an asset, and for the robots' roles. The generator's choice and the optimum for these
starts are stored as references; the optimum is over all guarded relays from robot_2's start.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from navloom.errors import NavloomError, UsageError
from navloom.evals.navcraft.dataset_check import MOST_BYTES as MOST_TASK
from navloom.evals.navcraft.export import export_lines
from navloom.evals.navcraft.relay_map import build_relay_task
from navloom.evals.people.rating_form import Answer, FormOption, FormQuestion, RatingForm
from navloom.evals.people.study_folder import RatedItem
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, encode_jpeg
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.run_scenes import load_run_scene, scene_rooms, viewpoints_on_plan
from navloom.files import open_file
from navloom.models.model_spec import read_spec
from navloom.scenes.distances import heading_to
from navloom.scenes.lexicon import item_names
from navloom.scenes.plan_style import to_words
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import SceneLookup
from navloom.tools.navcraft.relay_optimum import GuardedRelay, all_relays
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.task_paths import plan_position

_VIEWS = 3
"""Maximum number of views along a path: at its start, middle and end."""
_WIDE = 1024
"""Longer side of a view in pixels."""


Note = Callable[[str], None]


def iter_json_lines(path: Path, note: Note) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON-lines file with line numbers; note every other line.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with open_file(path) as file:
            for number, raw in enumerate(iter(lambda: file.readline(MOST_TASK + 1), b""), 1):
                line = None
                if len(raw) <= MOST_TASK:
                    try:
                        line = json.loads(raw) if raw.strip() else {}
                    except (ValueError, RecursionError):
                        line = None
                if not isinstance(line, dict):
                    note(f"{path} line {number} is left out: it is no JSON object")
                elif line:
                    yield number, line
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def text_block(text: str, title: str = "Instruction") -> ui.Prose:
    """Return the rated text as a block."""
    return ui.Prose(title=title, text=text)


def path_block(scene: Scene, path: Sequence[str]) -> ui.SceneMap:
    """Return a path on its plan, from start to goal, without viewpoints that the scene lacks.

    Args:
        scene: the scene.
        path: viewpoints.
    """
    spots = viewpoints_on_plan(scene, path)
    marks = []
    if spots:
        marks = [ui.MapMark("start", spots[0]), ui.MapMark("goal", spots[-1])]
    route = (ui.MapRoute("the way", "walk", spots),) if len(spots) > 1 else ()
    return ui.SceneMap(title="The way", scene=scene.uri, routes=route, marks=tuple(marks))


def path_rooms_block(scene: Scene, path: Sequence[str]) -> ui.Prose:
    """Return the rooms along a path, in order, as text."""
    known = scene.viewpoint_by_id
    regions = (known[name].region for name in path if name in known)
    rooms = [to_words(each) for each, _ in groupby(regions) if each is not None]
    return ui.Prose(title="Rooms on the way", text=" → ".join(rooms) or "not known")


def view_blocks(scene: Scene, path: Sequence[str]) -> list[ui.Block]:
    """Return views along a path, facing its next viewpoint; [] if the scene cannot be seen."""
    from navloom.sim.scene_images import render_panorama

    known = [name for name in path if name in scene.viewpoint_by_id]
    if len(known) < 2:
        return []
    places = sorted({0, len(known) // 2, len(known) - 1})[:_VIEWS]
    names = dict.fromkeys(places, "half-way") | {0: "at the start", places[-1]: "at the end"}
    blocks: list[ui.Block] = []
    for place in places:
        here, there = known[min(place, len(known) - 2)], known[min(place, len(known) - 2) + 1]
        found = scene.viewpoint_by_id
        heading = math.degrees(heading_to(found[here].position, found[there].position))
        try:
            image = render_panorama(scene, f"{known[place]},{heading:.1f}")
        except NavloomError:
            return []
        said = f"What is seen {names[place]}: to the left, in front, to the right and behind"
        blocks.append(ui.Picture(data=encode_jpeg(image, _WIDE), alt=said, note=f"{said}."))
    return blocks


def rooms_block(scene: Scene) -> ui.Grid:
    """Return the room graph as models read it: neighbours and assets of each room."""
    rows = tuple(
        (
            to_words(room["region"]),
            str(room["floor"]),
            ", ".join(map(to_words, room["leads_to"])) or NOTHING,
            ", ".join(map(to_words, room["assets"])) or NOTHING,
        )
        for room in scene_rooms(scene)
    )
    header = ("room", "floor", "leads to", "things to put something on, and others")
    return ui.Grid(Table("", "", header, rows, folded="The rooms in words"))


def answer_places(scene: Scene, form: RatingForm) -> dict[str, tuple[str, ...]]:
    """Return rooms with their assets, for place questions; {} if the form has none."""
    if all(each.kind != "place" for each in form.questions):
        return {}
    found = ((room.id, item_names(scene, room.id, "asset")) for room in scene.regions)
    return {room: tuple(names) for room, names in found if names}


def examples_block(writers: Sequence[tuple[str, Iterable[str]]]) -> ui.Transcript:
    """Return example texts of each writer."""
    said = [ui.Utterance(name, text) for name, texts in writers for text in texts]
    return ui.Transcript(title="Other texts of both", said=tuple(said))


def block_records(blocks: Iterable[ui.Block]) -> tuple[dict[str, Any], ...]:
    """Return blocks as the JSON that an item stores."""
    return tuple(ui.block_to_json(each) for each in blocks)


_REASONS = ("judge_reasoning", "calibrate_reasoning", "calibrate_injections")
_STEPS = ("judge_trace", "calibrate_trace")
_PAIRS = ("judge_prefer", "calibrate_prefer")
_WALKS = "judge_failures"
_KINDS = (*_REASONS, *_STEPS, _WALKS, *_PAIRS)
_ASIDE = re.compile(r"^(Job|Random seed): .*\n", re.MULTILINE)
_MOST_TEXT = 24_000


def read_judge_run(run: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read ``run.json`` and the lines of a judge run.

    Raises:
        UsageError: it is no judge run; RunError: it is no run.
    """
    said = read_run(run)
    if said.get("kind") not in _KINDS:
        raise UsageError(
            f"{run} is a run of '{str(said.get('kind'))[:40]}': expected one of `navloom judge`"
        )
    return said, read_samples(run)


def grade_form(form: RatingForm, said: Mapping[str, Any]) -> RatingForm:
    """Return the form, with the questions of a judge run if it has none of its own.

    Raises:
        UsageError: the run does not record what was graded.
    """
    if form.questions:
        return form
    return form.model_copy(update={"questions": tuple(_questions(said))})


def _questions(said: Mapping[str, Any]) -> Iterator[FormQuestion]:
    kind, request = str(said["kind"]), said.get("request") or {}
    try:
        if kind in _REASONS:
            options = {"correct": "it is right", "wrong": "it is wrong"}
            text = "Does the explanation name what really blocks the path?"
            yield _choice("verdict", text, options)
        elif kind in _STEPS:
            for each in request["rubric"]["criteria"]:
                options = {key: f"{key}: {each[f'if_{key}']}" for key in ("yes", "no", "na")}
                yield _choice(str(each["id"]), str(each["question"]), options)
        elif kind == _WALKS:
            causes = {str(name): f"{name}: {means}" for name, means in request["causes"].items()}
            yield _choice("cause", "Why did the walk leave the right way?", causes)
        else:
            options = {"a": "task A", "b": "task B", "tie": "neither"}
            yield _choice("choice", "Which task would a person sooner give?", options)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"the judged run does not say what was graded ({type(error).__name__}: {error}): it was"
            " made by another version or changed by other hands"
        ) from error


def _choice(name: str, text: str, options: Mapping[str, str]) -> FormQuestion:
    made = tuple(FormOption(name=key, text=words[:600]) for key, words in options.items())
    return FormQuestion(name=name, kind="choice", text=text, options=made)


def grade_items(
    said: Mapping[str, Any], lines: Sequence[ui.Line], note: Note
) -> Iterator[RatedItem]:
    """Make items of a judge's lines; missing grades give no reference."""
    kind, model = str(said["kind"]), (said.get("request") or {}).get("model")
    judge = f"judge:{read_spec(str(model)).bare}" if model else "judge"
    number = 0
    for line in lines:
        blocks = list(_shown(kind, line))
        if not blocks:
            note(f"{str(line.get('id'))[:80]} is left out: its line does not say what was judged")
            continue
        references = {name: answers for name, answers in _known(kind, line, judge) if answers}
        yield RatedItem(
            id=f"i{number:04}",
            scene="",
            blocks=block_records(blocks),
            references=references,
            tags={"of": str(line.get("id"))[:400], "home": str(line.get("scene") or "")[:400]},
        )
        number += 1


def _shown(kind: str, line: ui.Line) -> Iterator[ui.Block]:
    """Yield what the judge was shown, without lines meant for models."""
    if kind in _PAIRS:
        for key in ("a", "b"):
            if isinstance(line.get(key), str):
                yield text_block(line[key][:_MOST_TEXT], f"Task {key.upper()}")
        return
    result = line.get("result")
    prompt = result.get("prompt") if isinstance(result, Mapping) else None
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], str):
        text = _ASIDE.sub("", prompt[-1]).strip()[:_MOST_TEXT]
        yield ui.Prose(title="What is to be graded", text=text, exact=True)


def _known(kind: str, line: ui.Line, judge: str) -> Iterator[tuple[str, dict[str, Answer]]]:
    """Yield the judge's answer and the known truth, each with its source."""
    found = line.get("result")
    result: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    words = {True: "correct", False: "wrong"}
    if kind in _REASONS:
        yield judge, _one("verdict", words.get(result.get("correct")))  # type: ignore[arg-type]
        yield "truth", _one("verdict", words.get(line.get("deserves")))  # type: ignore[arg-type]
    elif kind in _STEPS:
        criteria = result.get("criteria")
        grades = criteria if isinstance(criteria, Mapping) else {}
        yield (
            judge,
            {
                str(name): str(each["grade"])
                for name, each in grades.items()
                if isinstance(each, Mapping) and each.get("grade") in ("yes", "no", "na")
            },
        )
        due = line.get("deserves")
        yield "truth", {str(k): str(v) for k, v in due.items()} if isinstance(due, Mapping) else {}
    elif kind == _WALKS:
        yield judge, _one("cause", result.get("cause"))
        yield "rules", _one("cause", result.get("rules"))
    else:
        yield judge, _one("choice", result.get("choice"))
        yield "truth", _one("choice", line.get("better"))


def _one(name: str, answer: Any) -> dict[str, Answer]:
    return {name: answer} if isinstance(answer, str) and answer else {}


RULES = (
    ("A1", "Robot 2 fetches the thing and brings it to the place in between; robot 1 takes it on"
           " from there to its end."),
    ("A2", "Robot 1 fetches the thing and brings it to the place in between; robot 2 takes it on"
           " from there to its end."),
)  # fmt: skip


def read_relays(source: str, note: Note) -> list[tuple[Mapping[str, Any], Scene]]:
    """Read the relays of a run of ``synth collab`` or of a dataset, each with its scene.

    Raises:
        UsageError: it holds no relays; NavloomError: it cannot be read.
    """
    path = Path(source)
    found: list[tuple[Mapping[str, Any], Scene]] = []
    load: Callable[[str], Scene]
    if path.is_dir():
        lines = export_lines(path)
        load = partial(load_run_scene, path)
    else:
        lines = [line for _, line in iter_json_lines(path, note)]
        load = SceneLookup(None).load
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


def _name(line: ui.Line) -> str:
    rest = line.get("navloom")
    return str((rest.get("id") if isinstance(rest, Mapping) else None) or "a relay")[:200]


def relay_items(
    form: RatingForm, relays: list[tuple[Mapping[str, Any], Scene]], note: Note
) -> Iterator[RatedItem]:
    """Yield items of relays; a relay that does not fit its home is left out."""
    number = 0
    for line, scene in relays:
        try:
            task = build_relay_task(scene, line)
            item = _item(f"i{number:04}", form, task, line)
        except (NavloomError, ValidationError, KeyError, TypeError) as error:
            note(f"{_name(line)} is left out: {str(error).partition(chr(10))[0][:200]}")
            continue
        number += 1
        yield item


def _item(name: str, form: RatingForm, task: RelayTask, line: ui.Line) -> RatedItem:
    plan, rest = line["phase_2"], line.get("navloom") or {}
    helper = str(plan["Collaborative robot start region"]["robot_2"])
    made: dict[str, Callable[[], ui.Block]] = {
        "task": lambda: _errand(task, helper),
        "rules": _rules,
        "plan": lambda: _map(task, helper),
        "rooms": lambda: rooms_block(task.scene),
    }
    taken = _answer(plan["Transfer region"], rest.get("transfer_asset"), plan["Collaborative type"])
    references = {"generator": taken, **_optima(task, helper)}
    return RatedItem(
        id=name,
        scene=task.scene.uri,
        blocks=block_records(made[part]() for part in form.shows),
        places=_places(task),
        references=references,
        tags={"of": _name(line), "home": task.scene.uri, "author": str(rest.get("model") or "")},
    )


def _places(task: RelayTask) -> dict[str, tuple[str, ...]]:
    """Return the hand-over places that the guards allow, as rooms with assets."""
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
    """Return the best relays from the given starts: by robot_1's path share, and by time."""
    relays = all_relays(task)
    here = np.array([start.region == helper for start in relays.starts], dtype=bool)
    found: dict[str, dict[str, Answer]] = {}
    for name, by in (("optimum", "alpha"), ("optimum in time", "g_rate")):
        ranked = relays.ranking(by)  # type: ignore[arg-type]
        ours = ranked[here[relays.start[ranked]]] if len(relays) else ranked
        if len(ours):
            best: GuardedRelay = relays.relay(int(ours[0]))
            found[name] = _answer(best.transfer_region, best.transfer_asset, best.collab_type)
    return found


def _errand(task: RelayTask, helper: str) -> ui.Prose:
    thing, end = to_words(task.object_item.name), to_words(task.end_item.name)
    start, there = to_words(task.start_region), to_words(task.target_region)
    return ui.Prose(
        title="The errand",
        text=f"Take the {thing} from {there} to the {end} in {to_words(task.end_region)}."
        f" Robot 1 starts in {start}, robot 2 in {to_words(helper)}.",
    )


def _rules() -> ui.Transcript:
    note = "Both robots are equally fast. The thing is put down at the place in between."
    said = tuple(ui.Utterance(name, text) for name, text in RULES)
    return ui.Transcript(title="Two ways to share it", said=said, note=note)


def _map(task: RelayTask, helper: str) -> ui.SceneMap:
    anchors = (
        ("start_1", task.start_anchor, ""),
        ("start_2", task.helpers[helper].anchor, ""),
        ("object", task.object_anchor, to_words(task.object_item.name)),
        ("end", task.end_anchor, to_words(task.end_item.name)),
    )
    marks = tuple(
        ui.MapMark(kind, plan_position(task.scene, anchor.node), label)
        for kind, anchor, label in anchors
        if anchor is not None
    )
    return ui.SceneMap(title="The home from above", scene=task.scene.uri, marks=marks)
