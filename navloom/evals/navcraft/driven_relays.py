"""Results of relays that two bodies drove in a simulator (``synth collab --verify-sim``)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from navloom.evals.report.formatting import NOTHING, Table, percent, rate_cell
from navloom.evals.report.intervals import Rate, ValueDistribution

_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_MOST_REASONS = 12


@dataclass(frozen=True)
class DrivenRelays:
    """Summary of the driven relays of a run, including those dropped for failing.

    Attributes:
        bodies: bodies of robot_1 and robot_2.
        done: share of relays in which every leg arrived.
        legs: share of legs that arrived.
        longer: metres driven over metres planned on G+, minus 1, for each completed relay.
        contacts: number of contacts of each relay that was driven at all.
        alpha: alpha by metres driven, for each completed relay.
        reasons: failure reasons with counts, most frequent first, without names and numbers.
    """

    bodies: tuple[str, str]
    done: Rate
    legs: Rate
    longer: ValueDistribution
    contacts: ValueDistribution
    alpha: ValueDistribution
    reasons: tuple[tuple[str, int], ...]

    def record(self) -> dict[str, Any]:
        """Return the summary as JSON."""
        return {
            "bodies": list(self.bodies),
            "done": self.done.hits,
            "relays": self.done.of,
            "legs_arrived": self.legs.hits,
            "legs": self.legs.of,
            "longer_mean": self.longer.mean,
            "longer_median": self.longer.median,
            "contacts_mean": self.contacts.mean,
            "alpha_mean": self.alpha.mean,
            "reasons": dict(self.reasons),
        }


def summarise_driving(samples: Iterable[Mapping[str, Any]]) -> DrivenRelays | None:
    """Return a summary of the driven relays of some samples; None if no relay was driven."""
    found = [
        each for sample in samples
        if (each := ((sample.get("result") or {}).get("navloom") or {}).get("driven"))
    ]  # fmt: skip
    if not found:
        return None
    done = [each for each in found if each["done"]]
    legs = [leg for each in found for leg in each["legs"]]
    why = Counter(_bare(str(each["reason"])) for each in found if not each["done"])
    bodies = found[0]["bodies"]
    return DrivenRelays(
        (str(bodies["robot_1"]), str(bodies["robot_2"])),
        Rate(len(done), len(found)),
        Rate.among(leg["arrived"] for leg in legs),
        ValueDistribution(
            tuple(each["driven"] / each["planned"] - 1 for each in done if each["planned"])
        ),
        ValueDistribution.of(each["contacts"] for each in found if each["legs"]),
        ValueDistribution.of(each["alpha"] for each in done),
        tuple(sorted(why.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def _bare(reason: str) -> str:
    """Return a reason without names and numbers, so that equal reasons count together."""
    robot, _, why = reason.partition(": ")
    if why.startswith("No way leads"):
        # "No way leads ... for FETCH: the door between ...: too narrow: 0.80 m ..."
        parts = why.split(": ", 2)
        why = parts[2] if len(parts) > 2 else "too little room on every way"
    elif why.startswith("it did not get past"):
        why = "it was stuck against something"
    return f"{robot}: {_NUMBERS.sub('…', why).rstrip('.')}"[:120]


def driven_table(named: Sequence[tuple[str, DrivenRelays]]) -> Table:
    """Return a table of driven relays, one row a run, and of the failure reasons."""
    rows: list[tuple[str, ...]] = [
        (
            f"{name}: {' and '.join(each.bodies)}",
            rate_cell(each.done),
            rate_cell(each.legs),
            percent(each.longer.mean, each.longer.interval),
            NOTHING if each.contacts.mean is None else f"{each.contacts.mean:.1f}",
            NOTHING if each.alpha.mean is None else f"{each.alpha.mean:.2f}",
        )
        for name, each in named
    ]
    rows += [
        (f"{name}: not done: {reason}", str(count), *[NOTHING] * 4)
        for name, each in named
        for reason, count in each.reasons[:_MOST_REASONS]
    ]
    header = ("relays of", "driven", "legs arrived", "longer", "contacts a relay", "alpha driven")
    note = (
        "Every accepted relay was carried out by two bodies in one home, in each other's way"
        " (CoNavBench 4.1). Driven: every leg ended within a metre of its thing, in its room."
        " Longer: metres driven over those planned on G+, minus 1, of relays that were driven;"
        " alpha driven: robot_1's metres over its body's own way alone."
    )
    return Table("Driven", note, header, tuple(rows))
