"""Form of a people study, read from YAML: the displayed parts of an item and the questions.

A form file is untrusted: size-limited, plain YAML, with a one-line error for an unknown key. The
forms that come with Navloom are in ``navloom/evals/people/forms`` and are known by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.errors import SceneError, UsageError, did_you_mean
from navloom.scenes.safe_files import read_yaml, repr_of

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Line = Annotated[str, Field(min_length=1, max_length=600)]
Text = Annotated[str, Field(max_length=6_000)]
Items: TypeAlias = Literal["instructions", "authors", "relays", "walks", "grades"]
"""Type of items that a form asks about, made from SOURCE."""
Placed: TypeAlias = dict[Literal["region", "asset"], Annotated[str, Field(max_length=200)]]
Answer: TypeAlias = (
    Annotated[int, Field(strict=True)] | Annotated[str, Field(max_length=8_000)] | Placed
)
"""An answer to one question: a step of a scale, an option's name, a place, or text."""

PARTS: Mapping[Items, tuple[str, ...]] = {
    "instructions": ("instruction", "path", "rooms", "views"),
    "authors": ("instruction", "examples", "path", "rooms"),
    "relays": ("task", "rules", "plan", "rooms"),
    "walks": ("instruction",),
    "grades": ("item",),
}
"""Parts of an item that can be shown, by type of items."""
_MOST_BYTES = 200_000


class StrictModel(BaseModel):
    """A model that refuses unknown keys by name, and suggests the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _no_stranger(cls, given: Any) -> Any:
        known = cls.model_fields
        for key in given if isinstance(given, Mapping) else ():
            if key not in known:
                near = did_you_mean(str(key), known).strip().rstrip("?").replace("Did", "did")
                hint = f"; {near}?" if near else ""
                raise ValueError(f"no key {repr_of(key)}{hint} (known: {', '.join(known)})")
        return given


class FormOption(StrictModel):
    """One option of a choice question."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")]
    text: Line


class FormQuestion(StrictModel):
    """A question about each item."""

    name: Name
    kind: Literal["scale", "choice", "place", "text"]
    text: Line
    """The question."""
    help: Annotated[str, Field(max_length=2_000)] = ""
    optional: bool = False
    """True if it may be left unanswered."""
    low: Annotated[int, Field(ge=-100, le=100)] = 1
    """Lowest step of a scale."""
    high: Annotated[int, Field(ge=-100, le=100)] = 5
    ends: tuple[Line, Line] | None = None
    """Labels of the lowest and the highest step of a scale."""
    options: Annotated[tuple[FormOption, ...], Field(max_length=40)] = ()
    """Options of a choice."""
    asset: bool = False
    """True if a place question also asks for an object in the room."""
    most: Annotated[int, Field(ge=1, le=8_000)] = 2_000
    """Maximum length of a text."""

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
        """The level of measurement of the answers; "" for text."""
        if self.kind == "text":
            return ""
        return "ordinal" if self.kind == "scale" else "nominal"

    def values(self, answer: Answer) -> dict[str, int | str]:
        """Return the countable values of an answer, by name.

        A place gives its room, and with an object also both together; a text gives nothing.
        """
        if isinstance(answer, dict):
            region, asset = answer["region"], answer.get("asset")
            both = {f"{self.name} with asset": f"{region}: {asset}"} if asset else {}
            return {self.name: region, **both}
        return {} if self.kind == "text" else {self.name: answer}

    def check(self, answer: Answer, places: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse an answer that is invalid for the question.

        Args:
            answer: a rater's answer.
            places: rooms that can be named, each with the objects in it.

        Raises:
            ValueError: the answer is invalid; the message is short.
        """
        said = f"{self.name}: {repr_of(answer)} is no answer"
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


class RatingForm(StrictModel):
    """A form that raters are shown."""

    name: Name
    title: Line
    items: Items
    """Type of its items."""
    shows: Annotated[tuple[str, ...], Field(min_length=1, max_length=10)]
    """Parts of an item that are shown, in this order; from :data:`PARTS`."""
    consent: Annotated[Text, Field(min_length=1)]
    """Consent text, which a rater accepts before the first item."""
    thanks: Text = "Thank you. You have been through all items."
    questions: Annotated[tuple[FormQuestion, ...], Field(max_length=40)] = ()
    """Questions about each item; for ``grades``, default: those of the judged run."""
    overlap: Annotated[int, Field(ge=1, le=100)] = 3
    """Number of raters for each item."""
    each: Annotated[int, Field(ge=1, le=5_000)] | None = None
    """Maximum number of items for each rater."""
    motion: Literal["hops", "continuous"] = "continuous"
    """Motion of walks: hops between viewpoints, or driving while keys are held."""
    new_homes: bool = False
    """True if a rater gets at most one item of each home."""

    @model_validator(mode="after")
    def _whole(self) -> RatingForm:
        known = PARTS[self.items]
        for part in self.shows:
            if part not in known:
                said = f"shows: there is no part {repr_of(part)} of {self.items}"
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

    def moving(self, motion: Literal["hops", "continuous"]) -> RatingForm:
        """Return a copy of the form in which walks use the given motion.

        Raises:
            UsageError: the form is not about walks.
        """
        if self.items != "walks":
            raise UsageError(f"--motion goes with a form of walks, not with {self.name}")
        return self.model_copy(update={"motion": motion})

    def check(self, answers: Mapping[str, Answer], places: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse answers that are invalid, unknown or incomplete.

        Raises:
            ValueError: an answer is invalid or missing; the message is short.
        """
        known = {each.name: each for each in self.questions}
        for name, answer in answers.items():
            if name not in known:
                raise ValueError(f"there is no question {repr_of(name)}")
            known[name].check(answer, places)
        for name, question in known.items():
            if name not in answers and not question.optional:
                raise ValueError(f"{name}: an answer is missing")


_FORM = TypeAdapter(RatingForm)


def form_names() -> tuple[str, ...]:
    """Return the names of the forms that come with Navloom."""
    folder = files(__package__) / "forms"
    return tuple(sorted(Path(each.name).stem for each in folder.iterdir()))


def read_form(named: str) -> RatingForm:
    """Read a form by name, or from a file.

    Raises:
        UsageError: the name is unknown, or the file is no valid form.
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
