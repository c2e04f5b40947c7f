"""The scenes of a run: where its ``run.json`` says that they were, else by their own names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError, SceneError
from navloom.evals.run_folder import homes_of, read_run
from navloom.scenes.scene import Scene
from navloom.scenes.uri import SCENES_KEPT, SceneNames

_PLACES = (("spec", "{}"), ("data", "mp3d:{}"), ("data", "capnav:{}"))
_RUNS_KEPT = 16


def names_of(run: Mapping[str, Any]) -> Iterator[SceneNames]:
    """Where a run's scenes may be: where the run had them, else the package and $NAVLOOM_DATA.

    Args:
        run: what its ``run.json`` says.
    """
    for said in (run.get("where"), run.get("request")):
        for key, form in _PLACES:
            place = said.get(key) if isinstance(said, Mapping) else None
            if isinstance(place, str):
                try:
                    yield SceneNames(form.format(place), homes_of(run))
                except NavloomError:
                    continue  # the folder has moved
    yield SceneNames(None, homes_of(run))


def run_scene(run: Path | str, name: str) -> Scene:
    """A scene of a run by its portable name; the last few are loaded once.

    Raises:
        SceneError: it cannot be found or loaded.
        RunError: the folder is no run.
    """
    path = Path(run)
    try:
        stamp = (path / "run.json").stat().st_mtime_ns
    except OSError:
        stamp = 0
    return _kept(str(path), stamp, name)


@lru_cache(maxsize=SCENES_KEPT)
def _kept(run: str, stamp: int, name: str) -> Scene:
    first: SceneError | None = None
    for names in _names(run, stamp):
        try:
            return names.load(name)
        except SceneError as error:
            first = first or error
    raise first or SceneError(f"{run}: there is no scene '{name}'")


@lru_cache(maxsize=_RUNS_KEPT)
def _names(run: str, stamp: int) -> tuple[SceneNames, ...]:
    del stamp  # a run.json that was written anew is another
    return tuple(names_of(read_run(run)))
