"""``navloom serve MODEL``: start vLLM with the flags that agents need, and wait for it."""

from __future__ import annotations

import contextlib
import errno
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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from navloom.cli.options import CommandApp, with_options
from navloom.errors import ModelError, UsageError
from navloom.evals.option import Opt
from navloom.models.redaction import print_err, print_out

app = CommandApp()

MOST_REPLICAS = 64
_LAST_LINES, _MOST_LINE = 12, 300
_FRAME = re.compile(
    r"(?:\(\w+ pid=\d+\) )?(?:[A-Z]+ \d\d-\d\d [\d:]+ \[[\w.]+:\d+\] )?(?:  File \"|    )"
)
"""Lines of a traceback that give code positions; they would push out the message."""
_POLL_S, _HEALTH_S = 0.5, 2.0
_END_S = 20.0
"""Seconds that a server may take to end when asked, before it is killed."""

_MISSING = (
    "vllm is not installed: pip install 'navloom[vllm]' (Linux with a GPU). Without one, "
    "local/PATH.gguf runs a small model on the CPU; `navloom serve MODEL --print` shows the command"
)


@app.command("serve")
@with_options()
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
    cluster: Annotated[
        Literal["ray"] | None,
        Opt(
            "Serve by Ray Serve LLM, in a Ray of its own on this machine.",
            shown="one server",
            env="",
        ),
    ] = None,
    replicas: Annotated[
        int | None,
        Opt("Servers behind one address, with --cluster.", min=1, max=MOST_REPLICAS, shown="1"),
    ] = None,
    only_print: Annotated[
        bool,
        Opt(
            "Print the command, or Ray Serve's configuration, and start nothing.",
            flag="--print",
            env="",
        ),
    ] = False,
) -> None:
    """Start `vllm serve` with the flags that tools, schemas and images need, and wait for it.

    The flags come from a table by model family (docs/models.md). Ctrl-C ends the server.
    """
    from navloom.cli.vllm_flags import serve_flags

    if model.startswith("-"):
        raise UsageError(f"'{model}' is no model: write navloom serve MODEL -- FLAGS.")
    if flags and not flags[0].startswith("-"):
        raise UsageError(f"'{flags[0]}' is no flag: what stands after -- begins with --NAME.")
    if any(flag.startswith("--api-key") for flag in flags):
        # Every user of the machine can see a command line.
        raise UsageError("Give the server its key by the variable VLLM_API_KEY, not by --api-key.")
    name = model.removeprefix("vllm/")
    given, notes = serve_flags(name, images=images, chat_template=chat_template, given=flags)
    for note in notes:
        print_err(f"note: {note}")
    if cluster is None and replicas is not None:
        raise UsageError("--replicas is of several servers behind one address: add --cluster ray.")
    if cluster == "ray":
        _by_ray(name, given, replicas or 1, host, port, start_timeout, only_print)
        return
    words = ["vllm", "serve", name, "--host", host, "--port", str(port), *given]
    if only_print:
        print_out(shlex.join(words))
        return
    program = find_vllm()
    if program is None:
        raise ModelError(_MISSING)
    _check_port(host, port)
    print_err(f"starting: {shlex.join(words)}")
    url, asked = _url(host, port), name
    if "--served-model-name" in given[:-1]:
        asked = given[given.index("--served-model-name") + 1]
    with ServerProcess("vllm", [program, *words[1:]]) as server:
        _wait(server, name, asked, url, start_timeout, lambda: _healthy(url))


def _by_ray(
    model: str,
    flags: list[str],
    replicas: int,
    host: str,
    port: int,
    start_timeout: float,
    only_print: bool,
) -> None:
    import tempfile

    import yaml

    from navloom.cli.ray_serve import check_installed, ray_environment, serve_config

    config = serve_config(model, flags, replicas=replicas, host=host, port=port)
    text = yaml.safe_dump(config, sort_keys=False)
    if only_print:
        print_out(text, end="")
        return
    check_installed()
    _check_port(host, port)
    if os.environ.get("VLLM_API_KEY"):
        print_err("note: Ray Serve asks for no key: VLLM_API_KEY keeps nobody from the port")
    (app,) = config["applications"]
    asked = app["args"]["llm_configs"][0]["model_loading_config"]["model_id"]
    print_err(
        f"starting: {replicas} replicas of {model} by Ray Serve (--print shows its configuration)"
    )
    with tempfile.TemporaryDirectory() as folder:
        file, ready = Path(folder, "serve.yaml"), Path(folder, "ready")
        file.write_text(text, "utf-8")
        words = [sys.executable, "-m", "navloom.cli.ray_serve", str(file), str(ready)]
        with ServerProcess("ray", words, ray_environment(os.environ)) as server:
            _wait(server, model, asked, _url(host, port), start_timeout, ready.exists)


def _wait(
    server: ServerProcess,
    model: str,
    asked: str,
    url: str,
    start_timeout: float,
    is_ready: Callable[[], bool],
) -> None:
    """Wait until a server is ready, print the next command, and wait until it ends."""
    began = time.monotonic()
    server.wait_until(is_ready, start_timeout)
    print_err(f"{model} is ready at {url} after {time.monotonic() - began:.0f} s. Next:")
    print_err(
        f"  VLLM_BASE_URL={url}/v1 navloom synth single demo:"
        f" --model {shlex.quote(f'vllm/{asked}')} --n 10 --out runs/first"
    )
    print_err("Ctrl-C ends it.")
    server.wait()


def find_vllm() -> str | None:
    """Return the path of the program ``vllm``, or None."""
    # A virtual environment that is not activated has its programs beside its Python.
    beside = Path(sys.executable).parent / "vllm"
    return shutil.which("vllm") or (str(beside) if os.access(beside, os.X_OK) else None)


def _check_port(host: str, port: int) -> None:
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f"--host {host}: {error.strerror or error}.") from error
    with socket.socket(kind, socket.SOCK_STREAM) as probe:
        # As servers do, so that a port with closing connections counts as free.
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


class ServerProcess:
    """A model server's process; its output is passed on, and its last lines are kept.

    Args:
        name: its name in errors.
        words: the command.
        environment: its variables; this process's unless given.
    """

    def __init__(
        self, name: str, words: list[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self._name, self._words, self._environment = name, words, environment
        self._last: deque[str] = deque(maxlen=_LAST_LINES)

    def __enter__(self) -> ServerProcess:
        self._before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            self._process = subprocess.Popen(  # noqa: S603
                self._words,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                # A session of its own: Ctrl-C reaches it and its workers once, from us.
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
            # Orphaned workers would keep the GPU.
            os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join(2)
        signal.signal(signal.SIGTERM, self._before)

    def wait_until(self, is_ready: Callable[[], bool], seconds: float) -> None:
        """Wait until the server is ready.

        Raises:
            ModelError: the process ends first, or the time is over.
        """
        until = time.monotonic() + seconds
        while not is_ready():
            self._check_alive("before it was ready")
            if time.monotonic() > until:
                raise ModelError(
                    f"{self._name} was not ready within {seconds:g} s: raise --start-timeout."
                    f" Its last words: {self._words_said()}"
                )
            time.sleep(_POLL_S)
        # Another process may have taken the port after our check and answered.
        self._check_alive("before it was ready")

    def wait(self) -> None:
        """Wait for the process to end.

        Raises:
            ModelError: it ends in an error.
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
        raise ModelError(
            f"{self._name} ended {when} (code {code}). Its last words: {self._words_said()}"
        )

    def _words_said(self) -> str:
        # Our own line is enough; the others are Ray's shutdown.
        ours = [line for line in self._last if line.startswith("navloom: ")]
        return " | ".join(ours or self._last) or "none"

    def _gone(self, ask: signal.Signals) -> bool:
        """Ask the process and its workers to end; return whether the process has."""
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
    # Imported late: it imports ssl and email, and `doctor` imports this file.
    from urllib.request import ProxyHandler, build_opener

    # A proxy from the environment must not answer in the server's place.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(f"{url}/health", timeout=_HEALTH_S) as reply:
            return bool(reply.status == 200)
    except (OSError, ValueError):
        return False
