"""What one line of a dataset claims, by short names, and what can be wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from navloom.evals.navcraft.ground import Ground

__all__ = ["Claim", "Fault", "read_claim"]

_FETCH = re.compile(r"Take the \S+ from (\S+) to the (\S+) in (\S+)\.")


class Fault(NamedTuple):
    """What is wrong with a task, and with which part of it."""

    where: str
    problem: str


@dataclass(frozen=True)
class Claim:
    """One line, by short names.

    Attributes:
        ground: the scene.
        start: robot_1's start region.
        target: the object's region.
        object: the object's name.
        end: the region it goes to.
        end_asset: the asset it goes to; None where the instruction breaks the template.
        path: the transitions.
        instruction: the sentence.
        rest: what stands under ``navloom``; empty where nothing does.
        relay: ``phase_2``; None for a task of one robot.
    """

    ground: Ground
    start: str
    target: str
    object: str
    end: str
    end_asset: str | None
    path: list[str]
    instruction: str
    rest: dict[str, Any]
    relay: dict[str, Any] | None

    @property
    def least(self) -> int:
        """The hops a leg must have: ``max(2, tau)``."""
        return max(2, int(self.rest.get("tau", 2)))

    @property
    def strict(self) -> bool:
        """Whether the helper was held to the stricter rule."""
        return bool(self.rest.get("strict_helper"))

    @property
    def kind(self) -> str:
        """``Type-A1`` or ``Type-A2``; empty without a relay."""
        return str(self.relay["Collaborative type"]) if self.relay else ""

    @property
    def helper(self) -> str:
        """robot_2's start region; empty without a relay."""
        return str(self.relay["Collaborative robot start region"]["robot_2"]) if self.relay else ""

    @property
    def handoff(self) -> str:
        """The transfer region; empty without a relay."""
        return str(self.relay["Transfer region"]) if self.relay else ""

    @property
    def roles(self) -> tuple[str, str]:
        """Who fetches and who delivers."""
        return ("robot_2", "robot_1") if self.kind == "Type-A1" else ("robot_1", "robot_2")

    @property
    def transfer_asset(self) -> str | None:
        """The asset of the handoff, as the fetching robot's sentence names it."""
        if self.relay is None:
            return None
        said = _FETCH.fullmatch(self.relay["Subtask instruction"][self.roles[0]])
        return said[2] if said else None


def read_claim(ground: Ground, line: dict[str, Any]) -> Claim:
    """Read a line that keeps ``navcraft.schema.json``."""
    phase_1 = line["phase_1"]
    said = _FETCH.fullmatch(phase_1["Task instruction"])
    return Claim(
        ground=ground,
        start=phase_1["Single robot start region"]["robot_1"],
        target=phase_1["Single robot target object region"]["robot_1"],
        object=phase_1["Target object"],
        end=phase_1["Single robot end region"]["robot_1"],
        end_asset=said[2] if said else None,
        path=phase_1["Single robot travel path"]["robot_1"],
        instruction=phase_1["Task instruction"],
        rest=line.get("navloom") or {},
        relay=line["phase_2"],
    )
