"""Write lines of a run's files by hand, with the check that docs/runs.md describes."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any


def checked(run: Path, record: dict[str, Any]) -> str:
    """Format a record as a line with the check of a run."""
    key = json.loads((run / "run.json").read_text()).get("line_check", "")
    return sealed(json.dumps(record).encode(), key.encode()).decode()


def sealed(text: bytes, key: bytes) -> bytes:
    """Return an object's text as a line with its check; without a key, without one."""
    if not key:
        return text + b"\n"
    check = blake2b(text[:-1], digest_size=8, key=key).hexdigest()
    return text[:-1] + f', "check": "{check}"}}\n'.encode()


def records(run: Path, name: str = "samples.jsonl") -> list[dict[str, Any]]:
    """Return all records of a file, without checks."""
    found = [json.loads(line) for line in (run / name).read_text().splitlines()]
    return [{key: value for key, value in each.items() if key != "check"} for each in found]


def rewrite(
    run: Path,
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
    name: str = "samples.jsonl",
) -> None:
    """Change a file of a run as the run itself would have written it."""
    (run / name).write_text("".join(checked(run, each) for each in change(records(run, name))))
