"""File format of written dialogues: the user's lines, and what must hold after each.

The file is a YAML list of dialogues (``id``, ``home``, ``kind``, ``turns``, and ``start``, a
viewpoint, if it is not the default one). A turn is a line of text and conditions that any model can
be checked for: the fields of :class:`Expect`. ``interrupt_after_hops`` stops a walk as Ctrl-C does.
A turn with ``cuts_in_after_hops`` is typed while the walk of the previous turn is in progress.
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
    """Conditions that must hold after a turn; omitted ones may be anything."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    in_: Names = Field(default=(), alias="in")
    """The robot stands in one of these regions."""
    not_in: Names = ()
    in_type: Names = ()
    """The robot stands in a region with one of these labels."""
    visits: Names = ()
    """The robot has been in these regions in this order during the turn."""
    avoids: Names = ()
    """The robot has entered none of these during the turn."""
    moved: bool | None = None
    """True if the robot has left its viewpoint; turning is no move."""
    turned: Literal["left", "right", "around"] | None = None
    near: Names = ()
    """The robot stands by an item of one of these names, in its room."""
    asks: bool | None = None
    """True if the answer asks a question."""
    says: Any1 = ()
    """The answer contains each of these; of a nested list, one. Case and hyphens do not count. A
    word of four letters or more matches as a prefix: 'bedroom' matches 'bedrooms'."""
    says_not: Names = ()
    rooms_at_most: int | None = None
    """Maximum number of room types that the answer may name; by default all but one."""
    lost: bool = False
    """True if the answer may say that it did not understand, without a question."""
    metres: tuple[float, float] | None = None
    """The answer contains a number in this range."""
    undone: bool | None = None
    """The pose and the transcript are those before the instruction that is undone."""
    ends: bool | None = None
    any_of: tuple[Expect, ...] = ()
    """One of these must hold as well."""


class Turn(Expect):
    """A line of text, and the conditions that must hold after it."""

    say: str
    interrupt_after_hops: int | None = Field(default=None, ge=1)
    cuts_in_after_hops: int | None = Field(default=None, ge=1)

    @property
    def expects(self) -> bool:
        """True if the turn has any condition."""
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
    """Read the dialogues of a file.

    Raises:
        SceneError: it is no file of dialogues, or expects what its home does not have.
    """
    found = read_yaml(path, TypeAdapter(list[Dialogue]), most=1_000_000)
    twice = [name for name, n in Counter(each.id for each in found).items() if n > 1]
    if twice:
        raise ValueError(f"{path}: the dialogue '{twice[0]}' stands twice.")
    return found
