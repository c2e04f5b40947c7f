"""Scene URIs: the registry of scene formats, and loading of scenes by URI.

    home:7, home:0-49                generated from seeds; ``home:7?rooms=12&floors=2`` sets options
    demo:flat                        a home that ships with the package; ``demo:`` is all three
    hm3d:DIR/ID, mp3d:DIR/SCAN       one scene of a folder; ``hm3d:DIR`` is every scene in it:
                                     HM3D's release (its splits too), graphs of rooms, scans
    capnav:DIR/ID                    one scene of the CapNav benchmark; ``capnav:DIR`` is all
    hm3d:ID, mp3d:SCAN, capnav:ID    the same in $NAVLOOM_DATA/hm3d, .../mp3d and .../capnav
    PATH.glb, PATH.gltf, PATH.obj    a mesh; ``mesh:DIR`` is every mesh in a folder
    PATH.json, FOLDER                a scene.json that ``navloom scenes export`` wrote, or a folder

A format is a module with ``list_ids(folder) -> list[str]`` and ``load(folder, id) -> Scene``,
imported on first use. To add one, add its line to ``FORMATS``, or an entry point named by its
scheme in the group ``navloom.scene_formats``. A format that generates scenes also has
``read_names(words) -> list[str]``: the ids that a spec names. A format with abbreviated ids has
``whole_id(name, ids) -> str``.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from navloom.errors import SceneError, did_you_mean, one_of
from navloom.plugins import find_plugins, load_plugin
from navloom.scenes.safe_files import MESH_ENDINGS, check_scene_id, repr_of
from navloom.scenes.scene import Scene

DATA_VARIABLE = "NAVLOOM_DATA"
GROUP = "navloom.scene_formats"
HOMES = Path(__file__).with_name("demo")
"""The demo homes: written by hand, with true geometry, each a scene.json. Their sources and the
program that lays them out are in ``worlds/tests/homes``."""
SCENES_KEPT = 16
"""Number of cached scenes. A batch visits its scenes one after another, so a few suffice to load
each once, and memory stays bounded."""
_MOST_NAMED = 8
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(.*)", re.DOTALL)


class FormatReader(Protocol):
    """Interface of a format's module."""

    def list_ids(self, folder: Path) -> list[str]:
        """Return the ids of the scenes in a folder, in order; nothing is loaded."""
        ...

    def load(self, folder: Path, scene_id: str) -> Scene:
        """Load one scene of a folder."""
        ...


@dataclass(frozen=True)
class SceneFormat:
    """Entry of the format registry.

    Attributes:
        module: module with ``list_ids`` and ``load``; None if an entry point names it.
        data: its folder under ``$NAVLOOM_DATA``; None if its scenes ship with the package.
    """

    module: str | None
    data: str | None

    def reader(self, scheme: str) -> FormatReader:
        """Import and return the format's module.

        Raises:
            SceneError: no package has the format, or it cannot be imported.
        """
        if self.module is None:
            return cast(FormatReader, load_plugin(GROUP, scheme, f"'{scheme}:'", SceneError))
        return cast(FormatReader, import_module(self.module))


FORMATS: dict[str, SceneFormat] = {
    "home": SceneFormat(None, None),
    "demo": SceneFormat("navloom.scenes.formats.scene_json", None),
    "hm3d": SceneFormat("navloom.scenes.formats.hm3d", "hm3d"),
    "mp3d": SceneFormat("navloom.scenes.formats.mp3d", "mp3d"),
    "capnav": SceneFormat("navloom.scenes.formats.capnav", "capnav"),
    "mesh": SceneFormat(None, "mesh"),
}
"""Formats by scheme; ``navloom-worlds`` provides those without a module."""


@dataclass(frozen=True)
class _SpecPlace:
    """Scenes that a spec refers to: ids in one folder, read by one reader."""

    reader: FormatReader
    folder: Path
    prefix: str
    ids: tuple[str, ...]
    suffix: str = ""

    def uri(self, scene_id: str) -> str:
        return f"{self.prefix}{scene_id}{self.suffix}"

    def load(self, scene_id: str) -> Scene:
        return self.reader.load(self.folder, scene_id).set_origin(self.uri(scene_id))


def list_scenes(spec: str) -> list[str]:
    """Return the URIs of the scenes that a spec names, in order; nothing is loaded.

    Args:
        spec: any form of the module's docstring, for one scene or many.

    Raises:
        SceneError: the format, the folder or the scene does not exist, or a folder is empty.
    """
    place = _resolve(spec)
    return [place.uri(each) for each in place.ids]


def load_scene(uri: str) -> Scene:
    """Load one scene.

    Args:
        uri: any form of the module's docstring that names one scene.

    Raises:
        SceneError: it names none or several, or the scene's files are broken.
    """
    place = _resolve(uri)
    if len(place.ids) != 1:
        raise SceneError(
            f"'{uri}' names {len(place.ids)} scenes and one was expected: "
            f"for example '{place.uri(place.ids[0])}'."
        )
    return place.load(place.ids[0])


def get_scene(value: Scene | str) -> Scene:
    """Return the scene of a graph context's field, which holds a scene or its URI.

    `langgraph dev` can thus call every graph with plain JSON.

    Args:
        value: a scene, or its URI; the last few URIs are cached.

    Raises:
        SceneError: the URI names no scene, or the scene is broken.
    """
    return _kept_scene(value) if isinstance(value, str) else value


@lru_cache(maxsize=SCENES_KEPT)
def _kept_scene(uri: str) -> Scene:
    return load_scene(uri)


def iter_scenes(spec: str) -> Iterator[Scene]:
    """Iterate over the scenes that a spec names, in the order of their URIs, loading lazily.

    Args:
        spec: any form of the module's docstring, for one scene or many.

    Raises:
        SceneError: at once if the spec is wrong; while iterating if a scene is broken.
    """
    place = _resolve(spec)
    return (place.load(each) for each in place.ids)


def _resolve(spec: str) -> _SpecPlace:
    try:
        return _find(spec)
    except SceneError:
        raise
    except (OSError, RuntimeError) as error:
        # A name that is too long, an unreadable folder, an unknown user's home (~x).
        reason = getattr(error, "strerror", None) or error
        raise SceneError(f"{repr_of(spec)} cannot be looked up: {reason}") from error


def _find(spec: str) -> _SpecPlace:
    if not spec.strip() or "\0" in spec:
        raise SceneError("An empty scene name: expected for example 'demo:flat' or 'hm3d:DIR/ID'.")
    match = _SCHEME.fullmatch(spec)
    if match is None:
        return _resolve_path(spec)
    scheme, rest = match[1], match[2]
    known = FORMATS.get(scheme)
    if known is None and scheme in find_plugins(GROUP):
        known = SceneFormat(None, scheme)
    if known is None:
        if Path(spec).exists():
            return _resolve_path(spec)
        raise SceneError(f"'{spec}': '{scheme}' is not a scene format, {one_of(scheme, FORMATS)}")
    reader = known.reader(scheme)
    if (read_names := getattr(reader, "read_names", None)) is not None:
        return _SpecPlace(reader, HOMES, f"{scheme}:", tuple(read_names(rest)))
    if known.data is None:
        return _pick(reader, HOMES, f"{scheme}:", rest or None, scheme)
    return _resolve_folder(scheme, known, reader, rest)


def _resolve_folder(scheme: str, known: SceneFormat, reader: FormatReader, rest: str) -> _SpecPlace:
    given = Path(rest).expanduser()
    if rest and given.is_dir() and not _is_beside(reader, given):
        return _pick(reader, given, f"{scheme}:{rest.rstrip('/') or '/'}/", None, scheme)
    if "/" not in rest and os.sep not in rest:
        return _pick(reader, _data_folder(scheme, known), f"{scheme}:", rest or None, scheme)
    folder, _, name = rest.rpartition("/")
    where = Path(folder or "/").expanduser()
    if not where.is_dir():
        raise SceneError(f"'{scheme}:{rest}': there is no folder {folder or '/'} to read from.")
    return _pick(reader, where, f"{scheme}:{folder}/", name, scheme)


def _is_beside(reader: FormatReader, given: Path) -> bool:
    """Check whether a folder holds no scenes but has the name of a scene beside it."""
    return not reader.list_ids(given) and given.name in reader.list_ids(given.parent)


def _data_folder(scheme: str, known: SceneFormat) -> Path:
    base = os.environ.get(DATA_VARIABLE)
    if not base:
        raise SceneError(
            f"'{scheme}:' without a folder reads ${DATA_VARIABLE}/{known.data}, and "
            f"{DATA_VARIABLE} is not set: set it, or write '{scheme}:FOLDER/ID'."
        )
    folder = Path(base).expanduser() / str(known.data)
    if not folder.is_dir():
        raise SceneError(
            f"'{scheme}:' without a folder reads {folder} (${DATA_VARIABLE}/{known.data}), "
            "and there is no such folder."
        )
    return folder


def _pick(reader: FormatReader, root: Path, prefix: str, name: str | None, what: str) -> _SpecPlace:
    if name is not None:
        check_scene_id(name, what=what)
    ids = reader.list_ids(root)
    if name is not None and (whole_id := getattr(reader, "whole_id", None)) is not None:
        name = whole_id(name, ids)
    if name is None:
        if not ids:
            raise SceneError(f"{root} holds no {what} scene.")
        return _SpecPlace(reader, root, prefix, tuple(ids))
    if name not in ids:
        where = f"{root} holds" if root != HOMES else "There is"
        known = f"{len(ids)} known"
        if len(ids) <= _MOST_NAMED:
            # Formats list ids by file name: other files in the folder may be no scenes.
            ids = [each for each in ids if _opens(reader, root, each)]
            known = f"known: {', '.join(ids)}"
        if not ids:
            raise SceneError(f"{root} holds no {what} scene, and no folder '{name}' of them.")
        raise SceneError(f"{where} no {what} scene '{name}' ({known}).{did_you_mean(name, ids)}")
    return _SpecPlace(reader, root, prefix, (name,))


def _opens(reader: FormatReader, folder: Path, scene_id: str) -> bool:
    try:
        reader.load(folder, scene_id)
    except SceneError:
        return False
    return True


def _resolve_path(spec: str) -> _SpecPlace:
    path = Path(spec).expanduser()
    reader = cast(FormatReader, import_module("navloom.scenes.formats.scene_json"))
    if path.is_dir():
        folder = spec.rstrip("/") or "/"
        ids = tuple(reader.list_ids(path))
        if not ids:
            raise SceneError(f"{path} holds no scene: expected *.json files in it.")
        return _SpecPlace(reader, path, f"{folder}/", ids, ".json")
    if path.is_file():
        if path.suffix.casefold() in MESH_ENDINGS:
            mesh = FORMATS["mesh"].reader("mesh")
            return _SpecPlace(mesh, path.parent, spec[: -len(path.name)], (path.name,))
        if path.suffix != ".json":
            ends = ", ".join([".json", *MESH_ENDINGS])
            raise SceneError(f"{path} is not a scene: expected a name that ends in {ends}.")
        return _SpecPlace(reader, path.parent, spec[: -len(path.name)], (path.stem,), ".json")
    near = did_you_mean(spec, [*(f"{scheme}:" for scheme in FORMATS), *list_scenes("demo:")])
    raise SceneError(
        f"There is no file or folder '{spec}', and it names no scene format "
        f"({', '.join(f'{scheme}:' for scheme in FORMATS)}).{near}"
    )


def homes_version() -> str | None:
    """Return the version of the installed home generator; None if there is none."""
    if "home" not in find_plugins(GROUP):
        return None
    return str(getattr(FORMATS["home"].reader("home"), "VERSION"))  # noqa: B009  not in Reader


def homes_mismatch(scene: str, made: str | None) -> str | None:
    """Return a message if a home of a run or dataset is generated differently here.

    Args:
        scene: its portable name.
        made: the version of the home generator it was written with; None if unknown.

    Returns:
        One line; None if it is no generated home, or the version is the same.
    """
    if not scene.startswith("home:") or made is None:
        return None
    here = homes_version()
    if here is None or made == here:
        return None
    return (
        f"'{scene}' is of version {made} of the homes, and this navloom makes version {here}:"
        " the seed means another home here"
    )


class SceneLookup:
    """Lookup of the scenes that a dataset names.

    A name in a file is untrusted. It only picks from what a spec lists, or goes to ``load_scene``
    in the form ``scheme:ID``.

    Args:
        specs: sources of scenes, such as ``hm3d:DIR``. Without any, names are looked up in the
            package and under ``$NAVLOOM_DATA``.
        homes: the version of the home generator that the names were written with, if known; homes
            of another version are not found.

    Raises:
        SceneError: a spec names no scene.
    """

    def __init__(self, specs: str | Sequence[str] | None = None, homes: str | None = None) -> None:
        self._homes = homes
        self._given = [specs] if isinstance(specs, str) else list(specs or ())
        self._where = {_portable(uri): uri for spec in self._given for uri in list_scenes(spec)}

    def load(self, name: str) -> Scene:
        """Load a scene by its portable name.

        Raises:
            SceneError: it is not there, is broken, or is not the one asked for.
        """
        if other := homes_mismatch(name, self._homes):
            raise SceneError(other)
        if name in self._where:
            scene = load_scene(self._where[name])
        elif name in self._files:
            scene = load_scene(self._files[name])
        elif name.startswith(("demo:", "home:")) or not self._given:
            if "/" in name or "?" in name or ":" not in name:
                raise SceneError(f"'{name}' is not a scene's portable name, such as 'hm3d:ID'")
            scene = load_scene(name)
        else:
            raise SceneError(f"'{name}' is not a scene of {', '.join(self._given)}")
        if scene.uri != name:
            raise SceneError(f"'{name}' was asked for and the scene there is '{scene.uri}'")
        return scene

    @cached_property
    def _files(self) -> dict[str, str]:
        """URI of each scene.json by its scene's name, which the file's own name need not match."""
        found: dict[str, str] = {}
        for spec in self._given:
            for uri in list_scenes(spec) if ":" not in spec.split("/")[0] else ():
                # One broken file is no reason not to find the others.
                with contextlib.suppress(SceneError):
                    found[load_scene(uri).uri] = uri
        return found


def _portable(uri: str) -> str:
    """Return ``hm3d:ID`` for ``hm3d:some/where/ID``."""
    scheme, colon, rest = uri.partition(":")
    return f"{scheme}:{rest.rstrip('/').rpartition('/')[2]}" if colon else uri
