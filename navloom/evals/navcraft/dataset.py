"""Is a file of NavCraft tasks what it says? :mod:`navloom.evals.navcraft.export` makes such files.

Anyone's file can be checked, against the published schema and then the scene: nothing in it is
trusted, every size is bounded, and a broken line is a finding with its number, never the end of the
check. The rules are those that tasks are made by (:mod:`navloom.evals.navcraft.rules`); a second
implementation of them is in the tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from navloom.errors import SceneError, UsageError
from navloom.evals.navcraft.rules import broken_rules
from navloom.files import open_file, shortened
from navloom.scenes.scene import Scene
from navloom.scenes.uri import SceneNames, other_homes
from navloom.tools.navcraft.paths import ErrandAnswer
from navloom.tools.navcraft.relay import RelayAnswer
from navloom.tools.navcraft.task import can_hold

MOST_BYTES = 256 * 1024
"""Bytes a line may have; the longest task seen has about 4,000."""
MOST_FINDINGS = 1000
"""Findings that are kept of a file; all its lines are still counted."""
_MOST_OF_A_LINE = 20
_MOST_TEXT = 300
_MOST_DIGITS = 300
"""Of a whole number: one with more is beyond any float."""
_SCENES_KEPT = 64

_FORMS = {
    "region": "is not of the form RegionType_ID",
    "name": "is not an item's name (lower case, one underscore between words)",
    "transition": "is not of the form 'RegionType_ID -> RegionType_ID'",
    "single": "is not 'Take the [object] from [region] to the [asset] in [region].'",
    "fetch": "is not 'Take the [object] from [region] to the [asset] in [region].'",
    "deliver": "is not 'Take the [object] from the [asset] in [region] to the [asset] in ...'",
}
"""What a broken pattern of the schema's ``$defs`` means, in words."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a file.

    Attributes:
        line: the line's number, from 1.
        where: the part of the task, such as ``phase_1 "Target object"``; empty: the whole line.
        problem: what is wrong, in one line.
    """

    line: int
    where: str
    problem: str

    def text(self, path: Path | str) -> str:
        """The finding as one line for a person."""
        where = f"{self.where}: " if self.where else ""
        return f"{path}:{self.line}: {where}{self.problem}"


@dataclass(frozen=True)
class Validation:
    """What a check of a file gave.

    Attributes:
        tasks: lines there are.
        valid: lines without a finding.
        findings: what is wrong, in the order of lines; at most ``MOST_FINDINGS``.
        left_out: findings beyond those.
        odd: valid lines whose end or handoff holds nothing, such as a toilet: a note and no fault,
            for the paper's rules do not forbid it.
    """

    tasks: int
    valid: int
    findings: tuple[Finding, ...]
    left_out: int = 0
    odd: int = 0

    @property
    def summary(self) -> str:
        """One line: ``200 tasks: 200 valid``."""
        broken = self.tasks - self.valid
        more = f", {broken} not valid ({len(self.findings) + self.left_out} findings)"
        note = f"; {self.odd} of these put a thing where none can be put" if self.odd else ""
        return f"{self.tasks} tasks: {self.valid} valid{more if broken else ''}{note}"


def check_file(path: Path | str, scenes: str | Sequence[str] | None = None) -> Validation:
    """Check a dataset against the schema and its scenes.

    Args:
        path: a file of JSON lines in the ``navcraft`` format.
        scenes: where its scenes are, such as ``hm3d:DIR`` (several: a list). Without it a scene is
            looked up by its own name: in the package or under ``$NAVLOOM_DATA``.

    Raises:
        UsageError: the file cannot be read.
        SceneError: ``scenes`` names none.
    """
    kept: list[Finding] = []
    tasks = valid = left_out = odd = 0
    for _, line, found in checked_lines(path, scenes):
        tasks += 1
        valid += not found
        odd += not found and _is_odd(line)
        room = MOST_FINDINGS - len(kept)
        kept += found[:room]
        left_out += max(0, len(found) - room)
    return Validation(tasks, valid, tuple(kept), left_out, odd)


def checked_lines(
    path: Path | str, scenes: str | Sequence[str] | None = None
) -> Iterator[tuple[int, Any, list[Finding]]]:
    """Each line of a dataset: its number from 1, what it holds, and what is wrong with it.

    Args:
        path: as of :func:`check_file`.
        scenes: likewise.

    Yields:
        None where a line is no JSON, or too long to be read.

    Raises:
        UsageError: the file cannot be read.
        SceneError: ``scenes`` names none.
    """
    known, ids = _Scenes(scenes), dict[str, int]()
    for number, raw in _lines(Path(path)):
        try:
            if raw is None:
                raise ValueError(f"longer than {MOST_BYTES} bytes: not read")
            line = _parse(raw)
        except (ValueError, RecursionError) as error:
            said = str(error) if raw is None else f"not JSON: {error or 'nested too deep'}"
            yield number, None, [Finding(number, "", _cut(said))]
            continue
        broken = _misshapen(line) or [
            *_check_scene(line, known.scene),
            *_check_id(number, line, ids),
        ]
        few = broken[:_MOST_OF_A_LINE]
        yield number, line, [Finding(number, where, _cut(said)) for where, said in few]


def findings_of(line: Any, load: Callable[[str], Scene]) -> list[tuple[str, str]]:
    """What is wrong with one task by itself: where, and what.

    Args:
        line: as it stands in a dataset.
        load: gives a scene by its portable name, or raises a SceneError.
    """
    broken = _misshapen(line) or _check_scene(line, load)
    return [(where, _cut(said)) for where, said in broken[:_MOST_OF_A_LINE]]


def _misshapen(line: Any) -> list[tuple[str, str]]:
    return [(_place(error), _say(error)) for error in _errors(line)]


def _is_odd(line: dict[str, Any]) -> bool:
    """Whether a valid task ends, or is handed over, on furniture that cannot hold its object."""
    errand = ErrandAnswer.model_validate(line["phase_1"]).errand
    names = [errand.end_asset]
    if line["phase_2"] is not None:
        names.append(RelayAnswer.model_validate(line["phase_2"]).choice.transfer_asset)
    return not all(can_hold(name, errand.object) for name in names)


@cache
def schema() -> dict[str, Any]:
    """The published schema of one line (JSON Schema 2020-12)."""
    text = (
        files("navloom.evals.navcraft").joinpath("navcraft.schema.json").read_text(encoding="utf-8")
    )
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def _checker() -> Draft202012Validator:
    return Draft202012Validator(schema())


@cache
def _patterns() -> dict[str, str]:
    defs = schema()["$defs"]
    return {defs[name]["pattern"]: words for name, words in _FORMS.items()}


def _lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Each line with its number from 1; None where it is too long to be read."""
    try:
        with open_file(path) as file:
            number = 0
            while line := file.readline(MOST_BYTES + 1):
                number += 1
                if len(line) > MOST_BYTES and not line.endswith(b"\n"):
                    _skip(file)
                    yield number, None
                else:
                    yield number, line
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror or error}. Give a file that"
            " 'navloom export' wrote, or one of the same format."
        ) from error


def _skip(file: BinaryIO) -> None:
    while (rest := file.readline(MOST_BYTES)) and not rest.endswith(b"\n"):
        pass


def _parse(raw: bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            raise ValueError("an object holds a key twice")
        return held

    def never(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    def whole(digits: str) -> int:
        if len(digits) > _MOST_DIGITS:
            raise ValueError(f"a whole number of {len(digits)} digits")
        return int(digits)

    text = raw.decode("utf-8").strip("\r\n \t")
    if not text:
        raise ValueError("an empty line")
    return json.loads(text, object_pairs_hook=once, parse_constant=never, parse_int=whole)


def _errors(line: Any) -> list[ValidationError]:
    errors: list[ValidationError] = []
    for error in _checker().iter_errors(line):
        # "null or an object": what is wrong with the object is what a reader wants to know.
        inner = [e for e in error.context or () if e.relative_schema_path[0] != 0]
        errors += inner if error.validator == "anyOf" and error.instance is not None else [error]
    return sorted(errors, key=lambda e: [str(part) for part in e.absolute_path])


def _place(error: ValidationError) -> str:
    """``phase_1 "Single robot travel path" robot_1 3``."""
    parts = [str(part) for part in error.absolute_path]
    return " ".join(f'"{part}"' if " " in part else part for part in parts)


def _say(error: ValidationError) -> str:
    words = _patterns().get(
        str(error.schema.get("pattern")) if isinstance(error.schema, dict) else ""
    )
    if error.validator == "pattern" and words:
        return f"{_cut(repr(error.instance), 120)} {words}"
    if error.validator in ("minItems", "maxItems") and isinstance(error.instance, list):
        bound = "at least" if error.validator == "minItems" else "at most"
        return f"holds {len(error.instance)}, expected {bound} {error.validator_value}"
    if len(error.message) > _MOST_TEXT and error.validator in ("type", "enum", "pattern"):
        return (
            f"{_cut(repr(error.instance), 120)} is not of {error.validator} {error.validator_value}"
        )
    return error.message


def _check_scene(line: dict[str, Any], load: Callable[[str], Scene]) -> list[tuple[str, str]]:
    made = (line.get("navloom") or {}).get("homes")
    if other := other_homes(line["scene"], made):
        return [("scene", other)]
    try:
        scene = load(line["scene"])
    except SceneError as error:
        return [("scene", str(error))]
    return [(each.where, each.finding) for each in broken_rules(scene, line) if each.finding]


def _check_id(number: int, line: dict[str, Any], ids: dict[str, int]) -> list[tuple[str, str]]:
    name = (line.get("navloom") or {}).get("id")
    if name is None:
        return []
    if (first := ids.setdefault(name, number)) != number:
        return [('navloom "id"', f"{name!r} stands in line {first} too")]
    return []


def _cut(text: str, most: int = _MOST_TEXT) -> str:
    return shortened("".join(c if c.isprintable() else " " for c in text), most)


class _Scenes:
    """Scenes by their names, loaded when first asked for; a few are kept."""

    def __init__(self, specs: str | Sequence[str] | None) -> None:
        self._scenes = SceneNames(specs)
        self._found = lru_cache(maxsize=_SCENES_KEPT)(self._load)

    def scene(self, name: str) -> Scene:
        """A scene; one that could not be had fails the same way again."""
        if isinstance(found := self._found(name), SceneError):
            raise found
        return found

    def _load(self, name: str) -> Scene | SceneError:
        try:
            return self._scenes.load(name)
        except SceneError as error:
            return error
