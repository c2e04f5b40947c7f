"""Which viewpoints see which object, as REVERIE's boxes say (Qi et al. 2020).

    DATA/reverie/BBox/SCAN.json              one file a scan, or as published
    DATA/reverie/BBox/SCAN_VIEWPOINT.json    one file a viewpoint

Both hold viewpoint -> object number -> ``name``, ``visible_pos`` (which of the 36 views show it)
and ``bbox2d``. An object is listed where it is within 3 m; it is seen where ``visible_pos`` is not
empty, which is REVERIE's own rule of success.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from navloom.evals.tasks.matterport import ViewpointId, read_records

SOURCE = "the BBox files of YuankaiQi/REVERIE"
_FOLDERS = ("reverie/BBox", "reverie/bbox", "BBox", "bbox")
_MOST_FILES = 10_000


class _Seen(TypedDict):
    name: Annotated[str, Field(max_length=200)]
    visible_pos: Annotated[list[Annotated[int, Field(ge=0, lt=36)]], Field(max_length=36)]


_ObjectNumber = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
_BOXES = TypeAdapter(dict[ViewpointId, dict[_ObjectNumber, _Seen]])


@dataclass(frozen=True)
class Target:
    """An object that somebody can see.

    Attributes:
        name: in words, as the source has it but for ``#`` between words; untrusted.
        viewpoints: those that see it, in the file's order.
    """

    name: str
    viewpoints: tuple[str, ...]


def read_visible(data: Path, scan: str, among: Collection[str]) -> dict[int, Target] | None:
    """The objects of a scan that some viewpoint sees.

    Args:
        data: the dataset's folder.
        scan: the scan.
        among: the viewpoints that count: those of the scan's graph.

    Returns:
        Targets by object number; None where there is no file for the scan.

    Raises:
        DataError: a file is broken.
    """
    names: dict[int, str] = {}
    seers: dict[int, list[str]] = {}
    files = _files(data, scan)
    for path in files:
        for viewpoint, objects in read_records(path, _BOXES, source=SOURCE).items():
            for number, seen in objects.items():
                if seen["visible_pos"] and viewpoint in among:
                    names.setdefault(int(number), seen["name"].replace("#", " ").strip())
                    seers.setdefault(int(number), []).append(viewpoint)
    if not files:
        return None
    return {number: Target(names[number], tuple(dict.fromkeys(seers[number]))) for number in seers}


def _files(data: Path, scan: str) -> list[Path]:
    for folder in _FOLDERS:
        whole = data / folder / f"{scan}.json"
        if whole.is_file():
            return [whole]
        parts = sorted((data / folder).glob(f"{scan}_*.json"))[:_MOST_FILES]
        if parts:
            return parts
    return []
