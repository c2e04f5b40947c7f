"""Request of a judge run or a calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from navloom.evals.option import Opt
from navloom.evals.request import HEURISTIC, Constrain, Judge, RunRequest, Seed

_TRACES = ("judge_trace", "calibrate_trace")
_TASKS = ("judge_prefer", "calibrate_prefer")


@dataclass(frozen=True, kw_only=True)
class JudgeRequest(RunRequest):
    """All inputs that the outcome of a judge run depends on, the judged items included."""

    PLACES: ClassVar[Sequence[str]] = ("kind", "of", "against", "n")
    """Not part of the request in ``run.json``, which has hashes of what these name."""
    DERIVED: ClassVar[frozenset[str]] = frozenset(
        {"prompt", "answers", "steps", "walks", "causes", "items", "spec", "pairs"}
    )

    kind: Literal[
        "judge_reasoning",
        "judge_trace",
        "judge_failures",
        "judge_prefer",
        "calibrate_reasoning",
        "calibrate_injections",
        "calibrate_trace",
        "calibrate_prefer",
    ] = "judge_reasoning"
    of: str = ""
    """A file of answers, or a run or file of walks or tasks; in a calibration, the scenes."""
    against: str = ""
    """The second run or file of tasks in a comparison."""
    rubric: Annotated[str, Opt("The rubric: trace, or a .yaml file.", metavar="NAME|FILE")] = (
        "trace"
    )
    model: Judge = HEURISTIC
    n: Annotated[
        int | None,
        Opt(
            "How many items, about.",
            min=8,
            shown="of steps 320, of reasons 540, of --injections all, of tasks 200",
        ),
    ] = None
    """Number of items or payloads of a calibration; the default depends on the kind."""
    max_reasks: Annotated[
        int,
        Opt(
            "How often a reply without a verdict is sent back with what is wrong; then it is"
            " unscored.",
            min=0,
            max=100,
        ),
    ] = 1
    constrain: Constrain = True
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind in _TRACES:
            from navloom.judges.trace_rubric import load_rubric

            load_rubric(self.rubric)

    def record(self) -> dict[str, Any]:
        """Return the entry of ``run.json``: judge, rubric and prompt; the plan adds the items."""
        from navloom.graphs.judging import (
            failure_labeller,
            preference_judge,
            reasoning_judge,
            rubric_judge,
        )
        from navloom.judges.trace_rubric import load_rubric
        from navloom.prompts.prompt_loader import load_prompt

        own = super().record()
        named = own.pop("rubric")
        if self.kind not in _TRACES:
            name = reasoning_judge.PROMPT
            if self.kind in _TASKS:
                name = preference_judge.PROMPT
            elif self.kind == "judge_failures":
                name = failure_labeller.PROMPT
            return {**own, "prompt": load_prompt(name).record}
        whole = load_rubric(named).model_dump(mode="json")
        return {**own, "rubric": whole, "prompt": load_prompt(rubric_judge.PROMPT).record}

    def where(self) -> dict[str, str]:
        """Return the locations of items and rubric on this machine, and the number asked for."""
        return super().where() | {"rubric": self.rubric}

    @classmethod
    def restored(cls, given: dict[str, Any], where: Mapping[str, str]) -> dict[str, Any]:
        """Return field values; locations are text in ``run.json``, so ``n`` is parsed."""
        count = {} if given.get("n") is None else {"n": int(given["n"])}
        return super().restored({**given, **count}, where)
