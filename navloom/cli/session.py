"""Options of every command that calls models: how to call, when to stop, what to keep.

None of them is part of what a run is: they may differ between two sessions of one run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from navloom.cli import options
from navloom.cli.options import option
from navloom.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from navloom.evals.session import Session

PICKS = ("limit", "sample_id", "retry")
"""Options that say which samples a session is about."""
R = TypeVar("R")
_MOST_CONFIG = 64 * 1024


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the file's values as this command's defaults: what is typed goes before them."""
    if path is not None:
        context.default_map = {**(context.default_map or {}), **_defaults(context, path)}
    return path


def _defaults(context: typer.Context, path: Path) -> dict[str, Any]:
    from pydantic import TypeAdapter

    from navloom.scenes.checked_files import read_yaml

    kind = dict[str, bool | int | float | str | list[int | float | str]]
    given = read_yaml(path, TypeAdapter(kind), most=_MOST_CONFIG)
    known: dict[str, Any] = {}
    for each in context.command.params:
        flags = [flag.lstrip("-") for flag in each.opts]
        known[max(flags, key=len, default=each.name or "")] = each
    for name in ("help", "run-config", "show-completion", "install-completion"):
        known.pop(name, None)
    taken: dict[str, Any] = {}
    for key, value in given.items():
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


RUN_CONFIG = option(
    "run_config",
    Path | None,
    None,
    "Take flags from this YAML file (`n: 200`, `model: openai/gpt-4o-mini`); what is typed goes"
    " before it, and so do NAVLOOM_ variables.",
    metavar="FILE",
    is_eager=True,
    callback=_read_config,
)
_SESSION = (
    options.LIMIT,
    options.SAMPLE_ID,
    options.RETRY,
    options.MAX_CONNECTIONS,
    options.MAX_RETRIES,
    options.ATTEMPT_TIMEOUT,
    options.TOKEN_LIMIT,
    options.TIME_LIMIT,
    options.COST_LIMIT,
    options.CACHE,
    options.NO_CACHE,
    RUN_CONFIG,
    options.DISPLAY,
)


def _cache(named: Path | None, note: Callable[[str], None]) -> Any:
    from navloom.errors import ModelError
    from navloom.models.cache import ResponseCache, cache_folder

    try:
        return ResponseCache(cache_folder(named), note=note)
    except ModelError as error:
        if named is not None:
            raise
        # Nobody asked for the user's folder by name: a home that is read-only stops no run.
        note(f"no replies are kept: {error}")
        return None


def with_session(
    most: int = 8, picks: Sequence[str] = PICKS, *, config: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a session, and its ``session`` argument the `Session` they say.

    Args:
        most: the default of ``--max-connections``.
        picks: which of ``PICKS`` the command has.
        config: whether it has ``--run-config``.
    """
    left_out = {*PICKS} - {*picks} | (set() if config else {"run_config"})
    own = [
        each.but(default=most) if each.name == "max_connections" else each
        for each in _SESSION
        if each.name not in left_out
    ]

    def give(command: Callable[..., None]) -> Callable[..., None]:
        # Its class is not imported before it is needed, and typer would look it up.
        command.__annotations__.pop("session", None)

        @wraps(command)
        def made(**given: Any) -> None:
            around = {each.name: given.pop(each.name) for each in own}
            if given.get("dry_run"):
                # It calls nobody, so it neither reads nor makes a cache.
                around["no_cache"] = True
            command(**given, session=_session(around))

        signed = inspect.signature(command, eval_str=True)
        kept = [each for name, each in signed.parameters.items() if name != "session"]
        added = [each.parameter for each in own]
        # Typer reads a command's options from here.
        made.__signature__ = signed.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
        return made

    return give


def _session(given: Mapping[str, Any]) -> Session:
    """How to go through runs, from a command's parameters.

    Raises:
        ModelError: the folder that was named cannot be used as a cache.
    """
    from navloom.evals.progress import make_display
    from navloom.evals.session import Session
    from navloom.models.call import CallSettings
    from navloom.models.usage import Limits

    display = make_display(given["display"])
    return Session(
        display=display,
        max_connections=given["max_connections"],
        settings=CallSettings(
            cache=None if given["no_cache"] else _cache(given["cache"], display.note),
            max_retries=given["max_retries"],
            attempt_timeout=given["attempt_timeout"],
        ),
        limits=Limits(
            token_limit=given["token_limit"],
            time_limit=given["time_limit"],
            cost_limit=given["cost_limit"],
        ),
        limit=given.get("limit"),
        sample_ids=given.get("sample_id"),
        retry=given.get("retry", False),
    )


def model_of_roles(model: str, roles: Sequence[str] | None, known: Sequence[str]) -> dict[str, str]:
    """The model of each role.

    Args:
        model: of roles that are not given one.
        roles: ``ROLE=PROVIDER/NAME`` each.
        known: the roles that the command has.

    Raises:
        UsageError: no such role, or no model behind it.
    """
    found = dict.fromkeys(known, model.strip())
    for text in roles or ():
        role, equals, name = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise UsageError(f"--model-role {text}: write ROLE=PROVIDER/NAME, such as {known[0]}=…")
        if role not in found:
            hint = did_you_mean(role, known)
            raise UsageError(f"no role '{role}' here.{hint} Roles: {', '.join(known)}.")
        found[role] = name
    return found


def asked(request: type[R], given: Mapping[str, Any], **settled: Any) -> R:
    """The request that a command's options ask for.

    Args:
        request: a dataclass; each field takes the option of its name, paths as text.
        given: what was typed, by name; what nobody gave keeps the request's own default.
        settled: fields that are no option, or not as typed.
    """
    typed = {
        each.name: str(value) if isinstance(value := given[each.name], Path) else value
        for each in fields(request)  # type: ignore[arg-type]
        if given.get(each.name) not in (None, []) and each.name not in settled
    }
    listed = {name: tuple(v) if isinstance(v, list) else v for name, v in typed.items()}
    return request(**listed, **settled)
