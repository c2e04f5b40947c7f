"""Two runs of the same samples, side by side, whatever kind they are of.

Samples are paired by id, so that what differs between them cancels out. What they are and what they
score, the kind of both says (:class:`navloom.evals.report.line_columns.Pairing`); how differences
are reckoned, :mod:`navloom.evals.report.paired_scores` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from navloom.errors import RunError
from navloom.evals.kinds import kind_of
from navloom.evals.report.document import NOTHING, Table
from navloom.evals.report.intervals import LEVEL, RESAMPLES, By, columns_of
from navloom.evals.report.line_columns import Line, Pairing
from navloom.evals.report.paired_scores import (
    Discordant,
    Floats,
    Good,
    Paired,
    differences_of,
    discordant_of,
)
from navloom.evals.run_folder import line_form
from navloom.line_file import read_lines

_STUMBLES = (KeyError, TypeError, AttributeError, IndexError, ValueError)
GROUPS = ("both", "only A", "only B", "neither")
"""Pairs by who succeeded."""


@dataclass(frozen=True)
class Comparison:
    """Two runs, paired.

    Attributes:
        a: the first run.
        b: the second.
        ids: the samples that both have, in order.
        unpaired_a: finished samples of A that B has not.
        unpaired_b: finished samples of B that A has not.
        metrics: a score each.
        discordant: for scores that are 0 or 1.
        by: what the bootstrap drew: ``path`` is what the kind draws whole.
        pairing: how samples of the kind are paired.
        names: of the M scores that both runs have.
        before: (N, M) the scores of A, NaN where a sample lacks one.
        after: (N, M) those of B.
    """

    a: str
    b: str
    ids: Sequence[str]
    unpaired_a: int
    unpaired_b: int
    metrics: Sequence[Paired]
    discordant: Sequence[Discordant]
    by: By
    pairing: Pairing
    names: Sequence[str]
    before: Floats = field(repr=False, compare=False)
    after: Floats = field(repr=False, compare=False)

    @property
    def pairs(self) -> int:
        """How many samples both have."""
        return len(self.ids)

    @property
    def whole(self) -> bool:
        """Whether what belongs together was drawn whole."""
        return self.by == "path" and self.pairing.cluster is not None

    def record(self) -> dict[str, Any]:
        """As JSON."""
        drawn = self.pairing.cluster_name if self.whole else self.pairing.noun
        return {
            "a": self.a,
            "b": self.b,
            "pairs": self.pairs,
            "unpaired": {"a": self.unpaired_a, "b": self.unpaired_b},
            "metrics": {each.metric: each.record() for each in self.metrics},
            "discordant": {each.metric: asdict(each) for each in self.discordant},
            "bootstrap": {"by": drawn, "resamples": RESAMPLES, "level": LEVEL},
        }

    def tables(self) -> Iterator[Table]:
        """Differences, and pairs in which one succeeded alone."""
        drawn = f"whole {self.pairing.cluster_name}s" if self.whole else "pairs one by one"
        note = (
            f"A: {self.a}. B: {self.b}. {self.pairs:,} pairs by sample id; unpaired: "
            f"{self.unpaired_a:,} of A, {self.unpaired_b:,} of B. Brackets: {LEVEL:.0%} bootstrap"
            f" of the paired difference, {RESAMPLES:,} draws of {drawn}; of shares in percentage"
            " points. p: of flipping the signs of the same at random. A difference is shown where"
            f" the interval leaves 0 out and p is below {1 - LEVEL:.2g}."
        )
        head = ("metric", "A", "B", "B - A", "interval", "n", "p", "better")
        yield Table("Paired differences", note, head, tuple(map(self._cells, self.metrics)))
        yield Table(
            "Who succeeded where",
            "p: McNemar's exact test, two-sided, pairs taken as independent.",
            ("metric", *GROUPS, "p"),
            tuple(
                (
                    each.metric,
                    *(f"{n:,}" for n in (each.both, each.only_a, each.only_b, each.neither)),
                    f"{each.p:.3g}",
                )
                for each in self.discordant
            ),
        )

    def _cells(self, each: Paired) -> tuple[str, ...]:
        row, said = each.difference, self.pairing.spoken
        ends = " to ".join(said(each.metric, end, "+") for end in row.interval or ())
        return (
            each.metric,
            said(each.metric, each.a, ""),
            said(each.metric, each.b, ""),
            said(each.metric, row.mean, "+"),
            ends or NOTHING,
            f"{row.n:,}",
            f"{each.p:.3g}",
            each.better or (NOTHING if each.shown else "no difference shown"),
        )


def compare_runs(a: Path | str, b: Path | str, *, by: By = "path", seed: int = 0) -> Comparison:
    """Pair the finished samples of two runs and say how B differs from A.

    Args:
        a: the folder of a run.
        b: another, of the same dataset.
        by: what the bootstrap draws: ``path`` takes what belongs together whole.
        seed: of the bootstrap.

    Raises:
        RunError: a folder is no run, runs are of kinds that do not pair, no sample is in both, or a
            sample of one name is another thing in the other run.
    """
    pairing = pairing_of(a, b)
    first, second = _read(a, pairing), _read(b, pairing)
    ids = sorted(first.keys() & second.keys())
    if not ids:
        raise RunError(
            f"{a} and {b} share no finished sample ({len(first):,} and {len(second):,}): only runs"
            " of the same dataset can be compared"
        )
    for name in ids:
        check_same(name, first[name].identity, second[name].identity, (a, b), pairing)
    pairs = [first[name].scores for name in ids], [second[name].scores for name in ids]
    names = names_of(pairs, pairing)
    before, after = (columns_of(side, names) for side in pairs)
    wholes = [first[name].cluster for name in ids]
    clusters = None
    if by == "path" and pairing.cluster is not None:
        clusters = [str(each) if each is not None else k for k, each in enumerate(wholes)]
    found = [
        discordant_of(name, before[:, k], after[:, k])
        for k, name in enumerate(names)
        if name in pairing.counted
    ]
    return Comparison(
        str(a),
        str(b),
        ids,
        len(first) - len(ids),
        len(second) - len(ids),
        differences_of(names, before, after, clusters, seed, _good(names, pairing)),
        [each for each in found if each is not None],
        by,
        pairing,
        names,
        before,
        after,
    )


def pairing_of(a: Path | str, b: Path | str) -> Pairing:
    """How the samples of two runs are paired.

    Raises:
        RunError: a folder is no run, or its kind does not pair with the other's.
    """
    kinds = kind_of(a), kind_of(b)
    first, second = (kind.pairing() if kind.pairing else None for kind in kinds)
    for run, kind, found in ((a, kinds[0], first), (b, kinds[1], second)):
        if found is None:
            raise RunError(
                f"{run} is a run of `navloom {kind.command}`, and samples of such runs are not"
                " compared"
            )
    # A kind may make its pairing anew each time that it is asked.
    if first is None or (kinds[0] is not kinds[1] and first != second):
        commands = [f"`navloom {kind.command}`" for kind in kinds]
        raise RunError(
            f"{a} is a run of {commands[0]} and {b} one of {commands[1]}: only runs of one kind"
            " can be compared"
        )
    return first


@dataclass(frozen=True)
class Half:
    """One line as it is compared: what it is, what it scores, what it belongs to."""

    identity: Any
    scores: Mapping[str, float | None]
    cluster: Any


def half_of(run: Path | str, line: Line, pairing: Pairing) -> Half:
    """A line as it is compared.

    Raises:
        RunError: it has not what its kind's lines have.
    """
    try:
        cluster = None if pairing.cluster is None else pairing.cluster(line)
        return Half(pairing.identity(line), pairing.scores(line), cluster)
    except _STUMBLES:
        raise RunError(
            f"{run}: the sample '{line['id']}' has no {pairing.holds}: give a run of"
            f" `navloom {kind_of(run).command}`"
        ) from None


def _read(run: Path | str, pairing: Pairing) -> dict[str, Half]:
    """What is compared of a run's finished samples, by id."""
    # In whatever order they ended: to read them by id would be to read each twice.
    lines = read_lines(Path(run) / "samples.jsonl", line_form(Path(run), "samples.jsonl"))
    return {line["id"]: half_of(run, line, pairing) for line in lines}


def check_same(
    name: str, first: Any, second: Any, runs: tuple[Path | str, Path | str], pairing: Pairing
) -> None:
    """Two lines of one id must be one thing.

    Raises:
        RunError: they are not.
    """
    if first != second:
        raise RunError(
            f"the sample '{name}' is another {pairing.noun} in {runs[1]} than in {runs[0]}: only"
            " runs of the same dataset can be compared"
        )


def names_of(
    pairs: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], pairing: Pairing
) -> list[str]:
    """The scores that both runs have, as tables have them."""
    sides = [dict.fromkeys(name for scores in side for name in scores) for side in pairs]
    known = dict.fromkeys((*pairing.order, *sides[0]))
    return [name for name in known if all(name in side for side in sides)]


def _good(names: Sequence[str], pairing: Pairing) -> list[Good]:
    """Which way is better, by name."""
    return [
        None if name in pairing.neither else "less" if name in pairing.less else "more"
        for name in names
    ]
