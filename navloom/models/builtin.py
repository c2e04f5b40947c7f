"""Rule-based chat models that need no key, no download and no GPU: honest baselines, not LLMs.

``builtin/heuristic`` decides by rules over what the prompt shows, ``builtin/random`` draws from
it, and ``builtin/human`` asks the person at the terminal. All speak as a language model would, in
words, tool calls and JSON. A policy is a function `policy(Request) -> AIMessage`. Whoever writes a
prompt declares its policies, as ``POLICIES`` of the subject's package in ``navloom.graphs``: model
-> job -> ``module:function``. A package of others declares one in its own pyproject.toml:

    [project.entry-points."navloom.policies"]
    "heuristic.my_job" = "my_package:policy"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from navloom.models.policy import BuiltinChatModel, Policy, Request, ToolResult

if TYPE_CHECKING:
    from navloom.models.spec import Options

__all__ = ["BuiltinChatModel", "Policy", "Request", "ToolResult", "make"]

GROUP = "navloom.policies"
_SUBJECTS = "navloom.graphs"


class _Lazy(Mapping[str, Policy]):
    """A model's policies by job, ours before others', each imported when it is asked for."""

    def __init__(self, model: str) -> None:
        self._where: dict[str, str | EntryPoint] = {**_plugins(model), **_declared(model)}

    def __getitem__(self, job: str) -> Policy:
        where = self._where[job]
        if isinstance(where, EntryPoint):
            return where.load()  # type: ignore[no-any-return]
        module, _, function = where.partition(":")
        policy: Policy = getattr(import_module(module), function)
        return policy

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._where))

    def __len__(self) -> int:
        return len(self._where)


@cache
def _declared(model: str) -> Mapping[str, str]:
    """Job -> ``module:function``, as the subjects declare them."""
    found: dict[str, str] = {}
    for subject in iter_modules(import_module(_SUBJECTS).__path__, f"{_SUBJECTS}."):
        if subject.ispkg:
            found |= getattr(import_module(subject.name), "POLICIES", {}).get(model, {})
    return found


def _plugins(model: str) -> Mapping[str, EntryPoint]:
    try:
        found = [each for each in entry_points(group=GROUP) if each.name.startswith(f"{model}.")]
    except Exception:
        # One package with a broken list of entry points makes importlib give up on all of them.
        return {}
    return {each.name.partition(".")[2]: each for each in found}


def make(name: str, options: Options) -> BuiltinChatModel:  # noqa: ARG001
    """The builtin model of this name, such as "heuristic" or "random"."""
    return BuiltinChatModel(model_name=name, policies=_Lazy(name))
