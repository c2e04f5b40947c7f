"""What a page needs is light: no agent, no model, no picture is imported to look at a run."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from navloom.cli.main import main
from navloom.evals.run_kinds import KINDS
from tests.evals.capnav.world import write_world

pytestmark = pytest.mark.slow

HEAVY = ("langgraph", "langchain_core", "matplotlib", "trimesh", "jinja2", "rich")
_LOOK = """
import json, sys
from navloom.cli import view
from navloom.web.app import make_app
from navloom.web.documents import Documents
from navloom.web.source_discovery import open_sources

documents = Documents(open_sources(sys.argv[1:], print))
looked = ["list", "compare/0/1", "compare/0/1/" + documents.sources[0].rows()[0].id]
for n, source in enumerate(documents.sources):
    looked += [f"source/{n}", *(f"source/{n}/tab/{name}" for name, _ in source.header().tabs)]
    for row in source.rows()[:2]:
        looked += [f"source/{n}/sample/{row.id}", f"source/{n}/calls/{row.id}"]
made = [documents.get(path) for path in looked]
made += [documents.get(f"plan/{documents.key(scene)}") for scene in ("home:0", "demo:flat")]
kinds = [source.header().pairs for source in documents.sources]
print(json.dumps([sorted(sys.modules), kinds, len(made)]))
"""


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Runs of every kind, two that are compared, a dataset and a home."""
    at = tmp_path_factory.mktemp("every")
    bench, judge = at / "bench", ("--model-role", "judge=builtin/heuristic")
    write_world(bench)
    walked, answered = str(at / "navigate"), str(at / "capnav")
    home = ("eval", "scene", "home:0", "--n", "3")
    calibrate, spoiled = ("judge", "calibrate"), ("--injections", "--n", "8")
    asked: dict[str, tuple[str, ...]] = {
        "navigate": (*home, "--cot"),
        "other": (*home, "--agent", "random"),
        "single": ("synth", "single", "demo:flat", "--n", "1"),
        "collab": ("synth", "collab", "demo:flat", "--n", "2"),
        "direct": ("synth", "direct", "demo:flat", "--n", "2"),
        "team": ("synth", "team", "demo:house", "--n", "2"),
        "capnav": ("eval", "capnav", "--data", str(bench), *judge),
        "capnav_tasks": ("synth", "capnav", f"capnav:{bench}", "--questions", "1"),
        "captions": ("caption", f"capnav:{bench}"),
        "judge_reasoning": ("judge", "reasoning", answered),
        "judge_trace": ("judge", "trace", walked),
        "judge_failures": ("judge", "failures", walked),
        "judge_prefer": ("judge", "prefer", str(at / "collab"), str(at / "collab")),
        "calibrate_reasoning": (*calibrate, "reasoning", f"capnav:{bench}", "--n", "8"),
        "calibrate_injections": (*calibrate, "reasoning", f"capnav:{bench}", *spoiled),
        "calibrate_trace": (*calibrate, "trace", walked, "--n", "8"),
        "calibrate_prefer": (*calibrate, "prefer", "demo:flat", "--n", "8"),
    }
    for name, words in asked.items():
        main([*words, "--out", str(at / name), "--display", "none", "--limit", "4"])
    tasks = at / "tasks.jsonl"
    assert main(["export", str(at / "collab"), "--out", str(tasks)]) == 0
    return [*(str(at / name) for name in asked), str(tasks), "demo:flat"]


def test_looking_at_runs_of_every_kind_imports_nothing_heavy(every: list[str]) -> None:
    words = [sys.executable, "-c", _LOOK, *every]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    modules, kinds, looked = json.loads(done.stdout.splitlines()[-1])
    assert set(KINDS) <= set(kinds)
    assert looked > len(every) * 5
    assert [name for name in HEAVY if name in modules] == []
