"""What a judging is asked to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from navloom.evals.option import Opt
from navloom.evals.request import HEURISTIC, Constrain, Judge, Request, Seed

_TRACES = ("judge_trace", "calibrate_trace")
_TASKS = ("judge_prefer", "calibrate_prefer")


@dataclass(frozen=True, kw_only=True)
class JudgeRequest(Request):
    """Everything the outcome of a judging depends on, what is judged included."""

    PLACES: ClassVar[Sequence[str]] = ("kind", "of", "against", "n")
    """None of these stands as it is in ``run.json``: what they name does, by its content."""
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
    """A file of answers, a run or file of walks or tasks, or of a calibration the scenes."""
    against: str = ""
    """Of two runs or files of tasks, the other one."""
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
    """Items of a calibration, or payloads; its own number unless given."""
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
            from navloom.judges.trace import load_rubric

            load_rubric(self.rubric)

    def record(self) -> dict[str, Any]:
        """How is judged, as ``run.json`` keeps it; what is judged is the plan's."""
        from navloom.graphs.judging import labeller, preference, reasoning, rubric
        from navloom.judges.trace import load_rubric
        from navloom.prompts.load import load_prompt

        own = super().record()
        named = own.pop("rubric")
        if self.kind not in _TRACES:
            others = {"judge_failures": labeller.PROMPT} | dict.fromkeys(_TASKS, preference.PROMPT)
            return {**own, "prompt": load_prompt(others.get(self.kind, reasoning.PROMPT)).record}
        whole = load_rubric(named).model_dump(mode="json")
        return {**own, "rubric": whole, "prompt": load_prompt(rubric.PROMPT).record}

    def where(self) -> dict[str, str]:
        """Where the items and the rubric are on this machine, and how many were asked for."""
        return super().where() | {"rubric": self.rubric}

    @classmethod
    def restored(cls, given: dict[str, Any], where: Mapping[str, str]) -> dict[str, Any]:
        """The fields as they were: a place is text."""
        count = {} if given.get("n") is None else {"n": int(given["n"])}
        return super().restored({**given, **count}, where)
