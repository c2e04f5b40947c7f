"""On-disk cache of model replies, so that no call is paid for twice: one JSON file a reply.

    DIR/navloom-cache.json      identifies the folder and its format
    DIR/replies/ab/ab12….json   one reply, named by the hash of everything it depends on

The cache uses plain files because processes of one machine share the folder, and several machines
do if the home folder is on a network disk. There a SQLite file in write-ahead mode breaks.
:mod:`navloom.disk_cache` reads and writes the files. A corrupted entry costs one call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from langchain_core.messages import AIMessage, BaseMessage

from navloom import disk_cache
from navloom.errors import ModelError
from navloom.models.messages import sanitize_reply
from navloom.models.redaction import redact_value

FORMAT = 1
"""Version of entries and keys, incremented when either changes its meaning."""
_MARK = "navloom-cache.json"
_MOST_BYTES = 16 * 1024 * 1024
_KEY = re.compile(r"[0-9a-f]{64}")
_EMPTY: dict[str, Any] = {
    "content": "",
    "additional_kwargs": {},
    "response_metadata": {},
    "tool_calls": [],
    "invalid_tool_calls": [],
    "usage_metadata": None,
}
"""Fields of a reply that are cached, each with its empty value."""
_NO_SAMPLING = frozenset(
    {"max_retries", "default_request_timeout", "request_timeout", "timeout", "stream", "streaming"}
)
_THE_PROVIDERS = frozenset({"https://api.openai.com/v1", "https://api.anthropic.com"})


def cache_key(
    *,
    model: str,
    messages: Sequence[BaseMessage],
    bound: Mapping[str, Any],
    sampling: Mapping[str, Any],
    epoch: int = 0,
    server: str | None = None,
) -> str:
    """Return the key of a reply: a hash of everything that it depends on.

    Args:
        model: ``provider/name``.
        messages: the conversation; ids and counts of its messages do not matter.
        bound: tools, schema and whatever else was bound to the model.
        sampling: the model's own parameters, without those on timeouts and retries.
        epoch: selects one of several replies to the same request.
        server: its address. Two servers may use one name for different models, weights or engines;
            for a provider's own address the name is enough.
    """
    whole = {
        "format": FORMAT,
        "model": model,
        "messages": [_plain(message) for message in messages],
        "bound": bound,
        "sampling": {k: v for k, v in sampling.items() if k not in _NO_SAMPLING},
        "epoch": epoch,
        **({} if server is None or server in _THE_PROVIDERS else {"server": server}),
    }
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), default=_named)
    return sha256(text.encode(errors="backslashreplace")).hexdigest()


def _plain(message: BaseMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"type": message.type, "content": message.content}
    for name in ("name", "tool_calls", "invalid_tool_calls", "tool_call_id", "status"):
        value = getattr(message, name, None)
        if value:
            said[name] = value
    return said


def _named(value: Any) -> str:
    # Never repr(): a memory address would make every key new.
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


class ReplyStore(Protocol):
    """Protocol of a store of replies, local or remote."""

    async def aget(self, key: str) -> AIMessage | None:
        """Return the reply of a key, unchanged; None if there is no readable reply."""

    async def aput(self, key: str, model: str, reply: AIMessage) -> None:
        """Store a reply; a failure to store is not raised."""


class ResponseCache:
    """Replies by key, in a folder that several processes may share.

    Args:
        folder: the folder; created if missing.
        note: called once about a broken entry, and once if the folder cannot be written.

    Raises:
        ModelError: the folder is of another format, holds other files, or cannot be used.
    """

    def __init__(self, folder: Path | str, *, note: Callable[[str], None] | None = None) -> None:
        self.folder = Path(folder)
        self._note = note or (lambda _: None)
        self._said: set[str] = set()
        self._full = False
        self._claim()

    def get(self, key: str) -> AIMessage | None:
        """Return the reply of a key, unchanged; None if there is no readable reply."""
        try:
            return disk_cache.read_entry(
                self._path(key), lambda file: decode_entry(file.read(_MOST_BYTES + 1), key)
            )
        except disk_cache.BrokenEntryError:
            self._once("broken", f"cache {self.folder}: a broken entry was dropped")
            return None

    def entry(self, key: str) -> bytes | None:
        """Return the raw entry of a key; None if there is none."""
        return disk_cache.read_entry(self._path(key), lambda file: file.read(_MOST_BYTES + 1))

    def put(self, key: str, model: str, reply: AIMessage) -> None:
        """Store a reply; a folder that cannot be written is reported once and not raised."""
        if not self._full and not self._path(key).exists():
            self.put_entry(key, encode_entry(key, model, reply))

    def put_entry(self, key: str, entry: bytes) -> None:
        """Store an entry that was encoded elsewhere, as :meth:`put` does.

        Raises:
            ValueError: the key is invalid.
        """
        path = self._path(key)
        if self._full or path.exists():
            return
        try:
            disk_cache.write_entry(path, lambda file: file.write(entry))
        except OSError as error:
            self._full = True
            why = f"{disk_cache.error_reason(error)}; replies are not kept any more"
            self._once("full", f"cache {self.folder}: {why}")

    async def aget(self, key: str) -> AIMessage | None:
        """Return :meth:`get` without a thread: reading a file is faster than starting a thread."""
        return self.get(key)

    async def aput(self, key: str, model: str, reply: AIMessage) -> None:
        """Call :meth:`put` without a thread."""
        self.put(key, model, reply)

    def _path(self, key: str) -> Path:
        if _KEY.fullmatch(key) is None:
            raise ValueError("no key of a reply")
        return disk_cache.REPLIES.path(f"{key}.json", self.folder)

    def _once(self, kind: str, text: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            self._note(text)

    def _claim(self) -> None:
        """Create the cache's files in the folder, or check that it is a cache of this format."""
        mark = self.folder / _MARK
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not mark.exists():
                ours = (
                    _MARK,
                    disk_cache.TOKEN_FILE,
                    *(each.name for each in (disk_cache.REPLIES, *disk_cache.STORES)),
                )
                others = [p.name for p in self.folder.iterdir() if p.name not in ours]
                if [name for name in others if not name.endswith(".tmp")]:
                    raise ModelError(
                        f"{self.folder} holds other files ({min(others)}) and is no cache:"
                        " give --cache a new or an empty folder"
                    )
                said = json.dumps({"navloom_cache": FORMAT}) + "\n"
                disk_cache.write_entry(mark, lambda file: file.write(said.encode()))
            disk_cache.REPLIES.root(self.folder).mkdir(exist_ok=True)
            there = _format_of(mark)
        except OSError as error:
            raise ModelError(
                f"cannot keep replies in {self.folder}: {disk_cache.error_reason(error)}."
                " Give another --cache, or --no-cache."
            ) from error
        if there != FORMAT:
            raise ModelError(
                f"{self.folder} is a cache of another version (format {there}, this Navloom reads"
                f" {FORMAT}): give another --cache, delete the folder, or use --no-cache"
            )


def _format_of(mark: Path) -> Any:
    with mark.open("rb") as file:
        data = file.read(1000)
    try:
        return json.loads(data)["navloom_cache"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return "unknown"


def encode_entry(key: str, model: str, reply: AIMessage) -> bytes:
    """Return a reply serialized as an entry, without secrets and with a checksum."""
    said = {name: getattr(reply, name) for name in _EMPTY}
    # Round trip through JSON first, so that the checksum is of what will be read back.
    kept = json.loads(json.dumps(redact_value(said), default=str))
    entry = {"format": FORMAT, "key": key, "model": model, "sum": _sum(kept), "reply": kept}
    return json.dumps(entry).encode()


def decode_entry(data: bytes, key: str) -> AIMessage:
    """Parse and verify an entry, and return its reply.

    Raises:
        ValueError: it is no entry of this key, or was changed; likewise TypeError, LookupError and
            RecursionError.
    """
    if len(data) > _MOST_BYTES:
        raise ValueError("too large")
    entry = json.loads(data)
    if entry["key"] != key or entry["sum"] != _sum(entry["reply"]):
        raise ValueError("not what was written")
    # Pydantic validates each part; an entry cannot name a class to instantiate.
    return sanitize_reply(
        AIMessage(**{name: entry["reply"].get(name) or empty for name, empty in _EMPTY.items()})
    )


def _sum(kept: Any) -> str:
    return sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]
