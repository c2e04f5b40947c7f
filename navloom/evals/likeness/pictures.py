"""Two sets of homes in one picture: each figure's distribution, rooms' types, things' rooms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from navloom.evals.likeness.two_sets import SPREADS, HomeFigures, Line, log_odds, type_mix
from navloom.scenes.bodies import body_names

_COLOURS = ("#0b62a8", "#e2a10c")
_ACROSS = 4
_TYPES_SHOWN = 14


def likeness_picture(
    lines: Sequence[Line],
    homes: Sequence[HomeFigures],
    others: Sequence[HomeFigures],
    names: tuple[str, str],
) -> Figure:
    """A panel for each figure; its title says the distance and, where there is one, the bound.

    Args:
        lines: what :func:`navloom.evals.likeness.two_sets.compare` found.
        homes: the first set.
        others: the second.
        names: what to call them.
    """
    figure = Figure(figsize=(13.5, 2.6 * -(-(len(SPREADS) + 3) // _ACROSS)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(-(-(len(SPREADS) + 3) // _ACROSS), _ACROSS, squeeze=False).flat)
    said = {line.figure: line for line in lines}
    for key, words in SPREADS.items():
        axes = panels.pop(0)
        for part, colour in zip((homes, others), _COLOURS, strict=True):
            values = np.sort([v for home in part for v in home.spreads[key]])
            if len(values):
                axes.step(values, np.arange(1, len(values) + 1) / len(values), colour, where="post")
        every = [v for home in (*homes, *others) for v in home.spreads[key]]
        if every:  # a single hall of 300 m² would leave no width for the others
            axes.set_xlim(min(every), max(np.percentile(every, 99), min(every) + 1e-6))
        _titled(axes, said[words])
    _types(panels.pop(0), homes, others)
    _things(panels.pop(0), homes, others, names)
    _titled(figure.axes[len(SPREADS)], said["mix of room types"])
    _titled(figure.axes[len(SPREADS) + 1], said["which thing is in which room (log odds)"])
    _bodies(panels.pop(0), said)
    for axes in panels:
        axes.set_axis_off()
    for colour, name in zip(_COLOURS, names, strict=True):
        figure.axes[0].plot([], [], color=colour, label=name)
    figure.axes[0].legend(fontsize=7)
    return figure


def _titled(axes: Axes, line: Line) -> None:
    title = line.figure
    if line.value is not None:
        bound = line.most if line.most is not None else line.least
        sign = "≤" if line.most is not None else "≥"
        title += f"\n{line.measure} {line.value:.2f} (bound {sign} {bound:.2f})"
    axes.set_title(title, fontsize=8, color="#000000" if line.holds is not False else "#b3261e")
    axes.tick_params(labelsize=7)


def _types(axes: Axes, homes: Sequence[HomeFigures], others: Sequence[HomeFigures]) -> None:
    mixes = type_mix(homes), type_mix(others)
    kinds = sorted({*mixes[0], *mixes[1]}, key=lambda k: -mixes[0].get(k, 0) - mixes[1].get(k, 0))
    kinds = kinds[:_TYPES_SHOWN]
    for mix, colour, off in zip(mixes, _COLOURS, (-0.2, 0.2), strict=True):
        heights = [mix.get(kind, 0.0) for kind in kinds]
        axes.barh(np.arange(len(kinds)) + off, heights, 0.4, color=colour)
    axes.set_yticks(range(len(kinds)), kinds, fontsize=6)
    axes.invert_yaxis()


def _things(
    axes: Axes, homes: Sequence[HomeFigures], others: Sequence[HomeFigures], names: tuple[str, str]
) -> None:
    odds = log_odds(homes), log_odds(others)
    pairs = sorted(set(odds[0]) & set(odds[1]))
    axes.plot([odds[0][p] for p in pairs], [odds[1][p] for p in pairs], ".", ms=2, color="#555555")
    axes.set_xlabel(names[0], fontsize=7)
    axes.set_ylabel(names[1], fontsize=7)


def _bodies(axes: Axes, said: dict[str, Line]) -> None:
    lines = [said[f"pairs of rooms that {name} can travel"] for name in body_names()]
    for which, colour, off in zip(("first", "second"), _COLOURS, (-0.2, 0.2), strict=True):
        shares = [getattr(line, which) or 0.0 for line in lines]
        axes.barh(np.arange(len(lines)) + off, shares, 0.4, color=colour)
    axes.set_yticks(range(len(lines)), body_names(), fontsize=6)
    axes.set_xlim(0, 1)
    axes.set_title("pairs of rooms that a body can travel", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
