"""Reader of the model calls of a run (``RUN/calls.sqlite``), formatted for terminal and page.

    texts     each message, set of tools and schema once, by its hash; compressed, mostly against
              a similar earlier text (``base``)
    talks     conversations: each message points to the one before it, so no history is repeated
    calls     one row for each call, in the order in which they ended, with sample, node and step
    samples   ids of samples
    sessions  sessions of the run: a call that was repeated after a kill is there once for each

`navloom.evals.call_log_writer` writes it. The file is untrusted: its tables must match the schema
below, nothing in it is executed or unpickled, sizes are bounded and hashes are checked.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

from navloom.errors import NavloomError, RunError
from navloom.evals.report.blocks import Block, Prose, Tone, Transcript, Utterance
from navloom.files import check_format, open_file, truncate

NAME = "calls.sqlite"
FORM = 1
"""Version of the file format; increased when the tables change their meaning."""
TABLES = """
CREATE TABLE sessions(id INTEGER PRIMARY KEY, began REAL, made_by TEXT);
CREATE TABLE samples(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE texts(id INTEGER PRIMARY KEY, hash BLOB UNIQUE, base INTEGER, data BLOB);
CREATE TABLE talks(id INTEGER PRIMARY KEY, before INTEGER, text INTEGER, UNIQUE(before, text));
CREATE TABLE calls(id INTEGER PRIMARY KEY, sample INTEGER, session INTEGER, tried INTEGER,
    epoch INTEGER, began REAL, seconds REAL, role TEXT, model TEXT, node TEXT, step INTEGER,
    talk INTEGER, tools INTEGER, schema INTEGER, reply INTEGER, finish TEXT, input_tokens INTEGER,
    output_tokens INTEGER, usd REAL, cached INTEGER, retries INTEGER, error TEXT);
CREATE INDEX calls_of_samples ON calls(sample);
"""
MOST_TEXT = 8 * 1024 * 1024
"""Bytes of one text; a longer one is neither stored nor decompressed."""
DEEPEST = 16
"""Longest chain of texts that are compressed against one another."""
_MOST_READ = 512 * 1024 * 1024
_MOST_MESSAGES = 2_000_000
"""Messages of all calls of a sample, each counted every time it is sent."""
_WAL, _HEAD = 2, b"SQLite format 3\0"
TROUBLE = (sqlite3.Error, UnicodeDecodeError)
"""Errors of reading a file: SQLite's message on a broken file may quote bytes of it."""
_WAIT_S = 5.0
"""Longest wait for a writer."""
_WINDOW = 32 * 1024
"""Window size of deflate in bytes."""
_MOST_TEXT = 3_000
_MOST_SAID = 200
_WHO = {"ai": "the model", "tool": "the tool", "human": "the checks"}

Message = Mapping[str, Any]
_NAMED = 120
"""Characters above which a message of an earlier call is referred to, not repeated."""


def text_digest(text: bytes) -> bytes:
    """Return the BLAKE2b digest that identifies a stored text."""
    return blake2b(text, digest_size=16).digest()


def deflate_text(text: bytes, near: bytes) -> bytes:
    """Return a text compressed with a similar text as dictionary (empty: no dictionary)."""
    made = zlib.compressobj(wbits=-15, zdict=near[-_WINDOW:])
    return made.compress(text) + made.flush()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One recorded model call of a run.

    Attributes:
        sample: the id of its sample.
        number: position among the sample's calls, from 1, in the order in which they ended.
        session: number of the session that made it, from 1.
        tried: how often its sample had ended in an error before.
        epoch: which of several replies to one request.
        role: the role that the model had.
        model: ``provider/name``.
        node: the graph's node, ``outer/inner`` for a nested graph.
        step: that graph's step, as LangGraph counts; None for a call outside a graph.
        messages: the messages sent: ``role`` and ``content`` (text or blocks; images as their size
            and hash), and ``tool_calls``, ``tool_call_id`` and so on where present.
        tools: the tools as sent to the server, or None.
        schema: the reply's schema as sent to the server, or None.
        reply: a message, or None after an error.
        finish: the server's finish reason; empty if it gave none.
        usage: ``input_tokens`` and ``output_tokens`` as the reply counts them, also when cached.
        usd: the cost; 0 from the cache, None where no price is known.
        began: seconds since the epoch.
        seconds: duration, including waits between attempts.
        cached: whether the reply came from the cache.
        retries: attempts that failed and were repeated.
        error: one line; empty where there is a reply.
    """

    sample: str
    number: int
    session: int
    tried: int
    epoch: int
    role: str
    model: str
    node: str
    step: int | None
    messages: list[dict[str, Any]]
    tools: Any
    schema: Any
    reply: dict[str, Any] | None
    finish: str
    usage: dict[str, int]
    usd: float | None
    began: float
    seconds: float
    cached: bool
    retries: int
    error: str

    def record(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """Totals over calls, of all sessions and all attempts at their sample.

    Attributes:
        calls: answered calls, without those from the cache.
        cached: replies from the cache.
        errors: calls that failed for good.
        retries: attempts that failed and were repeated.
        input_tokens: of calls that were not answered from the cache.
        output_tokens: of calls that were not answered from the cache.
        usd: None where the price of one of them is unknown.
        seconds: sum of all durations.
    """

    calls: int
    cached: int
    errors: int
    retries: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float

    def record(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        return asdict(self)


def has_call_log(run: Path | str) -> bool:
    """Check whether a run has a file of calls; a run made with ``--no-calls`` has none."""
    return (Path(run) / NAME).is_file()


def read_calls(run: Path | str, sample_id: str) -> list[LoggedCall]:
    """Read the calls of a sample in the order in which they ended; [] without a file of calls.

    Raises:
        RunError: the file cannot be read, is broken, of a newer version, or holds more than can be
            shown.
    """
    with _opened(Path(run)) as file:
        return [] if file is None else _CallReader(Path(run) / NAME, file).calls(sample_id)


def count_calls(run: Path | str) -> dict[str, CallCounts]:
    """Return the call totals of each sample, by sample id, sorted.

    Raises:
        RunError: as `read_calls`.
    """
    with _opened(Path(run)) as file:
        rows = [] if file is None else file.execute(_COUNTS).fetchall()
    return {str(name): _counted(row) for name, *row in rows}


def call_latencies(run: Path | str) -> dict[tuple[str, str], list[float]]:
    """Return the durations in seconds of answered calls by (model, role), ascending.

    Raises:
        RunError: as `read_calls`.
    """
    with _opened(Path(run)) as file:
        rows = [] if file is None else file.execute(_SECONDS).fetchall()
    found: dict[tuple[str, str], list[float]] = {}
    for model, role, seconds in rows:
        found.setdefault((str(model), str(role)), []).append(float(seconds))
    return found


_SECONDS = """
SELECT model, role, seconds FROM calls WHERE error IS NULL AND NOT cached AND seconds IS NOT NULL
ORDER BY model, role, seconds LIMIT 2000000
"""
_COUNTS = """
SELECT name, sum(error IS NULL AND NOT cached), sum(cached), sum(error IS NOT NULL), sum(retries),
    sum(iif(cached, 0, input_tokens)), sum(iif(cached, 0, output_tokens)),
    iif(count(usd) = count(*), sum(usd), NULL), sum(seconds)
FROM calls JOIN samples ON samples.id = calls.sample GROUP BY name ORDER BY name
"""


def _counted(row: list[Any]) -> CallCounts:
    *whole, usd, seconds = row
    names = ("calls", "cached", "errors", "retries", "input_tokens", "output_tokens")
    named = {name: int(value or 0) for name, value in zip(names, whole, strict=True)}
    cost = None if usd is None else float(usd)
    return CallCounts(**named, usd=cost, seconds=round(float(seconds or 0), 4))


@contextmanager
def _opened(run: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the file of calls of a run read-only; yield None where there is none yet.

    Raises:
        RunError: it cannot be read, is broken, or of a newer version.
    """
    path = run / NAME
    try:
        with open_file(path) as head:
            begins = head.read(100)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    if not begins:
        yield None
        return
    try:
        with closing(_connected(path, begins)) as file, check_format(str(path), "a file of calls"):
            if why := schema_problem(file, path):
                raise damage_error(path, why)
            yield file
    except TROUBLE as error:
        # Imported late: it imports all of LangGraph.
        from navloom.graphs.agent_graph import is_damage

        why = " ".join(str(error).split())[:200]
        if is_damage(error):
            raise damage_error(path, why) from error
        raise RunError(f"cannot read {path}: {why}") from error


def _connected(path: Path, begins: bytes) -> sqlite3.Connection:
    """Return a connection to the file that writes nothing, not even a file beside it."""
    if not begins.startswith(_HEAD):
        raise damage_error(path, "it is no database")
    # In WAL mode SQLite creates a missing log. A cleanly closed file needs none, so open it as
    # immutable; likewise a file in a folder where nothing can be created.
    alone = begins[18] == _WAL and not Path(f"{path}-wal").exists()
    where = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro"
    try:
        file = sqlite3.connect(f"{where}&immutable=1" if alone else where, _WAIT_S, uri=True)
        file.execute("SELECT 1 FROM sqlite_master").fetchall()
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if alone or code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        if Path(f"{path}-wal").exists():
            why = "what was written last is in its log, which can be read in no such folder"
            raise RunError(
                f"cannot read {path}: {why}. Copy the run to where you may write"
            ) from None
        file = sqlite3.connect(f"{where}&immutable=1", uri=True)
    file.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * MOST_TEXT)
    file.execute("PRAGMA query_only=ON")
    file.execute("PRAGMA trusted_schema=OFF")
    return file


def schema_problem(file: sqlite3.Connection, path: Path) -> str:
    """Return the reason why the file is no file of calls; "" if it is one.

    Raises:
        RunError: a newer version of Navloom made it.
        sqlite3.Error: it cannot be read.
    """
    (form,) = file.execute("PRAGMA user_version").fetchone()
    if form > FORM:
        raise RunError(
            f"{path} was made by a newer version of Navloom (form {form}, this one reads {FORM}):"
            " use that one, or move the file away"
        )
    fits = form == FORM and _tables_of(file) == _our_tables()
    return "" if fits else "it has not the tables of a file of calls"


def damage_error(path: Path, why: str) -> RunError:
    """Return an error that says that a file of calls is damaged and may be deleted."""
    return RunError(
        f"{path} is broken: {why}. The run itself does not need it: delete it, and what the run"
        " does from then on is kept anew"
    )


def _tables_of(file: sqlite3.Connection) -> set[Any]:
    return set(file.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchmany(99))


@cache
def _our_tables() -> set[Any]:
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(TABLES)
        return _tables_of(made)


class _CallReader:
    """Reader of the calls of one sample."""

    def __init__(self, path: Path, file: sqlite3.Connection) -> None:
        self.path, self.file = path, file
        self._texts: dict[int, bytes] = {}
        self._values: dict[int, Any] = {}
        self._talks: dict[int, tuple[int, int]] = {}
        self._bytes = self._messages = 0

    def calls(self, sample: str) -> list[LoggedCall]:
        """Read the sample's calls in the order in which they ended."""
        of = "FROM calls JOIN samples ON samples.id = calls.sample WHERE name = ?"
        found = self.file.execute(f"SELECT calls.* {of} ORDER BY calls.id", (sample,))
        names = [each[0] for each in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return [self._call(sample, number, row) for number, row in enumerate(rows, start=1)]

    def _call(self, sample: str, number: int, row: dict[str, Any]) -> LoggedCall:
        reply, step, usd = self._value(row["reply"]), row["step"], row["usd"]
        return LoggedCall(
            sample=sample,
            number=number,
            session=int(row["session"]),
            tried=int(row["tried"]),
            epoch=int(row["epoch"]),
            role=str(row["role"]),
            model=str(row["model"]),
            node=str(row["node"]),
            step=None if step is None else int(step),
            messages=[dict(self._value(each)) for each in self._talk(int(row["talk"]))],
            tools=self._value(row["tools"]),
            schema=self._value(row["schema"]),
            reply=None if reply is None else dict(reply),
            finish=str(row["finish"] or ""),
            usage={name: int(row[name]) for name in ("input_tokens", "output_tokens")},
            usd=None if usd is None else float(usd),
            began=float(row["began"]),
            seconds=float(row["seconds"]),
            cached=bool(row["cached"]),
            retries=int(row["retries"]),
            error=str(row["error"] or ""),
        )

    def _talk(self, last: int) -> list[int]:
        """Return the ids of all texts of a conversation, from the id of its last message."""
        texts: list[int] = []
        at = last
        while at:
            if at not in self._talks:
                before, text = self._row("SELECT before, text FROM talks WHERE id = ?", at)
                if not 0 <= before < at:
                    raise damage_error(
                        self.path, f"message {at} does not come after those before it"
                    )
                self._talks[at] = (before, int(text))
            at, text = self._talks[at]
            texts.append(text)
        self._messages += len(texts)
        if self._messages > _MOST_MESSAGES:
            raise RunError(f"{self.path}: the calls of one sample hold more than can be shown")
        return texts[::-1]

    def _value(self, number: Any) -> Any:
        if number is None:
            return None
        if number not in self._values:
            self._values[number] = json.loads(self._text(int(number)))
        return self._values[number]

    def _text(self, number: int) -> bytes:
        """Return a text, decompressed along the chain of texts that it is based on."""
        chain: list[tuple[int, bytes, bytes]] = []
        at: int | None = number
        while at is not None and at not in self._texts:
            mark, base, data = self._row("SELECT hash, base, data FROM texts WHERE id = ?", at)
            chain.append((at, mark, data))
            if len(chain) > DEEPEST:
                raise damage_error(self.path, f"text {number} is told by too many others")
            at = base
        near = b"" if at is None else self._texts[at]
        for each, mark, data in reversed(chain):
            near = self._texts[each] = self._inflated(each, mark, data, near)
        return near

    def _inflated(self, number: int, mark: bytes, data: bytes, near: bytes) -> bytes:
        try:
            text = zlib.decompressobj(-15, zdict=near[-_WINDOW:]).decompress(data, MOST_TEXT)
        except zlib.error as error:
            raise damage_error(self.path, f"text {number} cannot be inflated") from error
        if text_digest(text) != mark:
            raise damage_error(self.path, f"text {number} is not the one that was written")
        self._bytes += len(text)
        if self._bytes > _MOST_READ:
            raise RunError(f"{self.path}: the calls of one sample hold more than can be shown")
        return text

    def _row(self, asked: str, number: int) -> Any:
        found = self.file.execute(asked, (number,)).fetchone()
        if found is None:
            raise damage_error(self.path, f"what a call refers to as {number} is not there")
        return found


def call_blocks(found: Sequence[LoggedCall]) -> list[Block]:
    """Make the report blocks of a sample's calls; each long text appears in full once.

    Args:
        found: of :func:`read_calls`.
    """
    first: dict[str, int] = {}
    return [block for call in found for block in _blocks(call, len(found), first)]


def _blocks(call: LoggedCall, of: int, seen: dict[str, int]) -> Iterator[Block]:
    said = [_said(str(m.get("role")), message_as_text(m), call.number, seen) for m in call.messages]
    if call.reply is not None:
        text = message_as_text(call.reply)
        seen.setdefault(text, call.number)
        said.append(Utterance("reply", text, tone="good"))
    if call.error:
        said.append(Utterance("error", call.error, tone="bad"))
    head = f"Call {call.number} of {of}: {', '.join(describe_call(call))}"
    yield Transcript(title=head, said=tuple(said), private=True, folded=head)
    for name, form in (("tools", call.tools), ("schema", call.schema)):
        if form is None:
            continue
        text = json.dumps(form, ensure_ascii=False, indent=1)
        known = seen.setdefault(f"{name} {text}", call.number)
        if known == call.number:
            words = ", ".join(schema_names(form)) or "without a name"
            folded = f"Call {call.number}: {name} ({words})"
            yield Prose(text=text, exact=True, private=True, folded=folded)


def _said(who: str, text: str, number: int, first: dict[str, int]) -> Utterance:
    known = first.setdefault(text, number)
    if known != number and len(text) > _NAMED:
        words = f"as in call {known}: {len(text):,} characters"
        return Utterance(who, words, tone="quiet")
    return Utterance(who, text)


def format_dollars(cost: float | None) -> str:
    """Format a cost in US dollars; "unknown" for None."""
    return "unknown" if cost is None else f"{cost:.4g}"


def describe_call(call: LoggedCall) -> Iterator[str]:
    """Yield role, model, node, tokens, cost and duration of a call as text."""
    yield from (call.role, call.model)
    if call.node:
        yield f"{call.node} at step {call.step}"
    yield f"{call.usage['input_tokens']:,} tokens in, {call.usage['output_tokens']:,} out"
    yield "cost unknown" if call.usd is None else f"${format_dollars(call.usd)}"
    yield f"{call.seconds:.2f} s"
    if call.cached:
        yield "from the cache"
    if call.retries:
        yield f"{call.retries} retries" if call.retries > 1 else "1 retry"
    if call.finish:
        yield f"ended: {call.finish}"
    if call.tried:
        yield f"try {call.tried + 1}"
    if call.session > 1:
        yield f"session {call.session}"
    if call.epoch:
        yield f"epoch {call.epoch}"


def message_as_text(message: dict[str, Any]) -> str:
    """Return a message's content, followed by its tool calls and other keys, as text."""
    content = message.get("content")
    blocks = [content] if isinstance(content, str) else content or []
    parts = [each if isinstance(each, str) else _block(each) for each in blocks]
    for each in message.get("tool_calls") or []:
        parts.append(f"-> {each.get('name')}({as_json_text(each.get('args'))})")
    left = {k: v for k, v in message.items() if k not in ("role", "content", "tool_calls")}
    parts += [f"{key}: {as_json_text(value)}" for key, value in left.items()]
    return "\n".join(part for part in parts if part)


def _block(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else as_json_text(block)


def as_json_text(value: Any) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def schema_names(form: Any) -> list[str]:
    """Return the names of tools, or a schema's title, in any provider's form."""
    if isinstance(form, list):
        return [name for each in form for name in schema_names(each)]
    if not isinstance(form, dict):
        return []
    own = form.get("name") or form.get("title")
    inner = [form.get(key) for key in ("function", "json_schema", "schema")]
    return [str(own)] if own else [name for each in inner for name in schema_names(each)]


def conversation_of(run: Path | str, sample: str) -> tuple[Utterance, ...]:
    """Return the turns of a sample's conversations without their initial prompts.

    Args:
        run: the run's folder.
        sample: the sample's id.

    Returns:
        Replies and tool calls of the model, tool results and rejection messages; () where the run
        has no file of calls, or it cannot be read.
    """
    try:
        calls = read_calls(run, sample)
    except NavloomError:
        return ()
    tried = max((call.tried for call in calls), default=0)
    told: dict[str, list[tuple[str, str]]] = {}
    said: list[Utterance] = []
    for call in calls:
        if call.tried != tried:
            continue
        before, now = told.get(call.node), [_key(each) for each in call.messages]
        if before is not None:
            grown = now[: len(before)] == before
            said += _lines(call.messages[len(before) :] if grown else call.messages[-1:])
        reply: Message = call.reply or {"role": "ai", "content": call.error}
        said += _lines([reply])
        told[call.node] = [*now, _key(reply)]
    return tuple(said[:_MOST_SAID])


def _key(message: Message) -> tuple[str, str]:
    return str(message.get("role")), str(message.get("content"))


def _lines(messages: Sequence[Message]) -> list[Utterance]:
    found = []
    for message in messages:
        role, content = _key(message)
        called = [
            f"{each.get('name')}({json.dumps(each.get('args'), ensure_ascii=False)})"
            for each in message.get("tool_calls") or ()
        ]
        text = "\n".join(filter(None, [content, *called]))
        tone: Tone = "bad" if role == "human" else "plain"
        found.append(Utterance(_WHO.get(role, role), truncate(text, _MOST_TEXT), tone=tone))
    return found
