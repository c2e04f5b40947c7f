"""Request of a run that generates two-robot tasks in a single answer (CoNavBench A.13)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal

from navloom.errors import UsageError
from navloom.evals import request
from navloom.evals.navcraft.request import ATTEMPTS, FIRST, TAU
from navloom.evals.option import Opt


@dataclass(frozen=True, kw_only=True)
class DirectRequest(request.RunRequest):
    """All settings that the outcome of a one-step run depends on."""

    KIND: ClassVar[str] = "direct"

    spec: request.Spec
    n: Annotated[
        int, Opt("Attempts in all, spread evenly over homes.", min=1, max=request.MOST)
    ] = ATTEMPTS
    model: request.Generator = request.HEURISTIC
    variant: Annotated[
        Literal["v1", "v2"],
        Opt("Which of the paper's two prompts: v2 has symbols for five regions, and paths."),
    ] = "v1"
    tools: Annotated[
        Literal["check", "none"],
        Opt("With v2, the tools that check paths and relays; none, as in the paper."),
    ] = "none"
    tau: Annotated[
        int, Opt("Links that each leg of a valid errand crosses at least.", min=1, max=request.MOST)
    ] = TAU
    constrain: request.Constrain = True
    seed: request.Seed = 0
    max_turns: request.MaxTurns = 12
    max_reasks: request.MaxReasks = 3
    homes: int | None = None
    """Number of scenes to use, the first of the spec. None: all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "v1" and self.tools == "check":
            raise UsageError("--tools check goes with --variant v2: version 1 has no tools")
        if self.model == FIRST:
            raise UsageError(f"{FIRST} takes the first of a list, and a whole answer has none")

    def record(self) -> dict[str, Any]:
        """Return the request for ``run.json``: its settings and the prompt of the run."""
        from navloom.prompts.prompt_loader import load_prompt

        prompt = load_prompt(f"navcraft_direct_{self.variant}").record
        return {**asdict(self), "prompts": [prompt]}
