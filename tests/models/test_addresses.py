"""An address that a file names gets nothing until the user says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.errors import UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models import model_spec
from navloom.models.model_registry import get_model, resolve_model
from navloom.models.model_spec import (
    AddressError,
    allow_origins,
    distrust_address,
    origin_of,
    trust_address,
)
from navloom.testing.faults import Status
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with
from tests.cli.pseudo_terminal import Terminal

KEY = "sk-the-users-own-key-0001"


@pytest.fixture(autouse=True)
def _nobody_was_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    forget()


def forget() -> None:
    """As a new process begins."""
    model_spec._distrusted.clear()
    model_spec._allowed.clear()


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000"),
        ("HTTP://LocalHost:08000", "http://localhost:8000"),
        ("https://api.openai.com:443/v1?x=1", "https://api.openai.com"),
        ("http://[::1]:80/v1", "http://[::1]"),
        ("http://good\\@evil/", "http://good\\@evil/"),
        ("evil:8080", "evil:8080"),
    ],
)
def test_one_origin_has_one_spelling(address: str, origin: str) -> None:
    assert origin_of(address) == origin


def test_a_typed_address_is_the_users_own() -> None:
    get_model("openai/x,base_url=http://gpu1:8000/v1")
    distrust_address("openai/x,base_url=http://gpu1:8000/v1", "r/run.json: 'model'")
    with pytest.raises(AddressError, match="--allow-address http://gpu1:8000"):
        get_model("openai/x,base_url=http://gpu1:8000/other")
    trust_address("judge=openai/y,base_url=http://gpu1:8000/v1")
    get_model("openai/x,base_url=http://gpu1:8000/v1")


def test_what_was_allowed_is_remembered_by_the_next_process_and_for_that_origin_alone() -> None:
    allow_origins(["http://GPU1:8000"])
    forget()
    for port in (8000, 8001):
        distrust_address(f"openai/x,base_url=http://gpu1:{port}/v1", "f.yaml: 'model'")
    get_model("openai/x,base_url=http://gpu1:8000/v1")
    with pytest.raises(AddressError):
        get_model("openai/x,base_url=http://gpu1:8001/v1")
    with pytest.raises(UsageError, match="give scheme, host and port"):
        allow_origins(["gpu1"])


@pytest.mark.parametrize("spoiled", [b"", b"[]", b'{"format": "navloom.addresses/1"}', b"\xff" * 9])
def test_a_spoiled_memory_trusts_nobody_and_is_mended(spoiled: bytes) -> None:
    allow_origins(["http://gpu1:8000"])
    (model_spec.state_folder() / "addresses.json").write_bytes(spoiled)
    forget()
    distrust_address("openai/x,base_url=http://gpu1:8000/v1", "f.yaml: 'model'")
    with pytest.raises(AddressError):
        get_model("openai/x,base_url=http://gpu1:8000/v1")
    allow_origins(["http://gpu1:8000"])
    get_model("openai/x,base_url=http://gpu1:8000/v1")


def test_what_the_environment_names_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    distrust_address("openai/x,base_url=http://gpu1:8000/v1", "f.yaml: 'model'")
    monkeypatch.setenv("VLLM_BASE_URL", "http://gpu1:8000/other")
    get_model("openai/x,base_url=http://gpu1:8000/v1")


def test_a_proxy_that_a_file_names_is_an_address() -> None:
    distrust_address("openai/x,openai_proxy=evil:8080", "f.yaml: 'model'")
    with pytest.raises(AddressError, match=r"evil:8080 \(openai_proxy\)"):
        get_model("openai/x,openai_proxy=evil:8080")


@pytest.mark.slow
def test_a_strangers_run_gets_no_key_until_it_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(["no"], faults=lambda _: Status(500)) as recorder:
        model = f"openai/gpt-4o-mini,base_url={recorder.openai_url}"
        request = SynthRequest(kind="single", spec="demo:flat", n=2, model=model)
        run_request(request, tmp_path / "r", Session(max_retries=0))
        strangers = len(recorder.calls)
        forget()
        assert main(["retry", str(tmp_path / "r")]) == 1
        said = capsys.readouterr().err
        assert len(recorder.calls) == strangers > 0
        origin = origin_of(recorder.openai_url)
        for part in ("r/run.json: 'model'", recorder.openai_url, f"--allow-address {origin}"):
            assert part in said
        assert KEY not in said


@pytest.mark.slow
def test_ones_own_run_goes_on_unasked(tmp_path: Path) -> None:
    words = ["synth", "single", "demo:flat", "--n", "2", "--max-retries", "0", "--display", "none"]
    numbers = iter(range(100))
    with ModelServer(
        reply_with(get_model("builtin/heuristic")),
        faults=lambda _: Status(500) if next(numbers) < 4 else None,
    ) as server:
        model = f"openai/gpt-4o-mini,base_url={server.openai_url}"
        assert main([*words, "--model", model, "--out", str(tmp_path / "r")]) == 2
        forget()
        assert main(["retry", str(tmp_path / "r"), "--display", "none"]) == 0
    assert len(read_samples(tmp_path / "r")) == 2


def test_a_run_config_gets_no_key_and_cannot_allow_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, out = tmp_path / "c.yaml", tmp_path / "r"
    words = ["synth", "single", "demo:flat", "--run-config", str(config), "--out", str(out)]
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder:
        named = {"n": 1, "model": f"openai/any,base_url={recorder.openai_url}"}
        config.write_text(json.dumps(named))
        assert main(words) == 1
        assert f"{config}: 'model' sends calls to {recorder.openai_url}" in capsys.readouterr().err
        assert not out.exists()
        origin = origin_of(recorder.openai_url)
        config.write_text(json.dumps({**named, "allow-address": origin}))
        assert main(words) == 1
        assert "'allow-address' is no flag" in capsys.readouterr().err
        assert recorder.calls == []
        config.write_text(json.dumps(named))
        assert main([*words, "--model", "builtin/heuristic", "--dry-run"]) == 0
        assert recorder.calls == []
        assert main([*words, "--allow-address", origin]) == 0
        assert recorder.calls


def test_a_file_of_roles_gets_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.yaml"
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder:
        config.write_text(
            json.dumps({"model-role": [f"generator=openai/any,base_url={recorder.openai_url}"]})
        )
        words = ["synth", "single", "demo:flat", "--n", "1", "--out", str(tmp_path / "r")]
        assert main([*words, "--run-config", str(config)]) == 1
        assert recorder.calls == []
    assert "'model-role' sends calls to" in capsys.readouterr().err


@pytest.mark.some(1)
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("", 1)])
def test_a_person_at_a_terminal_is_asked(answer: str, code: int, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder:
        config.write_text(
            json.dumps({"n": 1, "model": f"openai/any,base_url={recorder.openai_url}"})
        )
        words = ["synth", "single", "demo:flat", "--run-config", str(config)]
        with Terminal(*words, "--out", str(tmp_path / "r"), environment={}) as terminal:
            terminal.wait_for("now and later? [y/N]")
            terminal.type(answer)
            assert terminal.end() == code
        assert bool(recorder.calls) is (code == 0)


def test_a_model_that_is_kept_is_distrusted_like_one_that_is_made() -> None:
    name = "openai/x,base_url=http://gpu1:8000/v1"
    resolve_model(name)
    distrust_address(name, "f.yaml: 'model'")
    with pytest.raises(AddressError):
        resolve_model(name)
