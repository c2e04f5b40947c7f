"""Text observations of a Matterport3D scan's viewpoints (NavNuances' ``observations``).

Three files a scan, each ``viewpoint -> ...``; missing files are skipped:

    observations_list_summarized/SCAN.json    eight captions, one a sector
    observations_summarized/SCAN.json         one sentence, which continues "This is a"
    objects_list/SCAN.json                    objects within 3 m: names, headings, distances

Sector k is centred on heading k x 45 degrees, in our heading as well as R2R's. This is documented
nowhere; two measurements show it. All 23,450 object reports of 25 scans lie within 22.5 degrees of
their sector's k x 45 (median 0.04). The second uses REVERIE's boxes in ten scans, and captions that
name an object found in only one or two sectors and once in the boxes. There k x 45 differs from the
heading of the box by 0.5 degrees in the mean (406 objects, 74 % within 37.5). Counted the other way
round, the two are unrelated (mean resultant length .03 against .72).

An object list has, for each viewpoint and sector, a dict of name -> heading in degrees and distance
in metres. Its quirks, and how they are handled:

- An object is reported from every sector whose image shows it, at one distance to the centimetre
  but with headings that differ by tens of degrees. Reports of one name and one distance at a
  viewpoint are one sighting, its heading their circular mean.
- ``chair_1`` and ``chair_2`` number the objects of one sector only: both are ``chair``. Two
  distances from one viewpoint are two objects.
- The distance is the slant range from the camera and no elevation is given. An object is placed at
  that distance on the floor, which is slightly too far, and its height is unknown.
- The same object is seen from many viewpoints. Sightings of one name are merged if all of them lie
  within ``MERGE`` metres, never two of one viewpoint.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from navloom.errors import SceneError
from navloom.scenes.safe_files import check_scene_id, read_json
from navloom.scenes.scene import Point3

T = TypeVar("T")
SECTORS = 8
_Text = Annotated[str, Field(max_length=20_000)]
_SENTENCES = TypeAdapter(dict[str, _Text])
_CAPTIONS = TypeAdapter(
    dict[str, Annotated[list[_Text], Field(min_length=SECTORS, max_length=SECTORS)]]
)
MERGE = 1.5
"""Metres within which sightings of one name are one object. On the 11 scans where REVERIE names
the object behind a sighting, complete linkage at 1.5 m gets precision .97 and recall .98 of the
pairs of sightings that are one object; 1.0 m gets .98 and .85, 2.0 m .93 and .99."""
_NEVER = 1e6


class _Report(TypedDict):
    heading: Annotated[float, Field(ge=-3600, le=3600, allow_inf_nan=False)]
    distance: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


_Sector = dict[Annotated[str, Field(max_length=200)], _Report]
_Sectors = Annotated[list[_Sector], Field(min_length=SECTORS, max_length=SECTORS)]
_OBSERVATIONS = TypeAdapter(dict[str, _Sectors])


@dataclass(frozen=True)
class ObjectSighting:
    """Object seen from one viewpoint: its name, viewpoint, slant range and position."""

    name: str
    viewpoint: str
    metres: float
    position: Point3


@dataclass(frozen=True)
class MergedObject:
    """Object merged from its sightings.

    Attributes:
        name: the source's name, without the number within a sector.
        position: on the floor; the mean of the sightings, weighted towards near ones.
        viewpoint: the nearest one that saw it.
    """

    name: str
    position: Point3
    viewpoint: str


def read_sightings(path: Path, ground: Mapping[str, Point3]) -> list[ObjectSighting]:
    """Read the object sightings of a scan's viewpoints.

    Args:
        path: ``observations/objects_list/SCAN.json``.
        ground: viewpoint -> the floor under it. Reports of other viewpoints are skipped.

    Raises:
        SceneError: path, field and expectation if the file is broken.
    """
    found: list[ObjectSighting] = []
    observations = read_json(path, _OBSERVATIONS)
    for viewpoint, sectors in observations.items():
        if viewpoint not in ground:
            continue
        headings: dict[tuple[str, float], list[float]] = defaultdict(list)
        for sector in sectors:
            for name, report in sector.items():
                plain = re.sub(r"_\d+$", "", name.replace("#", " ").strip()).strip()
                headings[plain, report["distance"]].append(math.radians(report["heading"]))
        for (name, metres), several in headings.items():
            if name:
                mean = math.atan2(sum(map(math.sin, several)), sum(map(math.cos, several)))
                # Heading 0 looks along -z and grows clockwise, R2R's as well as ours.
                x, y, z = ground[viewpoint]
                place = x + metres * math.sin(mean), y, z - metres * math.cos(mean)
                found.append(ObjectSighting(name, viewpoint, metres, place))
    if not any(viewpoint in ground for viewpoint in observations):
        raise SceneError(
            f"{path}: expected viewpoints of the scan's connectivity, and none of the "
            f"{len(observations)} there is one."
        )
    return found


def merge_sightings(sightings: Sequence[ObjectSighting]) -> list[MergedObject]:
    """Merge sightings of the same object; by name, then in the order first seen."""
    by_name: dict[str, list[ObjectSighting]] = defaultdict(list)
    for sighting in sightings:
        by_name[sighting.name].append(sighting)
    return [_one(group) for name in sorted(by_name) for group in _together(by_name[name])]


def _together(sightings: list[ObjectSighting]) -> list[list[ObjectSighting]]:
    if len(sightings) == 1:
        return [sightings]
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist, squareform

    apart = squareform(pdist(np.array([s.position for s in sightings])))
    seers = np.array([s.viewpoint for s in sightings])
    apart[seers[:, None] == seers[None, :]] = _NEVER
    np.fill_diagonal(apart, 0.0)
    labels = fcluster(linkage(squareform(apart, checks=False), "complete"), MERGE, "distance")
    groups: dict[int, list[ObjectSighting]] = defaultdict(list)
    for label, sighting in zip(labels, sightings, strict=True):
        groups[int(label)].append(sighting)
    return sorted(groups.values(), key=lambda group: sightings.index(group[0]))


def _one(group: list[ObjectSighting]) -> MergedObject:
    nearest = min(group, key=lambda sighting: (sighting.metres, sighting.viewpoint))
    # An error of the heading moves the position in proportion to the distance.
    weights = np.array([1 / max(sighting.metres, 0.25) ** 2 for sighting in group])
    x, _, z = np.average([sighting.position for sighting in group], axis=0, weights=weights)
    return MergedObject(nearest.name, (float(x), nearest.position[1], float(z)), nearest.viewpoint)


@dataclass(frozen=True, slots=True)
class ReportedObject:
    """Object that a viewpoint reports.

    Attributes:
        name: the source's word, without the number it has within a sector.
        heading: radians clockwise from -z in [0, 2 pi); off by 23 degrees at the median.
        metres: the slant range from the camera.
    """

    name: str
    heading: float
    metres: float


@dataclass(frozen=True, slots=True)
class ViewpointReport:
    """Source texts of one viewpoint, verbatim: untrusted and unbounded.

    Attributes:
        sectors: eight captions, the k-th around heading k x 45 degrees; empty if there are none.
        summary: the continuation of "This is a"; "" if there is none.
        near: the objects, nearest first.
    """

    sectors: tuple[str, ...] = ()
    summary: str = ""
    near: tuple[ReportedObject, ...] = ()


def read_observations(
    folder: Path, scan: str, viewpoints: Collection[str]
) -> dict[str, ViewpointReport]:
    """Read the observations of a scan's viewpoints.

    Args:
        folder: the one that holds ``observations/``.
        scan: the scan's id.
        viewpoints: those of the scene; entries of others are skipped.

    Returns:
        The report of each viewpoint that a file names; empty if there is no file.

    Raises:
        SceneError: path, field and expectation if a file is broken.
    """
    name = f"{check_scene_id(scan, what='mp3d')}.json"
    where = folder / "observations"
    captions = _read(where / "observations_list_summarized" / name, _CAPTIONS)
    sentences = _read(where / "observations_summarized" / name, _SENTENCES)
    found: dict[str, list[ReportedObject]] = {}
    listed = where / "objects_list" / name
    if listed.is_file():
        # With viewpoints at the origin, a sighting's position encodes its heading and distance.
        for seen in read_sightings(listed, dict.fromkeys(viewpoints, (0.0, 0.0, 0.0))):
            x, _, z = seen.position
            heading = math.atan2(x, -z) % (2 * math.pi) if x or z else 0.0
            found.setdefault(seen.viewpoint, []).append(
                ReportedObject(seen.name, heading, seen.metres)
            )
    near = {
        viewpoint: tuple(sorted(things, key=lambda n: (n.metres, n.name, n.heading)))
        for viewpoint, things in found.items()
    }
    return {
        each: ViewpointReport(
            tuple(captions.get(each, ())), sentences.get(each, ""), near.get(each, ())
        )
        for each in viewpoints
        if each in captions or each in sentences or each in near
    }


def _read(path: Path, adapter: TypeAdapter[dict[str, T]]) -> dict[str, T]:
    return read_json(path, adapter) if path.is_file() else {}
