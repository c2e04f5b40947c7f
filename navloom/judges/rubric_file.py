"""A rubric: named criteria, each with what yes, no and not applicable mean.

A YAML file; ``rubrics/trace.yaml`` is the one that comes with the package, and an example:

    name: trace
    version: 1
    description: ...
    criteria:
      - {id: grounded, question: ..., if_yes: ..., if_no: ..., if_na: ...}

(YAML reads a bare ``yes`` as true, hence the longer keys.)
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import DataError, SceneError, UsageError, did_you_mean
from navloom.scenes.checked_files import read_yaml

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
