"""``navloom serve --cluster ray``: what Ray Serve is told, and that a replica may die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from navloom.cli import ray_serve
from navloom.cli.main import main
from navloom.cli.ray_serve import check_gpus, engine_kwargs, ray_environment, serve_config
from navloom.cli.vllm_flags import load_families, serve_flags
from navloom.errors import ModelError, UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models import get_model
from navloom.testing import ModelServer, reply_with

ENGINE = {"reasoning_parser", "limit_mm_per_prompt", "structured_outputs_config"}
"""Fields of vLLM's ``AsyncEngineArgs`` (vllm/engine/arg_utils.py, 2026)."""
FRONT_END = {"enable_auto_tool_choice", "tool_call_parser", "chat_template"}
"""Fields of vLLM's ``FrontendArgs`` (vllm/entrypoints/launchers/cli_args.py, 2026).

Ray's ``VLLMEngineConfig.from_llm_config`` takes the fields of both, and refuses any other.
"""


def test_print_shows_a_file_for_ray_serve(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["serve", "Qwen/Qwen3-8B", "--cluster", "ray", "--replicas", "4", "--print"]
    assert main([*words, "--port", "9001", "--", "--tensor-parallel-size", "2"]) == 0
    out, err = capsys.readouterr()
    said = yaml.safe_load(out)
    assert said["http_options"] == {"host": "127.0.0.1", "port": 9001}
    (app,) = said["applications"]
    assert app["import_path"] == "ray.serve.llm:build_openai_app"
    assert app["args"]["llm_configs"] == [
        {
            "model_loading_config": {"model_id": "Qwen/Qwen3-8B", "model_source": "Qwen/Qwen3-8B"},
            "engine_kwargs": {
                "enable_auto_tool_choice": True,
                "tool_call_parser": "hermes",
                "reasoning_parser": "qwen3",
                "structured_outputs_config": {
                    "backend": "xgrammar",
                    "disable_any_whitespace": True,
                },
                "tensor_parallel_size": 2,
            },
            "deployment_config": {"num_replicas": 4},
        }
    ]
    assert err == ""


@pytest.mark.parametrize("family", load_families(), ids=lambda each: each.name)
def test_every_family_has_keywords_that_vllm_has(family: Any) -> None:
    name = family.name.replace(" ", "-")
    flags, _ = serve_flags(name, chat_template="tool_use")
    assert set(engine_kwargs(flags)) <= ENGINE | FRONT_END


@pytest.mark.parametrize(
    ("flags", "keywords"),
    [
        (["--max-model-len", "8192"], {"max_model_len": 8192}),
        (["--max_model_len=8192"], {"max_model_len": 8192}),
        (["--enforce-eager"], {"enforce_eager": True}),
        (["--no-enable-prefix-caching"], {"enable_prefix_caching": False}),
        (["--dtype", "bfloat16"], {"dtype": "bfloat16"}),
        (["--gpu-memory-utilization", "0.5"], {"gpu_memory_utilization": 0.5}),
        (["--swap-space", "-1"], {"swap_space": -1}),
        (["--hf-overrides", '{"a": 1}'], {"hf_overrides": {"a": 1}}),
        (["--lora-modules", "a=b", "c=d"], {"lora_modules": ["a=b", "c=d"]}),
        (["--a.b", "c", "--a.d", "1"], {"a": {"b": "c", "d": 1}}),
    ],
)
def test_flags_are_keywords(flags: list[str], keywords: dict[str, Any]) -> None:
    assert engine_kwargs(flags) == keywords


def test_the_name_that_is_asked_for() -> None:
    flags = ["--served-model-name", "mine"]
    (app,) = serve_config("/models/x", flags, replicas=1, host="::1", port=1)["applications"]
    (one,) = app["args"]["llm_configs"]
    assert one["model_loading_config"] == {"model_id": "mine", "model_source": "/models/x"}
    assert one["engine_kwargs"] == {}
    with pytest.raises(UsageError, match="one name"):
        serve_config("x", [*flags, "other"], replicas=1, host="::1", port=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--replicas", "2"], "add --cluster ray"),
        (["--cluster", "ray", "--replicas", "0"], "'--replicas'"),
        (["--cluster", "ray", "--replicas", "500"], "'--replicas'"),
        (["--cluster", "slurm"], "'slurm' is not one of 'ray'"),
        (["--cluster", "ray", "--", "-tp", "2"], "Write -tp out"),
        (["--cluster", "ray", "--", "2"], "'2' is no flag"),
        (["--cluster", "ray", "--", "--port", "1"], "Give --port before the --"),
        (["--cluster", "ray", "--", "--api-key", "sk-x"], "VLLM_API_KEY"),
        (["--cluster", "ray"], "pip install 'ray[llm]>=2.60'"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(ray_serve, "find_spec", lambda name: None)
    assert main(["serve", "Qwen/Qwen3-8B", *words]) == 1
    err = capsys.readouterr().err
    assert err.startswith("navloom: ")
    assert said in err
    assert err.count("\n") == 1


def test_too_few_gpus_are_said_and_not_waited_for() -> None:
    config = serve_config("m", ["--tensor-parallel-size", "2"], replicas=3, host="", port=1)
    (app,) = config["applications"]
    with pytest.raises(ModelError, match="3 replicas of 2 GPUs each need 6, and Ray finds 4"):
        check_gpus(app, 4.0)
    check_gpus(app, 6.0)


def test_a_ray_of_ours_has_a_token_of_its_own_and_reports_nothing() -> None:
    around = {"RAY_ADDRESS": "10.0.0.1:6379", "RAY_AUTH_TOKEN": "theirs", "HF_TOKEN": "x"}
    one, other = ray_environment(around), ray_environment(around)
    assert "RAY_ADDRESS" not in one
    assert (one["RAY_AUTH_MODE"], one["RAY_USAGE_STATS_ENABLED"]) == ("token", "0")
    assert one["HF_TOKEN"] == "x"
    assert len({one["RAY_AUTH_TOKEN"], other["RAY_AUTH_TOKEN"], "theirs"}) == 3
    assert len(one["RAY_AUTH_TOKEN"]) == 64


# --- with Ray Serve itself ------------------------------------------------------------------------

SERVING = """
import sys
from navloom.cli import ray_serve
from navloom.cli.main import main

model_server, pids, config = sys.argv[1], sys.argv[2], ray_serve.serve_config

def forwarding(*given, **more):
    made = config(*given, **more)
    (app,) = made["applications"]
    app["import_path"] = "tests.cli.forwarding:build"
    app["args"] |= {"to": model_server, "pids": pids}
    return made

ray_serve.serve_config, ray_serve.check_installed = forwarding, lambda: None
sys.exit(main(sys.argv[3:]))
"""


@pytest.fixture
def models() -> Iterator[ModelServer]:
    thinks = reply_with(get_model("builtin/heuristic"))

    def slowly(asked: Any) -> Any:
        time.sleep(0.02)
        return thinks(asked)

    with ModelServer(slowly) as server:
        yield server


def crafted(url: str, out: Path) -> list[dict[str, Any]]:
    """The lines of a run whose model is at an address, but for times and retries."""
    os.environ["VLLM_BASE_URL"] = url
    asked = SynthRequest(kind="single", spec="demo:", n=60, model="vllm/any")
    run_request(asked, out, Session(max_connections=4))
    timed = ("seconds", "models")
    lines = [{k: v for k, v in line.items() if k not in timed} for line in read_samples(out)]
    for line in lines:
        line["usage"].pop("retries", None)
    return lines


@pytest.mark.slow
def test_a_replica_that_is_killed_costs_no_sample(
    models: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="pip install 'ray[serve]'")
    pytest.importorskip("fastapi", reason="pip install 'ray[serve]'")
    monkeypatch.setenv("VLLM_BASE_URL", models.openai_url)
    undisturbed = crafted(models.openai_url, tmp_path / "undisturbed")
    (pids := tmp_path / "pids").mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    words = ["serve", "any", "--cluster", "ray", "--replicas", "2", "--port", port]
    to = models.openai_url.removesuffix("/v1")
    command = [sys.executable, "-c", SERVING, to, str(pids), *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, bufsize=1) as serving:
        try:
            said = []
            for line in serving.stderr or ():
                said.append(line)
                if "Ctrl-C ends it" in line:
                    break
            assert f"any is ready at http://127.0.0.1:{port} after" in "".join(said)
            threading.Thread(target=(serving.stderr or sys.stderr).read, daemon=True).start()
            first = sorted(pids.iterdir())
            assert len(first) == 2
            killer = threading.Thread(target=kill_after, args=(first[0], 20), daemon=True)
            killer.start()
            disturbed = crafted(f"http://127.0.0.1:{port}/v1", tmp_path / "disturbed")
            killer.join(0)
            assert not killer.is_alive()
        finally:
            serving.send_signal(signal.SIGINT)
            ended = serving.wait(60)
    assert ended == 130
    assert disturbed == undisturbed
    assert {line["status"] for line in disturbed} <= {"ok", "failed"}
    taken = {each.name: len(each.read_text().splitlines()) for each in pids.iterdir()}
    assert all(taken[each.name] >= 20 for each in first), taken
    with pytest.raises(ProcessLookupError):
        os.kill(int(first[1].name), 0)


def kill_after(pid: Path, requests: int) -> None:
    while len(pid.read_text().splitlines()) < requests:
        time.sleep(0.01)
    os.kill(int(pid.name), signal.SIGKILL)
