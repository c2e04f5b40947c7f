"""Homes from seeds: how many a second, beside reading the same homes from scene.json; and memory.

One core: making and reading run in one process, one after another. The memory of a thousand homes
is watched from outside, as that of other long runs is.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks import Claim
from benchmarks.memory import flat_memory
from navloom.scenes.formats.scene_json import load_file, save
from navloom.scenes.homes.maker import make_home

HOMES, WATCHED = 100, 1_000
PROMISED = 5.0
"""Homes a second on one core; 15 is what is aimed at."""
READ = 15.0
"""A home is made in at most so many times what it takes to read it."""


def claims() -> list[Claim]:
    """Make homes, read them again, and make a thousand."""
    make_home(0)
    began = time.process_time()
    homes = [make_home(seed) for seed in range(HOMES)]
    made = time.process_time() - began
    with tempfile.TemporaryDirectory() as folder:
        files = [save(home, Path(folder) / f"{home.id}.json") for home in homes]
        began = time.process_time()
        again = [load_file(file) for file in files]
        read = time.process_time() - began
    rooms = sum(len(home.regions) for home in homes) / HOMES
    things = sum(len(home.items) for home in homes) / HOMES
    said = f"{rooms:.0f} rooms and {things:.0f} things a home; read in {1000 * read / HOMES:.0f} ms"
    return [
        Claim(
            "homes made a second",
            f"{PROMISED:.0f} a second on one core, as promised; home:0-{HOMES - 1}",
            HOMES / made / PROMISED,
            1.0,
            note=f"{HOMES / made:.1f} a second, {1000 * made / HOMES:.0f} ms each; {said}",
        ),
        Claim(
            "a home from its seed",
            f"{READ:.0f} times reading the same home's scene.json; the homes are equal",
            READ * read / made,
            1.0,
            equal=again == homes,
        ),
        *flat_memory(f"{WATCHED:,} homes made", f"home:0-{WATCHED - 1}", _make),
    ]


def _make(folder: str) -> None:  # noqa: ARG001
    for seed in range(WATCHED):
        make_home(seed)
