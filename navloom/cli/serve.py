"""``navloom serve MODEL``: start a vLLM server with the flags that agents need, and wait for it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from navloom.cli.help_pages import Commands
from navloom.cli.options import takes
from navloom.errors import ModelError, UsageError
from navloom.evals.option import Opt
from navloom.terminal import say, tell

app = Commands()

_LAST_LINES, _MOST_LINE = 12, 300
_FRAME = re.compile(
    r"(?:\(\w+ pid=\d+\) )?(?:[A-Z]+ \d\d-\d\d [\d:]+ \[[\w.]+:\d+\] )?(?:  File \"|    )"
)
"""A traceback's lines that say where: dozens of them, and hardly any last word is left."""
_POLL_S, _HEALTH_S = 0.5, 2.0
_END_S = 20.0
"""How long a server may take to end when asked, before it is killed."""

_MISSING = (
    "vllm is not installed: pip install 'navloom[vllm]' (Linux with a GPU). Without one, "
    "local/PATH.gguf runs a small model on the CPU; `navloom serve MODEL --print` shows the command"
)


@app.command("serve")
@takes()
def serve(
    model: Annotated[
        str,
        Opt(
            "The model as vLLM knows it: Qwen/Qwen3-8B, or a folder.",
            metavar="MODEL",
            argument=True,
        ),
    ],
    flags: Annotated[
        tuple[str, ...],
        Opt("Further flags of `vllm serve`, after --.", metavar="-- FLAGS", argument=True),
    ] = (),
    host: Annotated[str, Opt("The address to listen on.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Opt("The port.", min=1, max=65535)] = 8000,
    images: Annotated[
        int, Opt("The most images in one prompt, where the model takes any.", min=0, max=1000)
    ] = 16,
    chat_template: Annotated[
        str | None,
        Opt("A chat template instead of the model's own: a file, or tool_use.", metavar="FILE"),
    ] = None,
    start_timeout: Annotated[
        float,
        Opt(
            "Seconds that the server may take until it is healthy, downloads included.",
            min=1,
            metavar="SECONDS",
        ),
    ] = 1800.0,
    only_print: Annotated[
        bool, Opt("Print the command and start nothing.", flag="--print", env="")
    ] = False,
) -> None:
    """Start `vllm serve` with the flags that tools, schemas and images need, and wait for it.

    The flags come from a table by model family (docs/models.md). Ctrl-C ends the server.
    """
    from navloom.cli.serve import serve_flags

    if model.startswith("-"):
        raise UsageError(f"'{model}' is no model: write navloom serve MODEL -- FLAGS.")
    if any(flag.startswith("--api-key") for flag in flags):
        # Everyone on the machine sees a command line.
        raise UsageError("Give the server its key by the variable VLLM_API_KEY, not by --api-key.")
    name = model.removeprefix("vllm/")
    given, notes = serve_flags(name, images=images, chat_template=chat_template, given=flags)
    words = ["vllm", "serve", name, "--host", host, "--port", str(port), *given]
    for note in notes:
        say(f"note: {note}")
    if only_print:
        tell(shlex.join(words))
        return
    program = find_vllm()
    if program is None:
        raise ModelError(_MISSING)
    _check_port(host, port)
    say(f"starting: {shlex.join(words)}")
    with _Server([program, *words[1:]]) as server:
        began = time.monotonic()
        server.wait_until_healthy(_url(host, port), start_timeout)
        say(f"{name} is ready at {_url(host, port)} after {time.monotonic() - began:.0f} s. Next:")
        if "--served-model-name" in given[:-1]:
            name = given[given.index("--served-model-name") + 1]
        say(
            f"  VLLM_BASE_URL={_url(host, port)}/v1 navloom synth single demo:"
            f" --model {shlex.quote(f'vllm/{name}')} --n 10 --out runs/first"
        )
        say("Ctrl-C ends it.")
        server.wait()


def find_vllm() -> str | None:
    """Where the program ``vllm`` is, or None."""
    # A virtual environment that is not activated has its programs beside its Python.
    beside = Path(sys.executable).parent / "vllm"
    return shutil.which("vllm") or (str(beside) if os.access(beside, os.X_OK) else None)


def _check_port(host: str, port: int) -> None:
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f"--host {host}: {error.strerror or error}.") from error
    with socket.socket(kind, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose last connections are still closing is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise UsageError(
                    f"Port {port} of {host} is taken: give another with --port, or end what"
                    " listens there."
                ) from error
            raise UsageError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error


def _url(host: str, port: int) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server:
    """The server's process: its words pass through, its last ones are kept."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._last: deque[str] = deque(maxlen=_LAST_LINES)

    def __enter__(self) -> _Server:
        self._before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            self._process = subprocess.Popen(  # noqa: S603
                self._words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                # A session of its own: Ctrl-C reaches it once, from us, and its workers with it.
                start_new_session=True,
            )
        except OSError as error:
            raise ModelError(f"{self._words[0]} cannot be started: {error.strerror}.") from error
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        for ask in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if self._gone(ask):
                break
        with contextlib.suppress(OSError):
            # Workers that their parent left behind would keep the GPU.
            os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join(2)
        signal.signal(signal.SIGTERM, self._before)

    def wait_until_healthy(self, url: str, seconds: float) -> None:
        """Wait until ``/health`` answers.

        Raises:
            ModelError: where the process ends first, or the time is over.
        """
        until = time.monotonic() + seconds
        while not _healthy(url):
            self._check_alive("before it was ready")
            if time.monotonic() > until:
                raise ModelError(
                    f"vllm was not ready within {seconds:g} s: raise --start-timeout."
                    f" Its last words: {self._words_said()}"
                )
            time.sleep(_POLL_S)
        # Whoever took the port between our look and the server's start would answer too.
        self._check_alive("before it was ready")

    def wait(self) -> None:
        """Wait for the process to end.

        Raises:
            ModelError: where it ends in an error.
        """
        self._process.wait()
        self._check_alive("while serving")

    def _read(self) -> None:
        for line in self._process.stdout or ():
            if line.strip() and not _FRAME.match(line):
                self._last.append(line.strip()[:_MOST_LINE])
            sys.stderr.write(line)
            sys.stderr.flush()

    def _check_alive(self, when: str) -> None:
        code = self._process.poll()
        if code is None:
            return
        self._reader.join(2)
        if code == 0 and when == "while serving":
            return
        raise ModelError(f"vllm ended {when} (code {code}). Its last words: {self._words_said()}")

    def _words_said(self) -> str:
        return " | ".join(self._last) or "none"

    def _gone(self, ask: signal.Signals) -> bool:
        """Ask the process and its workers to end; whether the process did."""
        if self._process.poll() is not None:
            return True
        try:
            os.killpg(self._process.pid, ask)
            self._process.wait(_END_S)
        except ProcessLookupError:
            return True
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            return False
        return True


def _healthy(url: str) -> bool:
    # Imported here: it brings ssl and email, and every command reads this file.
    from urllib.request import ProxyHandler, build_opener

    # No proxy of the environment may answer in the server's place.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(f"{url}/health", timeout=_HEALTH_S) as reply:
            return bool(reply.status == 200)
    except (OSError, ValueError):
        return False


_SCHEMAS = json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})
"""Held to a schema that leaves white space free, small models end a reply in thousands of newlines.
vLLM knows the flag since 0.11, and takes it with a grammar engine that is named."""
TEMPLATE_FOLDERS = (Path("/vllm-workspace/examples"), Path("examples"))
"""Where vLLM's own chat templates lie: in its container, or in a checkout of its sources."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models that are served alike.

    Attributes:
        name: what people call it.
        pattern: matches the last part of a model's name, in lower case.
        parser: vLLM's tool-call parser; None where there is none that fits.
        reasoning: vLLM's reasoning parser, for models that think aloud first.
        template: the chat template in vLLM's ``examples`` that makes tools work better.
        images: whether it takes images.
        note: what to know about it.
    """

    name: str
    pattern: str
    parser: str | None = None
    reasoning: str | None = None
    template: str | None = None
    images: bool = False
    note: str = ""


@cache
def families() -> tuple[Family, ...]:
    """All that are known; the first that matches counts."""
    import yaml

    table = files("navloom.cli").joinpath("families.yaml").read_text("utf-8")
    return tuple(Family(**each) for each in yaml.safe_load(table))


def family_of(model: str) -> Family | None:
    """The family that a model belongs to by its name, such as ``Qwen/Qwen2.5-7B-Instruct``."""
    last = model.rstrip("/").rpartition("/")[2].casefold()
    return next((family for family in families() if re.search(family.pattern, last)), None)


def serve_flags(
    model: str, *, images: int = 16, chat_template: str | None = None, given: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """The flags after ``vllm serve MODEL`` that agents need.

    Args:
        model: the model's name or folder.
        images: the most images in one prompt, where the model takes any; 0 turns them off.
        chat_template: a chat template, before the family's own.
        given: flags of the user's, which come last; one that is given here is not set twice.

    Returns:
        The flags, and one line for each thing to know.

    Raises:
        UsageError: for a chat template that is not there.
    """
    family, notes, flags = family_of(model), [], list[tuple[str, ...]]()
    if family is None:
        notes.append(
            f"{model} is in no family that Navloom knows: it is served without a tool-call parser,"
            " so tools may not work; add -- --enable-auto-tool-choice --tool-call-parser NAME"
        )
    else:
        flags += _of_family(family, images)
        notes += [f"{family.name}: {family.note}"] if family.note else []
    template = _template(family, chat_template, given, notes)
    if template is not None:
        flags.append(("--chat-template", template))
    flags.append(("--structured-outputs-config", _SCHEMAS))
    named = (re.split("[=.]", flag)[0] for flag in given if flag.startswith("--"))
    theirs = {flag.replace("_", "-") for flag in named}
    kept = [part for flag in flags if flag[0] not in theirs for part in flag]
    return [*kept, *given], notes


def _of_family(family: Family, images: int) -> list[tuple[str, ...]]:
    flags: list[tuple[str, ...]] = []
    if family.parser:
        flags += [("--enable-auto-tool-choice",), ("--tool-call-parser", family.parser)]
    if family.reasoning:
        flags.append(("--reasoning-parser", family.reasoning))
    if family.images:
        flags.append(("--limit-mm-per-prompt", json.dumps({"image": images})))
    return flags


def _template(
    family: Family | None, wanted: str | None, given: Sequence[str], notes: list[str]
) -> str | None:
    if wanted is not None:
        # A name without a folder or an ending is one of the model's own templates, "tool_use".
        if ("/" in wanted or "." in wanted) and not Path(wanted).is_file():
            raise UsageError(f"There is no chat template {wanted}: give a file.")
        return wanted
    if family is None or family.template is None or any("chat-template" in f for f in given):
        return None
    here = next(
        (f / family.template for f in TEMPLATE_FOLDERS if (f / family.template).is_file()), None
    )
    if here is not None:
        return str(here)
    notes.append(
        f"{family.name}: tools work better with vLLM's own examples/{family.template}; give it"
        " with --chat-template FILE (the wheel does not carry it)"
    )
    return None
