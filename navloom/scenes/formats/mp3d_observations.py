"""What the viewpoints of a Matterport3D scan look like in words (NavNuances' ``observations``).

Three files a scan, each ``viewpoint -> ...``; what is not there is left out:

    observations_list_summarized/SCAN.json    eight captions, one a sector
    observations_summarized/SCAN.json         one sentence, which goes on from "This is a"
    objects_list/SCAN.json                    objects within 3 m; see :mod:`.mp3d_objects`

Sector k is centred on heading k x 45 degrees, in our heading as well as R2R's. Nothing says so;
it was found out in two ways. Of the 23,450 object reports of 25 scans every one lies within 22.5
degrees of its sector's k x 45, median 0.04. And where a caption of the ten scans that REVERIE has
boxes for names an object that only one or two sectors of a viewpoint name, and that REVERIE's
boxes show once there, k x 45 differs from the heading of the box by 0.5 degrees in the mean (406
objects, 74 % within 37.5); counted the other way round, the two have nothing to do with one
another (mean resultant length .03 against .72).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter

from navloom.scenes.files import checked_id, read_bytes, validated
from navloom.scenes.formats.mp3d_objects import read_sightings

T = TypeVar("T")
SECTORS = 8
_Text = Annotated[str, Field(max_length=20_000)]
_SENTENCES = TypeAdapter(dict[str, _Text])
_CAPTIONS = TypeAdapter(
    dict[str, Annotated[list[_Text], Field(min_length=SECTORS, max_length=SECTORS)]]
)


@dataclass(frozen=True, slots=True)
class Near:
    """An object that a viewpoint reports.

    Attributes:
        name: the source's word, without the number it has within a sector.
        heading: radians clockwise from -z in [0, 2 pi); loose by 23 degrees at the median.
        metres: the slant range from the camera.
    """

    name: str
    heading: float
    metres: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What the source says of one viewpoint, in its own words: untrusted, and as long as they are.

    Attributes:
        sectors: eight captions, the k-th around heading k x 45 degrees; empty where there are none.
        summary: what goes on from "This is a"; "" where there is none.
        near: the objects, nearest first.
    """

    sectors: tuple[str, ...] = ()
    summary: str = ""
    near: tuple[Near, ...] = ()


def read_observations(folder: Path, scan: str, viewpoints: Collection[str]) -> dict[str, Seen]:
    """What a scan's viewpoints look like.

    Args:
        folder: the one that holds ``observations/``.
        scan: the scan's id.
        viewpoints: those of the scene; what the files say of others is passed over.

    Returns:
        What is known of each viewpoint that a file names; empty where there is no file.

    Raises:
        SceneError: path, field and expectation where a file is broken.
    """
    name = f"{checked_id(scan, what='mp3d')}.json"
    where = folder / "observations"
    captions = _read(where / "observations_list_summarized" / name, _CAPTIONS)
    sentences = _read(where / "observations_summarized" / name, _SENTENCES)
    near = _near(where / "objects_list" / name, viewpoints)
    return {
        each: Seen(tuple(captions.get(each, ())), sentences.get(each, ""), near.get(each, ()))
        for each in viewpoints
        if each in captions or each in sentences or each in near
    }


def _read(path: Path, adapter: TypeAdapter[dict[str, T]]) -> dict[str, T]:
    return validated(adapter, read_bytes(path), path) if path.is_file() else {}


def _near(path: Path, viewpoints: Collection[str]) -> dict[str, tuple[Near, ...]]:
    if not path.is_file():
        return {}
    found: dict[str, list[Near]] = {}
    # Seen from the origin, a sighting's place is nothing but its heading and its distance.
    for each in read_sightings(path, dict.fromkeys(viewpoints, (0.0, 0.0, 0.0))):
        x, _, z = each.position
        heading = math.atan2(x, -z) % (2 * math.pi) if x or z else 0.0
        found.setdefault(each.viewpoint, []).append(Near(each.name, heading, each.metres))
    return {
        viewpoint: tuple(sorted(near, key=lambda n: (n.metres, n.name, n.heading)))
        for viewpoint, near in found.items()
    }
