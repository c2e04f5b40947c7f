"""Sensors and rigs: the images that an agent takes at every pose.

A rig is a tuple of sensors. It is given by name (``RIGS``), where ``+`` combines several:

    vln-mme         four level views by the compass, 90 degrees each (VLN-MME 3.3, C.1): the default
    sweep-12        every 30 degrees, level (:data:`navloom.sim.views.FORMS`)
    sweep-24        every 45 degrees, 30 up, level and 30 down (NavGPT's, VLN-MME C.2)
    sweep-36        every 30 degrees, the same (Matterport3DSimulator's)
    vlnverse        12 snapshots at 30 degrees, RGB 224, depth 256 to 10 m (VLNVerse A.2, online)
    vlnverse-front  the one ahead (VLNVerse A.2, offline)
    conavbench      RGB and depth ahead, 60 degrees to the left and to the right (CoNavBench 4.1)
    equirect        the whole sphere in one image, the heading in its middle
    lidar           16 beams of 360 rays

or as the path of a JSON or YAML file, which holds a list of :class:`SensorFileEntry` entries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError, SimulatorError, did_you_mean
from navloom.scenes.safe_files import read_json, read_yaml, repr_of

MOST_PIXELS = 16_777_216
MOST_SIDE = 8_192
MOST_SAMPLES = 4

Modality = Literal["rgb", "depth", "ids", "lidar"]
Projection = Literal["pinhole", "equirect", "lidar"]
Follows = Literal["compass", "heading", "head"]


@dataclass(frozen=True, slots=True)
class Sensor:
    """Sensor that takes one image at every step.

    Attributes:
        modality: the measured quantity.
        name: its name, unique in a rig; "" derives it from the modality.
        heading: radians, clockwise, from what it ``follows``.
        elevation: radians, positive upwards.
        width: pixels; for a lidar, rays per turn.
        height: pixels; for a lidar, beams.
        fov: radians from the left edge to the right; a whole turn for an equirect.
        vertical: for a lidar, radians from the lowest beam to the highest; for an image it follows
            from the others.
        follows: ``compass``: its heading is from -z, however the agent is turned; ``heading``: from
            the agent's, always level; ``head``: it tilts with the agent, too.
        position: metres to the right, up from the floor, and ahead of the body's centre. None
            upwards is the viewpoint's own height, or 1.5 m if it has none, at most the body's
            height.
        far: metres beyond which depth and range read this value; None for no limit.
        rate: images per second in continuous time. On the navigation graph a step takes one image
            of each sensor, whatever its rate.
        projection: the projection of its rays.
        samples: for colour, rays across and down a pixel at edges: 1 has hard edges and takes half
            as long, 4 is the finest.

    Raises:
        SimulatorError: a value is out of range.
    """

    modality: Modality
    name: str = ""
    heading: float = 0.0
    elevation: float = 0.0
    width: int = 512
    height: int = 512
    fov: float = math.pi / 2
    vertical: float = math.radians(30)
    follows: Follows = "heading"
    position: tuple[float, float | None, float] = (0.0, None, 0.0)
    far: float | None = None
    rate: float = 1.0
    projection: Projection = "pinhole"
    samples: int = 2

    def __post_init__(self) -> None:
        for name, kind in (("modality", Modality), ("follows", Follows)):
            self._among(name, get_args(kind))
        if (self.modality == "lidar") != (self.projection == "lidar"):
            raise self._wrong("projection", "lidar for a lidar, and for it alone")
        self._among("projection", get_args(Projection))
        for name in ("width", "height"):
            side = getattr(self, name)
            if isinstance(side, bool) or not isinstance(side, int) or not 1 <= side <= MOST_SIDE:
                raise self._wrong(name, f"1 to {MOST_SIDE:,} pixels")
        whole = isinstance(self.samples, int) and not isinstance(self.samples, bool)
        if not whole or not 1 <= self.samples <= MOST_SAMPLES:
            raise self._wrong("samples", f"1 to {MOST_SAMPLES}")
        if self.width * self.height > MOST_PIXELS:
            raise SimulatorError(
                f"{self._called}: {self.width} x {self.height} pixels: expected at most "
                f"{MOST_PIXELS:,} in all."
            )
        level = math.pi / 2
        self._within("heading", -100.0, 100.0, "radians, -100 to 100")
        self._within("elevation", -level, level, "radians, -90 to 90 degrees")
        pinhole = self.projection == "pinhole"
        most, words = (3.1, "177") if pinhole else (2 * math.pi, "360")
        self._within("fov", 1e-3, most, f"radians, above 0 and at most {words} degrees")
        self._within("vertical", 0.0, math.pi, "radians, 0 to 180 degrees")
        self._within("rate", 1e-3, 1_000.0, "0.001 to 1,000 pictures a second")
        if self.far is not None:
            self._within("far", 1e-3, 1e5, "metres, 0.001 to 100,000, or none")
        places = [each for each in self.position if each is not None]
        if len(self.position) != 3 or not all(abs(each) <= 100 for each in places):
            raise self._wrong("position", "three metres, right, up and ahead, -100 to 100")

    @property
    def _called(self) -> str:
        return f"Sensor '{self.name}'" if self.name else f"A sensor of {repr_of(self.modality)}"

    def _wrong(self, name: str, expected: str) -> SimulatorError:
        found = repr_of(getattr(self, name))
        return SimulatorError(f"{self._called}: {name} is {found}: expected {expected}.")

    def _within(self, name: str, least: float, most: float, expected: str) -> None:
        value = getattr(self, name)
        # NaN fails every comparison.
        if not isinstance(value, (int, float)) or not least <= value <= most:
            raise self._wrong(name, expected)

    def _among(self, name: str, known: Sequence[str]) -> None:
        value = getattr(self, name)
        if value not in known:
            error = self._wrong(name, f"one of {', '.join(known)}")
            raise SimulatorError(f"{error}{did_you_mean(str(value), known)}")


Rig = tuple[Sensor, ...]


class SensorFileEntry(BaseModel):
    """Sensor as a file describes it: angles in degrees, the rest as :class:`Sensor`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    modality: str
    name: str = ""
    heading_deg: float = 0.0
    elevation_deg: float = 0.0
    width: int = 512
    height: int = 512
    fov_deg: float | None = None
    vertical_deg: float = 30.0
    follows: str = "heading"
    position: tuple[float, float | None, float] = (0.0, None, 0.0)
    far: float | None = None
    rate: float = 1.0
    projection: str | None = None
    samples: int = 2

    def sensor(self) -> Sensor:
        """Return the sensor, with angles in radians.

        Raises:
            SimulatorError: a value is out of range.
        """
        lidar = self.modality == "lidar"
        projection = self.projection or ("lidar" if lidar else "pinhole")
        whole = 90.0 if projection == "pinhole" else 360.0
        kept = {"modality", "name", "width", "height", "follows", "position", "far", "rate"}
        given: dict[str, Any] = self.model_dump(include=kept | {"samples"})
        return Sensor(
            **given,
            heading=math.radians(self.heading_deg),
            elevation=math.radians(self.elevation_deg),
            fov=math.radians(whole if self.fov_deg is None else self.fov_deg),
            vertical=math.radians(self.vertical_deg),
            projection=projection,  # type: ignore[arg-type]
        )


_FILE = TypeAdapter(Annotated[list[SensorFileEntry], Field(min_length=1, max_length=200)])
_PICTURES: tuple[Modality, ...] = ("rgb", "depth", "ids")


def _named(rig: Sequence[Sensor]) -> Rig:
    """Return a rig whose sensors have unique names: ``rgb``, or ``rgb_0`` to ``rgb_3``."""
    many = {each.modality: sum(s.modality == each.modality for s in rig) for each in rig}
    seen: dict[str, int] = {}
    named = []
    for each in rig:
        number = seen[each.modality] = seen.get(each.modality, -1) + 1
        plain = each.modality if many[each.modality] == 1 else f"{each.modality}_{number}"
        named.append(replace(each, name=each.name or plain))
    return tuple(named)


def _turned(pattern: Sequence[Sensor], headings: int, elevations: Sequence[float] = (0.0,)) -> Rig:
    return _named(
        [
            replace(each, heading=k * 2 * math.pi / headings, elevation=math.radians(degrees))
            for each in pattern
            for degrees in elevations
            for k in range(headings)
        ]
    )


def _sweep(headings: int, elevations: Sequence[float] = (0.0,)) -> Rig:
    # Matterport3DSimulator's: 4 to 3, 60 degrees from top to bottom.
    wide = 2 * math.atan(math.tan(math.radians(30)) * 4 / 3)
    pattern = [Sensor(m, width=512, height=384, fov=wide, follows="compass") for m in _PICTURES]
    return _turned(pattern, headings, elevations)


_SNAPSHOT = (Sensor("rgb", width=224, height=224), Sensor("depth", width=256, height=256, far=10.0))
_SIXTY = math.radians(60)

RIGS: dict[str, Rig] = {
    "vln-mme": _turned([Sensor(m, follows="compass") for m in _PICTURES], 4),
    "sweep-12": _sweep(12),
    "sweep-24": _sweep(8, (30, 0, -30)),
    "sweep-36": _sweep(12, (30, 0, -30)),
    "vlnverse": _turned(_SNAPSHOT, 12),
    "vlnverse-front": _named(_SNAPSHOT),
    "conavbench": tuple(
        Sensor(m, name=f"{m}_{side}", heading=turn, width=224, height=224)
        for m in ("rgb", "depth")
        for side, turn in (("left", -_SIXTY), ("front", 0.0), ("right", _SIXTY))
    ),
    "equirect": _named(
        [
            Sensor(m, width=1024, height=512, fov=2 * math.pi, projection="equirect")
            for m in _PICTURES
        ]
    ),
    "lidar": _named(
        [Sensor("lidar", width=360, height=16, fov=2 * math.pi, far=30.0, projection="lidar")]
    ),
}
"""Rigs by name."""
_OF_VIEWS = {0: "vln-mme", 4: "vln-mme", 12: "sweep-12", 24: "sweep-24", 36: "sweep-36"}


def rig_for_views(views: int) -> str:
    """Return the name of the rig that :func:`navloom.sim.views.view_pngs` needs for so many views.

    Args:
        views: one of :data:`navloom.sim.views.FORMS`.

    Raises:
        SimulatorError: the number of views is not supported.
    """
    if views not in _OF_VIEWS:
        forms = ", ".join(map(str, _OF_VIEWS))
        raise SimulatorError(f"{views} views cannot be shown: expected one of {forms}.")
    return _OF_VIEWS[views]


def resolve_rig(rig: str | Path | Rig) -> Rig:
    """Return a rig by name, from a file, or the given sensors.

    Args:
        rig: names joined by ``+``, the path of a ``.json``, ``.yaml`` or ``.yml`` file, or sensors.

    Raises:
        SimulatorError: the rig is unknown, the file is broken, or two sensors have one name.
    """
    if isinstance(rig, tuple | list):
        if not rig or not all(isinstance(each, Sensor) for each in rig):
            raise SimulatorError("A rig holds sensors: expected at least one, and nothing else.")
        return _each_once(_named(rig))
    if isinstance(rig, Path) or str(rig).lower().endswith((".json", ".yaml", ".yml")):
        return _read(Path(rig))
    found: list[Sensor] = []
    for name in str(rig).split("+"):
        if name not in RIGS:
            raise SimulatorError(
                f"There is no rig {repr_of(name)}: expected one of {', '.join(RIGS)}, several"
                f" joined by '+', or a .json or .yaml file.{did_you_mean(name, RIGS)}"
            )
        found += RIGS[name]
    if "+" not in str(rig):
        return RIGS[str(rig)]
    return _each_once(_named([replace(each, name="") for each in found]))


def _read(path: Path) -> Rig:
    read = read_json if path.suffix.lower() == ".json" else read_yaml
    try:
        given = read(path, _FILE, most=1_000_000)
    except SceneError as error:
        raise SimulatorError(str(error)) from error
    rig: list[Sensor] = []
    for number, each in enumerate(given):
        try:
            rig.append(each.sensor())
        except SimulatorError as error:
            raise SimulatorError(f"{path}: [{number}]: {error}") from error
    try:
        return _each_once(_named(rig))
    except SimulatorError as error:
        raise SimulatorError(f"{path}: {error}") from error


def _each_once(rig: Rig) -> Rig:
    names = [each.name for each in rig]
    for name in names:
        if names.count(name) > 1:
            raise SimulatorError(f"Two sensors are called {repr_of(name)}: expected a name each.")
    return rig
