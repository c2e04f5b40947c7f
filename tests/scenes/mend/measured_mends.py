"""How many blocked pairs of rooms can be mended, what it costs and what is done.

    python -m tests.scenes.mend.measured_mends home:0-49 --out runs/mends --pairs 1

One line a blocked pair goes to ``mends.jsonl``, its plan to ``ID-BODY.png``; what is there is not
done again. Pairs are drawn from the rooms of each home, for each of the five bodies in turn.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from statistics import mean, median
from typing import Any

from navloom.scenes import Scene, load_scene
from navloom.scenes.bodies import Embodiment, builtin_bodies
from navloom.scenes.mend.mend_plan import draw_mend
from navloom.scenes.mend.route_drive import drive
from navloom.scenes.mend.search import mend
from navloom.scenes.uri import list_scenes

_DRAWN = 6


def _measured(scene: Scene, body: Embodiment, pairs: int, out: Path) -> list[dict[str, Any]]:
    dice = random.Random(f"{scene.uri} {body.name}")
    rooms = [region.id for region in scene.regions if region.outline]
    found: list[dict[str, Any]] = []
    for drawn in range(_DRAWN):
        start, goal = dice.sample(rooms, 2)
        if len(found) == pairs or drive(scene, body, start, goal).arrived:
            continue
        made = mend(scene, body, start, goal)
        found.append({"scene": scene.uri, "drawn": drawn + 1, **made.record()})
        if made.proven:
            draw_mend(scene, made).savefig(out / f"{scene.id}-{body.name}.png", dpi=80)
    return found


def _told(rows: list[dict[str, Any]]) -> None:
    for body in ["all", *(each.name for each in builtin_bodies())]:
        mine = [row for row in rows if body in ("all", row["body"])]
        proven = [row for row in mine if row["proven"]]
        costs = [row["cost"] for row in proven] or [0.0]
        kinds = Counter(change["kind"] for row in proven for change in row["changes"])
        print(
            f"{body}: {len(proven)} of {len(mine)} mended, mean {mean(costs):,.0f}, median"
            f" {median(costs):,.0f}, {dict(kinds.most_common())}"
        )


def main() -> None:
    """Measure, and say what the file holds."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("spec")
    said.add_argument("--out", type=Path, required=True)
    said.add_argument("--pairs", type=int, default=1)
    asked = said.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    file = asked.out / "mends.jsonl"
    done_file = asked.out / "done.txt"
    done = set(done_file.read_text().splitlines()) if done_file.exists() else set()
    todo = [(uri, body) for uri in list_scenes(asked.spec) for body in builtin_bodies()]
    random.Random(5).shuffle(todo)
    for uri, body in todo:
        if f"{uri} {body.name}" in done:
            continue
        rows = _measured(load_scene(uri), body, asked.pairs, asked.out)
        with file.open("a") as lines, done_file.open("a") as names:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
            names.write(f"{uri} {body.name}\n")
    _told([json.loads(line) for line in file.read_text().splitlines()])


if __name__ == "__main__":
    main()
