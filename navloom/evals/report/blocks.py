"""Report blocks as plain values: text, facts, tables, charts, maps, transcripts.

A kind of run shows a sample (`navloom.evals.run_kinds.RunKind.detail`) and a run (`Kind.tables`)
as blocks. A page draws each block by the name of its class, whatever the kind of run.
:func:`block_to_json` makes the JSON that a page receives.
Modules that use many blocks import this one as ``ui``.

Text from a model, a person or a dataset is text in a block, never markup. A ``private`` block shows
content under a scene's licence (plan, captions, images, prompts that contain them). A page for
others omits it for scenes with such a licence.

Addresses: ``to`` of a link, a row or a segment is an address within the run: ``sample/ID``,
``sample/ID?step=3`` or ``samples?filter=cause:region``; empty for no link. In a comparison of two
runs it is ``pair/ID``, and ``a/...`` or ``b/...`` within one of the runs. In a report of several
runs, ``run/NAME/...`` leads into one of them.

A :class:`Column` is a column of the sample table, a :class:`Pairing` the rules for comparing two
runs. The table adds the columns common to all runs (id, scene, status, reason, tokens, $, seconds).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from navloom.evals.report.formatting import NOTHING, Table, format_number, percent

Spot = tuple[int, float, float]
"""(floor, x, z): a point of the ground plane in metres, on a floor."""
Timed = tuple[float, int, float, float]
"""(time, floor, x, z): a spot with a time in the map's unit."""
RobotStyle = Literal[
    "robot_1", "robot_2", "robot_3", "robot_4", "robot_5", "robot_6",
    "robot_7", "robot_8", "robot_9", "robot_10", "robot_11", "robot_12",
]  # fmt: skip
RouteStyle = Literal["walk", "true", "other", RobotStyle, "cut", "unknown"]
MoverStyle = Literal["walk", "other", RobotStyle, "object"]
Tone = Literal["plain", "good", "bad", "quiet"]
"""Valuation of an entry; shown by a word or sign too, never by colour alone."""


def sample_address(name: object) -> str:
    """Return the address of a sample."""
    return f"sample/{quote(str(name), safe='')}"


def samples_address(**values: object) -> str:
    """Return the address of the samples with the given values in columns, by column name."""
    words = " ".join(f'{name}:"{str(each).replace(chr(34), "")}"' for name, each in values.items())
    return f"samples?filter={quote(words, safe='')}"


def run_address(name: str, to: str) -> str:
    """Return an address from a report of several runs; unchanged without a run name."""
    return f"run/{quote(name, safe='')}/{to}" if name and to else to


@dataclass(frozen=True, kw_only=True)
class BlockBase:
    """Common fields of all blocks.

    Attributes:
        title: a heading; may be empty.
        note: how to read it; may be empty.
        private: whether it shows content under a scene's licence.
        folded: on a page, label of the control that unfolds it; empty: always open.
    """

    title: str = ""
    note: str = ""
    private: bool = False
    folded: str = ""


@dataclass(frozen=True, kw_only=True)
class Prose(BlockBase):
    """A block of text; ``exact`` keeps its line breaks and spaces."""

    text: str
    tone: Tone = "plain"
    exact: bool = False


@dataclass(frozen=True)
class Fact:
    """A name with its value, such as SPL and 0.52."""

    name: str
    value: str
    tone: Tone = "plain"
    note: str = ""
    to: str = ""


@dataclass(frozen=True, kw_only=True)
class Facts(BlockBase):
    """A block of names and values, side by side: scores, tags with evidence, numbers."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Grid(BlockBase):
    """A table block; ``to`` holds one address for each row, or is empty."""

    table: Table
    to: tuple[str, ...] = ()


@dataclass(frozen=True)
class Segment:
    """A segment of a bar."""

    name: str
    count: float
    to: str = ""


@dataclass(frozen=True, kw_only=True)
class Bars(BlockBase):
    """Stacked bars on one scale, such as behaviours by cause; a segment's name sets its colour."""

    bars: tuple[tuple[str, tuple[Segment, ...]], ...]
    unit: str = ""


@dataclass(frozen=True)
class Dot:
    """A point of a scatter plot; ``name`` is its label."""

    x: float
    y: float
    name: str
    to: str = ""


@dataclass(frozen=True, kw_only=True)
class Scatter(BlockBase):
    """A scatter plot; ``diagonal`` draws the line on which both values are equal."""

    x: str
    y: str
    dots: tuple[Dot, ...]
    diagonal: bool = False


@dataclass(frozen=True, kw_only=True)
class Picture(BlockBase):
    """An image block: a JPEG or PNG made by Navloom, with its text alternative."""

    data: bytes
    alt: str


@dataclass(frozen=True)
class MapRoute:
    """A path on a map.

    Attributes:
        name: its name in the legend.
        style: ``walk`` solid, ``true`` dashed (ground truth), ``other`` thin (a second run),
            ``robot_1`` and ``robot_2`` as CoNavBench draws them, further robots by number,
            ``cut`` for blocked passages, ``unknown`` for unlabelled ones.
        points: its points.
        carried_from: index of the point from which the object is carried; None: never.
    """

    name: str
    style: RouteStyle
    points: tuple[Spot, ...]
    carried_from: int | None = None


@dataclass(frozen=True)
class MapMark:
    """A marked point on a map.

    Attributes:
        kind: a :data:`navloom.scenes.plan_style.MarkKind`.
        at: its position.
        label: text beside it.
        radius: radius in metres of a circle around it, such as the 3 m of success; 0: none.
        to: its address.
    """

    kind: str
    at: Spot
    label: str = ""
    radius: float = 0.0
    to: str = ""


@dataclass(frozen=True)
class MapOption:
    """A candidate at a step; ``chosen`` is filled, ``right`` is on the ground-truth path."""

    number: str
    at: Spot
    chosen: bool = False
    right: bool = False


@dataclass(frozen=True, kw_only=True)
class StripView:
    """One view of a panorama strip, such as Left, Front, Right or Back.

    Attributes:
        name: name of the view.
        words: caption, shown without an image.
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
class MapFrame:
    """State of a map from ``at`` until the next frame: an episode step or a relay event.

    Attributes:
        at: time in the map's unit; steps count from 0.
        title: a short title.
        options: the candidates.
        heading: heading in radians; 0 is -z, pi/2 is +x; None: unknown.
        strip: the views of the panorama.
        blocks: blocks beside the map.
        tone: ``bad`` where an error happened.
    """

    at: float
    title: str
    options: tuple[MapOption, ...] = ()
    heading: float | None = None
    strip: tuple[StripView, ...] = ()
    blocks: tuple[Any, ...] = ()
    tone: Tone = "plain"


@dataclass(frozen=True)
class Track:
    """Timed positions of a robot or object, interpolated linearly. ``style`` as of a route."""

    name: str
    style: MoverStyle
    points: tuple[Timed, ...]


@dataclass(frozen=True, kw_only=True)
class Span:
    """A time interval on a lane, with its label."""

    start: float
    end: float
    words: str
    kind: Literal["move", "carry", "wait", "idle"] = "move"


@dataclass(frozen=True)
class Lane:
    """Timeline of a robot or object."""

    name: str
    style: MoverStyle
    spans: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class SceneMap(BlockBase):
    """A scene from above with routes and marks; animated if it has tracks or frames.

    Attributes:
        scene: the scene's URI; its plan is drawn once for all maps of it.
        routes: static routes.
        marks: static marks.
        tracks: moving robots and objects.
        frames: states, in order of time.
        lanes: timelines of the same period.
        unit: unit of time: steps are played one by one, seconds in real time.
    """

    scene: str
    routes: tuple[MapRoute, ...] = ()
    marks: tuple[MapMark, ...] = ()
    tracks: tuple[Track, ...] = ()
    frames: tuple[MapFrame, ...] = ()
    lanes: tuple[Lane, ...] = ()
    unit: Literal["step", "s"] = "step"
    private: bool = True


@dataclass(frozen=True)
class Utterance:
    """One message of a transcript: speaker and text; tone ``bad`` for a fault."""

    who: str
    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, kw_only=True)
class Transcript(BlockBase):
    """A block of messages in order."""

    said: tuple[Utterance, ...]


@dataclass(frozen=True, kw_only=True)
class Columns(BlockBase):
    """Blocks side by side; one below the other on a narrow screen."""

    columns: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Variants(BlockBase):
    """Alternatives shown one at a time, such as planned, driven and optimal: (name, blocks)."""

    variants: tuple[tuple[str, tuple[Any, ...]], ...]


Block = Prose | Facts | Grid | Bars | Scatter | Picture | SceneMap | Transcript | Columns | Variants


@dataclass(frozen=True, kw_only=True)
class SampleDetail:
    """Page of one sample: title, headline and blocks."""

    title: str
    headline: str = ""
    blocks: tuple[Block, ...] = field(default=())


_PLAIN = frozenset({str, int, float, bool, type(None)})
_BLOCKS: tuple[type, ...] = (
    *(Prose, Facts, Grid, Bars, Scatter, Picture, SceneMap, Transcript, Columns, Variants),
)


@cache
def _shape(kind: type) -> tuple[str, tuple[tuple[str, Any], ...]] | None:
    """Return a dataclass's block name ("" if no block), and its fields with their defaults."""
    if not is_dataclass(kind):
        return None
    # The JSON of a table has all its keys, empty ones too.
    always = issubclass(kind, Table)
    named = ((each.name, MISSING if always else each.default) for each in fields(kind))
    name = kind.__name__ if issubclass(kind, _BLOCKS) else ""
    return name, tuple(each for each in named if not (always and each[0] == "record"))


def block_to_json(value: Any) -> Any:
    """Return a block, or any nesting of blocks, as JSON.

    The key ``block`` has the class name. Fields with default values are omitted. Bytes become data
    URIs of a JPEG or PNG. Keys and order are those of the classes above.
    """
    kind = value.__class__
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [each if each.__class__ in _PLAIN else block_to_json(each) for each in value]
    shape = _shape(kind)
    if shape is not None:
        block, known = shape
        named: dict[str, Any] = {"block": block} if block else {}
        for name, default in known:
            held = getattr(value, name)
            if held != default:
                named[name] = held if held.__class__ in _PLAIN else block_to_json(held)
        return named
    if isinstance(value, bytes):
        image = "png" if value.startswith(b"\x89PNG") else "jpeg"
        return f"data:image/{image};base64,{base64.b64encode(value).decode()}" if value else ""
    if isinstance(value, Mapping):
        return {str(key): block_to_json(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [block_to_json(each) for each in value]
    return value


Line = Mapping[str, Any]
"""A line of ``samples.jsonl`` or ``errors.jsonl``; untrusted."""
Cell = str | float | int | bool | None | list[str]
"""A value of a column; None for no value; a list for several tags."""


@dataclass(frozen=True)
class Column:
    """A column of the table of samples.

    Attributes:
        name: heading, one word as used in filters: ``SPL``, ``cause``.
        of: line -> its value; an exception caused by a malformed line counts as no value.
        form: type of the values: ``share`` is 0 to 1, ``metres``, ``seconds``, ``dollars``,
            ``count``, ``number``, ``text``, ``tags``.
        facet: whether its values are counted beside the table, as filters.
        shown: whether it is visible by default.
        help: explanation.
        better: direction of improvement, for numbers that have one.
    """

    name: str
    of: Callable[[Line], Cell]
    form: Literal["text", "tags", "count", "number", "share", "metres", "seconds", "dollars"]
    facet: bool = False
    shown: bool = True
    help: str = ""
    better: Literal["more", "less"] | None = None


_UNITS = {"share": "%", "metres": "m", "seconds": "s", "dollars": "$", "count": "how many"}


def column_meaning(column: Column) -> tuple[str, str, str]:
    """Return the name, unit and explanation of a score column."""
    better = f" {column.better.capitalize()} is better." if column.better else ""
    return column.name, _UNITS.get(column.form, ""), f"{column.help.rstrip('.')}.{better}"


def meanings_grid(rows: Iterable[tuple[str, str, str]]) -> Grid:
    """Make a folded table that explains scores from (name, unit, explanation) rows."""
    words = "What these scores mean"
    return Grid(Table("", "", ("score", "unit", "what it is"), tuple(rows), folded=words))


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """Rules for comparing the samples of two runs.

    Attributes:
        identity: line -> JSON that must be equal in both runs' lines of one id.
        scores: line -> its scores by name; some may be missing.
        what: name of a sample with article, such as "an episode".
        less: scores of which less is better.
        neither: scores without a better direction.
        effort: scores of effort; less effort is no merit of a run that succeeds less.
        counted: scores that are 0 or 1, for McNemar's test.
        cluster: line -> its cluster in the bootstrap, such as an episode's path; None: each line is
            a cluster.
        cluster_name: name of a cluster, such as "path".
        order: order of scores in tables; others come after.
        drawn: scores shown as a scatter plot of pairs.
        said: score name, value, sign of a difference (``+`` or nothing) -> text; None: ``counted``
            scores as percentages, others as numbers.
        holds: parts that a line needs, such as "episode and scores".
        beside: folders and lines of both runs -> page of the pair; None: both details side by side.
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
    beside: Callable[[Path, Line, Path, Line], SampleDetail] | None = None

    @property
    def noun(self) -> str:
        """The noun for a sample, without article."""
        return self.what.partition(" ")[2] or self.what

    def spoken(self, name: str, value: float | None, sign: str = "") -> str:
        """Format a score, or a difference, as text for all tables.

        Args:
            name: name of the score.
            value: None for no value.
            sign: ``+`` for a difference; differences of shares are in percentage points.
        """
        if self.said is not None:
            return self.said(name, value, sign)
        if value is None:
            return NOTHING
        if name in self.counted:
            return f"{100 * value:+.1f}" if sign else percent(value)
        return format_number(value, sign)
