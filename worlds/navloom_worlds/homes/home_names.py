"""Names of generated homes: ``7``, ``0-49``, ``7?rooms=12&floors=2``, and one canonical name each.

The canonical name of a home with options is its seed and the options in the order of
:class:`~navloom_worlds.homes.home_names.HomeSpec`: ``7.rooms-12.floors-2``. It serves as a file
name and in datasets; the form with a question mark is for people to type.

Options of a home: ``home:7?rooms=12&floors=2&style=rustic&clutter=tidy``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.safe_files import repr_of

VERSION = 2
"""Generator version, incremented by every change that alters a home."""

Clutter = Literal["tidy", "lived-in", "cluttered"]
FEWEST_ROOMS, MOST_ROOMS = 4, 30
SMALLEST, LARGEST = 35, 350
"""Total floor area in square metres."""


OWN = "NAVLOOM_CATALOGUE"
"""Environment variable with the paths of a user's catalogue files."""


class HomeSpec(BaseModel):
    """Options of a home; options that are None are drawn from the seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rooms: Annotated[int, Field(ge=FEWEST_ROOMS, le=MOST_ROOMS)] | None = None
    """Total number of regions, hallways and stairwells included."""
    floors: Annotated[int, Field(ge=1, le=3)] | None = None
    area: Annotated[int, Field(ge=SMALLEST, le=LARGEST)] | None = None
    """Square metres, over all floors."""
    style: Annotated[str, Field(pattern=r"^[a-z-]{1,30}$")] | None = None
    """The name of a style of the catalogue."""
    clutter: Clutter | None = None


FIRST = "0-9"
"""Seeds that ``home:`` alone stands for."""
MOST_SEED = 999_999_999
MOST_HOMES = 100_000
"""Maximum size of a range: all are listed before the first is generated."""

_FORMS = "expected a seed as in home:7, a range as in home:0-49, or wishes as in home:7?rooms=12"
_SEEDS = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


def read_names(words: str) -> list[str]:
    """Expand a spec into canonical names, in the order of their seeds.

    Args:
        words: the text after ``home:``: a seed or a range, then options; or a canonical name.

    Raises:
        SceneError: names the invalid word and the expected form.
    """
    if "." in words and "?" not in words:
        return [home_name(*parse_name(words))]
    seeds, mark, wishes = words.partition("?")
    first, last = _range(seeds or FIRST, words)
    spec = _spec([wish.partition("=")[::2] for wish in wishes.split("&")] if mark else (), words)
    return [home_name(seed, spec) for seed in range(first, last + 1)]


def parse_name(name: str) -> tuple[int, HomeSpec]:
    """Parse one canonical name into its seed and options.

    Raises:
        SceneError: the name is invalid.
    """
    seed, *wishes = name.split(".")
    first, last = _range(seed, name)
    if first != last:
        raise SceneError(f"home:{repr_of(name)[1:-1]} is many homes, and one was expected.")
    return first, _spec([wish.partition("-")[::2] for wish in wishes], name)


def home_name(seed: int, spec: HomeSpec) -> str:
    """Return the canonical name of a home, which is its scene id: ``7.rooms-12.floors-2``.

    >>> home_name(7, HomeSpec(rooms=12, clutter="lived-in"))
    '7.rooms-12.clutter-lived-in'
    """
    wishes = spec.model_dump(exclude_none=True)
    return ".".join([str(seed), *(f"{key}-{value}" for key, value in wishes.items())])


def _range(seeds: str, words: str) -> tuple[int, int]:
    match = _SEEDS.fullmatch(seeds)
    where = f"home:{repr_of(words)[1:-1]}"
    if match is None:
        raise SceneError(f"{where}: {repr_of(seeds)} is no seed; {_FORMS}.")
    if len(seeds) > 40 or max(first := int(match[1]), last := int(match[2] or first)) > MOST_SEED:
        raise SceneError(f"{where}: a seed is a whole number from 0 to {MOST_SEED:,}.")
    if last < first:
        raise SceneError(f"{where}: a range goes up: did you mean home:{last}-{first}?")
    if last - first >= MOST_HOMES:
        raise SceneError(
            f"{where}: that is {last - first + 1:,} homes, and at most {MOST_HOMES:,} were"
            f" expected: take them in parts, such as home:{first}-{first + MOST_HOMES - 1}."
        )
    return first, last


def _spec(wishes: Iterable[tuple[str, str]], words: str) -> HomeSpec:
    where = f"home:{repr_of(words)[1:-1]}"
    known = HomeSpec.model_fields
    said: dict[str, str] = {}
    for key, value in wishes:
        if key not in known:
            raise SceneError(
                f"{where}: {repr_of(key)} is nothing one may ask of a home, which is"
                f" {', '.join(known)}.{did_you_mean(key, known)}"
            )
        if key in said:
            raise SceneError(f"{where}: {key} is asked for twice.")
        said[key] = value
    try:
        return HomeSpec.model_validate(said)
    except ValidationError as error:
        wrong = error.errors()[0]
        key = str(wrong["loc"][0])
        raise SceneError(
            f"{where}: {key}={repr_of(wrong['input'])[1:-1]}: expected {_expected(key)}."
        ) from None


def _expected(key: str) -> str:
    rule = HomeSpec.model_json_schema()["properties"][key]["anyOf"][0]
    if "enum" in rule:
        return f"one of {', '.join(rule['enum'])}"
    if "minimum" in rule:
        return f"a whole number from {rule['minimum']} to {rule['maximum']}"
    return "a name in small letters"
