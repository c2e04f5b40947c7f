"""Source of generated homes: ``home:7`` is the same home on every machine, generated once on each.

A generated home is cached in the user's cache folder as a file ``{"sum": ..., "scene": ...}``: the
scene's own JSON and its SHA-256. The file's name is a hash of the seed, the options, the
generator's version and code, and the libraries that it computes with.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import IO

from navloom import scenes
from navloom.disk_cache import HOMES, code_key, content_key
from navloom.scenes.scene import Scene
from navloom_worlds.homes.home_names import (
    FIRST,
    OWN,
    VERSION,
    HomeSpec,
    home_name,
    parse_name,
    read_names,
)

MOST_BYTES = 16_000_000
"""Maximum size of one file; the largest homes have 300 kB."""
_SCENES = Path(scenes.__file__).parent
_CODE = (
    "safe_files.py",
    "distances.py",
    "floor_graph.py",
    "lexicon.py",
    "lexicon.yaml",
    "scene.py",
)
"""Files that :func:`~navloom_worlds.homes.home_generator.make_home` uses (a test checks)."""
_LIBRARIES = ("networkx", "numpy", "pydantic", "shapely")
_HEAD, _MIDDLE, _END = b'{"sum":"', b'","scene":', b"}"


def list_ids(folder: Path) -> list[str]:  # noqa: ARG001 - there is no folder
    """Return the names of the first homes; the number of homes is unlimited."""
    return read_names(FIRST)


def load(folder: Path, scene_id: str) -> Scene:  # noqa: ARG001
    """Return the home of a canonical name: from the cache, else generated and cached.

    Raises:
        SceneError: the name is invalid, or no home fulfils its options.
    """
    seed, spec = parse_name(scene_id)
    name = home_name(seed, spec)
    code = code_key(
        str(Path(__file__).parent), *(str(_SCENES / each) for each in _CODE), libraries=_LIBRARIES
    )
    key = content_key("navloom home", str(VERSION), name, code, catalogue_digest())
    return HOMES.kept(
        f"{key}.json", lambda: _generated(seed, spec), _save, lambda file: _read(file, name)
    )


def catalogue_digest() -> str:
    """Return the hash of a user's catalogue additions, meshes included; empty if there are none.

    It is part of the cache keys of homes and of everything derived from them.
    """
    own = os.environ.get(OWN, "")
    if not own:
        return ""
    # Imported only if needed: reading a cached home needs no catalogue.
    from navloom_worlds.homes.catalogue import files_digest

    return files_digest(own)


def _generated(seed: int, spec: HomeSpec) -> Scene:
    # Imported only if needed: reading a cached home needs no generator.
    from navloom_worlds.homes.home_generator import make_home

    return make_home(seed, spec)


def _save(file: IO[bytes], home: Scene) -> None:
    scene = home.model_dump_json().encode()
    file.write(_HEAD + sha256(scene).hexdigest().encode() + _MIDDLE + scene + _END)


def _read(file: IO[bytes], name: str) -> Scene:
    data = file.read(MOST_BYTES + 1)
    begin = len(_HEAD) + 64 + len(_MIDDLE)
    scene = data[begin : -len(_END)]
    if data[:begin] != _HEAD + sha256(scene).hexdigest().encode() + _MIDDLE:
        raise ValueError("not what was written")
    home = Scene.model_validate_json(scene)
    if home.uri != f"home:{name}":
        raise ValueError(f"it is {home.uri}, not home:{name}")
    return home
