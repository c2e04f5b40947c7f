"""Navloom: language-model agents for vision-and-language navigation in indoor scenes.

>>> import navloom
>>> from navloom.graphs.navcraft import single as navcraft_single
>>> context = navcraft_single.Context(scene="home:7", model="builtin/heuristic")
>>> navloom.run(navcraft_single.graph, {"seed": 1}, context=context)["status"]
'ok'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from navloom.graphs.invocation import run
    from navloom.models import get_model
    from navloom.scenes import load_scene

__all__ = ["as_node", "get_model", "load_scene", "run"]

_HOMES = {
    "as_node": "navloom.graphs.invocation",
    "get_model": "navloom.models",
    "load_scene": "navloom.scenes",
    "run": "navloom.graphs.invocation",
}


def __getattr__(name: str) -> Any:
    # `navloom --help` imports this file too, and must not wait for LangGraph.
    if name not in _HOMES:
        raise AttributeError(f"module 'navloom' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
