"""Comparison of two runs as report blocks: differences, scatter plots, and one pair in detail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from navloom.errors import RunError
from navloom.evals.report import blocks as ui
from navloom.evals.report import run_comparison
from navloom.evals.report.formatting import NOTHING, Table, run_labels
from navloom.evals.report.intervals import record_matrix
from navloom.evals.run_folder import iter_samples, read_run
from navloom.evals.run_kinds import kind_of

_MOST_NAME = 60
_MOST_ROWS = 100
"""Maximum number of pairs listed in each group."""


def comparison_blocks(a: Path | str, b: Path | str) -> list[ui.Block]:
    """Return the comparison of two runs as blocks: counts, differences, scatter plots, pairs.

    Addresses are ``pair/ID``.

    Raises:
        RunError: as :func:`compare_runs`.
    """
    found = run_comparison.compare_runs(a, b)
    # A page may be shared: it has the runs' names, not their paths.
    first, second = run_labels([a, b])
    found = replace(found, a=first, b=second)
    differences, who = found.tables()
    facts = (
        ui.Fact("pairs", f"{found.pairs:,}", note="by sample id"),
        ui.Fact("A alone has", f"{found.unpaired_a:,}", note="samples without a pair"),
        ui.Fact("B alone has", f"{found.unpaired_b:,}", note="samples without a pair"),
    )
    blocks: list[ui.Block] = [ui.Prose(text=_verdict(found), title="In a sentence")]
    blocks.append(ui.Facts(facts=facts, note=f"A: {found.a}. B: {found.b}."))
    groups = _groups(found)
    if groups:
        blocks.append(_counts(found, groups))
    blocks.append(ui.Grid(differences))
    if who.rows:
        blocks.append(ui.Grid(who))
    # In a separate column, since `navloom compare` prints the grids outside of columns.
    blocks.append(ui.Columns(columns=((_meanings(a, found.names),),)))
    blocks += [_scatter(found, name) for name in found.pairing.drawn if name in found.names]
    blocks.append(_listed(found, groups))
    return blocks


def _verdict(found: run_comparison.Comparison) -> str:
    """Return one sentence for the scores in which each run is significantly better.

    Less effort is no merit of a run that succeeds significantly less: it may just have given up.
    """
    ahead = {who: [m.metric for m in found.metrics if m.better == who] for who in ("A", "B")}
    best = _success(found)
    parts = []
    for who, name in (("A", found.a), ("B", found.b)):
        better, spared, worse = ahead[who], list[str](), False
        if best is not None and best.better is not None:
            worse = best.better != who
            better = [each for each in better if each != best.metric]
        if worse:
            spared = [each for each in better if each in found.pairing.effort]
            better = [each for each in better if each not in spared]
        said = [_more(found, best, who)] if best is not None and best.better == who else []
        said += [f"is better in {', '.join(better)}"] if better else []
        said += [f"takes fewer {', '.join(spared)}, and succeeds less"] if spared else []
        parts += [f"{who} ({name}) {', and '.join(said)}"] if said else []
    if parts:
        return "; ".join(parts) + "."
    told = "No difference is shown between the two: what differs may be chance."
    if best is None:
        return told
    a, b = (found.pairing.spoken(best.metric, each) for each in (best.a, best.b))
    return f"{told} {best.metric}: {a} in A ({found.a}), {b} in B ({found.b})."


def _success(found: run_comparison.Comparison) -> run_comparison.PairedMetric | None:
    """Return the compared success score; None without one."""
    name = found.discordant[0].metric if found.discordant else ""
    if name in found.pairing.neither:
        return None
    return next((each for each in found.metrics if each.metric == name), None)


def _more(found: run_comparison.Comparison, best: run_comparison.PairedMetric, who: str) -> str:
    said = [found.pairing.spoken(best.metric, each) for each in (best.a, best.b)]
    own, other = said if who == "A" else reversed(said)
    return f"succeeds more ({best.metric} {own} against {other})"


def _meanings(run: Path | str, names: Sequence[str]) -> ui.Grid:
    """Make the table that explains the scores with help texts in the kind's columns."""
    said = {each.name: each for each in kind_of(run).columns(read_run(run)) if each.help}
    return ui.meanings_grid(ui.column_meaning(said[name]) for name in names if name in said)


def _to(name: str) -> str:
    return f"pair/{quote(name, safe='')}"


def _groups(found: run_comparison.Comparison) -> dict[str, Sequence[int]]:
    """Group pairs by which run succeeded, by the first success score; {} without one."""
    if not found.discordant:
        return {}
    k = found.names.index(found.discordant[0].metric)
    a, b = found.before[:, k], found.after[:, k]
    kept = ~(np.isnan(a) | np.isnan(b))
    yes, too = (a > 0) & kept, (b > 0) & kept
    masks = (yes & too, yes & ~too & kept, too & ~yes & kept, ~yes & ~too & kept)
    return {
        name: [int(n) for n in np.flatnonzero(mask)]
        for name, mask in zip(run_comparison.GROUPS, masks, strict=True)
    }


def _counts(found: run_comparison.Comparison, groups: Mapping[str, Sequence[int]]) -> ui.Facts:
    metric = found.discordant[0]
    facts = tuple(
        ui.Fact(
            name,
            f"{len(rows):,}",
            to=_to(found.ids[rows[0]]) if rows else "",
            tone="good" if rows and name.startswith("only") else "plain",
        )
        for name, rows in groups.items()
    )
    note = (
        f"{metric.metric} above 0, pair by pair; a click opens the first of them."
        f" McNemar's exact p: {metric.p:.3g}."
    )
    return ui.Facts(title="Who succeeded", facts=facts, note=note)


def _scatter(found: run_comparison.Comparison, name: str) -> ui.Scatter:
    k, said = found.names.index(name), found.pairing.spoken
    dots = tuple(
        ui.Dot(
            float(a),
            float(b),
            f"{sample}: A {said(name, float(a), '')}, B {said(name, float(b), '')}",
            to=_to(sample),
        )
        for sample, a, b in zip(found.ids, found.before[:, k], found.after[:, k], strict=True)
        if not (np.isnan(a) or np.isnan(b))
    )
    better = "" if name in found.pairing.neither else "More is better."
    better = "Less is better." if name in found.pairing.less else better
    note = f"A dot {found.pairing.what}; on the line both are alike. {better}"
    x, y = f"{name} of A", f"{name} of B"
    return ui.Scatter(title=name, note=note, x=x, y=y, dots=dots, diagonal=True)


def _listed(found: run_comparison.Comparison, groups: Mapping[str, Sequence[int]]) -> ui.Variants:
    """List the pairs of each group, largest differences in the drawn scores first."""
    names = [name for name in found.pairing.drawn or found.names if name in found.names][:4]
    columns = [found.names.index(name) for name in names]
    variants: list[tuple[str, tuple[ui.Block, ...]]] = []
    for group, rows in _opened_on(groups, found.pairs).items():
        ordered = sorted(rows, key=lambda n: _apart(found, n, columns))
        shown = ordered[:_MOST_ROWS]
        cells = tuple((found.ids[n], *_side_by_side(found, n, names, columns)) for n in shown)
        header = (found.pairing.noun, *(f"{each}, A to B" for each in names))
        note = "Those that differ most come first."
        if len(ordered) > len(shown):
            note += f" The first {len(shown)} of {len(ordered):,}."
        table = Table("", note, header, cells)
        block = ui.Grid(table, to=tuple(_to(found.ids[n]) for n in shown))
        body: ui.Block = block if shown else ui.Prose(text="No pair.", tone="quiet")
        variants.append((f"{group} ({len(ordered):,})", (body,)))
    return ui.Variants(title="Pairs", variants=tuple(variants))


def _opened_on(groups: Mapping[str, Sequence[int]], pairs: int) -> dict[str, Sequence[int]]:
    """Order the groups as tabs: those where one run alone succeeded first, larger first."""
    alone = sorted(
        (name for name in ("only B", "only A") if groups.get(name)),
        key=lambda name: -len(groups[name]),
    )
    whole = {"all": range(pairs), **groups}
    return {name: whole[name] for name in dict.fromkeys([*alone, *whole])}


def _apart(found: run_comparison.Comparison, n: int, columns: Sequence[int]) -> tuple[Any, ...]:
    """Return a sort key that puts the largest differences first."""
    apart = [abs(float(found.after[n, k] - found.before[n, k])) for k in columns]
    return (*(0.0 if isnan(each) else -each for each in apart), found.ids[n])


def _side_by_side(
    found: run_comparison.Comparison, n: int, names: Sequence[str], columns: Sequence[int]
) -> Iterator[str]:
    for name, k in zip(names, columns, strict=True):
        a, b = float(found.before[n, k]), float(found.after[n, k])
        said = [found.pairing.spoken(name, None if isnan(x) else x, "") for x in (a, b)]
        yield NOTHING if isnan(a) and isnan(b) else f"{said[0]} to {said[1]}"


def pair_detail(
    a: Path | str, b: Path | str, name: str, lines: tuple[ui.Line, ui.Line] | None = None
) -> ui.SampleDetail:
    """Return the page of one pair of samples.

    Args:
        a: the folder of the first run.
        b: the folder of the second.
        name: the sample's id.
        lines: its lines in both runs, if the caller has read them.

    Raises:
        RunError: the runs cannot be compared, one lacks the sample, or the samples differ.
    """
    pairing = run_comparison.pairing_of(a, b)
    first, second = lines or (_found(a, name), _found(b, name))
    halves = (
        run_comparison.compare_line(a, first, pairing),
        run_comparison.compare_line(b, second, pairing),
    )
    run_comparison.check_same_sample(name, halves[0].identity, halves[1].identity, (a, b), pairing)
    if pairing.beside is not None:
        told = pairing.beside(Path(a), first, Path(b), second)
    else:
        told = _both(name, kind_of(a).detail, (("A", a, first), ("B", b, second)))
        told = replace(told, headline=_who(halves, pairing))
    names = [*run_labels([a, b])]
    where = ui.Prose(text=f"A: {names[0]}. B: {names[1]}.", tone="quiet")
    scores = _scores(halves, pairing)
    # Details side by side explain the scores themselves.
    means = () if pairing.beside is None else (_meanings(a, [row[0] for row in scores.table.rows]),)
    blocks = (where, *told.blocks, *means, scores)
    return ui.SampleDetail(title=told.title, headline=told.headline, blocks=blocks)


def _found(run: Path | str, name: str) -> ui.Line:
    found = next((line for line in iter_samples(run) if line["id"] == name), None)
    if found is None:
        raise RunError(f"{run} has no finished sample '{name[:_MOST_NAME]}'")
    return found


def _both(
    name: str,
    detail: Callable[[Path, ui.Line], ui.SampleDetail] | None,
    halved: Sequence[tuple[str, Path | str, ui.Line]],
) -> ui.SampleDetail:
    """Return both details side by side, then their common blocks; empty without a detail."""
    made = [(mark, detail(Path(run), line)) for mark, run, line in halved if detail]
    if not made:
        return ui.SampleDetail(title=name)
    first, second = (each.blocks for _, each in made)
    shared = tuple(each for each in first if each in second)
    columns = tuple(
        (
            ui.Prose(title=mark, text=each.headline or each.title),
            *(block for block in each.blocks if block not in shared),
        )
        for mark, each in made
    )
    return ui.SampleDetail(title=name, blocks=(ui.Columns(columns=columns), *shared))


_Halves = tuple[run_comparison.ComparedSample, run_comparison.ComparedSample]


def _who(halves: _Halves, pairing: ui.Pairing) -> str:
    """Return which run of a pair succeeded, by the first success score; "" without such a score."""
    for name in run_comparison.shared_scores(([halves[0].scores], [halves[1].scores]), pairing):
        a, b = (half.scores.get(name) for half in halves)
        if name in pairing.counted - pairing.neither and a is not None and b is not None:
            alike = {(True, True): "both succeeded", (False, False): "neither succeeded"}
            said = alike.get((a > 0, b > 0), f"only {'A' if a > b else 'B'} succeeded")
            return f"{said} ({name})"
    return ""


def _scores(halves: _Halves, pairing: ui.Pairing) -> ui.Grid:
    names = run_comparison.shared_scores(([halves[0].scores], [halves[1].scores]), pairing)
    (a, b), said = record_matrix([half.scores for half in halves], names).tolist(), pairing.spoken
    rows = tuple(
        (
            name,
            *(said(name, None if isnan(value) else value, "") for value in (x, y)),
            said(name, None if isnan(y - x) else y - x, "+"),
        )
        for name, x, y in zip(names, a, b, strict=True)
    )
    return ui.Grid(Table("Scores", "", ("score", "A", "B", "B - A"), rows))
