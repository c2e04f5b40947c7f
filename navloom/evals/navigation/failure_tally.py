"""How often what went wrong in a run: behaviours by causes, of failures and of successes apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from navloom.evals.navigation.failure_behaviour import BEHAVIOURS, Behaviour
from navloom.evals.navigation.failure_cause import CAUSES, Cause
from navloom.evals.report.table import Table

__all__ = ["FailureTally", "Tagged", "error_tables", "read_tags", "tally_tags"]


@dataclass(frozen=True)
class Tagged:
    """An episode's tags, read back from a line of ``samples.jsonl``.

    Attributes:
        success: whether the episode is one.
        behaviours: at least one; the first is the one it counts under.
        cause: why it left the right way.
        evidence: see :class:`navloom.evals.navigation.failures.Analysis`.
        deviation: the first deviation's record; None where there is none.
    """

    success: bool
    behaviours: tuple[Behaviour, ...]
    cause: Cause
    evidence: Mapping[str, Any] = field(default_factory=dict)
    deviation: Mapping[str, Any] | None = None

    @property
    def behaviour(self) -> Behaviour:
        """The one that the episode counts under."""
        return self.behaviours[0]


def read_tags(tags: Any) -> Tagged | None:
    """Read a line's tags; None where they are not what ``Analysis.tags`` writes."""
    if not isinstance(tags, Mapping) or not isinstance(tags.get("behaviour"), list):
        return None
    said = tags["behaviour"]
    behaviours = tuple(kind for kind in BEHAVIOURS if kind in said)
    cause = next((kind for kind in CAUSES if kind == tags.get("cause")), None)
    if not behaviours or len(behaviours) != len(said) or cause is None:
        return None
    evidence, deviation = tags.get("evidence"), tags.get("first_deviation")
    return Tagged(
        success=tags.get("success") is True,
        behaviours=tuple(sorted(behaviours, key=said.index)),
        cause=cause,
        evidence=evidence if isinstance(evidence, Mapping) else {},
        deviation=deviation if isinstance(deviation, Mapping) else None,
    )


@dataclass(frozen=True)
class FailureTally:
    """Counts over the episodes of a run that failed, or over those that succeeded.

    Attributes:
        episodes: how many there are.
        first: by (behaviour, cause): each episode once, under its first behaviour.
        anywhere: by behaviour: an episode under each of its behaviours.
        details: by behaviour, how it was so: how a loop was told, what was wrong with a reply, ...
    """

    episodes: int = 0
    first: Counter[tuple[Behaviour, Cause]] = field(default_factory=Counter)
    anywhere: Counter[Behaviour] = field(default_factory=Counter)
    details: Mapping[Behaviour, Counter[str]] = field(default_factory=dict)

    def of(self, behaviour: Behaviour) -> int:
        """Episodes that count under a behaviour."""
        return sum(count for (kind, _), count in self.first.items() if kind == behaviour)

    def by(self, cause: Cause) -> int:
        """Episodes of a cause."""
        return sum(count for (_, kind), count in self.first.items() if kind == cause)


def tally_tags(tagged: Iterable[Tagged], *, success: bool) -> FailureTally:
    """Count the episodes that succeeded, or those that did not."""
    chosen = [each for each in tagged if each.success is success]
    details: dict[Behaviour, Counter[str]] = {}
    for each in chosen:
        for kind in each.behaviours:
            proof = each.evidence.get(kind)
            details.setdefault(kind, Counter()).update(_details(proof))
    return FailureTally(
        episodes=len(chosen),
        first=Counter((each.behaviour, each.cause) for each in chosen),
        anywhere=Counter(kind for each in chosen for kind in each.behaviours),
        details=details,
    )


_KNOWN_DETAILS = {
    "revisits": "revisits",
    "cycle": "cycles",
    "short": "on the right way",
    "elsewhere": "off the right way",
    "unparsed": "unparsed",
    "invalid_option": "invalid option",
    "refusal": "refusal",
    "other": "other",
}


def _details(proof: Any) -> Iterator[str]:
    if not isinstance(proof, Mapping):
        return
    by = proof.get("by")
    said = by if isinstance(by, list) else [proof.get("where"), proof.get("kind")]
    for word in said:
        if isinstance(word, str) and word in _KNOWN_DETAILS:
            yield _KNOWN_DETAILS[word]


_NOTES = {
    False: (
        "Each failed episode once, under the first of its behaviours in this order; “in all” counts"
        " it under each. The cause is judged by rules at the first deviation from the ground truth."
    ),
    True: (
        "The same of the episodes that succeeded: a loop or a detour on the way, a time-out at the"
        " goal, a reply that had to be asked for again. “none” found the goal and did nothing of"
        " the kind."
    ),
}


def error_tables(tagged: Iterable[Tagged]) -> Iterator[Table]:
    """Behaviours by causes, of failures and then of successes; nothing of what did not happen."""
    every = list(tagged)
    for success, title in ((False, "What went wrong"), (True, "Within successes")):
        tally = tally_tags(every, success=success)
        if tally.episodes:
            yield _table(tally, title, _NOTES[success])


def _table(tally: FailureTally, title: str, note: str) -> Table:
    causes = [cause for cause in CAUSES if tally.by(cause)]
    rows = [_row(tally, kind, causes) for kind in BEHAVIOURS if tally.anywhere[kind]]
    total = ("all", *(str(tally.by(cause)) for cause in causes), str(tally.episodes), "100 %", "")
    header = ("behaviour", *causes, "episodes", "share", "in all")
    return Table(title, note, header, (*rows, total))


def _row(tally: FailureTally, kind: Behaviour, causes: list[Cause]) -> tuple[str, ...]:
    details = tally.details.get(kind, Counter())
    said = ", ".join(f"{word} {count}" for word, count in sorted(details.items()))
    count = tally.of(kind)
    return (
        kind.replace("_", " ") + (f" ({said})" if said else ""),
        *(str(tally.first[kind, cause] or "–") for cause in causes),
        str(count),
        f"{count / tally.episodes:.1%}",
        str(tally.anywhere[kind]),
    )
