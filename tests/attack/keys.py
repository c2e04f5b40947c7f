"""Attempts to have an API key, or a prompt, sent to a recorder on the loopback.

Each is a folder or a file from a stranger, and an ordinary command of the user. Nothing may reach
the recorder. To show that the attempt is effective, it runs once more with the address allowed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from navloom.cli.main import main
from navloom.evals.run_folder import _line_check, request_hash
from navloom.files import LineFormat
from navloom.models import model_spec
from navloom.models.model_registry import _PROVIDERS, get_model, register_provider
from navloom.models.model_spec import ModelOptions, Provider, origin_of
from navloom.testing.faults import Fault, Status
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with
from tests.attack.attack import Attack
from tests.evals.judging.test_run import line, written

_KEY = "sk-the-users-own-key-0001"
_SHOWN = ["--display", "none"]
_WIRES = {
    "openai/gpt-4o-mini": "openai_url",
    "vllm/any": "openai_url",
    "anthropic/claude-haiku-4-5": "url",
}
KINDS = {
    "single": "synth single demo:flat --n 1",
    "collab": "synth collab demo:flat --n 1",
    "capnav_tasks": "synth capnav demo:flat --questions 1",
    "captions": "caption demo:flat",
    "navigate": "eval scene demo:flat --agent navgpt --n 1",
    "judge_reasoning": "judge reasoning FILE",
    "calibrate_reasoning": "judge calibrate reasoning --n 16",
}
"""Commands that make a small run of each kind; FILE stands for a file of reasons."""
DISGUISES = (
    "openai/m,base_url={url}",
    "openai/m,base_url={shout}",
    "openai/m,temperature=0,base_url={url}/",
    "openai/m, base_url = {url}",
    "openai/m,base_url={url}?to=api.openai.com",
    "openai/m,base_url={url}#https://api.openai.com",
    "openai/m,base_url=http://api.openai.com@{host}/v1",
    "openai/m,base_url=http://api.openai.com\\@{host}/v1",
    "openai/m,base_url=http://api.openai.com%40{host}/v1",
    "openai/m,base_url=http://127.1:{port}/v1",
    "openai/m,base_url=http://2130706433:{port}/v1",
    "openai/m,base_url=http://0x7f.1:{port}/v1",
    "openai/m,base_url=http://[::ffff:127.0.0.1]:{port}/v1",
    "openai/m,base_url=http://127.0.0.1.:{port}/v1",
    "openai/m,base_url=http://127。0。0。1:{port}/v1",
    "openai/m,base_url=\t{url}",
    "openai/m,openai_api_base={url}",
    "openai/m,openai_proxy=http://{host}",
    "openai/m,openai_proxy={host}",
    "anthropic/claude-haiku-4-5,base_url=http://{host}",
    "anthropic/claude-haiku-4-5,anthropic_api_url=http://{host}",
    "anthropic/claude-haiku-4-5,anthropic_proxy=http://{host}",
    "vllm/m,base_url={url}",
    "mine/m,base_url={url}",
    "mine/m,endpoint={host}",
)
"""Model names that a stranger may write; ``mine`` is the provider of a package."""


def _make_mine(name: str, options: ModelOptions) -> Any:
    """Make a model of a package's provider that sends the user's key."""
    from langchain_openai import ChatOpenAI

    url = options.base_url or f"http://{(options.extra or {}).get('endpoint')}/v1"
    return ChatOpenAI(model=name, base_url=url, api_key=os.environ["OPENAI_API_KEY"])  # type: ignore[arg-type]


@contextlib.contextmanager
def _as_a_user(folder: Path) -> Iterator[None]:
    """Work in a folder as a user with keys, on a machine without known addresses."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = {f"{name}_API_KEY": _KEY for name in ("OPENAI", "ANTHROPIC", "VLLM")}
    before = Path.cwd()
    with mock.patch.dict(
        os.environ, {**keys, "XDG_STATE_HOME": str(folder / "state"), "NAVLOOM_NO_CACHE": "1"}
    ):
        for name in ("OPENAI_BASE_URL", "VLLM_BASE_URL", "ANTHROPIC_BASE_URL"):
            os.environ.pop(name, None)
        os.chdir(folder)
        model_spec._distrusted.clear()
        model_spec._allowed.clear()
        register_provider(Provider("mine", "a package's", _make_mine))
        try:
            yield
        finally:
            del _PROVIDERS["mine"]
            os.chdir(before)


def _typed(*words: str) -> tuple[int, str]:
    """Run a command and return its exit code and output."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = main(list(words))
    return code, said.getvalue()


def _elsewhere(model: str, server: ModelServer) -> str:
    name = model.partition(",")[0]
    return f"{model},base_url={getattr(server, _WIRES[name])}"


def _walked(
    words: list[str], recorder: ModelServer, *, real: bool = True, asked: bool = True
) -> str | None:
    """Return the error of an attempt: something got through, or the attempt is ineffective.

    Args:
        words: the command.
        recorder: the server that must get nothing.
        real: True if the message must name the refused address, and not another error.
        asked: True if the recorder gets a call once the address is allowed.
    """
    code, said = _typed(*words)
    what = " ".join(words)
    if recorder.calls or _KEY in said:
        return f"`{what}` sent {len(recorder.calls)} calls"
    if code == 70 or "Traceback" in said:
        return f"`{what}` broke: {said[-200:]}"
    if real:
        if code != 1 or "--allow-address" not in said:
            return f"`{what}` ended with {code} and did not say what to type: {said[-200:]}"
        _typed(*words, "--allow-address", origin_of(recorder.openai_url))
        if asked and not recorder.calls:
            return f"`{what}` is no way at all: with the address allowed nothing was sent"
    return None


def _run_of(kind: str, folder: Path, model: str) -> Path:
    """Make a run of a kind in which every call failed, so that a retry repeats all."""
    file = written(folder / "reasons.jsonl", line("a"))
    words = KINDS[kind].replace("FILE", str(file)).split()
    wire = "openai_url" if not model.startswith("anthropic") else "url"
    with ModelServer(["no"], faults=lambda _: Status(500)) as broken:
        there = {"OPENAI_BASE_URL": broken.openai_url, "VLLM_BASE_URL": broken.openai_url}
        with mock.patch.dict(
            os.environ, {**there, "ANTHROPIC_BASE_URL": str(getattr(broken, wire))}
        ):
            _typed(
                *words, "--model", model, "--out", str(folder / "r"), "--max-retries", "0", *_SHOWN
            )
    return folder / "r"


def _rewrite(run: Path, old: str, new: str) -> None:
    """Put another model into a run, as somebody who knows the format would."""
    said = json.loads((run / "run.json").read_text())
    text = json.dumps(said["request"])
    assert old in text, text
    said["request"] = json.loads(text.replace(json.dumps(old), json.dumps(new)))
    said["request_hash"] = request_hash(said["kind"], said["request"], said["seed"])
    before, said["line_check"] = LineFormat(said["line_check"].encode()), _line_check(said)
    after = LineFormat(said["line_check"].encode())
    errors = (run / "errors.jsonl").read_bytes().splitlines(keepends=True)
    lines = [after.closed((before.opened(each) or b"") + b"\n") for each in errors]
    (run / "errors.jsonl").write_bytes(b"".join(lines))
    (run / "run.json").write_text(json.dumps(said))


def _runs(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    ways = [(kind, model) for kind in KINDS for model in _WIRES]
    if tries < len(ways):
        ways = dice.sample(ways, tries)
    for number, (kind, model) in enumerate(ways):
        here = folder / str(number)
        with _as_a_user(here), ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder:
            run = _run_of(kind, here, model)
            _rewrite(run, model, _elsewhere(model, recorder))
            yield _walked(["retry", str(run), *_SHOWN], recorder)


def _names(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    ways = list(DISGUISES) if tries >= len(DISGUISES) else dice.sample(DISGUISES, tries)
    for number, way in enumerate(ways):
        here = folder / str(number)
        with _as_a_user(here), ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder:
            host = recorder.url.partition("://")[2]
            text = way.format(
                url=recorder.openai_url,
                shout=recorder.openai_url.upper().replace("/V1", "/v1"),
                host=host,
                port=host.partition(":")[2],
            )
            run = _run_of("single", here, "openai/m")
            _rewrite(run, "openai/m", text)
            yield _walked(["retry", str(run), *_SHOWN], recorder, real=False)


def _files(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    del dice, tries
    synth = KINDS["single"].split()
    eval_scene = KINDS["navigate"].split()
    roles = {
        "model": (synth, "model", "{}"),
        "a role": (synth, "model-role", "generator={}"),
        "an oracle": ([*eval_scene, "--oracle", "assistant"], "model-role", "oracle={}"),
        "a navigator": (eval_scene, "model", "{}"),
        "a study": (["study", "relays", "demo:flat", "--n-each", "1"], "model", "{}"),
        "a judge": (["judge", "calibrate", "reasoning", "--n", "16"], "model", "{}"),
    }
    for number, (role, (command, key, form)) in enumerate(roles.items()):
        for model in _WIRES:
            here = folder / f"{number}-{_WIRES[model]}-{model[:3]}"
            with (
                _as_a_user(here),
                ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder,
            ):
                config = here / "c.yaml"
                config.write_text(json.dumps({key: form.format(_elsewhere(model, recorder))}))
                out = ["--out", str(here / "r"), *_SHOWN]
                # The oracle has nothing to say to a baseline that walks straight there.
                asked = role != "an oracle"
                words = [*command, *out, "--run-config", str(config)]
                yield _walked(words, recorder, asked=asked)


def _surroundings(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    """Try files in the working folder: key files, threads, replays and state."""
    del dice, tries
    names = ("OPENAI_BASE_URL", "NAVLOOM_MODEL", "NAVLOOM_RUN_CONFIG", "NAVLOOM_ALLOW_ADDRESS")
    for number, name in enumerate((*names, "HTTPS_PROXY", "http_proxy", "XDG_STATE_HOME")):
        here = folder / str(number)
        with _as_a_user(here), ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder:
            (here / ".env").write_text(f"{name}={recorder.openai_url}\n")
            words = [*KINDS["single"].split(), "--model", "openai/m", "--dry-run"]
            yield _walked([*words, "--out", "r"], recorder, real=False)
    for number, name in enumerate(("state", ".local/state")):
        here = folder / f"s{number}"
        with _as_a_user(here), ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder:
            # A folder that says it is the user's memory, where a relative path would find it.
            kept = here / name / "navloom"
            kept.mkdir(parents=True)
            origins = {origin_of(recorder.openai_url): "typed"}
            told = {"format": "navloom.addresses/1", "origins": origins}
            (kept / "addresses.json").write_text(json.dumps(told))
            (here / "c.yaml").write_text(
                json.dumps({"model": _elsewhere("openai/gpt-4o-mini", recorder)})
            )
            with mock.patch.dict(os.environ, {"XDG_STATE_HOME": name, "HOME": str(here / "home")}):
                words = [*KINDS["single"].split(), "--out", "r", "--run-config", "c.yaml"]
                yield _walked([*words, *_SHOWN], recorder)
    here = folder / "chat"
    with _as_a_user(here), ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder:
        saved = {"format": "navloom.chat/1", "scene": "demo:flat", "transcript": []}
        saved |= {"model": _elsewhere("openai/gpt-4o-mini", recorder)}
        (here / "talk.json").write_text(json.dumps(saved))
        with mock.patch("sys.stdin", io.StringIO("/replay talk.json\ngo to the kitchen\n")):
            yield _walked(["chat", "demo:flat", *_SHOWN], recorder, real=False)


@dataclass(frozen=True)
class _Leads(Fault):
    """Fault that answers with a redirect."""

    status: int
    to: str

    def before(self, exchange: Any) -> bool:
        exchange.send(self.status, b"", {"Location": self.to})
        return True


def _redirects(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    del dice
    ways = [(status, model) for status in (300, 301, 302, 303, 307, 308) for model in _WIRES]
    for number, (status, model) in enumerate(ways[:tries]):
        here = folder / str(number)
        with (
            _as_a_user(here),
            ModelServer(reply_with(get_model("builtin/heuristic"))) as recorder,
            ModelServer(["no"], faults=lambda _, s=status, r=recorder: _Leads(s, r.url)) as leads,  # type: ignore[misc]
        ):
            words = [*KINDS["single"].split(), "--model", _elsewhere(model, leads)]
            yield _walked([*words, "--out", "r", "--max-retries", "0"], recorder, real=False)
            if not leads.calls:
                yield f"{status} {model}: the redirect itself was never asked"


ATTACKS = (
    Attack("keys by a run", "retry sends nothing to an address of its file", _runs, 21, 5),
    Attack("keys by a name", "no spelling of an address gets past", _names, len(DISGUISES), 8),
    Attack("keys by a file", "--run-config sends nothing of any role", _files, 18, 18),
    Attack("keys by surroundings", ".env, memory, saved talk name no address", _surroundings, 1, 1),
    Attack("keys by a redirect", "no redirect is followed elsewhere", _redirects, 18, 9),
)
