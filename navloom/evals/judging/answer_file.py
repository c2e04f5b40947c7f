"""Tolerant reader of a JSON-lines file of answers to judge.

A line is ``{"id", "explanation", "record"}``, or an answer as ``navloom eval capnav`` writes it
(``{"id", ..., "result": {"answer", "path", "reason"}, "record"}``), whose reason is judged if the
answer is no. Every other line is reported with its number and fault, and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

from navloom.errors import DataError
from navloom.files import open_file
from navloom.judges.traversability import read_record

ANSWERS = "answers.jsonl"
"""File of ``eval capnav`` with one answer a line."""
_MOST_BYTES = 2_000_000_000
_MOST_LINE = 8_000_000
_MOST_SAID = 250_000
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=@-]+")
_MOST_NAME = 120
_YES = frozenset(("yes", "true", "1", "y"))


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One explanation to judge.

    Attributes:
        id: the id in the file.
        name: the id made safe as a file name and unique in the file.
        explanation: its text; untrusted.
        record: the validated record of the path.
        agent: the body whose path it is; "" if unknown.
        scene: the scene's id; "" if unknown.
    """

    id: str
    name: str
    explanation: str
    record: dict[str, Any]
    agent: str = ""
    scene: str = ""


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that is not judged, with the reason."""

    line: int
    id: str | None
    kind: str
    """``broken`` (malformed), ``yes`` (an answer of yes has no reason to judge), ``unparsed`` (no
    answer), or ``no_record``."""
    fault: str


@dataclass(frozen=True)
class AnswerFile:
    """The content of a file of answers.

    Attributes:
        rows: explanations to judge, in the file's order.
        left: every other line.
        digest: SHA-256 of the file's bytes.
    """

    rows: tuple[AnswerRow, ...]
    left: tuple[SkippedLine, ...]
    digest: str

    def counts(self) -> dict[str, int]:
        """Count the skipped lines by kind."""
        kinds = [each.kind for each in self.left]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def read_answers(path: Path) -> AnswerFile:
    """Read a file of answers.

    Args:
        path: the file, or the folder of a run of ``eval capnav``, which holds one.

    Raises:
        DataError: it cannot be read, or holds no line to judge.
    """
    path = path / ANSWERS if path.is_dir() else path
    rows: list[AnswerRow] = []
    left: list[SkippedLine] = []
    names: set[str] = set()
    digest = sha256()
    for number, raw in numbered_lines(path):
        digest.update(raw)
        if not raw.strip():
            continue
        found = _row(number, raw)
        if isinstance(found, SkippedLine):
            left.append(found)
        else:
            rows.append(replace(found, name=unique_name(found.name, names)))
    if not rows:
        first = f" The first: line {left[0].line}: {left[0].fault}." if left else ""
        raise DataError(
            f"{path}: no line to judge; expected one JSON object a line with id, explanation and"
            f" record.{first}"
        )
    return AnswerFile(tuple(rows), tuple(left), digest.hexdigest())


def safe_file_name(text: str) -> str:
    """Make an id safe as a file name; different ids stay different."""
    plain = _UNSAFE.sub("-", text).strip("-.")
    if plain == text and 0 < len(text) <= _MOST_NAME and text[0].isalnum():
        return text
    tag = blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{plain[:_MOST_NAME].lstrip('._+=@-') or 'row'}-{tag}"


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the raw lines of a file with their numbers, from 1.

    Raises:
        DataError: it cannot be read, or is too large.
    """
    try:
        with open_file(path) as file:
            if path.stat().st_size > _MOST_BYTES:
                raise DataError(f"{path}: over {_MOST_BYTES} bytes; split it")
            yield from enumerate(file, 1)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _row(number: int, raw: bytes) -> AnswerRow | SkippedLine:
    if len(raw) > _MOST_LINE:
        return SkippedLine(number, None, "broken", f"longer than {_MOST_LINE} bytes")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return SkippedLine(number, None, "broken", f"not JSON: {str(error)[:80]}")
    if not isinstance(data, dict):
        return SkippedLine(
            number, None, "broken", f"expected an object, found {type(data).__name__}"
        )
    name = data.get("id")
    if not isinstance(name, str | int) or isinstance(name, bool) or name == "":
        return SkippedLine(number, None, "broken", "expected an id")
    said = _said(data)
    if isinstance(said, tuple):
        return SkippedLine(number, str(name)[:200], *said)
    try:
        record = read_record(data.get("record")).model_dump(mode="json", by_alias=True)
    except DataError as error:
        kind = "no_record" if data.get("record") is None else "broken"
        return SkippedLine(number, str(name)[:200], kind, str(error))
    agent = str(data.get("agent") or record.get("agent") or "")[:60]
    if agent:
        record["agent"] = agent
    scene = str(data.get("scene") or "")[:200]
    return AnswerRow(str(name), safe_file_name(str(name)), said[:_MOST_SAID], record, agent, scene)


def _said(data: Mapping[str, Any]) -> str | tuple[str, str]:
    """Return the explanation of a line, or kind and message of why there is none to judge."""
    if "explanation" in data:
        said = data["explanation"]
        if said is None or isinstance(said, str):
            return said or ""
        return "broken", f"explanation: expected a text, found {type(said).__name__}"
    if "result" not in data:
        return "broken", "expected an explanation, or a result with a reason"
    result = data["result"]
    if not isinstance(result, dict):
        return "unparsed", "the answer was not parsed, so that there is no reason to judge"
    if str(result.get("answer")).strip().casefold() in _YES:
        return "yes", "the answer is yes, so that there is no reason to judge"
    reason = result.get("reason")
    return reason if isinstance(reason, str) else ""


def unique_name(name: str, names: set[str]) -> str:
    """Return the name, with a number appended if it is taken already, and add it to ``names``."""
    made, number = name, 1
    while made in names:
        number += 1
        made = f"{name}={number}"
    names.add(made)
    return made
