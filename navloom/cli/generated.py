"""A command made from a request: what another package's kind of run gets from its one entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, get_args, get_origin, get_type_hints

from navloom.cli import options
from navloom.cli.common import carry_out
from navloom.cli.options import Option, argument, option, takes
from navloom.cli.session import asked, with_session
from navloom.evals.kinds import Kind

_SHARED = {"spec": options.SPEC, "model": options.MODEL, "seed": options.SEED}
"""Fields that mean the same in every request."""


def command_of(kind: Kind) -> Callable[..., None]:
    """The command that makes runs of a kind: an option a field, and those that all runs have."""
    hints = get_type_hints(kind.request)
    own = sorted(
        (_option_of(each, hints[each.name]) for each in fields(kind.request)),
        key=lambda each: each.flag is not None,
    )

    @with_session()
    @takes(*own, options.OUT, options.DRY_RUN, options.JSON)
    def command(session: Any, **given: Any) -> None:
        request, dry = asked(kind.request, given), given["dry_run"]
        carry_out(request, given["out"], session, dry_run=dry, as_json=given["as_json"])

    command.__doc__ = kind.words
    return command


def _option_of(each: Field[Any], hint: Any) -> Option:
    """A field as an option, or as an argument where it must be given."""
    words = each.metadata.get("help", "")
    default = each.default if each.default_factory is MISSING else each.default_factory()
    shared = _SHARED.get(each.name)
    if shared is not None:
        return shared if default is MISSING else shared.but(words, default=default)
    if default is MISSING:
        return argument(each.name, hint, each.name.upper(), words)
    if get_origin(hint) is tuple:
        hint, default = list[get_args(hint)[0]], list(default)  # type: ignore[misc]
    name = each.name.replace("_", "-")
    return option(
        each.name, hint, default, words, flag=f"--{name}/--no-{name}" if default is True else None
    )
