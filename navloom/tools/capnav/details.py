"""Whether a question's detail names a thing that is there (CapNav, supplementary A.1, A.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from navloom.tools.capnav.lexis import load_words, plain, stem
from navloom.tools.capnav.named_places import Places
from navloom.tools.forms import Violation, listed, quoted

ALIKE = 0.75
"""Share of common words (Jaccard) from which two details say the same."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What could be found out about a detail.

    Attributes:
        status: see :mod:`navloom.tools.capnav.grounding`.
        against: what it was held against.
        unknown: its words that nothing vouches for.
    """

    status: Literal["verified", "unverifiable", "refused"]
    against: Literal["items", "description"]
    unknown: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {"status": self.status, "against": self.against, "unknown": list(self.unknown)}


def check_detail(
    said: str, place: str, places: Places, *, key: str
) -> tuple[Detail, list[Violation]]:
    """Hold a detail against what is known of its place.

    Args:
        said: the detail.
        place: the place it is of.
        places: the scene.
        key: what to call it in a message.
    """
    if not content(said) and not building(said):
        fault = Violation("detail_empty", f"{key} {quoted(said)} names no thing: name one")
        return Detail("refused", places.known(place)), [fault]
    if places.known(place) == "items":
        return _by_items(said, place, places, key)
    return _by_description(said, place, places), []


def content(said: str) -> list[str]:
    """The words of a detail that name things or say what they are like, as stems."""
    words = load_words()
    return [w for w in stem(plain(said)).split() if w not in words.filler | words.building]


def building(said: str) -> list[str]:
    """The words of a detail that name parts of a building, as stems."""
    return [word for word in stem(plain(said)).split() if word in load_words().building]


def says(question: str, said: str) -> bool:
    """Whether a question says a detail: one of the words that it names a thing by, at least."""
    words = set(content(said) or building(said))
    return bool(words & set(stem(plain(question)).split()))


def same_detail(one: str, other: str) -> bool:
    """Whether two details say the same, or nearly so."""
    mine, its = ({*content(text), *building(text)} for text in (one, other))
    return mine == its or len(mine & its) >= ALIKE * len(mine | its)


def _by_items(said: str, place: str, places: Places, key: str) -> tuple[Detail, list[Violation]]:
    names = [stem(plain(item)) for item in places.items(place)]
    words = stem(plain(said)).split()
    covered = _covered(words, [name.split() for name in names if name])
    about = set(stem(plain(f"{places.name(place)} {places.description(place)}")).split())
    known = load_words()
    left = [word for at, word in enumerate(words) if at not in covered]
    strange = [w for w in left if w not in known.filler | known.building | known.attribute | about]
    there = f"{place} holds {listed(places.items(place), near=said)}"
    if strange:
        message = f"{key} names {quoted(' '.join(strange))}, which is not there: {there}"
        return Detail("refused", "items", tuple(strange)), [Violation("detail_not_there", message)]
    if not covered:
        fault = Violation("detail_no_item", f"{key} {quoted(said)} names no item: {there}")
        return Detail("refused", "items"), [fault]
    unknown = tuple(w for w in left if w in known.attribute | known.building and w not in about)
    return Detail("unverifiable" if unknown else "verified", "items", unknown), []


def _covered(words: list[str], names: list[list[str]]) -> set[int]:
    """Places of the words that name an item: its whole name, or the end of it ("table")."""
    covered: set[int] = set()
    for name in names:
        for size in range(len(name), 0, -1):
            ending = name[-size:]
            for at in range(len(words) - size + 1):
                if words[at : at + size] == ending:
                    covered.update(range(at, at + size))
    return covered


def _by_description(said: str, place: str, places: Places) -> Detail:
    """Against words alone: what stands in the description, or in a name after "with"."""
    vouched = set(stem(plain(places.description(place))).split())
    name, _, told = plain(places.name(place)).partition(" with ")
    vouched |= set(stem(told).split())
    named = set(stem(name).split())
    words = content(said)
    unknown = [w for w in words if w not in vouched | named] + building(said)
    sure = not unknown and any(word in vouched for word in words)
    return Detail("verified" if sure else "unverifiable", "description", tuple(unknown))
