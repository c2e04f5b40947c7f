"""Files of datasets: found, bounded, checked, and refused in one line that names their source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import DataError, SceneError
from navloom.scenes.checked_files import read_json

T = TypeVar("T")

MOST_BYTES = 200_000_000
"""R2R's train split has 10 MB, its augmented form 110 MB."""
MATTERPORT_ID = r"^[A-Za-z0-9]{1,40}$"
"""A scan or a viewpoint: certain to name a file in the folder it is looked up in."""

Scan = Annotated[str, Field(pattern=MATTERPORT_ID)]
ViewpointId = Annotated[str, Field(pattern=MATTERPORT_ID)]
Number = Annotated[int, Field(ge=0, lt=10**12)]
Instruction = Annotated[str, Field(max_length=20_000)]


class Item(BaseModel):
    """A record of a dataset; what it says beyond its fields is not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class PathItem(Item):
    """What R2R and REVERIE records share.

    R2R's ``distance`` is not read: it is wrong by up to 3.7 m.
    """

    scan: Scan
    path_id: Number
    path: Annotated[list[ViewpointId], Field(min_length=1, max_length=1000)]
    heading: Annotated[float, Field(ge=-7, le=7, allow_inf_nan=False)]
    """Radians, clockwise from where our -z points: R2R's frame and ours agree."""
    instructions: Annotated[list[Instruction], Field(min_length=1, max_length=1000)]


def is_blank(instruction: str) -> bool:
    r"""Whether nothing of it can be read: blanks and control characters, no letter or sign.

    >>> is_blank(" \u200b\n"), is_blank("Go.")
    (True, False)
    """
    return not any(c.isprintable() and not c.isspace() for c in instruction)


def find(data: Path, folder: str, name: str) -> Path:
    """A dataset's file in its sub-folder, else in the folder itself (where it need not exist)."""
    inside = data / folder / name
    return inside if inside.is_file() or not (data / name).is_file() else data / name


def read_records(path: Path, adapter: TypeAdapter[T], *, source: str) -> T:
    """What a dataset's JSON file says.

    Args:
        path: the file.
        adapter: what is expected of it.
        source: where it comes from, for the message where it is missing.

    Raises:
        DataError: the file is missing (the message says where it comes from), too large or not
            JSON, or a record is not as expected (the message has its index and its field).
    """
    if not path.is_file():
        raise DataError(
            f"{path}: there is no such file. It comes from {source}; docs/datasets.md says how "
            "to get it and where to put it."
        )
    try:
        return read_json(path, adapter, most=MOST_BYTES)
    except SceneError as error:
        raise DataError(str(error)) from error
