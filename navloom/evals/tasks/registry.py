"""Registry of datasets by name, and ``load_task``, which loads any of them.

A dataset is one module with ``SPLITS``, ``DEFAULT_SPLIT``, ``SOURCE`` (where its files come from)
and ``load(data, split, ...) -> TaskData``, whose further keywords are the dataset's options. To add
a dataset, write that file and its line in ``TASKS``; ``docs/datasets.md`` explains the steps.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from navloom.errors import DataError, UsageError, did_you_mean
from navloom.evals.tasks.episode import Stands, TaskData, Walked

DATA_VARIABLE = "NAVLOOM_DATA"
_WALKED = "walked"
_STANDS = "stands"
_NO_OPTIONS = ("data", "split", _WALKED, _STANDS)


@dataclass(frozen=True)
class Task:
    """One entry of the registry.

    Attributes:
        module: the module of its ``load``.
        what: a short description.
        data: its folder under ``$NAVLOOM_DATA``; None if it needs none.
    """

    module: str
    what: str
    data: str | None = "mp3d"


TASKS: dict[str, Task] = {
    "r2r": Task("navloom.evals.tasks.r2r", "step-by-step instructions, published"),
    "r4r": Task("navloom.evals.tasks.r4r", "R2R's paths joined two and two, by the published rule"),
    "reverie": Task("navloom.evals.tasks.reverie", "a thing named from afar, published"),
    "objectnav": Task("navloom.evals.tasks.objectnav", "a category, derived from REVERIE"),
    "dialogue": Task("navloom.evals.tasks.dialogue", "REVERIE's episodes, for agents that ask"),
    "scene": Task(
        "navloom.evals.tasks.generated_tasks", "any homes of ours, instructions generated", None
    ),
}


def load_task(
    name: str,
    data: Path | str | None = None,
    split: str | None = None,
    *,
    walked: Walked | None = None,
    stands: Stands | None = None,
    **options: Any,
) -> TaskData:
    """Load a dataset.

    Args:
        name: one of ``TASKS``.
        data: its folder; ``$NAVLOOM_DATA/mp3d`` unless given.
        split: one of the dataset's splits; its default unless given.
        walked: returns each scene with the viewpoints to navigate on, if those are not its own.
            Only datasets that generate their episodes use it; other episodes stay as they are.
        stands: checks where an episode may start, for datasets that generate their episodes.
        options: the dataset's own options; None values are ignored.

    Raises:
        UsageError: unknown name, split or option, or no folder is known.
        DataError: a file is missing or broken.
    """
    module = import_module(_task(name).module)
    chosen = module.DEFAULT_SPLIT if split is None else split
    if chosen not in module.SPLITS:
        raise UsageError(
            f"{name} has no split '{chosen}': expected one of {', '.join(module.SPLITS)}."
            + did_you_mean(chosen, module.SPLITS)
            + (" The goals of a test split are not published." if "test" in chosen else "")
        )
    given = {key: value for key, value in options.items() if value is not None}
    known = options_of(name)
    for key in given:
        if key not in known:
            said = f"its options are {', '.join(known)}" if known else "it has none"
            raise UsageError(f"{name} has no option '{key}': {said}.{did_you_mean(key, known)}")
    load: Callable[..., TaskData] = module.load
    if makes_episodes(name):
        given |= {_WALKED: walked, _STANDS: stands}
    return load(_folder(name, data), chosen, **given)


def makes_episodes(name: str) -> bool:
    """Check whether a dataset generates its episodes on the graph to navigate on.

    Raises:
        UsageError: there is no such dataset.
    """
    return _WALKED in inspect.signature(import_module(_task(name).module).load).parameters


def options_of(name: str) -> tuple[str, ...]:
    """Return the names of a dataset's own options.

    Raises:
        UsageError: there is no such dataset.
    """
    load = import_module(_task(name).module).load
    return tuple(key for key in inspect.signature(load).parameters if key not in _NO_OPTIONS)


def _task(name: str) -> Task:
    if name not in TASKS:
        raise UsageError(
            f"there is no task '{name}': expected one of {', '.join(TASKS)}."
            + did_you_mean(name, TASKS)
        )
    return TASKS[name]


def _folder(name: str, data: Path | str | None) -> Path:
    below = TASKS[name].data
    if below is None:
        return Path() if data is None else Path(data).expanduser()
    if data is None:
        base = os.environ.get(DATA_VARIABLE)
        if not base:
            raise UsageError(
                f"{name} needs its files: say where they are with --data DIR, or set "
                f"{DATA_VARIABLE} (then {below}/ in it is read). See docs/datasets.md."
            )
        data = Path(base) / below
    folder = Path(data).expanduser()
    if not folder.is_dir():
        what = "there is no such folder"
        if folder.exists():
            what = "it is a file, and a folder was expected"
        raise DataError(f"{folder}: {what}. docs/datasets.md says what goes in.")
    return folder
