"""Roundabout sentences in the words that the table of wordings has, by ``rewordings.yaml``."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from navloom.scenes.checked_files import read_yaml

_MOST_READ = 400
"""Characters of what was said that are read."""
_TOLD = re.compile(
    r"^(?:(?:so|and|but|okay|then|well|also|oh|ah) )*"
    r"(?:you|we|i|it|this|that|there|here|they|the|my|your|he|she)\b"
)
_TAG = re.compile(
    r"(?:,? (?:is|are|did|do|does|have|has|had|was|were|can|could|will|am)(?: not)?"
    r" (?:it|you|we|they|there|i|he|she|that)(?: not)?|, ?(?:right|correct|yes|no|true|is that so"
    r"|or not|or|okay|huh|eh|is that right|am i right|is that correct)| right| correct)$"
)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    foreign: str
    rows: tuple[tuple[str, str], ...]


@cache
def _table() -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], str], ...]]:
    path = Path(str(files("navloom.graphs.chat").joinpath("rewordings.yaml")))
    table = read_yaml(path, TypeAdapter(_File), most=100_000)
    foreign = re.compile(rf"(?<!\w)(?:{table.foreign})(?!\w)", re.IGNORECASE)
    return foreign, tuple((re.compile(said), meant) for said, meant in table.rows)


def reworded(sentence: str) -> str:
    """A sentence in plain words, without its stop, in the table's words.

    >>> reworded("go to the room that comes after the kitchen")
    'go to the room after the kitchen'
    """
    for said, meant in _table()[1]:
        sentence = said.sub(meant, sentence, count=1)
    return " ".join(sentence.split()).strip(" ,")


def untagged(sentence: str) -> tuple[str, bool]:
    """A statement without "right?" or "did you?" at its end, and whether it had that.

    >>> untagged("you passed the kitchen, did you not")
    ('you passed the kitchen', True)
    """
    tag = _TAG.search(sentence) if _TOLD.match(sentence) else None
    if tag is None or not tag.start():
        return sentence, False
    return sentence[: tag.start()].rstrip(" ,"), True


def without_foreign(text: str) -> str:
    """Words without the polite ones of other languages; all of them where nothing else is there.

    >>> without_foreign("go there por favor"), without_foreign("por favor")
    ('go there', 'por favor')
    """
    text = text[:_MOST_READ]
    left = " ".join(_table()[0].sub(" ", text).split())
    return left if re.search(r"\w", left) else text
