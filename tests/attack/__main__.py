"""``python -m tests.attack``: try every known attack, and print the promises that held.

``--only`` selects rows by a part of their name. ``--share`` tries as few times as ``make
test-slow``. The exit code is 1 if any attack got through. Its findings are printed below its row.
"""

from __future__ import annotations

import argparse
import sys

from tests.attack.attack import carry_out
from tests.attack.rows import ATTACKS


def main(arguments: list[str] | None = None) -> int:
    """Carry out the selected attacks and print a row for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--only", default="", metavar="NAME", help="rows with this in their name")
    parser.add_argument("--share", action="store_true", help="as few tries as make test-slow")
    parser.add_argument("--tries", type=int, help="tries a row, instead of its own number")
    parser.add_argument("--seed", type=int, default=0, help="of the dice (0)")
    asked = parser.parse_args(arguments)
    wanted = [attack for attack in ATTACKS if asked.only in attack.name]
    wanted = [attack for attack in wanted if attack.share or not asked.share]
    if not wanted:
        parser.error(f"no row has '{asked.only}' in its name: {[a.name for a in ATTACKS]}")
    print(f"{'attack: what must hold':<88} {'tries':>6} {'time':>8}  result")
    through = 0
    for attack in wanted:
        row = carry_out(
            attack, asked.tries or (attack.share if asked.share else attack.whole), asked.seed
        )
        through += len(row.through)
        print(row, *([row.said] if row.through else []), sep="\n", flush=True)
    print("everything held" if not through else f"{through} got through")
    return 1 if through else 0


if __name__ == "__main__":
    sys.exit(main())
