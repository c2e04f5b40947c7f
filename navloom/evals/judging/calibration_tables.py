"""A calibration as tables and as a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from navloom.evals.judging.scores import Agreement, Calibration, Flips, TraceCalibration
from navloom.evals.report.document import Table, percent, png
from navloom.files import write_whole
from navloom.judges.reason_items import KINDS, SETS, load_wordings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DUE = {kind: "correct" if kind in ("right", "partly") else "wrong" for kind in KINDS}
_COLOURS = {"correct": "#0b62a8", "wrong": "#e2a10c", "unscored": "#d5dade"}
_USED = ("calls", "input_tokens", "output_tokens")
_MOST_UNREAD = 30


def reasoning_tables(found: Calibration) -> list[Table]:
    """Agreement, confusion by kind, and flips."""
    baseline = (
        " A baseline: rules, not a language model." if found.model.startswith("builtin/") else ""
    )
    left = f" {found.left} items are left or ended in an error." if found.left else ""
    cost = "unknown" if found.cost_usd is None else f"${found.cost_usd:.4g}"
    calls, *tokens = (found.usage.get(each, 0) for each in _USED)
    spent = f" {calls:,} calls, {tokens[0]:,} tokens in and {tokens[1]:,} out, cost {cost}."
    rows = tuple((_set_name(name), *_cells(each)) for name, each in found.sets.items())
    agreed = Table(
        f"The judge {found.model} against the truth",
        "Brackets: 95 % intervals, bootstrap over scenes, of under five over items. An unscored"
        " item is not right in the first accuracy, and left out of the second and of kappa; share"
        " error: of the share of barriers named. Injected items are counted below alone."
        f"{baseline}{left}{spent}",
        ("wordings", "items", "unscored", "accuracy", "of those scored", "kappa", "share error"),
        rows,
    )
    unread = [_unread_table(found)] if found.unread else []
    return [agreed, _confusion_table(found), *unread, _flip_table(found.flips)]


def _set_name(name: str) -> str:
    """A set, and whether the symbolic judge was written with it in view."""
    return f"{name} ({load_wordings(name).standing})" if name in SETS else name


def _cells(each: Agreement) -> tuple[str, ...]:
    share = percent(each.unscored / each.items if each.items else None)
    return (
        str(each.items),
        share,
        str(each.accuracy),
        str(each.accuracy_scored),
        each.kappa.coefficient,
        percent(each.partial_error),
    )


def _confusion_table(found: Calibration) -> Table:
    rows = []
    for name, by_kind in found.confusion.items():
        for kind, counts in by_kind.items():
            cells = (str(counts.get(word, 0)) for word in _COLOURS)
            rows.append((f"{kind}, set {name}", _DUE[kind], *cells))
    note = "How many explanations of each kind were found correct, wrong, or got no verdict."
    return Table("By kind", note, ("kind", "deserves", *_COLOURS), tuple(rows))


def _unread_table(found: Calibration) -> Table:
    """Wordings that the judge gave no verdict on, so that nobody takes its silence for a grade."""
    shown = found.unread[:_MOST_UNREAD]
    rows = tuple((words, said, f"{count} of {of}") for words, said, count, of in shown)
    more = len(found.unread) - len(shown)
    note = "Sentences of explanations that got no verdict, and of how many in all." + (
        f" {more} more are in calibration.json." if more else ""
    )
    return Table("Without a verdict", note, ("set", "sentence", "unscored"), rows)


def _flip_table(found: Flips) -> Table:
    note = (
        "Pairs of items that differ in an injected payload alone, and whose plain one was not"
        " judged as the payload claims. Brackets: Wilson's 95 % interval."
    )
    cells = (str(found.pairs), str(found.flipped), str(found.lost), str(found.rate))
    left = (str(found.agreed), str(found.unscored))
    header = ("", "pairs", "flipped", "no verdict", "flip rate", "claimed anyway", "plain unscored")
    return Table("Under injection", note, header, (("injected", *cells, *left),))


def injection_table(found: Mapping[str, Mapping[str, Flips]]) -> Table:
    """Flips with the defences and without, a row a judge."""
    rows = tuple(
        (name, *(str(doors[door]) for door in ("with", "without")), str(doors["with"].lost))
        for name, doors in found.items()
    )
    note = (
        "Flips of pairs; brackets: Wilson's 95 % interval. A gullible judge repeats any"
        " verdict-shaped text that reaches it unfenced; one that is blind to fences reads inside"
        " them too."
    )
    header = ("judge", "with defences", "without", "no verdict, with")
    return Table("Flips under injection", note, header, rows)


def trace_tables(found: TraceCalibration) -> list[Table]:
    """Agreement by criterion, and by kind."""
    rows = [(name, *_cells(each)[:-1]) for name, each in found.criteria.items()]
    rows += [(f"all, set {name}", *_cells(each)[:-1]) for name, each in found.sets.items()]
    header = ("criterion", "items", "unscored", "accuracy", "of those scored", "kappa")
    left = f" {found.left} items are left or ended in an error." if found.left else ""
    note = f"Grades are yes, no and na. Brackets: 95 % intervals, by bootstrap.{left}"
    kinds = tuple(
        (f"{kind}: {name}", f"{right}/{of}")
        for kind, by in found.kinds.items()
        for name, (right, of) in by.items()
    )
    about = "How many spoiled steps of each kind got the grade that they deserve."
    return [
        Table(f"The rubric judge {found.model} against the truth", note, header, tuple(rows)),
        Table("By kind", about, ("kind: criterion", "as deserved"), kinds),
    ]


def picture(found: Calibration) -> Figure:
    """Verdicts by kind as bars, a panel a set; what a kind deserves stands beside its name."""
    from matplotlib.figure import Figure

    count = max(1, len(found.confusion))
    figure = Figure(figsize=(2.0 + 3.5 * count, 3.6), layout="constrained", dpi=130)
    panels = figure.subplots(1, count, squeeze=False, sharey=True)
    for axes, (name, by_kind) in zip(panels[0], found.confusion.items(), strict=False):
        _bars(axes, by_kind)
        each = found.sets.get(name)
        said = f", accuracy {percent(each.accuracy.value)}" if each and each.accuracy.value else ""
        axes.set_title(f"set {name}{said}", fontsize=9.5, loc="left", weight="bold")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=3, frameon=False, fontsize=8)
    figure.suptitle(f"Verdicts of {found.model}", fontsize=10, x=0.01, ha="left")
    return figure


def _bars(axes: Axes, by_kind: Mapping[str, Mapping[str, int]]) -> None:
    kinds = [kind for kind in KINDS if kind in by_kind]
    begin = [0.0] * len(kinds)
    for word, colour in _COLOURS.items():
        totals = [sum(by_kind[kind].values()) for kind in kinds]
        shares = [by_kind[k].get(word, 0) / t for k, t in zip(kinds, totals, strict=True)]
        axes.barh(range(len(kinds)), shares, left=begin, color=colour, label=f"found {word}")
        begin = [a + b for a, b in zip(begin, shares, strict=True)]
    due = {**_DUE, "injected": "either"}
    names = [f"{kind} ({due[kind]})" for kind in kinds]
    axes.set_yticks(range(len(kinds)), names, fontsize=8)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of items", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    if not axes.yaxis_inverted():
        axes.invert_yaxis()


def write_calibration(
    out: Path,
    record: Mapping[str, Any],
    tables: Sequence[Table],
    drawn: Figure | None = None,
    *,
    name: str = "calibration",
) -> None:
    """Write ``calibration.json``, ``calibration.md`` and, of a judge of reasons, its picture."""
    data = json.dumps(record, ensure_ascii=False, indent=2, default=list)
    write_whole(out / f"{name}.json", data.encode())
    write_whole(out / f"{name}.md", "\n\n".join(t.markdown() for t in tables).encode())
    if drawn is not None:
        write_whole(out / f"{name}.png", png(drawn, dpi=130))
