"""Which tasks of a run are wanted: conditions on what was measured of them.

A condition is ``NAME>=NUMBER`` (also ``<=``, ``>``, ``<``, ``=``), such as ``plausible>=0.6``. What
was not measured of a task, as the doors of a home that names none, fulfils no condition on it.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from navloom.errors import UsageError, did_you_mean

_WORTH = ("plausible", "carry", "room", "on", "unambiguous", "namesakes", "doors", "storeys")
_RECORDED = ("alpha", "g_rate", "best_alone", "regret_alpha", "regret_g")
MEASURES = (*_WORTH, "hops", "metres", *_RECORDED)
"""What a condition may name; docs/dataset.md says what each is. ``unambiguous`` is 1 or 0."""
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_CONDITION = re.compile(r"\s*([a-z_0-9]+)\s*(>=|<=|>|<|=)\s*(-?\d*\.?\d+)\s*")


@dataclass(frozen=True)
class Condition:
    """One condition; :meth:`read` it from a line."""

    measure: str
    sign: str
    number: float

    @classmethod
    def read(cls, text: str) -> Self:
        """A condition from ``plausible>=0.6``.

        Raises:
            UsageError: it is of another form, or names nothing that is measured.
        """
        match = _CONDITION.fullmatch(text[:100])
        if match is None:
            raise UsageError(f"--keep {text[:60]!r} is no condition: write plausible>=0.6")
        name, sign, number = match.groups()
        if name not in MEASURES:
            near = did_you_mean(name, MEASURES)
            known = ", ".join(MEASURES)
            raise UsageError(f"--keep {text!r}: nothing measures '{name}': choose {known}.{near}")
        return cls(name, sign, float(number))

    def holds(self, record: Mapping[str, Any]) -> bool:
        """Whether a task fulfils it.

        Args:
            record: the ``navloom`` part of a line or of a sample's result.
        """
        value = _measured(self.measure, record)
        if value is None:
            return False
        close = self.sign == "=" and math.isclose(value, self.number, abs_tol=1e-6)
        return close or _COMPARED[self.sign](value, self.number)


def _measured(name: str, record: Mapping[str, Any]) -> float | None:
    value = {
        "hops": sum(record.get("legs") or ()) or None,
        "metres": record.get("solo_metres"),
        **{each: record.get(each) for each in _RECORDED},
        **{each: (record.get("worth") or {}).get(each) for each in _WORTH},
    }[name]
    return None if value is None else float(value)
