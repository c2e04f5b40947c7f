"""Ray Serve application that replaces models with replicas forwarding requests to a server."""

from __future__ import annotations

import asyncio
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from ray import serve
from starlette.requests import Request
from starlette.responses import Response


class Forwarder:
    """Forward requests and record the process id."""

    def __init__(self, to: str, pids: str) -> None:
        self._to, self._pid = to, Path(pids, str(os.getpid()))
        self._pid.touch()

    async def __call__(self, request: Request) -> Response:
        body = await request.body()
        with self._pid.open("a") as file:
            file.write(f"{request.url.path}\n")
        status, said = await asyncio.to_thread(self._ask, request.url.path, body)
        return Response(said, status, media_type="application/json")

    def _ask(self, path: str, body: bytes) -> tuple[int, bytes]:
        asked = urllib.request.Request(f"{self._to}{path}", data=body or None)
        asked.add_header("content-type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(asked, timeout=60) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


def build(args: dict[str, Any]) -> Any:
    """Build the application from ``args`` as in Ray Serve's files."""
    (config,) = args["llm_configs"]
    told = {"ray_actor_options": {"num_cpus": 0}, "health_check_period_s": 1}
    made = serve.deployment(Forwarder, **config["deployment_config"], **told)
    return made.bind(args["to"], args["pids"])
