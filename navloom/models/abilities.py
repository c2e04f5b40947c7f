"""What a backend can do: tool calls, images, and the JSON schemas that it can hold a model to.

What a model is known to lack, by its LangChain profile (``model.profile``), is said in one line
before the first sample; what a server refuses later is read in :mod:`navloom.models.failure`.

OpenAI's strict mode, Anthropic's structured outputs and vLLM's grammars each take a part of JSON
schema. `strict_schema` writes a schema in the part that all three take: every object closed, every
property required, no bounds or patterns. What is lost that way is not lost for good, since whoever
asked validates the answer against the whole schema afterwards.

Source: the providers' documented limits, tabled in docs/models.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from navloom.errors import ModelError, ModelRefusedError

Ability = Literal["tools", "images"]

_FIELD = {"tools": "tool_calling", "images": "image_inputs"}
_WORDS = {"tools": "tool calls", "images": "images"}
_LISTED_WRONG = frozenset({("gpt-3.5-turbo", "tools")})
"""The profiles' source lists it without tools; OpenAI's API takes them."""

MOST_ENUM_VALUES = 1000
"""OpenAI's limit on the enumerated values of one schema, all of its properties together."""
_MOST_NAMES_UNMEASURED, _MOST_ENUM_CHARACTERS = 250, 15_000

_KEPT = ("title", "description", "type", "enum", "const")
_DEEPEST = 64


def cannot(model: Any, ability: Ability) -> bool:
    """Whether a model is known not to take tool calls or images; False where nobody knows."""
    name = str(getattr(model, "model_name", None) or getattr(model, "model", ""))
    if (name, ability) in _LISTED_WRONG:
        return False
    profile = getattr(model, "profile", None) or {}
    return profile.get(_FIELD[ability]) is False


def check_abilities(model: Any, *, tools: bool = False, images: bool = False) -> None:
    """Refuse a model that is known to lack what it will be asked for.

    Args:
        model: a chat model.
        tools: whether tools will be bound to it.
        images: whether its messages will hold images.

    Raises:
        ModelRefusedError: one line; every further call would end the same way.
    """
    asked: dict[Ability, bool] = {"tools": tools, "images": images}
    for ability, wanted in asked.items():
        if wanted and cannot(model, ability):
            name = (model.metadata or {}).get("navloom_model") or model._llm_type
            raise ModelRefusedError(
                f"{name} takes no {_WORDS[ability]}, and this work needs them: use another model "
                "(where that is wrong, say so with get_model's "
                f"extra={{'profile': {{'{_FIELD[ability]}': True}}}})."
            )


class _Dialect(NamedTuple):
    optional: str
    kept: tuple[str, ...]


class NotStrictError(ModelError):
    """A schema that cannot be written in the strict dialect, such as one with an open object."""


def schema_title(schema: Mapping[str, Any]) -> str:
    """The title of a response schema, by which a model's job is known.

    Raises:
        ModelError: where there is no title, or one that providers would refuse as a name.
    """
    title = schema.get("title")
    if not isinstance(title, str) or not title.replace("_", "").replace("-", "").isalnum():
        raise ModelError(
            f"A response schema needs a 'title' of letters, digits, '_' and '-'; got {title!r}."
        )
    return title


def strict_schema(
    schema: Mapping[str, Any], *, optional: str = "nullable", bounded: bool = False
) -> dict[str, Any]:
    """Write a JSON schema in the part of the language that every strict backend takes.

    Objects are closed, all properties are required, ``oneOf`` becomes ``anyOf``, and keywords that
    a strict backend refuses (bounds, lengths, patterns, formats, defaults) move into the
    description, where the model can still read them. Where the enumerated values pass
    ``MOST_ENUM_VALUES``, the longest enumerations are given up first and become plain strings.

    Args:
        schema: a JSON schema whose root is an object; it is left as it was.
        optional: what becomes of a property that was not required: "nullable" (it may be null)
            or "required" (the model must give it, for a tool's arguments with defaults).
        bounded: keep the bounds on the length of arrays, for backends whose grammars hold them: a
            small model that may write another item may do so for ever.

    Returns:
        A new schema.

    Raises:
        NotStrictError: for an object whose properties are not listed, and for ``allOf`` of
            several parts.
    """
    kept = (*_KEPT, "minItems", "maxItems") if bounded else _KEPT
    strict = _strict(dict(schema), _Dialect(optional, kept), "$", 0)
    _spend_enum_budget(strict)
    return strict


def _strict(node: Any, dialect: _Dialect, where: str, depth: int) -> dict[str, Any]:
    if not isinstance(node, Mapping):
        raise NotStrictError(f"The schema at {where} is not an object: {str(node)[:80]!r}.")
    if depth > _DEEPEST:
        raise NotStrictError(f"The schema is nested deeper than {_DEEPEST} levels at {where[:80]}.")
    node = _merged(dict(node), where)
    kept = {key: node.pop(key) for key in dialect.kept if key in node}
    if "$defs" in node:
        kept["$defs"] = {
            name: _strict(part, dialect, f"{where}.{name}", depth + 1)
            for name, part in node.pop("$defs").items()
        }
    if "$ref" in node:
        # Strict backends refuse any keyword that stands beside a reference.
        return {"$ref": node["$ref"]} | ({"$defs": kept["$defs"]} if "$defs" in kept else {})
    either = node.pop("anyOf", None) or node.pop("oneOf", None)
    if either is not None:
        kept["anyOf"] = [
            _strict(part, dialect, f"{where}|{i}", depth + 1) for i, part in enumerate(either)
        ]
    if "items" in node:
        kept["items"] = _strict(node.pop("items"), dialect, f"{where}[]", depth + 1)
    if kept.get("type") == "object" or "properties" in node:
        kept |= _closed(node, dialect, where, depth)
    return _with_the_rest_told(kept, node)


def _merged(node: dict[str, Any], where: str) -> dict[str, Any]:
    parts = node.pop("allOf", None)
    if parts is None:
        return node
    if len(parts) != 1:
        raise NotStrictError(f"The schema at {where} joins several parts by allOf: write them out.")
    return {**parts[0], **node}


def _closed(node: dict[str, Any], dialect: _Dialect, where: str, depth: int) -> dict[str, Any]:
    properties = node.pop("properties", None)
    open_to = node.pop("additionalProperties", False)
    if properties is None or isinstance(open_to, Mapping):
        raise NotStrictError(
            f"The object at {where} does not list its properties, which strict output needs."
        )
    required = set(node.pop("required", ()))
    closed = {}
    for name, part in properties.items():
        strict = _strict(part, dialect, f"{where}.{name}", depth + 1)
        may_lack = name not in required and dialect.optional == "nullable"
        closed[name] = _nullable(strict) if may_lack else strict
    return {
        "type": "object",
        "properties": closed,
        "required": list(closed),
        "additionalProperties": False,
    }


def _nullable(node: dict[str, Any]) -> dict[str, Any]:
    if node.get("type") == "null" or {"type": "null"} in node.get("anyOf", ()):
        return node
    if "anyOf" in node:
        return {**node, "anyOf": [*node["anyOf"], {"type": "null"}]}
    return {"anyOf": [node, {"type": "null"}]}


def _with_the_rest_told(kept: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    rest = {k: v for k, v in rest.items() if not k.startswith("$")}
    if rest:
        told = ", ".join(f"{key}: {value}" for key, value in rest.items())
        kept["description"] = " ".join(filter(None, [kept.get("description"), f"({told})"]))
    return kept


def _spend_enum_budget(schema: dict[str, Any]) -> None:
    for node in _enumerations(schema):
        names = node["enum"]
        characters = sum(len(str(name)) for name in names)
        if len(names) > _MOST_NAMES_UNMEASURED and characters > _MOST_ENUM_CHARACTERS:
            _give_up(node)
    while True:
        nodes = list(_enumerations(schema))
        if sum(len(node["enum"]) for node in nodes) <= MOST_ENUM_VALUES:
            return
        _give_up(max(nodes, key=lambda node: len(node["enum"])))


def _give_up(node: dict[str, Any]) -> None:
    names = node.pop("enum")
    node.setdefault("type", "string")
    note = f"(one of {len(names)} names given in the prompt)"
    node["description"] = " ".join(filter(None, [node.get("description"), note]))


def _enumerations(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for part in node:
            yield from _enumerations(part)
    elif isinstance(node, dict):
        if isinstance(node.get("enum"), list):
            yield node
        for key, part in node.items():
            if key not in ("enum", "const"):
                yield from _enumerations(part)
