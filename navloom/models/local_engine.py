"""Inference engine of local models: llama.cpp in this process, one per file and settings.

All concurrent samples share one engine. It has one slot and one thread that calls it, in the order
of the requests, so memory is bounded and a reply never depends on concurrent requests. The slot
keeps the state of the latest conversation. States of other conversations are cached in memory, up
to ``KEPT_BYTES``, and restored when their conversation goes on.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import secrets
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from navloom.errors import ModelError, ModelRefusedError
from navloom.models.local_gguf import ModelFile, free_memory, size_text

KEPT_BYTES = 1 << 30
"""Maximum bytes for the states of conversations other than the latest."""
_WORK_BYTES = 300 << 20
"""Approximate bytes of work buffers, beside the model, its context and attention."""
_BATCH = 512
"""Tokens processed at once; a cancelled call ends between two batches."""
_LONGEST_SOCKET = 100
"""Maximum bytes of a socket file's path on every system."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The engine's completion of one request.

    Attributes:
        text: the reply.
        finish_reason: "stop", or "length" if the limit of tokens or the context was reached.
        prompt_tokens: tokens of the prompt, the cached ones included.
        cached_tokens: prompt tokens that were reused from the cache.
        completion_tokens: tokens of the reply.
        prompt_ms: milliseconds of prompt processing.
        completion_ms: milliseconds of generation.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    prompt_ms: float
    completion_ms: float


class LocalEngine:
    """One model file in memory, loaded on the first request.

    It can be called from any thread and event loop; requests are queued. It opens no network
    address and calls none.
    """

    def __init__(self, name: str, file: ModelFile, *, n_ctx: int, threads: int) -> None:
        self.name = name
        self.file = file
        self.n_ctx = n_ctx
        self.threads = threads
        self._server: Any = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="navloom-local")
        self._running: set[threading.Event] = set()

    @property
    def memory(self) -> int:
        """Upper estimate of the engine's memory in bytes."""
        return _needed(self.file, self.n_ctx)

    @property
    def is_loaded(self) -> bool:
        """True if the model is in memory."""
        return self._server is not None

    def ask(self, request: Mapping[str, Any]) -> Completion:
        """Return the completion of a chat request (llama.cpp's fields), blocking this thread.

        Raises:
            ModelError: the prompt is longer than the context, or the engine refuses the request.
            ModelRefusedError: the model cannot be loaded.
        """
        stop = threading.Event()
        try:
            return self._worker.submit(self._answer, request, stop).result()
        except BaseException:
            stop.set()
            raise

    async def ask_async(self, request: Mapping[str, Any]) -> Completion:
        """Return what `ask` returns, without blocking the event loop; cancelling stops the engine.

        Raises:
            ModelError: as `ask`.
        """
        stop = threading.Event()
        work = self._worker.submit(self._answer, request, stop)
        try:
            return await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            stop.set()
            raise

    def close(self) -> None:
        """Stop the current requests and free the memory; the next request loads the model again."""
        for stop in list(self._running):
            stop.set()
        self._worker.submit(setattr, self, "_server", None).result()

    def _answer(self, request: Mapping[str, Any], stop: threading.Event) -> Completion:
        self._running.add(stop)
        try:
            if self._server is None:
                self._server = self._loaded()
            return self._read(request, stop)
        finally:
            self._running.discard(stop)

    def _read(self, request: Mapping[str, Any], stop: threading.Event) -> Completion:
        said: list[str] = []
        seen: dict[str, Any] = {"finish": "stop"}

        def on_chunk(chunk: dict[str, Any]) -> bool:
            if "error" in chunk:
                seen["error"] = chunk["error"]
            seen.update({key: chunk[key] for key in ("usage", "timings") if key in chunk})
            for choice in chunk.get("choices", ()):
                said.append(choice.get("delta", {}).get("content") or "")
                seen["finish"] = choice.get("finish_reason") or seen["finish"]
            return stop.is_set()

        asked = {**request, "stream": True, "return_progress": True}
        asked["stream_options"] = {"include_usage": True}
        try:
            self._server.handle_chat_completions(asked, on_chunk)
        except (RuntimeError, ValueError, MemoryError) as error:
            raise ModelError(f"{self.name}: {_one_line(error)}") from error
        if "error" in seen:
            raise ModelError(f"{self.name}: {self._refusal(seen['error'])}")
        if stop.is_set():
            raise ModelError(f"{self.name} was closed while it was answering.")
        usage, timings = seen.get("usage", {}), seen.get("timings", {})
        return Completion(
            text="".join(said),
            finish_reason=str(seen["finish"]),
            prompt_tokens=int(usage.get("prompt_tokens", 0)),
            cached_tokens=int(usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)),
            completion_tokens=int(usage.get("completion_tokens", 0)),
            prompt_ms=float(timings.get("prompt_ms", 0.0)),
            completion_ms=float(timings.get("predicted_ms", 0.0)),
        )

    def _refusal(self, error: Any) -> str:
        told = error if isinstance(error, dict) else {"message": error}
        if told.get("type") != "exceed_context_size_error":
            return _one_line(told.get("message", ""))
        longest, asked = self.file.n_ctx_train, int(told.get("n_prompt_tokens") or 0)
        advice = "Use a smaller scene or a model with a longer context."
        if longest is None or longest > self.n_ctx:
            most = f" (the model takes up to {longest})" if longest else ""
            room = min(longest or 2 * self.n_ctx, 2 * max(self.n_ctx, asked))
            advice = (
                f"Raise n_ctx{most}, in a run of its own: --model {self.name},n_ctx={room}; or use"
                " a smaller scene."
            )
        return (
            f"the prompt does not fit: it has {told.get('n_prompt_tokens')} tokens, the context "
            f"n_ctx has {self.n_ctx}. {advice}"
        )

    def _kept(self) -> int:
        """Return the memory for other conversations' states: at most half of the free rest."""
        free = free_memory()
        if free is None:
            return KEPT_BYTES
        return max(0, min(KEPT_BYTES, (free - _needed(self.file, self.n_ctx)) // 2))

    def _loaded(self) -> Any:
        import xllamacpp  # type: ignore[import-untyped,import-not-found,unused-ignore]

        check_memory(self.name, self.file, self.n_ctx)
        params = xllamacpp.CommonParams()
        params.model.path = str(self.file.path)
        params.n_ctx = self.n_ctx
        params.n_parallel = 1
        # At 0 a state is saved and the most similar one restored when the conversation changes;
        # else conversations about one scene would discard each other's turns.
        params.slot_prompt_similarity = 0.0
        params.n_batch = params.n_ubatch = _BATCH
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self.threads
        # Flash attention rounds one token differently from many, so a reply would depend on the
        # cached state.
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cache_ram_mib = self._kept() >> 20
        params.n_threads_http = 1
        params.offline = True
        params.ui = False
        params.endpoint_slots = False
        # The raw text is needed, without the server's own parsing of tool calls.
        params.force_pure_content_parser = True
        params.reasoning_format = xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_NONE
        params.fit_params = False
        params.verbosity = -1
        with _unheard(params):
            try:
                return xllamacpp.Server(params)
            except (RuntimeError, MemoryError) as error:
                free = free_memory()
                raise ModelRefusedError(
                    f"{self.name}: llama.cpp cannot load {self.file.path} ({self.file.architecture}"
                    f", {size_text(self.file.size)}): the file is damaged or of a kind that this "
                    "xllamacpp does not know, or memory is short"
                    + (f" ({size_text(free)} free)." if free is not None else ".")
                ) from error


@contextlib.contextmanager
def _unheard(params: Any) -> Iterator[None]:
    """Make the engine's HTTP server, which cannot be turned off, unreachable.

    It listens on a socket file in our own folder, which is removed as soon as it listens. Without
    socket files it uses a loopback port with a random key.
    """
    params.api_keys = [secrets.token_urlsafe(32)]
    with tempfile.TemporaryDirectory(prefix="navloom-") as folder:
        path = str(Path(folder) / "s.sock")
        if os.name == "posix" and len(os.fsencode(path)) <= _LONGEST_SOCKET:
            params.hostnames = [path]
        else:
            params.hostnames, params.port = ["127.0.0.1"], 0
        yield


def check_memory(name: str, file: ModelFile, n_ctx: int) -> None:
    """Refuse a model that does not fit into memory, before the system kills the process.

    Raises:
        ModelRefusedError: it needs more memory than is free.
    """
    free, needed = free_memory(), _needed(file, n_ctx)
    if free is None or needed <= free:
        return
    fixed = _needed(file, 0)
    fits = max(0, free - fixed) * n_ctx // max(1, needed - fixed) // 256 * 256
    advice = f"Lower n_ctx to {fits}" if 1024 <= fits < n_ctx else "Use a smaller model"
    raise ModelRefusedError(
        f"{name} needs about {size_text(needed)} of memory ({size_text(file.size)} for the model, "
        f"{size_text(needed - file.size)} for a context of {n_ctx} tokens and its work) and "
        f"{size_text(free)} are free. {advice}, or free some memory."
    )


def _needed(file: ModelFile, n_ctx: int) -> int:
    attention = n_ctx * _BATCH * (file.n_heads or 0) * 4
    return file.size + n_ctx * (file.token_bytes or 0) + attention + _WORK_BYTES


_ENGINES: dict[tuple[Path, int, int], LocalEngine] = {}
_LOCK = threading.Lock()


def engine_for(name: str, file: ModelFile, *, n_ctx: int, threads: int) -> LocalEngine:
    """Return the process's engine for a file and settings, always the same one.

    Raises:
        ModelError: xllamacpp is not installed.
        ModelRefusedError: the model would not fit into memory.
    """
    if find_spec("xllamacpp") is None:
        raise ModelError(
            f"{name} needs xllamacpp, the engine that runs models in this process: "
            "pip install 'navloom[local]' (or pip install xllamacpp)."
        )
    key = (file.path.resolve(), n_ctx, threads)
    with _LOCK:
        if key not in _ENGINES:
            check_memory(name, file, n_ctx)
            _ENGINES[key] = LocalEngine(name, file, n_ctx=n_ctx, threads=threads)
        return _ENGINES[key]


@atexit.register
def close_engines() -> None:
    """Close every engine of this process."""
    with _LOCK:
        engines = list(_ENGINES.values())
        _ENGINES.clear()
    for engine in engines:
        # At the interpreter's end its threads are gone already, and the memory is freed anyway.
        with contextlib.suppress(RuntimeError):
            engine.close()


def _one_line(error: Any) -> str:
    return " ".join(str(error).split())[:300]
