"""Traces of runs: what is seen, what is not, and that no collector slows or ends a run."""

from __future__ import annotations

import asyncio
import contextvars
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.graph import START, MessagesState, StateGraph

from navloom.errors import ScriptError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.progress import SilentDisplay
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_batch, run_request
from navloom.evals.sample_runner import run_sample
from navloom.evals.session import Session, StopSignal
from navloom.graphs.tool_loop import answer_tool_calls
from navloom.models import get_model
from navloom.models.model_call import CallSettings, acall
from navloom.models.redaction import redact
from navloom.models.response_cache import ResponseCache
from navloom.models.scripted import ScriptedChatModel
from navloom.models.spans import END_S, agent_span, run_span, trace_context, tracing
from navloom.models.structured_output import bind_schema
from navloom.testing import ModelServer, Status, reply_with
from tests.evals.dummy import DummyJob, make_samples, open_folder
from tests.models.collector import Collector, Seen, tree

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="pip install 'navloom[trace]'")

KEY = "sk-canary-Zebra42quince"
SECRET = "Ask the walrus about bedrooms"
SAMPLE = """\
navloom.sample
  invoke_agent navcraft_collab
    invoke_agent navcraft_single
      chat heuristic
      execute_tool check_two_path_and_adjacency
      chat heuristic
    chat heuristic
    execute_tool check_collab_path_efficient
    chat heuristic"""


class Noted(SilentDisplay):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        if "errands" not in text:
            self.notes.append(text)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with Collector() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        yield found


def synth(
    out: Path, n: int = 3, kind: Any = "collab", model: str = "builtin/heuristic", **session: Any
) -> Any:
    asked = SynthRequest(kind=kind, spec="demo:flat", n=n, model=model)
    return run_request(asked, out, Session(**session))


def by_name(spans: list[Seen], name: str) -> list[Seen]:
    return [each for each in spans if each.name.startswith(name)]


def added(spans: list[Seen], key: str) -> int:
    return sum(each.about.get(f"gen_ai.usage.{key}", 0) for each in spans)


def test_a_sample_is_one_tree_and_the_tokens_are_those_of_the_summary(
    collector: Collector, tmp_path: Path
) -> None:
    noted = Noted()
    synth(tmp_path, display=noted)
    spans = collector.spans
    (run,) = by_name(spans, "navloom.run")
    roots = by_name(spans, "navloom.sample")
    assert run.about == {"navloom.run.kind": "collab", "navloom.run.name": tmp_path.name}
    assert {each.about["navloom.sample.id"] for each in roots} == {
        line["id"] for line in read_samples(tmp_path)
    }
    for root in roots:
        assert tree([each for each in spans if each.trace == root.trace]) == SAMPLE
        assert root.links == (run.id,)
        assert root.about["navloom.sample.status"] == "ok"
        assert root.about["navloom.run.kind"] == "collab"
    usage = json.loads((tmp_path / "summary.json").read_text())["usage"]
    chats = by_name(spans, "chat")
    assert len(chats) == usage["calls"]
    for key in ("input_tokens", "output_tokens"):
        assert added(chats, key) == usage[key] > 0
    assert chats[0].about["gen_ai.operation.name"] == "chat"
    assert chats[0].about["gen_ai.provider.name"] == "builtin"
    assert {each.about["navloom.node"] for each in chats} == {"errand/propose", "propose"}
    assert noted.notes == []


def test_nothing_of_what_was_said_is_sent_unasked(collector: Collector, tmp_path: Path) -> None:
    synth(tmp_path)
    said = {key for each in collector.spans for key in each.about}
    assert not said & {
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions",
        "gen_ai.tool.definitions", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result",
    }  # fmt: skip
    (first, *_) = read_samples(tmp_path)
    sent = b"".join(collector.bodies)
    instruction = first["result"]["phase_1"]["Task instruction"]
    for each in (instruction, *first["result"]["phase_1"]["Single robot start region"].values()):
        assert each.encode() not in sent


def test_cached_replies_count_no_tokens(collector: Collector, tmp_path: Path) -> None:
    settings = CallSettings(cache=ResponseCache(tmp_path / "kept"), cache_in_process=True)
    synth(tmp_path / "paid", n=1, settings=settings)
    paid = len(collector.spans)
    synth(tmp_path / "cached", n=1, settings=settings)
    again = by_name(collector.spans[paid:], "chat")
    assert [each.about["navloom.cached"] for each in again] == [True] * 4
    assert added(again, "input_tokens") == 0


def _talk(note: Callable[[str], None] = print) -> None:
    """One reply that calls tools, known and not, and their answers, with a key all over."""

    def find(thing: str) -> str:
        return f"the {thing} is with {KEY}"

    calls = [
        {"name": "find", "args": {"thing": f"{SECRET} {KEY}"}, "id": "1", "type": "tool_call"},
        {"name": SECRET, "args": {}, "id": "2", "type": "tool_call"},
    ]
    model = ScriptedChatModel([AIMessage(SECRET, tool_calls=calls)])
    tool = StructuredTool.from_function(find, name="find", description="Find a thing.")

    async def ask(state: MessagesState) -> Any:
        reply = await acall(bind_schema(model, tools=[tool]), state["messages"])
        return answer_tool_calls([reply], [tool], failed=lambda call: False, advise=lambda *_: "")

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile()
    asked = HumanMessage(f"{SECRET} {KEY} {'long ' * 40_000}")
    with run_span("talk", "here", note):
        asyncio.run(graph.ainvoke({"messages": [asked]}))


def test_what_was_said_is_sent_where_it_is_asked_for_bounded_and_without_keys(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20collectors-own-key")
    _talk()
    (chat,) = by_name(collector.spans, "chat")
    tool, unknown = by_name(collector.spans, "execute_tool")
    (asked,) = json.loads(chat.about["gen_ai.input.messages"])
    (answer,) = json.loads(chat.about["gen_ai.output.messages"])
    assert asked["role"] == "user"
    assert asked["parts"][0]["content"].startswith(f"{SECRET} <SOME_API_KEY> long")
    assert [each["type"] for each in answer["parts"]] == ["text", "tool_call", "tool_call"]
    assert SECRET in tool.about["gen_ai.tool.call.arguments"]
    assert tool.about["gen_ai.tool.call.result"].endswith("is with <SOME_API_KEY>")
    assert (unknown.name, unknown.failed) == ("execute_tool (unknown)", True)
    assert max(len(str(v)) for each in collector.spans for v in each.about.values()) < 70_000
    assert collector.headers[0]["authorization"] == "Bearer collectors-own-key"
    assert redact("it is collectors-own-key") == "it is [OTEL_EXPORTER_OTLP_HEADERS]"
    assert KEY.encode() not in b"".join(collector.bodies)
    assert b"collectors-own-key" not in b"".join(collector.bodies)


def test_no_word_and_no_key_is_sent_unasked(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    _talk()
    sent = b"".join(collector.bodies)
    assert len(collector.spans) == 4
    assert SECRET.encode() not in sent
    assert KEY.encode() not in sent


def test_what_fails_says_what_kind_of_error_and_no_more(collector: Collector) -> None:
    async def talk() -> None:
        with agent_span(None), pytest.raises(ScriptError):
            await acall(ScriptedChatModel([]), [HumanMessage(SECRET)])

    with run_span("talk", "here", print):
        asyncio.run(talk())
    (chat,) = by_name(collector.spans, "chat")
    assert (chat.failed, chat.about["error.type"]) == (True, "ScriptError")
    assert SECRET.encode() not in b"".join(collector.bodies)


def test_a_call_to_a_server_says_how_often_it_was_tried(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [Status(429, retry_after=0.01)]
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=faults) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        synth(tmp_path, n=1, kind="single", model="openai/gpt-4o-mini")
    chats = by_name(collector.spans, "chat gpt-4o-mini")
    usage = json.loads((tmp_path / "summary.json").read_text())["usage"]
    assert [each.about["navloom.retries"] for each in chats] == [1, 0]
    assert [each.is_client for each in chats] == [True, True]
    assert added(chats, "input_tokens") == usage["input_tokens"] > 0
    assert chats[0].about["gen_ai.provider.name"] == "openai"
    assert chats[0].about["navloom.cost_usd"] > 0
    assert KEY.encode() not in b"".join(collector.bodies)


def test_a_sample_that_breaks_and_one_that_is_stopped(collector: Collector, tmp_path: Path) -> None:
    stop, samples = StopSignal(), make_samples(3)
    job = DummyJob(delay=0.02, breaks={samples[0].id: 1})

    class Stopping(SilentDisplay):
        def step(self, tally: Any) -> None:
            stop.request()

    with open_folder(tmp_path) as folder:
        asyncio.run(run_batch(folder, samples, job, Session(stop=stop, display=Stopping())))
    roots = {r.about["navloom.sample.id"]: r for r in by_name(collector.spans, "navloom.sample")}
    broken = roots.pop(samples[0].id)
    assert (broken.failed, broken.about["error.type"]) == (True, "ValueError")
    for root in roots.values():
        assert (root.failed, root.about["navloom.stopped"]) == (False, True)


def test_a_process_that_joins_links_its_samples_to_the_run(collector: Collector) -> None:
    with run_span("dummy", "here", print):
        words = trace_context()
    assert all(isinstance(each, str) for pair in words.items() for each in pair)
    (run,) = collector.spans

    def elsewhere() -> None:
        with tracing(print, joining=json.loads(json.dumps(words))):
            job, (sample,) = DummyJob(), make_samples(1)
            asyncio.run(run_sample(job, sample, job.build(None)))

    contextvars.Context().run(elsewhere)
    (root,) = by_name(collector.spans, "navloom.sample")
    assert (root.links, root.parent) == ((run.id,), "")
    assert root.about["navloom.run.kind"] == "dummy"


@pytest.mark.slow
def test_samples_of_workers_are_trees_of_the_drivers_run(
    collector: Collector, tmp_path: Path
) -> None:
    synth(tmp_path, n=4, workers=2)
    spans = collector.spans
    (run,) = by_name(spans, "navloom.run")
    roots = by_name(spans, "navloom.sample")
    assert len(roots) == 4
    for root in roots:
        assert tree([each for each in spans if each.trace == root.trace]) == SAMPLE
        assert root.links == (run.id,)
        assert root.about["navloom.run.kind"] == "collab"
    usage = json.loads((tmp_path / "summary.json").read_text())["usage"]
    for key in ("input_tokens", "output_tokens"):
        assert added(by_name(spans, "chat"), key) == usage[key] > 0


@pytest.fixture(scope="module")
def untraced(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    out = tmp_path_factory.mktemp("untraced")
    synth(out, kind="single")
    return lines(out)


def lines(run: Path) -> list[dict[str, Any]]:
    timed = ("seconds", "models")
    return [{k: v for k, v in line.items() if k not in timed} for line in read_samples(run)]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["refuses", "is out of order", "hangs", "is not there", "no URL"])
def test_a_collector_that_takes_nothing_costs_a_run_one_line(
    how: str, untraced: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    noted = Noted()
    status = {"refuses": 401, "is out of order": 503}.get(how, 200)
    with Collector(status=status, hangs=how == "hangs") as found:
        where = {"is not there": "http://127.0.0.1:9", "no URL": "localhost:4318"}
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", where.get(how, found.url))
        began = time.monotonic()
        synth(tmp_path, kind="single", display=noted)
        took = time.monotonic() - began
    assert lines(tmp_path) == untraced
    (note,) = noted.notes
    assert note.startswith("traces do not get to ")
    # A hanging one would hold it for five seconds a request, or the sixty that it sleeps.
    assert took < END_S + 3
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "Navloom speaks http/protobuf alone"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://[bad", "no trace is sent: ValueError"),
        ("OTEL_SDK_DISABLED", "true", None),
        ("OTEL_TRACES_EXPORTER", "none", None),
    ],
)
def test_variables_that_turn_it_off(
    name: str, value: str, said: str | None, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    notes: list[str] = []
    _talk(notes.append)
    assert collector.bodies == []
    assert Counter(bool(said and said in note) for note in notes) == ({True: 1} if said else {})


def test_an_extra_that_is_missing_is_one_line(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "navloom.models.span_sender", None)
    notes: list[str] = []
    _talk(notes.append)
    assert len(notes) == 1
    assert "pip install 'navloom[trace]'" in notes[0]


@pytest.mark.slow
def test_nothing_of_it_is_imported_where_it_is_off() -> None:
    code = (
        "import sys, navloom.evals.runner, navloom.models.spans as spans\n"
        "with spans.run_span('single', 'run', print): pass\n"
        "print([n for n in sys.modules if 'span_' in n or n.startswith('opentelemetry.exporter')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, env={}
    )
    assert done.stdout == "[]\n"
