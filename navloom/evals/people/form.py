"""What raters are asked: a form, read from YAML, with what of an item is shown and the questions.

A form is a file of anybody's: bounded, plain YAML, and an unknown key is one line. Forms of the
house stand in ``navloom/evals/people/forms`` and go by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.errors import SceneError, UsageError, did_you_mean
from navloom.scenes.checked_files import read_yaml, short

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Line = Annotated[str, Field(min_length=1, max_length=600)]
Text = Annotated[str, Field(max_length=6_000)]
Items: TypeAlias = Literal["instructions", "authors", "relays", "walks", "grades"]
"""What a form asks about, and so what of SOURCE becomes an item."""
Placed: TypeAlias = dict[Literal["region", "asset"], Annotated[str, Field(max_length=200)]]
Answer: TypeAlias = (
    Annotated[int, Field(strict=True)] | Annotated[str, Field(max_length=8_000)] | Placed
)
"""What a rater says to one question: a step of a scale, an option's name, a place, a text."""

PARTS: Mapping[Items, tuple[str, ...]] = {
    "instructions": ("instruction", "path", "rooms", "views"),
    "authors": ("instruction", "examples", "path", "rooms"),
    "relays": ("task", "rules", "plan", "rooms"),
    "walks": ("instruction",),
    "grades": ("item",),
}
"""What of an item can be shown, by what a form asks about."""
_MOST_BYTES = 200_000


class Known(BaseModel):
    """A part of a file whose unknown keys are refused by name, with the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _no_stranger(cls, given: Any) -> Any:
        known = cls.model_fields
        for key in given if isinstance(given, Mapping) else ():
            if key not in known:
                near = did_you_mean(str(key), known).strip().rstrip("?").replace("Did", "did")
                hint = f"; {near}?" if near else ""
                raise ValueError(f"no key {short(key)}{hint} (known: {', '.join(known)})")
        return given


class FormOption(Known):
    """One of the answers of a choice."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")]
    text: Line


class FormQuestion(Known):
    """What is asked of each item."""

    name: Name
    kind: Literal["scale", "choice", "place", "text"]
    text: Line
    """The question."""
    help: Annotated[str, Field(max_length=2_000)] = ""
    optional: bool = False
    """Whether it may be left unanswered."""
    low: Annotated[int, Field(ge=-100, le=100)] = 1
    """The least step of a scale."""
    high: Annotated[int, Field(ge=-100, le=100)] = 5
    ends: tuple[Line, Line] | None = None
    """What the least and the most step of a scale mean."""
    options: Annotated[tuple[FormOption, ...], Field(max_length=40)] = ()
    """Of a choice."""
    asset: bool = False
    """Of a place: whether a thing in the room is asked for, too."""
    most: Annotated[int, Field(ge=1, le=8_000)] = 2_000
    """Characters of a text at most."""

    @model_validator(mode="after")
    def _whole(self) -> FormQuestion:
        if self.kind == "scale":
            if self.ends is None:
                raise ValueError(f"question '{self.name}': a scale names its ends")
            if not 2 <= self.high - self.low + 1 <= 11:
                raise ValueError(f"question '{self.name}': expected 2 to 11 steps, low to high")
        names = [each.name for each in self.options]
        if self.kind == "choice" and len(set(names)) < max(2, len(names)):
            raise ValueError(f"question '{self.name}': expected two or more options, each once")
        given = self.model_fields_set
        of = {"low": "scale", "high": "scale", "ends": "scale", "options": "choice"}
        for key, kind in {**of, "asset": "place", "most": "text"}.items():
            if key in given and kind != self.kind:
                raise ValueError(f"question '{self.name}': '{key}' is of a {kind} alone")
        return self

    @property
    def measure(self) -> Literal["ordinal", "nominal", ""]:
        """How answers are compared; empty where they are words."""
        if self.kind == "text":
            return ""
        return "ordinal" if self.kind == "scale" else "nominal"

    def values(self, answer: Answer) -> dict[str, int | str]:
        """An answer as what is counted, by the name that it is counted under.

        A place is its room, and with a thing also both together; a text is nothing to count.
        """
        if isinstance(answer, dict):
            region, asset = answer["region"], answer.get("asset")
            both = {f"{self.name} with asset": f"{region}: {asset}"} if asset else {}
            return {self.name: region, **both}
        return {} if self.kind == "text" else {self.name: answer}

    def check(self, answer: Answer, places: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse what is no answer to it.

        Args:
            answer: of a rater.
            places: rooms that can be named, each with the things in it.

        Raises:
            ValueError: it is none; in a few words.
        """
        said = f"{self.name}: {short(answer)} is no answer"
        match self.kind, answer:
            case "scale", int() if self.low <= answer <= self.high:
                return
            case "choice", str() if answer in [each.name for each in self.options]:
                return
            case "text", str() if len(answer) <= self.most:
                return
            case "place", {"region": region, **rest} if region in places:
                asset = rest.get("asset")
                if self.asset and asset not in places[region]:
                    raise ValueError(f"{said}: name a thing that is in {region}")
                if self.asset or asset is None:
                    return
        raise ValueError(said)


class Form(Known):
    """What raters are shown and asked."""

    name: Name
    title: Line
    items: Items
    """What it asks about."""
    shows: Annotated[tuple[str, ...], Field(min_length=1, max_length=10)]
    """What of an item is shown, in this order; of :data:`PARTS`."""
    consent: Annotated[Text, Field(min_length=1)]
    """What a rater agrees to before the first item."""
    thanks: Text = "Thank you. You have been through all items."
    questions: Annotated[tuple[FormQuestion, ...], Field(max_length=40)] = ()
    """Asked of each item; of ``grades`` those of the judged run unless given."""
    overlap: Annotated[int, Field(ge=1, le=100)] = 3
    """Raters an item."""
    each: Annotated[int, Field(ge=1, le=5_000)] | None = None
    """Items a rater at most."""
    motion: Literal["hops", "continuous"] = "continuous"
    """How walks are walked: from place to place, or driving while keys are held."""
    new_homes: bool = False
    """Whether each home is new to a rater: one item of each home at most."""

    @model_validator(mode="after")
    def _whole(self) -> Form:
        known = PARTS[self.items]
        for part in self.shows:
            if part not in known:
                said = f"shows: there is no part {short(part)} of {self.items}"
                raise ValueError(f"{said}: known are {', '.join(known)}")
        names = [each.name for each in self.questions]
        if len(set(names)) < len(names):
            raise ValueError("questions: expected each name once")
        asked = {each.kind for each in self.questions}
        if "place" in asked and self.items in ("grades", "walks"):
            raise ValueError(
                f"questions: {self.items} are shown without a plan, and have no places"
            )
        if not names and self.items not in ("grades", "walks"):
            raise ValueError("questions: expected one or more")
        return self

    def moving(self, motion: Literal["hops", "continuous"]) -> Form:
        """The same form with walks walked so.

        Raises:
            UsageError: it is about no walks.
        """
        if self.items != "walks":
            raise UsageError(f"--motion goes with a form of walks, not with {self.name}")
        return self.model_copy(update={"motion": motion})

    def check(self, answers: Mapping[str, Answer], places: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse answers that are not to its questions, or lack one.

        Raises:
            ValueError: which, in a few words.
        """
        known = {each.name: each for each in self.questions}
        for name, answer in answers.items():
            if name not in known:
                raise ValueError(f"there is no question {short(name)}")
            known[name].check(answer, places)
        for name, question in known.items():
            if name not in answers and not question.optional:
                raise ValueError(f"{name}: an answer is missing")


_FORM = TypeAdapter(Form)


def form_names() -> tuple[str, ...]:
    """The forms of the house."""
    folder = files(__package__) / "forms"
    return tuple(sorted(Path(each.name).stem for each in folder.iterdir()))


def read_form(named: str) -> Form:
    """A form by its name in the house, or from a file.

    Raises:
        UsageError: there is none of the name, or the file is not a form: where, and what is wrong.
    """
    path = Path(named)
    if path.suffix not in (".yaml", ".yml"):
        if named not in form_names():
            known = ", ".join(form_names())
            raise UsageError(
                f"no form '{named[:80]}': choose {known}, or give a FILE.yaml."
                + did_you_mean(named, form_names())
            )
        path = Path(str(files(__package__) / "forms" / f"{named}.yaml"))
    try:
        return read_yaml(path, _FORM, most=_MOST_BYTES)
    except SceneError as error:
        raise UsageError(str(error)) from error
