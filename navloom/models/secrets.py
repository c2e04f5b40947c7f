"""Text that is safe to write: without secrets, and without characters that steer a terminal.

A secret is known by its value: whatever stands in an environment variable whose name ends in KEY,
TOKEN, SECRET or PASSWORD, and whatever key a model was made with. `redact` takes it out of a text
as it is, reversed, in hex, in base64 (also in the middle of something longer, such as ``user:key``)
and URL-encoded. Other disguises, such as one character at a time, are not promised.
Everything that Navloom writes is redacted here: run folders, the cache, error lines, tracebacks,
logs, traces.

`say` and `tell` write to a person. Notes of scenes, words of servers and models, values of files
may hold escape sequences, which could move the cursor, rename the window or hide what was said
before.
"""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import os
import re
import shutil
import sys
import textwrap
import traceback
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from navloom.errors import NavloomError, UsageError
from navloom.files import shortened

COMMAND: ContextVar[tuple[str, ...]] = ContextVar("command", default=())
"""The words after ``navloom`` that are being carried out; none where Python calls."""


def harmless(text: str) -> str:
    """A text without characters that steer a terminal; lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def tell(text: str = "", end: str = "\n") -> None:
    """Write a result, on stdout."""
    print(harmless(text), end=end, flush=True)


def say(text: str, end: str = "\n") -> None:
    """Write a line about what is going on, on stderr."""
    print(harmless(text), end=end, file=sys.stderr, flush=True)


def tell_wrapped(text: str) -> None:
    """Write a paragraph as a result, as wide as the terminal, as COLUMNS says, or 80."""
    columns = shutil.get_terminal_size().columns
    tell(textwrap.fill(text, columns, break_long_words=False, break_on_hyphens=False))


T = TypeVar("T")

LEAST = 8
"""A shorter value is no secret: taking it out would tear ordinary words."""
_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_KEY_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*_API_KEY)\s*=\s*(.*?)\s*$")
_MOST_ENV = 64 * 1024
_MOST_REMEMBERED = 256
_MOST_WARNING = 300
_MOST_MESSAGE = 500
_NOT_SECRET = frozenset({"EMPTY", "not-a-key"})
_TRACING = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
)

_remembered: dict[str, str] = {}


def remember(value: str, name: str = "key") -> None:
    """Know a secret that is in no environment variable, such as a key given from Python.

    Args:
        value: the secret; one shorter than eight characters is left alone.
        name: what stands in its place, in square brackets.
    """
    if len(value) >= LEAST and value not in _NOT_SECRET and len(_remembered) < _MOST_REMEMBERED:
        _remembered[value] = name


def redact(text: str) -> str:
    """A text without any secret: ``<OPENAI_API_KEY>`` or ``[key]`` stands where one was."""
    known = _known()
    if not known:
        return text
    pattern, names = _pattern(known)
    return pattern.sub(lambda found: names[found.group()], text)


def redacted(value: T) -> T:
    """A JSON-able value without any secret in its strings and keys; itself where there is none."""
    known = _known()
    if not known:
        return value
    pattern, _ = _pattern(known)
    if not pattern.search(json.dumps(value, ensure_ascii=False, default=str)):
        return value
    cleaned: T = _walk(value)
    return cleaned


def redact_error(error: BaseException) -> None:
    """Take secrets out of an exception's own words, which others may write down as they are."""
    for each in causes(error):
        with contextlib.suppress(Exception):
            each.args = tuple(redact(a) if isinstance(a, str) else redacted(a) for a in each.args)
        for name in ("message", "body"):
            if getattr(each, name, None) is not None:
                with contextlib.suppress(Exception):
                    setattr(each, name, redacted(getattr(each, name)))


def one_line(error: BaseException) -> str:
    """An exception as one bounded line, without any secret."""
    text = redact(" ".join(str(error).split()))
    if not isinstance(error, NavloomError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return shortened(text, _MOST_MESSAGE)


def causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and what it came of, each once."""
    seen: set[int] = set()
    now: BaseException | None = error
    while now is not None and id(now) not in seen:
        seen.add(id(now))
        yield now
        now = now.__cause__ or now.__context__


def redact_logs() -> None:
    """Take secrets out of every log record of this process from now on."""
    make = logging.getLogRecordFactory()
    if getattr(make, "redacts", False):
        return

    def factory(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        with contextlib.suppress(TypeError, ValueError):
            record.msg, record.args = redact(record.getMessage()), ()
        if record.exc_info and record.exc_info[1] is not None:
            # A handler that finds the text made does not make it again from the exception.
            record.exc_text = redact("".join(traceback.format_exception(record.exc_info[1])))
        return record

    factory.redacts = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(factory)


def redact_warnings() -> None:
    """Show warnings of libraries as one bounded line each, without secrets: some quote a server."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = redact(" ".join(str(message).split()))[:_MOST_WARNING]
        say(f"{category.__name__}: {text}")

    warnings.showwarning = show


def redact_traces() -> bool:
    """Take secrets out of every trace of this process from now on.

    Tracing is LangChain's own and off unless the user sets its variables. Where it is on, the one
    client that LangChain's tracer shares is made here, before anyone else makes it, with
    `redacted` as its anonymizer: inputs, outputs, metadata and errors pass it before they leave
    the process, as OpenTelemetry spans too (``LANGSMITH_OTEL_ENABLED``), which that client
    exports. A client that a caller made and handed to a tracer by hand is the caller's own.

    Returns:
        Whether tracing is on; nothing is imported or made where it is off.
    """
    if not any(os.environ.get(name, "").casefold() == "true" for name in _TRACING):
        return False
    from langsmith.run_trees import get_cached_client

    get_cached_client(anonymizer=redacted)
    return True


def load_keys(path: Path) -> list[str]:
    """Take API keys from a ``.env`` file into the environment, which goes before the file.

    Only lines ``NAME_API_KEY=value`` count (``export`` and quotes are allowed): such a file is
    often another program's, and must not redirect calls to another address.

    Args:
        path: the file; there may be none.

    Returns:
        The names that were taken.

    Raises:
        UsageError: the file is too large, a key's quotes do not close, or it holds NUL.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_ENV + 1)
    except OSError:
        return []
    if len(data) > _MOST_ENV:
        raise UsageError(f"{path} is over {_MOST_ENV} bytes: no file of keys is as large")
    taken = []
    for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), 1):
        found = _KEY_LINE.match(line)
        if found is None:
            continue
        name, value = found.group(1), _unquoted(found.group(2), f"{path}:{number}")
        if "\0" in value:
            raise UsageError(f"{path}:{number}: {name} holds a character that no key has: NUL")
        if value and not os.environ.get(name, "").strip():
            os.environ[name] = value
            taken.append(name)
    return taken


def _unquoted(value: str, where: str) -> str:
    if value[:1] in ("'", '"'):
        if len(value) < 2 or value[-1] != value[0]:
            raise UsageError(f"{where}: the quote does not close; write NAME_API_KEY=value")
        return value[1:-1]
    return value.split(" #", 1)[0].strip()


def _known() -> tuple[tuple[str, str], ...]:
    there: dict[str, str] = {}
    for name, value in os.environ.items():
        if len(value) >= LEAST and value not in _NOT_SECRET and _NAMES.search(name):
            there.setdefault(value.strip(), f"<{name}>")
    # A copy: another thread may come to know one meanwhile.
    for value, name in list(_remembered.items()):
        there.setdefault(value, f"[{name}]")
    return tuple(there.items())


@lru_cache(maxsize=8)
def _pattern(known: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    names: dict[str, str] = {}
    for secret, name in known:
        for form in _forms(secret):
            names.setdefault(form, name)
    # The longest first: of two that begin alike the whole one goes.
    longest = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest))), names


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    encoded = quote(secret, safe="")
    yield from (encoded, encoded.replace("%20", "+"), quote(secret))
    yield re.sub(r"%[0-9A-F]{2}", lambda found: found.group().lower(), encoded)
    data = secret.encode()
    yield from (data.hex(), data.hex().upper(), secret[::-1])
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(data).decode()
        yield from (whole, whole.rstrip("="))
        for before in range(3):
            # The characters that hold nothing but the secret, wherever it begins in a triple.
            inner = encode(b"\0" * before + data)[(0, 2, 3)[before] :].decode().rstrip("=")
            if (before + len(data)) % 3:
                inner = inner[:-1]
            if len(inner) >= LEAST:
                yield inner


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {_walk(key): _walk(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(each) for each in value]
    return value
