"""Difference between a scene and a changed copy, as JSON, and the copy rebuilt from it.

A copy with one opened door differs in one link of hundreds. Only the differing parts are written,
with every number exact to the last bit, so that a saved state is small and exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from navloom.errors import SceneError
from navloom.scenes.safe_files import first_problem, repr_of
from navloom.scenes.scene import Scene

_MOST_PARTS = 1_000_000
_LOADED = "loaded"
"""Key: whether the copy still has the origin URI of its scene."""


def diff_scenes(scene: Scene, changed: Scene) -> dict[str, Any]:
    """Return the difference between a scene and a changed copy as JSON.

    Args:
        scene: the original.
        changed: the changed copy.

    Returns:
        Changed fields by name. A tuple is a list of ``[first, end]``, a range of the original's
        parts, and new parts in full. Any other field is its new value.
    """
    told: dict[str, Any] = {_LOADED: changed.origin == scene.origin}
    for name in Scene.model_fields:
        own, other = getattr(scene, name), getattr(changed, name)
        if own != other:
            told[name] = list(_parts(own, other)) if isinstance(other, tuple) else other
    return told


def apply_diff(scene: Scene, told: Mapping[str, Any]) -> Scene:
    """Return the changed copy, rebuilt from a scene and a result of :func:`diff_scenes`.

    Args:
        scene: the original.
        told: the difference; untrusted.

    Raises:
        SceneError: it is no difference of this scene, or the result is no valid scene.
    """
    fields = {name: getattr(scene, name) for name in Scene.model_fields}
    for name, value in told.items():
        if name == _LOADED:
            continue
        if name not in fields:
            raise SceneError(f"a changed {scene.uri}: a scene has no field {repr_of(name)}.")
        own = fields[name]
        if isinstance(own, tuple):
            fields[name] = tuple(_joined(scene, name, own, value))
        else:
            fields[name] = value
    try:
        changed = Scene.model_validate(fields)
    except ValidationError as error:
        raise SceneError(f"a changed {scene.uri}: {first_problem(error)}.") from error
    return changed.set_origin(scene.origin) if told.get(_LOADED) is True else changed


def _parts(own: Sequence[Any], other: Sequence[Any]) -> Iterator[Any]:
    places = {each: k for k, each in reversed(list(enumerate(own)))}
    run: list[int] = []
    for each in other:
        k = places.get(each)
        if k is not None and run and run[1] == k:
            run[1] += 1
            continue
        if run:
            yield run
        run = [] if k is None else [k, k + 1]
        if k is None:
            yield each if isinstance(each, str) else each.model_dump(mode="json")
    if run:
        yield run


def _joined(scene: Scene, name: str, own: Sequence[Any], told: Any) -> Iterator[Any]:
    where = f"a changed {scene.uri}: {name}"
    if not isinstance(told, list | tuple):
        raise SceneError(f"{where}: expected a list of runs and parts, found {repr_of(told)}.")
    count = 0
    for part in told:
        run = [part]
        if isinstance(part, list | tuple):
            if len(part) != 2 or not all(type(end) is int for end in part):
                raise SceneError(f"{where}: expected a run [first, end], found {repr_of(part)}.")
            first, end = part
            if not 0 <= first < end <= len(own):
                raise SceneError(
                    f"{where}: expected a run within {len(own)}, found {repr_of(part)}."
                )
            run = list(own[first:end])
        count += len(run)
        if count > _MOST_PARTS:
            raise SceneError(f"{where}: expected at most {_MOST_PARTS:,} parts.")
        yield from run
