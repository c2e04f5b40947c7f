"""Independent checker of the published rules of strict JSON schema dialects."""

from __future__ import annotations

from typing import Any

_ALLOWED = {
    "title",
    "description",
    "type",
    "enum",
    "const",
    "anyOf",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "$defs",
    "$ref",
}


ARRAY_BOUNDS = frozenset({"minItems", "maxItems"})
"""Keywords that vLLM's grammars support as well."""


def complaints(node: Any, where: str = "$", *, beside: frozenset[str] = frozenset()) -> list[str]:
    """Return what a strict backend with some extra keywords would refuse in a schema."""
    if not isinstance(node, dict):
        return [f"{where}: not an object"]
    found = [f"{where}: keyword {key}" for key in node if key not in _ALLOWED | beside]
    if "$ref" in node and set(node) - {"$ref", "$defs"}:
        found.append(f"{where}: siblings of $ref")
    if node.get("type") == "object":
        properties = node.get("properties", {})
        if node.get("additionalProperties") is not False:
            found.append(f"{where}: open object")
        if set(node.get("required", ())) != set(properties):
            found.append(f"{where}: optional properties")
    for name, part in {**node.get("properties", {}), **node.get("$defs", {})}.items():
        found += complaints(part, f"{where}.{name}", beside=beside)
    for part in node.get("anyOf", ()):
        found += complaints(part, f"{where}|", beside=beside)
    if "items" in node:
        found += complaints(node["items"], f"{where}[]", beside=beside)
    return found
