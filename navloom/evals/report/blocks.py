"""What a page shows, as plain values: text, facts, tables, bars, points, maps, steps, calls.

A kind of run says in blocks what is to be seen of a sample (`navloom.evals.kinds.Kind.detail`)
and of a run (`Kind.tables`); a page draws them, each block by the name of its class, and nothing in
a page knows what kind of run it shows. :func:`record_of` is what a page is given.

Whatever a model, a person or a dataset said is text in a block, never markup. A block with
``private`` shows what a scene's licence keeps (its plan, captions, pictures, prompts with them): a
page that is given away leaves it out where the scene is one of those.

Addresses: ``to`` of a link, a row or a segment is an address within the run: ``sample/ID``,
``sample/ID?step=3`` or ``samples?filter=cause:region``; empty where nothing is behind it. Within a
comparison of two runs it is ``pair/ID``, and ``a/...`` and ``b/...`` within one of both; within a
report of several runs ``run/NAME/...`` leads into one of them.

A :class:`Column` is what a line of a run is in a table of samples, and a :class:`Pairing` what
makes two runs' lines a pair. What every line has (id, scene, status, reason, tokens, $, seconds) is
added by whoever shows the table.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from navloom.evals.report.document import NOTHING, Table, number, percent

Spot = tuple[int, float, float]
"""(floor, x, z): a point of the ground plane in metres, on a floor."""
Timed = tuple[float, int, float, float]
"""(when, floor, x, z): the same with a time, in the map's unit."""
RobotStyle = Literal[
    "robot_1", "robot_2", "robot_3", "robot_4", "robot_5", "robot_6",
    "robot_7", "robot_8", "robot_9", "robot_10", "robot_11", "robot_12",
]  # fmt: skip
RouteStyle = Literal["walk", "true", "other", RobotStyle, "cut", "unknown"]
MoverStyle = Literal["walk", "other", RobotStyle, "object"]
Tone = Literal["plain", "good", "bad", "quiet"]
"""How a thing is meant, said by a word or a sign too, never by its colour alone."""


def to_sample(name: object) -> str:
    """The address of a sample, by its id."""
    return f"sample/{quote(str(name), safe='')}"


def to_samples(**values: object) -> str:
    """The address of the samples that have some values in columns, by the columns' names."""
    words = " ".join(f'{name}:"{str(each).replace(chr(34), "")}"' for name, each in values.items())
    return f"samples?filter={quote(words, safe='')}"


def in_run(name: str, to: str) -> str:
    """The same address from a report of several runs, by the run's name; of one run as it is."""
    return f"run/{quote(name, safe='')}/{to}" if name and to else to


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What blocks share.

    Attributes:
        title: a heading; may be empty.
        note: how to read it; may be empty.
        private: whether it shows what a scene's licence keeps.
        folded: on a page, what stands on the lid that hides it; empty where it is open.
    """

    title: str = ""
    note: str = ""
    private: bool = False
    folded: str = ""


@dataclass(frozen=True, kw_only=True)
class Prose(Shared):
    """Words as they were said; lines and spaces are kept where ``exact``."""

    text: str
    tone: Tone = "plain"
    exact: bool = False


@dataclass(frozen=True)
class Fact:
    """A name and what it is, such as SPL and 0.52."""

    name: str
    value: str
    tone: Tone = "plain"
    note: str = ""
    to: str = ""


@dataclass(frozen=True, kw_only=True)
class Facts(Shared):
    """Names and values, side by side: scores, tags with their evidence, numbers."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Grid(Shared):
    """A table; ``to`` is where each row leads (as many as rows, or none)."""

    table: Table
    to: tuple[str, ...] = ()


@dataclass(frozen=True)
class Segment:
    """A part of a bar."""

    name: str
    count: float
    to: str = ""


@dataclass(frozen=True, kw_only=True)
class Bars(Shared):
    """Bars of segments on one scale, such as behaviours by cause; colours go by segments' names."""

    bars: tuple[tuple[str, tuple[Segment, ...]], ...]
    unit: str = ""


@dataclass(frozen=True)
class Dot:
    """A point of a scatter; ``name`` is said of it."""

    x: float
    y: float
    name: str
    to: str = ""


@dataclass(frozen=True, kw_only=True)
class Scatter(Shared):
    """Points, with the line on which both are equal where ``diagonal``."""

    x: str
    y: str
    dots: tuple[Dot, ...]
    diagonal: bool = False


@dataclass(frozen=True, kw_only=True)
class Picture(Shared):
    """A picture: an image file of our own (JPEG or PNG), and what it shows in words."""

    data: bytes
    alt: str


@dataclass(frozen=True)
class MapRoute:
    """A way that stands on a map.

    Attributes:
        name: in the legend.
        style: ``walk`` solid, ``true`` dashed (the right way), ``other`` thin (a second run's),
            ``robot_1`` and ``robot_2`` as CoNavBench draws them and others of a team by its number,
            ``cut`` for what is closed, ``unknown`` for what nobody labelled.
        points: where it goes.
        carried_from: index of the point from which the object is carried; None: never.
    """

    name: str
    style: RouteStyle
    points: tuple[Spot, ...]
    carried_from: int | None = None


@dataclass(frozen=True)
class MapMark:
    """A point that matters.

    Attributes:
        kind: a :data:`navloom.scenes.plan_look.MarkKind`.
        at: where.
        label: what is written beside it.
        radius: metres of a circle around it, such as the 3 m of success; 0: none.
        to: where it leads.
    """

    kind: str
    at: Spot
    label: str = ""
    radius: float = 0.0
    to: str = ""


@dataclass(frozen=True)
class MapOption:
    """A way on that was open at a step; ``chosen`` is filled, ``right`` is where truth goes."""

    number: str
    at: Spot
    chosen: bool = False
    right: bool = False


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One view of a strip: ``name`` such as Left, Front, Right, Back.

    Attributes:
        name: which.
        words: what is there, where there is no picture.
        data: a JPEG; empty: none.
        markers: (u, v, number, chosen), u from the left and v from the top, 0 to 1.
        to_next: whether the next viewpoint is in this view.
    """

    name: str
    words: str = ""
    data: bytes = b""
    markers: tuple[tuple[float, float, str, bool], ...] = ()
    to_next: bool = False


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What is so from ``at`` on, until the next frame: a step of an episode, an event of a relay.

    Attributes:
        at: when, in the map's unit; steps count from 0.
        title: in a few words.
        options: what was open.
        heading: radians, where the body looked; 0 is -z, pi/2 is +x; None: unknown.
        strip: what was seen.
        blocks: what is shown of it beside the map.
        tone: ``bad`` where it went wrong here.
    """

    at: float
    title: str
    options: tuple[MapOption, ...] = ()
    heading: float | None = None
    strip: tuple[Seen, ...] = ()
    blocks: tuple[Any, ...] = ()
    tone: Tone = "plain"


@dataclass(frozen=True)
class Track:
    """Who is where, when: moved evenly from point to point. ``style`` as a route's, or object."""

    name: str
    style: MoverStyle
    points: tuple[Timed, ...]


@dataclass(frozen=True, kw_only=True)
class Span:
    """Something that lasts, on a lane: from, to, what."""

    start: float
    end: float
    words: str
    kind: Literal["move", "carry", "wait", "idle"] = "move"


@dataclass(frozen=True)
class Lane:
    """A robot's time, or an object's."""

    name: str
    style: MoverStyle
    spans: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class SceneMap(Shared):
    """A scene from above with what happens in it, to be played where it has tracks or frames.

    Attributes:
        scene: the scene's URI; its plan is drawn once for all maps of it.
        routes: ways that stand on it.
        marks: points that stand on it.
        tracks: what moves.
        frames: what is so when, in order.
        lanes: the same time as lanes.
        unit: of time: steps are played one by one, seconds as they pass.
    """

    scene: str
    routes: tuple[MapRoute, ...] = ()
    marks: tuple[MapMark, ...] = ()
    tracks: tuple[Track, ...] = ()
    frames: tuple[Frame, ...] = ()
    lanes: tuple[Lane, ...] = ()
    unit: Literal["step", "s"] = "step"
    private: bool = True


@dataclass(frozen=True)
class Said:
    """One message of a transcript: who, what; ``tone`` bad for a fault."""

    who: str
    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, kw_only=True)
class Transcript(Shared):
    """Messages in their order."""

    said: tuple[Said, ...]


@dataclass(frozen=True, kw_only=True)
class Columns(Shared):
    """Blocks side by side, one under the other where the screen is narrow."""

    columns: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Variants(Shared):
    """One of several to be seen at a time, such as planned, driven and the optimum: (name, it)."""

    variants: tuple[tuple[str, tuple[Any, ...]], ...]


Block = Prose | Facts | Grid | Bars | Scatter | Picture | SceneMap | Transcript | Columns | Variants


@dataclass(frozen=True, kw_only=True)
class Detail:
    """What is seen of one sample: ``blocks`` stand under its title and headline."""

    title: str
    headline: str = ""
    blocks: tuple[Block, ...] = field(default=())


_PLAIN = frozenset({str, int, float, bool, type(None)})
_BLOCKS: tuple[type, ...] = (
    *(Prose, Facts, Grid, Bars, Scatter, Picture, SceneMap, Transcript, Columns, Variants),
)


@cache
def _shape(kind: type) -> tuple[str, tuple[tuple[str, Any], ...]] | None:
    """Of a dataclass: its name where it is a block, its fields and their defaults."""
    if not is_dataclass(kind):
        return None
    # A table without a note has one, which is empty.
    always = issubclass(kind, Table)
    named = ((each.name, MISSING if always else each.default) for each in fields(kind))
    name = kind.__name__ if issubclass(kind, _BLOCKS) else ""
    return name, tuple(each for each in named if not (always and each[0] == "record"))


def record_of(value: Any) -> Any:
    """A block, or anything made of them, as JSON.

    Blocks say their class as ``block``; what is as it is by default is left out; bytes are data
    URIs of a JPEG or PNG. Keys and order are those of the classes above.
    """
    kind = value.__class__
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [each if each.__class__ in _PLAIN else record_of(each) for each in value]
    shape = _shape(kind)
    if shape is not None:
        block, known = shape
        named: dict[str, Any] = {"block": block} if block else {}
        for name, default in known:
            held = getattr(value, name)
            if held != default:
                named[name] = held if held.__class__ in _PLAIN else record_of(held)
        return named
    if isinstance(value, bytes):
        image = "png" if value.startswith(b"\x89PNG") else "jpeg"
        return f"data:image/{image};base64,{base64.b64encode(value).decode()}" if value else ""
    if isinstance(value, Mapping):
        return {str(key): record_of(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [record_of(each) for each in value]
    return value


Line = Mapping[str, Any]
"""A line of ``samples.jsonl`` or ``errors.jsonl``: anyone may have written it."""
Cell = str | float | int | bool | None | list[str]
"""A value of a column; None where a line has none; a list of words where it has several tags."""


@dataclass(frozen=True)
class Column:
    """A column of the table of samples.

    Attributes:
        name: its heading, one word as one types it in a filter: ``SPL``, ``cause``.
        of: what a line has there; whatever it raises of the kind that a line of another form
            makes code raise counts as nothing.
        form: how it is read: ``share`` is 0 to 1, ``metres``, ``seconds``, ``dollars``, ``count``,
            ``number``, ``text``, ``tags``.
        facet: whether its values are counted beside the table, to filter by.
        shown: whether it is seen before anybody chooses columns.
        help: what it is.
        better: which way is better, for the numbers that have one.
    """

    name: str
    of: Callable[[Line], Cell]
    form: Literal["text", "tags", "count", "number", "share", "metres", "seconds", "dollars"]
    facet: bool = False
    shown: bool = True
    help: str = ""
    better: Literal["more", "less"] | None = None


_UNITS = {"share": "%", "metres": "m", "seconds": "s", "dollars": "$", "count": "how many"}


def meaning_of(column: Column) -> tuple[str, str, str]:
    """A score's name, its unit, and what it is."""
    better = f" {column.better.capitalize()} is better." if column.better else ""
    return column.name, _UNITS.get(column.form, ""), f"{column.help.rstrip('.')}.{better}"


def meanings(rows: Iterable[tuple[str, str, str]]) -> Grid:
    """What scores mean, folded: (name, unit, what it is) each."""
    words = "What these scores mean"
    return Grid(Table("", "", ("score", "unit", "what it is"), tuple(rows), folded=words))


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """How the samples of two runs are held against each other.

    Attributes:
        identity: what must be equal in two lines of one id, for them to be one thing: JSON.
        scores: the numbers of a line, by name; a line lacks some.
        what: what a sample is, such as "an episode".
        less: names of which less is better.
        neither: names that have no good side.
        effort: names of what it took; less of it is no merit of a run that succeeds less.
        counted: names that are 0 or 1, for McNemar's test.
        cluster: what the bootstrap draws whole, such as an episode's path; None: lines one by one.
        cluster_name: what such a whole is called, such as "path".
        order: names of scores as tables have them; others come after.
        drawn: names of scores that are drawn as a dot a pair.
        said: a score's name, its value and the sign of a difference (``+`` or nothing) -> as text;
            None: what is counted as shares, other numbers as they are.
        holds: what a line needs for all this, such as "episode and scores".
        beside: two runs' folders and their lines of one id -> what is looked at of the pair; None:
            both details side by side.
    """

    identity: Callable[[Line], Any]
    scores: Callable[[Line], Mapping[str, float | None]]
    what: str = "a sample"
    less: frozenset[str] = field(default_factory=frozenset)
    neither: frozenset[str] = field(default_factory=frozenset)
    effort: frozenset[str] = field(default_factory=frozenset)
    counted: frozenset[str] = field(default_factory=frozenset)
    cluster: Callable[[Line], Any] | None = None
    cluster_name: str = "sample"
    order: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    said: Callable[[str, float | None, str], str] | None = None
    holds: str = "scores"
    beside: Callable[[Path, Line, Path, Line], Detail] | None = None

    @property
    def noun(self) -> str:
        """What a sample is, without its article."""
        return self.what.partition(" ")[2] or self.what

    def spoken(self, name: str, value: float | None, sign: str = "") -> str:
        """A score as every table has it.

        Args:
            name: of the score.
            value: None where there is none.
            sign: ``+`` for a difference, which of shares is in percentage points.
        """
        if self.said is not None:
            return self.said(name, value, sign)
        if value is None:
            return NOTHING
        if name in self.counted:
            return f"{100 * value:+.1f}" if sign else percent(value)
        return number(value, sign)
