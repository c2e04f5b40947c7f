"""What a home looks like: a style, and from it materials and colours that agree with each other.

The styles are data, in ``catalogue_styles.yaml``. A home draws, for each class of material (wood,
fabric, metal ...), one or two looks, and everything in it is made of these.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.checked_files import read_yaml
from navloom_worlds.homes.catalogue import CLASSES, Entry, catalogue
from navloom_worlds.homes.dice import Dice

_MOST_BYTES = 200_000


class Look(BaseModel):
    """What a class of material is, in one style: any material goes with any colour."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    materials: tuple[str, ...] = Field(min_length=1)
    colours: tuple[str, ...] = Field(min_length=1)
    at_once: int = Field(default=2, ge=1, le=20)
    """How many looks of it one home has at most."""


class Style(BaseModel):
    """A style: its looks where they are not the common ones, and what it has more or less of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    looks: dict[str, Look]
    likes: dict[str, float] = Field(default_factory=dict)
    """Name of an entry -> factor on how often a home of this style has it."""
    full: float = Field(default=1.0, gt=0, le=3)
    """Factor on the number of objects."""


class Styles(BaseModel):
    """The content of ``catalogue_styles.yaml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    common: dict[str, Look]
    styles: dict[str, Style] = Field(min_length=1)

    @model_validator(mode="after")
    def _holds_together(self) -> Styles:
        for where, looks in [
            ("common", self.common),
            *((n, s.looks) for n, s in self.styles.items()),
        ]:
            for word in looks:
                if word not in CLASSES:
                    near = did_you_mean(word, CLASSES)
                    raise ValueError(f"{where}: unknown class {word!r}.{near}")
        for name, style in self.styles.items():
            for word in CLASSES:
                if word not in self.common and word not in style.looks:
                    raise ValueError(f"{name}: nothing is said of {word!r}")
            for liked in style.likes:
                if liked not in catalogue().entries:
                    near = did_you_mean(liked, catalogue().entries)
                    raise ValueError(f"{name}: likes: no entry {liked!r}.{near}")
        return self


@cache
def _styles() -> Styles:
    path = Path(str(files("navloom_worlds.homes").joinpath("catalogue_styles.yaml")))
    return read_yaml(path, TypeAdapter(Styles), most=_MOST_BYTES)


def style_names() -> tuple[str, ...]:
    """The names of the styles, in the file's order."""
    return tuple(_styles().styles)


class Dressing:
    """The look of one home.

    Args:
        style: a style's name; None: one is drawn.
        dice: draws of its own.

    Raises:
        SceneError: there is no such style.
    """

    def __init__(self, style: str | None, dice: Dice) -> None:
        known = _styles().styles
        if style is not None and style not in known:
            raise SceneError(
                f"style {style!r}: there is none.{did_you_mean(style, known)} "
                f"Expected one of: {', '.join(known)}."
            )
        self.name = style or dice.pick(list(known))
        self._style = known[self.name]
        self.full = self._style.full
        self._dice = dice
        self._looks: dict[str, list[tuple[str, str]]] = {}
        self._titles: dict[str, str] = {}
        self._of_kind: dict[tuple[str, str], tuple[str, str]] = {}
        for word in CLASSES:
            look = self._style.looks.get(word) or _styles().common[word]
            pairs = [(m, c) for m in look.materials for c in look.colours]
            self._looks[word] = dice.shuffled(pairs)[: look.at_once]

    def likes(self, name: str) -> float:
        """The factor on how often a home of this style has things of this name."""
        return self._style.likes.get(name, 1.0)

    def title(self, entry: Entry) -> str:
        """What this home calls things of a kind."""
        if len(entry.titles) == 1:
            return entry.titles[0]
        if entry.name not in self._titles:
            self._titles[entry.name] = self._dice.pick(entry.titles)
        return self._titles[entry.name]

    def of(self, entry: Entry, group: str) -> tuple[str, str]:
        """Material and colour of a thing.

        Args:
            entry: its kind.
            group: things of one kind and group (a room) look the same, if they are furniture.
        """
        if entry.kind == "object" and entry.place is None:
            return self._draw(entry)
        key = (entry.name, group)
        if key not in self._of_kind:
            self._of_kind[key] = self._draw(entry)
        return self._of_kind[key]

    def _draw(self, entry: Entry) -> tuple[str, str]:
        looks = self._looks[entry.made[0] if len(entry.made) == 1 else self._dice.pick(entry.made)]
        # The first look is the home's main one.
        material, colour = looks[0] if self._dice.chance(0.6) else self._dice.pick(looks)
        return material, (self._dice.pick(entry.colours) if entry.colours else colour)
