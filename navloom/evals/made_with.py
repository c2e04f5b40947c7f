"""What a run was made with: versions of packages, and the state of the checkout."""

from __future__ import annotations

import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from navloom.errors import RunError
from navloom.scenes.uri import homes_version, other_homes
from navloom.terminal import COMMAND

_RECORDED = ("langgraph", "langgraph-checkpoint-sqlite", "langchain-core", "pydantic")


def package_version(name: str) -> str | None:
    """The installed version of a package, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """Versions of Python, of homes and of the packages that a run's outcome may depend on."""
    return {
        "python": platform.python_version(),
        "homes": homes_version(),
        **{name: package_version(name) for name in _RECORDED},
    }


def typed() -> dict[str, str]:
    """The command that is being carried out, as a shell takes it; nothing where Python calls."""
    words = COMMAND.get()
    return {"command": shlex.join(("navloom", *words))} if words else {}


def homes_of(said: Mapping[str, Any]) -> str | None:
    """The version of the homes that a run was made with, from its ``run.json``."""
    made = said.get("versions")
    found = made.get("homes") if isinstance(made, Mapping) else None
    return None if found is None else str(found)


def refuse_other_homes(said: Mapping[str, Any], run: Path | str) -> None:
    """Refuse to go on with a run whose homes would be others now.

    Raises:
        RunError: its request names homes, and was made with another version of them.
    """
    for name in _homes_in([said.get("request"), said.get("where")]):
        if other := other_homes(name, homes_of(said)):
            raise RunError(f"{run}: {other}. Give another --out.")


def _homes_in(asked: Any) -> Iterator[str]:
    """What of a request names homes made from seeds."""
    # A queue: the file is untrusted, and may be nested deeper than calls can be.
    left = [asked]
    while left:
        one = left.pop(0)
        if isinstance(one, str):
            yield from [one] if one.startswith("home:") else []
        elif isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, Sequence):
            left += one


def git_state(folder: Path) -> dict[str, Any] | None:
    """Commit of the checkout around a folder, and whether it was changed since.

    Returns:
        ``{"commit": str, "dirty": bool}``, or None outside a checkout or without git.
    """
    git = shutil.which("git")
    if git is None:
        return None
    commit = _git(git, folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git(git, folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": bool(changed)}


def _git(git: str, folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
            [git, "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def made_by_another(run: Path | str, said: Mapping[str, Any], what: str) -> RunError:
    """Say that this version cannot read a run, and which one can.

    Args:
        run: its folder.
        said: its ``run.json``.
        what: of it this version does not know.
    """
    return RunError(
        f"{run} is no run of this version: {what}. navloom {said.get('navloom') or '?'} made and"
        f" reads it, and this is {package_version('navloom')}."
    )
