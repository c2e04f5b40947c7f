"""``navloom serve --cluster ray``: several vLLM servers behind one address, by Ray Serve LLM.

What Ray Serve is told is one file of its own form, which ``serve deploy`` takes, too. A process of
its own (``python -m navloom.cli.ray_serve``) starts a Ray for it alone: with a token that nobody
else has, since Ray listens beyond this machine, without a dashboard and without usage reports.
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
    """Say what is missing before anything is started.

    Raises:
        ModelError: Ray Serve or vLLM is not installed.
    """
    for name, module in (("Ray", "ray"), ("Ray Serve", "fastapi"), ("vLLM", "vllm")):
        if find_spec(module) is None:
            raise ModelError(_MISSING.format(name=name))


def serve_config(
    model: str, flags: Sequence[str], *, replicas: int, host: str, port: int
) -> dict[str, Any]:
    """What Ray Serve is to run, in the form of its own files.

    Args:
        model: the model's name or folder.
        flags: those of ``vllm serve``; ``--served-model-name`` is how the model is asked for.
        replicas: servers, each with GPUs of its own.
        host: where to listen.
        port: likewise.

    Raises:
        UsageError: a flag that cannot be said so.
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
                            # A number, and Ray Serve scales nothing by itself.
                            "deployment_config": {"num_replicas": replicas},
                        }
                    ]
                },
            }
        ],
    }


def engine_kwargs(flags: Sequence[str]) -> dict[str, Any]:
    """Flags of ``vllm serve`` as the keywords of vLLM's engine and front end, which Ray takes.

    ``--tensor-parallel-size 2`` is ``{"tensor_parallel_size": 2}``, ``--no-x`` is ``{"x": False}``,
    and ``--a.b c`` is ``{"a": {"b": "c"}}``.

    Raises:
        UsageError: a short flag, or one that is Ray Serve's to set.
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
    """Each flag and what follows it."""
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
    """What a Ray of our own is started with: the environment, and a token made for it alone."""
    left = {key: value for key, value in around.items() if key not in _NOT_ITS_OWN}
    return {
        **left,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_SERVE_LOG_TO_STDERR": "1",
    }


def main(config: Path, ready: Path) -> None:
    """Serve what a file says until SIGINT or SIGTERM comes.

    Args:
        config: of :func:`serve_config`.
        ready: is made when all replicas answer.
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
            # One that is still loading would be waited for.
            serve.shutdown()
        ray.shutdown()


def check_gpus(app: Mapping[str, Any], there: float) -> None:
    """Say that there are too few GPUs, for which Ray would wait for ever.

    Raises:
        ModelError: for each replica's share.
    """
    for each in app["args"]["llm_configs"] if app["import_path"] == BUILDER else ():
        keywords, replicas = each["engine_kwargs"], each["deployment_config"]["num_replicas"]
        one = int(
            keywords.get("tensor_parallel_size", 1) * keywords.get("pipeline_parallel_size", 1)
        )
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
