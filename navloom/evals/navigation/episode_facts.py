"""What an episode scored and what went wrong in it, as names and values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from navloom.evals.navigation.episode_map import to_step
from navloom.evals.navigation.failure_behaviour import spelled
from navloom.evals.navigation.failure_cause import MEANS
from navloom.evals.navigation.metrics import METRICS
from navloom.evals.navigation.scores import COUNTS, spoken
from navloom.evals.navigation.shown_episodes import Case
from navloom.evals.report.blocks import Fact, Facts, Tone
from navloom.evals.report.document import NOTHING

_MOST_SAID = 300
_SUCCESSES = ("SR", "SR_stopped", "SR_end", "OSR", "SR_visible", "RGS", "SR_strict", "SR_telhop")


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
    return spoken(name, float(value)) if number and math.isfinite(value) else NOTHING


def _tone(name: str, value: Any) -> Tone:
    if name not in _SUCCESSES or value not in (0, 1):
        return "plain"
    return "good" if value else "bad"


def tag_facts(case: Case) -> Facts | None:
    """What went wrong, with its evidence; None where there is nothing to say."""
    tagged = case.tagged
    facts = [
        Fact(
            name=spelled(kind, proof),
            value=evidence(proof) or "seen",
            tone="bad",
            to=_first_step(case, proof),
        )
        for kind in tagged.behaviours
        if kind != "none"
        for proof in [_mapping(tagged.evidence.get(kind))]
    ]
    if tagged.cause != "none":
        causes = _mapping(tagged.evidence.get("causes"))
        proof = evidence(_mapping(causes.get(tagged.cause)))
        others = [name.replace("_", " ") for name in causes if name != tagged.cause]
        more = f" Also: {', '.join(map(_short, others))}." if others else ""
        facts.append(
            Fact(
                name=f"cause: {tagged.cause.replace('_', ' ')}",
                value=proof or MEANS[tagged.cause],
                note=(f"{MEANS[tagged.cause]}." if proof else "") + more,
                tone="bad",
            )
        )
    fork = tagged.deviation
    if fork is not None:
        went = f"went to {fork.taken}" if fork.taken else f"ended ({fork.end or 'stop'})"
        right = f"the right way goes to {fork.expected}" if fork.expected else "it should stop"
        facts.append(
            Fact(
                name="first deviation",
                value=f"step {fork.step + 1}, at {fork.at}: {went}; {right}",
                to=to_step(case.id, fork.step),
            )
        )
    return Facts(title="What went wrong", facts=tuple(facts)) if facts else None


def evidence(proof: Mapping[str, Any]) -> str:
    """A rule's evidence in a line; steps are counted from 1, as everywhere a person reads."""
    return _short("; ".join(_evident(str(key), value) for key, value in proof.items() if value))


def _evident(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{name.replace('_', ' ')} ({evidence(value)})"
    if name in ("step", "nearest_step") and isinstance(value, int):
        value = value + 1
    if name == "steps" and isinstance(value, list):
        value = [each + 1 for each in value if isinstance(each, int)]
    said = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{name.replace('_', ' ')} {said}"


def _first_step(case: Case, proof: Mapping[str, Any]) -> str:
    steps = proof.get("steps")
    step = steps[0] if isinstance(steps, list) and steps else proof.get("step")
    return to_step(case.id, step) if isinstance(step, int) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _MOST_SAID else text[: _MOST_SAID - 1] + "…"
