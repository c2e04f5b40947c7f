"""``python -m benchmarks [NAME ...]``: measure all claims, or those of the named modules."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import textwrap
from pathlib import Path

import benchmarks
from benchmarks import Claim
from navloom.errors import did_you_mean

HEAD = ("claim", "reference", "ratio", "wanted", "answers", "")
WIDTHS = (34, 52)


def main(names: list[str]) -> int:
    """Print the table of claims; return 1 if a claim does not hold or a name is unknown."""
    known = _claim_files()
    for name in names:
        if name not in known:
            print(f"No benchmark is called {name!r}.{did_you_mean(name, known)}", file=sys.stderr)
            return 1
    claims: list[Claim] = []
    for name in names or known:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        claims += importlib.import_module(f"benchmarks.{name}").claims()
    print(format_table(claims))
    return 0 if all(claim.holds for claim in claims) else 1


def format_table(claims: list[Claim]) -> str:
    """Format the claims as a plain-text table, with their notes below it."""
    rows = [HEAD, *(_row(claim) for claim in claims)]
    wide = [max(len(line) for row in rows for line in _wrap(row[i], i)) for i in range(len(HEAD))]
    lines: list[str] = []
    for row in rows:
        cells = [_wrap(cell, i) for i, cell in enumerate(row)]
        for k in range(max(len(cell) for cell in cells)):
            parts = [cell[k] if k < len(cell) else "" for cell in cells]
            line = "  ".join(part.ljust(width) for part, width in zip(parts, wide, strict=True))
            lines.append(line.rstrip())
    lines.insert(1, "  ".join("-" * width for width in wide))
    notes = [f"  {claim.claim}: {claim.note}" for claim in claims if claim.note]
    return "\n".join([*lines, "", *notes]).rstrip()


def _claim_files() -> list[str]:
    """Return the names of the modules here that define ``claims``, without importing them."""
    folder = Path(benchmarks.__file__).parent
    names = (module.name for module in pkgutil.iter_modules([str(folder)]))
    return sorted(
        name
        for name in names
        if "\ndef claims(" in (folder / f"{name}.py").read_text(encoding="utf-8")
    )


def _row(claim: Claim) -> tuple[str, ...]:
    answers = {True: "equal", False: "DIFFER", None: "-"}[claim.equal]
    wanted = f">= {claim.wanted:,.6g}" if claim.wanted else "-"
    verdict = "" if not claim.wanted else ("holds" if claim.holds else "DOES NOT HOLD")
    return claim.claim, claim.reference, f"{claim.ratio:,.1f}x", wanted, answers, verdict


def _wrap(cell: str, column: int) -> list[str]:
    if column >= len(WIDTHS):
        return [cell]
    return textwrap.wrap(cell, WIDTHS[column]) or [""]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
