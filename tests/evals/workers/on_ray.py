"""``python -m tests.evals.workers.on_ray``: a run on a local Ray cluster of several nodes.

It is a separate program, because Ray reads its token at import and handles signals.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from unittest.mock import patch

from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.progress import PlainDisplay, Tally
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.evals.workers import worker_pools
from tests.evals.workers.strange import StrangeRequest, install


class _Removing(PlainDisplay):
    """Display that removes a node after so many samples."""

    def __init__(self, cluster: object, node: object, after: int) -> None:
        super().__init__()
        self._cluster, self._node, self._after = cluster, node, after

    def step(self, tally: Tally) -> None:
        super().step(tally)
        self._after -= 1
        if self._after == 0:
            self.note("a node is removed")
            remove = partial(self._cluster.remove_node, self._node, allow_graceful=False)  # type: ignore[attr-defined]
            asyncio.get_running_loop().run_in_executor(None, remove)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--spec", help="relays of these homes; else the strange kind")
    parser.add_argument("--n", type=int, default=12)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--model", default="builtin/heuristic")
    parser.add_argument("--apart", action="store_true", help="no node sees the folder")
    parser.add_argument("--remove-after", type=int, default=0)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--seed", type=int, default=5)
    asked = parser.parse_args()
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    with tempfile.TemporaryDirectory() as site:
        install(Path(site))
        sys.path.insert(0, site)
        _run(asked)


def _run(asked: argparse.Namespace) -> None:
    """Make the requested run and print its result."""
    os.environ |= {
        "RAY_USAGE_STATS_ENABLED": "0",
        # A node that is gone is known to be in seconds.
        "RAY_health_check_initial_delay_ms": "0",
        "RAY_health_check_period_ms": "1000",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    more = [cluster.add_node(num_cpus=1) for _ in range(asked.nodes - 1)]
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    display = (
        _Removing(cluster, more[-1], asked.remove_after) if asked.remove_after else PlainDisplay()
    )
    session = Session(
        workers=asked.workers, cluster="ray", display=display, max_connections=4, cache=asked.cache
    )
    request = (
        SynthRequest(kind="collab", spec=asked.spec, n=asked.n, seed=asked.seed, model=asked.model)
        if asked.spec
        else StrangeRequest(n=asked.n, delay=asked.delay)
    )
    with patch.object(worker_pools, "RayPool", partial(worker_pools.RayPool, apart=asked.apart)):
        summary = run_request(request, asked.out, session)
    # A cluster takes a while to know that a node is gone.
    until = time.monotonic() + 200
    while (nodes := sum(node["Alive"] for node in ray.nodes())) == asked.nodes:
        if not asked.remove_after or time.monotonic() > until:
            break
        time.sleep(0.5)
    print(
        json.dumps({"ok": summary.ok, "left": summary.left, "error": summary.error, "nodes": nodes})
    )
    sys.stdout.flush()
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
