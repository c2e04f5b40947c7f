"""Print each home's seed and hash: ``python -m worlds.tests.homes.home_bytes FIRST LAST``.

Two processes, machines or versions of Python that print the same lines generate the same homes.
"""

from __future__ import annotations

import sys
from hashlib import sha256

from navloom_worlds.homes.home_generator import make_home


def main(first: int, last: int) -> None:
    for seed in range(first, last + 1):
        text = make_home(seed).model_dump_json(indent=1)
        print(seed, sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
