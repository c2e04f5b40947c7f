"""Import of ``hm3d:`` homes from files a user owns: DomestiGraph rooms and LH-VLN scene texts.

Rooms and connections are a YAML file a home (``rooms: {room_1: {label, centroid: {x, y, z}, dims:
{x, y, z}}}``, ``connections: [[1, 6], ...]``; robotvisionmu/DomestiGraph ``data/release_data``).
Objects are a text file a home, a line an object, below a line for its region (``Region id:_0,
position:[...]``, ``Id:14, name:vent, position:[-7.2, 2.4, -2.7]``; HCPLab-SYSU/LH-VLN
``nav_gen/scene``). Both are in our frame already: y up, metres. Nothing is downloaded.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError
from navloom.scenes import safe_files
from navloom.scenes.formats.hm3d import HOME

_MOST_BYTES = 20_000_000
_REGION = re.compile(r"Region id:_(-?\d{1,7}), position:\[[^\]]*\]")
_THING = re.compile(r"Id:(\d{1,7}), name:(.{1,200}), position:\[([^\]]{1,200})\]")


class _Loose(BaseModel):
    # DomestiGraph's working files have more fields (``objects``) than its released ones.
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Vector(_Loose):
    x: float
    y: float
    z: float

    def listed(self) -> list[float]:
        return [self.x, self.y, self.z]


class _YamlRoom(_Loose):
    label: str | None
    centroid: _Vector
    dims: _Vector


class _YamlRooms(_Loose):
    rooms: Annotated[
        dict[Annotated[str, Field(pattern=r"^room_\d{1,6}$")], _YamlRoom], Field(min_length=1)
    ]
    connections: list[tuple[int, int]]


_ROOMS = TypeAdapter(_YamlRooms)


@dataclass(frozen=True)
class ImportReport:
    """Outcome of :func:`import_folder`, by id of home.

    Attributes:
        written: the files it wrote.
        kept: existing files that it left unchanged.
        without_objects: homes with rooms and no objects, skipped.
        without_rooms: homes with objects and no rooms, skipped.
        refused: reason why a broken home was skipped, one line each.
    """

    written: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()
    without_objects: tuple[str, ...] = ()
    without_rooms: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)


def import_home(yaml_path: Path, objects_path: Path) -> dict[str, Any]:
    """Merge one home's rooms and objects.

    Args:
        yaml_path: its rooms and connections; the file's name without its ending becomes the id.
        objects_path: its objects.

    Returns:
        The home in the form of ``docs/formats/hm3d.md``, validated.

    Raises:
        SceneError: a file is missing, too large or broken: path, line or field, what was expected
            and what was found.
    """
    source = safe_files.read_yaml(yaml_path, _ROOMS, most=_MOST_BYTES)
    home = {
        "scene": safe_files.check_scene_id(yaml_path.stem, what="hm3d"),
        "rooms": [
            {
                "id": int(name.removeprefix("room_")),
                "label": room.label or None,
                "centroid": room.centroid.listed(),
                "dims": room.dims.listed(),
            }
            for name, room in source.rooms.items()
        ],
        "connections": [list(pair) for pair in source.connections],
        "objects": _objects(objects_path),
    }
    with safe_files.scene_errors(f"{yaml_path} with {objects_path.name}"):
        HOME.validate_json(json.dumps(home))
    return home


def _objects(path: Path) -> list[dict[str, Any]]:
    text = safe_files.read_bytes(path, most=_MOST_BYTES).decode("utf-8", errors="replace")
    things: list[dict[str, Any]] = []
    region: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _REGION.fullmatch(line.strip()):
            region = int(match[1])
        elif match := _THING.fullmatch(line.strip()):
            try:
                position = [float(part) for part in match[3].replace(",", " ").split()]
            except ValueError:
                position = []
            if len(position) != 3:
                raise SceneError(
                    f"{path}: line {number}: position: expected three numbers, found "
                    f"'[{match[3][:60]}]'."
                )
            things.append(
                {
                    "id": int(match[1]),
                    "name": match[2].strip(),
                    "position": position,
                    "hm3dsem_region": region,
                }
            )
        elif line.strip():
            raise SceneError(
                f"{path}: line {number}: expected 'Id:14, name:vent, position:[x, y, z]' or "
                f"'Region id:_0, position:[x y z]', found {line.strip()[:60]!r}."
            )
    return things


def import_folder(
    rooms_dir: Path, objects_dir: Path, out_dir: Path, *, overwrite: bool = False
) -> ImportReport:
    """Merge every home that has both its files.

    Args:
        rooms_dir: a folder of ``ID.yaml`` files.
        objects_dir: a folder of ``ID.txt`` files.
        out_dir: folder for the ``ID.json`` files; created if missing.
        overwrite: replace existing files; else they are kept.

    Returns:
        The files written, kept, skipped and refused. One broken home does not stop the others.

    Raises:
        SceneError: a folder does not exist, no home has both its files, or a file cannot be
            written.
    """
    rooms = _by_id(rooms_dir, (".yaml", ".yml"))
    objects = _by_id(objects_dir, (".txt",))
    both = sorted(rooms.keys() & objects.keys())
    if not both:
        raise SceneError(
            f"No home has both its rooms in {rooms_dir} ({len(rooms)} .yaml files) and its objects "
            f"in {objects_dir} ({len(objects)} .txt files): expected files of the same name."
        )
    written: list[Path] = []
    kept: list[Path] = []
    refused: dict[str, str] = {}
    for each in both:
        target = out_dir / f"{each}.json"
        if target.exists() and not overwrite:
            kept.append(target)
            continue
        try:
            home = import_home(rooms[each], objects[each])
        except SceneError as error:
            refused[each] = str(error)
            continue
        safe_files.write_atomic(target, json.dumps(home, indent=1, allow_nan=False) + "\n")
        written.append(target)
    return ImportReport(
        written=tuple(written),
        kept=tuple(kept),
        without_objects=tuple(sorted(rooms.keys() - objects.keys())),
        without_rooms=tuple(sorted(objects.keys() - rooms.keys())),
        refused=refused,
    )


def _by_id(folder: Path, endings: tuple[str, ...]) -> dict[str, Path]:
    try:
        files = sorted(folder.iterdir())
    except OSError as error:
        raise SceneError(f"{folder}: expected a folder: {error.strerror}.") from error
    return {
        path.stem: path
        for path in files
        if path.suffix in endings and not path.name.startswith(".") and path.is_file()
    }
