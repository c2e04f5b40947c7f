"""Interior styles: the materials and colours of a home, chosen so that they match.

The styles are data, in ``catalogue_styles.yaml``. For each class of material (wood, fabric,
metal ...) a home draws one or two combinations, and all its items are made of these.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.safe_files import read_yaml
from navloom_worlds.homes.catalogue import CLASSES, ItemSpec, active_catalogue
from navloom_worlds.homes.rng import Rng

_MOST_BYTES = 200_000


class MaterialLook(BaseModel):
    """Materials and colours of a material class in one style; they combine freely."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    materials: tuple[str, ...] = Field(min_length=1)
    colours: tuple[str, ...] = Field(min_length=1)
    at_once: int = Field(default=2, ge=1, le=20)
    """Maximum number of combinations in one home."""


class InteriorStyle(BaseModel):
    """Interior style: materials that replace the common ones, and item frequencies."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    looks: dict[str, MaterialLook]
    likes: dict[str, float] = Field(default_factory=dict)
    """Entry name -> factor on its frequency in homes of this style."""
    full: float = Field(default=1.0, gt=0, le=3)
    """Factor on the number of objects."""


class Styles(BaseModel):
    """Content of ``catalogue_styles.yaml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    common: dict[str, MaterialLook]
    styles: dict[str, InteriorStyle] = Field(min_length=1)

    @model_validator(mode="after")
    def _holds_together(self) -> Styles:
        styles = {name: style.looks for name, style in self.styles.items()}
        for where, looks in [("common", self.common), *styles.items()]:
            for word in looks:
                if word not in CLASSES:
                    near = did_you_mean(word, CLASSES)
                    raise ValueError(f"{where}: unknown class {word!r}.{near}")
        for name, style in self.styles.items():
            for word in CLASSES:
                if word not in self.common and word not in style.looks:
                    raise ValueError(f"{name}: nothing is said of {word!r}")
            for liked in style.likes:
                if liked not in active_catalogue().entries:
                    near = did_you_mean(liked, active_catalogue().entries)
                    raise ValueError(f"{name}: likes: no entry {liked!r}.{near}")
        return self


@cache
def _styles() -> Styles:
    path = Path(str(files("navloom_worlds.homes").joinpath("catalogue_styles.yaml")))
    return read_yaml(path, TypeAdapter(Styles), most=_MOST_BYTES)


def style_names() -> tuple[str, ...]:
    """Return the names of the styles, in the order of the file."""
    return tuple(_styles().styles)


class HomeStyle:
    """Style of one home, with the materials, colours and item names drawn for it.

    Args:
        style: name of a style; None: one is drawn.
        dice: its own random stream.

    Raises:
        SceneError: there is no such style.
    """

    def __init__(self, style: str | None, dice: Rng) -> None:
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
        """Return the style's factor on the frequency of an entry."""
        return self._style.likes.get(name, 1.0)

    def title(self, entry: ItemSpec) -> str:
        """Return the home's name for an entry, drawn once."""
        if len(entry.titles) == 1:
            return entry.titles[0]
        if entry.name not in self._titles:
            self._titles[entry.name] = self._dice.pick(entry.titles)
        return self._titles[entry.name]

    def of(self, entry: ItemSpec, group: str) -> tuple[str, str]:
        """Return the material and colour of an item.

        Args:
            entry: its catalogue entry.
            group: furniture of one entry and group (a room) looks the same.
        """
        if entry.kind == "object" and entry.place is None:
            return self._draw(entry)
        key = (entry.name, group)
        if key not in self._of_kind:
            self._of_kind[key] = self._draw(entry)
        return self._of_kind[key]

    def _draw(self, entry: ItemSpec) -> tuple[str, str]:
        looks = self._looks[entry.made[0] if len(entry.made) == 1 else self._dice.pick(entry.made)]
        # The first look is the home's main one.
        material, colour = looks[0] if self._dice.chance(0.6) else self._dice.pick(looks)
        return material, (self._dice.pick(entry.colours) if entry.colours else colour)
