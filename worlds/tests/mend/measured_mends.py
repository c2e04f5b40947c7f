"""Measure how many blocked pairs of rooms can be mended, at which cost and with which changes.

    python -m worlds.tests.mend.measured_mends home:0-49 --out runs/mends --pairs 1

One line per blocked pair is written to ``mends.jsonl``, and its plan to ``ID-BODY-PAIR.png``.
Finished pairs are skipped, so that the script resumes after any stop. Homes and bodies are
shuffled, so that the finished part is a fair sample. Pairs are drawn from the rooms of each home.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from statistics import mean, median
from typing import Any

from navloom.scenes import Scene, load_scene
from navloom.scenes.bodies import Embodiment, builtin_bodies
from navloom.scenes.scene_uri import list_scenes
from navloom_worlds.mend.mend_report import draw_mend
from navloom_worlds.mend.mend_search import find_mend
from navloom_worlds.mend.route_drive import drive_route

_DRAWN = 6


def _measured(scene: Scene, body: Embodiment, pairs: int, out: Path) -> list[dict[str, Any]]:
    dice = random.Random(f"{scene.uri} {body.name}")
    rooms = [region.id for region in scene.regions if region.outline]
    found: list[dict[str, Any]] = []
    for drawn in range(_DRAWN):
        start, goal = dice.sample(rooms, 2)
        if len(found) == pairs or drive_route(scene, body, start, goal).arrived:
            continue
        began = time.process_time()
        made = find_mend(scene, body, start, goal)
        took = round(time.process_time() - began, 2)
        found.append({"scene": scene.uri, "drawn": drawn + 1, "cpu_s": took, **made.record()})
        if made.proven:
            draw_mend(scene, made).savefig(out / f"{scene.id}-{body.name}-{drawn + 1}.png", dpi=80)
    return found


def _told(rows: list[dict[str, Any]]) -> None:
    for body in ["all", *(each.name for each in builtin_bodies())]:
        mine = [row for row in rows if body in ("all", row["body"])]
        proven = [row for row in mine if row["proven"]]
        costs = [row["cost"] for row in proven] or [0.0]
        kinds = Counter(kind for row in proven for kind in {c["kind"] for c in row["changes"]})
        print(
            f"{body}: {len(proven)} of {len(mine)} mended, mean {mean(costs):,.0f}, median"
            f" {median(costs):,.0f}, mends with {dict(kinds.most_common())}"
        )
    for row in rows:
        if not row["proven"]:
            print(f"{row['scene']} {row['body']} {row['start']} {row['goal']}: {row['why']}")


def main() -> None:
    """Measure and print what the file contains."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("spec")
    said.add_argument("--out", type=Path, required=True)
    said.add_argument("--pairs", type=int, default=1)
    said.add_argument("--minutes", type=float, default=1e9, help="of CPU, then stop")
    asked = said.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    file = asked.out / "mends.jsonl"
    done_file = asked.out / "done.txt"
    done = set(done_file.read_text().splitlines()) if done_file.exists() else set()
    todo = [(uri, body) for uri in list_scenes(asked.spec) for body in builtin_bodies()]
    random.Random(5).shuffle(todo)
    for number, (uri, body) in enumerate(todo):
        if f"{uri} {body.name}" in done:
            continue
        if time.process_time() > 60 * asked.minutes:
            break
        rows = _measured(load_scene(uri), body, asked.pairs, asked.out)
        for row in rows:
            end = f"{row['cost']:,.0f}" if row["proven"] else row["why"]
            print(f"{number}/{len(todo)} {uri} {body.name} {row['cpu_s']} s: {end}", flush=True)
        with file.open("a") as lines, done_file.open("a") as names:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
            names.write(f"{uri} {body.name}\n")
    _told([json.loads(line) for line in file.read_text().splitlines()])


if __name__ == "__main__":
    main()
