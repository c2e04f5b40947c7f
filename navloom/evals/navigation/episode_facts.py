"""What an episode scored and what went wrong in it, as names and values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from navloom.evals.navigation.episode_map import FAULT, parted_words, to_step
from navloom.evals.navigation.failure_behaviour import spelled
from navloom.evals.navigation.failure_cause import MEANS
from navloom.evals.navigation.failures import Analysis
from navloom.evals.navigation.metrics import METRICS
from navloom.evals.navigation.path_metrics import METRES
from navloom.evals.navigation.score_words import BEHAVED, score_columns
from navloom.evals.navigation.scores import COUNTS, spoken
from navloom.evals.navigation.shown_episodes import Case
from navloom.evals.report.blocks import Fact, Facts, Grid, Tone
from navloom.evals.report.document import NOTHING, Table
from navloom.evals.report.line_columns import meaning_of, meanings

_MOST_SAID = 300
_SUCCESSES = ("SR", "SR_stopped", "SR_end", "OSR", "SR_visible", "RGS", "SR_strict", "SR_telhop")


def score_meanings(case: Case) -> Grid:
    """What the scores and counts of an episode are, folded."""
    found = (_mapping(case.result.get(key)) for key in ("scores", "counts"))
    return meanings(map(meaning_of, score_columns(*found)))


def score_facts(case: Case) -> Facts:
    """What an episode scored, and what it took."""
    scores, counts = _mapping(case.result.get("scores")), _mapping(case.result.get("counts"))
    why = _mapping(scores.get("undefined"))
    facts = [
        Fact(
            name=name,
            value=_spoken(name, scores[name]),
            tone=_tone(name, scores[name]),
            note=_short(why.get(name, "")),
        )
        for name in METRICS
        if name in scores
    ]
    for name in COUNTS:
        if isinstance(counts.get(name), int) and (counts[name] or name == "steps"):
            facts.append(Fact(name=name.replace("_", " "), value=f"{counts[name]:,}"))
    invalid = scores.get("invalid")
    if isinstance(invalid, Mapping):
        facts.append(Fact(name="invalid", value=_short(invalid.get("message")), tone="bad"))
    return Facts(title="Scores", facts=tuple(facts))


def _spoken(name: str, value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        return NOTHING
    return spoken(name, float(value)) + (" m" if name in METRES else "")


def _tone(name: str, value: Any) -> Tone:
    if name not in _SUCCESSES or value not in (0, 1):
        return "plain"
    return "good" if value else "bad"


def tag_grid(case: Case) -> Grid | None:
    """What went wrong, with its evidence, each row leading to its step; None where nothing is."""
    tagged = case.tagged
    rows: list[tuple[str, str, str]] = []
    for kind in tagged.behaviours:
        proof = _mapping(tagged.evidence.get(kind))
        if kind != "none":
            rows.append((_tag(kind, proof), _meant(kind, proof), _first_step(case, proof)))
    if tagged.cause != "none":
        rows.append((f"cause: {tagged.cause.replace('_', ' ')}", _why(tagged), ""))
    fork = tagged.deviation
    if fork is not None:
        went = f"went to {_place(fork.taken)}" if fork.taken else f"ended ({fork.end or 'stop'})"
        right = (
            f"the right way goes to {_place(fork.expected)}" if fork.expected else "it ends here"
        )
        if (words := parted_words(case)) != FAULT:
            right = (
                f"the way that was given goes to {_place(fork.expected)}"
                if fork.expected
                else right
            )
        told = f"step {fork.step + 1}, at {_place(fork.at)}: {went}; {right}"
        rows.append((words, told, to_step(case.id, fork.step)))
    if not rows:
        return None
    note = (
        "What it did, why it left the right way, and where, by rules; scores stand above. Steps are"
        " counted from 1."
    )
    table = Table("Tags", note, ("tag", "evidence"), tuple(row[:2] for row in rows))
    return Grid(table=table, to=tuple(row[2] for row in rows))


def _tag(kind: str, proof: Mapping[str, Any]) -> str:
    """A behaviour's name; where an early stop was is said with what it means."""
    return spelled(kind, {} if kind == "early_stop" else proof)


def _meant(kind: str, proof: Mapping[str, Any]) -> str:
    """What a behaviour is, and its evidence."""
    said = [BEHAVED.get(kind, ""), evidence({k: v for k, v in proof.items() if k != "where"})]
    left = {
        "short": "it had not left the right way",
        "elsewhere": "it had left the right way before",
    }
    said.insert(1, left.get(str(proof.get("where")), ""))
    return "; ".join(filter(None, said)) or NOTHING


def _why(tagged: Analysis) -> str:
    """A cause in words, its evidence, and what else held."""
    causes = _mapping(tagged.evidence.get("causes"))
    proof = evidence(_mapping(causes.get(tagged.cause)))
    others = [name.replace("_", " ") for name in causes if name != tagged.cause]
    said = "no rule holds" if tagged.cause == "unknown" else MEANS[tagged.cause]
    parts = (said, proof, f"also: {', '.join(map(_short, others))}" if others else "")
    return _short("; ".join(filter(None, parts)), 3 * _MOST_SAID)


def evidence(proof: Mapping[str, Any]) -> str:
    """A rule's evidence in a line; steps are counted from 1, as everywhere a person reads."""
    return _short("; ".join(_evident(str(key), value) for key, value in proof.items() if value))


def _evident(name: str, value: Any) -> str:
    words = name.replace("_", " ")
    if name in ("visits", "counts") and isinstance(value, Mapping):
        return f"{words}: {', '.join(f'{_place(str(k))} {n}x' for k, n in value.items())}"
    if isinstance(value, Mapping):
        return f"{words} ({evidence(value)})"
    if name == "within":
        return f"looked {value} {'hop' if value == 1 else 'hops'} ahead"
    if name in ("step", "nearest_step") and isinstance(value, int):
        value = value + 1
    if name == "steps" and isinstance(value, list):
        value = [each + 1 for each in value if isinstance(each, int)]
    return f"{words}: {', '.join(map(str, value)) if isinstance(value, list) else value}"


def _place(name: str) -> str:
    """A viewpoint's name; of Matterport's long ones the beginning, which tells them apart."""
    return name if len(name) <= 12 else f"{name[:8]}…"


def _first_step(case: Case, proof: Mapping[str, Any]) -> str:
    steps = proof.get("steps")
    step = steps[0] if isinstance(steps, list) and steps else proof.get("step")
    return to_step(case.id, step) if isinstance(step, int) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _short(value: Any, most: int = _MOST_SAID) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
