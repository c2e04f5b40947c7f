"""Parser of the barriers that an explanation claims, and where: a grammar, without a model.

An explanation is cut into claims. A claim has a subject (the body it is about), a place (ends of
passages, by name or id) and a cause, recognized by the words of ``barrier_words.yaml``:

- A sentence that names two places begins a claim, and so does a part of one that names others. Text
  without a place continues the claim ("Look at Hall and Bath. It is too tight there.").
- A denied obstacle ("no stairs", "free of clutter") and a stated ability or sufficiency ("wide
  enough", "climbs it easily") are no cause. A lack ("not wide enough", "unable to open") is one,
  and so is a length with its unit in a comparison.
- Words of several causes mean one of them; if those causes do not overlap, the claim is not
  understood.

A claim without a place and without a word for a cause is hollow if it holds only words that say
nothing of a path, or words on the answer itself. Everything else is not understood. Callers must
report that, since an unparsed claim is no grade.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from navloom.scenes.bodies import ALIASES, body_names, canonical_name
from navloom.scenes.safe_files import read_yaml

OVERLAPS = (frozenset({"narrow", "clutter", "turn"}), frozenset({"stairs", "rise", "terrain"}))
"""Groups of causes that overlap in words: a person might take one for the other."""
_MOST_READ, _MOST_BYTES = 4_000, 64_000
_BESIDE = 0.6
"""Least weight of a second cause, as a share of the first one's."""
_ALIKE = 0.9
"""Least total weight of words that overlapping causes share, for them to be understood."""
_SIGN = re.compile(r"§(\d+)\.(\d+)§")
_NOT = re.compile(r"\bcan't\b|\bcannot\b|\bwon't\b|n't\b")
_LENGTH = re.compile(
    r"\b\d+(?:[.,]\d+)?\s?(?:mm|cm|m|(?:milli|centi)?met(?:er|re)s?|in(?:ch(?:es)?)?|ft|feet|foot)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+|\s[–—-]+\s")
_PIECE = re.compile(r",\s+|\s+(?:and|but|while|whereas)\s+")
_CLAUSE = re.compile(
    r"[,.;:!?()]+|\b(?:but|although|though|while|whereas|however|yet|so|because)\b"
)
_PEOPLE = ("human", "robot")
_ARTICLE = "(?:the|a|an|any|of|too|so|very)"
_TOKEN = re.compile(r"[a-zA-Z']+")


@dataclass(frozen=True)
class BarrierClaim:
    """One claim of an explanation.

    Attributes:
        text: its words in lower case, without places, bounded.
        places: names of the places in it, as they were given.
        causes: the causes it may mean; empty where none is understood.
        others: it is about another body, and not about the one asked for.
        hollow: it says nothing of a path.
    """

    text: str
    places: frozenset[str]
    causes: frozenset[str]
    others: bool
    hollow: bool


def read_claims(said: str, ends: Sequence[Iterable[str]], agent: str = "") -> list[BarrierClaim]:
    """Parse an explanation into claims, in order.

    Args:
        said: the explanation; untrusted.
        ends: for each end of a passage its possible names: name and id.
        agent: the body asked about; "" where it is unknown.
    """
    text, names = _signed(said[:_MOST_READ], ends, agent)
    claims: list[BarrierClaim] = []
    before = ""
    for part in _parts(text):
        claim, last = _claim(part, names), claims[-1] if claims else None
        # "Locked: Hall to Bath." A cause without a place goes with a place without a cause.
        if last and last.causes and not last.places and claim.places and not claim.causes:
            part = f"{before}, {part}"
            claims[-1] = _claim(part, names)
        else:
            claims.append(claim)
        before = part
    return claims


def _signed(said: str, ends: Sequence[Iterable[str]], agent: str) -> tuple[str, list[str]]:
    """Replace places, bodies and lengths by signs, longest names first; lower-case the text.

    Returns:
        The text, and the names in the order of their numbers.
    """
    text = said.replace("’", "'")
    numbered = {name: end for end, each in enumerate(ends) for name in each}
    names = sorted(numbered, key=len, reverse=True)
    for number, name in enumerate(names):
        # Only the capital tells a room named "Elevator" from an elevator.
        alone = " " not in name and _words().any.search(f" {name.casefold()} ")
        case = re.NOFLAG if alone else re.IGNORECASE
        sign = f" §{numbered[name]}.{number}§ "
        text = re.sub(rf"(?<![\w§]){re.escape(name)}(?![\w§])", sign, text, flags=case)
    text = text.casefold()
    for body in filter(None, (agent, *body_names(), *ALIASES)):
        sign = "AGENT" if canonical_name(body) == canonical_name(agent) else "OTHER"
        # "human" and "robot" seldom mean the bodies of these names.
        if sign == "AGENT" or body.casefold() not in _PEOPLE:
            text = re.sub(rf"\b{re.escape(body.casefold())}s?\b", sign, text)
    return _LENGTH.sub("UNIT", _NOT.sub(" not", text)), names


def _parts(text: str) -> list[str]:
    """Split text into parts, each on the ends of one passage with all that is said of it."""
    parts: list[str] = []
    for sentence in filter(str.strip, _SENTENCE.split(text)):
        named, before = len(_ends(sentence)), bool(parts and _ends(parts[-1]))
        fresh = named > before or bool(_words().further.match(_tokens(sentence)))
        for piece in _PIECE.split(sentence):
            mine, its = _ends(piece), _ends(parts[-1]) if parts else set()
            # After both ends of a passage, a different end begins another claim.
            if not parts or fresh or (mine - its and len(its) > 1):
                parts.append(piece)
            else:
                parts[-1] += f", {piece}"
            fresh = False
    return parts


def _ends(text: str) -> set[str]:
    return {end for end, _ in _SIGN.findall(text)}


def _tokens(text: str) -> str:
    """Return the words with one space around each."""
    return f" {' '.join(_TOKEN.findall(_SIGN.sub(' ', text)))} "


def _claim(part: str, names: Sequence[str]) -> BarrierClaim:
    words = _words()
    weights = Counter[str]()
    own: set[str] = set()
    for clause in map(_tokens, _CLAUSE.split(part)):
        if _is_granted(clause):
            continue
        for found in words.any.finditer(words.denied.sub(" ", clause)):
            worth = words.worth[(found.lastindex or 1) - 1]
            weights.update(worth)
            own |= {cause for cause, weight in worth.items() if weight == 1}
    places = frozenset(names[int(number)] for _, number in _SIGN.findall(part))
    text = _tokens(part)
    left = _TOKEN.findall(words.hollow.sub(" ", text))
    return BarrierClaim(
        text=text.strip()[:120],
        places=places,
        causes=_understood(weights, own),
        others="OTHER" in part and "AGENT" not in part,
        hollow=not places and not own and (not left or bool(words.grading.search(text))),
    )


def _is_granted(clause: str) -> bool:
    """Check whether a clause says that something is possible, without a restriction."""
    words = _words()
    granted = words.enough.search(clause)
    return bool(granted) and not words.lacking.search(words.enough.sub(" ", clause))


def _understood(weights: Mapping[str, float], own: set[str]) -> frozenset[str]:
    """Return the causes that words mean: those with words of their own, else overlapping ones."""
    most = max(weights.values(), default=0.0)
    if own:
        return frozenset(c for c in own if weights[c] >= _BESIDE * most)
    top = frozenset(cause for cause, weight in weights.items() if weight >= _BESIDE * most)
    alike = any(top <= group for group in OVERLAPS)
    return top if alike and sum(weights.values()) >= _ALIKE else frozenset()


def _listed(text: object) -> list[str]:
    return [" ".join(each.split()) for each in text.split(",")] if isinstance(text, str) else []


_Phrase = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z'_ ]*\*?~?$", max_length=40)]
_Phrases = Annotated[list[_Phrase], Field(min_length=1), BeforeValidator(_listed)]


class _ClaimsFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    causes: dict[str, _Phrases]
    nothing: _Phrases
    there: _Phrases
    denied: _Phrases
    enough: _Phrases
    lacking: _Phrases
    further: _Phrases
    hollow: _Phrases
    grading: _Phrases


@dataclass(frozen=True)
class _ClaimPatterns:
    """Compiled patterns of ``barrier_words.yaml``, for text with one space around each word.

    Attributes:
        any: every word for a cause, a group each.
        worth: weight by cause of each group's word.
        denied: denials of an obstacle.
        enough: words that grant an ability.
        lacking: words that restrict it.
        further: words that begin a claim.
        hollow: words that say nothing of a path.
        grading: words on the answer itself.
    """

    any: re.Pattern[str]
    worth: tuple[Mapping[str, float], ...]
    denied: re.Pattern[str]
    enough: re.Pattern[str]
    lacking: re.Pattern[str]
    further: re.Pattern[str]
    hollow: re.Pattern[str]
    grading: re.Pattern[str]


@cache
def _words() -> _ClaimPatterns:
    with as_file(files("navloom.judges").joinpath("barrier_words.yaml")) as path:
        read = read_yaml(path, TypeAdapter(_ClaimsFile), most=_MOST_BYTES)
    causes: dict[str, list[str]] = {}
    for cause, phrases in read.causes.items():
        for phrase in phrases:
            causes.setdefault(phrase, []).append(cause)
    ordered = sorted({*causes, *read.nothing}, key=lambda e: (len(e.split()), len(e)), reverse=True)
    whole = {phrase: 0.5 if phrase.endswith("~") else 1.0 for phrase in ordered}
    there, denied = _any_of(read.there), _any_of(read.denied)
    return _ClaimPatterns(
        any=re.compile("|".join(rf"(?<= )({_pattern(each)})(?= )" for each in ordered)),
        worth=tuple(_shared(causes.get(phrase, []), whole[phrase]) for phrase in ordered),
        denied=re.compile(rf"(?<= )(?:{denied}) (?:{_ARTICLE} )?(?:{there})(?= )"),
        further=re.compile(rf" (?:and )?(?:{_any_of(read.further)})(?= )"),
        **{
            name: re.compile(rf"(?<= )(?:{_any_of(getattr(read, name))})(?= )")
            for name in ("enough", "lacking", "hollow", "grading")
        },
    )


def _shared(causes: Sequence[str], whole: float) -> dict[str, float]:
    return {cause: whole / len(causes) for cause in causes}


def _any_of(phrases: Sequence[str]) -> str:
    return "|".join(map(_pattern, sorted(phrases, key=_size, reverse=True)))


def _size(phrase: str) -> tuple[int, int, str]:
    """Return the key by which longer phrases are matched first."""
    return len(phrase.split()), len(phrase), phrase


def _pattern(phrase: str) -> str:
    """Return a phrase as a pattern: any ending for ``*``, a few words for ``_``, and plurals."""
    plain = phrase.removesuffix("~")
    end = "[a-z']*" if plain.endswith("*") else "(?:e?s)?(?:'s)?" if plain[-1].islower() else ""
    words = [r"\S+(?: \S+){0,2}" if w == "_" else w for w in plain.removesuffix("*").split()]
    return " ".join(words) + end
