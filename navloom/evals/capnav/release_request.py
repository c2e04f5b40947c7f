"""What a benchmark of one's own scenes is asked to be."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Literal

from navloom.evals.option import Opt

if TYPE_CHECKING:
    from navloom.scenes.bodies import Embodiment

Truth = Literal["rule", "driven"]


@dataclass(frozen=True)
class Wanted:
    """What is to be written of each scene.

    Attributes:
        truth: whose word on traversability it is.
        bodies: for whom.
        questions: how many of each scene at most.
        seed: of what is left to chance in them.
        tours: whether each is filmed.
    """

    truth: Annotated[
        Truth,
        Opt(
            "capnav: rule reads rooms, links and things; driven has each body drive every link"
            " besides, and where the two differ its word counts.",
            env="",
        ),
    ] = "rule"
    bodies: tuple[Embodiment, ...] = ()
    questions: Annotated[int, Opt("capnav: questions a home.", min=0, max=500, env="")] = 12
    seed: Annotated[int, Opt("capnav: of what is left to chance in them.", min=0, env="")] = 0
    tours: Annotated[bool, Opt("capnav: film ID.mp4 of each, a frame a second.", env="")] = True

    def record(self) -> dict[str, Any]:
        """As JSON; of the bodies a hash."""
        bodies = json.dumps([body.model_dump() for body in self.bodies], sort_keys=True)
        return {**asdict(self), "bodies": sha256(bodies.encode()).hexdigest()}
