"""YAML as plain values: bounded, without aliases, tags or keys said twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from navloom.errors import SceneError
from navloom.scenes.files import first_problem, read_bytes

T = TypeVar("T")


class _PlainLoader(yaml.SafeLoader):
    """Refuses aliases, with which a small file can unfold without end, and keys said twice."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "an alias stands here", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in seen:
                problem = f"key {str(key.value)[:60]!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def read_yaml(path: Path, adapter: TypeAdapter[T], *, most: int) -> T:
    """The content of a YAML file, checked against what is expected of it.

    Args:
        path: the file.
        adapter: what is expected.
        most: the most bytes it may hold.

    Raises:
        SceneError: where the file is not there, too large, not plain YAML, or not as expected:
            path, line or field, and what was found.
    """
    content = _plain(path, most)
    try:
        return adapter.validate_python(content)
    except ValidationError as error:
        raise SceneError(f"{path}: {first_problem(error)}.") from error


def _plain(path: Path, most: int) -> Any:
    raw = read_bytes(path, most=most)
    try:
        # A SafeLoader underneath: it builds plain values alone.
        return yaml.load(raw, Loader=_PlainLoader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}" if error.problem_mark else "the file"
        raise SceneError(f"{path}: {line}: expected plain YAML: {error.problem}.") from error
    except (yaml.YAMLError, ValueError) as error:
        text = " ".join(str(error).split())[:200]
        raise SceneError(f"{path}: expected plain YAML: {text}.") from error
    except RecursionError as error:
        raise SceneError(f"{path}: expected plain YAML, and it is nested beyond reason.") from error
