"""Shared fixtures, hooks and memory limits of all tests."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from navloom.scenes import scene_uri

# No deadline: the time of an example depends on how busy the machine is.
# Slow tests and mutation tests run all examples.
settings.register_profile("few", max_examples=8, deadline=None)
settings.register_profile("many", deadline=None)
settings.load_profile("few")

ROOMY_MB, FULL_MB = 380, 425
"""Above the first limit a worker collects garbage; above the second it also drops scenes."""
_CACHE = pytest.StashKey[str]()
_LAST_MB = [0]
_load = scene_uri._SpecPlace.load
_kept = lru_cache(maxsize=8)(_load)


def _load_once(place: scene_uri._SpecPlace, scene_id: str) -> scene_uri.Scene:
    """Load a scene, sharing frozen demo and generated homes among the tests of a worker."""
    if place.prefix in ("demo:", "home:"):
        return _kept(replace(place, ids=()), scene_id)
    return _load(place, scene_id)


def pytest_configure(config: pytest.Config) -> None:
    """Set up one cache folder for this run and its workers; an older one may be of older code."""
    scene_uri._SpecPlace.load = _load_once  # type: ignore[method-assign]
    if not hasattr(config, "workerinput"):
        config.stash[_CACHE] = os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(
            prefix="navloom-tests-"
        )
        os.environ.pop("NAVLOOM_CACHE", None)


def pytest_unconfigure(config: pytest.Config) -> None:
    if (folder := config.stash.get(_CACHE, None)) is not None:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but n evenly spread parameters of a test marked ``some(n)`` as slow."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("some") is not None:
            tests[item.nodeid.partition("[")[0]].append(item)
    for same in tests.values():
        mark = same[0].get_closest_marker("some")
        assert mark is not None
        fast = {int(k * len(same) / mark.args[0]) for k in range(mark.args[0])}
        for k, item in enumerate(same):
            if k not in fast:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Freeze imported objects, so that garbage collection does not scan them again."""
    _tidy()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Free garbage, and then unused homes, meshes and fields, when memory grows."""
    yield
    if _memory_mb() > max(ROOMY_MB, _LAST_MB[0] + 40):
        _tidy()
        if _memory_mb() > FULL_MB:
            _forget_scenes()
            _tidy()
        _LAST_MB[0] = _memory_mb()


def _tidy() -> None:
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def _forget_scenes() -> None:
    _kept.cache_clear()
    scene_uri._kept_scene.cache_clear()
    if (run_scenes := sys.modules.get("navloom.evals.run_scenes")) is not None:
        run_scenes._kept.cache_clear()
    if (seen := sys.modules.get("navloom_worlds.rendering.visible_captions")) is not None:
        seen._kept.clear()


def _memory_mb() -> int:
    """Return the resident memory of this process in MB; 0 if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real scenes; skip the test with instructions if it is not set."""
    where = os.environ.get("NAVLOOM_DATA")
    if not where:
        pytest.skip(
            "NAVLOOM_DATA is not set: see docs/real-data.md for where the real scenes come from"
        )
    folder = Path(where)
    if not folder.is_dir():
        pytest.fail(f"NAVLOOM_DATA={where} is not a folder")
    return folder


@pytest.fixture
def fresh_scenes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load a new scene each time, without cached results, as the program itself does."""
    monkeypatch.setattr(scene_uri._SpecPlace, "load", _load)


@pytest.fixture(scope="session")
def _state_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, _state_folder: Path) -> None:
    """Hide reply caches and saved state of other tests and of the user."""
    monkeypatch.setenv("NAVLOOM_NO_CACHE", "1")
    monkeypatch.setenv("XDG_STATE_HOME", str(_state_folder))


ALONE = find_spec("navloom_worlds") is None
"""True if navloom_worlds is not installed; tests that need it are then skipped."""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Skip a file that imports navloom_worlds if it is not installed."""
    report = yield
    return _left_out(report, collector.path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Skip a test that fails because navloom_worlds is not installed."""
    report = yield
    return _left_out(report, item.path, marked=item.get_closest_marker("worlds") is not None)


def _left_out(report: Any, path: Path, *, marked: bool = False) -> Any:
    if ALONE and report.failed:
        said = report.longreprtext + "".join(text for _, text in report.sections)
        if marked or "navloom-worlds" in said or "navloom_worlds" in said:
            report.outcome = "skipped"
            report.longrepr = (str(path), 0, "Skipped: needs the package navloom-worlds")
    return report
