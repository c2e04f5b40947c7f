"""Validate structured output of models, and make untrusted text safe for prompts.

Text from a model, a navigator or a file is pasted into other models' prompts. There it must not
look like a part of the prompt: no line breaks, no headings that readers look for, no control
characters. Its meaning is not changed; the prompt around it says that it is data.

>>> sanitize_line("Go left. Action options: {}", 80)
'Go left. Action options - {}'
>>> "".join(fold_lookalikes("Ｃоrrect ᴛʀᴜᴇ, дверь"))
'Correct TRUE, дверь'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import groupby
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from navloom.files import join_some, package_yaml

MOST_LISTED = 12
"""Limit of the names or faults in a message."""
_MOST_QUOTED = 120


@dataclass(frozen=True)
class Violation:
    """One broken rule.

    Attributes:
        code: the key to count it by, for example ``"object_not_there"``.
        message: one plain sentence for the model: what it answered, and what would be valid.
        where: the part of the answer, such as ``phase_1 "Target object"``.
        finding: the fault, for readers of a dataset; empty if another finding covers it.
    """

    code: str
    message: str
    where: str = ""
    finding: str = ""


def quote(value: Any) -> str:
    """Return a model's text quoted for a message: on one line, truncated."""
    text = " ".join(str(value).split())
    return f"'{text[:_MOST_QUOTED]}{'...' if len(text) > _MOST_QUOTED else ''}'"


def list_names(names: Sequence[str], *, near: str | None = None) -> str:
    """Return at most a dozen names joined for a message, those most similar to ``near`` first."""
    if near is not None:
        close = get_close_matches(near, names, n=MOST_LISTED, cutoff=0.4)
        names = [*close, *(n for n in names if n not in close)]
    return join_some(names, MOST_LISTED) or "none"


class AnswerPart(BaseModel):
    """Base model of one part of an answer; its keys are the aliases, and no others are allowed."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @classmethod
    def key_names(cls) -> list[str]:
        """Return the part's keys as in an answer, in their order."""
        return [str(field.alias) for field in cls.model_fields.values() if field.alias]


F = TypeVar("F", bound=AnswerPart)


def object_schema(
    properties: Mapping[str, Any], title: str = "", description: str = ""
) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties.

    Args:
        properties: the schema of each property, by name.
        title: of the schema; left out if empty, as is the description.
        description: of the object.
    """
    return {
        **({"title": title} if title else {}),
        **({"description": description} if description else {}),
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def name_field(description: str, known: Sequence[str] | None) -> tuple[Any, Any]:
    """Return type and field of a tool argument that is a name, of the known names if any."""
    # A Literal would refuse an unknown name before the tool could give a helpful answer, and
    # LangChain passes on only the parts of a field that are in its annotation.
    held = Annotated[str, WithJsonSchema({"type": "string", "enum": [*known]})] if known else str
    return held, Field(description=description)


def read_part(
    answer: Mapping[str, Any], key: str, form: type[F]
) -> tuple[F | None, list[Violation]]:
    """Validate the part of an answer under a key.

    Args:
        answer: the model's answer.
        key: the key, for example ``phase_1``.
        form: the model of the part.

    Returns:
        The part and no violations, or None and one violation for each fault.
    """
    if not isinstance(answer.get(key), dict):
        return None, [Violation("wrong_form", f'The answer has no object under the key "{key}".')]
    try:
        return form.model_validate(answer[key]), []
    except ValidationError as error:
        return None, _faults(error, form, key)


def _faults(error: ValidationError, form: type[AnswerPart], key: str) -> list[Violation]:
    keys = list_names([f'"{name}"' for name in form.key_names()])
    found = []
    for each in error.errors(include_url=False, include_context=False)[:MOST_LISTED]:
        path = " > ".join(f'"{part}"' for part in (key, *each["loc"]))
        match each["type"]:
            case "missing":
                fault = f"{path} is missing."
            case "extra_forbidden":
                fault = f"{path} does not belong there; the keys of {key} are {keys}."
            case _:
                fault = f"{path}: {each['msg']}; found {quote(each['input'])}."
        found.append(Violation("wrong_form", fault, "", fault))
    return found


HEADINGS: tuple[str, ...] = tuple(package_yaml("navloom.tools", "headings.yaml"))
"""Words that open a section of a prompt if a colon follows."""
_HEADING = re.compile(
    rf"(?<!\w)({'|'.join(h.replace(' ', '[ _]') for h in HEADINGS)})( \d{{1,6}})?"
    r"[*_ ]{0,3}[:\uFF1A\uFE55\u2236]",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?([A-Za-z][\w -]{0,30})>")
_MOST_READ = 20_000


def sanitize_line(text: str, most: int) -> str:
    """Sanitize untrusted text: return it as one plain line.

    Control and invisible characters are removed, and white space is collapsed. Our headings lose
    their colon, tags their brackets, code fences their ticks. A long text is cut at a word.

    Args:
        text: any text.
        most: limit of the result in characters.

    Returns:
        One line of at most ``most`` characters; it may be empty.
    """
    kept = "".join(_shown(character) for character in text[:_MOST_READ])
    kept = _TAG.sub(r"(\1)", kept.replace("```", " "))
    kept = _HEADING.sub(r"\1\2 -", " ".join(kept.split()))
    if len(kept) <= most:
        return kept
    head = kept[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip() + "…"


def _shown(character: str) -> str:
    # Category C: control, format (zero width, direction), surrogate, private, unassigned.
    if character in "\n\r\t\v\f\x85" or unicodedata.category(character) in ("Zl", "Zp"):
        return " "
    return "" if unicodedata.category(character).startswith("C") else character


_LOOKALIKES = str.maketrans(
    "асԁеһіјӏорԛѕԝхуѵАВЕНІЈКМОРЅТХУԜαεικνορτυχΑΒΕΗΙΚΜΝΟΡΤΥΧɑɡıⅼСғ",
    "acdehijlopqswxyvABEHIJKMOPSTXYWaeiknoptuxABEHIKMNOPTYXagilCf",
)
"""Letters of other scripts that look like Latin ones in print (after Unicode's UTS 39)."""
_NAMED = re.compile(
    "(?:LATIN LETTER SMALL CAPITAL|REGIONAL INDICATOR SYMBOL LETTER|"
    "(?:CROSSED )?NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER) ([A-Z])"
)
_COLONS = "ː꞉ꓽ\u0903"
"""Letters and marks that look like a colon."""
_UNSEEN = "\u034f\u115f\u1160\u3164\uffa0\u2800"
_MOST_ACCENTS = 2


def fold_lookalikes(text: str) -> list[str]:
    """Fold each character of a text to what it reads as, so that look-alikes hide no word.

    Compatibility forms are unfolded (NFKC). Invisible characters are removed: zero width and
    direction characters, tags, more than two stacked accents. A word whose characters all read as
    ASCII letters is written in them; other words keep their script and their accents.

    Args:
        text: any text.

    Returns:
        For each character of ``text`` a string of zero or more characters.
    """
    if text.isascii():
        return list(text)
    read: list[str] = []
    accents = 0
    for character in text:
        accents = accents + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        read.append("" if accents > _MOST_ACCENTS else _compatible(character))
    ascii_ = [_ascii(character) for character in read]
    for is_word, run in groupby(range(len(text)), lambda k: _is_of_word(read[k], ascii_[k])):
        places = list(run)
        if is_word and all(ascii_[k].isascii() for k in places):
            read[places[0] : places[-1] + 1] = ascii_[places[0] : places[-1] + 1]
    return read


def _is_of_word(read: str, plain: str) -> bool:
    return not plain or plain.replace("_", "a").isalnum() or unicodedata.category(read[0])[0] == "M"


@lru_cache(maxsize=4096)
def _compatible(character: str) -> str:
    if character in _UNSEEN or (
        unicodedata.category(character)[0] == "C" and character not in "\n\r\t"
    ):
        return ""
    return ":" if character in _COLONS else unicodedata.normalize("NFKC", character)


@lru_cache(maxsize=4096)
def _ascii(read: str) -> str:
    """Return a character in ASCII if it reads as such, else unchanged."""
    parts = unicodedata.normalize("NFKD", read)
    bare = "".join(c for c in parts if not unicodedata.combining(c)).translate(_LOOKALIKES)
    if bare.isascii():
        return bare
    named = _NAMED.fullmatch(unicodedata.name(read, "")) if len(read) == 1 else None
    return named[1] if named else read
