"""Providers of other packages, by the entry point group ``navloom.models``.

A package names its provider in its own pyproject.toml:

    [project.entry-points."navloom.models"]
    mine = "my_package.navloom:make"

where ``make(name, options) -> BaseChatModel`` gets what stands after ``mine/`` and an
`navloom.models.registry.Options`; or the entry point is a whole `navloom.models.registry.Provider`.
A package that is broken has a fault of one line and disturbs no other.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from importlib.metadata import EntryPoint, distributions
from typing import TYPE_CHECKING, Any

from navloom.errors import ModelError, NavloomError
from navloom.models.registry import Options, Provider

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["GROUP", "find_plugins", "read_plugin"]

GROUP = "navloom.models"
_MOST_TEXT = 300


def find_plugins() -> tuple[tuple[str, EntryPoint | Provider], ...]:
    """The names of other packages' providers; nothing is imported.

    Returns:
        A name with its entry point, sorted; where a package's list of entry points cannot be read,
        the package's name with a provider that is only a fault.
    """
    return _found(tuple(sys.path))


@cache
def _found(_path: tuple[str, ...]) -> tuple[tuple[str, EntryPoint | Provider], ...]:
    # One distribution after another: importlib's entry_points() fails as a whole on a broken one.
    found: list[tuple[str, EntryPoint | Provider]] = []
    seen = set()
    for distribution in distributions():
        text = distribution.read_text("entry_points.txt") or ""
        if f"[{GROUP}]" not in text or distribution.name in seen:
            continue
        seen.add(distribution.name)
        try:
            found += [(e.name, e) for e in distribution.entry_points if e.group == GROUP]
        except Exception as error:
            fault = f"the package {distribution.name} has a broken entry_points.txt: {_line(error)}"
            found.append((distribution.name, _broken(distribution.name, fault)))
    return tuple(sorted(found, key=lambda named: named[0]))


def read_plugin(plugin: EntryPoint | Provider, *, taken: bool = False) -> Provider:
    """Import what an entry point names; one that is broken becomes a provider with a fault.

    Args:
        plugin: one of `find_plugins`.
        taken: whether the name belongs to another provider already.
    """
    if isinstance(plugin, Provider):
        return plugin
    package = plugin.dist.name if plugin.dist else "another package"
    whose = f"the provider '{plugin.name}' of the package {package} ({plugin.value})"
    if taken:
        return _broken(plugin.name, f"{whose} is not used: the name is taken")
    try:
        given = plugin.load()
    except Exception as error:
        return _broken(plugin.name, f"{whose} cannot be imported: {_line(error)}")
    if isinstance(given, Provider):
        from dataclasses import replace

        return replace(given, name=plugin.name, make=partial(_made, whose, given.build))
    if callable(given):
        version = plugin.dist.version if plugin.dist else ""
        about = f"from the package {package} {version}".rstrip()
        return Provider(plugin.name, about, partial(_made, whose, given))
    expected = "a function (name, options) -> chat model, or a Provider"
    return _broken(plugin.name, f"{whose} is a {type(given).__name__}: expected {expected}")


def _made(whose: str, make: Any, name: str, options: Options) -> BaseChatModel:
    from langchain_core.language_models import BaseChatModel

    try:
        model = make(name, options)
    except NavloomError:
        raise
    except Exception as error:
        raise ModelError(f"{whose} cannot make the model '{name}': {_line(error)}") from error
    if not isinstance(model, BaseChatModel):
        raise ModelError(f"{whose} gave a {type(model).__name__}: expected a LangChain chat model")
    return model


def _broken(name: str, fault: str) -> Provider:
    return Provider(name, "broken", "", fault=fault)


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:_MOST_TEXT]
