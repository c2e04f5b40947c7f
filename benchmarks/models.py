"""Overhead around model calls: of an agent's step, of many concurrent runs, and of cached calls.

The overhead of a step is measured against a bare LangGraph graph with the same nodes, state,
checkpointer and scripted model. Its nodes only call the model and store what the real nodes
returned. Both write every step to disk.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal
from unittest import mock

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from benchmarks import Claim
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.graphs.agent_graph import open_checkpoints
from navloom.graphs.navcraft import single as navcraft_single
from navloom.models import get_model
from navloom.models.model_call import CallSettings
from navloom.models.response_cache import ResponseCache
from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.testing import Delay, ModelServer, reply_with

PROMISED_MS = 2.0
CONVERSATIONS, ROUNDS = 60, 3
RUNS, AT_ONCE, REPLY_S, PROMISED_RATE = 600, 200, 0.05, 20.0
CORES = 2
CACHED, PROMISED_S = 1_000, 30.0


def claims() -> list[Claim]:
    """Measure the step overhead, the rate of concurrent runs, and replay from a warm cache."""
    return [asyncio.run(_overhead()), _over_the_wire(), _warm_cache()]


@dataclass(frozen=True)
class _Recorded:
    """One recorded conversation: messages sent, replies, tool results and outcome."""

    seed: int
    opening: list[BaseMessage]
    replies: list[AIMessage]
    answers: list[list[ToolMessage]]
    end: dict[str, Any]

    @property
    def steps(self) -> int:
        return len(self.replies) + len(self.answers) + 1


@dataclass(frozen=True)
class _BareContext:
    told: _Recorded
    model: ScriptedChatModel


async def _propose(state: navcraft_single.State, runtime: Runtime[_BareContext]) -> dict[str, Any]:
    messages = [*runtime.context.told.opening, *state.get("messages", [])]
    return {"messages": [await runtime.context.model.ainvoke(messages)]}


async def _consult(state: navcraft_single.State, runtime: Runtime[_BareContext]) -> dict[str, Any]:
    done = sum(isinstance(message, AIMessage) for message in state["messages"])
    return {"messages": runtime.context.told.answers[done - 1]}


async def _check(
    state: navcraft_single.State,  # noqa: ARG001
    runtime: Runtime[_BareContext],
) -> dict[str, Any]:
    return runtime.context.told.end


def _next(state: navcraft_single.State) -> Literal["consult", "check"]:
    last = state["messages"][-1]
    return "consult" if isinstance(last, AIMessage) and last.tool_calls else "check"


def _bare_graph(checkpointer: Any) -> Any:
    builder = StateGraph(
        navcraft_single.State, context_schema=_BareContext, input_schema=navcraft_single.Input
    )
    builder.add_node("propose", _propose, timeout=900.0)
    builder.add_node("consult", _consult)
    builder.add_node("check", _check)
    builder.add_edge(START, "propose")
    builder.add_conditional_edges("propose", _next)
    builder.add_edge("consult", "propose")
    builder.add_edge("check", END)
    return builder.compile(checkpointer=checkpointer, name="bare")


async def _overhead() -> Claim:
    scene = load_scene("demo:house")
    recorded = [await _record(scene, seed) for seed in range(CONVERSATIONS)]
    steps = sum(told.steps for told in recorded)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_checkpoints(Path(folder) / "c.sqlite") as saver:
            ours, bare = navcraft_single.build_graph(saver), _bare_graph(saver)
            for number in range(ROUNDS):
                seconds = {"ours": 0.0, "bare": 0.0}
                same = True
                for told in recorded:
                    mine = navcraft_single.Context(scene=scene, model=_script(told))
                    spent, end = await _timed(ours, told, mine, f"o{number}-{told.seed}")
                    seconds["ours"] += spent
                    plain = _BareContext(told, _script(told))
                    spent, other = await _timed(bare, told, plain, f"b{number}-{told.seed}")
                    seconds["bare"] += spent
                    same = same and end["result"] == other["result"]
                rounds.append(tuple(seconds[side] / steps * 1e3 for side in ("ours", "bare")))
    mine_ms, bare_ms = (statistics.median(side) for side in zip(*rounds, strict=True))
    return Claim(
        "overhead of an agent's step",
        f"{PROMISED_MS:g} ms over a bare LangGraph graph of the same shape and checkpointer",
        PROMISED_MS / max(mine_ms - bare_ms, 1e-3),
        1.0,
        equal=same,
        note=(
            f"{mine_ms:.2f} ms a step against {bare_ms:.2f} ms of processor time, "
            f"{steps} steps, tools and checks of the answer included"
        ),
    )


async def _record(scene: Scene, seed: int) -> _Recorded:
    heuristic = get_model("builtin/heuristic")
    graph: Any = navcraft_single.graph
    first = await graph.ainvoke(
        {"seed": seed},
        context=navcraft_single.Context(scene=scene, model=heuristic),
        output_keys=graph.stream_channels_list,
    )
    replies: list[AIMessage] = []
    answers: list[list[ToolMessage]] = []
    for message in first["messages"]:
        if isinstance(message, AIMessage):
            replies.append(message)
        elif isinstance(message, ToolMessage):
            answers += [[]] if len(answers) < len(replies) else []
            answers[-1].append(message)
    model = ScriptedChatModel(replies)
    await navcraft_single.graph.ainvoke(
        {"seed": seed}, context=navcraft_single.Context(scene=scene, model=model)
    )
    end = {key: first.get(key) for key in ("status", "reason", "result")}
    return _Recorded(seed, model.calls[0].messages, replies, answers, end)


def _script(told: _Recorded) -> ScriptedChatModel:
    return ScriptedChatModel([reply.model_copy(update={"id": None}) for reply in told.replies])


async def _timed(graph: Any, told: _Recorded, context: Any, name: str) -> tuple[float, Any]:
    # Processor time of all threads, so that other processes on the machine do not count.
    began = time.process_time()
    state = await graph.ainvoke(
        {"seed": told.seed},
        {"configurable": {"thread_id": name}},
        context=context,
        durability="sync",
    )
    return time.process_time() - began, state


def _over_the_wire() -> Claim:
    with (
        _on_cores(CORES),
        tempfile.TemporaryDirectory() as folder,
        _server(REPLY_S) as url,
        _asking(url),
    ):
        # The first calls import the client and load the scenes.
        _synthesise(Path(folder) / "warm", 8)
        began = time.perf_counter()
        summary = _synthesise(Path(folder) / "run", RUNS)
        seconds = time.perf_counter() - began
    rate = RUNS / seconds
    return Claim(
        f"{AT_ONCE} runs at once over the wire",
        f"{PROMISED_RATE:.0f} runs/s, the rate promised; replies take {REPLY_S * 1e3:.0f} ms, "
        f"{CORES} cores for client and server",
        rate / PROMISED_RATE,
        1.0,
        equal=summary.ok == RUNS,
        note=f"{rate:.1f} runs/s: {RUNS} runs, {summary.usage['calls']} calls in {seconds:.1f} s, "
        "every step on disk",
    )


def _warm_cache() -> Claim:
    """Fill a cache from a model server, stop the server, and run the same tasks again."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        kept = CallSettings(cache=ResponseCache(folder / "cache"))
        with _server(0.0) as url, _asking(url):
            _synthesise(folder / "first", CACHED, settings=kept)
        with _asking(url):
            began = time.perf_counter()
            summary = _synthesise(folder / "again", CACHED, settings=kept)
            seconds = time.perf_counter() - began
        first, again = (_results(folder / name) for name in ("first", "again"))
    return Claim(
        f"a warm cache replays {CACHED:,} tasks",
        f"{PROMISED_S:.0f} s, the time promised; the server that gave the replies is gone",
        PROMISED_S / seconds,
        1.0,
        equal=first == again and summary.ok == CACHED,
        note=f"{seconds:.1f} s, every step on disk",
    )


def _results(run: Path) -> dict[str, Any]:
    return {line["id"]: line["result"] for line in read_samples(run)}


def _synthesise(out: Path, runs: int, **options: Any) -> Any:
    request = SynthRequest(kind="single", spec="demo:", n=runs, model="openai/brain")
    return run_request(request, out, Session(max_connections=AT_ONCE, **options))


@contextmanager
def _asking(url: str) -> Iterator[None]:
    settings = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "not-a-real-key-000"}
    with mock.patch.dict(os.environ, settings):
        yield


@contextmanager
def _on_cores(most: int) -> Iterator[None]:
    """Restrict this process and its children to so many cores."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:most])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def _server(reply_s: float) -> Iterator[str]:
    """Start a model server in its own process and yield its address."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, reply_s))
    process.start()
    try:
        yield here.recv()
    finally:
        here.send("stop")
        process.join(10)


def _serve(to: Connection, reply_s: float) -> None:
    thinker = reply_with(get_model("builtin/heuristic"))
    with ModelServer(thinker, faults=lambda _: Delay(reply_s)) as server:
        to.send(server.openai_url)
        to.recv()
