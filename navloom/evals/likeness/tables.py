"""Two sets of homes as tables, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table

from navloom.evals.likeness.home_figures import SPREADS, HomeFigures
from navloom.evals.likeness.two_sets import Line, log_odds, type_mix
from navloom.evals.report.document import NOTHING

QUANTILES = (0, 5, 25, 50, 75, 95, 100)
_MOST_PAIRS = 400


def figure_table(lines: Sequence[Line], first: str, second: str) -> Table:
    """Every figure: both sets' medians or shares, how far apart, and whether that holds."""
    grid = Table("figure", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading in (first, second, "compared by", "value", "bound", ""):
        grid.add_column(heading, justify="left" if heading in ("compared by", "") else "right")
    for line in lines:
        holds = {None: NOTHING, True: "holds", False: "does not"}[line.holds]
        bounds = [f">= {line.least:.2f}"] if line.least is not None else []
        bounds += [f"<= {line.most:.2f}"] if line.most is not None else []
        shown = holds if bounds else ""
        cells = [_number(each) for each in (line.first, line.second)]
        value = _number(line.value)
        grid.add_row(line.figure, *cells, line.measure, value, ", ".join(bounds), shown)
    return grid


def type_table(
    homes: Sequence[HomeFigures], others: Sequence[HomeFigures], first: str, second: str
) -> Table:
    """The share of each room type in both sets, the most frequent of the second first."""
    grid = Table("room type", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading in (first, second):
        grid.add_column(heading, justify="right")
    mixes = type_mix(homes), type_mix(others)
    for kind in sorted({*mixes[0], *mixes[1]}, key=lambda k: (-mixes[1].get(k, 0.0), k)):
        grid.add_row(kind, *(f"{100 * mix.get(kind, 0.0):.1f} %" for mix in mixes))
    return grid


def likeness_record(
    lines: Sequence[Line], homes: Sequence[HomeFigures], others: Sequence[HomeFigures]
) -> dict[str, Any]:
    """The same for programs, with quantiles, and the things whose rooms differ most."""
    odds = log_odds(homes), log_odds(others)
    pairs = sorted(set(odds[0]) & set(odds[1]), key=lambda p: (-abs(odds[0][p] - odds[1][p]), p))
    return {
        "homes": [len(homes), len(others)],
        "figures": [
            {
                "figure": line.figure,
                "first": line.first,
                "second": line.second,
                "measure": line.measure,
                "value": line.value,
                "least": line.least,
                "most": line.most,
                "holds": line.holds if (line.least, line.most) != (None, None) else None,
            }
            for line in lines
        ],
        "percents": QUANTILES,
        "quantiles": {
            key: {"first": _quantiles(homes, key), "second": _quantiles(others, key)}
            for key in SPREADS
        },
        "room_types": {"first": type_mix(homes), "second": type_mix(others)},
        "log_odds": [
            {"thing": pair[0], "room": pair[1], "first": odds[0][pair], "second": odds[1][pair]}
            for pair in pairs[:_MOST_PAIRS]
        ],
    }


def _quantiles(homes: Sequence[HomeFigures], key: str) -> list[float]:
    values = [value for home in homes for value in home.spreads[key]]
    return [round(float(v), 4) for v in np.percentile(values, QUANTILES)] if values else []


def _number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"
