"""Accuracy of room annotation, stage by stage, on homes with known regions.

The viewpoints' regions of each home are hidden and recovered by voting, consensus and contiguity
(CoNavBench 3.1.1). Accuracy is the share of all viewpoints with the correct region; a deleted
viewpoint counts as wrong. For the last stage a seeded share of the region types is hidden too, and
a model names them from the output of the first three stages. A type is correct if it is any type
that the region's own label fits. A region whose label fits no type (``other``) is neither hidden
nor counted.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel

from navloom.errors import UsageError
from navloom.evals.report.formatting import Table, percent
from navloom.graphs.annotation import room_typing
from navloom.graphs.invocation import run
from navloom.models.builtin import BuiltinChatModel
from navloom.models.model_call import model_name
from navloom.models.model_registry import resolve_model
from navloom.scenes.lexicon import room_types
from navloom.scenes.region_annotation import annotate_regions, apply_room_types, relabel_regions
from navloom.scenes.scene import UNKNOWN, Scene

COLUMNS = {
    "voting": "voting",
    "consensus": "consensus",
    "contiguity": "contiguity",
    "deleted": "deleted",
    "typing": "hidden types",
    "types_untyped": "types before",
    "types_typed": "types after",
}
"""Field of :class:`AnnotationScores` -> heading."""


@dataclass(frozen=True)
class CorrectCount:
    """A number of correct cases out of a total."""

    right: int
    of: int

    @property
    def value(self) -> float | None:
        """The share, 0 to 1; None for a total of 0."""
        return self.right / self.of if self.of else None

    def __str__(self) -> str:
        return percent(self.value)


@dataclass(frozen=True)
class AnnotationScores:
    """Annotation scores of one home.

    Attributes:
        scene: its URI.
        model: the model that named the hidden types; rule-based ones are marked as baselines.
        voting: viewpoints with the correct region after instance proximal voting.
        consensus: the same after neighbourhood consensus.
        contiguity: the same after contiguity restoration; deleted viewpoints are wrong.
        deleted: viewpoints that contiguity restoration deleted.
        typing: hidden regions that the model gave a fitting type.
        types_untyped: viewpoints whose region has a fitting type before typing (Unknown is wrong).
        types_typed: the same after typing.
    """

    scene: str
    model: str
    voting: CorrectCount
    consensus: CorrectCount
    contiguity: CorrectCount
    deleted: CorrectCount
    typing: CorrectCount
    types_untyped: CorrectCount
    types_typed: CorrectCount

    def to_json(self) -> dict[str, Any]:
        """Return every count as plain JSON."""
        return asdict(self)


def score_scenes(
    scenes: Iterable[Scene],
    model: BaseChatModel | str,
    *,
    seed: int = 0,
    hidden: float = 0.3,
    constrain: bool = True,
) -> list[AnnotationScores]:
    """Score annotation on homes whose viewpoints have known regions.

    Args:
        scenes: the homes.
        model: the model that names the hidden types.
        seed: determines the hidden region types and the draws of a random model.
        hidden: share of region types to hide in each home, rounded; at least one type if above 0.
        constrain: constrain the reply to the schema where the model's backend can.

    Returns:
        One row for each home, in the homes' order.

    Raises:
        UsageError: ``hidden`` is no share, or no home has a viewpoint with a region.
    """
    if not 0 <= hidden <= 1:
        raise UsageError(f"hidden is {hidden}, expected a share between 0 and 1")
    rows = [
        score_scene(scene, model, seed=seed, hidden=hidden, constrain=constrain)
        for scene in scenes
        if any(v.region is not None for v in scene.viewpoints)
    ]
    if not rows:
        raise UsageError("no scene has viewpoints whose region is known, so nothing can be scored")
    return rows


def score_scene(
    scene: Scene, model: BaseChatModel | str, *, seed: int, hidden: float, constrain: bool = True
) -> AnnotationScores:
    """Score annotation on one home; see :func:`score_scenes`."""
    truth = {v.id: v.region for v in scene.viewpoints if v.region is not None}
    fitting = {region.id: room_types(region.label) for region in scene.regions}
    done = annotate_regions(scene)
    masked, names = _hide_types(done.scene, fitting, seed, hidden)
    context = room_typing.Context(scene=masked, model=model, constrain=constrain)
    # A seed for each home: else a random model would draw the same for every Unknown_5.
    draw = random.Random(f"{seed}/{scene.uri}/draw").randrange(2**31)
    types = run(room_typing.graph, {"seed": draw}, context=context)["result"]["types"]
    right = sum(kind in fitting[names[r]] for r, kind in types.items() if r in names)

    def regions(labels: dict[str, str | None]) -> CorrectCount:
        return CorrectCount(sum(labels.get(v) == region for v, region in truth.items()), len(truth))

    def viewpoint_types(typed: Scene) -> CorrectCount:
        found = {v.id: v.region for v in typed.viewpoints}
        label = {r.id: r.label for r in typed.regions}
        known = {v: fitting[region] for v, region in truth.items() if fitting[region]}
        good = sum(
            bool(room_types(label.get(found.get(v) or "", "")) & fit) for v, fit in known.items()
        )
        return CorrectCount(good, len(known))

    chosen = resolve_model(model)
    baseline = " (a baseline)" if isinstance(chosen, BuiltinChatModel) else ""
    return AnnotationScores(
        scene=scene.uri,
        model=model_name(chosen) + baseline,
        voting=regions(done.voted),
        consensus=regions(done.agreed),
        contiguity=regions(done.restored),
        deleted=CorrectCount(sum(v in truth for v in done.deleted), len(truth)),
        typing=CorrectCount(right, len(names)),
        types_untyped=viewpoint_types(masked),
        types_typed=viewpoint_types(apply_room_types(masked, types)),
    )


def accuracy_table(rows: list[AnnotationScores]) -> Table:
    """Return the scores as a table with micro mean (pooled) and macro mean (over homes)."""
    models = ", ".join(dict.fromkeys(row.model for row in rows))
    cells = [
        (row.scene, str(row.voting.of), *(str(getattr(row, column)) for column in COLUMNS))
        for row in rows
    ]
    total = str(sum(row.voting.of for row in rows))
    cells.append(("all, micro", total, *(str(micro_average(rows, column)) for column in COLUMNS)))
    cells.append(("all, macro", "", *(percent(macro_average(rows, column)) for column in COLUMNS)))
    title = f"Annotation accuracy, hidden types named by {models}"
    return Table(title, "", ("scene", "viewpoints", *COLUMNS.values()), tuple(cells))


def micro_average(rows: list[AnnotationScores], column: str) -> CorrectCount:
    """Return the share pooled over all homes."""
    shares = [getattr(row, column) for row in rows]
    return CorrectCount(sum(s.right for s in shares), sum(s.of for s in shares))


def macro_average(rows: list[AnnotationScores], column: str) -> float | None:
    """Return the mean of the homes' shares; None if no home has a value."""
    values = [getattr(row, column).value for row in rows]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _hide_types(
    scene: Scene, fitting: dict[str, frozenset[str]], seed: int, hidden: float
) -> tuple[Scene, dict[str, str]]:
    """Return the scene with some types hidden, and the hidden regions' ids: after -> before."""
    eligible = [r.id for r in scene.regions if fitting[r.id] and r.label != UNKNOWN]
    count = min(len(eligible), max(1, round(hidden * len(eligible)))) if hidden else 0
    chosen = random.Random(f"{seed}/{scene.uri}").sample(eligible, count)
    masked = relabel_regions(scene, dict.fromkeys(chosen, UNKNOWN))
    pairs = zip(masked.regions, scene.regions, strict=True)
    return masked, {after.id: before.id for after, before in pairs if after.id != before.id}
