"""Count indistinguishable options: ``python -m tests.graphs.navigation.twins [R2R_split ...]``.

It counts over the scans of a split of R2R, with the text that a navigator gets:

- *twins*: viewpoints that offer two options with the same text;
- *twin steps*: steps of ground-truth paths whose right option has a twin in the same direction;
- *free paths*: paths without such a step.

Each is counted in four forms of the text: unchanged; without the note that tells alike options
apart, and with angles rounded to 30 degrees and distances to 1 m; without any number; and with the
description only. The last three show how much depends on details that a model may not read well.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from navloom.evals.navigation.failure_narrative import headings_along, observe_from
from navloom.evals.tasks.registry import load_task
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navigation.step_options import MoveOption, describe_option, options_of

_ANGLE = re.compile(r"(\d+) degrees")
_METRES = re.compile(r"(\d+\.\d+) m\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WHERE = re.compile(r"^[^:]*: ")
_ALIKE = re.compile(r" \(the [^()]* alike[^()]*\)")
FORMS: dict[str, Callable[[str], str]] = {
    "as shown": lambda text: text,
    "rounded": lambda text: _METRES.sub(
        lambda m: f"{round(float(m[1]))} m",
        _ANGLE.sub(lambda m: f"{30 * round(int(m[1]) / 30)} degrees", _ALIKE.sub("", text)),
    ),
    "no numbers": lambda text: _NUMBER.sub("#", text),
    "words alone": lambda text: _WHERE.sub("", _ALIKE.sub("", text)),
}


@dataclass
class Counted:
    """Counts for one form of the text."""

    viewpoints: int = 0
    twins: int = 0
    steps: int = 0
    twin_steps: int = 0
    paths: int = 0
    free: int = 0

    def __str__(self) -> str:
        shares = {
            "twins": (self.twins, self.viewpoints),
            "twin steps": (self.twin_steps, self.steps),
            "free paths": (self.free, self.paths),
        }
        return ", ".join(f"{name} {n} of {of} ({n / of:.1%})" for name, (n, of) in shares.items())


def _options(scene: Scene, viewpoint: str, heading: float) -> list[MoveOption]:
    return options_of(observe_from(scene, viewpoint, heading), heading)


def count(data: Path, split: str) -> dict[str, Counted]:
    """Count twins, twin steps and free paths of a split, in each form."""
    task = load_task("r2r", data / "mp3d", split)
    places = {name: load_scene(uri) for name, uri in task.scenes.items()}
    found = {form: Counted() for form in FORMS}
    for place in places.values():
        for viewpoint in place.viewpoint_by_id:
            options = _options(place, viewpoint, 0.0)
            for form, counted in found.items():
                texts = Counter(FORMS[form](describe_option(option)) for option in options)
                counted.viewpoints += 1
                counted.twins += any(number > 1 for number in texts.values())
    walked = {(e.scene, e.path): e for e in task.episodes}
    for episode in walked.values():
        steps = list(_steps(places[episode.scene], episode.path, episode.heading))
        for form, counted in found.items():
            twins = [_has_twin(options, right, FORMS[form]) for options, right in steps]
            counted.steps += len(twins)
            counted.twin_steps += sum(twins)
            counted.paths += 1
            counted.free += not any(twins)
    return found


def _steps(
    scene: Scene, path: tuple[str, ...], heading: float
) -> Iterator[tuple[list[MoveOption], str]]:
    for (here, there), look in zip(
        pairwise(path), headings_along(scene, path, heading), strict=False
    ):
        yield _options(scene, here, look), there


def _has_twin(options: list[MoveOption], right: str, form: Callable[[str], str]) -> bool:
    ours = next(option for option in options if option.viewpoint == right)
    return any(
        other.viewpoint != right
        and other.direction == ours.direction
        and form(describe_option(other)) == form(describe_option(ours))
        for other in options
    )


if __name__ == "__main__":
    folder = Path(os.environ["NAVLOOM_DATA"])
    for split in sys.argv[1:] or ["val_unseen"]:
        for name, counted in count(folder, split).items():
            print(f"{split}, {name}: {counted}")
