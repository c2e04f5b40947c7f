"""``navloom serve --cluster ray``: several vLLM servers behind one address, by Ray Serve LLM.

The configuration is one file in Ray Serve's own format, which ``serve deploy`` accepts as well. A
separate process (``python -m navloom.cli.ray_serve``) starts a Ray of its own. It has a secret
token, since Ray listens beyond this machine, and no dashboard and no usage reports.
"""

from __future__ import annotations

import importlib
import json
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from navloom.errors import ModelError, UsageError

BUILDER = "ray.serve.llm:build_openai_app"
_APP = "navloom"
_MISSING = (
    "{name} is not installed: pip install 'ray[llm]>=2.60' (Linux with a GPU), which brings the"
    " vLLM that it goes with. --print shows the configuration"
)
_NOT_ITS_OWN = ("RAY_ADDRESS", "RAY_AUTH_TOKEN_PATH")


def check_installed() -> None:
    """Check that Ray Serve and vLLM are installed, before anything is started.

    Raises:
        ModelError: Ray Serve or vLLM is not installed.
    """
    for name, module in (("Ray", "ray"), ("Ray Serve", "fastapi"), ("vLLM", "vllm")):
        if find_spec(module) is None:
            raise ModelError(_MISSING.format(name=name))


def serve_config(
    model: str, flags: Sequence[str], *, replicas: int, host: str, port: int
) -> dict[str, Any]:
    """Return the configuration for Ray Serve, in its own file format.

    Args:
        model: the model's name or folder.
        flags: flags of ``vllm serve``; ``--served-model-name`` sets the name in requests.
        replicas: the number of servers, each with its own GPUs.
        host: the address to listen on.
        port: the port to listen on.

    Raises:
        UsageError: a flag cannot be converted.
    """
    keywords = engine_kwargs(flags)
    name = keywords.pop("served_model_name", model)
    if not isinstance(name, str):
        raise UsageError("Give --served-model-name one name: Ray Serve knows a model by one.")
    return {
        "proxy_location": "HeadOnly",
        "http_options": {"host": host, "port": port},
        "applications": [
            {
                "name": _APP,
                "route_prefix": "/",
                "import_path": BUILDER,
                "args": {
                    "llm_configs": [
                        {
                            "model_loading_config": {"model_id": name, "model_source": model},
                            "engine_kwargs": keywords,
                            # With a fixed number Ray Serve does not scale by itself.
                            "deployment_config": {"num_replicas": replicas},
                        }
                    ]
                },
            }
        ],
    }


def engine_kwargs(flags: Sequence[str]) -> dict[str, Any]:
    """Convert flags of ``vllm serve`` to the keyword arguments of vLLM that Ray takes.

    ``--tensor-parallel-size 2`` is ``{"tensor_parallel_size": 2}``, ``--no-x`` is ``{"x": False}``,
    and ``--a.b c`` is ``{"a": {"b": "c"}}``.

    Raises:
        UsageError: a short flag, or a flag that Ray Serve sets itself.
    """
    keywords: dict[str, Any] = {}
    for flag, values in _told_apart(flags):
        dotted = flag.removeprefix("--").replace("-", "_").split(".")
        if dotted[0] in ("host", "port"):
            raise UsageError(f"Give {flag} before the --: it is Ray Serve's.")
        off = not values and dotted[0].startswith("no_")
        if off:
            dotted[0] = dotted[0].removeprefix("no_")
        read = [_read(value) for value in values]
        value = not off if not read else read[0] if len(read) == 1 else read
        inner = keywords
        for key in dotted[:-1]:
            inner = inner.setdefault(key, {})
        inner[dotted[-1]] = value
    return keywords


def _told_apart(flags: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each flag with its values."""
    found: list[tuple[str, list[str]]] = []
    for word in flags:
        if word.startswith("--"):
            flag, equals, value = word.partition("=")
            found.append((flag, [value] if equals else []))
        elif word[:1] == "-" and not word[1:2].isdigit():
            raise UsageError(f"Write {word} out, as --name: its keyword is not to be guessed.")
        elif found:
            found[-1][1].append(word)
    yield from found


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def ray_environment(around: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for our own Ray, with a token made for it alone."""
    left = {key: value for key, value in around.items() if key not in _NOT_ITS_OWN}
    return {
        **left,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_SERVE_LOG_TO_STDERR": "1",
    }


def main(config: Path, ready: Path) -> None:
    """Serve the configuration of a file until SIGINT or SIGTERM.

    Args:
        config: the file, written from :func:`serve_config`.
        ready: a file that is created when all replicas answer.
    """
    import yaml

    ray: Any = importlib.import_module("ray")
    serve: Any = importlib.import_module("ray.serve")
    said = yaml.safe_load(config.read_text("utf-8"))
    (app,) = said["applications"]
    ray.init(address="local", include_dashboard=False)
    try:
        check_gpus(app, ray.cluster_resources().get("GPU", 0))
        serve.start(proxy_location=said["proxy_location"], http_options=said["http_options"])
        module, _, name = app["import_path"].partition(":")
        made = getattr(importlib.import_module(module), name)(app["args"])
        serve.run(made, name=app["name"], route_prefix=app["route_prefix"])
        ready.touch()
        threading.Event().wait()
    finally:
        if ready.exists():
            # Only if ready: the shutdown waits for replicas that are still loading.
            serve.shutdown()
        ray.shutdown()


def check_gpus(app: Mapping[str, Any], there: float) -> None:
    """Refuse too few GPUs, since Ray would wait for them for ever.

    Raises:
        ModelError: there are fewer GPUs than the replicas need.
    """
    for each in app["args"]["llm_configs"] if app["import_path"] == BUILDER else ():
        flags, replicas = each["engine_kwargs"], each["deployment_config"]["num_replicas"]
        one = int(flags.get("tensor_parallel_size", 1) * flags.get("pipeline_parallel_size", 1))
        if there < replicas * one:
            raise ModelError(
                f"{replicas} replicas of {one} GPUs each need {replicas * one}, and Ray finds"
                f" {there:g} here: give fewer --replicas"
            )


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except KeyboardInterrupt:
        sys.exit(130)
    except ModelError as error:
        sys.exit(f"navloom: {error}")
