"""Request of a run of ``synth team``: all options that determine its results."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal

from navloom.errors import UsageError
from navloom.evals.option import Opt
from navloom.evals.request import (
    HEURISTIC,
    MOST,
    Compact,
    Constrain,
    Generator,
    MaxReasks,
    MaxTurns,
    RunRequest,
    Seed,
    Spec,
)

_FIRST = "builtin/first"


@dataclass(frozen=True, kw_only=True)
class TeamRequest(RunRequest):
    """All options that determine the results of a run of team tasks."""

    KIND: ClassVar[str] = "team"

    spec: Spec
    n: Annotated[int, Opt("Attempts in all, spread evenly over homes.", min=1, max=MOST)] = 20
    model: Generator = HEURISTIC
    robots: Annotated[int, Opt("Robots of the team.", min=1, max=12)] = 3
    errands: Annotated[int, Opt("Things to be carried.", min=1, max=12)] = 2
    bodies: Annotated[
        str,
        Opt(
            "The robots' bodies in turn, such as FETCH,SPOT,FETCH, or FILE.json#NAME.",
            metavar="NAME,...",
            shown="robots that pass everything at 1 m/s",
        ),
    ] = ""
    max_metres: Annotated[
        float | None, Opt("The most that a robot may walk.", min=0.1, max=100_000, metavar="M")
    ] = None
    by: Annotated[
        Literal["makespan", "alpha", "metres", "longest"],
        Opt(
            "What is to be little: the time until all is done, robot_1's share of its own way"
            " alone, the metres of all, or the most metres of one."
        ),
    ] = "makespan"
    tools: Annotated[
        Literal["check", "library", "none"],
        Opt("What the planner may call: check_team_plan; reach and travel_time beside it; none."),
    ] = "check"
    tau: Annotated[
        int, Opt("Links that each leg of the first errand crosses at least.", min=1, max=MOST)
    ] = 2
    constrain: Constrain = True
    compact: Compact = False
    choices: Annotated[
        Literal["ranked", "blind"],
        Opt(
            "With --compact: the ways to do an errand by number, the least first; or a blind list,"
            " some that will do in the order of the seed."
        ),
    ] = "ranked"
    seed: Seed = 0
    max_turns: MaxTurns = 12
    max_reasks: MaxReasks = 3
    homes: int | None = None
    """Use only this many scenes of the spec, from the first on."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model == _FIRST and not self.compact:
            raise UsageError(f"{_FIRST} takes the first of a list: give --compact, which has lists")
        if self.choices != "ranked" and not self.compact:
            raise UsageError(f"--choices {self.choices} goes with --compact: whole plans have none")
        if self.tools != "check" and self.compact:
            raise UsageError(f"--tools {self.tools} goes without --compact, which offers no tools")

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, assigned to the robots in turn."""
        return tuple(each.strip() for each in self.bodies.split(",")) if self.bodies else ()

    def record(self) -> dict[str, Any]:
        """Return the request for ``run.json``: its options, and the prompt of the run."""
        from navloom.prompts.prompt_loader import load_prompt

        name = "navcraft_team_choices" if self.compact else "navcraft_team"
        return {**asdict(self), "prompts": [load_prompt(name).record]}
