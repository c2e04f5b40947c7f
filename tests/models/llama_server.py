"""llama.cpp's HTTP server on the loopback with a real small model, as a user would start it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from navloom.errors import ModelError
from navloom.models.local_gguf import find_model_file

NAME = "smollm2"


@contextmanager
def llama_server(path: Path | None = None, *, n_ctx: int = 2048) -> Iterator[str]:
    """Start a llama.cpp server, yield its address with /v1, and stop it at the end.

    Args:
        path: a GGUF file; None uses SmolLM2-135M from its package.
        n_ctx: context length in tokens.
    """
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed: pip install xllamacpp")
    import xllamacpp  # type: ignore[import-untyped,import-not-found,unused-ignore]

    if path is None:
        try:
            path = find_model_file(NAME).path
        except ModelError as error:
            pytest.skip(str(error))
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {NAME}
    params.n_ctx, params.n_parallel = n_ctx, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 2
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.offline, params.ui, params.fit_params, params.verbosity = True, False, False, -1
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address.rstrip('/')}/v1"
    finally:
        del server
