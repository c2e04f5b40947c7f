"""Charts that compare two sets of homes: distributions, room types, and items by room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from navloom.evals.report.block_chart import cumulative_scatter, paired_bars
from navloom.evals.report.blocks import Bars, Dot, Scatter
from navloom.scenes.bodies import body_names
from navloom_worlds.likeness.home_comparison import (
    SPREADS,
    FigureComparison,
    HomeFigures,
    log_odds,
    type_shares,
)

_TYPES_SHOWN = 14


def likeness_blocks(
    lines: Sequence[FigureComparison],
    homes: Sequence[HomeFigures],
    others: Sequence[HomeFigures],
    names: tuple[str, str],
) -> Iterator[Bars | Scatter]:
    """Yield a chart for each statistic, titled with its distance and its bound, if any.

    Args:
        lines: the result of :func:`navloom_worlds.likeness.home_comparison.compare_homes`.
        homes: the first set.
        others: the second.
        names: names of the sets.
    """
    said = {line.figure: line for line in lines}
    sets = dict(zip(names, (homes, others), strict=True))
    for key, words in SPREADS.items():
        values = {name: [v for h in part for v in h.spreads[key]] for name, part in sets.items()}
        every = [value for held in values.values() for value in held]
        # A single hall of 300 m² would compress all others.
        most = max(float(np.percentile(every, 99)), min(every)) if every else 0.0
        yield cumulative_scatter(_title(said[words]), "", "share", values, most)
    mixes = type_shares(homes), type_shares(others)
    kinds = sorted({*mixes[0], *mixes[1]}, key=lambda k: -sum(mix.get(k, 0.0) for mix in mixes))
    shares = [(k, mixes[0].get(k, 0.0), mixes[1].get(k, 0.0)) for k in kinds[:_TYPES_SHOWN]]
    yield paired_bars(_title(said["mix of room types"]), shares, names)
    odds = log_odds(homes), log_odds(others)
    dots = tuple(
        Dot(odds[0][pair], odds[1][pair], " in ".join(pair))
        for pair in sorted(set(odds[0]) & set(odds[1]))
    )
    title = _title(said["which thing is in which room (log odds)"])
    yield Scatter(title=title, x=names[0], y=names[1], dots=dots)
    bodies = ((name, said[f"pairs of rooms that {name} can travel"]) for name in body_names())
    held = ((name, line.first or 0.0, line.second or 0.0) for name, line in bodies)
    yield paired_bars("pairs of rooms that a body can travel", held, names)


def _title(line: FigureComparison) -> str:
    if line.value is None:
        return line.figure
    sign, bound = ("≤", line.most) if line.most is not None else ("≥", line.least)
    kept = "" if line.holds is not False else ", which it does not keep"
    return f"{line.figure}\n{line.measure} {line.value:.2f} (bound {sign} {bound:.2f}{kept})"
