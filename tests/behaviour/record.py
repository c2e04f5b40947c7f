"""Record the behaviour of the product, and compare recordings byte by byte.

    python -m tests.behaviour.record OUT [--only NAME ...] [--jobs N]
    python -m tests.behaviour.record --compare OLD NEW

Needs ``NAVLOOM_DATA``. The product runs through its command line only, with one process per
command, so that every module behind it may move. PYTHONPATH selects the product; without it, the
checkout of this file is used. A case (``tests.behaviour.cases`` is the table) is a list of commands
in a new folder of fixed layout, with its own home folder. It leaves in OUT/CASE:

    NN-COMMAND.txt   the command, its exit code, stdout and stderr
    files.txt        the name of every file that it left
    files/           those files: text unchanged, images as digests
    wire.jsonl       the requests to the model server, if the case has one

Only what varies between two recordings of one version is removed. The clock stands still for the
product (every duration is 0). Paths become $ROOT and $DATA, and a server's port $PORT. Folder names
lose hashes of paths. Lines of samples and errors are sorted by id. run.json is kept without date,
git state and versions. Of databases and locks only the names are kept, and of the cache only
replies.

One sample runs at a time unless a case says more, because the order in which samples end changes an
evaluation's intervals. A recording quotes the data that it was made from, whose terms forbid
redistribution. Do not commit it to a repository.

``--compare`` compares the content of recordings, not the layout. A command's output and markdown
are compared as table cells per row and words per paragraph, in any order. Pages and report.json are
compared as words, and other files as bytes. Images are left out.
"""

from __future__ import annotations

import argparse
import base64
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tests.behaviour.cases import CALL, CASES, FILES, FIT, WIRES

LAUNCH = """
import contextlib, gc, json, os, sys, time
from importlib import import_module

def still(real):
    def clock():
        name = sys._getframe(1).f_globals.get("__name__", "")
        return 0.0 if name.startswith("navloom") else real()
    return clock

time.time, time.monotonic, time.perf_counter = map(
    still, (time.time, time.monotonic, time.perf_counter))
for name in sys.argv[1:]:
    with contextlib.suppress(ImportError):
        import_module(name)
gc.freeze()
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
os.chdir(asked["folder"])
os.environ.clear()
os.environ.update(asked["env"])
read, fed = os.pipe()
os.write(fed, asked["fed"].encode())
os.close(fed)
os.dup2(read, 0)
for number in (1, 2):
    os.dup2(os.open(asked["said"][number - 1], os.O_WRONLY | os.O_CREAT), number)
sys.argv = ["navloom", *asked["words"]]
from navloom.cli.main import main
sys.exit(main())
"""
"""Program that imports slow third-party packages once and forks for each command."""
HEAVY = """numpy scipy.sparse.csgraph scipy.spatial scipy.stats networkx shapely pydantic jsonschema
jinja2 yaml rich.console rich.table typer langsmith langchain_core.messages langgraph.graph
langgraph.checkpoint.sqlite.aio langchain_openai langchain_anthropic shapely.ops
matplotlib.figure matplotlib.backends.backend_agg"""
VOLATILE = (
    (re.compile(r"(free disk +)\d+ GB"), r"\1N GB"),
    (re.compile(r"runs/(judged|traces|labels)-[0-9a-f]{10}"), r"runs/\1-HASH"),
    (re.compile(r"(the oldest of|the newest of) [\w:-]+ [\d:]+"), r"\1 DAY"),
)
TEXTS = {".txt", ".md", ".html", ".json", ".jsonl", ".yaml", ".svg", ".csv"}
MADE = re.compile(r"home/\.cache/navloom/(?!replies/)\w+/")
"""Cached results of the code; their keys include the code, so they differ by version."""
NAMES_ONLY = {".sqlite", ".sqlite-wal", ".sqlite-shm", ""}
HERE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Place:
    """Folder, environment and path names of a running case."""

    folder: Path
    env: Mapping[str, str]
    names: Mapping[str, str]

    def plain(self, text: str) -> str:
        """Replace the parts of a text that vary between recordings."""
        for path, name in self.names.items():
            text = text.replace(path, name)
        for pattern, instead in VOLATILE:
            text = pattern.sub(instead, text)
        return text


def environment(root: Path, home: Path) -> dict[str, str]:
    """Return an environment without any of the user's own settings."""
    kept = {key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ}
    return kept | {
        "PYTHONPATH": os.environ.get("PYTHONPATH") or str(HERE),
        "NAVLOOM_DATA": str(Path(os.environ["NAVLOOM_DATA"]).resolve()),
        "NAVLOOM_MAX_CONNECTIONS": "1",
        "HOME": str(home),
        "MPLCONFIGDIR": str(root / "matplotlib"),
        "SOURCE_DATE_EPOCH": "0",
        "COLUMNS": "120",
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "TZ": "UTC",
    }


def least(schema: Mapping[str, Any]) -> Any:
    """Return a small value that a JSON schema allows, approximately."""
    if "const" in schema or schema.get("enum"):
        return schema["const"] if "const" in schema else schema["enum"][0]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return least(options[0])
    match schema.get("type"):
        case "object":
            return {key: least(each) for key, each in schema.get("properties", {}).items()}
        case "array":
            return [least(schema.get("items", {}))] * schema.get("minItems", 1)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
    return "something"


def replied(body: Mapping[str, Any], reply: str, number: int) -> dict[str, Any]:
    """Return a reply that has the keys of both OpenAI's and Anthropic's responses."""
    tools = body.get("tools") or []
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    chosen = tools[{CALL: slice(0, 1), FIT: slice(-1, None)}.get(reply, slice(0))]
    tool = {**chosen[0], **chosen[0].get("function", {})} if chosen else None
    text = json.dumps(least(schema or {"type": "object"})) if reply == FIT else reply
    message: dict[str, Any] = {"role": "assistant", "content": text}
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if tool:
        given = least(tool.get("parameters") or tool["input_schema"])
        call = {"name": tool["name"], "arguments": json.dumps(given)}
        message |= {"tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}]}
        blocks.append({"type": "tool_use", "id": f"call_{number}", "name": tool["name"]})
        blocks[-1]["input"] = given
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {
        **{"id": f"reply_{number}", "model": body.get("model"), "role": "assistant"},
        **{"object": "chat.completion", "type": "message", "created": 0, "content": blocks},
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "stop_reason": "tool_use" if tool else "end_turn",
        "usage": {**usage, "input_tokens": 100, "output_tokens": 10},
    }


@contextmanager
def served(replies: tuple[str | int, ...], log: list[str]) -> Iterator[int]:
    """Start a model server on a free port that logs its requests, and yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(404, {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = replies[len(log) % len(replies)]
            log.append(json.dumps({"path": self.path, "reply": reply, **body}, ensure_ascii=False))
            if isinstance(reply, int):
                self._answer(reply, {"error": {"message": "It broke.", "type": "broken"}})
            else:
                self._answer(200, replied(body, reply, len(log)))

        def _answer(self, status: int, content: Mapping[str, Any]) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def record_case(name: str, root: Path, out: Path, launcher: Launcher) -> float:
    """Run a case in ``root``, write its recording to ``out``, and return the seconds it took."""
    began, folder, to = time.monotonic(), root / name, out / name
    for file, text in FILES.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    (folder / "home").mkdir()
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    env = environment(root, folder / "home")
    names = {str(folder): "$ROOT", str(root): "$ROOT", env["NAVLOOM_DATA"]: "$DATA"}
    replies, lines = WIRES.get(name) or ((), CASES[name])
    if not replies:
        place = Place(folder, env, names)
        run_lines(lines, place, to, launcher)
    else:
        log: list[str] = []
        with served(replies, log) as port:
            host = f"http://127.0.0.1:{port}"
            env |= {"VLLM_BASE_URL": f"{host}/v1", "OPENAI_BASE_URL": f"{host}/v1"}
            env |= {"ANTHROPIC_BASE_URL": host, "OPENAI_API_KEY": "sk-none-of-them-works"}
            env |= {"ANTHROPIC_API_KEY": "sk-ant-none-of-them-works"}
            place = Place(folder, env, {**names, f"127.0.0.1:{port}": "127.0.0.1:$PORT"})
            run_lines(lines, place, to, launcher)
        write(to / "wire.jsonl", "".join(f"{place.plain(line)}\n" for line in log))
    keep_files(place, to)
    shutil.rmtree(folder)
    return time.monotonic() - began


class Launcher:
    """Process that runs commands of the product, one at a time."""

    def __init__(self, env: Mapping[str, str]) -> None:
        command = [sys.executable, "-c", LAUNCH, *HEAVY.split()]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(command, env=dict(env), bufsize=1, **pipes)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def run(self, words: list[str], fed: str, place: Place) -> tuple[int, str, str]:
        """Run ``navloom WORDS`` and return the exit code, stdout and stderr."""
        assert self._process.stdin
        assert self._process.stdout
        said = [place.folder.parent / f"{place.folder.name}.{n}" for n in (1, 2)]
        asked = {"words": words, "fed": fed, "folder": str(place.folder), "env": dict(place.env)}
        print(json.dumps({**asked, "said": [*map(str, said)]}), file=self._process.stdin)
        code = int(self._process.stdout.readline())
        out, err = (path.read_text(encoding="utf-8") for path in said)
        for path in said:
            path.unlink()
        return code, out, err


def run_lines(lines: str, place: Place, to: Path, launcher: Launcher) -> None:
    """Run the commands of a case one after another, and write the output of each."""
    for number, line in enumerate(filter(None, map(str.strip, lines.split("\n"))), 1):
        if line.startswith("!"):
            subprocess.run(line[1:], shell=True, cwd=place.folder, check=True)
            continue
        command, _, feed = line.partition(" < ")
        words = shlex.split(command.replace("$DATA", place.env["NAVLOOM_DATA"]))
        code, out, err = launcher.run(words, FILES[feed] if feed else "", place)
        title = "-".join(word.strip("-") for word in words[:2] if re.fullmatch(r"[a-z0-9-]+", word))
        said = place.plain(f"--- stdout\n{out}\n--- stderr\n{err}\n")
        write(
            to / f"{number:02}-{title}.txt",
            f"$ navloom {' '.join(line.split())}\nexit {code}\n{said}",
        )


def keep_files(place: Place, to: Path) -> None:
    """Keep the files that a case left in its folder."""
    found = {str(path.relative_to(place.folder)): path for path in place.folder.rglob("*")}
    kept = {name: path for name, path in found.items() if path.is_file() and not MADE.match(name)}
    names, files = sorted(kept), [kept[name] for name in sorted(kept)]
    write(to / "files.txt", "".join(f"{place.plain(name)}\n" for name in names))
    for name, path in zip(names, files, strict=True):
        if name in FILES or path.suffix in NAMES_ONLY:
            continue
        if path.suffix in TEXTS:
            text = place.plain(path.read_text(encoding="utf-8"))
            write(to / "files" / place.plain(name), plain_lines(path.name, text))
        else:
            data = path.read_bytes()
            digest = f"{len(data)} bytes, sha256 {sha256(data).hexdigest()}\n"
            write(to / "files" / f"{name}.sha256", digest)


def plain_lines(name: str, text: str) -> str:
    """Remove from a run's files what differs between sessions."""
    if name == "run.json":
        made = json.loads(text)
        gone = ("created", "git", "versions", "navloom", "line_check", "command")
        kept = {key: value for key, value in made.items() if key not in gone}
        return json.dumps(kept, indent=2, ensure_ascii=False) + "\n"
    if name in ("samples.jsonl", "errors.jsonl", "errors-retried.jsonl"):
        text = re.sub(r', "check": "[0-9a-f]{16}"(?=\}$)', "", text, flags=re.MULTILINE)
        return "".join(sorted(text.splitlines(keepends=True), key=lambda x: json.loads(x)["id"]))
    return text


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def record(out: Path, only: list[str], jobs: int) -> int:
    """Record all cases, or those that match the patterns in ``only``."""
    every = [*CASES, *WIRES]
    names = [name for name in every if not only or any(fnmatch(name, each) for each in only)]
    if not names:
        sys.exit(f"no case is called {', '.join(only)}; there are: {', '.join(every)}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="navloom-record-") as temporary:
        root = Path(temporary).resolve()
        write(root / "matplotlib" / "matplotlibrc", "svg.hashsalt: navloom\n")
        where = "import matplotlib.font_manager, navloom; print(navloom.__file__)"
        env = environment(root, root)
        subprocess.run([sys.executable, "-c", where], env=env, cwd=root, check=True)
        idle: SimpleQueue[Launcher] = SimpleQueue()
        for _ in range(jobs):
            idle.put(Launcher(env))

        def one(name: str) -> None:
            launcher = idle.get()
            print(f"{record_case(name, root, out, launcher):7.1f} s  {name}", flush=True)
            idle.put(launcher)

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, names))
        for _ in range(jobs):
            idle.get().close()
    print(f"{time.monotonic() - began:7.1f} s in all: {len(names)} cases in {out}")
    return 0


IMAGES = (".png", ".jpg", ".jpeg", ".svg", ".mp4")
_CELLS = re.compile(r"(?<!\\)\||[│┃]|\s{2,}")
_FRAME = re.compile(r"[\s│┃|:\-─━═┌┐└┘├┤┬┴┼┏┓┗┛┡┩╇┳┻╋╭╮╰╯+]+")
_WHEN = re.compile(r"\d{4}-\d\d-\d\d(T\S+)?|\d\d:\d\d")
"""Date and time of a run on a page."""
_ESCAPE = re.compile(r"\\([\\|`])")


def said_by(name: str, data: bytes) -> list[str]:
    """Return the content of a file, without its layout, as lines in any order.

    Args:
        name: name of the file; its suffix selects how it is read.
        data: content of the file.
    """
    path = Path(name.removesuffix(".sha256"))
    if path.suffix in IMAGES:
        return []
    text = data.decode()
    if path.suffix == ".html" and (packs := re.findall(r'id="pack-\d+">([^<]+)<', text)):
        documents = [json.loads(zlib.decompress(base64.b64decode(each))) for each in packs]
        return sorted(_words(documents))
    if path.name == "report.json":
        return sorted(_words(json.loads(text)))
    if path.name == "files.txt":
        return [line for line in text.splitlines() if not line.endswith(IMAGES)]
    if path.suffix == ".md" or (path.parent.name != "files" and re.match(r"\d\d-", path.name)):
        return sorted(_rows(text))
    return text.split("\n")


def _words(value: Any) -> Iterator[str]:
    """Yield the words of all texts in a page's documents, without block names and images."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key != "block":
                yield from _words(each)
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)
    elif isinstance(value, str) and not value.startswith(("data:image", "<svg")):
        yield from (word for word in value.split() if not _WHEN.fullmatch(word))


def _rows(text: str) -> Iterator[str]:
    """Yield table rows, cell by cell, and paragraphs; a JSON value stays line by line."""
    held: list[str] = []
    row: list[str] = []
    for line in [*text.split("\n"), ""]:
        cells = [_plain(cell) for cell in _CELLS.split(line.strip())]
        table = len(list(filter(None, cells))) > 1 and not line.lstrip().startswith('"')
        drawn = line.lstrip()[:1] in ("│", "┃")
        if row and not (drawn and table and not cells[1]):
            yield " | ".join(filter(None, row))
            row = []
        if held and (table or not line.strip() or line.lstrip().startswith(('"', "$ ", "---"))):
            yield " ".join(held)
            held = []
        if row:
            # A wrapped cell of a drawn table continues in a row without a name.
            row = [f"{old} {new}".strip() for old, new in zip(row, cells, strict=False)]
        elif table:
            row = cells
        elif not _FRAME.fullmatch(line):
            held += _plain(re.sub(r"^#+ ", "", line)).split()


def _plain(cell: str) -> str:
    """Return a cell without markdown escapes; empty for a rule between rows."""
    if _FRAME.fullmatch(cell):
        return cell.strip() if cell.strip() in ("-", "–", "+") else ""
    return " ".join(_ESCAPE.sub(r"\1", cell).replace("&lt;", "<").split())


def compare(old: Path, new: Path) -> int:
    """Print the differences of two recordings; return 1 if there are any."""
    sides = [{str(p.relative_to(side)): p for p in side.rglob("*") if p.is_file()}
             for side in (old, new)]  # fmt: skip
    names = sorted(
        name for name in sides[0].keys() | sides[1].keys()
        if not name.removesuffix(".sha256").endswith(IMAGES)
    )  # fmt: skip
    differ = 0
    for name in names:
        texts = [side[name].read_bytes() if name in side else None for side in sides]
        if texts[0] == texts[1]:
            continue
        if texts[0] is None or texts[1] is None:
            differ += 1
            print(f"{name}: not in {old if texts[0] is None else new}")
            continue
        before, after = said_by(name, texts[0]), said_by(name, texts[1])
        if before != after:
            differ += 1
            print(f"{name}: differs")
            print_difference(shown(before), shown(after))
    print(f"{len(names) - differ} files the same, {differ} differ; images are left out")
    return 1 if differ else 0


def shown(lines: list[str]) -> list[str]:
    """Split lines to a readable length; JSON on one line is split at its keys."""
    return [part for line in lines for part in re.sub(r', (?=["{\[])', ",\n", line).split("\n")]


def print_difference(old: list[str], new: list[str], most: int = 20) -> None:
    lines = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    for line in lines[:most]:
        print(f"    {line[:160]}")
    if len(lines) > most:
        print(f"    ... {len(lines) - most} more lines")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.behaviour.record", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("out", nargs="?", type=Path, help="where to write the recording")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="cases, or patterns")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time (2)")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"))
    given = parser.parse_args()
    if given.compare:
        return compare(*given.compare)
    if given.out is None or "NAVLOOM_DATA" not in os.environ:
        parser.error("say where to write to, and set NAVLOOM_DATA")
    return record(given.out, given.only, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
