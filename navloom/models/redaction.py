"""Redaction of secrets and terminal control characters in text that is printed or written.

Secrets are recognized by value: every environment variable whose name ends in KEY, TOKEN, SECRET or
PASSWORD, and every key a model was made with. `redact` removes a secret from a text as it is,
reversed, in hex, in base64 (also inside a longer text, such as ``user:key``) and URL-encoded. Other
encodings, such as one character at a time, are not covered. Everything that Navloom writes is
redacted here: run folders, the cache, error lines, tracebacks, logs, traces.

`say` and `tell` print to the terminal. Texts of scenes, servers, models and files may contain
escape sequences that move the cursor, rename the window or hide earlier output.
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
from navloom.files import truncate

COMMAND: ContextVar[tuple[str, ...]] = ContextVar("command", default=())
"""The running command: the words after ``navloom``; empty if called from Python."""


def printable_text(text: str) -> str:
    """Return a text without terminal control characters; newlines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def print_out(text: str = "", end: str = "\n") -> None:
    """Print a result on stdout."""
    print(printable_text(text), end=end, flush=True)


def print_err(text: str, end: str = "\n") -> None:
    """Print a status line on stderr."""
    print(printable_text(text), end=end, file=sys.stderr, flush=True)


def print_wrapped(text: str) -> None:
    """Print a paragraph as a result, wrapped to the terminal's width, COLUMNS, or 80."""
    columns = shutil.get_terminal_size().columns
    print_out(textwrap.fill(text, columns, break_long_words=False, break_on_hyphens=False))


T = TypeVar("T")

LEAST = 8
"""Minimum length of a secret; removing shorter values would damage ordinary words."""
_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_KEY_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*_API_KEY)\s*=\s*(.*?)\s*$")
_MOST_ENV = 64 * 1024
_MOST_REMEMBERED = 256
_MOST_WARNING = 300
_MOST_MESSAGE = 500
_NOT_SECRET = frozenset({"EMPTY", "not-a-key"})
_TRACES = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")

_remembered: dict[str, str] = {}


def register_secret(value: str, name: str = "key") -> None:
    """Register a secret that is in no environment variable, such as a key given from Python.

    Args:
        value: the secret; values shorter than eight characters are ignored.
        name: its replacement, in square brackets.
    """
    if len(value) >= LEAST and value not in _NOT_SECRET and len(_remembered) < _MOST_REMEMBERED:
        _remembered[value] = name


def redact(text: str) -> str:
    """Return a text with every secret replaced by ``<OPENAI_API_KEY>`` or ``[key]``."""
    known = _known()
    if not known:
        return text
    pattern, names = _pattern(known)
    return pattern.sub(lambda found: names[found.group()], text)


def redact_value(value: T) -> T:
    """Return a JSON-able value without secrets in strings and keys; itself if it has none."""
    known = _known()
    if not known:
        return value
    pattern, _ = _pattern(known)
    if not pattern.search(json.dumps(value, ensure_ascii=False, default=str)):
        return value
    cleaned: T = _walk(value)
    return cleaned


def redact_error(error: BaseException) -> None:
    """Redact secrets in an exception's own texts, which other code may write unredacted."""
    for each in error_chain(error):
        with contextlib.suppress(Exception):
            each.args = tuple(
                redact(a) if isinstance(a, str) else redact_value(a) for a in each.args
            )
        for name in ("message", "body"):
            if getattr(each, name, None) is not None:
                with contextlib.suppress(Exception):
                    setattr(each, name, redact_value(getattr(each, name)))


def error_line(error: BaseException) -> str:
    """Return an exception as one bounded line, without secrets."""
    text = redact(" ".join(str(error).split()))
    if not isinstance(error, NavloomError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return truncate(text, _MOST_MESSAGE)


def error_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its chain of causes, each once."""
    seen: set[int] = set()
    now: BaseException | None = error
    while now is not None and id(now) not in seen:
        seen.add(id(now))
        yield now
        now = now.__cause__ or now.__context__


def redact_logs() -> None:
    """Redact secrets in every log record of this process from now on."""
    make = logging.getLogRecordFactory()
    if getattr(make, "redacts", False):
        return

    def factory(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        with contextlib.suppress(TypeError, ValueError):
            record.msg, record.args = redact(record.getMessage()), ()
        if record.exc_info and record.exc_info[1] is not None:
            # If exc_text is set, handlers do not format the exception again.
            record.exc_text = redact("".join(traceback.format_exception(record.exc_info[1])))
        return record

    factory.redacts = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(factory)


def redact_warnings() -> None:
    """Show library warnings as one bounded line each, without secrets: some quote a server."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = redact(" ".join(str(message).split()))[:_MOST_WARNING]
        print_err(f"{category.__name__}: {text}")

    warnings.showwarning = show


def redact_traces() -> bool:
    """Redact secrets in every trace of this process from now on.

    Tracing is LangChain's own and off unless the user sets its variables. If it is on, the client
    that LangChain's tracers share is made here first, with `redact_value` as its anonymizer.
    Inputs, outputs, metadata and errors pass through it before they leave the process, also as
    OpenTelemetry spans (``LANGSMITH_OTEL_ENABLED``), which that client exports. A client that a
    caller passes to a tracer is the caller's own responsibility.

    Returns:
        Whether tracing is on; if it is off, nothing is imported or made.
    """
    if not any(os.environ.get(name, "").casefold() == "true" for name in _TRACES):
        return False
    from langsmith.run_trees import get_cached_client

    get_cached_client(anonymizer=redact_value)
    return True


def load_keys(path: Path) -> list[str]:
    """Load API keys from a ``.env`` file into the environment, whose own values take precedence.

    Only lines ``NAME_API_KEY=value`` count (``export`` and quotes are allowed): such a file often
    belongs to another program, and must not redirect calls to another address.

    Args:
        path: the file, which may be missing.

    Returns:
        The names that were set.

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
    # A copy, since another thread may register one meanwhile.
    for value, name in list(_remembered.items()):
        there.setdefault(value, f"[{name}]")
    return tuple(there.items())


@lru_cache(maxsize=8)
def _pattern(known: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    names: dict[str, str] = {}
    for secret, name in known:
        for form in _forms(secret):
            names.setdefault(form, name)
    # Longest first, so that a secret is replaced before its prefix.
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
            # The characters that encode only the secret, for each offset in a base64 triple.
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
