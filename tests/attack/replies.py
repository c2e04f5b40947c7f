"""Broken model replies, over both protocols: they may spoil their own samples only.

Each try is a run of four tasks in its own process, with one call after another. The second and the
third call get the broken reply. All other samples must equal those without it. Once the server is
repaired, a retry must complete every sample. The process must use little memory and react to
Ctrl-C.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from navloom.cli.main import main
from navloom.evals.run_folder import read_errors, read_samples
from navloom.models import get_model
from navloom.testing.faults import Drop, Exchange, Fault, Status
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with
from tests.attack.attack import Attack

WIRES = {"openai/gpt-4o-mini": "openai_url", "anthropic/claude-haiku-4-5": "url"}
_BROKEN_CALLS = (1, 2)
_SAMPLES = 4
_MOST_MB = 400
_MOST_CTRL_C_S = 2.0
_PATIENCE_S = 3.0
_LONGEST_S = 60.0
_IMPORTED = [
    "navloom.cli.navcraft.synth",
    "navloom.cli.retry",
    "navloom.evals.navcraft.run",
    "navloom.testing",
    "langchain_openai",
    "langchain_anthropic",
    "genai_prices",
]
Json = dict[str, Any]


@dataclass(frozen=True)
class Changed(Fault):
    """Fault that changes the JSON of a reply."""

    change: Callable[[Json], Any]

    def reply(self, reply: Json) -> Json:
        changed = self.change(reply)
        return reply if changed is None else changed


@dataclass(frozen=True)
class Bytes(Fault):
    """Fault that changes the bytes of a reply."""

    change: Callable[[bytes], bytes]

    def body(self, body: bytes) -> bytes:
        return self.change(body)


@dataclass(frozen=True)
class Sent(Fault):
    """Fault that sends a whole answer: status, headers, and bytes piece by piece."""

    pieces_of: Callable[[], Iterator[bytes]]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def before(self, exchange: Exchange) -> bool:
        handler: Any = exchange
        with contextlib.suppress(OSError):
            handler.send_response(self.status)
            for name, value in self.headers.items():
                handler.send_header(name, value)
            handler.send_header("Connection", "close")
            handler.end_headers()
            for piece in self.pieces_of():
                handler.wfile.write(piece)
        handler.close_connection = True
        return True


@dataclass(frozen=True)
class Typed(Fault):
    """Fault that sends a reply with another content type."""

    content_type: str

    def before(self, exchange: Exchange) -> bool:
        exchange.content_type = self.content_type
        return False


def _calls_of(reply: Json) -> list[Json]:
    """Return the tool calls of a reply, as the protocol has them; adds one if there are none."""
    if "choices" in reply:
        message = reply["choices"][0]["message"]
        if not message.get("tool_calls"):
            function = {"name": "check_path_and_adjacency", "arguments": "{}"}
            message["tool_calls"] = [{"id": "c", "type": "function", "function": function}]
        calls: list[Json] = message["tool_calls"]
        return calls
    if not any(block["type"] == "tool_use" for block in reply["content"]):
        name = "check_path_and_adjacency"
        reply["content"].append({"type": "tool_use", "id": "c", "name": name, "input": {}})
    return [block for block in reply["content"] if block["type"] == "tool_use"]


def _call(**changes: Any) -> Fault:
    """Change values of the first tool call; ``...`` removes a key."""

    def change(reply: Json) -> None:
        call = _calls_of(reply)[0]
        for name, value in changes.items():
            places = [call, call.get("function")]
            names = [name, {"input": "arguments"}.get(name, name)]
            for place in (each for each in places if isinstance(each, dict)):
                for known in (each for each in names if each in place):
                    if value is ...:
                        del place[known]
                    else:
                        place[known] = value

    return Changed(change)


def _many(count: int, *, same: bool = True) -> Fault:
    def change(reply: Json) -> None:
        first = _calls_of(reply)[0]
        more = [{**first, "id": "c" if same else f"c{n}"} for n in range(count)]
        if "choices" in reply:
            reply["choices"][0]["message"]["tool_calls"] = more
        else:
            reply["content"] = more

    return Changed(change)


def _usage(place: str, value: Any) -> Fault:
    def change(reply: Json) -> None:
        if place == "all":
            reply["usage"] = value
        elif place == "details":
            reply["usage"]["prompt_tokens_details"] = {"cached_tokens": value}
            reply["usage"]["cache_read_input_tokens"] = value
        else:
            wanted = {"in": ("prompt_", "input_"), "out": ("completion_", "output_")}[place]
            for name in [n for n in reply["usage"] if n.startswith(wanted)]:
                reply["usage"][name] = value

    return Changed(change)


def _said(value: Any) -> Fault:
    def change(reply: Json) -> None:
        if "choices" in reply:
            reply["choices"][0]["message"] = {"role": "assistant", "content": value}
        else:
            reply["content"] = [{"type": "text", "text": value}]

    return Changed(change)


def _top(**changes: Any) -> Fault:
    def change(reply: Json) -> None:
        for name, value in changes.items():
            if value is ...:
                reply.pop(name, None)
            else:
                reply[name] = value

    return Changed(change)


def _both(value: Any) -> Fault:
    """Replace the content of a reply in either protocol."""
    return Changed(lambda reply: reply.update({_spoken(reply): value}))


def _spoken(reply: Json) -> str:
    return "choices" if "choices" in reply else "content"


def _message(value: Any) -> Fault:
    def change(reply: Json) -> None:
        if "choices" in reply:
            reply["choices"] = [{"index": 0, "finish_reason": "stop", "message": value}]
        else:
            reply["content"] = [value]

    return Changed(change)


def _instead(value: Any) -> Fault:
    return Bytes(lambda _: json.dumps(value).encode())


def _endless() -> Iterator[bytes]:
    yield b'{"choices": ["'
    while True:
        yield b"x" * 65_536


def _drip() -> Iterator[bytes]:
    while True:
        yield b" "
        time.sleep(0.05)


def _length(offset: int) -> Fault:
    return Sent(lambda: iter([b'{"id": "x"}']), headers={"Content-Length": str(11 + offset)})


_COUNTS: Json = {
    "negative": -5,
    "text": "many",
    "huge": 10**40,
    "large": 10**15,
    "fraction": 1.5,
    "list": [1],
    "null": None,
    "object": {},
    "true": True,
    "nan": float("nan"),
    "infinite": float("inf"),
    "digits": "12",
    "long": "9" * 5_000,
}
_IDS: Json = {
    "null": None,
    "missing": ...,
    "number": 7,
    "empty": "",
    "long": "x" * 10_000,
    "surrogate": "\ud800",
    "lines": "a\nb",
    "list": ["x"],
    "object": {"a": 1},
    "true": True,
    "path": "../../x",
    "nul": "a\0b",
}
_ARGUMENTS: Json = {
    "empty": "",
    "null-text": "null",
    "list-text": "[]",
    "number-text": "7",
    "text-text": '"x"',
    "open": "{",
    "twice": '{"a": 1}{"a": 2}',
    "quotes": "{'a': 1}",
    "deep": "[" * 50_000,
    "deep-object": '{"a":' * 20_000,
    "nan": '{"a": NaN}',
    "infinite": '{"a": 1e999}',
    "digits": '{"a": ' + "9" * 6_000 + "}",
    "same-keys": '{"a": 1, "a": 2}',
    "long": json.dumps({"start_region": "x" * 300_000}),
    "nul": '{"a": "\\u0000"}',
    "surrogate": '{"a": "\\ud800"}',
    "missing": ...,
    "null": None,
    "object": {"start_region": {"x": [1]}},
    "number": 7,
    "list": [],
    "many-keys": json.dumps({f"k{n}": n for n in range(20_000)}),
}
_NAMES: Json = {
    "empty": "",
    "null": None,
    "missing": ...,
    "number": 7,
    "long": "x" * 100_000,
    "unknown": "teleport",
    "path": "../../etc/passwd",
    "lines": "a\nb\x1b[2J",
    "surrogate": "\udfff",
    "list": ["x"],
}
_CONTENTS: Json = {
    "null": None,
    "number": 7,
    "object": {},
    "empty-list": [],
    "list-of-null": [None],
    "list-of-numbers": [7],
    "unknown-block": [{"type": "x"}],
    "typeless-block": [{}],
    "nested": [[["a"]]],
    "surrogate": "half a pair \ud800 and a word",
    "nul": "a\0b",
    "steering": "\x1b[2J\x1b]0;title\x07",
    "bidi": "\u202e\u2066 txet",
    "long": "word " * 200_000,
    "longest": "x" * 20_000_000,
    "deep": "[" * 100_000,
    "deep-object": '{"a":' * 50_000,
    "digits": "9" * 100_000,
    "empty": "",
    "blank": " \n\t",
    "template": "{0.__class__} {{7*7}} ${x} %s",
}
_INSTEAD: Json = {
    "null": None,
    "list": [],
    "text": "x",
    "number": 7,
    "true": True,
    "object": {},
    "error": {"error": {"message": "no"}},
    "error-text": {"error": "no"},
    "error-null": {"error": None},
    "html": "<html>",
}
_BODIES: dict[str, Callable[[bytes], bytes]] = {
    "bom": lambda body: b"\xef\xbb\xbf" + body,
    "latin": lambda body: body.replace(b'"id"', b'"i\xe9"'),
    "utf-16": lambda body: body.decode().encode("utf-16"),
    "utf-32": lambda body: body.decode().encode("utf-32"),
    "nul": lambda body: b"\0" + body,
    "bad-utf-8": lambda body: body[:-2] + b"\xff\xfe" + body[-2:],
    "half": lambda body: body[: len(body) // 2],
    "garbage-after": lambda body: body + b"}}]",
    "twice": lambda body: body + body,
    "comment": lambda body: b"/* well */" + body,
    "nan": lambda body: body.replace(b'"index": 0', b'"index": NaN').replace(b": 1", b": NaN", 1),
    "infinity": lambda body: body[:-1] + b', "x": Infinity}',
    "overflow": lambda body: body[:-1] + b', "x": 1e999}',
    "digits": lambda body: body[:-1] + b', "x": ' + b"9" * 6_000 + b"}",
    "deep": lambda body: body[:-1] + b', "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "same-keys": lambda body: body[:-1] + b', "id": "y", "id": null}',
    "empty": lambda _: b"",
    "blank": lambda _: b" " * 1_000_000,
    "padded": lambda body: b" " * 30_000_000 + body,
    "too-long": lambda body: body + b" " * 40_000_000,
    "many-keys": lambda body: (
        body[:-1] + b"," + ",".join(f'"k{n}": {n}' for n in range(200_000)).encode() + b"}"
    ),
    "stream": lambda body: b"data: " + body + b"\n\ndata: [DONE]\n\n",
    "random": lambda body: random.Random(1).randbytes(len(body)),
}
_TARGETS = {
    "elsewhere": "http://127.0.0.2:9/v1",
    "here": "/v1/chat/completions",
    "file": "file:///etc/passwd",
    "script": "javascript:alert(1)",
    "empty": "",
    "long": "http://127.0.0.1/" + "x" * 50_000,
    "bad": "http://[::1",
}
_STATUSES = (204, 205, 206, 304, 400, 402, 404, 405, 408, 409, 410, 413, 415, 418, 422, 425)
_STATUSES += (429, 451, 500, 501, 502, 503, 504, 507, 520, 529, 599, 799)


def kinds() -> dict[str, Fault]:
    """Return all kinds of broken reply by name; some change nothing in one of the protocols."""
    found: dict[str, Fault] = {"drop": Drop()}
    for place in ("in", "out", "all", "details"):
        found |= {f"usage-{place}-{name}": _usage(place, v) for name, v in _COUNTS.items()}
    found |= {f"id-{name}": _call(id=value) for name, value in _IDS.items()}
    found |= {f"arguments-{name}": _call(input=value) for name, value in _ARGUMENTS.items()}
    found |= {f"name-{name}": _call(name=value) for name, value in _NAMES.items()}
    found |= {f"calls-{n}": _many(n, same=False) for n in (9, 100, 3_000, 20_000)}
    found |= {f"calls-same-{n}": _many(n) for n in (2, 3, 100)}
    found |= {f"content-{name}": _said(value) for name, value in _CONTENTS.items()}
    found |= {f"spoken-{name}": _both(value) for name, value in _INSTEAD.items()}
    found |= {f"message-{name}": _message(value) for name, value in _INSTEAD.items()}
    found |= {f"instead-{name}": _instead(value) for name, value in _INSTEAD.items()}
    found |= {f"body-{name}": Bytes(change) for name, change in _BODIES.items()}
    found |= {f"status-{number}": Status(number) for number in _STATUSES}
    for wait in ("0", "-1", "1e308", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 400, "nan"):
        found[f"retry-after-{wait[:9]}"] = Status(429, retry_after=wait)
    for status, (name, to) in itertools.product((301, 302, 307, 308), _TARGETS.items()):
        found[f"redirect-{status}-{name}"] = Sent(
            lambda: iter([]), status, {"Location": to, "Content-Length": "0"}
        )
    for name in ("gzip", "deflate", "br", "zstd", "x"):
        found[f"packed-{name}"] = Sent(
            lambda: iter([zlib.compress(b" " * 50_000_000)]), headers={"Content-Encoding": name}
        )
    for name in (
        "text/html",
        "text/event-stream",
        "image/png",
        "application/json; charset=klingon",
    ):
        found[f"type-{name[:18]}"] = Typed(name)
    found |= {f"length-{n:+}": _length(n) for n in (-5, 5, 10**12, -(10**6))}
    found["length-none"] = Sent(lambda: iter([b'{"id": "x"']))
    found["header-long"] = Sent(lambda: iter([b"{}"]), headers={"X-Long": "x" * 60_000})
    found["header-many"] = Sent(
        lambda: iter([b"{}"]), headers={f"X-{n}": "x" * 100 for n in range(500)}
    )
    found["chunks-bad"] = Sent(lambda: iter([b"zz\r\n"]), headers={"Transfer-Encoding": "chunked"})
    found["endless"] = Sent(_endless, headers={"Content-Type": "application/json"})
    found["drip"] = Sent(_drip, headers={"Content-Type": "application/json"})
    found["no-usage"] = _top(usage=...)
    found["no-role"] = _top(role=...)
    found["no-id"] = _top(id=...)
    found["model-other"] = _top(model=7)
    found["strange-keys"] = _top(**{"x" * 5_000: ["y"] * 5_000})
    found["stop-reason"] = _top(stop_reason=7)
    return found


HEAVY = ("calls-20000", "content-longest", "body-deep", "body-many-keys", "endless", "drip")
"""Kinds that are interrupted with Ctrl-C."""


def _words(model: str, out: Path) -> list[str]:
    words = f"synth single demo:flat --n {_SAMPLES} --model {model} --seed 3 --max-retries 0"
    words += f" --no-cache --display none --max-connections 1 --attempt-timeout {_PATIENCE_S}"
    return [*words.split(), "--out", str(out)]


def _session(url: str, model: str, words: list[str], report: Any, said: str) -> None:
    """Run a command in this process and report its exit code and peak memory in MB."""
    provider = model.partition("/")[0].upper()
    os.environ |= {f"{provider}_BASE_URL": url, f"{provider}_API_KEY": "not-a-real-key-000"}
    with open(said, "a") as file:  # noqa: PTH123
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    code = main(words)
    report.send((code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024))
    sys.stdout.flush()
    os._exit(code)


@functools.cache
def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    return context


def _started(server: ModelServer, model: str, words: list[str], folder: Path) -> tuple[Any, Any]:
    ours, theirs = _context().Pipe(duplex=False)
    url, said = getattr(server, WIRES[model]), str(folder / "said.txt")
    process = _context().Process(target=_session, args=(url, model, words, theirs, said))
    process.start()
    theirs.close()
    return process, ours


def _ended(server: ModelServer, model: str, words: list[str], folder: Path) -> tuple[int, int]:
    """Run a command; return its exit code, or -1 if it was killed, and its memory in MB."""
    process, ours = _started(server, model, words, folder)
    process.join(_LONGEST_S)
    if process.is_alive():
        process.kill()
        process.join()
        return -1, 0
    try:
        code, most = ours.recv()
    except EOFError:
        return int(process.exitcode or 0), 0
    return int(code), int(most)


def _lines(out: Path) -> dict[str, tuple[str, str]]:
    rows = read_samples(out)
    return {row["id"]: (row["status"], json.dumps(row["result"], sort_keys=True)) for row in rows}


@functools.cache
def _right(model: str) -> dict[str, tuple[str, str]]:
    """Return the samples of a run without faults."""
    import tempfile

    with (
        tempfile.TemporaryDirectory() as folder,
        ModelServer(reply_with(get_model("builtin/heuristic"))) as server,
    ):
        _ended(server, model, _words(model, Path(folder) / "r"), Path(folder))
        return _lines(Path(folder) / "r")


def _one(folder: Path, name: str, fault: Fault, model: str) -> str | None:
    """Return the error after one kind of broken reply in a run, or None."""
    numbers, broken, out = itertools.count(), [True], folder / "r"
    folder.mkdir()

    def plan(_: int) -> Fault | None:
        return fault if next(numbers) in _BROKEN_CALLS and broken[0] else None

    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=plan) as server:
        code, most = _ended(server, model, _words(model, out), folder)
        broken[0] = False
        said = (folder / "said.txt").read_text(errors="replace")
        about = f"{name} over {model.partition('/')[0]}"
        # A refusal that holds for every call (1) ends the session; the rest is left.
        if code not in (0, 1, 2) or "Traceback" in said:
            return f"{about}: exit {code}: {said[-200:]}"
        if most > _MOST_MB:
            return f"{about}: {most} MB"
        if not out.exists():
            return f"{about}: no run: {said[-200:]}"
        wrong = [each["message"] for each in read_errors(out) if "\n" in str(each["message"])]
        if wrong:
            return f"{about}: an error of several lines"
        again, most = _ended(server, model, [*_words(model, out), "--retry"], folder)
    got, right = _lines(out), _right(model)
    if again not in (0, 2) or most > _MOST_MB or set(got) != set(right) or read_errors(out):
        said = (folder / "said.txt").read_text(errors="replace")
        return f"{about}: not healed: exit {again}, {most} MB, {len(got)} samples: {said[-200:]}"
    # The first two samples are those of the broken calls: they may have other tasks.
    hit = set(sorted(right)[: len(_BROKEN_CALLS)])
    others = [each for each in right if each not in hit and got[each] != right[each]]
    return f"{about}: {len(others)} other samples differ" if others else None


def _ctrl_c(folder: Path, name: str, fault: Fault, model: str, after: float) -> str | None:
    """Return the error if Ctrl-C is pressed twice during a broken reply, or None."""
    folder.mkdir()
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=lambda _: fault) as server:
        process, _ = _started(server, model, _words(model, folder / "r"), folder)
        until = time.monotonic() + _LONGEST_S
        while not server.calls and process.is_alive() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(after)
        pressed = time.monotonic()
        for _ in range(2):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGINT)
            process.join(0.3)
        process.join(_LONGEST_S)
        took = time.monotonic() - pressed
        if process.is_alive():
            process.kill()
            process.join()
    return f"{name} over {model}: {took:.1f} s" if took > _MOST_CTRL_C_S else None


def _replies(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    ways = [(name, fault, model) for name, fault in kinds().items() for model in WIRES]
    if tries < len(ways):
        ways = dice.sample(ways, tries)
    for number, (name, fault, model) in enumerate(ways):
        yield _one(folder / str(number), name, fault, model)


def _interrupted(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    found = kinds()
    for number in range(tries):
        name, model = HEAVY[number % len(HEAVY)], list(WIRES)[number // len(HEAVY) % 2]
        yield _ctrl_c(folder / str(number), name, found[name], model, dice.uniform(0, 1.0))


ATTACKS = (
    Attack(
        "broken replies",
        f"others right, heals, under {_MOST_MB} MB",
        _replies,
        len(kinds()) * len(WIRES),
        24,
    ),
    Attack("Ctrl-C in broken replies", "ends within 2 s", _interrupted, 36, 0),
)
