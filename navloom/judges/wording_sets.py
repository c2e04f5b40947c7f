"""Sets of sentences that say, or do not say, why a path cannot be used.

A set is a file of ``wordings``: whatever is put there is measured by ``navloom judge calibrate
reasoning`` and told apart. It is ``held out`` unless it says that it is ``known``.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.scenes.checked_files import read_yaml

_FOLDER = files("navloom.judges").joinpath("wordings")
SETS = tuple(sorted(each.name.removesuffix(".yaml") for each in _FOLDER.iterdir()))
"""The sets of wordings that there are: a file of that name each."""
WORDED = frozenset(("narrow", "stairs", "door", "rise", "elevator", "turn", "clutter", "terrain"))
"""Causes that can be worded."""
_Sentences = Annotated[list[str], Field(min_length=1)]


class Wordings(BaseModel):
    """A set of sentences; ``{a}``, ``{b}`` and ``{agent}`` are filled in.

    Attributes:
        standing: whether the symbolic judge was written with this set in view.
        placed: by cause, sentences that say where it is.
        bare: by cause, sentences that do not.
        opening: what may stand before a sentence.
        also: what stands between two.
        empty: explanations that give no reason.
        flattering: explanations that praise themselves instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    standing: Literal["known", "held out"] = "held out"
    placed: dict[str, _Sentences]
    bare: dict[str, _Sentences]
    opening: _Sentences
    also: str
    empty: _Sentences
    flattering: _Sentences

    @model_validator(mode="after")
    def _words_every_cause(self) -> Self:
        for key in ("placed", "bare"):
            if lacking := sorted(WORDED - getattr(self, key).keys()):
                raise ValueError(f"{key} has no sentence for {', '.join(lacking)}")
        return self


@cache
def load_wordings(name: str) -> Wordings:
    """A set of ``SETS``.

    Raises:
        SceneError: its file is broken; the message names the field.
    """
    with as_file(_FOLDER.joinpath(f"{name}.yaml")) as path:
        return read_yaml(path, TypeAdapter(Wordings), most=64_000)
