"""A test batch: a graph of eight steps that logs every call it makes.

`program` is the main function of a process that tests kill.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime

from navloom.evals.run_folder import RunFolder
from navloom.evals.runner import run_batch
from navloom.evals.session import Sample, Session, attempt_id, sample_seed
from navloom.models.usage import reply_usage, stamp_reply

STEPS = 8


class State(TypedDict, total=False):
    seed: int
    messages: Annotated[list[AnyMessage], add_messages]
    usage: Annotated[list[dict[str, Any]], add]
    status: str
    result: dict[str, Any]


@dataclass
class Context:
    name: str
    log: Path | None = None
    delay: float = 0.0
    breaks_at: int | None = None
    model: str = "builtin/heuristic"


def step(number: int) -> Any:
    async def call(state: State, runtime: Runtime[Context]) -> State:
        context = runtime.context
        if context.breaks_at == number:
            raise ValueError("two\nlines")
        if context.delay:
            await asyncio.sleep(context.delay)
        if context.log is not None:
            # Written when the answer is there, as a paid call is: what follows must be kept.
            fd = os.open(context.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(fd, f"{context.name} {number}\n".encode())
            os.close(fd)
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        told = stamp_reply(
            AIMessage(f"{number}:" + "x" * 800, id=f"{number}", usage_metadata=usage),
            model=context.model,
            role="generator",
            seconds=0.0,
            retries=0,
            cached=False,
        )
        update: State = {"messages": [told], "usage": [reply_usage(told)]}
        if number == STEPS - 1:
            odd = state["seed"] % 2
            update["status"] = "failed" if odd else "ok"
            update["result"] = {"said": [str(m.content)[:2] for m in state["messages"][1:]]}
        return update

    return call


def build(checkpointer: Any = None, steps: int = STEPS) -> Any:
    builder = StateGraph(State, context_schema=Context)
    before = START
    for number in range(steps):
        builder.add_node(f"step_{number}", step(number))
        builder.add_edge(before, f"step_{number}")
        before = f"step_{number}"
    builder.add_edge(before, END)
    return builder.compile(checkpointer=checkpointer)


class DummyJob:
    model = "builtin/heuristic"

    def __init__(
        self, log: Path | None = None, delay: float = 0.0, breaks: Mapping[str, int] | None = None
    ) -> None:
        self.log = log
        self.delay = delay
        self.breaks = dict(breaks or {})

    def build(self, checkpointer: Any) -> Any:
        return build(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        return {"seed": sample.seed, "messages": [HumanMessage("p" * 4000, id="first")]}

    def context(self, sample: Sample, model: Any = None) -> Context:
        return Context(sample.id, self.log, self.delay, self.breaks.get(sample.id), self.model)

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        odd = state["status"] == "failed"
        return {
            "status": state["status"],
            "reason": "odd" if odd else None,
            "result": None if odd else state["result"],
        }


def make_samples(count: int, seed: int = 7) -> list[Sample]:
    made = []
    for number in range(count):
        scene = f"demo:{('flat', 'house', 'villa')[number % 3]}"
        name = attempt_id(scene, number // 3)
        made.append(Sample(name, sample_seed(seed, name), scene, number // 3))
    return made


def open_folder(path: Path, **request: Any) -> RunFolder:
    return RunFolder(path, kind="dummy", request={"n": 1, **request}, seed=7)


def program(words: list[str], opened: Connection) -> None:
    """Start or resume a batch; send a message to ``opened`` when the folder is locked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--delay", type=float, default=0.02)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--errors", type=Path, help="where stderr goes")
    asked = parser.parse_args(words)
    if asked.errors:
        os.dup2(os.open(asked.errors, os.O_WRONLY | os.O_CREAT), sys.stderr.fileno())
    with open_folder(asked.run) as folder:
        opened.send("open")
        summary = asyncio.run(
            run_batch(
                folder,
                make_samples(asked.count),
                DummyJob(asked.log, asked.delay),
                Session(max_connections=asked.connections),
            )
        )
    sys.exit(summary.exit_code)
