"""What a navigator is given at its start, checked before anything is asked of a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from navloom.errors import UsageError, did_you_mean
from navloom.graphs.navigation.body import simulator_of
from navloom.scenes.scene import Scene
from navloom.sim.words import one_line

if TYPE_CHECKING:
    from navloom.graphs.navigation.navigator import Context

__all__ = ["MOST_INSTRUCTION", "read_input"]

MOST_INSTRUCTION = 20_000
"""Characters of an instruction; the longest of R2R has under 700."""


def read_input(state: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The input, every key there and checked against the scene.

    Raises:
        UsageError: an instruction, a viewpoint or a heading that makes no sense, or no goals where
            a setting needs them.
    """
    scene = simulator_of(context).scene
    given = {
        "seed": _seed(state.get("seed") or 0),
        "instruction": _instruction(state.get("instruction")),
        "start": _viewpoint(scene, state.get("start"), "start"),
        "heading": _heading(state.get("heading") or 0.0),
        "goals": _viewpoints(scene, state.get("goals"), "goals", "goal"),
        "path": _viewpoints(scene, state.get("path"), "path", "path's"),
    }
    if context.needs_goals and not given["goals"]:
        raise UsageError(
            "An oracle, dialogue or show_path needs goals: give at least one viewpoint."
        )
    return given


def _seed(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"The seed is {str(value)[:40]!r}: expected a whole number.")
    return value


def _viewpoints(scene: Scene, names: object, key: str, what: str) -> list[str]:
    if names is None:
        return []
    # A text is a sequence too, of letters.
    if not isinstance(names, (list, tuple)):
        raise UsageError(f"{key} is {str(names)[:100]!r}: expected a list of viewpoints.")
    return [_viewpoint(scene, name, what) for name in names]


def _viewpoint(scene: Scene, name: object, what: str) -> str:
    if isinstance(name, str) and name in scene.viewpoint_by_id:
        return name
    shown = str(name)[:100]
    raise UsageError(
        f"The {what} viewpoint '{shown}' is not in {scene.uri}, which has"
        f" {len(scene.viewpoints)}.{did_you_mean(shown, scene.viewpoint_by_id)}"
    )


def _instruction(text: object) -> str:
    if not isinstance(text, str) or not one_line(text, MOST_INSTRUCTION):
        raise UsageError("The instruction is empty: say where the navigator should go.")
    if len(text) > MOST_INSTRUCTION:
        raise UsageError(
            f"The instruction has {len(text):,} characters: expected at most {MOST_INSTRUCTION:,}."
        )
    return one_line(text, max(len(text), 4))


def _heading(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"The heading is {str(value)[:40]!r}: expected radians, a finite number.")
    return float(value)
