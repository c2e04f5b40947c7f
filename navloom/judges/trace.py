"""One step of a navigator's run as a judge is shown it, and the rubric that it is graded by.

A step is told with what the navigator itself knew: the instruction, what it did before in a line a
step, and the options it read. Goals, the right path and scores are not shown.

A rubric is named criteria, each with what yes, no and not applicable mean. It is a YAML file;
``rubrics/trace.yaml`` is the one that comes with the package, and an example:

    name: trace
    version: 1
    description: ...
    criteria:
      - {id: grounded, question: ..., if_yes: ..., if_no: ..., if_na: ...}

(YAML reads a bare ``yes`` as true, hence the longer keys.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from navloom.errors import DataError, SceneError, UsageError, did_you_mean
from navloom.scenes.checked_files import first_problem, read_yaml

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


GRADES = ("yes", "no", "na")
_MOST_BYTES = 32_000
_Words = Annotated[str, Field(min_length=1, max_length=400)]
_Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Criterion(BaseModel):
    """One question, and when which grade is due."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: _Id
    question: _Words
    if_yes: _Words
    if_no: _Words
    if_na: _Words = "the question does not apply"

    @property
    def text(self) -> str:
        """As a judge reads it."""
        return (
            f"- {self.id}: {self.question} yes: {self.if_yes}. no: {self.if_no}. na: {self.if_na}."
        )


class Rubric(BaseModel):
    """All of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: _Id
    version: Annotated[int, Field(ge=1)] = 1
    description: Annotated[str, Field(max_length=2_000)] = ""
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=12)]

    @property
    def ids(self) -> tuple[str, ...]:
        """The criteria's, in order."""
        return tuple(each.id for each in self.criteria)

    @property
    def text(self) -> str:
        """The criteria as a judge reads them."""
        return "\n".join(each.text for each in self.criteria)

    def answer_schema(self) -> dict[str, Any]:
        """What a graded rubric looks like: evidence before the grade, for each criterion."""
        one = {
            "type": "object",
            "properties": {
                "evidence": {"type": "string", "maxLength": 160},
                "grade": {"type": "string", "enum": list(GRADES)},
            },
            "required": ["evidence", "grade"],
            "additionalProperties": False,
        }
        return {
            "title": "judge_rubric",
            "description": "A grade and its evidence for each criterion.",
            "type": "object",
            "properties": dict.fromkeys(self.ids, one),
            "required": list(self.ids),
            "additionalProperties": False,
        }


def load_rubric(where: str | Path = "trace") -> Rubric:
    """A rubric of the package by name, or any other by its file.

    Raises:
        DataError: the file is missing or broken; the message names the field.
        UsageError: there is no rubric of this name.
    """
    path, folder = Path(where), files("navloom.judges").joinpath("rubrics")
    if path.suffix not in (".yaml", ".yml"):
        known = [each.name.removesuffix(".yaml") for each in folder.iterdir()]
        if str(where) not in known:
            raise UsageError(
                f"no rubric '{where}'.{did_you_mean(str(where), known)} There are"
                f" {', '.join(sorted(known))}; give others as a .yaml file."
            )
        with as_file(folder.joinpath(f"{where}.yaml")) as own:
            return _read(own)
    return _read(path)


def _read(path: Path) -> Rubric:
    try:
        rubric: Rubric = read_yaml(path, TypeAdapter(Rubric), most=_MOST_BYTES)
    except SceneError as error:
        raise DataError(str(error)) from error
    if len(set(rubric.ids)) != len(rubric.ids):
        raise DataError(f"{path}: criteria: expected each id once, found one twice.")
    return rubric
