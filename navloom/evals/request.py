"""Requests as ``run.json`` keeps them, read back: the same run again, or what it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from navloom.errors import RunError
from navloom.evals.run_folder import read_run

__all__ = ["made_again", "read_fields"]

Request = TypeVar("Request")


def read_fields(
    run: Path | str,
    request: type[Any],
    *,
    kinds: tuple[str, ...],
    command: str,
    beside: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """The fields of the request that made a run, with where its files were.

    Args:
        run: the folder.
        request: the dataclass.
        kinds: what the run may be.
        command: what makes such runs.
        beside: further keys that ``run.json`` keeps and that follow from the request.

    Raises:
        RunError: the folder is no run, or none that this version made.
    """
    said = read_run(run)
    asked, where = dict(said["request"]), dict(said.get("where") or {})
    known = {each.name for each in fields(request)}
    strange = sorted(asked.keys() - known - beside)
    if said.get("kind") not in kinds or strange:
        what = f"its request has '{strange[0]}'" if strange else f"it is a '{said.get('kind')}'"
        raise RunError(
            f"{run} is no run of `navloom {command}` of this version: {what}."
            " Give the command that made it once more, with --retry."
        )
    return {key: value for key, value in {**asked, **where}.items() if key in known}


def made_again(run: Path | str, request: type[Request], given: Mapping[str, Any]) -> Request:
    """The request of these fields.

    Raises:
        RunError: one is missing.
        UsageError: one has a value that it cannot have.
    """
    try:
        return request(**given)
    except TypeError as error:
        raise RunError(f"{run}/run.json is broken: {error}. Use another folder.") from None
