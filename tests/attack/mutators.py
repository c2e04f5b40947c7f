"""Mutators of files: functions from a file's bytes and a random generator to other bytes.

Some are blind. Some know JSON, lines or SQLite, so that their results are parsed further.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.evals.lines import sealed

Mutator = Callable[[bytes, random.Random], bytes]
_WORDS = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[2J", b"{", b"[", b"}", b'"', b"\\",
    b"\n", b"\r\n", b",", b":", b"- ", b"&a *a", b"!!python/name:os.system", b"NaN", b"1e999",
    b"-1", b"9" * 400, b"\t", b"%s%n", b"${HOME}", b"../" * 9, b"'", b"#", b"null", b"<<: ",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e-320, 1e18,
    1e308, -1e308, float("nan"), float("inf"), "", " ", "x", "\ud800", "\u0000", "\x1b[31m",
    "NaN", "1e400", "-1", "../../etc/passwd", "/dev/zero", "~nobody-of-that-name/x", "demo:flat",
    "x" * 5_000, "\u2028", "Kitchen_0", "0_0", [], {}, [[]], [None], {"": None}, {"a": {"b": []}},
    [1, 2, 3], ["x"] * 200, [float("nan")] * 3, {"id": "x"}, "é" * 40, "1", 3, "ok", "error",
)  # fmt: skip


def flip(data: bytes, dice: random.Random) -> bytes:
    """Flip one to sixteen bits."""
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4, 16)) if changed else 0):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def cut(data: bytes, dice: random.Random) -> bytes:
    """Remove the end, the beginning or a part of the middle."""
    one, two = sorted((dice.randint(0, len(data)), dice.randint(0, len(data))))
    return dice.choice((data[:one], data[two:], data[:one] + data[two:]))


def doubled(data: bytes, dice: random.Random) -> bytes:
    """Duplicate a part, or the whole."""
    one, two = sorted((dice.randint(0, len(data)), dice.randint(0, len(data))))
    return dice.choice((data + data, data[:two] + data[one:two] + data[two:]))


def inserted(data: bytes, dice: random.Random) -> bytes:
    """Insert some bytes, random ones or ones with a meaning in some format."""
    at = dice.randint(0, len(data))
    word = dice.choice((*_WORDS, dice.randbytes(dice.randint(1, 40))))
    return data[:at] + word * dice.choice((1, 1, 1, 50)) + data[at + dice.choice((0, len(word))) :]


def shuffled(data: bytes, dice: random.Random) -> bytes:
    """Draw the lines with replacement: reordered, missing or duplicated."""
    lines = data.splitlines(keepends=True)
    return b"".join(dice.choices(lines, k=len(lines))) if lines else data


def numbers(data: bytes, dice: random.Random) -> bytes:
    """Replace one number of a text."""
    places = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
    if not places:
        return data
    at = dice.choice(places)
    end = at + 1
    while end < len(data) and chr(data[end]).isdigit():
        end += 1
    other = dice.choice((b"-1", b"0", b"1e308", b"-1e309", b"nan", b"inf", b"9" * 30, b"0x10", b""))
    return data[:at] + other + data[end:]


BLIND: tuple[Mutator, ...] = (flip, cut, doubled, inserted, shuffled, numbers)


def in_json(data: bytes, dice: random.Random) -> bytes:
    """Replace, remove, duplicate, rename, move or deeply nest values of a JSON text."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        return flip(data, dice)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        whole = changed(whole, dice)
    return _text(whole, dice)


def in_lines(data: bytes, dice: random.Random) -> bytes:
    """Change values in one line of a file of JSON lines, and keep the others."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return inserted(data, dice)
    at = dice.randrange(len(lines))
    lines[at] = in_json(lines[at], dice).replace(b"\n", b" ") + b"\n"
    return b"".join(lines)


def in_checked_lines(key: bytes) -> Mutator:
    """Return a mutator of JSON lines that writes valid line checks."""

    def within(data: bytes, dice: random.Random) -> bytes:
        rows = []
        for line in data.splitlines():
            record = json.loads(line)
            record.pop("check", None)
            rows.append(record)
        if rows:
            at = dice.randrange(len(rows))
            rows[at] = changed(rows[at], dice)
            if dice.random() < 0.1:
                rows.append(rows[at])
        return b"".join(sealed(_text(row, dice), key) for row in rows)

    return within


def in_pages(data: bytes, dice: random.Random) -> bytes:
    """Change bytes of one page of a SQLite file, or remove, swap or clear whole pages."""
    size = 4096
    pages = [data[i : i + size] for i in range(0, len(data), size)]
    if len(pages) < 2:
        return flip(data, dice)
    one, two = dice.randrange(len(pages)), dice.randrange(len(pages))
    way = dice.randrange(5)
    if way == 0:
        pages[one], pages[two] = pages[two], pages[one]
    elif way == 1:
        pages[one] = bytes(size)
    elif way == 2:
        del pages[one]
    else:
        # What a page is about stands at its beginning and at its end.
        page = bytearray(pages[one])
        for _ in range(dice.choice((1, 4, 30))):
            at = dice.choice((dice.randrange(len(page)), dice.randrange(min(100, len(page)))))
            page[at] = dice.randrange(256)
        pages[one] = bytes(page)
    return b"".join(pages)


def changed(whole: Any, dice: random.Random) -> Any:
    """Return a JSON value with one place changed; may change the value itself."""
    places = list(_places(whole))
    if not places:
        return _copy(dice.choice(_VALUES))
    holder, key = dice.choice(places)
    way = dice.randrange(9)
    if way == 0:
        del holder[key]
    elif way == 1:
        holder[key] = _nested(dice)
    elif way == 2:
        # A copy: what holds itself would have no end.
        other, at = dice.choice(places)
        holder[key] = _copy(other[at])
    elif way == 3 and isinstance(holder, dict):
        holder[dice.choice(("x", "", "id", "\ud800", "a" * 300, str(key) + "s"))] = _copy(
            holder[key]
        )
    elif way == 3:
        holder.insert(key, _copy(holder[key]))
    elif way == 4 and isinstance(holder[key], str):
        holder[key] = _string(holder[key], dice)
    elif way == 5 and isinstance(holder[key], list):
        holder[key] = _copy(holder[key] * dice.choice((0, 2, 30)))
    else:
        holder[key] = _copy(dice.choice(_VALUES))
    return whole


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place in a JSON value, as its container and key."""
    waiting = [value] if isinstance(value, (dict, list)) else []
    while waiting:
        each = waiting.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each))
        for key in keys:
            yield each, key
            if isinstance(each[key], (dict, list)):
                waiting.append(each[key])


def _copy(value: Any) -> Any:
    """Return a deep copy of a JSON value."""
    try:
        return json.loads(json.dumps(value))
    except RecursionError:
        return []


def _nested(dice: random.Random) -> Any:
    value: Any = _copy(dice.choice(_VALUES))
    for _ in range(dice.choice((3, 50, 900))):
        value = [value] if dice.random() < 0.5 else {"a": value}
    return value


def _string(text: str, dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    odd = dice.choice(("\ud800", "\u0000", "\n", "/", "..", "🏠", " ", '"', "[red]", "{{x}}", "%"))
    return dice.choice((text[:at] + odd + text[at:], text[:at], text * 3, text.upper(), text[::-1]))


def _text(value: Any, dice: random.Random) -> bytes:
    """Encode a value as JSON; NaN and infinities stay as Python writes them."""
    try:
        return json.dumps(value, ensure_ascii=dice.random() < 0.5).encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError):
        return b"[" * 2_000
