"""Every pool of workers keeps to one suite (`tests.evals.workers.pool_suite`)."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.evals.workers.pool_suite import SUITE

pytestmark = pytest.mark.slow

_RAY = (
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (navloom[ray])"),
)


@pytest.mark.parametrize("kind", ["local", pytest.param("ray", marks=_RAY)])
def test_a_pool_passes_the_suite(kind: str) -> None:
    words = [sys.executable, "-m", "tests.evals.workers.pool_suite", kind]
    done = subprocess.run(words, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("passed ") == len(SUITE) + 1
