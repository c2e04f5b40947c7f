"""What a model or a stranger wrote: an answer's form and its faults, and words fit for a prompt.

What a model, a navigator or a file said is pasted into other models' prompts. There it must not
look like a part of the prompt: no line of its own, no heading that readers look for, no control
characters. What it means is left alone; that it is data is said by the prompt around it.

>>> paragraph("Go left. Action options: {}", 80)
'Go left. Action options - {}'
>>> "".join(plain_letters("Ｃоrrect ᴛʀᴜᴇ, дверь"))
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

from navloom.files import and_more, packaged

MOST_LISTED = 12
"""How many names or faults a message lists."""
_MOST_QUOTED = 120


@dataclass(frozen=True)
class Violation:
    """One broken rule.

    Attributes:
        code: what to count it under, for example ``"object_not_there"``.
        message: one plain sentence for the model: what was said, and what would do.
        where: the part of the answer, such as ``phase_1 "Target object"``.
        finding: what is wrong there, for who reads a dataset; empty where another finding says it.
    """

    code: str
    message: str
    where: str = ""
    finding: str = ""


def quoted(value: Any) -> str:
    """A model's own words, shortened and on one line, for use inside a message."""
    text = " ".join(str(value).split())
    return f"'{text[:_MOST_QUOTED]}{'...' if len(text) > _MOST_QUOTED else ''}'"


def listed(names: Sequence[str], *, near: str | None = None) -> str:
    """Names in a sentence, at most a dozen, those most like ``near`` first."""
    if near is not None:
        close = get_close_matches(near, names, n=MOST_LISTED, cutoff=0.4)
        names = [*close, *(n for n in names if n not in close)]
    return and_more(names, MOST_LISTED) or "none"


class Form(BaseModel):
    """A part of an answer: its keys are the aliases, all of them and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @classmethod
    def key_names(cls) -> list[str]:
        """Its keys as an answer has them, in their order."""
        return [str(field.alias) for field in cls.model_fields.values() if field.alias]


F = TypeVar("F", bound=Form)


def closed_object(
    properties: Mapping[str, Any], title: str = "", description: str = ""
) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties.

    Args:
        properties: the schema of each, by name.
        title: of the schema; left out where it is empty, as is the description.
        description: what the object is.
    """
    return {
        **({"title": title} if title else {}),
        **({"description": description} if description else {}),
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def name_argument(description: str, known: Sequence[str] | None) -> tuple[Any, Any]:
    """A tool's argument that is a name, of those known where there are any: type and field."""
    # A Literal would refuse an unknown name before the tool could answer it helpfully; and of a
    # field LangChain hands on only what stands in its annotation.
    held = Annotated[str, WithJsonSchema({"type": "string", "enum": [*known]})] if known else str
    return held, Field(description=description)


def read_form(
    answer: Mapping[str, Any], key: str, form: type[F]
) -> tuple[F | None, list[Violation]]:
    """Read the part of an answer that stands under a key.

    Args:
        answer: what the model said.
        key: the key, for example ``phase_1``.
        form: what is expected under it.

    Returns:
        The part and no faults, or None and each fault of its form in one sentence.
    """
    if not isinstance(answer.get(key), dict):
        return None, [Violation("wrong_form", f'The answer has no object under the key "{key}".')]
    try:
        return form.model_validate(answer[key]), []
    except ValidationError as error:
        return None, _faults(error, form, key)


def _faults(error: ValidationError, form: type[Form], key: str) -> list[Violation]:
    keys = listed([f'"{name}"' for name in form.key_names()])
    found = []
    for each in error.errors(include_url=False, include_context=False)[:MOST_LISTED]:
        path = " > ".join(f'"{part}"' for part in (key, *each["loc"]))
        match each["type"]:
            case "missing":
                fault = f"{path} is missing."
            case "extra_forbidden":
                fault = f"{path} does not belong there; the keys of {key} are {keys}."
            case _:
                fault = f"{path}: {each['msg']}; found {quoted(each['input'])}."
        found.append(Violation("wrong_form", fault, "", fault))
    return found


HEADINGS: tuple[str, ...] = tuple(packaged("navloom.tools", "headings.yaml"))
"""The words that open a section of a prompt when a colon follows."""
_HEADING = re.compile(
    rf"(?<!\w)({'|'.join(h.replace(' ', '[ _]') for h in HEADINGS)})( \d{{1,6}})?"
    r"[*_ ]{0,3}[:\uFF1A\uFE55\u2236]",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?([A-Za-z][\w -]{0,30})>")
_MOST_READ = 20_000


def paragraph(text: str, most: int) -> str:
    """A stranger's text as one plain line.

    Control and invisible characters go, white space is collapsed, a heading of ours loses its
    colon, tags their brackets, fences their ticks; what is over the bound is cut at a word.

    Args:
        text: whatever was said.
        most: characters at most.

    Returns:
        One line of at most ``most`` characters, perhaps empty.
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
"""Letters of other scripts that pass for Latin ones in print (after Unicode's UTS 39)."""
_NAMED = re.compile(
    "(?:LATIN LETTER SMALL CAPITAL|REGIONAL INDICATOR SYMBOL LETTER|"
    "(?:CROSSED )?NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER) ([A-Z])"
)
_COLONS = "ː꞉ꓽ\u0903"
"""Letters and marks that pass for one."""
_UNSEEN = "\u034f\u115f\u1160\u3164\uffa0\u2800"
_MOST_ACCENTS = 2


def plain_letters(text: str) -> list[str]:
    """What each character of a text reads as, so that look-alikes cannot hide a word.

    Compatibility forms are unfolded (NFKC), and what is not seen is left out: zero width and
    direction characters, tags, accents stacked over two. A word that reads as ASCII letters
    altogether is written in them; other words keep their script and their accents.

    Args:
        text: whatever was said.

    Returns:
        For each character of ``text`` none, one or several characters.
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
    """In ASCII where it can be read so, else as it is."""
    parts = unicodedata.normalize("NFKD", read)
    bare = "".join(c for c in parts if not unicodedata.combining(c)).translate(_LOOKALIKES)
    if bare.isascii():
        return bare
    named = _NAMED.fullmatch(unicodedata.name(read, "")) if len(read) == 1 else None
    return named[1] if named else read
