"""Make a small run of each kind with rule-based models through the command line."""

from __future__ import annotations

from pathlib import Path

from navloom.cli.main import main
from tests.evals.capnav.world import write_world

Made = dict[str, Path]


def make_every_kind(at: Path, *more: str) -> Made:
    """Make a run of each kind in a folder, and judge those that can be judged.

    Args:
        at: the folder.
        more: further arguments of each command.

    Returns:
        The runs, by the names of their kinds.
    """
    bench, judge = at / "bench", ("--model-role", "judge=builtin/heuristic")
    write_world(bench)
    asked: dict[str, tuple[str, ...]] = {
        "navigate": ("eval", "scene", "demo:flat", "--n", "4", "--cot", "--dialogue"),
        "single": ("synth", "single", "demo:flat", "--n", "2"),
        "collab": ("synth", "collab", "demo:flat", "--n", "3"),
        "direct": ("synth", "direct", "demo:house", "--n", "2", "--variant", "v2"),
        "team": ("synth", "team", "demo:house", "--n", "3", "--max-metres", "25"),
        "capnav": ("eval", "capnav", "--data", str(bench), *judge, "--limit", "12"),
        "capnav_tasks": ("synth", "capnav", f"capnav:{bench}", "--questions", "2"),
        "captions": ("caption", f"capnav:{bench}", "--limit", "2"),
        "judge_reasoning": ("judge", "reasoning", str(at / "capnav")),
        "judge_trace": ("judge", "trace", str(at / "navigate")),
        "judge_failures": ("judge", "failures", str(at / "navigate")),
        "judge_prefer": ("judge", "prefer", str(at / "collab"), str(at / "collab")),
        "calibrate_reasoning": ("judge", "calibrate", "reasoning", f"capnav:{bench}", "--n", "40"),
        "calibrate_injections": (
            *("judge", "calibrate", "reasoning", f"capnav:{bench}"),
            *("--injections", "--n", "8"),
        ),
        "calibrate_trace": ("judge", "calibrate", "trace", str(at / "navigate")),
        "calibrate_prefer": ("judge", "calibrate", "prefer", "demo:flat", "--n", "8"),
    }
    for kind, words in asked.items():
        main([*words, "--out", str(at / kind), "--display", "none", *more])
    return {kind: at / kind for kind in asked}
