"""One step of a navigator's run as a judge is shown it.

A step is told with what the navigator itself knew: the instruction, what it did before in a line a
step, and the options it read. Goals, the right path and scores are not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from navloom.errors import DataError
from navloom.scenes.checked_files import first_problem

_MOST_HISTORY = 12
_Text = Annotated[str, Field(max_length=20_000)]


class Option(BaseModel):
    """A way on, as the navigator read it."""

    model_config = ConfigDict(frozen=True)

    id: int
    direction: Annotated[str, Field(max_length=40)]
    description: _Text


class _Action(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: Literal["move", "stop", "ask", "none"]
    option: int | None = None


class Step(BaseModel):
    """One step.

    Attributes:
        id: unique in its run: the episode's sample and the step's number.
        scene: the scene's URI.
        instruction: what the navigator was told.
        history: a line for each step before, the last dozen.
        options: what it could do.
        action: what it did.
        reasoning: what it said; untrusted.
    """

    model_config = ConfigDict(frozen=True)

    id: Annotated[str, Field(max_length=200)]
    scene: str = ""
    instruction: _Text
    history: tuple[_Text, ...] = ()
    options: Annotated[tuple[Option, ...], Field(max_length=100)]
    action: _Action
    reasoning: Annotated[str, Field(max_length=200_000)] = ""

    @property
    def action_text(self) -> str:
        """What it did, in words."""
        if self.action.kind == "move":
            return f"go to option {self.action.option}"
        return {"stop": "stop", "ask": "ask a question", "none": "none"}[self.action.kind]


def steps_of(row: Mapping[str, Any]) -> Iterator[Step]:
    """The steps of a navigation run's line that say why; steps without a reasoning are left out.

    Args:
        row: a line of ``samples.jsonl``.

    Raises:
        DataError: it is no such line; the message names the field.
    """
    result = row.get("result")
    steps = result.get("steps") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(steps, list):
        raise DataError(f"{row.get('id')}: expected a navigator's line with result.steps")
    episode = result.get("episode")
    instruction = episode.get("instruction") if isinstance(episode, dict) else None
    history: list[str] = []
    for number, step in enumerate(steps, 1):
        made = _step(row, step, number, instruction or "", history)
        if made.reasoning.strip():
            yield made
        history.append(_line(number, made))


def _step(
    row: Mapping[str, Any], step: Any, number: int, instruction: str, history: Sequence[str]
) -> Step:
    if not isinstance(step, dict):
        raise DataError(f"{row.get('id')}: step {number}: expected an object")
    try:
        return Step.model_validate(
            {
                "id": f"{row.get('id')}.s{number:03d}",
                "scene": str(row.get("scene") or ""),
                "instruction": instruction,
                "history": tuple(history[-_MOST_HISTORY:]),
                "options": step.get("options"),
                "action": step.get("action"),
                "reasoning": step.get("reasoning") or "",
            }
        )
    except ValidationError as error:
        raise DataError(f"{row.get('id')}: step {number}: {first_problem(error)}") from error


def _line(number: int, step: Step) -> str:
    chosen = [o for o in step.options if o.id == step.action.option]
    what = f": {chosen[0].description}" if chosen and step.action.kind == "move" else ""
    return f"Step {number}: {step.action_text}{what}"
