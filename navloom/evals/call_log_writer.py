"""Writer of the model calls of a run (``RUN/calls.sqlite``); `navloom.evals.call_log` reads it.

Calls wait for at most `WAIT_S`, or until a sample ends. Then a thread writes all waiting calls in
one transaction. So a kill loses at most the calls of the last half second, and none of a finished
sample: they are written before its line. Each stored call is complete. The file uses write-ahead
logging, as checkpoints do: a power cut may lose the last calls but cannot damage the file.

A stored call (:class:`CallEntry`) has its messages as JSON. Workers send their calls to the process
that writes. Secrets are redacted before a text is hashed. Images are not stored, as nowhere in a
run: their size and hash are.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

from navloom.errors import RunError
from navloom.evals import call_log
from navloom.evals.run_folder import package_version
from navloom.files import write_error
from navloom.graphs.agent_graph import is_damage, quarantine_file
from navloom.models.messages import CallRecord
from navloom.models.model_call import CallSettings
from navloom.models.redaction import error_line, redact, redact_value
from navloom.models.usage import reply_usage

Note = Callable[[str], None]
_SAID = ("name", "tool_calls", "invalid_tool_calls", "tool_call_id")
_ENDED = ("finish_reason", "stop_reason", "status")
_AS_CALLED = ("model", "role", "node", "step", "began", "seconds", "retries", "cached")
"""Fields stored as they are; then messages and schemas; then values from the reply."""
_SAID_IN_CALL = ("messages", "tools", "schema")
_COUNTED = ("finish", "input_tokens", "output_tokens", "usd", "error")
WAIT_S = 0.5
"""Longest time that an ended call waits to be written."""
_MOST_KNOWN = 4096


@contextmanager
def open_call_log(run: Path, note: Note, again: set[str]) -> Iterator[CallLogWriter]:
    """Yield a writer that records calls in a run's folder for as long as the block lasts.

    Args:
        run: the folder; a missing file is created, a damaged one is set aside.
        note: receives a message about a file set aside.
        again: ids of samples that are retried.

    Raises:
        RunError: the file cannot be written, or a newer version made it.
    """
    path = run / call_log.NAME
    try:
        keeper = CallLogWriter(path, note, again)
    except sqlite3.Error as error:
        raise write_error(path, error) from error
    try:
        yield keeper
    finally:
        keeper.close()


def _open(path: Path, note: Note) -> sqlite3.Connection:
    """Open the file and create its tables; a damaged file is set aside first.

    Raises:
        RunError: a newer version made it.
        sqlite3.Error: it cannot be opened or written.
    """
    try:
        return _made(path)
    except call_log.TROUBLE as error:
        if not is_damage(error):
            raise
        why = " ".join(str(error).split())[:200]
    aside = quarantine_file(path)
    note(f"{path} is broken: {why}. It is kept as {aside.name}, and calls are kept anew")
    return _made(path)


def _made(path: Path) -> sqlite3.Connection:
    with closing(sqlite3.connect(path, timeout=10)) as first:
        # Most texts are short: a small page wastes little space.
        first.execute("PRAGMA page_size=1024")
        if not first.execute("SELECT 1 FROM sqlite_master").fetchall():
            first.executescript(
                f"BEGIN; {call_log.TABLES} PRAGMA user_version={call_log.FORM}; COMMIT"
            )
        (said,) = first.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise sqlite3.DatabaseError(said)
        if why := call_log.schema_problem(first, path):
            raise sqlite3.DatabaseError(why)
    file = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    file.execute("PRAGMA journal_mode=WAL")
    file.execute("PRAGMA synchronous=NORMAL")
    return file


class CallLogWriter:
    """Writer of the calls of one session.

    Args:
        path: the file.
        note: receives one message about calls that cannot be encoded.
        again: ids of samples that are retried.

    Raises:
        RunError: a newer version made the file.
        sqlite3.Error: it cannot be opened or written.
    """

    def __init__(self, path: Path, note: Note, again: set[str]) -> None:
        self.path, self._note, self._again = path, note, again
        self._waiting: deque[tuple[str, int, CallRecord | CallEntry]] = deque()
        self._wrong: RunError | None = None
        self._strange = False
        self._later: asyncio.TimerHandle | None = None
        self._texts: dict[bytes, int] = {}
        self._same: dict[tuple[str, ...], tuple[Any, int]] = {}
        self._near: dict[tuple[str, ...], tuple[int, bytes, int]] = {}
        self._samples: dict[str, tuple[int, int]] = {}
        self._last: dict[tuple[str, ...], list[tuple[BaseMessage | StoredText, int]]] = {}
        self._models: dict[str, str] = {}
        self._file = _open(path, note)
        made = "INSERT INTO sessions(began, made_by) VALUES (?, ?)"
        self._session = self._insert(made, time.time(), package_version("navloom"))
        self._thread = ThreadPoolExecutor(1, "navloom-calls")

    def listener(self, sample: str, around: CallSettings) -> Callable[[CallRecord], None]:
        """Return a callback that records a sample's calls and forwards to ``around.on_call``."""

        def ended(call: CallRecord) -> None:
            self.keep(sample, around.epoch, call)
            if around.on_call is not None:
                around.on_call(call)

        return ended

    def keep(self, sample: str, epoch: int, call: CallRecord | CallEntry) -> None:
        """Queue a call of a sample, to be written within `WAIT_S` seconds."""
        self._waiting.append((sample, epoch, call))
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(WAIT_S, self._hurry)

    def _hurry(self) -> None:
        self._later = None
        with suppress(RuntimeError):  # the session is over
            self._thread.submit(self._write)

    async def settle(self, sample: str) -> None:
        """Wait until all ended calls of a sample are written; the sample makes no more.

        Raises:
            RunError: they cannot be written.
        """
        await asyncio.get_running_loop().run_in_executor(self._thread, self._end, sample)
        if self._wrong is not None:
            raise self._wrong

    def close(self) -> None:
        """Write the remaining calls; leave one plain file, without a log, if no process reads."""
        if self._later is not None:
            self._later.cancel()
        self._thread.submit(self._write)
        self._thread.shutdown()
        with suppress(sqlite3.Error):
            self._file.execute("PRAGMA busy_timeout=500")
            self._file.execute("PRAGMA journal_mode=DELETE")
        self._file.close()

    # --- on the thread ---------------------------------------------------------------------------

    def _end(self, sample: str) -> None:
        self._write()
        self._samples.pop(sample, None)
        for kept in (self._near, self._last, self._same):
            for key in [each for each in kept if each[0] == sample]:
                del kept[key]

    def _write(self) -> None:
        """Write all queued calls in one transaction; an error is stored for `settle`."""
        if not self._waiting or self._wrong is not None:
            return
        try:
            self._file.execute("BEGIN IMMEDIATE")
            while self._waiting:
                self._keep(*self._waiting.popleft())
            self._file.execute("COMMIT")
        except call_log.TROUBLE as error:
            why = " ".join(str(error).split())[:200]
            damaged = is_damage(error)
            self._wrong = (
                call_log.damage_error(self.path, why) if damaged else write_error(self.path, error)
            )

    def _keep(self, sample: str, epoch: int, call: CallRecord | CallEntry) -> None:
        try:
            said = call if isinstance(call, CallEntry) else CallEntry.of(call)
            self._put(sample, epoch, said)
        except sqlite3.Error:
            raise
        except Exception as error:
            # Messages of other packages' graphs may hold anything; that must not end the run.
            if not self._strange:
                self._strange = True
                self._note(f"{sample}: a call could not be written down ({error_line(error)})")

    def _put(self, sample: str, epoch: int, call: CallEntry) -> None:
        number, tried = self._sample(sample)
        near, reply = (sample, call.node), call.reply
        talk = self._talk_of(near, call.messages)
        row = {
            "sample": number,
            "session": self._session,
            "tried": tried,
            "epoch": epoch,
            "talk": talk,
            "tools": self._repeated((*near, "tools"), call.tools),
            "schema": self._repeated((*near, "schema"), call.schema),
            "reply": None if reply is None else self._text((*near, reply.type), reply),
            **{name: getattr(call, name) for name in (*_AS_CALLED, *_COUNTED)},
            "model": self._models.get(call.model) or self._model(call.model),
        }
        marks = ", ".join("?" * len(row))
        self._insert(f"INSERT INTO calls({', '.join(row)}) VALUES ({marks})", *row.values())  # noqa: S608

    def _model(self, name: str) -> str:
        return self._models.setdefault(name, redact(name))

    def _sample(self, name: str) -> tuple[int, int]:
        """Return a sample's number, and how often it ended in an error before."""
        if name not in self._samples:
            self._file.execute("INSERT OR IGNORE INTO samples(name) VALUES (?)", (name,))
            number = self._one("SELECT id FROM samples WHERE name = ?", name)
            tried = self._one("SELECT max(tried) FROM calls WHERE sample = ?", number)
            again = name in self._again and tried is not None
            self._again.discard(name)
            self._samples[name] = number, int(tried or 0) + again
        return self._samples[name]

    def _talk_of(self, near: tuple[str, str], messages: Sequence[BaseMessage | StoredText]) -> int:
        """Return the number of a conversation's last message; skips the part already stored."""
        told = self._last.setdefault(near, [])
        pairs = zip(messages, told, strict=False)
        del told[sum(1 for _ in takewhile(lambda two: two[0] is two[1][0], pairs)) :]
        talk = told[-1][1] if told else 0
        for message in messages[len(told) :]:
            talk = self._talk(talk, self._text((*near, message.type), message))
            told.append((message, talk))
        return talk

    def _talk(self, before: int, text: int) -> int:
        asked = "SELECT id FROM talks WHERE before = ? AND text = ?"
        there = self._one(asked, before, text)
        made = "INSERT INTO talks(before, text) VALUES (?, ?)"
        return int(there) if there is not None else self._insert(made, before, text)

    def _repeated(self, near: tuple[str, ...], value: Any) -> int | None:
        """Return the number of a text that mostly repeats the last object; None for None."""
        if value is None:
            return None
        if near not in self._same or self._same[near][0] is not value:
            self._same[near] = value, self._text(near, value)
        return self._same[near][1]

    def _text(self, near: tuple[str, ...], value: Any) -> int:
        """Return the number of a text, and write it if it is new.

        Args:
            near: key of similar texts: sample, node, and role in the call.
            value: a message, a JSON value, or an encoded `StoredText`.
        """
        said = None if isinstance(value, StoredText) else to_json_value(value)
        data = value.data if isinstance(value, StoredText) else encode_json(said)
        seen = call_log.text_digest(data)
        if seen not in self._texts:
            text = data if said is None else encode_json(redact_value(said))
            if len(text) > call_log.MOST_TEXT:
                text = encode_json({"content": f"[{len(text)} bytes: too long to be kept]"})
            mark = seen if text is data else call_log.text_digest(text)
            there = self._one("SELECT id FROM texts WHERE hash = ?", mark)
            if len(self._texts) >= _MOST_KNOWN:
                self._texts.clear()
            self._texts[seen] = there if there is not None else self._told(near, mark, text)
        return self._texts[seen]

    def _told(self, near: tuple[str, ...], mark: bytes, text: bytes) -> int:
        """Insert a text into the log's table of texts, and return its row's number.

        The text is compressed with the last similar text of the sample as dictionary, else with
        that of any sample. Where the chain of such texts is too long, the text is compressed alone.

        Args:
            near: key of similar texts: sample, node, and role in the call.
            mark: digest of the text.
            text: the text, encoded.
        """
        nothing = (None, b"", 0)
        base, like, deep = self._near.get(near) or self._near.get(("", *near[1:])) or nothing
        if deep >= call_log.DEEPEST:
            base, like, deep = nothing
        made = "INSERT INTO texts(hash, base, data) VALUES (?, ?, ?)"
        number = self._insert(made, mark, base, call_log.deflate_text(text, like))
        self._near[near] = self._near["", *near[1:]] = number, text, deep + 1
        return number

    def _one(self, asked: str, *given: Any) -> Any:
        found = self._file.execute(asked, given).fetchone()
        return None if found is None else found[0]

    def _insert(self, asked: str, *given: Any) -> int:
        return int(self._file.execute(asked, given).lastrowid or 0)


@dataclass(frozen=True, eq=False, slots=True)
class StoredText:
    """A message or value encoded as JSON bytes, with secrets redacted."""

    type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEntry:
    """One call that has ended, in a form that can be sent between processes.

    Attributes:
        messages: the conversation; LangChain messages or encoded texts.
        tools: as sent: JSON, or an encoded text. Likewise ``schema`` and ``reply``.
        usd: the cost; None where no price is known.
        error: one line; None where there is a reply.
    """

    model: str
    role: str
    node: str
    step: int | None
    began: float
    seconds: float
    retries: int
    cached: bool
    finish: str | None
    input_tokens: int
    output_tokens: int
    usd: float | None
    error: str | None
    messages: Sequence[BaseMessage | StoredText]
    tools: Any
    schema: Any
    reply: BaseMessage | StoredText | None

    @classmethod
    def of(cls, call: CallRecord) -> CallEntry:
        """Make a plain call from a call of this process; its messages are encoded later."""
        reply = call.reply
        told = reply.response_metadata if reply is not None else {}
        counted: Mapping[str, Any] = (reply.usage_metadata if reply is not None else None) or {}
        return cls(
            **{name: getattr(call, name) for name in (*_AS_CALLED, *_SAID_IN_CALL)},
            finish=next((str(told[key]) for key in _ENDED if told.get(key)), None),
            input_tokens=counted.get("input_tokens", 0),
            output_tokens=counted.get("output_tokens", 0),
            usd=0.0 if reply is None else reply_usage(reply)["cost_usd"],
            error=None if call.error is None else error_line(call.error),
            reply=reply,
        )


def to_json_value(value: Any) -> Any:
    """Return a message, or tools or a schema, as a JSON value; secrets are not yet redacted."""
    return _plain_message(value) if isinstance(value, BaseMessage) else value


def to_stored_text(value: Any) -> StoredText:
    """Encode a value as `StoredText`, with secrets redacted."""
    said = redact_value(to_json_value(value))
    return StoredText(value.type if isinstance(value, BaseMessage) else "", encode_json(said))


def encode_json(value: Any) -> bytes:
    """Encode a value as compact JSON; values that JSON lacks become their ``str``."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode(errors="backslashreplace")


def _plain_message(message: BaseMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.type, "content": _without_pictures(message.content)}
    said |= {name: value for name in _SAID if (value := getattr(message, name, None))}
    if getattr(message, "status", None) == "error":
        said["status"] = "error"
    beside = {k: v for k, v in message.additional_kwargs.items() if k != "tool_calls"}
    return said | ({"beside": beside} if beside else {})


def _without_pictures(content: str | Sequence[Any]) -> Any:
    if isinstance(content, str):
        return content
    return [_told_of(each) if isinstance(each, dict) else each for each in content]


def _told_of(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a content block, with an image's data replaced by its size and hash."""
    data = block.get("base64")
    if not isinstance(data, str):
        return block
    picture = base64.b64decode(data)
    left = {key: value for key, value in block.items() if key != "base64"}
    return {**left, "bytes": len(picture), "sha256": sha256(picture).hexdigest()}
