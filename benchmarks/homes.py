"""Procedurally generated homes: generation rate, loading from scene.json and the cache, and memory.

Generating and loading run on one core, in one process, one after another. The memory of a run that
generates 1,000 homes is measured from outside, as in :mod:`benchmarks.memory`.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from unittest import mock

from benchmarks import Claim
from benchmarks.memory import check_flat_memory
from navloom.scenes.formats.scene_json import load_file, save
from navloom.scenes.scene import Scene
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.homes import home_source as home_format
from navloom_worlds.homes.home_generator import make_home
from navloom_worlds.rendering.visible_captions import viewpoint_sight

T = TypeVar("T")
HOMES, DRAWN, WATCHED = 100, 5, 1_000
PROMISED = 5.0
"""Promised homes per second on one core; the aim is 15."""
READ = 15.0
"""Generating a home takes at most so many times as long as reading its scene.json."""
CACHED = 5.0
"""Reading a home from the cache is at least so many times as fast as generating it."""


def claims() -> list[Claim]:
    """Time generating and reading homes, and measure the memory of generating 1,000."""
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
        *_cached(homes, made),
        *check_flat_memory(f"{WATCHED:,} homes made", f"home:0-{WATCHED - 1}", _make),
    ]


def _cached(homes: list[Scene], made: float) -> list[Claim]:
    """Time homes, meshes and visibility from the cache, which starts empty."""

    def load() -> list[Scene]:
        return [home_format.load(Path(), home.id) for home in homes]

    def look() -> list[object]:
        drawn = [home_format.load(Path(), home.id) for home in homes[:DRAWN]]
        return [
            (
                scene_mesh(home).vertices.tobytes(),
                [viewpoint_sight(home, p.id) for p in home.viewpoints],
            )
            for home in drawn
        ]

    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {"NAVLOOM_CACHE": folder}),
    ):
        load()
        read, again = _timed(load)
        looking, seen = _timed(look)
        reading, seen_again = _timed(look)
    return [
        Claim(
            "a home from the cache",
            f"generating it; home:0-{HOMES - 1}, which are equal",
            made / read,
            CACHED,
            equal=again == homes,
            note=f"{1000 * read / HOMES:.1f} ms against {1000 * made / HOMES:.0f} ms, CPU",
        ),
        Claim(
            "a mesh and what is in sight from the cache",
            f"making them; all viewpoints of home:0-{DRAWN - 1}",
            looking / reading,
            CACHED,
            equal=seen_again == seen,
            note=f"{reading / DRAWN:.2f} s against {looking / DRAWN:.2f} s a home, CPU",
        ),
    ]


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def _make(folder: str) -> None:  # noqa: ARG001
    for seed in range(WATCHED):
        make_home(seed)
