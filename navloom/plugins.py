"""Plugins: extensions that other packages register as entry points.

A package registers an extension in its own pyproject.toml:

    [project.entry-points."navloom.simulators"]
    mine = "my_package.navloom:make"

Groups: ``navloom.scene_formats`` (a reader of a URI scheme), ``navloom.scans`` (a reader of scanned
meshes), ``navloom.simulators``, ``navloom.traversability`` (:mod:`navloom.scenes.bodies`),
``navloom.viewers`` (:mod:`navloom.sim.scene_images`), ``navloom.exporters``, ``navloom.commands``,
``navloom.walks``, ``navloom.relays`` (``drive``), ``navloom.tools`` (``library``),
``navloom.kinds`` (of runs), ``navloom.prompts`` (a package with prompt files),
``navloom.policies`` (answers of ``builtin`` models), ``navloom.rules`` (validation of a key of a
dataset's line) and ``navloom.models``. Most entry points come from the package ``navloom-worlds``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from typing import Any

from navloom.errors import NavloomError

_INSTALL = (
    "which is not installed: `pip install ./worlds` in a checkout of Navloom, or"
    " `pip install 'navloom[worlds]'`"
)


@cache
def find_plugins(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, sorted, without importing them."""
    try:
        found = list(entry_points(group=group))
    except Exception:
        # importlib fails for all packages if one has a broken list.
        found = [each for one in distributions() for each in _of(one) if each.group == group]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def _of(one: Distribution) -> Iterator[EntryPoint]:
    with suppress(Exception):
        yield from one.entry_points


def load_plugin(group: str, name: str, what: str, error: type[NavloomError] = NavloomError) -> Any:
    """Import and return the object that an entry point names.

    Args:
        group: of the entry point.
        name: of the entry point.
        what: the feature that needs it, for the error's message.
        error: the class to raise.

    Raises:
        NavloomError: no package has such an entry point, or it cannot be imported.
    """
    entry = find_plugins(group).get(name)
    if entry is None:
        raise error(f"{what} needs the package navloom-worlds, {_INSTALL}.")
    try:
        return entry.load()
    except Exception as failed:
        said = " ".join(f"{type(failed).__name__}: {failed}".split())[:300]
        raise error(f"{what} ({entry.value}) cannot be imported: {said}") from failed
