"""What is written for a person: one way out, without anything that steers a terminal.

Notes of scenes, words of servers and models, values of files may hold escape sequences, which could
move the cursor, rename the window or hide what was said before.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from contextvars import ContextVar

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
