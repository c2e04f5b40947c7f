"""Option metadata of dataclass fields: one definition for CLI flag, keyword and variable.

    max_steps: Annotated[int, Opt("Steps an episode at most.", min=1, max=1000)] = 15

is ``--max-steps`` of every command that takes the request, ``max_steps=`` in Python,
``NAVLOOM_MAX_STEPS`` and ``max_steps:`` in a file of ``--run-config``. Every help page imports this
module, so it imports nothing heavy.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, fields, replace
from functools import cache
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from navloom.errors import UsageError

PICKS, CALLS, LIMITS = "Which samples", "Calling models", "Limits"
"""Panels of options that most commands share; last in a help page."""
FINER = "Finer points"
"""Panel of rarely used options; a help page lists only their flags, with the shared ones."""


@dataclass(frozen=True)
class Opt:
    """Metadata of an option beside its name, type and default.

    Attributes:
        help: help text; ``--help`` shows the first sentence, ``--help-all`` all.
        min: smallest allowed number.
        max: largest allowed number.
        metavar: placeholder of the value in the help.
        panel: group in the help; default: that of the field before.
        argument: whether it is a positional argument.
        flag: the flag, if not ``--name``.
        env: the variable, if not ``NAVLOOM_NAME``; empty for none.
        shown: the default as the help shows it.
        kind: the type on the command line, if not the field's.
        role: role of the model, for ``--model-role``.
    """

    help: str = ""
    _: KW_ONLY
    min: float | None = None
    max: float | None = None
    metavar: str | None = None
    panel: str | None = None
    argument: bool = False
    flag: str | None = None
    env: str | None = None
    shown: str | None = None
    kind: Any = None
    role: str | None = None


@dataclass(frozen=True)
class OptionField:
    """A dataclass field, or a parameter of a command, that is an option.

    Attributes:
        name: the keyword.
        hint: its type.
        default: ``MISSING`` for a required option.
        opt: its further metadata.
    """

    name: str
    hint: Any
    default: Any
    opt: Opt

    @property
    def bare(self) -> Any:
        """The type without ``None``."""
        if get_origin(self.hint) not in (Union, UnionType):
            return self.hint
        some = [each for each in get_args(self.hint) if each is not NoneType]
        return some[0] if len(some) == 1 else self.hint

    @property
    def many(self) -> bool:
        """True if the option may be given several times."""
        return get_origin(self.bare) in (tuple, list)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values of a ``Literal`` type; () for any other type."""
        one = get_args(self.bare)[0] if self.many else self.bare
        return get_args(one) if get_origin(one) is Literal else ()

    @property
    def is_model(self) -> bool:
        """True if the option names a model."""
        return (self.opt.metavar or "").endswith("PROVIDER/NAME")

    @property
    def key(self) -> str:
        """The key in a file of ``--run-config``: the flag without dashes."""
        flag = self.opt.flag or f"--{self.name.replace('_', '-')}"
        return flag.lstrip("-")

    @property
    def variable(self) -> str:
        """The environment variable; "" for none."""
        usual = f"NAVLOOM_{self.key.upper().replace('-', '_')}"
        return usual if self.opt.env is None else self.opt.env

    def check(self, value: Any) -> None:
        """Check that a value is within bounds and among the choices.

        Raises:
            UsageError: a number out of bounds, or none of its choices.
        """
        for each in value if self.many and value is not None else (value,):
            if each is None:
                continue
            if self.choices and each not in self.choices:
                said = ", ".join(map(str, self.choices))
                raise UsageError(f"{self.name} is {each}: expected one of {said}")
            least, most = self.opt.min, self.opt.max
            low, high = least is not None and not each >= least, most is not None and each > most
            if low or high:
                said = f"{least} to {most}" if most is not None else f"{least} or more"
                said = "a number above 0" if most is None and least and least < 1 else said
                raise UsageError(f"{self.name} is {each}: expected {said}")


@cache
def options_of(kind: type) -> tuple[OptionField, ...]:
    """Return the fields of a dataclass that are options, in order."""
    where = {
        name: vars(sys.modules[base.__module__])
        for base in reversed(kind.__mro__)
        for name in get_annotations(base)
    }
    found: list[OptionField] = []
    for each in fields(kind):
        opt, hint = read_annotation(each.type, where[each.name])
        if opt is not None:
            if opt.panel is None and found:
                opt = replace(opt, panel=found[-1].opt.panel)
            made = None if each.default_factory is MISSING else each.default_factory()
            found.append(OptionField(each.name, hint, each.default if made is None else made, opt))
    return tuple(found)


def read_annotation(hint: Any, names: Mapping[str, Any]) -> tuple[Opt | None, Any]:
    """Return the `Opt` of an annotation (None if it has no `Opt`) and the annotated type."""
    if isinstance(hint, str):
        try:
            hint = eval(hint, dict(names))  # noqa: S307 - the source of a class, as typing does it
        except NameError:
            # Types that are imported only for the type checker belong to no option.
            return None, Any
    if get_origin(hint) is not Annotated:
        return None, hint
    bare, *said = get_args(hint)
    return next((each for each in said if isinstance(each, Opt)), None), bare


def check_options(value: Any) -> None:
    """Check all option values of a dataclass instance.

    Raises:
        UsageError: a number out of bounds, or none of its choices.
    """
    kind: Any = type(value)
    for option in options_of(kind):
        option.check(getattr(value, option.name))
