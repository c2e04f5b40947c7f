"""A session from what was typed, and ``--run-config``: flags from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from navloom.errors import UsageError, did_you_mean
from navloom.evals.progress import make_display
from navloom.evals.session import Session

_MOST_CONFIG = 64 * 1024
_NO_KEYS = (
    *("help", "help-all", "run-config", "show-completion", "install-completion"),
    # A file may name an address; that it may is not for the file to say.
    "allow-address",
    *("cluster", "open-cluster"),
)


def session_of(typed: Mapping[str, Any], *, calls: bool = True) -> Session:
    """How to go through runs. Unless told, progress is shown, and replies are kept.

    Args:
        typed: its fields; the display by name.
        calls: whether anybody will be called; else no cache is read or made.

    Raises:
        ModelError: the folder that was named cannot be used as a cache.
    """
    display = make_display(typed.get("display"))
    fields = {**typed, "display": display, "no_cache": bool(typed.get("no_cache")) or not calls}
    if not fields["no_cache"] and "cache" not in typed:
        fields["cache"] = _users_cache(display.note)
    return Session(**fields)


def _users_cache(note: Callable[[str], None]) -> Path | None:
    from navloom.disk_cache import cache_folder
    from navloom.errors import ModelError
    from navloom.models.cache import ResponseCache

    try:
        return ResponseCache(cache_folder()).folder
    except ModelError as error:
        # Nobody asked for the user's folder by name: a home that is read-only stops no run.
        note(f"no replies are kept: {error}")
        return None


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the file's values as this command's defaults: what is typed goes before them."""
    if path is not None:
        context.default_map = {**(context.default_map or {}), **_defaults(context, path)}
    return path


def _defaults(context: typer.Context, path: Path) -> dict[str, Any]:
    from pydantic import TypeAdapter

    from navloom.models.addresses import distrust
    from navloom.scenes.checked_files import read_yaml

    kind = dict[str, bool | int | float | str | list[int | float | str]]
    given = read_yaml(path, TypeAdapter(kind), most=_MOST_CONFIG)
    known: dict[str, Any] = {}
    for each in context.command.params:
        flags = [flag.lstrip("-") for flag in each.opts]
        known[max(flags, key=len, default=each.name or "")] = each
    for name in _NO_KEYS:
        known.pop(name, None)
    taken: dict[str, Any] = {}
    for key, value in given.items():
        for text in value if isinstance(value, list) else [value]:
            distrust(text, f"{path}: '{key}'")
        name = key.replace("_", "-")
        parameter = known.get(name)
        if parameter is None:
            hint = did_you_mean(name, known)
            raise UsageError(
                f"{path}: '{key}' is no flag of `{context.command_path}`.{hint}"
                f" There are: {', '.join(sorted(known))}."
            )
        several = getattr(parameter, "multiple", False)
        if isinstance(value, list) and not several:
            raise UsageError(f"{path}: '{key}' takes one value, got a list of {len(value)}")
        taken[str(parameter.name)] = [value] if several and not isinstance(value, list) else value
    return taken


RunConfig = Annotated[
    Path | None,
    typer.Option(
        "--run-config",
        help="Take flags from this YAML file (`n: 200`, `model: openai/gpt-4o-mini`); what is typed"
        " goes before it, and so do NAVLOOM_ variables.",
        envvar="NAVLOOM_RUN_CONFIG",
        metavar="FILE",
        is_eager=True,
        callback=_read_config,
        rich_help_panel="Anywhere",
    ),
]
