"""Pictures of navigation runs: what went wrong as bars, and one episode on its scene's plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from navloom.errors import SceneError
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES, Cause
from navloom.evals.navigation.failures import Analysis, FailureTally, tally_tags
from navloom.scenes.plan import draw_into
from navloom.scenes.plan_lines import Route
from navloom.scenes.scene import Point3, Scene

CAUSE_COLOURS: dict[Cause, str] = {
    "premature_stop": "#8c3b2f",
    "late_stop": "#d98a6c",
    "mismatch": "#6b6f1d",
    "failed_exit": "#14787d",
    "early_turn": "#7a5ba6",
    "ambiguous": "#e8d29a",
    "vertical": "#0b62a8",
    "region": "#e2a10c",
    "direction": "#35a46b",
    "object": "#c25b9a",
    "unknown": "#b9c0c7",
    "none": "#e7eaed",
}
_DARK = frozenset(
    {"premature_stop", "mismatch", "failed_exit", "early_turn", "vertical", "direction", "object"}
)
_BAR = 0.36
"""Inches a bar takes."""
_SMALLEST_LABEL = 0.035
"""A segment narrower than this part of the axis gets no number."""


def errors_picture(tagged: Iterable[Analysis]) -> Figure | None:
    """Behaviours as bars, coloured by cause: failures above, successes below.

    Returns:
        None where there is no episode at all.
    """
    every = list(tagged)
    parts = [
        (words, tally)
        for success, words in ((False, "failed"), (True, "succeeded"))
        if (tally := tally_tags(every, success=success)).episodes
    ]
    if not parts:
        return None
    bars = [sum(bool(tally.of(kind)) for kind in BEHAVIOURS) for _, tally in parts]
    height = 0.75 + sum(_BAR * count + 0.75 for count in bars)
    figure = Figure(figsize=(8.6, height), layout="constrained", dpi=130)
    panels = figure.subplots(len(parts), 1, squeeze=False, height_ratios=[n + 0.6 for n in bars])
    most = max(tally.of(kind) for _, tally in parts for kind in BEHAVIOURS)
    for axes, (words, tally) in zip(panels[:, 0], parts, strict=True):
        _bars(axes, tally, most)
        title = f"{tally.episodes} of {len(every)} episodes {words}"
        axes.set_title(title, fontsize=9.5, loc="left", weight="bold")
    used = [cause for cause in CAUSES if any(tally.by(cause) for _, tally in parts)]
    handles = [
        Patch(
            facecolor=CAUSE_COLOURS[cause],
            edgecolor="#8a8a8a",
            lw=0.4,
            label=cause.replace("_", " "),
        )
        for cause in used
    ]
    figure.legend(
        handles=handles, title="cause", loc="outside lower center", ncol=min(len(used), 6),
        frameon=False, fontsize=8, title_fontsize=8,
    )  # fmt: skip
    return figure


def _bars(axes: Axes, tally: FailureTally, most: int) -> None:
    """One bar a behaviour; all panels share the scale, on which ``most`` is the longest bar."""
    shown = [kind for kind in BEHAVIOURS if tally.of(kind)]
    for row, kind in enumerate(shown):
        left = 0
        for cause in CAUSES:
            count = tally.first[kind, cause]
            if not count:
                continue
            colour = CAUSE_COLOURS[cause]
            axes.barh(row, count, left=left, height=0.68, color=colour, ec="white", lw=0.8)
            if count / most >= _SMALLEST_LABEL:
                ink = "white" if cause in _DARK else "#333333"
                axes.text(left + count / 2, row, str(count), ha="center", va="center",
                          fontsize=7.5, color=ink)  # fmt: skip
            left += count
        words = f"{left}  ({left / tally.episodes:.0%})"
        axes.text(left + most * 0.012, row, words, va="center", fontsize=8, color="#333333")
    axes.set_yticks(range(len(shown)), [kind.replace("_", " ") for kind in shown], fontsize=8.5)
    axes.set_xlim(0, most * 1.14)
    axes.set_ylim(len(shown) - 0.45, -0.55)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[["top", "right", "bottom"]].set_visible(False)


@dataclass(frozen=True)
class EpisodeDrawing:
    """What is drawn of an episode; viewpoints that the scene lacks are left out.

    Attributes:
        trajectory: where the agent stood.
        reference: how it should have gone.
        goals: viewpoints that count as the goal.
        deviation: where it first did otherwise; None where it never did.
    """

    trajectory: Sequence[str]
    reference: Sequence[str] = ()
    goals: Sequence[str] = ()
    deviation: str | None = None


class _Look(NamedTuple):
    marker: str
    size: float
    face: str
    says: str


_Sign = Literal["start", "goal", "end", "deviation"]
# The larger ones lie below, so that several at one place are all seen.
_SIGNS: dict[_Sign, _Look] = {
    "goal": _Look("*", 19, "#ffd21f", "goal"),
    "end": _Look("s", 14, "#0b62a8", "the agent's end"),
    "start": _Look("o", 11, "#ffffff", "start"),
    "deviation": _Look("X", 8, "#d6303a", "first deviation"),
}
_AGENT, _TRUTH = "robot_1", "robot_2"
"""The plan's own two lines, solid blue and dashed orange, which colour-blind readers tell apart."""
_WIDTH, _WIDTH_FLOORS = 6.6, 8.6
"""Inches of the figure for one floor and for several."""
_ABOVE, _BELOW = 0.35, 0.5
"""Inches above a plan's rooms, for the floors' names, and below them, for the scale."""
_CONTEXT = 3.0
"""Metres around an episode that are shown, in a scene without walls."""
_KEY = 0.3
"""Inches below the plan for what lines and signs mean."""


def draw_episode(scene: Scene, drawing: EpisodeDrawing) -> Figure:
    """Draw an episode on the floors it uses.

    Scenes without walls or outlines (R2R's graphs) show their navigation graph as well.

    Args:
        scene: the episode's scene.
        drawing: what to draw.

    Raises:
        SceneError: the scene has none of its viewpoints.
    """
    routes = [
        Route(points, robot)
        for names, robot in ((drawing.reference, _TRUTH), (drawing.trajectory, _AGENT))
        if len(points := _spots(scene, names)) > 1
    ]
    marked: tuple[tuple[_Sign, Sequence[str]], ...] = (
        ("goal", drawing.goals),
        ("end", drawing.trajectory[-1:]),
        ("start", drawing.trajectory[:1] or drawing.reference[:1]),
        ("deviation", (drawing.deviation,) if drawing.deviation is not None else ()),
    )
    signs = [(kind, *spot) for kind, names in marked for spot in _spots(scene, names)]
    floors = {at for route in routes for at, _, _ in route.points} | {at for _, at, _, _ in signs}
    if not floors:
        raise SceneError(f"{scene.uri} has none of the episode's viewpoints")
    if not scene.walls:
        scene = _part(
            scene, [*(s for route in routes for s in route.points), *(s[1:] for s in signs)]
        )
    width = _WIDTH if len(floors) == 1 else _WIDTH_FLOORS
    figure = _plan(scene, routes, floors, (width, 7.0))
    _cut(figure)
    for axes, floor in zip(figure.axes, sorted(floors), strict=True):
        if not scene.walls:
            _draw_graph(axes, scene, floor)
        _draw_signs(axes, [sign for sign in signs if sign[1] == floor])
    _key(figure, routes, signs)
    return figure


def _part(scene: Scene, spots: Sequence[tuple[int, float, float]]) -> Scene:
    """What is around some places, on any floor: real buildings are too large for one plan."""
    xs, zs = [x for _, x, _ in spots], [z for _, _, z in spots]
    low, high = (min(xs) - _CONTEXT, min(zs) - _CONTEXT), (max(xs) + _CONTEXT, max(zs) + _CONTEXT)

    def near(point: Point3) -> bool:
        return low[0] <= point[0] <= high[0] and low[1] <= point[2] <= high[1]

    viewpoints = {v.id: v for v in scene.viewpoints if near(v.position)}
    stood = {v.region for v in viewpoints.values()}
    kept = {r.id for r in scene.regions if r.id in stood}
    return scene.replace(
        regions=tuple(r for r in scene.regions if r.id in kept) or scene.regions,
        links=tuple(link for link in scene.links if {link.a, link.b} <= kept),
        items=(),
        viewpoints=tuple(viewpoints.values()),
        edges=tuple(e for e in scene.edges if {e.a, e.b} <= viewpoints.keys()),
    )


def _plan(
    scene: Scene, routes: Sequence[Route], floors: set[int], size: tuple[float, float]
) -> Figure:
    figure = Figure(figsize=size, dpi=110)
    sized = any(item.size is not None for item in scene.items)
    room = (0.0, _KEY, size[0], size[1] - _KEY)
    draw_into(figure, room, scene, routes=routes, floors=floors, legend=False, items=sized)
    return figure


def _cut(figure: Figure) -> None:
    """Take the empty paper above and below the floors away; every length in inches stays."""
    old = figure.get_figheight()
    boxes = [axes.get_position() for axes in figure.axes]
    low, high = min(box.y0 for box in boxes) * old, max(box.y1 for box in boxes) * old
    new = high - low + _KEY + _BELOW + _ABOVE
    for axes, box in zip(figure.axes, boxes, strict=True):
        bottom = box.y0 * old - low + _KEY + _BELOW
        axes.set_position((box.x0, bottom / new, box.width, box.height * old / new))
    for text in figure.texts:
        text.set_y(text.get_position()[1] * old / new)
    for line in figure.findobj(Line2D, include_self=False):
        if line.axes is None:  # the scale's bar, which is measured from the paper's lower edge
            line.set_ydata(np.asarray(line.get_ydata(), dtype=np.float64) * old / new)
    figure.set_figheight(new)


def _spots(scene: Scene, names: Sequence[str]) -> tuple[tuple[int, float, float], ...]:
    known = [scene.viewpoint_by_id[name] for name in names if name in scene.viewpoint_by_id]
    return tuple((scene.floor_of(v), v.position[0], v.position[2]) for v in known)


_Placed = tuple[_Sign, int, float, float]
"""A sign, its floor, x and z."""


def _draw_graph(axes: Axes, scene: Scene, floor: int) -> None:
    here = {
        v.id: (v.position[0], -v.position[2])
        for v in scene.viewpoints
        if scene.floor_of(v) == floor
    }
    lines = [[here[e.a], here[e.b]] for e in scene.edges if e.a in here and e.b in here]
    axes.add_collection(
        LineCollection(lines, colors="#9aa3ad", linewidths=0.5, zorder=1.4), autolim=False
    )
    axes.plot([x for x, _ in here.values()], [y for _, y in here.values()], ".", ms=2.5,
              color="#7c858f", zorder=1.6)  # fmt: skip


def _draw_signs(axes: Axes, signs: Sequence[_Placed]) -> None:
    for kind, _, x, z in signs:
        look = _SIGNS[kind]
        axes.plot(x, -z, look.marker, ms=look.size, mfc=look.face, mec="black", mew=0.8, zorder=8,
                  path_effects=[withStroke(linewidth=2, foreground="white")])  # fmt: skip


def _key(figure: Figure, routes: Sequence[Route], signs: Sequence[_Placed]) -> None:
    lines = {_AGENT: ("#0b62a8", "-", "trajectory"), _TRUTH: ("#e2700c", "--", "ground truth")}
    handles = [
        Line2D([], [], color=colour, ls=style, lw=1.4, label=words)
        for robot, (colour, style, words) in lines.items()
        if any(route.robot == robot for route in routes)
    ]
    present = {kind for kind, _, _, _ in signs}
    handles += [_sample(look) for kind, look in _SIGNS.items() if kind in present]
    figure.legend(handles=handles, loc="lower center", ncol=len(handles), frameon=False,
                  fontsize=7, handlelength=2.0, columnspacing=1.1)  # fmt: skip


def _sample(look: _Look) -> Line2D:
    """A sign as the key shows it."""
    handle = Line2D([], [], ls="", marker=look.marker, ms=min(9.0, 0.8 * look.size))
    handle.set(markerfacecolor=look.face, markeredgecolor="black", markeredgewidth=0.7)
    handle.set_label(look.says)
    return handle
