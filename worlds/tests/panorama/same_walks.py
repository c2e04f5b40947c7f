"""Compare an evaluation with ``embedded`` to one with its panoramas from disk.

    python -m worlds.tests.panorama.same_walks home:0-9 --n 30 [--size 96] [--out DIR]

It renders the panoramas (PNG), runs both, and prints how many prompts, images and walks are equal
to the byte. It exits with 1 if any is not. A prompt is what reaches the model, images included.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from navloom.evals.navigation.request import EvalRequest
from navloom.evals.runner import run_request
from navloom.models.builtin import BuiltinChatModel
from navloom.scenes.scene_uri import list_scenes
from navloom.sim.panorama.manifest import RenderRequest
from navloom_worlds.rendering.panorama_export import render_scenes
from navloom_worlds.rendering.sensors import RIGS

_OF_THE_CLOCK = ("seconds", "check", "models")


@dataclass(frozen=True)
class Walked:
    """Results of an evaluation.

    Attributes:
        prompts: all messages to the model, sorted.
        walks: lines of samples by id, without times.
        pictures: stored images by name.
    """

    prompts: list[str]
    walks: dict[str, Any]
    pictures: dict[str, bytes]


@contextmanager
def listening() -> Iterator[list[str]]:
    """Record the messages to rule-based models, which get images as if they used them."""
    heard: list[str] = []
    said = BuiltinChatModel.said

    def listen(self: BuiltinChatModel, messages: Any, bound: Any) -> Any:
        heard.append(json.dumps([[m.type, m.content] for m in messages]))
        return said(self, messages, bound)

    eyes = mock.patch.object(BuiltinChatModel, "takes_images", True)
    with eyes, mock.patch.object(BuiltinChatModel, "said", listen):
        yield heard


def walked(request: EvalRequest, run: Path) -> Walked:
    """Run an evaluation and return its results."""
    with listening() as heard:
        run_request(request, run)
    lines = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    walks = {
        line["id"]: {key: value for key, value in line.items() if key not in _OF_THE_CLOCK}
        for line in lines
    }
    pictures = {file.name: file.read_bytes() for file in (run / "media").glob("*")}
    return Walked(sorted(heard), walks, pictures)


def seen_at(size: int) -> None:
    """Set the image size of the embedded simulator for the rest of the process."""
    RIGS["vln-mme"] = tuple(replace(each, width=size, height=size) for each in RIGS["vln-mme"])


def both(spec: str, n: int, root: Path, **more: Any) -> tuple[Walked, Walked]:
    """Run the same evaluation with images rendered on demand, and from disk."""
    render_scenes(list_scenes(spec), root / "panoramas", RenderRequest(**more), note=print)
    asked: dict[str, Any] = {"task": "scene", "options": {"spec": spec, "n": n}}
    rendered = walked(EvalRequest(backend="embedded", **asked), root / "embedded")
    disk = EvalRequest(panoramas=str(root / "panoramas"), **asked)
    return rendered, walked(disk, root / "panorama")


def main(arguments: list[str]) -> int:
    """Compare and print the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("spec")
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    seen_at(given.size)
    with tempfile.TemporaryDirectory() as folder:
        one, other = both(given.spec, given.n, given.out or Path(folder), size=given.size)
    same = True
    for name in ("prompts", "walks", "pictures"):
        a, b = getattr(one, name), getattr(other, name)
        equal = a == b
        same &= equal and bool(a)
        print(f"{name}: {len(a)} and {len(b)}, {'equal to the byte' if equal else 'NOT equal'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
