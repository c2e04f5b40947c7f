"""Performance claims, one module each; ``python -m benchmarks`` measures and prints them.

A module in this package that defines ``claims() -> list[Claim]`` is found automatically.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Claim"]


@dataclass(frozen=True)
class Claim:
    """One performance claim and its current measurement.

    Attributes:
        claim: short name of what is measured.
        reference: the reference that it is compared with, and the data that both ran on.
        ratio: speed-up or saving against the reference; above 1 is better than the reference.
        wanted: the ratio that is promised; 0 if the row is for information only.
        equal: True if both sides gave the same answers; None where that does not apply.
        note: further figures to print with the claim.
    """

    claim: str
    reference: str
    ratio: float
    wanted: float
    equal: bool | None = None
    note: str = ""

    @property
    def holds(self) -> bool:
        """True if the ratio reaches the promised one and the answers do not differ."""
        return self.ratio >= self.wanted and self.equal is not False
