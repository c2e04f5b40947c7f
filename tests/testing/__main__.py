"""``python -m tests.testing``: print the fault table; exit 1 if a sample ended wrongly."""

from __future__ import annotations

import argparse
import asyncio
import sys

from navloom.errors import NavloomError
from tests.testing.catalogue import KINDS, kind_of
from tests.testing.table import Row, Setting, fault_table, write_table


def main(arguments: list[str] | None = None) -> int:
    """Make the table that the arguments ask for and print it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.testing",
        description="Run samples of a real graph under sixteen kinds of fault and say what became "
        "of each.",
    )
    parser.add_argument(
        "--faults", default="", help="numbers or names, with commas; all by default"
    )
    parser.add_argument("--samples", type=_count, default=200, help="samples under each kind (200)")
    parser.add_argument("--concurrency", type=_count, default=16, help="samples at once (16)")
    parser.add_argument("--seed", type=int, default=0, help="of samples and faults (0)")
    parser.add_argument("--wire", choices=("openai", "anthropic"), default="openai")
    asked = parser.parse_args(arguments)
    try:
        names = [name.strip() for name in asked.faults.split(",") if name.strip()]
        kinds = [kind_of(name) for name in names] or list(KINDS)
    except NavloomError as error:
        print(error, file=sys.stderr)
        return 1
    setting = Setting(
        samples=asked.samples, concurrency=asked.concurrency, seed=asked.seed, wire=asked.wire
    )
    rows = asyncio.run(fault_table(kinds, setting, each=_tell))
    print(write_table(rows))
    wrong = [line for row in rows for line in row.wrong]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1")
    return int(text)


def _tell(row: Row) -> None:
    print(f"{row.name}: {row.verdict} ({row.seconds:.1f} s)", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
