"""Claims about speed, one file each; ``python -m benchmarks`` measures and prints them.

A file with a function ``claims() -> list[Claim]`` is found by being here.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Claim"]


@dataclass(frozen=True)
class Claim:
    """One thing we say about speed, as measured just now.

    Attributes:
        claim: what is claimed, in a few words.
        reference: what it is measured against, and what both were run on.
        ratio: how many times better than the reference.
        wanted: the ratio that was promised; 0 where a row is there for information.
        equal: whether both gave the same answers; None where that makes no sense.
        note: what else belongs beside the figure.
    """

    claim: str
    reference: str
    ratio: float
    wanted: float
    equal: bool | None = None
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the promise was kept."""
        return self.ratio >= self.wanted and self.equal is not False
