"""Command line of the sheet of failures.

``python -m tests.evals.navigation.sheet draw RUNS`` draws ``walks.jsonl`` again from runs of R2R's
val_unseen (``navloom eval r2r --agent NAME --out RUNS/NAME``) and the published trajectories. ``...
write DIR`` writes the accounts and the guide for a reader, and ``walks.jsonl``, the same walks for
a model (``navloom judge failures DIR/walks.jsonl --model M --out RUN``). ``... agree FILE ...``
prints the agreement of the labels in these files with each other and with the rules. Without files
it uses the readings in this folder. ``RUN/labels.jsonl`` is such a file.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from navloom.evals.navigation.failure_cause import CAUSES, MEANS
from tests.evals.navigation.sheet.agreement import compared, read_labels, rules
from tests.evals.navigation.sheet.walks import HERE, account_of, draw, episodes, line_of, read_walks

_FILES = 4


def _draw(runs: str) -> None:
    published = Path(os.environ["NAVLOOM_DATA"]) / "mp3d/trajectories/prevalent_val_unseen.json"
    lines = [json.dumps(asdict(kept)) for kept in draw(Path(runs), published)]
    (HERE / "walks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write(folder: str) -> None:
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    walks = [(kept, episodes()[kept.episode]) for kept in read_walks()]
    lines = [json.dumps(line_of(*each)) for each in walks]
    (out / "walks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = [account_of(*each) for each in walks]
    (out / "sheet.md").write_text("\n".join(texts), encoding="utf-8")
    each = -(-len(texts) // _FILES)
    for number in range(_FILES):
        part = "\n".join(texts[number * each : (number + 1) * each])
        (out / f"sheet_{number + 1}.md").write_text(part, encoding="utf-8")
    causes = "\n".join(f"| `{cause}` | {MEANS[cause]} |" for cause in CAUSES if cause != "none")
    guide = (HERE / "guide.md").read_text(encoding="utf-8").replace("{causes}", causes)
    (out / "guide.md").write_text(guide, encoding="utf-8")


def _agree(*files: str) -> None:
    kept = read_walks()
    paths = [Path(each) for each in files] or sorted(HERE.glob("reading_*.jsonl"))
    ids = [each.id for each in kept]
    readings = {_name(path): read_labels(path, ids) for path in paths}
    for table in compared({**readings, "rules": rules(kept)}, kept):
        print(table.markdown())


def _name(path: Path) -> str:
    """Return the labeller's name: a reader's from the file, a model's from its run."""
    return path.parent.name if path.stem == "labels" else path.stem.removeprefix("reading_")


if __name__ == "__main__":
    {"draw": _draw, "write": _write, "agree": _agree}[sys.argv[1]](*sys.argv[2:])
