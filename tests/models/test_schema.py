from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from navloom.errors import ModelError, ModelRefusedError
from navloom.models.structured_output import (
    MOST_ENUM_VALUES,
    NotStrictError,
    _answer_as_content,
    check_abilities,
    lacks_ability,
    schema_title,
    strict_schema,
)
from tests.models.wire_rules import complaints

NAMES = st.text("abcdef_", min_size=1, max_size=6)
LEAVES = st.one_of(
    st.fixed_dictionaries({"type": st.just("integer")}, optional={"minimum": st.integers(0, 9)}),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={"pattern": st.just("^x"), "default": st.just("x"), "maxLength": st.just(3)},
    ),
    st.lists(NAMES, min_size=1, unique=True).map(lambda e: {"type": "string", "enum": e}),
)


def _objects(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def closed(properties: dict[str, Any], asked: list[str]) -> dict[str, Any]:
        required = [name for name in asked if name in properties]
        return {"type": "object", "properties": properties, "required": required}

    return st.one_of(
        st.builds(closed, st.dictionaries(NAMES, parts, max_size=4), st.lists(NAMES)),
        parts.map(lambda part: {"type": "array", "items": part, "minItems": 2}),
        st.lists(parts, min_size=1, max_size=3).map(lambda many: {"oneOf": many}),
    )


SCHEMAS = st.builds(
    lambda properties: {"title": "job", "type": "object", "properties": properties},
    st.dictionaries(NAMES, st.recursive(LEAVES, _objects, max_leaves=8), max_size=4),
)


@given(SCHEMAS)
def test_any_closed_schema_becomes_strict_and_stays_valid(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    strict = strict_schema(schema)
    assert complaints(strict) == []
    jsonschema.Draft202012Validator.check_schema(strict)
    assert schema == before
    assert strict_schema(strict) == strict


def test_optional_properties_may_be_null_and_required_ones_may_not() -> None:
    strict = strict_schema(
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"enum": ["x"]}},
            "required": ["a"],
        }
    )
    validator = jsonschema.Draft202012Validator(strict)
    assert validator.is_valid({"a": "s", "b": None})
    assert validator.is_valid({"a": "s", "b": "x"})
    assert not validator.is_valid({"a": None, "b": "x"})
    assert not validator.is_valid({"a": "s"})
    assert not validator.is_valid({"a": "s", "b": "x", "c": 1})


def test_a_tools_optional_argument_is_required_and_not_null() -> None:
    tool = {"type": "object", "properties": {"tau": {"type": "integer", "default": 2}}}
    strict = strict_schema(tool, optional="required")
    assert strict["required"] == ["tau"]
    assert strict["properties"]["tau"] == {"type": "integer", "description": "(default: 2)"}


def test_what_cannot_be_enforced_is_told_in_the_description() -> None:
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 2, "description": "a path"}
    assert strict_schema({"type": "object", "properties": {"p": schema}, "required": ["p"]})[
        "properties"
    ]["p"] == {"type": "array", "items": {"type": "string"}, "description": "a path (minItems: 2)"}


def test_definitions_are_made_strict_and_references_stand_alone() -> None:
    strict = strict_schema(
        {
            "type": "object",
            "properties": {"r": {"$ref": "#/$defs/room", "description": "a room"}},
            "required": ["r"],
            "$defs": {"room": {"type": "string", "enum": ["Bedroom_1"], "minLength": 1}},
        }
    )
    assert complaints(strict) == []
    assert strict["properties"]["r"] == {"$ref": "#/$defs/room"}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        {"allOf": [{"type": "string"}, {"minLength": 2}]},
        "a string",
    ],
)
def test_what_strict_output_cannot_say_is_refused(part: Any) -> None:
    with pytest.raises(NotStrictError):
        strict_schema({"type": "object", "properties": {"free": part}})


NESTED = {
    "items": lambda inner: {"type": "array", "items": inner},
    "either": lambda inner: {"anyOf": [inner]},
    "one of": lambda inner: {"oneOf": [{"type": "null"}, inner]},
    "properties": lambda inner: {"type": "object", "properties": {"p": inner}, "required": ["p"]},
    "definitions": lambda inner: {"type": "string", "$defs": {"d": inner}},
}


@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
def test_a_schema_nested_without_end_is_refused(nested: Any) -> None:
    def schema(levels: int) -> dict[str, Any]:
        deep: dict[str, Any] = {"type": "string"}
        for _ in range(levels):
            deep = nested(deep)
        return {"type": "object", "properties": {"d": deep}, "required": ["d"]}

    with pytest.raises(NotStrictError, match="64 levels"):
        strict_schema(schema(64))
    assert strict_schema(schema(63))["type"] == "object"


def test_the_longest_enumerations_are_given_up_beyond_the_providers_limit() -> None:
    small = [f"Room_{i}" for i in range(40)]
    large = [f"thing {i}" for i in range(MOST_ENUM_VALUES)]
    strict = strict_schema(
        {
            "type": "object",
            "properties": {
                "room": {"type": "string", "enum": small},
                "thing": {"type": "string", "enum": large},
            },
        },
        optional="required",
    )
    assert strict["properties"]["room"]["enum"] == small
    assert strict["properties"]["thing"] == {
        "type": "string",
        "description": "(one of 1000 names given in the prompt)",
    }


def test_an_enumeration_of_long_names_is_given_up_by_its_characters() -> None:
    names = [f"{'x' * 100}{i}" for i in range(251)]
    schema = {"type": "object", "properties": {"n": {"enum": names}}, "required": ["n"]}
    assert "enum" not in strict_schema(schema)["properties"]["n"]
    schema["properties"]["n"]["enum"] = names[:250]
    assert len(strict_schema(schema)["properties"]["n"]["enum"]) == 250


@pytest.mark.parametrize("title", [None, "", "two words", 3, "a.b"])
def test_a_response_schema_needs_a_title_that_is_a_name(title: Any) -> None:
    with pytest.raises(ModelError, match="title"):
        schema_title({"title": title})
    assert schema_title(json.loads('{"title": "phase_1"}')) == "phase_1"


@pytest.mark.parametrize(("characters", "kept"), [(15_000, True), (15_001, False)])
def test_251_names_have_15_000_characters_at_most(characters: int, kept: bool) -> None:
    names = [f"{k:059}" for k in range(250)]
    names.append("x" * (characters - 250 * 59))
    schema = {"type": "object", "properties": {"n": {"enum": names}}, "required": ["n"]}
    assert ("enum" in strict_schema(schema)["properties"]["n"]) == kept


class Known:
    """A model as its profile has it."""

    _llm_type = "fake"

    def __init__(self, name: str = "m", metadata: Any = None, **profile: Any) -> None:
        self.model, self.profile, self.metadata = name, profile or None, metadata


def test_a_model_lacks_what_its_profile_denies() -> None:
    assert lacks_ability(Known(tool_calling=False), "tools")
    assert not lacks_ability(Known(tool_calling=False), "images")
    assert not lacks_ability(Known(tool_calling=True), "tools")
    assert not lacks_ability(Known(), "tools")
    assert not lacks_ability(object(), "tools")
    # Listed wrongly: OpenAI's API takes tool calls of this one.
    assert not lacks_ability(Known("gpt-3.5-turbo", tool_calling=False), "tools")
    assert lacks_ability(Known("gpt-3.5-turbo", image_inputs=False), "images")
    named = Known("x", tool_calling=False)
    named.model_name = "gpt-3.5-turbo"  # type: ignore[attr-defined]
    assert not lacks_ability(named, "tools")


def test_what_a_model_lacks_is_refused_by_its_name() -> None:
    check_abilities(Known(tool_calling=False, image_inputs=False))
    check_abilities(Known(tool_calling=False), images=True)
    with pytest.raises(ModelRefusedError, match=r"^fake takes no tool calls"):
        check_abilities(Known(tool_calling=False), tools=True)
    named = Known(metadata={"navloom_model": "openai/m"}, image_inputs=False)
    with pytest.raises(ModelRefusedError, match=r"^openai/m takes no images"):
        check_abilities(named, images=True, tools=True)


def test_an_answer_among_calls_of_vllm_is_the_content() -> None:
    def call(name: str, **args: Any) -> Any:
        return {"name": name, "args": args, "id": name, "type": "tool_call"}

    def broken(name: str, args: str | None) -> Any:
        return {"name": name, "args": args, "id": name, "error": None, "type": "invalid_tool_call"}

    plain = AIMessage("so", tool_calls=[call("look")])
    assert _answer_as_content(plain, "answer") is plain
    answer = AIMessage(
        "so",
        tool_calls=[call("answer", a=1), call("answer", a=2)],
        additional_kwargs={"tool_calls": [1], "kept": 2},
    )
    found = _answer_as_content(answer, "answer")
    assert (found.content, found.tool_calls) == ('{"a": 2}', [])
    assert found.additional_kwargs == {"kept": 2}
    both = _answer_as_content(AIMessage("so", tool_calls=[call("answer"), call("look")]), "answer")
    assert (both.content, [each["name"] for each in both.tool_calls]) == ("so", ["look"])
    torn = AIMessage("so", invalid_tool_calls=[broken("answer", None)])
    assert _answer_as_content(torn, "answer").content == ""
    half = AIMessage("so", invalid_tool_calls=[broken("answer", "{"), broken("look", "{")])
    found = _answer_as_content(half, "answer")
    assert (found.content, [each["name"] for each in found.invalid_tool_calls]) == ("so", ["look"])
    with pytest.raises(TypeError, match="a chat model gave a HumanMessage"):
        _answer_as_content(HumanMessage("so"), "answer")
