"""A made-up subject: from one entry a command, runs that go on, retries, a report, a dry run.

CONTRIBUTING, "Adding a subject", says the same in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from operator import add
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime

from navloom.cli.main import main
from navloom.errors import RunError
from navloom.evals import run_kinds
from navloom.evals.option import Opt
from navloom.evals.report.blocks import Prose
from navloom.evals.request import Model, RunRequest, Seed
from navloom.evals.run_folder import read_samples
from navloom.evals.run_kinds import CallBounds, CommandOutput, RunKind, RunPlan, get_kind
from navloom.evals.runner import run_request
from navloom.evals.sample_runner import run_sample
from navloom.evals.session import Job, Sample, Session, StopSignal, attempt_id, sample_seed
from navloom.models import scripted
from navloom.models.model_call import acall
from navloom.models.model_registry import resolve_model
from navloom.models.usage import reply_usage

# --- the subject: what is asked, a graph, a plan, a job, a report, one entry ---------------------


@dataclass(frozen=True, kw_only=True)
class RhymeRequest(RunRequest):
    """What a run of rhymes is asked to be."""

    KIND: ClassVar[str] = "rhyme"

    word: Annotated[str, Opt("The word to find rhymes for.", argument=True)]
    n: Annotated[int, Opt("How many.", min=1, max=100)] = 3
    loud: Annotated[bool, Opt("Ask with an exclamation mark.")] = True
    model: Model = "scripted/rhymer"
    seed: Seed = 0


class State(TypedDict, total=False):
    seed: int
    question: str
    messages: Annotated[list[AnyMessage], add_messages]
    usage: Annotated[list[dict[str, Any]], add]
    status: str
    result: dict[str, Any]


@dataclass
class Context:
    model: Any


async def ask(state: State, runtime: Runtime[Context]) -> State:
    said = await acall(runtime.context.model, [HumanMessage(state["question"])], role="generator")
    return {"messages": [said], "usage": [reply_usage(said)]}


async def read(state: State) -> State:
    said = str(state["messages"][-1].content)
    return {"status": "ok" if said.isalpha() else "failed", "result": {"rhyme": said}}


class RhymeJob(Job):
    def build(self, checkpointer: Any) -> Any:
        builder = StateGraph(State, context_schema=Context)
        builder.add_node(ask)
        builder.add_node(read)
        builder.add_edge(START, "ask")
        builder.add_edge("ask", "read")
        builder.add_edge("read", END)
        return builder.compile(checkpointer=checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        asked = self.plan.request
        question = f"{sample.attempt}: what rhymes with {asked.word}{'!' if asked.loud else '?'}"
        return {"seed": sample.seed, "question": question}

    def context(self, sample: Sample, model: Any = None) -> Context:
        return Context(model or resolve_model(self.plan.request.model))


def plan(request: RhymeRequest, run: Path | None, note: run_kinds.Note) -> RunPlan:
    names = [attempt_id(request.word, k) for k in range(request.n)]
    samples = [
        Sample(n, sample_seed(request.seed, n), request.word, k) for k, n in enumerate(names)
    ]
    return RunPlan(request=request, samples=samples, notes=[f"rhymes for {request.word}"])


def report(runs: list[Path], out: Path | None) -> CommandOutput:
    said = {str(run): [row["result"]["rhyme"] for row in read_samples(run)] for run in runs}
    lines = [Prose(text=f"{run}: {', '.join(found)}") for run, found in said.items()]
    return CommandOutput(lines, whole=True, record=said)


RHYME = RunKind(
    name="rhyme",
    command="rhyme",
    words="Find rhymes.",
    request=RhymeRequest,
    plan=plan,
    job=RhymeJob,
    dry=lambda made: CallBounds(most=1),
    report=report,
    things=("rhymes", "words"),
)

# --- what it gets --------------------------------------------------------------------------------


class Rhymer:
    """A model that writes down what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.stop: StopSignal | None = None
        self.breaks = False

    def __call__(self, messages: list[AnyMessage]) -> AIMessage:
        if self.breaks:
            raise ValueError("no rhyme comes to mind")
        self.asked.append(str(messages[-1].content))
        if self.stop is not None:
            self.stop.request()
        return AIMessage("house")


RHYMER = Rhymer()


@pytest.fixture
def rhymer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rhymer]:
    monkeypatch.setitem(run_kinds.KINDS, "rhyme", f"{__name__}:RHYME")
    RHYMER.__init__()  # type: ignore[misc]  # one for all tests: a model of a name is made once
    scripted.register("rhymer", RHYMER)
    yield RHYMER
    scripted.unregister("rhymer")


def test_the_command_is_made_from_the_request(
    rhymer: Rhymer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rhyme", "--help"]) == 0
    told = capsys.readouterr().out
    for words in ("Find rhymes.", "WORD", "--[no-]loud", "How many.", "--token-limit", "--dry-run"):
        assert words in told
    out = str(tmp_path / "r")
    assert main(["rhyme", "mouse", "--n", "2", "--no-loud", "--out", out, "--display", "none"]) == 0
    assert sorted(rhymer.asked) == ["0: what rhymes with mouse?", "1: what rhymes with mouse?"]
    assert main(["rhyme", "mouse", "--n", "0", "--out", out]) == 1
    assert "greater than or equal to 1" in capsys.readouterr().err
    assert main(["rhyme", "mouse", "--n", "3", "--out", out]) == 1
    assert "n was 2, now 3" in capsys.readouterr().err


def test_a_run_that_was_stopped_goes_on_and_repeats_no_step(rhymer: Rhymer, tmp_path: Path) -> None:
    rhymer.stop = StopSignal()
    session = Session(stop=rhymer.stop, max_connections=1)
    stopped = run_request(RhymeRequest(word="mouse"), tmp_path, session)
    assert (stopped.interrupted, stopped.ok, len(rhymer.asked)) == (True, 0, 1)
    rhymer.stop = None
    assert main(["rhyme", "mouse", "--out", str(tmp_path), "--display", "none"]) == 0
    assert len(rhymer.asked) == len(set(rhymer.asked)) == 3
    assert [row["result"] for row in read_samples(tmp_path)] == [{"rhyme": "house"}] * 3


def test_a_retry_and_a_report(
    rhymer: Rhymer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rhymer.breaks, out = True, str(tmp_path)
    assert main(["rhyme", "mouse", "--out", out, "--display", "none"]) == 2
    assert f"navloom retry {out} tries them again" in capsys.readouterr().err
    rhymer.breaks = False
    assert main(["retry", out, "--display", "none"]) == 0
    capsys.readouterr()
    assert main(["report", out]) == 0
    assert capsys.readouterr().out == f"{out}: house, house, house\n"
    assert main(["report", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {out: ["house"] * 3}
    assert main(["export", out, "--out", str(tmp_path / "t.jsonl")]) == 1
    assert "makes no dataset" in capsys.readouterr().err


def test_a_dry_run(rhymer: Rhymer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rhyme", "mouse", "--out", str(tmp_path / "r"), "--dry-run"]) == 0
    said = capsys.readouterr()
    assert "0: what rhymes with mouse!" in said.out
    assert "scripted/rhymer: 3 rhymes in 1 word, nobody was called" in said.err
    assert "calls: 3 at least, 3 at most" in said.err
    assert not rhymer.asked
    assert not (tmp_path / "r").exists()


async def test_a_sample_runs_apart_from_any_folder(rhymer: Rhymer) -> None:
    made = plan(RhymeRequest(word="mouse"), None, print)
    job = RhymeJob(made)
    line = await run_sample(job, made.samples[1], job.build(None))
    assert (line["id"], line["status"], line["result"]) == ("mouse-00001", "ok", {"rhyme": "house"})
    rhymer.breaks = True
    line = await run_sample(job, made.samples[1], job.build(None))
    assert (line["status"], line["reason"]) == ("error", "ValueError")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "rhymes"}, "it is a 'rhymes'. navloom 0.0.9 made and reads it"),
        ({"request": {"word": "x", "metre": 5}}, "its request has 'metre'. navloom 0.0.9 made"),
        ({"request": {"n": 1}}, "broken"),
    ],
)
def test_a_run_of_another_version_is_one_line_that_says_which(
    rhymer: Rhymer,
    change: dict[str, Any],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = {"navloom": "0.0.9", "kind": "rhyme", "request": {"word": "x"}, **change}
    (tmp_path / "run.json").write_text(json.dumps(said))
    (tmp_path / "errors.jsonl").write_text('{"id": "x-00000", "status": "error"}\n')
    assert main(["retry", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_a_kind_that_is_not_there_is_named_with_what_is_near(
    rhymer: Rhymer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunError, match="Did you mean 'rhyme'"):
        get_kind("rhime")
    for entry, words in (("no.such:X", "cannot be imported"), (f"{__name__}:plan", "no Kind")):
        monkeypatch.setitem(run_kinds.KINDS, "odd", entry)
        with pytest.raises(RunError, match=words):
            get_kind("odd")


@pytest.mark.parametrize("name", sorted(run_kinds.OURS))
def test_our_own_kinds_are_called_what_their_entries_say(name: str) -> None:
    assert get_kind(name).name == name
