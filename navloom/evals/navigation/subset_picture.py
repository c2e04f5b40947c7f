"""A subset beside the whole, drawn: the shares of each axis, and how path length is spread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from navloom.errors import UsageError
from navloom.evals.navigation.subset import length_of
from navloom.evals.navigation.subset_table import Axis
from navloom.evals.tasks.episode import Episode

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_subset"]

_WHOLE, _PART = "#9aa5b1", "#1f6f8b"
_COLUMNS = 2
_MOST_VALUES = 40


def draw_subset(
    axes: Sequence[Axis],
    full: Sequence[Episode],
    part: Sequence[Episode],
    path: Path,
    *,
    title: str = "",
) -> Path:
    """Draw the comparison to a file.

    Args:
        axes: as :func:`navloom.evals.navigation.subset_table.axes_of` gives them.
        full: the whole split.
        part: the subset.
        path: the picture (.png, .svg, .pdf).
        title: above it.

    Raises:
        UsageError: it cannot be written, or its ending is no picture's.
    """
    from matplotlib.figure import Figure

    rows = -(-(len(axes) + 1) // _COLUMNS)
    figure = Figure(figsize=(11, 3.2 * rows), layout="constrained")
    places = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    _curve(places[0], full, part)
    for place, axis in zip(places[1:], axes, strict=False):
        _bars(place, axis)
    for place in places[len(axes) + 1 :]:
        place.set_visible(False)
    figure.suptitle(title)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot draw to {path}: {error}") from error
    return path


def _curve(place: Axes, full: Sequence[Episode], part: Sequence[Episode]) -> None:
    for episodes, colour, name in ((full, _WHOLE, "full"), (part, _PART, "subset")):
        place.ecdf(
            [length_of(episode) for episode in episodes],
            color=colour,
            label=f"{name} ({len(episodes)})",
        )
    place.set_xlabel("path length (m)")
    place.set_ylabel("share of episodes")
    place.legend(frameon=False)


def _bars(place: Axes, axis: Axis) -> None:
    shares = axis.shares[:_MOST_VALUES]
    at = range(len(shares))
    place.bar([x - 0.2 for x in at], [a for _, a, _ in shares], 0.4, color=_WHOLE)
    place.bar([x + 0.2 for x in at], [b for _, _, b in shares], 0.4, color=_PART)
    names = [name.removeprefix("mp3d:")[:20].replace("$", "") for name, _, _ in shares]
    place.set_xticks(list(at), names, rotation=45 if len(shares) > 4 else 0, ha="right" if
                     len(shares) > 4 else "center", fontsize=7)  # fmt: skip
    place.set_title(f"{axis.name}: total variation {axis.distance:.4f}", fontsize=9)
