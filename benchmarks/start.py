"""Start-up time: ``navloom --help``, and loading the largest Matterport3D scan."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import Claim
from navloom.scenes.formats import mp3d

TRIES, PROMISED_S = 7, 0.5
SCAN, SCAN_PROMISED_S = "B6ByNegPMKs", 1.0


def claims() -> list[Claim]:
    """Time both and keep the best of several runs; the scan only if NAVLOOM_DATA has it."""
    help_s = _best("-m", "navloom.cli.main", "--help")
    bare_s = _best("-c", "import typer, rich")
    return [
        Claim(
            "navloom --help",
            f"{PROMISED_S:g} s, the time promised",
            PROMISED_S / help_s,
            1.0,
            note=f"{help_s:.2f} s; {bare_s:.2f} s is Python with typer and rich imported",
        ),
        *_scan(Path(os.environ.get("NAVLOOM_DATA", "")) / "mp3d"),
    ]


def _scan(folder: Path) -> list[Claim]:
    if not (folder / "connectivity").is_dir():
        return []
    times = []
    for _ in range(3):
        began = time.perf_counter()
        scene = mp3d.load(folder, SCAN)
        times.append(time.perf_counter() - began)
    return [
        Claim(
            f"a scan of {len(scene.viewpoints)} viewpoints loads",
            f"{SCAN_PROMISED_S:g} s, the time promised",
            SCAN_PROMISED_S / min(times),
            1.0,
            note=f"{min(times):.2f} s",
        )
    ]


def _best(*words: str) -> float:
    times = []
    for _ in range(TRIES):
        began = time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return min(times)
