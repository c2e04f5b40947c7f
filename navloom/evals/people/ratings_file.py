"""Writer of the ratings of a people study: one process at a time, each rating once.

Answers come from the web server, or from files that the offline form saved. Both are checked
against the form and the items. A rating with a known id is not written again.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from navloom.errors import RunError, UsageError
from navloom.evals.people.rating_form import StrictModel
from navloom.evals.people.study_folder import RATINGS, Rating, ratings_line_form, read_people_study
from navloom.files import JsonlFile, open_file
from navloom.scenes.safe_files import first_problem

ANSWERS_FORMAT: Literal["navloom.answers/1"] = "navloom.answers/1"
MOST_LINES = 100_000
"""Maximum number of lines of a study."""
_LOCK = ".people.lock"
_MOST_BYTES = 64_000_000


class SavedAnswers(StrictModel):
    """Answers saved by the offline form, which works without a server."""

    format: Literal["navloom.answers/1"] = ANSWERS_FORMAT
    study: Annotated[str, Field(max_length=40)]
    rater: Annotated[str, Field(max_length=80)]
    ratings: Annotated[tuple[Rating, ...], Field(max_length=MOST_LINES)]


_ANSWERS = TypeAdapter(SavedAnswers)


class RatingsWriter:
    """The ratings of a study, locked by this process for writing.

    Args:
        folder: the study's folder.

    Attributes:
        people: the study with all ratings so far.

    Raises:
        RunError: another process holds it, it is broken, or it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = _locked(folder)
        try:
            self.people = read_people_study(folder)
            self._file = JsonlFile(folder / RATINGS, form=ratings_line_form(self.people.file))
        except BaseException:
            os.close(self._lock)
            raise
        self._ratings = list(self.people.ratings)
        self._asked = {each.name: frozenset(each.items) for each in self.people.file.raters}

    def say(self, rating: Rating) -> bool:
        """Append a rating; it is on disk when this returns.

        Returns:
            True if it is new; a known id is not written again.

        Raises:
            UsageError: it does not fit its rater, item or form.
            RunError: it cannot be written.
        """
        if rating.id in self._file.ids:
            return False
        self.check(rating)
        if len(self._ratings) >= MOST_LINES:
            raise UsageError(f"over {MOST_LINES:,} lines were said in this study: it is full")
        self._file.append(rating.model_dump(mode="json", exclude_defaults=True))
        self._ratings.append(rating)
        self.people = replace(self.people, ratings=self._ratings)
        if rating.status == "withdrawn" and not rating.item:
            # Withdraw each item, so that a rater who takes part again starts over.
            for name, each in self.people.last(rating.rater).items():
                if name and each.status in ("answered", "skipped"):
                    taken = Rating(id=token_hex(12), rater=rating.rater, item=name,
                                   status="withdrawn")  # fmt: skip
                    self.say(taken)
        return True

    def check(self, rating: Rating) -> None:
        """Refuse a rating that does not fit its rater, item or form.

        Raises:
            UsageError: the rating does not fit.
        """
        if rating.rater not in self._asked:
            raise UsageError(f"there is no rater '{rating.rater}' in this study")
        if rating.item and rating.item not in self._asked[rating.rater]:
            raise UsageError(f"{rating.rater} is not asked about '{rating.item}'")
        if rating.status == "answered":
            try:
                self.people.form.check(rating.answers, self.people.items[rating.item].places)
            except ValueError as error:
                raise UsageError(f"{rating.item}: {error}") from error

    def read(self, path: Path) -> int:
        """Import the answers that an offline form saved, all or none.

        Returns:
            The number of new lines.

        Raises:
            UsageError: it belongs to another study, or is no such file.
        """
        said = read_answers_file(path)
        study = self.people.file.study
        if said.study != study:
            raise UsageError(
                f"{path} holds answers of another study ({said.study[:20]!r}, and this is"
                f" {study!r}): nothing of it was taken"
            )
        try:
            for rating in said.ratings:
                if rating.rater != said.rater:
                    raise UsageError(f"it is {said.rater}'s and has a line of {rating.rater}")
                self.check(rating)
        except UsageError as error:
            raise UsageError(f"{path}: {error}: nothing of it was taken") from error
        return sum(self.say(rating) for rating in said.ratings)

    def close(self) -> None:
        """Release the file; may be called twice."""
        self._file.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> RatingsWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_answers_file(path: Path) -> SavedAnswers:
    """Read the answers that an offline form saved.

    Raises:
        UsageError: it cannot be read, or is no such file.
    """
    try:
        with open_file(path) as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    try:
        if len(data) > _MOST_BYTES:
            raise ValueError(f"over {_MOST_BYTES:,} bytes")
        return _ANSWERS.validate_json(data)
    except ValidationError as error:
        raise UsageError(
            f"{path} holds no answers of a form of ours: {first_problem(error)}"
        ) from error
    except ValueError as error:
        raise UsageError(f"{path} holds no answers of a form of ours: {error}") from error


def import_answers(folder: Path, files: Sequence[Path]) -> list[tuple[Path, int, int]]:
    """Import files of answers into a study.

    Returns:
        Each file with its number of new lines and of all lines.

    Raises:
        UsageError: a file is invalid or of another study; RunError: another process has the study.
    """
    with RatingsWriter(folder) as ratings:
        return [(path, ratings.read(path), len(read_answers_file(path).ratings)) for path in files]


def _locked(folder: Path) -> int:
    path = folder / _LOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RunError(f"cannot write to {folder}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise RunError(
            f"{folder}: another process takes its answers (a `navloom view` of it?): end that one"
            " first"
        ) from error
    return handle
