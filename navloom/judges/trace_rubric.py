"""Steps of a navigator's run for the rubric judge, the rubric, and calibration items.

A step is shown with the navigator's own knowledge: the instruction, its history in a line per step,
and the options it read. Goals, the right path and scores are not shown.

A rubric is a list of named criteria, each with the meanings of yes, no and not applicable. It is a
YAML file; ``rubrics/trace.yaml`` comes with the package, and has this form:

    name: trace
    version: 1
    description: ...
    criteria:
      - {id: grounded, question: ..., if_yes: ..., if_no: ..., if_na: ...}

(YAML reads a bare ``yes`` as true, hence the longer keys.)

To calibrate the rubric judge, steps of a navigation run are corrupted so that the correct grades
are known. A corrupted step has known grades for some criteria only; the others are not counted.
Sentences come in two sets: the symbolic judge knows set ``a``.

    clean            as it was                                     grounded yes, action_follows yes
    other_place      the options of a step elsewhere in the run    grounded no
    invented         it mentions an object that is not there       grounded no
    remembers        it reports the step before correctly          history yes
    denies_history   at a later step it says it is the first       history no
    other_action     the action is another option's                action_follows no
    stops            the action is to stop where it wants to go on action_follows no
    empty            nothing is said                               all three na
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from navloom.errors import DataError, SceneError, UsageError, did_you_mean
from navloom.scenes.safe_files import first_problem, read_yaml
from navloom.tools.model_output import object_schema

_MOST_HISTORY = 12
_Text = Annotated[str, Field(max_length=20_000)]


class TraceOption(BaseModel):
    """One option, as the navigator read it."""

    model_config = ConfigDict(frozen=True)

    id: int
    direction: Annotated[str, Field(max_length=40)]
    description: _Text


class _Action(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: Literal["move", "stop", "ask", "none"]
    option: int | None = None


class TraceStep(BaseModel):
    """One step of a trace.

    Attributes:
        id: unique in its run: the episode's sample and the step's number.
        scene: the scene's URI.
        instruction: the navigator's instruction.
        history: a line for each step before, the last dozen.
        options: the options it had.
        action: the action it took.
        reasoning: its stated reasoning; untrusted.
    """

    model_config = ConfigDict(frozen=True)

    id: Annotated[str, Field(max_length=200)]
    scene: str = ""
    instruction: _Text
    history: tuple[_Text, ...] = ()
    options: Annotated[tuple[TraceOption, ...], Field(max_length=100)]
    action: _Action
    reasoning: Annotated[str, Field(max_length=200_000)] = ""

    @property
    def action_text(self) -> str:
        """The step's action in words."""
        if self.action.kind == "move":
            return f"go to option {self.action.option}"
        return {"stop": "stop", "ask": "ask a question", "none": "none"}[self.action.kind]


def trace_steps(row: Mapping[str, Any]) -> Iterator[TraceStep]:
    """Yield the steps with reasoning from a row of a navigation run.

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
        if not isinstance(step, dict):
            raise DataError(f"{row.get('id')}: step {number}: expected an object")
        try:
            made = TraceStep.model_validate(
                {
                    "id": f"{row.get('id')}.s{number:03d}",
                    "scene": str(row.get("scene") or ""),
                    "instruction": instruction or "",
                    "history": tuple(history[-_MOST_HISTORY:]),
                    "options": step.get("options"),
                    "action": step.get("action"),
                    "reasoning": step.get("reasoning") or "",
                }
            )
        except ValidationError as error:
            raise DataError(f"{row.get('id')}: step {number}: {first_problem(error)}") from error
        if made.reasoning.strip():
            yield made
        chosen = [o for o in made.options if o.id == made.action.option]
        what = f": {chosen[0].description}" if chosen and made.action.kind == "move" else ""
        history.append(f"Step {number}: {made.action_text}{what}")


GRADES = ("yes", "no", "na")
_MOST_BYTES = 32_000
_Words = Annotated[str, Field(min_length=1, max_length=400)]
_Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Criterion(BaseModel):
    """One question of a rubric, with the meaning of each grade."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: _Id
    question: _Words
    if_yes: _Words
    if_no: _Words
    if_na: _Words = "the question does not apply"

    @property
    def text(self) -> str:
        """The criterion as a judge reads it."""
        return (
            f"- {self.id}: {self.question} yes: {self.if_yes}. no: {self.if_no}. na: {self.if_na}."
        )


class Rubric(BaseModel):
    """A named list of criteria."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: _Id
    version: Annotated[int, Field(ge=1)] = 1
    description: Annotated[str, Field(max_length=2_000)] = ""
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=12)]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the criteria, in order."""
        return tuple(each.id for each in self.criteria)

    @property
    def text(self) -> str:
        """The criteria as a judge reads them."""
        return "\n".join(each.text for each in self.criteria)

    def answer_schema(self) -> dict[str, Any]:
        """Return the schema of a judge's answer: evidence before the grade, for each criterion."""
        grade = {"type": "string", "enum": list(GRADES)}
        one = object_schema({"evidence": {"type": "string", "maxLength": 160}, "grade": grade})
        about = "A grade and its evidence for each criterion."
        return object_schema(dict.fromkeys(self.ids, one), "judge_rubric", about)


def load_rubric(where: str | Path = "trace") -> Rubric:
    """Load a rubric of the package by name, or any other by its file.

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


_CHOSEN = re.compile(r"\boption (\d{1,3})\b", re.IGNORECASE)
_THINGS = ("grand piano", "fountain", "escalator", "horse", "vending machine", "totem pole")
_WORDS = re.compile(r"[a-z]{4,}")
_SAID: Mapping[str, Mapping[str, Sequence[str]]] = {
    "a": {
        "invented": ("I see a {thing} ahead.", "There is a {thing} on the left."),
        "remembers": ("In step {k} I chose option {o}: {d}.",),
        "denies_history": ("This is my first step.", "I have not moved yet."),
    },
    "b": {
        "invented": ("Next to me stands a {thing}, so this must be it.",),
        "remembers": ("Earlier, at {k}, I went for number {o}, {d}, and build on that.",),
        "denies_history": ("Nothing has happened so far, the walk only begins here.",),
    },
}


_SETS = tuple(_SAID)


@dataclass(frozen=True)
class TraceItem:
    """A step and the grades that it deserves; missing criteria are not counted."""

    id: str
    kind: str
    wording: str
    step: TraceStep
    deserves: Mapping[str, str]

    @property
    def scene(self) -> str:
        """The step's scene."""
        return self.step.scene

    @property
    def columns(self) -> dict[str, Any]:
        """The item's fields in a row of a run."""
        return {
            "kind": self.kind,
            "wording": self.wording,
            "deserves": dict(self.deserves),
            "of": self.step.id,
        }


Made = tuple[dict[str, Any], dict[str, str]]
"""Changes of a step, and the grades it then deserves."""


def make_trace_items(steps: Sequence[TraceStep], *, n: int = 320, seed: int = 0) -> list[TraceItem]:
    """Make the calibration set from a run's steps.

    Args:
        steps: of as many episodes as available; steps whose reasoning names the option that was
            taken can be corrupted.
        n: approximate number of items.
        seed: fixes the choice.
    """
    usable = [
        step
        for step in steps
        if step.action.kind == "move"
        and {int(number) for number in _CHOSEN.findall(step.reasoning)} == {step.action.option}
    ]
    random.Random(f"{seed}/trace").shuffle(usable)
    items: list[TraceItem] = []
    wanted = max(1, round(n / len(_KINDS) / len(_SETS)))
    for kind, make in _KINDS.items():
        made = 0
        for step in usable:
            if made == wanted:
                break
            pair = [
                (words, make(step, usable, _SAID[words], random.Random(f"{seed}/{kind}/{step.id}")))
                for words in _SETS
            ]
            # Without an added sentence the item is the same in both sets: once is enough.
            pair = pair if kind in _SAID["a"] else pair[:1]
            for words, found in pair:
                if found:
                    changes, deserves = found
                    spoiled = step.model_copy(update=changes)
                    name = f"{kind}-{words}-{len(items):04d}"
                    items.append(TraceItem(name, kind, words, spoiled, deserves))
            made += bool(pair[0][1])
    return items


def _other_place(
    step: TraceStep, others: Sequence[TraceStep], _: Any, rng: random.Random
) -> Made | None:
    """Return the options of another step that shares hardly a word with this reasoning, or None."""
    words = set(_WORDS.findall(step.reasoning.casefold().partition("speaks of")[2]))
    found = [
        other
        for other in rng.sample(list(others), min(40, len(others)))
        if words
        and not words
        & set(_WORDS.findall(" ".join(o.description for o in other.options).casefold()))
        and any(o.id == step.action.option for o in other.options)
    ]
    words &= set(_WORDS.findall(step.instruction.casefold()))
    if not found or words:
        return None
    return {"options": found[0].options}, {"grounded": "no"}


def _invented(step: TraceStep, _: Any, said: Any, rng: random.Random) -> Made:
    thing = rng.choice(_THINGS)
    words = rng.choice(said["invented"]).format(thing=thing)
    return {"reasoning": f"{words} {step.reasoning}"}, {"grounded": "no"}


def _remembers(step: TraceStep, _: Any, said: Any, rng: random.Random) -> Made | None:
    last = re.fullmatch(
        r"Step (\d{1,4}): go to option (\d{1,3}): (.{1,400})", (step.history or ("",))[-1]
    )
    if last is None:
        return None
    told = last[3].partition(";")[0].partition("(")[0].strip()
    words = rng.choice(said["remembers"]).format(k=last[1], o=last[2], d=told)
    return {"reasoning": f"{words} {step.reasoning}"}, {"history": "yes"}


def _denies(step: TraceStep, _: Any, said: Any, rng: random.Random) -> Made | None:
    if not step.history:
        return None
    words = rng.choice(said["denies_history"])
    return {"reasoning": f"{words} {step.reasoning}"}, {"history": "no"}


def _other_action(step: TraceStep, _: Any, __: Any, rng: random.Random) -> Made | None:
    others = [option.id for option in step.options if option.id != step.action.option]
    if not others:
        return None
    action = step.action.model_copy(update={"option": rng.choice(others)})
    return {"action": action}, {"action_follows": "no"}


def _stops(step: TraceStep, _: Any, __: Any, ___: random.Random) -> Made:
    action = step.action.model_copy(update={"kind": "stop", "option": None})
    return {"action": action}, {"action_follows": "no"}


_KINDS: Mapping[str, Callable[..., Made | None]] = {
    "clean": lambda *_: ({}, {"grounded": "yes", "action_follows": "yes"}),
    "other_place": _other_place,
    "invented": _invented,
    "remembers": _remembers,
    "denies_history": _denies,
    "other_action": _other_action,
    "stops": _stops,
    "empty": lambda *_: (
        {"reasoning": "-"},
        dict.fromkeys(("grounded", "history", "action_follows"), "na"),
    ),
}
TRACE_KINDS = tuple(_KINDS)
