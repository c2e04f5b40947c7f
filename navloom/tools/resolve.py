"""What a context names: a scene or a model, or the URI or name of one.

A context field that holds a scene or a model also takes its URI or name, so that ``langgraph dev``
can call every graph with plain JSON. Nodes read such a field through ``scene_of`` and ``model_of``.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from navloom.scenes.scene import Scene

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

SCENES_KEPT = 16
"""A batch goes through its scenes one after another, so a few are enough to load each only once,
and memory stays flat however many there are."""


def scene_of(value: Scene | str) -> Scene:
    """The scene that a context field means.

    Args:
        value: a scene, or its URI; the last few URIs are loaded only once.

    Raises:
        SceneError: the URI names no scene, or the scene is broken.
    """
    return _scene(value) if isinstance(value, str) else value


def model_of(value: BaseChatModel | str) -> BaseChatModel:
    """The chat model that a context field means.

    Args:
        value: a model, or its ``provider/name``; each is made once, as long as the keys and
            addresses in the environment stay what they are.

    Raises:
        ModelError: there is no such provider or name, or what it needs is missing.
    """
    return _model(value, _settings()) if isinstance(value, str) else value


@lru_cache(maxsize=SCENES_KEPT)
def _scene(uri: str) -> Scene:
    from navloom.scenes.uri import load_scene

    return load_scene(uri)


@lru_cache(maxsize=32)
def _model(name: str, _: tuple[tuple[str, str], ...]) -> BaseChatModel:
    from navloom.models.registry import get_model

    return get_model(name)


def _settings() -> tuple[tuple[str, str], ...]:
    """What a model may be made of besides its name: who mends a key expects it to be used."""
    ends = ("_API_KEY", "_BASE_URL")
    return tuple(sorted((key, os.environ[key]) for key in os.environ if key.endswith(ends)))
