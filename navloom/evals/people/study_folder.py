"""The folder of a people study: form, items, raters and ratings.

    people.json     the study: its form, its raters by pseudonym, and their items in order
    items.jsonl     the items: displayed blocks, and references that raters do not see
    links.json      the raters' access tokens, readable by the owner alone
    ratings.jsonl   the ratings: the last line of a rater and an item counts

No address, name or time of day of a rater is stored.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from navloom.errors import RunError, UsageError
from navloom.evals.people.rating_form import Answer, RatingForm, StrictModel
from navloom.evals.run_folder import recorded_versions, typed_command
from navloom.files import LineFormat as LineFormat
from navloom.files import encode_line, open_file, read_lines, write_run_file
from navloom.scenes.safe_files import first_problem

FORMAT: Literal["navloom.people/1"] = "navloom.people/1"
PEOPLE, ITEMS, LINKS, RATINGS = "people.json", "items.jsonl", "links.json", "ratings.jsonl"
WALKS, BY_LOT = "walks", "by-lot"
"""Runs within a study of walks: people's walks, and random choices on the same episodes."""
STATUSES = ("consented", "answered", "skipped", "withdrawn")
MOST_ITEMS, MOST_RATERS = 5_000, 500
_MOST_BYTES = 16_000_000
_Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
_Short = Annotated[str, Field(max_length=400)]


class RatedItem(StrictModel):
    """One item that raters are asked about."""

    id: _Id
    """Id; it reveals nothing about the references."""
    page: Annotated[str, Field(pattern=r"^[a-z]{1,20}$")] = "read"
    """Page part that shows it: ``read`` shows blocks and asks the form's questions."""
    scene: _Short = ""
    """The scene's URI; empty for none."""
    blocks: Annotated[tuple[dict[str, Any], ...], Field(max_length=60)] = ()
    """Displayed blocks, as JSON of `navloom.evals.report.blocks.block_to_json`."""
    places: dict[_Short, tuple[_Short, ...]] = Field(default_factory=dict)
    """Rooms that may answer a place question, each with the objects in it."""
    references: dict[_Short, dict[_Short, Answer]] = Field(default_factory=dict)
    """Reference answers by source (``generator``, ``optimum``, ``truth``, ``judge:NAME``) and
    question; not shown to raters."""
    tags: dict[_Short, _Short] = Field(default_factory=dict)
    """Tags by which results are grouped; not shown to raters."""
    task: dict[str, Any] = Field(default_factory=dict)
    """Data of the page part on the server, such as an episode; not shown to raters."""


class Rating(StrictModel):
    """A rater's answers to an item, or (``item`` empty) consent or withdrawal."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]{8,40}$")]
    """Id made by the client, so that a rating sent twice counts once."""
    rater: _Id
    item: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,79})?$")] = ""
    status: Literal["consented", "answered", "skipped", "withdrawn"]
    answers: dict[_Short, Answer] = Field(default_factory=dict, max_length=40)
    seconds: Annotated[float, Field(ge=0, le=604_800, allow_inf_nan=False)] = 0.0
    """Time on the item over all visits, without pauses."""

    @model_validator(mode="after")
    def _whole(self) -> Rating:
        if self.answers and self.status != "answered":
            raise ValueError(f"what is {self.status} has no answers")
        if (self.status == "consented") if self.item else (self.status not in _OF_NO_ITEM):
            raise ValueError(f"'{self.status}' is not said of {'an item' if self.item else 'all'}")
        return self


_OF_NO_ITEM = ("consented", "withdrawn")


class Rater(StrictModel):
    """A rater, known by a pseudonym."""

    name: _Id
    items: Annotated[tuple[_Id, ...], Field(max_length=MOST_ITEMS)]
    """Item ids in the order of presentation."""


class PeopleFile(StrictModel):
    """Content of ``people.json``."""

    format: Literal["navloom.people/1"] = FORMAT
    study: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    """Id of the study; answers to another study are refused."""
    form: RatingForm
    seed: Annotated[int, Field(ge=0)]
    raters: Annotated[tuple[Rater, ...], Field(min_length=1, max_length=MOST_RATERS)]
    request: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the command that made it."""
    made_with: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True)
class PeopleStudy:
    """A people study with the ratings so far.

    Attributes:
        path: its folder.
        file: content of ``people.json``.
        items: items by id, in the order of ``items.jsonl``.
        ratings: all lines, in the order of writing.
    """

    path: Path
    file: PeopleFile
    items: Mapping[str, RatedItem]
    ratings: Sequence[Rating]

    @property
    def form(self) -> RatingForm:
        """The form."""
        return self.file.form

    @property
    def raters(self) -> tuple[str, ...]:
        """All pseudonyms."""
        return tuple(each.name for each in self.file.raters)

    @cached_property
    def withdrawn(self) -> frozenset[str]:
        """Raters who withdrew all their answers."""
        last = {each.rater: each.status for each in self.ratings if not each.item}
        return frozenset(name for name, status in last.items() if status == "withdrawn")

    def last(self, rater: str) -> dict[str, Rating]:
        """Return the last rating of a rater by item; the item ``""`` is the consent."""
        return {each.item: each for each in self.ratings if each.rater == rater}

    def counted(self) -> dict[str, dict[str, Rating]]:
        """Return the valid answers by rater and item: the last line if it is ``answered``.

        Raters who withdrew have no valid answers.
        """
        found: dict[str, dict[str, Rating]] = {name: {} for name in self.raters}
        for each in self.ratings:
            found[each.rater][each.item] = each
        return {
            name: {
                item: each
                for item, each in said.items()
                if each.status == "answered" and name not in self.withdrawn
            }
            for name, said in found.items()
        }


_PEOPLE, _LINKS = TypeAdapter(PeopleFile), TypeAdapter(dict[_Id, str])


def is_people_study(folder: Path) -> bool:
    """Check whether a folder is a people study."""
    return (folder / PEOPLE).is_file()


def read_people_study(folder: Path) -> PeopleStudy:
    """Read a people study; safe while it is served.

    Raises:
        RunError: it is no study, or a file of it is malformed.
    """
    file: PeopleFile = _read(folder / PEOPLE, _PEOPLE)
    items: dict[str, RatedItem] = {}
    for line in read_lines(folder / ITEMS):
        item = _formed(folder / ITEMS, RatedItem, line)
        items[item.id] = item
        if len(items) > MOST_ITEMS:
            raise RunError(f"{folder / ITEMS}: over {MOST_ITEMS:,} items")
    for rater in file.raters:
        if strange := [name for name in rater.items if name not in items]:
            raise RunError(f"{folder / ITEMS}: there is no item '{strange[0]}' of {rater.name}")
    return PeopleStudy(folder, file, items, tuple(_ratings(folder, file)))


def _ratings(folder: Path, file: PeopleFile) -> list[Rating]:
    known = {each.name: set(each.items) for each in file.raters}
    found = []
    for line in read_lines(folder / RATINGS, ratings_line_form(file)):
        each = _formed(folder / RATINGS, Rating, line)
        if each.rater not in known or (each.item and each.item not in known[each.rater]):
            raise RunError(f"{folder / RATINGS}: {each.rater} is not asked about '{each.item}'")
        found.append(each)
    return found


def ratings_line_form(file: PeopleFile) -> LineFormat:
    """Return the expected form of the lines of a study's ratings."""
    return LineFormat(key=bytes.fromhex(file.study), statuses=STATUSES)


def read_rater_tokens(folder: Path) -> dict[str, str]:
    """Read the access token of each rater.

    Raises:
        RunError: the file is missing or broken.
    """
    found: dict[str, str] = _read(folder / LINKS, _LINKS)
    return found


def write_people_study(
    folder: Path,
    form: RatingForm,
    items: Sequence[RatedItem],
    raters: Sequence[Rater],
    *,
    seed: int,
    request: Mapping[str, Any],
) -> PeopleStudy:
    """Write a new study into an existing folder, ``people.json`` last.

    Raises:
        RunError: it cannot be written; UsageError: there are too many items or raters.
    """
    if not 0 < len(items) <= MOST_ITEMS or not 0 < len(raters) <= MOST_RATERS:
        raise UsageError(
            f"{len(items):,} items and {len(raters):,} raters: expected 1 to {MOST_ITEMS:,} and"
            f" 1 to {MOST_RATERS:,}"
        )
    file = PeopleFile(
        study=secrets.token_hex(8),
        form=form,
        seed=seed,
        raters=tuple(raters),
        request=dict(request),
        made_with={**recorded_versions(), **typed_command()},
    )
    lines = (encode_line(each.model_dump(mode="json", exclude_defaults=True)) for each in items)
    write_run_file(folder / ITEMS, b"".join(lines))
    tokens = {each.name: secrets.token_urlsafe(18) for each in raters}
    _write_secret(folder / LINKS, json.dumps(tokens, indent=1).encode() + b"\n")
    told = file.model_dump(mode="json", exclude_defaults=True) | {"format": FORMAT}
    data = json.dumps(told, ensure_ascii=False, indent=1)
    write_run_file(folder / PEOPLE, data.encode(errors="backslashreplace") + b"\n")
    return read_people_study(folder)


def _write_secret(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, from the start."""
    try:
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        raise RunError(f"cannot write to {path}: {error.strerror}") from error


def _read(path: Path, adapter: TypeAdapter[Any]) -> Any:
    try:
        with open_file(path) as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise RunError(f"{path}: over {_MOST_BYTES:,} bytes: it is none of a people's study")
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        raise _broken(path, error) from error


def _formed(path: Path, model: type[Any], line: Mapping[str, Any]) -> Any:
    try:
        return model.model_validate(line)
    except ValidationError as error:
        raise _broken(path, error) from error


def _broken(path: Path, error: ValidationError) -> RunError:
    return RunError(
        f"{path}: {first_problem(error)}: it was changed by other hands or made by another version"
    )
