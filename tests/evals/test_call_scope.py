"""What stands around every call of a run: cache, limits, retries, counts, secrets."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from navloom.cli.main import main
from navloom.errors import RunError, UsageError
from navloom.evals.dry_run import dry_run
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.results import report_tables
from navloom.evals.navcraft.scores import score_run
from navloom.evals.progress import SilentDisplay, Summary
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.runner import run_request
from navloom.evals.sample_runner import CallScope
from navloom.evals.session import Session, StopSignal
from navloom.models import get_model
from navloom.models.call_failure import CallFailure
from navloom.models.model_call import CallSettings, RetryEvent
from navloom.models.response_cache import ResponseCache
from navloom.models.usage import UsageLimits
from navloom.testing import Delay, Drop, Garble, ModelServer, Status, reply_with
from tests.testing.table import short_waits

CANARY = "sk-canary/Zebra+42-quince-77=="
OPENAI = "openai/gpt-4o-mini"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as made:
        monkeypatch.setenv("OPENAI_BASE_URL", made.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        yield made


def asked(**changes: Any) -> SynthRequest:
    return SynthRequest(
        **{"kind": "single", "spec": "demo:flat", "n": 6, "model": OPENAI} | changes
    )


def summary_of(run: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((run / "summary.json").read_text())
    return said


def same(run: Path) -> dict[str, Any]:
    """All that a run folder says, but for times."""

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            other = {"created", "check", "line_check"}
            left = {k: v for k, v in value.items() if not k.endswith("seconds") and k not in other}
            return {key: timeless(each) for key, each in left.items()}
        return [timeless(each) for each in value] if isinstance(value, list) else value

    lines = {
        name: [json.loads(line) for line in (run / name).read_text().splitlines()]
        for name in ("samples.jsonl", "errors.jsonl")
    }
    whole = {name: json.loads((run / name).read_text()) for name in ("run.json", "summary.json")}
    found = {name: sorted(rows, key=lambda row: row["id"]) for name, rows in lines.items()} | whole
    assert {p.name for p in run.iterdir()} - set(found) <= {
        "scenes.json",
        "checkpoints.sqlite",
        "calls.sqlite",
        ".lock",
    }
    said: dict[str, Any] = timeless(found)
    return said


# --- cache ---------------------------------------------------------------------------------------


def test_a_run_of_cached_replies_calls_nobody_and_costs_nothing(
    server: ModelServer, tmp_path: Path
) -> None:
    settings = CallSettings(cache=ResponseCache(tmp_path / "cache"))
    first = run_request(asked(kind="collab"), tmp_path / "a", Session(settings=settings))
    made = len(server.calls)
    second = run_request(asked(kind="collab"), tmp_path / "b", Session(settings=settings))
    assert len(server.calls) == made == first.usage["calls"]
    assert second.usage == {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cached_calls": made}
    assert first.cost_usd
    assert second.cost_usd == 0
    assert [row["result"] for row in read_samples(tmp_path / "a")] == [
        row["result"] for row in read_samples(tmp_path / "b")
    ]


PROCESS_MODELS = ("builtin/random", OPENAI)
PROGRAM = "import sys; from tests.evals.test_call_scope import made; made(*sys.argv[1:])"


def made(folder: str, *pairs: str) -> None:
    """A run of each model for each ``name=cache``."""
    for pair in pairs:
        name, _, cache = pair.partition("=")
        settings = CallSettings(cache=ResponseCache(Path(folder, cache)), cache_in_process=True)
        for number, model in enumerate(PROCESS_MODELS):
            request = SynthRequest(kind="collab", spec="demo:", n=6, model=model, seed=3)
            run_request(request, Path(folder, f"{name}{number}"), Session(settings=settings))


@pytest.mark.slow
def test_two_processes_make_the_same_folder(server: ModelServer, tmp_path: Path) -> None:
    made(str(tmp_path), "warm=cache", "a=cache")
    words = [sys.executable, "-c", PROGRAM, str(tmp_path), "b=cache", "c=another"]
    subprocess.run(words, check=True, timeout=120)
    for number in range(len(PROCESS_MODELS)):
        warm, a, b, c = (same(tmp_path / f"{name}{number}") for name in ("warm", "a", "b", "c"))
        assert a == b
        assert a["summary.json"]["usage"]["calls"] == 0
        assert c == warm


# --- counts --------------------------------------------------------------------------------------


def test_calls_are_counted_by_model_and_role(server: ModelServer, tmp_path: Path) -> None:
    made = run_request(asked(), tmp_path / "r")
    (part,) = summary_of(tmp_path / "r")["models"]
    assert (part["model"], part["role"]) == (OPENAI, "generator")
    assert part["calls"] == made.usage["calls"] == len(server.calls)
    assert part["input_tokens"] == made.usage["input_tokens"] > 0
    assert part["cost_usd"] == pytest.approx(made.cost_usd)
    assert part["seconds"] > 0
    rows = read_samples(tmp_path / "r")
    assert sum(row["models"][0]["calls"] for row in rows) == part["calls"]
    score = score_run(tmp_path / "r")
    assert [each.calls for each in score.models] == [part["calls"]]
    (table,) = (table for table in report_tables([score]) if table.title == "Calls")
    assert table.rows[0][:2] == (f"r: {OPENAI}, generator", str(part["calls"]))


def test_an_unknown_price_is_said(server: ModelServer, tmp_path: Path) -> None:
    made = run_request(asked(model="openai/nobody-9", n=1), tmp_path / "r")
    assert made.cost_usd is None
    assert made.cost_note == "no price is known for openai/nobody-9"
    assert made.models[0]["cost_usd"] is None


def test_retries_are_seen_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    class Notes(SilentDisplay):
        def note(self, text: str) -> None:
            said.append(text)

    faults = [Status(429, retry_after=0.01), Status(429, retry_after=0.01)]
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=faults) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        made = run_request(asked(n=2), tmp_path / "r", Session(display=Notes(), max_connections=1))
    assert made.usage["retries"] == made.models[0]["retries"] == 2
    assert said[1:] == ["1 retry; openai/gpt-4o-mini: HTTP 429, again in 0.0 s"]


def test_a_storm_of_retries_is_a_line_now_and_then() -> None:
    said: list[str] = []
    display = SilentDisplay()
    display.note = said.append  # type: ignore[method-assign]
    told: list[str] = []
    settings = CallSettings(on_retry=lambda name, _: told.append(name))
    around = CallScope(settings, UsageLimits(), display, 1).make_settings()
    assert around.on_retry is not None
    for _ in range(50):
        around.on_retry("a/b", RetryEvent(1, CallFailure("rate", "slow down", 429), 1.0))
    assert len(said) == 1
    assert len(told) == 50


def test_retries_of_a_call_that_failed_for_good_count_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [Status(500, text="boom"), Status(500, text="boom")]
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=faults) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        made = run_request(asked(n=1), tmp_path / "r")
        (error,) = read_errors(tmp_path / "r")
        assert (made.error, error["usage"]["retries"], error["cost_usd"]) == (1, 1, 0)
        assert main(["retry", str(tmp_path / "r"), "--display", "none"]) == 0
    assert read_errors(tmp_path / "r") == []
    assert len(read_samples(tmp_path / "r")) == 1


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("flight", [1, 3])
@pytest.mark.parametrize("kind", ["single", "collab"])
def test_a_token_limit_ends_the_session_and_a_higher_one_goes_on(
    server: ModelServer, tmp_path: Path, flight: int, kind: Any
) -> None:
    whole = run_request(asked(kind=kind), tmp_path / "whole")
    calls = len(server.calls)
    largest = max(whole.usage["input_tokens"], 1)
    used = whole.usage["input_tokens"] + whole.usage["output_tokens"]
    out = tmp_path / "r"
    made: Summary | None = None
    for share in (0.3, 0.6, 2.0):
        most = int(used * share)
        made = run_request(asked(kind=kind), out, Session(token_limit=most, max_connections=flight))
        assert read_errors(out) == []
        if share < 1:
            assert (made.exit_code, made.interrupted) == (2, False)
            assert made.limit == f"--token-limit {int(used * share)} is reached"
            spent = made.usage["input_tokens"] + made.usage["output_tokens"]
            assert spent <= int(used * share) + flight * largest
    assert made is not None
    assert (made.limit, made.left, made.exit_code) == (None, 0, 0)
    assert [r["result"] for r in read_samples(out)] == [
        r["result"] for r in read_samples(tmp_path / "whole")
    ]
    assert len(server.calls) == 2 * calls, "no call was made twice"
    assert [r["usage"] for r in read_samples(out)] == [
        r["usage"] for r in read_samples(tmp_path / "whole")
    ]


def test_a_cost_limit_ends_the_session(server: ModelServer, tmp_path: Path) -> None:
    made = run_request(asked(), tmp_path / "r", Session(cost_limit=0.0005, max_connections=1))
    assert made.limit == "--cost-limit $0.0005 is reached"
    assert made.left > 0
    largest = max(row["cost_usd"] for row in read_samples(tmp_path / "r"))
    assert made.cost_usd is not None
    assert made.cost_usd <= 0.0005 + largest
    with pytest.raises(UsageError, match="no price is known for openai/nobody-9"):
        run_request(asked(model="openai/nobody-9"), tmp_path / "x", Session(cost_limit=1))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("kind", ["single", "collab"])
def test_what_samples_under_way_have_used_is_counted(
    server: ModelServer, tmp_path: Path, kind: Any
) -> None:
    """Also within an errand, which is a graph within NavCraft-C's."""
    request, out = asked(kind=kind), tmp_path / "r"
    made = run_request(request, out, Session(token_limit=3_000, max_connections=4))
    assert made.left == 6
    assert (made.usage["calls"], len(read_samples(tmp_path / "r"))) == (len(server.calls), 0)
    assert made.cost_usd
    assert summary_of(tmp_path / "r")["models"][0]["calls"] == len(server.calls)
    calls = len(server.calls)
    again = run_request(request, out, Session(cost_limit=made.cost_usd))
    assert (again.limit, again.left) == (f"--cost-limit ${made.cost_usd:g} is reached", 6)
    assert (len(server.calls), again.cost_usd) == (calls, made.cost_usd)
    whole = run_request(request, out)
    assert (whole.left, whole.usage["calls"]) == (0, len(server.calls))


def test_a_time_limit_ends_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(
        reply_with(get_model("builtin/heuristic")), faults=lambda _: Delay(0.15)
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        made = run_request(asked(n=20), tmp_path / "r", Session(time_limit=0.5, max_connections=1))
        assert made.limit == "--time-limit 0.5 s is reached"
        assert made.left > 0


def test_limits_and_settings_are_no_part_of_the_request(
    server: ModelServer, tmp_path: Path
) -> None:
    run_request(asked(n=1), tmp_path / "r", Session(token_limit=10**9))
    said = (tmp_path / "r" / "run.json").read_text()
    assert "token_limit" not in said
    run_request(asked(n=1), tmp_path / "r", Session(max_retries=9))


# --- dry run -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["single", "collab"])
def test_a_dry_run_calls_nobody_and_bounds_what_a_run_takes(
    server: ModelServer, tmp_path: Path, kind: Any
) -> None:
    dry = dry_run(asked(kind=kind, spec="demo:"))
    assert server.calls == []
    made = run_request(asked(kind=kind, spec="demo:"), tmp_path / "r")
    assert (dry.samples, dry.scenes) == (6, 3)
    assert dry.calls[0] <= made.usage["calls"] <= dry.calls[1]
    assert dry.input_tokens[0] <= made.usage["input_tokens"] <= dry.input_tokens[1]
    assert dry.cost_usd is not None
    assert made.cost_usd is not None
    assert dry.cost_usd[0] <= made.cost_usd <= dry.cost_usd[1]
    sent = [call.body["messages"][1]["content"] for call in server.calls]
    assert dry.prompts[0].messages[1][1] in sent


def test_a_dry_run_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert dry_run(asked()).cost_usd is not None
    assert dry_run(asked(model="vllm/q/m")).cost_usd is None
    (prompt,) = dry_run(asked(), Session(sample_id=["demo-flat-00002"])).prompts
    assert prompt.sample == "demo-flat-00002"


# --- reading a request back ----------------------------------------------------------------------


def test_a_request_is_read_back_as_it_was(tmp_path: Path) -> None:
    profile = tmp_path / "me.yaml"
    profile.write_text("Age: 50\nOccupation: cook\nHobbies: tea\n")
    given = {"model": "builtin/heuristic", "n": 2, "tau": 3, "constrain": False}
    for kind, more in (("single", {}), ("collab", {"strict_helper": True})):
        request = asked(kind=kind, **given, **more)
        run_request(request, tmp_path / kind)
        assert SynthRequest.read(tmp_path / kind) == request
    lifted = asked(kind="collab", model="builtin/heuristic", source=str(tmp_path / "single"), n=2)
    try:
        run_request(lifted, tmp_path / "lifted")
    except RunError:
        pytest.skip("no valid task to lift")
    assert SynthRequest.read(tmp_path / "lifted") == lifted


@pytest.mark.parametrize(
    "change",
    [{"kind": "annotation"}, {"request": {"kind": "single", "colour": 1}}, {"request": {}}],
)
def test_what_is_no_run_of_synth_is_one_line(tmp_path: Path, change: dict[str, Any]) -> None:
    said = {"kind": "single", "request": {"kind": "single", "spec": "demo:", "n": 1}, **change}
    (tmp_path / "run.json").write_text(json.dumps(said))
    with pytest.raises(RunError) as error:
        SynthRequest.read(tmp_path)
    assert "\n" not in str(error.value)


def test_a_call_that_fails_while_the_session_ends_is_made_by_the_next(
    server: Any, tmp_path: Path
) -> None:
    stop = StopSignal()
    asking = CallSettings(on_retry=lambda *_: stop.request())
    fault = Status(529, retry_after=200)
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=[fault]) as busy:
        one = asked(n=1, model=f"{OPENAI},base_url={busy.openai_url}")
        cut = run_request(one, tmp_path / "r", Session(settings=asking, stop=stop))
        assert (cut.interrupted, cut.left, cut.error, len(busy.calls)) == (True, 1, 0, 1)
        whole = run_request(one, tmp_path / "r")
    assert (whole.left, whole.error) == (0, 0)


# --- secrets -------------------------------------------------------------------------------------

FORMS = (
    CANARY,
    quote(CANARY, safe=""),
    base64.b64encode(CANARY.encode()).decode(),
    base64.b64encode(f"Basic user:{CANARY}".encode()).decode(),
)
TOLD = " ".join(FORMS)
FAULTS: dict[str, Any] = {
    "401": Status(401, text=f"bad key {TOLD}"),
    "400": Status(400, text=TOLD),
    "404": Status(404, text=TOLD),
    "429": Status(429, text=TOLD, retry_after=0.01),
    "500": Status(500, text=TOLD),
    "529": Status(529, text=TOLD),
    "malformed": Garble(f'{{"choices": [{TOLD}'.encode()),
    "html": Garble(f"<html>{TOLD}".encode(), "text/html"),
    "cut": Drop(),
    "late": Delay(1),
}


def written(folder: Path) -> str:
    return "\n".join(
        f"{path}:{path.read_bytes().decode('utf-8', errors='replace')}"
        for path in folder.rglob("*")
        if path.is_file()
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAULTS, "refused", "said", "raised"])
def test_a_canary_is_in_nothing_that_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("NAVLOOM_NO_CACHE")
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path / "cache"))
    fault = FAULTS.get(name)
    if name == "raised":

        def broken(*_: Any, **__: Any) -> Any:
            raise RuntimeError(f"header was {TOLD}")

        monkeypatch.setattr("langchain_openai.ChatOpenAI._agenerate", broken)
    words = ["synth", "single", "demo:flat", "--model", OPENAI, "--n", "2", "--max-turns", "2"]
    words += ["--out", str(tmp_path / "r"), "--display", "plain", "--max-retries", "1"]
    words += ["--attempt-timeout", "0.5"]
    replying = ModelServer(lambda _: f"my key is {TOLD}", faults=lambda _: fault)
    with replying as server, short_waits():
        url = "http://127.0.0.1:9/v1" if name == "refused" else server.openai_url
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        code = main(words)
        main([*words, "--json"])
        main(["retry", str(tmp_path / "r"), "--display", "plain"])
        main(["report", str(tmp_path / "r"), "--out", str(tmp_path / "report")])
    assert code in (0, 1, 2)
    everything = written(tmp_path) + "".join(capfd.readouterr())
    assert "demo-flat" in everything
    for form in (*FORMS, "Zebra", "quince"):
        assert form not in everything, form
    assert base64.b64encode(CANARY.encode()[3:-3]).decode().rstrip("=")[2:-2] not in everything


def test_a_defects_file_tells_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(TOLD)

    monkeypatch.setattr("navloom.evals.runner.run_request", broken)
    assert main(["synth", "single", "demo:flat", "--out", str(tmp_path / "r")]) == 70
    monkeypatch.setenv("NAVLOOM_DEBUG", "1")
    assert main(["synth", "single", "demo:flat", "--out", str(tmp_path / "r")]) == 70
    everything = written(tmp_path) + "".join(capsys.readouterr())
    assert "RuntimeError: <OPENAI_API_KEY>" in everything
    assert not any(form in everything for form in FORMS)


def test_no_key_stands_in_run_json(server: ModelServer, tmp_path: Path) -> None:
    run_request(asked(n=1), tmp_path / "r")
    assert CANARY not in written(tmp_path)
    assert os.environ["OPENAI_API_KEY"] == CANARY
