"""Study items about instructions: rating them, guessing their writers, walking episodes.

Instructions come from a run of navigation or NavCraft, or from a JSON-lines file (``{"scene",
"instruction", "path", "author", "maker"}``, or tasks as ``navloom export`` writes them), or are
generated in homes.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from navloom.errors import NavloomError, UsageError
from navloom.evals.navcraft.export import export_lines
from navloom.evals.navigation.embodied_graph import recorded_graph
from navloom.evals.people import rated_items
from navloom.evals.people.rating_form import RatingForm
from navloom.evals.people.study_folder import RatedItem
from navloom.evals.report.blocks import Block
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.run_scenes import load_run_scene
from navloom.evals.tasks.episode import Episode
from navloom.evals.tasks.registry import load_task
from navloom.plugins import load_plugin
from navloom.scenes.distances import metre_table
from navloom.scenes.safe_files import first_problem
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import SceneLookup

BY_PEOPLE = frozenset(("r2r", "r4r", "reverie", "dialogue"))
"""Datasets with instructions written by people."""
_EXAMPLES = 3
Maker = Literal["person", "model"]


@dataclass(frozen=True)
class Instruction:
    """A navigation instruction with its scene and path.

    Attributes:
        of: its id in the source.
        scene: its scene.
        text: its text.
        path: viewpoints of the path that it describes.
        author: name of its writer.
        maker: type of its writer, person or model.
        episode: its navigation episode; None if there is none.
    """

    of: str
    scene: Scene
    text: str
    path: tuple[str, ...]
    author: str
    maker: Maker
    episode: Episode | None = None


class _InstructionLine(BaseModel):
    """A line of a file of instructions."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[str, Field(max_length=200)] = ""
    scene: Annotated[str, Field(min_length=1, max_length=200)]
    instruction: Annotated[str, Field(min_length=1, max_length=20_000)]
    path: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=2_000)] = ()
    author: Annotated[str, Field(max_length=200)] = ""
    maker: Maker = "model"


def read_instructions(
    source: str, *, seed: int, most: int, note: rated_items.Note
) -> list[Instruction]:
    """Read or generate the instructions of a source.

    Args:
        source: a run's folder, a file of lines, or homes such as ``home:0-9``.
        seed: seed of instructions generated in homes.
        most: number of instructions generated in homes.
        note: receives a message about each instruction left out.

    Raises:
        UsageError: the source has no instructions; NavloomError: it cannot be read.
    """
    path = Path(source)
    if path.is_dir():
        found = list(_of_run(path, note))
    elif source.endswith(".jsonl"):
        found = list(_of_file(path, note))
    else:
        made = load_task("scene", spec=source, seed=seed, n=most, kind="mixed")
        for line in made.notes:
            note(line)
        names = SceneLookup(source)
        found = [_of_episode(each, names.load(each.scene), "rules") for each in made.episodes]
    if not found:
        raise UsageError(
            f"{source}: no instruction is in it: name a run of `navloom eval` or `navloom synth`,"
            " a .jsonl file of lines with scene, instruction and path, or homes"
        )
    return found


def _of_episode(episode: Episode, scene: Scene, author: str) -> Instruction:
    maker: Maker = "person" if episode.task in BY_PEOPLE else "model"
    return Instruction(episode.id, scene, episode.instruction, episode.path, author, maker, episode)


def _of_run(run: Path, note: rated_items.Note) -> Iterator[Instruction]:
    said = read_run(run)
    kind, model = said.get("kind"), str((said.get("request") or {}).get("model") or run.name)
    if kind in ("single", "collab"):
        for line in export_lines(run):
            yield from _of_task(line, lambda name: load_run_scene(run, name), model, note)
        return
    if kind != "navigate":
        raise UsageError(
            f"{run} is a run of '{str(kind)[:40]}', which holds no instructions: name one of"
            " `navloom eval` or `navloom synth`"
        )
    walked = recorded_graph(said["request"])
    for sample in read_samples(run):
        result = sample.get("result")
        held = result.get("episode") if isinstance(result, dict) else None
        try:
            episode = Episode.model_validate(held)
            scene = walked(load_run_scene(run, episode.scene))
        except ValidationError as error:
            note(f"{sample['id']} is left out: {first_problem(error)}")
        except NavloomError as error:
            note(f"{sample['id']} is left out: {error}")
        else:
            author = "people" if episode.task in BY_PEOPLE else "rules"
            yield _of_episode(episode, scene, author)


def _of_file(path: Path, note: rated_items.Note) -> Iterator[Instruction]:
    names = SceneLookup(None)
    for number, line in rated_items.iter_json_lines(path, note):
        if "phase_1" in line:
            model = str((line.get("navloom") or {}).get("model") or path.stem)
            yield from _of_task(line, names.load, model, note)
            continue
        try:
            read = _InstructionLine.model_validate(line)
            scene = names.load(read.scene)
        except ValidationError as error:
            note(f"{path} line {number} is left out: {first_problem(error)}")
        except NavloomError as error:
            note(f"{path} line {number} is left out: {error}")
        else:
            name, author = read.id or str(number), read.author or path.stem
            yield Instruction(name, scene, read.instruction, read.path, author, read.maker)


def _of_task(
    line: Mapping[str, Any], load: Callable[[str], Scene], model: str, note: rated_items.Note
) -> Iterator[Instruction]:
    """Yield robot_1's instruction of a NavCraft task, with its own path."""
    from navloom.evals.navcraft.relay_map import build_relay_task
    from navloom.tools.navcraft.relay_schedule import schedule_solo

    name = str((line.get("navloom") or {}).get("id") or "a task")
    try:
        scene = load(str(line["scene"]))
        task = build_relay_task(scene, line)
        path = tuple(stop.node for stop in schedule_solo(task))
        text = str(line["phase_1"]["Task instruction"])
    except (NavloomError, ValidationError, KeyError, TypeError) as error:
        note(f"{name} is left out: {str(error).partition(chr(10))[0][:200]}")
    else:
        yield Instruction(name, scene, text, path, model, "model")


def _blocks(form: RatingForm, one: Instruction, examples: Block | None = None) -> list[Block]:
    made: dict[str, Callable[[], list[Block]]] = {
        "instruction": lambda: [rated_items.text_block(one.text)],
        "path": lambda: [rated_items.path_block(one.scene, one.path)],
        "rooms": lambda: [rated_items.path_rooms_block(one.scene, one.path)] if one.path else [],
        "views": lambda: rated_items.view_blocks(one.scene, one.path),
        "examples": lambda: [examples] if examples else [],
    }
    return [block for part in form.shows for block in made[part]()]


def instruction_items(form: RatingForm, said: Sequence[Instruction]) -> Iterator[RatedItem]:
    """Make an item of each instruction."""
    for number, one in enumerate(said):
        yield RatedItem(
            id=f"i{number:04}",
            scene=one.scene.uri,
            blocks=rated_items.block_records(_blocks(form, one)),
            places=rated_items.answer_places(one.scene, form),
            tags=_tags(one),
        )


def _tags(one: Instruction) -> dict[str, str]:
    kind = "" if one.episode is None else str(one.episode.columns.get("kind") or "")
    tags = {"of": one.of, "home": one.scene.uri, "author": one.author, "maker": one.maker}
    return {**tags, "kind": kind} if kind else tags


def authorship_items(
    form: RatingForm, said: Sequence[Instruction], seed: int
) -> Iterator[RatedItem]:
    """Make items that ask which of two writers wrote an instruction.

    Raises:
        UsageError: there are not two writers, or one has too few texts besides the examples.
    """
    by: dict[str, list[Instruction]] = defaultdict(list)
    for one in said:
        by[one.author].append(one)
    if len(by) != 2:
        found = ", ".join(sorted(by)[:6]) or "nobody"
        raise UsageError(
            f"who wrote it is asked of two writers, and here are {len(by)} ({found}): name two"
            " sources, or a file whose lines name two authors"
        )
    lots = random.Random(seed)
    authors = sorted(by)
    lots.shuffle(authors)
    shown = {}
    for author in authors:
        lots.shuffle(by[author])
        if len(by[author]) <= _EXAMPLES:
            raise UsageError(
                f"{author} wrote {len(by[author])} texts: expected over {_EXAMPLES}, since"
                " as many are shown as examples"
            )
        shown[author] = by[author][:_EXAMPLES]
    names = {author: f"writer_{n}" for n, author in enumerate(authors, 1)}
    told = [(f"Writer {n}", [one.text for one in shown[who]]) for n, who in enumerate(authors, 1)]
    examples = rated_items.examples_block(told)
    asked = [one for author in authors for one in by[author][_EXAMPLES:]]
    lots.shuffle(asked)
    for number, one in enumerate(asked):
        truth: dict[str, Any] = {"writer": names[one.author], "maker": one.maker}
        yield RatedItem(
            id=f"i{number:04}",
            scene=one.scene.uri,
            blocks=rated_items.block_records(_blocks(form, one, examples)),
            places=rated_items.answer_places(one.scene, form),
            references={"truth": truth},
            tags=_tags(one),
        )


def walk_items(
    form: RatingForm, said: Sequence[Instruction], note: rated_items.Note
) -> Iterator[RatedItem]:
    """Make items of episodes to walk; raters see the instruction, the server has the rest."""
    can_be_walked = load_plugin("navloom.walks", "fits", "A study of walks", UsageError)
    number = 0
    for one in said:
        episode = one.episode or _episode(one)
        if episode is None:
            note(f"{one.of} is left out: it has no way to be walked")
            continue
        if not can_be_walked(one.scene, episode, form.motion):
            note(f"{one.of} is left out: a person's body does not get from its start to its goal")
            continue
        yield RatedItem(
            id=f"i{number:04}",
            page="walk",
            scene=one.scene.uri,
            blocks=rated_items.block_records(_blocks(form, one)),
            tags=_tags(one),
            task={"episode": episode.model_dump(mode="json")},
        )
        number += 1


def _episode(one: Instruction) -> Episode | None:
    known = one.scene.viewpoint_by_id
    if len(one.path) < 2 or any(name not in known for name in one.path):
        return None
    metres = metre_table(one.scene, "3d").distance(one.path[0], one.path[-1])
    try:
        return Episode(
            id=one.of,
            task="scene",
            scene=one.scene.uri,
            start=one.path[0],
            instruction=one.text,
            goals=(one.path[-1],),
            path=one.path,
            columns={"path_metres": round(metres, 4)},
        )
    except ValidationError:
        return None
