"""What a run's oracle is, and what its answers gave away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from navloom.tools.navigation.giveaways import KINDS


@dataclass
class OracleScores:
    """What the answers of one run's oracle add up to.

    Attributes:
        knows: a level; ``nothing`` of one that draws by lot, ``bound`` of the one that knows the
            path and speaks at every step.
        arrival: whether it says if this is the goal.
        ask_cost: steps that a question costs.
        answers: how many were looked at for what they give away.
        told: how many of them gave away what.
    """

    knows: str
    arrival: bool = True
    ask_cost: int = 0
    answers: int = 0
    told: Counter[str] = field(default_factory=Counter)

    def add(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Add what was said in an episode's steps; old runs do not say what it gave away."""
        for step in steps:
            for said in (step.get("asked"), step.get("oracle")):
                if said and said.get("told") is not None:
                    self.answers += 1
                    self.told.update(said["told"])

    def record(self) -> dict[str, Any]:
        """As ``summary.json`` keeps it: ``told`` by kind, as shares of the answers."""
        many = self.answers
        told = {kind: round(self.told[kind] / many, 4) for kind in KINDS} if many else {}
        return {**asdict(self), "told": told}


def oracle_of(request: Mapping[str, Any]) -> OracleScores | None:
    """The oracle of a run's request; before there were levels each was told the path."""
    if request.get("oracle") == "bound":
        return OracleScores("bound")
    if not (request.get("dialogue") or request.get("oracle") in ("assistant", "path")):
        return None
    by_lot = (request.get("oracle_model") or request.get("model")) == "builtin/random"
    return OracleScores(
        "nothing" if by_lot else request.get("oracle_knows", "path"),
        request.get("oracle_arrival", True),
        request.get("ask_cost", 0),
    )
