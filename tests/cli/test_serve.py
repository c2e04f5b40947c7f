"""``navloom serve`` with a program that plays vLLM: what it is given, and how it ends."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from navloom.cli import serve
from navloom.cli.main import main

FAKE = '''#!{python}
"""Plays `vllm serve`: writes down its arguments, then does as FAKE_VLLM says."""
import http.server, json, os, pathlib, signal, sys, time

here = pathlib.Path(os.environ["FAKE_FOLDER"])
(here / "asked.json").write_text(json.dumps(sys.argv[1:]))
(here / "pid").write_text(str(os.getpid()))
how = os.environ.get("FAKE_VLLM", "")
print("INFO loading weights", flush=True)
if how == "dies":
    print("torch.OutOfMemoryError: CUDA out of memory.", flush=True)
    sys.exit(1)
if how == "refuses":
    print((here / "refusal.txt").read_text(), flush=True)
    sys.exit(1)
if how == "hangs":
    time.sleep(60)
port = int(sys.argv[sys.argv.index("--port") + 1])
born = time.monotonic()

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        healthy = time.monotonic() - born > 0.3
        self.send_response(200 if healthy and self.path == "/health" else 503)
        self.end_headers()
        if how == "short" and healthy:
            print("the engine core died", flush=True)
            os._exit(3)
    def log_message(self, *a): pass

def end(*_):
    (here / "ended").write_text("by Ctrl-C")
    sys.exit(0)

signal.signal(signal.SIGINT, end)
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
'''


COMPACT = ("--structured-outputs-config", '{"backend": "xgrammar", "disable_any_whitespace": true}')
"""What keeps vLLM from free white space: refused without a backend that is named."""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH with a program ``vllm``, and what it wrote down."""
    program = tmp_path / "vllm"
    program.write_text(FAKE.replace("{python}", sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_FOLDER", str(tmp_path))
    monkeypatch.setattr(serve, "_POLL_S", 0.05)
    return tmp_path


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def asked(folder: Path) -> list[str]:
    words: list[str] = json.loads((folder / "asked.json").read_text())
    return words


def test_print_shows_the_command_and_starts_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "find_vllm", lambda: pytest.fail("nothing is to be started"))
    assert main(["serve", "Qwen/Qwen3-VL-8B-Instruct", "--print", "--images", "4"]) == 0
    out, err = capsys.readouterr()
    assert shlex.split(out) == [
        *("vllm", "serve", "Qwen/Qwen3-VL-8B-Instruct", "--host", "127.0.0.1", "--port", "8000"),
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        *("--limit-mm-per-prompt", '{"image": 4}'),
        *COMPACT,
    ]
    assert err == ""


def test_flags_after_two_dashes_go_to_vllm_and_come_before_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = ["--tensor-parallel-size", "2", "--tool-call-parser=qwen3_xml"]
    assert main(["serve", "vllm/Qwen/Qwen3-Coder-30B-A3B-Instruct", "--print", "--", *more]) == 0
    words = shlex.split(capsys.readouterr().out)
    assert words[2] == "Qwen/Qwen3-Coder-30B-A3B-Instruct"
    assert words[-3:] == more
    assert "qwen3_coder" not in words
    assert "--enable-auto-tool-choice" in words


@pytest.mark.parametrize(
    "theirs",
    [
        ["--structured-outputs-config", "{}"],
        ["--structured_outputs_config={}"],
        ["--structured-outputs-config.backend", "guidance"],
    ],
)
def test_white_space_is_left_free_where_the_user_says_so(
    theirs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "Qwen/Qwen3-8B", "--print", "--", *theirs]) == 0
    words = shlex.split(capsys.readouterr().out)
    assert words[-len(theirs) :] == theirs
    assert "disable_any_whitespace" not in " ".join(words)


def test_an_unknown_family_is_served_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "acme/Road-Runner-7B", "--print"]) == 0
    out, err = capsys.readouterr()
    assert "--tool-call-parser" not in out
    assert err.startswith("note: acme/Road-Runner-7B is in no family that Navloom knows")
    assert "tools may not work" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["m", "--chat-template", "no/such.jinja"], "There is no chat template no/such.jinja"),
        (["m", "--", "--api-key", "sk-x"], "VLLM_API_KEY"),
        (["m", "--host", "no.such.host.invalid"], "--host no.such.host.invalid"),
        (["m", "--host", "203.0.113.7"], "Cannot listen on 203.0.113.7:8000"),
        (["m", "--prot", "1"], "--port"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str], said: str, fake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *words]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("navloom: ")
    assert said in last
    assert "sk-x" not in last
    assert not (fake / "asked.json").exists()


def test_without_vllm_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "find_vllm", lambda: None)
    assert main(["serve", "Qwen/Qwen3-8B"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("navloom: vllm is not installed: pip install 'navloom[vllm]'")
    assert err.count("\n") == 1


def test_a_port_that_is_taken(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        assert main(["serve", "Qwen/Qwen3-8B", "--port", taken]) == 1
    assert f"navloom: Port {taken} of 127.0.0.1 is taken" in capsys.readouterr().err
    assert not (fake / "asked.json").exists()


def test_a_server_that_dies_is_told_with_its_last_words(
    fake: Path, port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "dies")
    assert main(["serve", "Qwen/Qwen3-8B", "--port", str(port)]) == 1
    err = capsys.readouterr().err
    assert "navloom: vllm ended before it was ready (code 1)" in err
    assert err.splitlines()[-1].endswith("torch.OutOfMemoryError: CUDA out of memory.")
    assert "INFO loading weights\n" in err


# The end of what vLLM 0.32 wrote, asked for a context that is longer than the model's.
REFUSAL = """Traceback (most recent call last):
  File "vllm/engine/arg_utils.py", line 1955, in create_model_config
    return ModelConfig(
           ^^^^^^^^^^^^
(EngineCore pid=7) ERROR 11-24 04:01:32 [core.py:402]   File "vllm/v1/core.py", line 1, in init
pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig
  Value error, User-specified max_model_len (99999) is greater than the derived max_model_len
    For further information visit https://errors.pydantic.dev/2.14/v/value_error"""


def test_the_last_words_are_what_went_wrong_and_not_where(
    fake: Path, port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "refuses")
    (fake / "refusal.txt").write_text("x\n" * 9 + REFUSAL + '\n  File "a.py", line 1\n' * 20)
    assert main(["serve", "Qwen/Qwen3-8B", "--port", str(port)]) == 1
    err = capsys.readouterr().err
    assert REFUSAL in err
    said = err.splitlines()[-1].partition("Its last words: ")[2].split(" | ")
    assert said[-3:] == [REFUSAL.splitlines()[n].strip() for n in (0, 5, 6)]


def test_a_server_that_is_never_ready_is_ended(
    fake: Path, port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "hangs")
    words = ["serve", "Qwen/Qwen3-8B", "--port", str(port), "--start-timeout", "1"]
    assert main(words) == 1
    assert "vllm was not ready within 1 s: raise --start-timeout" in capsys.readouterr().err
    with pytest.raises(ProcessLookupError):
        os.kill(int((fake / "pid").read_text()), 0)


def test_a_server_that_dies_while_serving(
    fake: Path, port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "short")
    assert main(["serve", "Qwen/Qwen3-8B", "--port", str(port)]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "(code 3)" in last
    assert "the engine core died" in last


@pytest.fixture
def running(fake: Path, port: int) -> Iterator[Any]:
    command = [sys.executable, "-m", "navloom.cli.main", "serve", "Qwen/Qwen3-8B"]
    with subprocess.Popen(
        [*command, "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
        start_new_session=True,
    ) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_waits_says_what_to_type_next_and_ends_with_ctrl_c(
    running: Any, fake: Path, port: int, how: signal.Signals
) -> None:
    said = []
    for line in running.stderr:
        said.append(line)
        if "Ctrl-C ends it" in line:
            break
    told = "".join(said)
    assert f"Qwen/Qwen3-8B is ready at http://127.0.0.1:{port} after" in told
    assert f"VLLM_BASE_URL=http://127.0.0.1:{port}/v1 navloom synth single demo:" in told
    assert "--model vllm/Qwen/Qwen3-8B" in told
    assert "INFO loading weights" in told
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
        assert reply.status == 200
    words = asked(fake)
    assert words[:6] == ["serve", "Qwen/Qwen3-8B", "--host", "127.0.0.1", "--port", str(port)]
    assert words[6:] == [
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        *("--reasoning-parser", "qwen3"),
        *COMPACT,
    ]
    began = time.monotonic()
    running.send_signal(how)
    assert running.wait(15) == 130
    assert time.monotonic() - began < 10
    assert (fake / "ended").read_text() == "by Ctrl-C"
    assert "Traceback" not in running.stderr.read()
