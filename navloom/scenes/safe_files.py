"""Safe file access: bounded, validated reading of untrusted files, and atomic writing.

Every format reads through this module, so that errors of broken files have one form: the path, the
field, what was expected and what was found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from navloom.errors import SceneError
from navloom.files import open_file, replace_file

T = TypeVar("T")

MOST_BYTES = 200_000_000
MESH_ENDINGS = (".glb", ".gltf", ".obj")
"""File endings of meshes, in lower case."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_scene_id(name: str, *, what: str) -> str:
    """Return a scene id that is a safe file name: it cannot lead out of its folder.

    Args:
        name: the requested id.
        what: the format, for the message.

    Raises:
        SceneError: the id holds anything but letters, digits, ``.``, ``_`` and ``-``, or begins
            with one of these signs.
    """
    if not _ID.fullmatch(name):
        raise SceneError(
            f"{repr_of(name)} is not an id of a scene ({what}): expected letters, digits, '.', '_' "
            "and '-' alone, and no folders."
        )
    return name


def read_bytes(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file.

    Args:
        path: the file.
        most: maximum size in bytes.

    Raises:
        SceneError: the file is missing, unreadable or too large.
    """
    try:
        with open_file(path) as stream:
            raw = stream.read(most + 1)
    except FileNotFoundError as error:
        raise SceneError(f"{path}: there is no such file.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SceneError(f"{path}: cannot be read: {reason}.") from error
    if len(raw) > most:
        raise SceneError(f"{path}: expected at most {most:,} bytes, and the file is larger.")
    return raw


def find_file(folder: Path, sub: str, name: str) -> Path:
    """Return the path of a file in ``folder/sub`` if it is there, else in ``folder``."""
    inside = folder / sub / name
    return inside if inside.is_file() or not (folder / name).is_file() else folder / name


def list_file_ids(folder: Path, ending: str, sub: str | None = None) -> list[str]:
    """Return the sorted scene ids of a folder: its file names without the ending.

    Args:
        folder: where the files lie; hidden ones do not count.
        ending: of the names, such as ``.json``.
        sub: a sub-folder where they may lie as well.
    """
    files = [*folder.glob(f"*{ending}"), *(folder.glob(f"{sub}/*{ending}") if sub else ())]
    shown = (path for path in files if path.is_file() and not path.name.startswith("."))
    return sorted({path.name.removesuffix(ending) for path in shown})


def parse_json(raw: bytes, path: Path) -> Any:
    """Return the parsed content of a JSON file.

    Args:
        raw: its bytes.
        path: its path, for the message.

    Raises:
        SceneError: it is not JSON in UTF-8, is nested too deeply, or has a duplicate key.
    """
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_each_key_once)
    except UnicodeDecodeError as error:
        raise SceneError(f"{path}: byte {error.start}: expected text in UTF-8.") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise SceneError(f"{path}: {where}: expected JSON: {error.msg}.") from error
    except RecursionError as error:
        raise SceneError(f"{path}: expected JSON, and it is nested beyond reason.") from error
    except ValueError as error:
        raise SceneError(f"{path}: {error}") from error


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"expected each key once in an object, and {repr_of(key)} is twice.")
        content[key] = value
    return content


@contextmanager
def scene_errors(where: object) -> Iterator[None]:
    """Convert pydantic's errors in this block to a one-line error that begins with ``where``.

    Raises:
        SceneError: the first wrong field, what was expected and what was found.
    """
    try:
        yield
    except ValidationError as error:
        raise SceneError(f"{where}: {first_problem(error)}.") from error


def read_json(path: Path, adapter: TypeAdapter[T], *, most: int = MOST_BYTES) -> T:
    """Return the validated content of a JSON file.

    Args:
        path: the file.
        adapter: the expected type.
        most: maximum size in bytes.

    Raises:
        SceneError: the path, the first wrong field, what was expected and what was found; also
            as :func:`read_bytes` and :func:`parse_json` raise.
    """
    raw = read_bytes(path, most=most)
    # Parsed separately first: pydantic's own JSON parser accepts duplicate keys.
    parse_json(raw, path)
    with scene_errors(path):
        return adapter.validate_json(raw)


_DEEPEST = 100


class _PlainLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML loader for plain values without duplicate keys; uses the faster libyaml if present."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in seen:
                problem = f"key {str(key.value)[:60]!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


def _check_events(raw: bytes) -> None:
    """Refuse aliases, since a small file could expand without limit, and deep nesting.

    Raises:
        yaml.YAMLError, RecursionError: accordingly.
    """
    depth = 0
    for event in yaml.parse(raw, Loader=_PlainLoader):
        if isinstance(event, yaml.AliasEvent):
            said = "an alias stands here"
            raise yaml.composer.ComposerError(None, None, said, event.start_mark)  # type: ignore[arg-type]
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise RecursionError


def read_yaml(path: Path, adapter: TypeAdapter[T], *, most: int = MOST_BYTES) -> T:
    """Return the validated content of a YAML file.

    Args:
        path: the file.
        adapter: the expected type.
        most: maximum size in bytes.

    Raises:
        SceneError: the file is missing, too large, not plain YAML, or not of the expected type:
            path, line or field, and what was found.
    """
    raw = read_bytes(path, most=most)
    try:
        _check_events(raw)
        # The loader derives from SafeLoader: it builds plain values only.
        content = yaml.load(raw, Loader=_PlainLoader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}" if error.problem_mark else "the file"
        raise SceneError(f"{path}: {line}: expected plain YAML: {error.problem}.") from error
    except (yaml.YAMLError, ValueError) as error:
        text = " ".join(str(error).split())[:200]
        raise SceneError(f"{path}: expected plain YAML: {text}.") from error
    except RecursionError as error:
        raise SceneError(f"{path}: expected plain YAML, and it is nested beyond reason.") from error
    with scene_errors(path):
        return adapter.validate_python(content)


def first_problem(error: ValidationError) -> str:
    """Return a file's first wrong field as ``rooms[3].dims: expected ..., found ...``."""
    problems = error.errors(include_url=False, include_context=False)
    first = problems[0]
    field = ""
    for part in first["loc"]:
        field += f"[{part}]" if isinstance(part, int) else f".{repr_of(part)[1:-1]}"
    message = first["msg"].removeprefix("Value error, ").replace("\n", " ")
    silent = first["type"] in ("missing", "value_error", "json_invalid")
    found = "" if silent else f", found {repr_of(first['input'])}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    if not field and first["type"] == "value_error":
        return f"{message}{more}"  # a check across fields names them itself
    return f"{field.removeprefix('.') or 'the whole file'}: {message}{found}{more}"


def repr_of(value: Any) -> str:
    """Return a value as an error message shows it: on one line and bounded."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def write_atomic(path: Path, text: str) -> None:
    """Write a text file atomically: readers see the old content or the new.

    Args:
        path: the file; its folder is created if missing.
        text: the content.

    Raises:
        SceneError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
    except OSError as error:
        raise SceneError(f"{path}: cannot be written: {error.strerror}.") from error
