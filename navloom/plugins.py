"""What other packages add to Navloom, found by their entry points.

A package names what it adds in its own pyproject.toml:

    [project.entry-points."navloom.simulators"]
    mine = "my_package.navloom:make"

Groups: ``navloom.scene_formats`` (a scheme's reader), ``navloom.scans`` (a reader of meshes of
scans), ``navloom.simulators``, ``navloom.traversability`` (:mod:`navloom.scenes.bodies`),
``navloom.viewers`` (:mod:`navloom.sim.viewer`), ``navloom.exporters``, ``navloom.commands``,
``navloom.walks``, ``navloom.relays`` (``drive``), ``navloom.tools`` (``library``),
``navloom.kinds`` (of runs), ``navloom.prompts`` (a package with prompt files),
``navloom.policies`` (what ``builtin`` models answer), ``navloom.rules`` (what is wrong with a key
of a dataset's line) and ``navloom.models``. Most of them are filled by one package,
``navloom-worlds``.
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
def plugins(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, sorted; nothing is imported."""
    try:
        found = list(entry_points(group=group))
    except Exception:
        # One package with a broken list makes importlib give up on all of them.
        found = [each for one in distributions() for each in _of(one) if each.group == group]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def _of(one: Distribution) -> Iterator[EntryPoint]:
    with suppress(Exception):
        yield from one.entry_points


def plugin(group: str, name: str, what: str, error: type[NavloomError] = NavloomError) -> Any:
    """Import what an entry point names.

    Args:
        group: of the entry point.
        name: of the entry point.
        what: needs it, in words, for the error's message.
        error: is raised.

    Raises:
        NavloomError: no package has such an entry point, or it cannot be imported.
    """
    entry = plugins(group).get(name)
    if entry is None:
        raise error(f"{what} needs the package navloom-worlds, {_INSTALL}.")
    try:
        return entry.load()
    except Exception as failed:
        said = " ".join(f"{type(failed).__name__}: {failed}".split())[:300]
        raise error(f"{what} ({entry.value}) cannot be imported: {said}") from failed
