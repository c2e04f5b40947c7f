"""A file of written dialogues: what a person types, and what following it means.

It is a YAML list of dialogues (``id``, ``home``, ``kind``, ``turns``, and ``start``, a viewpoint,
where it is not the usual one). A turn is what is said and what has to hold after it, each item
checkable of any model: the fields of :class:`Expect`. A walk is stopped as by Ctrl-C with
``interrupt_after_hops``; a turn with ``cuts_in_after_hops`` is typed while the walk of the turn
before is under way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from navloom.scenes.safe_files import read_yaml
from navloom.scenes.scene_uri import load_scene

__all__ = ["Dialogue", "Expect", "Turn", "read_dialogues"]


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Any1 = Annotated[tuple[Names, ...], BeforeValidator(_listed)]


class Expect(BaseModel):
    """What has to hold after a turn; what is left out may be anything."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    in_: Names = Field(default=(), alias="in")
    """The robot stands in one of these regions."""
    not_in: Names = ()
    in_type: Names = ()
    """It stands in a region with one of these labels."""
    visits: Names = ()
    """It has been in these regions in this order during the turn."""
    avoids: Names = ()
    """It has entered none of these during the turn."""
    moved: bool | None = None
    """Whether it has left its viewpoint; turning is no move."""
    turned: Literal["left", "right", "around"] | None = None
    near: Names = ()
    """It stands by a thing of one of these names, in its room."""
    asks: bool | None = None
    """Whether a question comes back."""
    says: Any1 = ()
    """Each is in its words, of a nested list one of them. Case and hyphens do not count, and a
    word of four letters or more may go on: 'bedroom' is in 'bedrooms'."""
    says_not: Names = ()
    rooms_at_most: int | None = None
    """How many kinds of room it may name; all but one, unless told: a hint is no list."""
    lost: bool = False
    """Whether it may say that it did not understand, and ask nothing."""
    metres: tuple[float, float] | None = None
    """Its words hold a number within."""
    undone: bool | None = None
    """The place and the words are those before the instruction that is taken back."""
    ends: bool | None = None
    any_of: tuple[Expect, ...] = ()
    """One of these holds as well."""


class Turn(Expect):
    """Words, and what has to hold after them."""

    say: str
    interrupt_after_hops: int | None = Field(default=None, ge=1)
    cuts_in_after_hops: int | None = Field(default=None, ge=1)

    @property
    def expects(self) -> bool:
        """Whether anything has to hold."""
        return bool(self.model_fields_set - {"say", "interrupt_after_hops", "cuts_in_after_hops"})


class Dialogue(BaseModel):
    """A conversation in a home."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"[a-z]+-[a-z0-9-]+")
    home: str
    kind: str
    start: str | None = None
    turns: tuple[Turn, ...] = Field(min_length=3, max_length=8)

    @model_validator(mode="after")
    def _true_to_the_home(self) -> Dialogue:
        scene = load_scene(self.home)
        known: Mapping[str, set[str]] = {
            "in": set(scene.region_by_id),
            "label": {region.label for region in scene.regions},
            "near": {item.name for item in scene.items},
            "start": set(scene.viewpoint_by_id),
        }
        named = [("start", self.start)] if self.start else []
        for before, turn in zip((None, *self.turns), self.turns, strict=False):
            for each in _blocks(turn):
                regions = (*each.in_, *each.not_in, *each.visits, *each.avoids)
                named += [("in", name) for name in regions]
                named += [("label", name) for name in each.in_type]
                named += [("near", name) for name in each.near]
            if turn.cuts_in_after_hops and (
                before is None or before.expects or before.interrupt_after_hops
            ):
                raise ValueError(f"{self.id}: {turn.say!r} cuts in on a turn that expects nothing")
        for kind, name in named:
            if name not in known[kind]:
                raise ValueError(f"{self.id}: {self.home} has no {name!r}")
        cut = [bool(turn.cuts_in_after_hops) for turn in self.turns[1:]]
        silent = [
            t.say for t, c in zip(self.turns, [*cut, False], strict=True) if not t.expects and not c
        ]
        if silent:
            raise ValueError(f"{self.id}: nothing is expected of {silent[0]!r}")
        return self


def _blocks(expect: Expect) -> Iterator[Expect]:
    yield expect
    for each in expect.any_of:
        yield from _blocks(each)


def read_dialogues(path: Path) -> list[Dialogue]:
    """The dialogues of a file.

    Raises:
        SceneError: it is none, or expects what its home has not.
    """
    found = read_yaml(path, TypeAdapter(list[Dialogue]), most=1_000_000)
    twice = [name for name, n in Counter(each.id for each in found).items() if n > 1]
    if twice:
        raise ValueError(f"{path}: the dialogue '{twice[0]}' stands twice.")
    return found
