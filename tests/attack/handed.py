"""Kinds of input files, a small example of each, and the commands that read it.

If `NAVLOOM_DATA` is set, some are real files, cut to a small size.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from langchain_core.messages import AIMessage

import navloom.judges
import navloom.scenes
from navloom.cli.main import main
from navloom.errors import RunError
from navloom.models.response_cache import ResponseCache
from navloom.scenes import load_scene
from tests.attack.mutators import BLIND, Mutator, in_json, in_lines, in_pages
from tests.cli.small import small_file
from tests.evals import tiny
from tests.evals.capnav.world import write_world
from tests.evals.judging.test_run import line
from tests.evals.tasks.folder import folder as tasks_folder
from tests.graphs.judging.test_rubric_judge import row as trace_row
from tests.judges.paths import WRONG
from tests.models.test_local_model import HEAD, gguf
from tests.scenes.formats.test_hm3d_import import OBJECTS, ROOMS

REAL = os.environ.get("NAVLOOM_DATA")
JSON = (*BLIND, *[in_json] * 12)
LINES = (*BLIND, *[in_lines] * 12)
PAGES = (*BLIND, *[in_pages] * 6)
_WALK = "--agent random --max-steps 3 --display none --model builtin/random"


@dataclass(frozen=True)
class Handed:
    """One kind of input file.

    Attributes:
        name: name in the table.
        write: writes examples into the current folder.
        ways: mutators of each file, by a pattern of its name; the first match counts.
        commands: command lines that read them. ``{file}`` is the changed file, ``{stem}`` its name
            without suffix, ``{top}`` the first folder of its path.
        slow: slow command lines, tried rarely.
        readers: functions that commands read such files with, as ``module:function`` and its
            arguments; tried as often as commands.
        typed: lines that are typed where a command asks.
    """

    name: str
    write: Callable[[], object]
    ways: Mapping[str, Sequence[Mutator]]
    commands: Sequence[str] = ()
    slow: Sequence[str] = ()
    readers: Sequence[str] = ()
    typed: Sequence[str] = ("where are you?", "go to the kitchen")


def done(words: str) -> None:
    """Run a command and require that it succeeds."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(words.split())
    if code:
        raise RuntimeError(f"navloom {words} ended with {code}: {said.getvalue()[-500:]}")


def put(name: str, content: Any) -> Path:
    """Write a text, or anything else as JSON."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def real(*names: str) -> bool:
    """Copy real files with their folders into the current folder, if the real data is there."""
    if REAL is None:
        return False
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(REAL) / name, name)
    return True


def _scene_json() -> None:
    done("scenes export demo:flat --out flat.json")
    small_file(Path())
    tiny.scene_file(Path())


def _hm3d() -> None:
    if not real("hm3d/00222-g8Xrdbe9fir.json"):
        labels = ["kitchen", "hallway", "bedroom", "office", "bathroom"]
        room = {"centroid": [0, 1.25, 0], "dims": [4, 2.5, 4]}
        rooms = [
            room | {"id": i, "label": x, "centroid": [4 * i, 1.25, 0]} for i, x in enumerate(labels)
        ]
        things = [
            {"id": 10 + i, "name": x, "position": [4 * i + 0.3, 0.5, 0.2]}
            for i, x in enumerate(["cup", "table", "book", "desk", "towel"])
        ]
        joined = [[0, 1], [1, 2], [2, 3], [3, 4]]
        home = {"scene": "home", "rooms": rooms, "connections": joined, "objects": things}
        put("hm3d/home.json", home)


def _mp3d() -> None:
    if real("mp3d/connectivity/gZ6f7yhEvPG_connectivity.json", "mp3d/house/gZ6f7yhEvPG.house"):
        file = Path("mp3d/house/gZ6f7yhEvPG.house")
        file.write_text("\n".join(file.read_text().splitlines()[:250]) + "\n")
        for kind in ("observations_list_summarized", "observations_summarized", "objects_list"):
            with contextlib.suppress(FileNotFoundError):
                real(f"mp3d/observations/{kind}/gZ6f7yhEvPG.json")
    tasks_folder(Path("mp3d"))


def _capnav() -> None:
    write_world(Path("capnav"))
    if real("capnav/graphs/MP3D00006-graph.json", "capnav/traverse/MP3D00006-traverse.json"):
        real("capnav/qa/MP3D00006_QA.json", "capnav/agent_profiles.json")


def _runs() -> None:
    done("synth single demo:flat --n 3 --out single --display none")
    done("synth collab demo:flat --n 2 --out relays --display none")


def _walks() -> None:
    done(f"eval scene demo:flat --n 3 --out walks {_WALK}")
    done(f"eval scene demo:flat --n 3 --seed 0 --out other --cot {_WALK}")


def _asked() -> None:
    write_world(Path("capnav"))
    done("eval capnav --data capnav --limit 2 --out asked --display none")


def _stopped() -> None:
    """Make runs with samples in progress, as a kill leaves them."""
    from navloom.evals.sample_runner import run_sample

    async def killed(*given: Any, **more: Any) -> Any:
        await run_sample(*given, **more)
        raise RunError("killed")

    for words in ("synth single demo:flat --n 1 --out single --display none",
                  f"eval scene demo:flat --n 1 --out walks {_WALK}"):  # fmt: skip
        kill = patch("navloom.evals.sample_runner.run_sample", killed)
        with kill, contextlib.suppress(RuntimeError):
            done(words)


def _threads() -> None:
    with typed("go to the kitchen", "go to the study"):
        done("chat demo:flat --thread t --threads kept --display none")


def _chats() -> None:
    with typed("go to the kitchen", "/save chat.json"):
        done("chat demo:flat --display none")
    done("caption demo:flat --out captions --display none")


def synth_report(run: Path) -> object:
    """Return the tables of a report, without its images."""
    from navloom.evals.navcraft.results import tables

    return tables(run)


def read_chat(path: Path) -> object:
    """Read a saved chat in the common test home."""
    from navloom.graphs.chat.threads import read_chat

    return read_chat(path, load_scene("demo:flat"))


def read_captions(run: Path) -> object:
    """Read a model's captions of the common test home."""
    from navloom.evals.captions.run import find_caption_cache
    from navloom.sim.captions import captions_for

    home = load_scene("demo:flat")
    file = find_caption_cache(run, home)
    return file and [captions_for(home, file).towards("1_1", "5_0")]


@contextlib.contextmanager
def typed(*lines: str) -> Any:
    """Make these lines the standard input."""
    before, sys.stdin = sys.stdin, io.StringIO("".join(f"{line}\n" for line in lines))
    try:
        yield
    finally:
        sys.stdin = before


def _judged() -> None:
    put("answers.jsonl", "".join(f"{each}\n" for each in (line("a"), line("b", WRONG), line("c"))))
    put("traces.jsonl", "".join(json.dumps(trace_row(name)) + "\n" for name in "xy"))
    shutil.copyfile(Path(navloom.judges.__file__).parent / "rubrics/trace.yaml", "rubric.yaml")


def _tasks() -> None:
    tiny.scene_file(Path())
    tiny.write_rows(Path("tasks.jsonl"), [tiny.single(), tiny.relay_a1(), tiny.relay_a2()])


def _data() -> None:
    tasks_folder(Path("data"))
    done("subset r2r --data data --n 2 --out subset.json")
    put("mine.json", [{"instr_id": f"{k}_{i}", "trajectory": [["v0", 0, 0], ["v1", 0.5, 0]]}
                      for k in (1, 2) for i in range(3)])  # fmt: skip


def _configs() -> None:
    put("c.yaml", "n: 2\nmodel: builtin/heuristic\nprofile: [child, none]\nseed: 3\ntau: 2\n"
                  "max-connections: 2\ndisplay: none\nconstrain: true\n")  # fmt: skip
    put("mine.yaml", "Age: 33\nGender: Female\nMarital Status: Married\nOccupation: Lawyer\n"
                     "Lifestyle Description: You keep early hours.\n")  # fmt: skip
    shutil.copyfile(Path(navloom.scenes.__file__).parent / "bodies.yaml", "bodies.yaml")
    put(".env", "# keys\nOPENAI_API_KEY=not-real-00\nexport ANTHROPIC_API_KEY='not-real-1'\n")
    write_world(Path("capnav"))


def _imports() -> None:
    put("rooms/home-a.yaml", ROOMS)
    put("objects/home-a.txt", OBJECTS)


def _models() -> None:
    kept = ResponseCache(Path("cache"))
    for number in range(4):
        kept.put(f"{number:x}" * 64, "openai/x", AIMessage("Hello.", id=f"{number}"))
    gguf(Path("model.gguf"), HEAD | {"tokenizer.chat_template": "{{ x }}", "list": [1, 2, 3]})


def read_cache(folder: Path) -> object:
    """Read every cached reply as a run does."""
    kept = ResponseCache(folder)
    return [kept.get(f"{number:x}" * 64) for number in range(4)]


def _studied() -> None:
    done("study relays demo:flat --n-each 2 --out study --display none")


_IN_RUN = {"*.jsonl": LINES, "*.json": JSON, "*.sqlite": PAGES}
_RUN = {f"*/{name}": ways for name, ways in _IN_RUN.items()}
HANDED: tuple[Handed, ...] = (
    Handed(
        "scene.json",
        _scene_json,
        {"*.json": JSON},
        (
            "scenes show {file}",
            "scenes show {file} --prompt",
            "scenes list {file}",
            "scenes export {file} --out out/x.json",
            "scenes annotate {file} --out out/y.json",
        ),
        (
            "synth single {file} --n 1 --out out/s --display none",
            "scenes show {file} --out out/p.svg",
            f"eval scene {{file}} --n 1 --out out/w {_WALK}",
        ),
    ),
    Handed(
        "HM3D homes",
        _hm3d,
        {"*.json": JSON},
        (
            "scenes show hm3d:hm3d/{stem}",
            "scenes list hm3d:hm3d",
            "scenes show hm3d:hm3d/{stem} --prompt",
        ),
        ("synth single hm3d:hm3d --n 1 --out out/s --display none",),
    ),
    Handed(
        "HM3D imports",
        _imports,
        {"*.yaml": BLIND, "*.txt": BLIND},
        ("scenes import hm3d --rooms rooms --objects objects --out out",),
    ),
    Handed(
        "Matterport3D scans",
        _mp3d,
        {"*.json": JSON, "*.house": BLIND},
        (
            "scenes list mp3d:mp3d",
            "scenes show mp3d:mp3d/scanA",
            "scenes show mp3d:mp3d/gZ6f7yhEvPG",
            "scenes show mp3d:mp3d/gZ6f7yhEvPG --prompt",
        ),
    ),
    Handed(
        "CapNav folder",
        _capnav,
        {"*.json": JSON},
        (
            "scenes list capnav:capnav",
            "scenes show capnav:capnav/HOUSE01",
            "eval capnav --data capnav --limit 1 --out out/c --display none",
        ),
        (
            "synth capnav capnav:capnav/HOUSE02 --out out/q --display none",
            "eval capnav --data capnav --dry-run",
        ),
    ),
    Handed(
        "runs of synth",
        _runs,
        _RUN,
        (
            "export {top} --out out/x.jsonl",
            "retry {top}",
            "synth single demo:flat --n 3 --out single --display none",
            "synth collab demo:flat --n 2 --out relays --display none",
        ),
        (
            "report {top}",
            "report single relays --json",
            "synth collab demo:flat --from single --n 1 --out out/lifted --display none",
        ),
        ("navloom.evals.navcraft.scores:score_run {top}", "tests.attack.handed:synth_report {top}"),
    ),
    Handed(
        "runs of eval",
        _walks,
        _RUN,
        (
            "score {top}",
            "compare walks other",
            "retry {top}",
            f"eval scene demo:flat --n 3 --out walks {_WALK}",
        ),
        (
            "report {top}",
            "judge trace {top} --out out/j --display none",
            "judge failures {top} --out out/l --display none",
            "subset scene --failed-by {top} --scenes demo:flat --n 1 --out out/s.json",
            f"eval scene demo:flat --n 3 --failures-from {{top}} --out out/f {_WALK}",
        ),
        (
            "navloom.evals.navigation.run:read_examples {top}",
            "navloom.evals.navigation.results:tables {top}",
            "navloom.evals.navigation.results:failures {top}",
            "navloom.evals.judging.run:read_steps {top}",
            "navloom.evals.judging.labelling:read_failed_episodes {top}",
        ),
    ),
    Handed(
        "runs of capnav",
        _asked,
        {f"asked/{k}": ways for k, ways in _IN_RUN.items()},
        ("eval capnav --data capnav --limit 2 --out asked --display none", "retry {top}"),
        ("report asked", "report asked --json", "judge reasoning asked/answers.jsonl --out out/j"),
        ("navloom.evals.capnav.scores:read_capnav {top}",),
    ),
    Handed(
        "checkpoints of a run",
        _stopped,
        {"*.sqlite": PAGES},
        (
            "synth single demo:flat --n 1 --out single --display none",
            f"eval scene demo:flat --n 1 --out walks {_WALK}",
        ),
    ),
    Handed(
        "calls of runs",
        _runs,
        {"*/calls.sqlite": PAGES},
        (
            "calls {top}",
            "calls {top} demo-flat-00000",
            "calls {top} demo-flat-00001 --call 1",
            "calls {top} demo-flat-00000 --json",
        ),
    ),
    Handed(
        "conversations",
        _threads,
        {"*.sqlite": PAGES},
        ("chat demo:flat --thread t --threads kept --display none",),
    ),
    Handed(
        "saved chats and captions",
        _chats,
        {"*.json": JSON, "captions/*.jsonl": LINES},
        slow=(
            "chat demo:flat --display none",
            "chat demo:flat --display plain --captions captions",
            "caption demo:flat --out captions --display none",
            f"eval scene demo:flat --n 1 --captions captions --out out/w {_WALK}",
        ),
        readers=(
            "tests.attack.handed:read_chat chat.json",
            "tests.attack.handed:read_captions captions",
        ),
        typed=("/replay chat.json", "what do you see?", "/quit"),
    ),
    Handed(
        "datasets of paths",
        _data,
        {"*.json": JSON},
        (
            "score mine.json --data data --split val_unseen",
            "score mine.json --data data --partial --json",
            "subset r2r --data data --n 2 --out out/i.json",
            "subset reverie --data data --n 2 --out out/i.json",
        ),
        (
            f"eval r2r --data data --out out/r {_WALK}",
            f"eval reverie --data data --limit 2 --out out/v {_WALK}",
            f"eval objectnav --data data --limit 2 --out out/o {_WALK}",
            f"eval r2r --data data --subset subset.json --out out/s {_WALK}",
        ),
        ("navloom.evals.navigation.subset:load_subset subset.json",),
    ),
    Handed(
        "what is judged",
        _judged,
        {"*.jsonl": LINES, "*.yaml": BLIND},
        slow=(
            "judge reasoning answers.jsonl --out out/a --display none",
            "judge trace traces.jsonl --rubric rubric.yaml --out out/t --display none",
        ),
        readers=(
            "navloom.evals.judging.answer_file:read_answers answers.jsonl",
            "navloom.evals.judging.run:read_steps traces.jsonl",
            "navloom.judges.trace_rubric:load_rubric rubric.yaml",
        ),
    ),
    Handed(
        "synthesised tasks",
        _tasks,
        {"*.jsonl": LINES, "*.json": JSON},
        (
            "validate tasks.jsonl --scenes home.json",
            "validate tasks.jsonl --scenes home.json --json",
        ),
    ),
    Handed(
        "configs and keys",
        _configs,
        {"*": BLIND},
        ("synth single demo:flat --run-config c.yaml --out out/s --dry-run", "models"),
        (
            "synth single demo:flat --run-config c.yaml --out out/s",
            "synth single demo:flat --n 1 --profile mine.yaml --out out/p --display none",
            "eval capnav --data capnav --bodies bodies.yaml --limit 1 --out out/b --display none",
        ),
        (
            "navloom.prompts.navcraft.profiles:load_profile mine.yaml",
            "navloom.scenes.bodies:load_bodies bodies.yaml",
        ),
    ),
    Handed(
        "studies",
        _studied,
        _RUN,
        slow=("study relays demo:flat --n-each 2 --out study --display none",),
        readers=("navloom.evals.navcraft.scores:score_run {run}",),
    ),
    Handed(
        "kept replies and model files",
        _models,
        {"cache/*": JSON, "cache/*/*": JSON, "*.gguf": BLIND},
        ("cache info --cache cache", "cache prune --cache cache --older-than 9d"),
        readers=(
            "navloom.models.local_gguf:read_header model.gguf",
            "tests.attack.handed:read_cache cache",
        ),
    ),
)
