"""Test kind of run whose samples may kill their process, for the tests of workers."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from operator import add
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypedDict

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from navloom.evals.option import Opt
from navloom.evals.request import Model, RunRequest, Seed
from navloom.evals.run_kinds import CallBounds, RunKind, RunPlan
from navloom.evals.session import Job, Sample, attempt_id, sample_seed
from navloom.models.usage import reply_usage, stamp_reply

STEPS = 4


@dataclass(frozen=True, kw_only=True)
class StrangeRequest(RunRequest):
    KIND: ClassVar[str] = "strange"
    n: Annotated[int, Opt("How many.", min=1, max=100)] = 6
    deadly: Annotated[tuple[str, ...], Opt("Ids that end their process.")] = ()
    once: Annotated[str, Opt("A file: where it is not there yet, the first to come dies.")] = ""
    log: Annotated[str, Opt("A file that gets a line a step.")] = ""
    delay: Annotated[float, Opt("Seconds a step.")] = 0.0
    model: Model = "builtin/heuristic"
    seed: Seed = 0


class State(TypedDict, total=False):
    name: str
    usage: Annotated[list[dict[str, Any]], add]
    status: str
    result: dict[str, Any]


@dataclass
class Context:
    request: StrangeRequest


def step(number: int) -> Any:
    async def node(state: State, runtime: Runtime[Context]) -> State:
        asked, name = runtime.context.request, state["name"]
        if asked.log:
            with Path(asked.log).open("a") as log:
                log.write(f"{name} {number} {os.getpid()}\n")
        time.sleep(asked.delay)
        if number == 2 and name in asked.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 2 and asked.once and not Path(asked.once).exists():
            Path(asked.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        told = stamp_reply(
            AIMessage("x", usage_metadata=usage),
            model="builtin/heuristic", role="generator", seconds=0.0, retries=0, cached=False,
        )  # fmt: skip
        return {"usage": [reply_usage(told)], "status": "ok", "result": {"steps": number + 1}}

    return node


class StrangeJob(Job):
    def build(self, checkpointer: Any) -> Any:
        builder = StateGraph(State, context_schema=Context)
        names = [f"step_{k}" for k in range(STEPS)]
        for k, name in enumerate(names):
            builder.add_node(name, step(k))
        for a, b in zip([START, *names], [*names, END], strict=True):
            builder.add_edge(a, b)
        return builder.compile(checkpointer=checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        return {"name": sample.id}

    def context(self, sample: Sample, model: Any = None) -> Context:
        return Context(self.plan.request)


def plan(request: StrangeRequest, run: Path | None, note: Any) -> RunPlan:
    samples = []
    for k in range(request.n):
        scene = ("demo:flat", "demo:house")[k % 2]
        name = attempt_id(scene, k // 2)
        samples.append(Sample(name, sample_seed(request.seed, name), scene, k // 2))
    return RunPlan(request=request, samples=samples)


STRANGE = RunKind(
    name="strange",
    command="strange",
    request=StrangeRequest,
    plan=plan,
    job=StrangeJob,
    dry=lambda made: CallBounds(most=1),
)


def install(at: Path) -> None:
    """Create a folder from which Python loads this kind, as from an installed package."""
    made = at / "strange-0.1.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 0.1\n")
    (made / "entry_points.txt").write_text(f"[navloom.kinds]\nstrange = {__name__}:STRANGE\n")
