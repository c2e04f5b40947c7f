"""Pictures of navigation runs: what went wrong as bars, and one episode on its scene's plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from navloom.errors import SceneError
from navloom.evals.navigation.episode_map import bumps_of
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES, Cause
from navloom.evals.navigation.failures import Analysis, FailureTally, tallies_of
from navloom.evals.report.maps import spot_of, spots_of
from navloom.scenes.plan import draw_plan
from navloom.scenes.plan_legend import legend_strip
from navloom.scenes.plan_lines import Mark, Route, Spot
from navloom.scenes.plan_look import MarkKind
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
    counted = tallies_of(tagged)
    parts = counted.parts
    if not parts:
        return None
    bars = [sum(bool(tally.of(kind)) for kind in BEHAVIOURS) for _, tally in parts]
    height = 0.75 + sum(_BAR * count + 0.75 for count in bars)
    figure = Figure(figsize=(8.6, height), layout="constrained", dpi=130)
    panels = figure.subplots(len(parts), 1, squeeze=False, height_ratios=[n + 0.6 for n in bars])
    most = max(tally.of(kind) for _, tally in parts for kind in BEHAVIOURS)
    for axes, (words, tally) in zip(panels[:, 0], parts, strict=True):
        _bars(axes, tally, most)
        title = f"{tally.episodes} of {counted.episodes} episodes {words}"
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
        points: the floor under the body at each place of the trajectory, where that is known.
        bumps: where it touched something, in metres.
    """

    trajectory: Sequence[str]
    reference: Sequence[str] = ()
    goals: Sequence[str] = ()
    deviation: str | None = None
    points: Sequence[Point3] | None = None
    bumps: Sequence[Point3] = ()


_WIDTH, _WIDTH_FLOORS = 5.0, 6.4
"""Inches of the figure for one floor and for several."""
_CONTEXT = 3.0
"""Metres that are shown around an episode where the scene is larger."""


def draw_episode(
    scene: Scene, drawing: EpisodeDrawing, *, title: str | None = None, legend: bool = True
) -> Figure:
    """Draw an episode on the floors it uses.

    Scenes without walls or outlines (R2R's graphs) show their navigation graph as well.

    Args:
        scene: the episode's scene.
        drawing: what to draw.
        title: one line above it.
        legend: say below what lines and marks mean; else :func:`episode_legend` does.

    Raises:
        SceneError: the scene has none of its viewpoints.
    """
    truth, walked = spots_of(scene, drawing.reference), _walked_spots(scene, drawing)
    named: tuple[tuple[MarkKind, Sequence[str]], ...] = (
        ("goal", drawing.goals),
        ("start", drawing.trajectory[:1] or drawing.reference[:1]),
        ("deviation", (drawing.deviation,) if drawing.deviation is not None else ()),
    )
    marks = [Mark("stop", *spot) for spot in walked[-1:]]
    marks += [Mark(kind, *spot) for kind, names in named for spot in spots_of(scene, names)]
    marks += [Mark("bump", *spot) for spot in bumps_of(scene, drawing.bumps)]
    routes = [r for r in (_truth(truth), _walked(walked)) if len(r.points) > 1]
    spots = [spot for route in routes for spot in route.points]
    spots += [(mark.floor, mark.x, mark.z) for mark in marks]
    floors = {at for at, _, _ in spots}
    if not floors:
        raise SceneError(f"{scene.uri} has none of the episode's viewpoints")
    return draw_plan(
        scene if scene.walls else _part(scene, spots),
        routes=routes,
        marks=marks,
        title=title,
        items=bool(scene.walls) and any(item.size is not None for item in scene.items),
        floors=floors,
        legend=legend,
        graph=not scene.walls,
        width=_WIDTH if len(floors) == 1 else _WIDTH_FLOORS,
    )


def episode_legend(*, bumps: bool = False) -> Figure:
    """What the lines and marks of all episodes mean; ``bumps``: with marks of contacts."""
    kinds: tuple[MarkKind, ...] = ("start", "goal", "stop", "deviation")
    kinds += ("bump",) if bumps else ()
    return legend_strip([_truth(()), _walked(())], [Mark(kind, 0, 0.0, 0.0) for kind in kinds])


def _truth(points: tuple[Spot, ...]) -> Route:
    return Route(points, "robot_2", label="ground truth")


def _walked(points: tuple[Spot, ...]) -> Route:
    # The plan's own two lines, solid blue and dashed orange, which colour-blind readers tell apart.
    return Route(points, "robot_1", label="trajectory, its steps numbered", numbered=True)


def _part(scene: Scene, spots: Sequence[tuple[int, float, float]]) -> Scene:
    """What is around some places, on any floor: real buildings are too large for one plan."""
    xs, zs = [x for _, x, _ in spots], [z for _, _, z in spots]
    low, high = (min(xs) - _CONTEXT, min(zs) - _CONTEXT), (max(xs) + _CONTEXT, max(zs) + _CONTEXT)

    def near(point: Point3, more: float = 0.0) -> bool:
        inside = low[0] - more <= point[0] <= high[0] + more
        return inside and low[1] - more <= point[2] <= high[1] + more

    stood = {v.region for v in scene.viewpoints if near(v.position)}
    # Rooms are drawn around their viewpoints: of one that is shown, all but its far ends.
    viewpoints = {
        v.id: v
        for v in scene.viewpoints
        if near(v.position, more=_CONTEXT if v.region in stood else 0.0)
    }
    kept = {r.id for r in scene.regions if r.id in stood}
    return scene.replace(
        regions=tuple(r for r in scene.regions if r.id in kept) or scene.regions,
        links=tuple(link for link in scene.links if {link.a, link.b} <= kept),
        openings=tuple(each for each in scene.openings if each.region in kept),
        stairs=tuple(flight for flight in scene.stairs if {flight.a, flight.b} <= kept),
        items=tuple(item for item in scene.items if item.region in kept),
        relations=(),
        viewpoints=tuple(viewpoints.values()),
        edges=tuple(e for e in scene.edges if {e.a, e.b} <= viewpoints.keys()),
    )


def _walked_spots(scene: Scene, drawing: EpisodeDrawing) -> tuple[Spot, ...]:
    """Where it stood: on its viewpoints, or beside them."""
    if drawing.points is None:
        return spots_of(scene, drawing.trajectory)
    return tuple(spot_of(scene, point) for point, _ in groupby(drawing.points))
