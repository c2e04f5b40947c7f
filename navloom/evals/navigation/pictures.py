"""A navigation run as a picture: what went wrong, as bars."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES, Cause
from navloom.evals.navigation.failures import FailureTally, Tallies

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


def errors_picture(counted: Tallies) -> Figure | None:
    """Behaviours as bars, coloured by cause: failures above, successes below.

    Returns:
        None where there is no episode at all.
    """
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
