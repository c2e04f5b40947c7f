"""Tables of a navigation run's report: what was asked, what it scores, what it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from navloom.evals.navigation.scores import read_scores
from navloom.evals.report.table import Table
from navloom.evals.summary import Tally

__all__ = ["headline", "request_table", "run_tables"]

_NOT_SHARES = frozenset({"TL", "NE", "collision_rate"})
_MOST_CELL = 300
_COUNTS = (
    ("steps", "steps"),
    ("reprompts", "re-prompts"),
    ("unparsed", "unparsed replies"),
    ("invalid_option", "invalid options"),
    ("refusal", "refusals"),
    ("revisions", "revisions"),
    ("questions", "questions"),
    ("oracle_calls", "oracle calls"),
    ("leaks", "leaked answers"),
    ("contacts", "contacts"),
)


def headline(run: Mapping[str, Any], lines: Sequence[Mapping[str, Any]], errors: int) -> str:
    """What happened, in a sentence or two."""
    request = run["request"]
    what = " ".join(str(request[key]) for key in ("task", "split") if request.get(key))
    if not lines:
        return f"{what}: no episode has ended."
    well = sum(line.get("status") == "ok" for line in lines)
    said = f"{what}: {well} of {len(lines)} episodes succeeded ({well / len(lines):.1%})."
    if errors:
        said += f" {errors} ended in an error of the machinery and count for nothing."
    if str(request.get("model", "")).startswith("builtin/"):
        said += " The navigator is a baseline: rules in the place of a language model."
    return said


def request_table(run: Mapping[str, Any]) -> Table:
    """What was asked for, key by key; what was left at nothing is left out."""
    rows = [
        (str(key)[:_MOST_CELL], _short(value))
        for key, value in sorted(run["request"].items())
        if value not in (None, "", [], {}, False)
    ]
    rows.append(("seed", str(run.get("seed"))))
    return Table(
        "Request",
        "As run.json has it.",
        ("key", "value"),
        tuple(dict.fromkeys(rows)),
        folded="What was asked for",
    )


def _short(value: Any) -> str:
    text = _flat(value)
    return text if len(text) <= _MOST_CELL else text[: _MOST_CELL - 1] + "…"


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_flat(part)}" for key, part in value.items())
    return "; ".join(map(_flat, value)) if isinstance(value, list) else str(value)


def run_tables(run: Path | str, lines: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """Scores and what they took; nothing where no episode has ended."""
    if lines:
        yield _scores(read_scores(run).record())
        yield _took(lines)


def _scores(said: Mapping[str, Any]) -> Table:
    rows = [(name, *_cells(name, measured)) for name, measured in said["metrics"].items()]
    note = (
        "Means over episodes with 95 % bootstrap intervals, the instructions of one path drawn"
        " together. Success: it ended strictly within 3 m of a goal. TL and NE are metres and the"
        " collision rate contacts an action, the others per cent."
    )
    if said["invalid"]:
        note += f" {said['invalid']} trajectories that nobody can have walked count as failed."
    return Table("Scores", note, ("metric", "mean", "95 % interval", "episodes"), tuple(rows))


def _cells(name: str, measured: Mapping[str, Any]) -> tuple[str, str, str]:
    factor, digits = (1.0, 2) if name in _NOT_SHARES else (100.0, 1)
    mean, interval = measured["mean"], measured["interval"]
    return (
        "–" if mean is None else f"{factor * mean:.{digits}f}",
        " to ".join(f"{factor * end:.{digits}f}" for end in interval) if interval else "–",
        str(measured["n"]),
    )


def _result(line: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    result = line.get("result")
    part = result.get(key) if isinstance(result, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _took(lines: Sequence[Mapping[str, Any]]) -> Table:
    tally = Tally()
    for line in lines:
        tally.add(dict(line))
    counts = [_result(line, "counts") for line in lines]
    rows = [
        (words, f"{total:,}", f"{total / len(lines):.2f}")
        for key, words in _COUNTS
        if (total := sum(c[key] for c in counts if isinstance(c.get(key), int)))
    ]
    for key, words in (
        ("calls", "model calls"),
        ("input_tokens", "input tokens"),
        ("output_tokens", "output tokens"),
    ):
        rows.append((words, f"{tally.usage[key]:,}", f"{tally.usage[key] / len(lines):.1f}"))
    rows.append(("seconds", f"{tally.seconds:.1f}", f"{tally.seconds / len(lines):.2f}"))
    if tally.cost_usd is None:
        rows.append(("cost in $", "unknown", "–"))
    else:
        rows.append(("cost in $", f"{tally.cost_usd:.3f}", f"{tally.cost_usd / len(lines):.4f}"))
    note = "Episodes run side by side: their seconds add up to more than the clock's."
    return Table("What it took", note, ("", "in all", "an episode"), tuple(rows))
