"""Request of a captioning run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from navloom.errors import UsageError
from navloom.evals.option import Opt
from navloom.evals.request import HEURISTIC, Constrain, Describer, MaxReasks, RunRequest, Seed, Spec


@dataclass(frozen=True, kw_only=True)
class CaptionRequest(RunRequest):
    """All inputs that the outcome of a captioning run depends on."""

    KIND: ClassVar[str] = "captions"

    spec: Spec
    model: Describer = HEURISTIC
    job: Annotated[
        tuple[Literal["markers", "summary"], ...],
        Opt(
            "markers: a line for each way on; summary: a sentence for each viewpoint. May be given"
            " twice.",
            shown="both",
        ),
    ] = ("markers", "summary")
    constrain: Constrain = True
    max_reasks: MaxReasks = 2
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.job:
            raise UsageError("job is empty: expected markers, summary or both")
        object.__setattr__(self, "job", tuple(dict.fromkeys(self.job)))

    def record(self) -> dict[str, Any]:
        """Return the entry of ``run.json``, with the prompts that the run will use."""
        from navloom.graphs.captions.captioner import PROMPTS
        from navloom.prompts.prompt_loader import load_prompt

        prompts = [load_prompt(PROMPTS[job]).record for job in self.job]
        return {**super().record(), "job": list(self.job), "prompts": prompts}
