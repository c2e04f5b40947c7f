"""What evaluations score, as tables: one run's, and several runs of the same episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from navloom.evals.navigation.compare import Paired
from navloom.evals.report.table import NOTHING, Table
from navloom.models.spec import read_spec

__all__ = ["METRES", "ORDER", "cell", "runs_table", "score_table"]

METRES = frozenset({"TL", "NE"})
ORDER = (
    "SR",
    "SR_visible",
    "SPL",
    "OSR",
    "NE",
    "TL",
    "nDTW",
    "SDTW",
    "CLS",
    "SPL_gt",
    "SR_strict",
    "SR_telhop",
    "collision_rate",
)
"""The metrics as tables give them."""
_SHOWN = ("SR", "SR_visible", "SPL", "OSR", "NE", "nDTW")
"""Those of a table of several runs."""
_PAIRED = ("SR", "SPL")
_COUNTS = {
    "steps": "steps",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "seconds": "seconds",
    "reprompts": "re-prompts",
    "unparsed": "replies that are no action",
    "invalid_option": "replies that name no option",
    "refusal": "refusals",
    "revisions": "revisions",
    "questions": "questions asked",
    "oracle_calls": "times the oracle spoke",
    "leaks": "answers that gave a place away",
}
_RULES = ("builtin/heuristic", "builtin/random")
_ALWAYS = ("steps", "input_tokens", "output_tokens", "seconds")


def score_table(scores: Mapping[str, Any]) -> Table:
    """What one run scores and what an episode takes, a row a number.

    Args:
        scores: the ``scores`` of a run's ``summary.json``.
    """
    baseline = (
        ", a baseline: rules, not a language model"
        if read_spec(scores["model"]).bare in _RULES
        else ""
    )
    note = (
        f"{scores['agent']} with {scores['model']}{baseline}. Brackets: 95 % bootstrap intervals,"
        " over paths. Success: it ended strictly within 3 m of a goal; NE and TL are metres."
    )
    title = f"{scores['task']}: {scores['episodes']} episodes"
    return Table(title, note, ("measure", "mean", "95 %"), tuple(_rows(scores)))


def _rows(scores: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    metrics, took = scores["metrics"], scores["an_episode"]
    for name in ORDER:
        if name in metrics:
            yield name, _mean(name, metrics[name]), _within(name, metrics[name])
    for key, words in _COUNTS.items():
        if key in _ALWAYS or took.get(key):
            yield f"{words}, an episode", f"{took.get(key, 0):.4g}", ""
    cost = scores["cost_usd"]
    yield "cost in $, in all", "unknown" if cost is None else f"{cost:.4g}", ""
    episodes = max(1, scores["episodes"])
    for kind, count in _most(scores["ends"]):
        yield f"ended by: {kind.replace('_', ' ')}", str(count), f"{count / episodes:.1%}"
    for kind, count in _most(scores["behaviours"]):
        if kind != "none":
            yield f"showed: {kind.replace('_', ' ')}", str(count), f"{count / episodes:.1%}"
    if scores["invalid"]:
        yield "trajectories nobody can have walked", str(scores["invalid"]), ""


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def runs_table(
    title: str,
    note: str,
    runs: Mapping[str, Mapping[str, Any]],
    differences: Mapping[str, Sequence[Paired]] | None = None,
) -> Table:
    """Several runs, a row each.

    Args:
        title: of the table.
        note: how to read it.
        runs: by name, the ``scores`` of each one's ``summary.json``.
        differences: by name, how a run differs from the one it is held against.
    """
    paired = differences or {}
    shown = [name for name in _SHOWN if any(name in run["metrics"] for run in runs.values())]
    rows = tuple(
        (
            name,
            str(run["episodes"]),
            *(cell(metric, run["metrics"].get(metric)) for metric in shown),
            *(_difference(metric, paired.get(name, ())) for metric in _PAIRED if paired),
            f"{run['an_episode'].get('questions', 0):.2f}",
            f"{run['an_episode'].get('oracle_calls', 0):.2f}",
            f"{run['an_episode'].get('leaks', 0):.3f}",
            f"{run['an_episode'].get('steps', 0):.1f}",
        )
        for name, run in runs.items()
    )
    more = [f"{metric}, paired" for metric in _PAIRED if paired]
    header = ("run", "n", *shown, *more, "asked", "told", "leaked", "steps")
    return Table(title, note, header, rows)


def _difference(metric: str, paired: Sequence[Paired]) -> str:
    found = next((each.difference for each in paired if each.metric == metric), None)
    if found is None or found.mean is None:
        return NOTHING
    within = "" if found.low is None else f" [{found.low:+.3f}, {found.high:+.3f}]"
    return f"{found.mean:+.4f}{within}"


def cell(name: str, measured: Mapping[str, Any] | None) -> str:
    """A mean with its interval."""
    if measured is None:
        return NOTHING
    within = _within(name, measured)
    return _mean(name, measured) + (f" {within}" if within else "")


def _mean(name: str, measured: Mapping[str, Any]) -> str:
    mean = measured["mean"]
    return f"{mean:.2f}" if name in METRES else f"{mean:.4f}"


def _within(name: str, measured: Mapping[str, Any]) -> str:
    interval: Sequence[float] | None = measured.get("interval")
    if interval is None:
        return ""
    digits = 2 if name in METRES else 3
    return f"[{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"
