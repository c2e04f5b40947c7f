"""Bodies, and whether one may use a passage: annotated for benchmark scenes, else from geometry.

An embodiment says what an agent's body can pass, climb and open (CapNav, supplementary B.1); moving
it is the simulator's. Five bodies are CapNav's own, and any other comes from a file. Two forms of a
JSON file are read, a list of profiles each: the benchmark's own (``agent_profiles.json``:
``agent_name``, ``body_width_m``, ``can_open_the_door``, ...) and :class:`Embodiment`'s field names.

The benchmark's ``traverse/ID-traverse.json`` holds, for each body, cells ``node_a|node_b`` with
``traversable`` and a note. A cell is looked up in the direction of travel and then reversed; a pair
without either is unlabelled, which is neither yes nor no. ``startDetail:`` and ``endDetail:`` cells
are about a question's places within a node. The body that the profiles call HUMANOID is ROBOT here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, TypeAdapter

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.checked_files import (
    checked,
    checked_id,
    find_in,
    parse_json,
    read_bytes,
    read_json,
    read_yaml,
    short,
)
from navloom.scenes.scene import Link, Scene

ALIASES = {"ROBOT": "HUMANOID"}
"""The benchmark's files call the humanoid ``ROBOT`` in one place and ``HUMANOID`` in another."""

_MOST_BYTES = 1_000_000
_BENCHMARK = {
    "agent_name": "name",
    "body_shape": "shape",
    "body_height_m": "height",
    "body_width_m": "width",
    "body_depth_m": "depth",
    "max_vertical_cross_height_m": "max_step",
    "can_go_up_or_down_stairs": "stairs",
    "can_operate_elevator": "elevator",
    "can_open_the_door": "doors",
    "turning_radius_m": "turning_radius",
    "description": "description",
}
_Metres = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]


class Embodiment(BaseModel):
    """An agent's body and abilities.

    Sizes are in metres. ``width`` is across the direction of travel, ``depth`` along it; of a
    cylinder ``width`` is the diameter and ``depth`` is None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[
        str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9 _-]*$")
    ]
    shape: Literal["cylinder", "box"] = "cylinder"
    height: _Metres = 1.5
    width: _Metres = 0.4
    depth: _Metres | None = None
    max_step: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 0.1
    """The highest single step it can cross (``max_vertical_cross_height_m``)."""
    stairs: bool = True
    """Whether it can go up or down stairs."""
    elevator: bool = True
    """Whether it can operate an elevator."""
    doors: bool = True
    """Whether it can open a door."""
    turning_radius: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    """None where nobody said."""
    description: Annotated[str, Field(max_length=4000)] = ""


DEFAULT_BODY = Embodiment(name="ROBOT")
"""A slim body that uses stairs, elevators and doors: what R2R's graphs assume."""

_BODIES = TypeAdapter(Annotated[list[Embodiment], Field(min_length=1, max_length=200)])


@lru_cache(maxsize=1)
def builtin_bodies() -> tuple[Embodiment, ...]:
    """The five bodies of the benchmark, in its order."""
    with as_file(files("navloom.scenes").joinpath("bodies.yaml")) as path:
        bodies: list[Embodiment] = read_yaml(path, _BODIES, most=_MOST_BYTES)
    return tuple(bodies)


def body_names() -> tuple[str, ...]:
    """The names of the five."""
    return tuple(body.name for body in builtin_bodies())


def get_body(name: str) -> Embodiment:
    """One of the five by name; case is forgiven, and ``ROBOT`` is ``HUMANOID``.

    Raises:
        SceneError: there is no such body.
    """
    wanted = canonical(name)
    for body in builtin_bodies():
        if body.name == wanted:
            return body
    raise SceneError(
        f"no body '{name}'.{did_you_mean(name, body_names())} There are"
        f" {', '.join(body_names())}; give others in a JSON file."
    )


def canonical(name: str) -> str:
    """A body's name as Navloom writes it: upper case, aliases resolved."""
    upper = name.strip().upper()
    return ALIASES.get(upper, upper)


def load_bodies(path: Path) -> tuple[Embodiment, ...]:
    """Read bodies from a JSON file in either form.

    Raises:
        SceneError: the file is missing or broken, a size is not positive, a key is unknown, or two
            bodies have one name; the message names the field.
    """
    data = parse_json(read_bytes(path, most=_MOST_BYTES), path)
    if not isinstance(data, list):
        raise SceneError(f"{path}: expected a list of bodies, found {type(data).__name__}.")
    with checked(path):
        bodies = _BODIES.validate_python([_ours(each) for each in data])
    names = [canonical(body.name) for body in bodies]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SceneError(f"{path}: the body '{twice[0]}' stands twice; names are unique.")
    return tuple(
        body.model_copy(update={"name": name}) for body, name in zip(bodies, names, strict=True)
    )


def _ours(given: Any) -> Any:
    """A profile with our field names; values that JSON writes as null are left to their default."""
    if not isinstance(given, dict) or "agent_name" not in given:
        return given
    renamed = {_BENCHMARK.get(str(key), str(key)): value for key, value in given.items()}
    return {key: value for key, value in renamed.items() if value is not None}


def body_text(body: Embodiment) -> str:
    """A body as a model reads it: one ``Key: value`` line each, in the order of B.1."""
    lines: list[tuple[str, object]] = [
        ("Agent name", body.name),
        ("Body shape", body.shape),
        ("Height (m)", body.height),
        ("Width (m)", body.width),
        ("Depth (m)", "-" if body.depth is None else body.depth),
        ("Highest step it can cross (m)", body.max_step),
        ("Can go up or down stairs", body.stairs),
        ("Can operate elevator", body.elevator),
        ("Can open the door", body.doors),
    ]
    if body.turning_radius is not None:
        lines.append(("Turning radius (m)", body.turning_radius))
    lines.append(("Description", " ".join(body.description.split()) or "-"))
    return "\n".join(f"{key}: {value}" for key, value in lines)


_ENDING = "-traverse.json"
_MOST_CELLS_BYTES = 20_000_000
_HALLUCINATED = "_hallucinatedQuestions"
_DETAILS = {"startDetail": "start", "endDetail": "end"}
_EPS = 1e-9

Pair = tuple[str, str]
Source = Literal["annotated", "reversed", "geometry", "unlabelled"]


class Cell(BaseModel):
    """What was said about one passage for one body."""

    model_config = ConfigDict(frozen=True)

    traversable: StrictBool
    note: Annotated[str, Field(max_length=2_000)] = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage in one direction of travel, for one body.

    Attributes:
        a: the node it leaves.
        b: the node it enters.
        traversable: None where nobody said.
        note: why not, in the annotator's words or ours; untrusted.
        source: where the answer is from.
    """

    a: str
    b: str
    traversable: bool | None
    note: str
    source: Source

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "from": self.a,
            "to": self.b,
            "traversable": self.traversable,
            "note": self.note,
            "source": self.source,
        }


@dataclass(frozen=True)
class Traversability:
    """Every passage of a scene for every body.

    Attributes:
        nodes: ids, in the scene's order.
        edges: the passages there are, each once; one may be gone through both ways.
        names: node -> what a person calls it.
        cells: body -> (from, to) -> what was said.
        details: body -> ("start" or "end", node) -> what was said of a question's place there.
        hallucinated: questions that the annotators struck out.
        source: ``annotated`` or ``geometry``.
    """

    nodes: tuple[str, ...]
    edges: tuple[Pair, ...]
    names: Mapping[str, str]
    cells: Mapping[str, Mapping[Pair, Cell]]
    details: Mapping[str, Mapping[tuple[str, str], Cell]] = field(default_factory=dict)
    hallucinated: tuple[str, ...] = ()
    source: Literal["annotated", "geometry"] = "annotated"

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies there are answers for."""
        return tuple(self.cells)

    def passage(self, body: str, a: str, b: str) -> Passage:
        """Whether a body may go from ``a`` to ``b``.

        Args:
            body: its name; see :func:`get_body`.
            a: where it is.
            b: where it goes; whether an edge is there is not asked.

        Raises:
            SceneError: nobody said anything about this body.
        """
        name = canonical(body)
        if name not in self.cells:
            raise SceneError(
                f"nothing is known of the body '{body}' here.{did_you_mean(body, self.cells)}"
                f" There are {', '.join(self.cells)}."
            )
        cells = self.cells[name]
        if (cell := cells.get((a, b))) is not None:
            return Passage(a, b, cell.traversable, cell.note, self.source)
        if (cell := cells.get((b, a))) is not None:
            return Passage(a, b, cell.traversable, cell.note, "reversed")
        return Passage(a, b, None, "", "unlabelled")

    def passages(self, body: str) -> Iterator[Passage]:
        """Every passage in both directions."""
        for a, b in self.edges:
            yield self.passage(body, a, b)
            yield self.passage(body, b, a)

    def detail(self, body: str, end: Literal["start", "end"], node: str) -> Cell | None:
        """What was said of reaching a question's place within a node."""
        return self.details.get(canonical(body), {}).get((end, node))


_FILE = TypeAdapter(dict[str, dict[str, Cell] | list[Annotated[str, Field(max_length=4_000)]]])


def annotated(folder: Path, scene: Scene) -> Traversability:
    """The annotations of a benchmark scene.

    Args:
        folder: holds ``traverse/``, or the files themselves.
        scene: as :mod:`navloom.scenes.formats.capnav` loads it; nodes are its viewpoints.

    Raises:
        SceneError: the file is missing or broken, or speaks of a node that is not there.
    """
    path = find_in(folder, "traverse", f"{checked_id(scene.id, what='capnav')}{_ENDING}")
    data = read_json(path, _FILE, most=_MOST_CELLS_BYTES)
    nodes = tuple(viewpoint.id for viewpoint in scene.viewpoints)
    cells: dict[str, dict[Pair, Cell]] = {}
    details: dict[str, dict[tuple[str, str], Cell]] = {}
    hallucinated: tuple[str, ...] = ()
    for body, said in data.items():
        if isinstance(said, list):
            hallucinated += tuple(said) if body == _HALLUCINATED else ()
            continue
        key = canonical(body)
        cells[key], details[key] = _cells(said, set(nodes), f"{path}: {short(body)}")
    if not cells:
        raise SceneError(f"{path}: expected cells for at least one body, found none.")
    return Traversability(
        nodes,
        tuple((edge.a, edge.b) for edge in scene.edges),
        {v.id: scene.region_by_id[str(v.region)].label for v in scene.viewpoints},
        cells,
        details,
        hallucinated,
    )


def _cells(
    said: Mapping[str, Cell], nodes: set[str], where: str
) -> tuple[dict[Pair, Cell], dict[tuple[str, str], Cell]]:
    cells: dict[Pair, Cell] = {}
    details: dict[tuple[str, str], Cell] = {}
    for key, cell in said.items():
        first, bar, second = key.partition("|")
        kind, colon, node = key.partition(":")
        if bar and first in nodes and second in nodes:
            cells[first, second] = cell
        elif colon and kind in _DETAILS and node in nodes:
            details[_DETAILS[kind], node] = cell
        else:
            raise SceneError(
                f"{where}: expected node_a|node_b, startDetail:node or endDetail:node with nodes of"
                f" the graph, found {short(key)}."
            )
    return cells, details


def from_geometry(scene: Scene, bodies: tuple[Embodiment, ...] | None = None) -> Traversability:
    """What a scene's links say about bodies: doors, stairs, elevators, rises and clear widths.

    Nodes are region ids. A link that says nothing of its width or rise is taken to be passable in
    that respect, which is said in the note of no cell: it is an assumption of the whole table.

    Args:
        scene: any scene.
        bodies: whose; the five of the benchmark unless given.
    """
    bodies = builtin_bodies() if bodies is None else bodies
    cells: dict[str, dict[Pair, Cell]] = {canonical(body.name): {} for body in bodies}
    edges = tuple(dict.fromkeys((link.a, link.b) for link in scene.links))
    for body in bodies:
        mine = cells[canonical(body.name)]
        for link in scene.links:
            faults = _faults(link, body)
            known = mine.get((link.a, link.b))
            if known is None or (faults == [] and not known.traversable):
                mine[link.a, link.b] = Cell(traversable=not faults, note="; ".join(faults))
    return Traversability(
        tuple(region.id for region in scene.regions),
        edges,
        {region.id: region.id for region in scene.regions},
        cells,
        source="geometry",
    )


def _faults(link: Link, body: Embodiment) -> list[str]:
    """Every reason why a body cannot use a link."""
    faults: list[str] = []
    if link.kind == "stairs" and not body.stairs:
        faults.append("cannot go up or down stairs")
    if link.kind == "elevator" and not body.elevator:
        faults.append("cannot operate the elevator")
    if link.door == "locked":
        faults.append("the door is locked")
    elif link.door in ("ajar", "closed") and not body.doors:
        faults.append("cannot open the door")
    if link.width is not None and link.width + _EPS < body.width:
        faults.append(f"too narrow: {link.width:.2f} m for a body of {body.width:.2f} m")
    if link.height is not None and link.height + _EPS < body.height:
        faults.append(f"too low: {link.height:.2f} m for a body of {body.height:.2f} m")
    if link.threshold is not None and link.threshold > body.max_step + _EPS:
        faults.append(f"a sill of {link.threshold:.3f} m, and it crosses {body.max_step:.3f} m")
    if (
        link.kind not in ("stairs", "elevator", "ramp")
        and link.step is not None
        and abs(link.step) > body.max_step + _EPS
    ):
        faults.append(f"a rise of {abs(link.step):.2f} m, and it crosses {body.max_step:.2f} m")
    return faults
