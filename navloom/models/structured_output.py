"""Structured output: bind tools and a response schema to a model in its backend's own form.

docs/models.md has the table of what each backend enforces, and what is done if it does not.
The rule: an answer's schema is enforced only if the model stays free to call a tool instead.
An ability that a model is known to lack, by its LangChain profile (``model.profile``), is reported
in one line before the first sample. A server's later refusals are parsed in
:mod:`navloom.models.call_failure`.

OpenAI's strict mode, Anthropic's structured outputs and vLLM's grammars each support a subset of
JSON schema. `strict_schema` writes a schema in the subset that all three support: every object
closed, every property required, no bounds or patterns. The dropped constraints still hold, since
the caller validates the answer against the whole schema afterwards.
"""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from navloom.errors import ModelError, ModelRefusedError
from navloom.models.model_registry import resolve_model

ANSWER_TOOL = "answer_"
"""Prefix of the name of a tool that carries the final answer, where one is needed."""

_DATE = re.compile(r"-\d{8}$")


def bind_schema(
    model: BaseChatModel | str,
    *,
    tools: Sequence[BaseTool] = (),
    schema: Mapping[str, Any] | None = None,
    constrain: bool = True,
    images: bool = False,
    job: str | None = None,
    seed: int = 0,
) -> Runnable[Any, AIMessage]:
    """Bind tools and a response schema to a chat model.

    A model with its own way to enforce a schema has a method ``bind_agent(tools=[...],
    schema={...} | None, constrain=bool) -> Runnable``. It gets the tools as OpenAI's
    ``{"type": "function", "function": {...}}`` dictionaries and the unchanged response schema, and
    returns a runnable from messages to an AIMessage as described below.

    Args:
        model: any LangChain chat model, or its ``provider/name``.
        tools: the tools it may call.
        schema: the JSON schema of its final answer, with a "title"; None if the answer is prose.
        constrain: enforce the schemas if the backend can. If False, a real model gets plain tools
            and no response schema, so the prompt has to state the answer's shape.
        images: whether the messages will hold images; it changes nothing that is sent.
        job: the job's name for builtin models; it is not sent to other models.
        seed: the random seed for builtin models; likewise.

    Returns:
        A runnable from messages to an AIMessage: either it has tool calls, or its content is the
        answer.

    Raises:
        ModelError: a schema without a usable title, or one that no backend can enforce, or an
            unknown model name.
        ModelRefusedError: the model is known to take no tool calls, or no images.
    """
    if isinstance(model, str):
        model = resolve_model(model)
    check_abilities(model, tools=bool(tools), images=images)
    if schema is not None:
        schema_title(schema)
    backend = backend_of(model)
    if backend == "own":
        forms = [_openai_tool(tool) for tool in tools]
        shape = None if schema is None else dict(schema)
        return model.bind_agent(tools=forms, schema=shape, constrain=constrain)  # type: ignore[attr-defined, no-any-return]
    if backend == "in_process":
        takes_job = getattr(type(model), "takes_job", False)
        bound: dict[str, Any] = {"job": job, "seed": seed} if takes_job else {}
        if tools:
            bound["tools"] = [_openai_tool(tool) for tool in tools]
        if schema is not None:
            bound["response_format"] = dict(schema)
        return model.bind(**bound) if bound else model
    if not constrain or not (tools or schema):
        return model.bind_tools(tools) if tools else model
    if backend == "openai":
        return _openai(model, tools, schema)
    if backend == "anthropic":
        return _anthropic(model, tools, schema)
    if backend == "vllm":
        return _vllm(model, tools, schema)
    return model.bind_tools(tools) if tools else model


def backend_of(model: BaseChatModel) -> str:
    """Return the kind of binding: "own", "in_process", "openai", "anthropic", "vllm" or "other"."""
    if callable(getattr(model, "bind_agent", None)):
        return "own"
    if getattr(type(model), "in_process", False):
        return "in_process"
    named = str((model.metadata or {}).get("navloom_provider", ""))
    if named in ("openai", "anthropic", "vllm"):
        return named
    return {"openai-chat": "openai", "anthropic-chat": "anthropic"}.get(model._llm_type, "other")


def takes_schema(model: BaseChatModel | str) -> bool:
    """Check whether a model receives an answer's schema; other models have the prompt alone."""
    return backend_of(resolve_model(model) if isinstance(model, str) else model) != "other"


def _openai(
    model: Any, tools: Sequence[BaseTool], schema: Mapping[str, Any] | None
) -> Runnable[Any, AIMessage]:
    bound: dict[str, Any] = {}
    if tools:
        bound["tools"] = [_strict_tool(tool) for tool in tools]
    if schema is not None:
        asked = {"response_format": _response_format(schema)}
        if model._use_responses_api(model._default_params | bound):
            bound |= asked
        else:
            # As a plain argument it would send the call through the SDK's parse(), which raises
            # on a truncated or malformed reply and loses it; an agent can correct what it can read.
            bound["extra_body"] = {**(model.extra_body or {}), **asked}
    return model.bind(**bound)  # type: ignore[no-any-return]


def _anthropic(
    model: Any, tools: Sequence[BaseTool], schema: Mapping[str, Any] | None
) -> Runnable[Any, AIMessage]:
    if not _claude_enforces(model):
        return model.bind_tools(tools) if tools else model  # type: ignore[no-any-return]
    bound: dict[str, Any] = {}
    if tools:
        functions = [_strict_tool(tool)["function"] for tool in tools]
        bound["tools"] = [
            {
                "name": function["name"],
                "description": function.get("description", ""),
                "input_schema": function.get("parameters") or _NOTHING,
                **({"strict": True} if function.get("strict") else {}),
            }
            for function in functions
        ]
    if schema is not None:
        shape = {"type": "json_schema", "schema": strict_schema(schema)}
        bound["output_config"] = {"format": shape}
    return model.bind(**bound)  # type: ignore[no-any-return]


def _vllm(
    model: Any, tools: Sequence[BaseTool], schema: Mapping[str, Any] | None
) -> Runnable[Any, AIMessage]:
    if schema is None:
        return model.bind(tools=[_strict_tool(tool) for tool in tools])  # type: ignore[no-any-return]
    if not tools:
        return model.bind(  # type: ignore[no-any-return]
            extra_body={**(model.extra_body or {}), "response_format": _response_format(schema)}
        )
    # With a response format beside tools, vLLM enforces either the format on the whole reply, so
    # that no tool is ever called (vllm-project/vllm#39929), or, once one is required (before 0.32
    # or strict), the calls alone, and drops the format (#32006, #48157). With the answer as one
    # more tool and a call required, all of them are enforced and the model still chooses.
    name = f"{ANSWER_TOOL}{schema_title(schema)}"[:64]
    answer = {
        "name": name,
        "description": "Give the final answer, once nothing is left to check.",
        "parameters": strict_schema(schema, bounded=True),
        "strict": True,
    }
    offered = [*map(_strict_tool, tools), {"type": "function", "function": answer}]
    bound: Runnable[Any, AIMessage] = model.bind(tools=offered, tool_choice="required")

    def unwrap(message: BaseMessage) -> AIMessage:
        return _answer_as_content(message, name)

    async def aunwrap(message: BaseMessage) -> AIMessage:
        return unwrap(message)

    return bound | RunnableLambda(unwrap, aunwrap)


def _answer_as_content(message: BaseMessage, name: str) -> AIMessage:
    if not isinstance(message, AIMessage):
        raise TypeError(f"a chat model gave a {type(message).__name__}")
    others = [call for call in message.tool_calls if call["name"] != name]
    answers = [
        json.dumps(call["args"], ensure_ascii=False)
        for call in message.tool_calls
        if call["name"] == name
    ]
    broken = [c for c in message.invalid_tool_calls if c["name"] != name]
    answers += [c["args"] or "" for c in message.invalid_tool_calls if c["name"] == name]
    if not answers:
        return message
    calls = {key: v for key, v in message.additional_kwargs.items() if key != "tool_calls"}
    update: dict[str, Any] = {"tool_calls": others, "invalid_tool_calls": broken}
    if isinstance(message, AIMessageChunk):
        # A streamed message rebuilds its calls from its chunks when it is added to another.
        chunks = [chunk for chunk in message.tool_call_chunks if chunk["name"] != name]
        update["tool_call_chunks"] = chunks
    if not others and not broken:
        # If others is not empty, a tool was called together with the answer. Its result may
        # change the answer, so the answer is requested again.
        update["content"] = answers[-1]
    return message.model_copy(update={**update, "additional_kwargs": calls})


_FORMS: dict[int, dict[str, Any]] = {}


def _openai_tool(tool: BaseTool) -> dict[str, Any]:
    # A graph binds the same tools at every turn, and describing one builds a pydantic model. A tool
    # cannot be hashed, so its form is cached by identity for as long as it lives.
    form = _FORMS.get(id(tool))
    if form is None:
        form = _FORMS[id(tool)] = convert_to_openai_tool(tool)
        weakref.finalize(tool, _FORMS.pop, id(tool), None)
    return form


def _strict_tool(tool: BaseTool) -> dict[str, Any]:
    formatted = _openai_tool(tool)
    function = formatted["function"]
    try:
        parameters = strict_schema(function.get("parameters") or _NOTHING, optional="required")
    except NotStrictError:
        return formatted
    return {"type": "function", "function": {**function, "parameters": parameters, "strict": True}}


_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": schema_title(schema), "schema": strict_schema(schema), "strict": True}
    return {"type": "json_schema", "json_schema": named}


def _claude_enforces(model: Any) -> bool:
    """Check whether a Claude model supports JSON schemas, as far as its LangChain profile says.

    A profile is listed under the plain and the dated name, and only the plain one is maintained.
    """
    profile = model.profile or {}
    plain = _DATE.sub("", model.model)
    if plain != model.model:
        profile = type(model)(model=plain, api_key="-").profile or profile
    return bool(profile.get("structured_output", True))


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


def lacks_ability(model: Any, ability: Ability) -> bool:
    """Check whether a model is known not to take tool calls or images; False if unknown."""
    name = str(getattr(model, "model_name", None) or getattr(model, "model", ""))
    if (name, ability) in _LISTED_WRONG:
        return False
    profile = getattr(model, "profile", None) or {}
    return profile.get(_FIELD[ability]) is False


def check_abilities(model: Any, *, tools: bool = False, images: bool = False) -> None:
    """Refuse a model that is known to lack a required ability.

    Args:
        model: a chat model.
        tools: whether tools will be bound to it.
        images: whether its messages will hold images.

    Raises:
        ModelRefusedError: one line; every further call would end the same way.
    """
    asked: dict[Ability, bool] = {"tools": tools, "images": images}
    for ability, wanted in asked.items():
        if wanted and lacks_ability(model, ability):
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
    """Raised for a schema that the strict subset cannot express, such as an open object."""


def schema_title(schema: Mapping[str, Any]) -> str:
    """Return the title of a response schema, which names the model's job.

    Raises:
        ModelError: there is no title, or one that providers would refuse as a name.
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
    """Rewrite a JSON schema in the subset that every strict backend supports.

    Objects are closed, all properties are required, ``oneOf`` becomes ``anyOf``, and keywords that
    a strict backend refuses (bounds, lengths, patterns, formats, defaults) move into the
    description, where the model can still read them. If there are more than ``MOST_ENUM_VALUES``
    enumerated values, the longest enumerations become plain strings first.

    Args:
        schema: a JSON schema whose root is an object; it is not modified.
        optional: treatment of optional properties: "nullable" (may be null) or "required" (the
            model must give it, for a tool's arguments with defaults).
        bounded: keep the bounds on the length of arrays, for backends whose grammars enforce them;
            a small model could otherwise write items forever.

    Returns:
        A new schema.

    Raises:
        NotStrictError: an object does not list its properties, or ``allOf`` has several parts.
    """
    kept = (*_KEPT, "minItems", "maxItems") if bounded else _KEPT
    strict = _strict(dict(schema), _Dialect(optional, kept), "$", 0)
    for node in _enumerations(strict):
        names = node["enum"]
        characters = sum(len(str(name)) for name in names)
        if len(names) > _MOST_NAMES_UNMEASURED and characters > _MOST_ENUM_CHARACTERS:
            _give_up(node)
    while True:
        nodes = list(_enumerations(strict))
        if sum(len(node["enum"]) for node in nodes) <= MOST_ENUM_VALUES:
            return strict
        _give_up(max(nodes, key=lambda node: len(node["enum"])))


def _strict(node: Any, dialect: _Dialect, where: str, depth: int) -> dict[str, Any]:
    if not isinstance(node, Mapping):
        raise NotStrictError(f"The schema at {where} is not an object: {str(node)[:80]!r}.")
    if depth > _DEEPEST:
        raise NotStrictError(f"The schema is nested deeper than {_DEEPEST} levels at {where[:80]}.")
    node = dict(node)
    if (parts := node.pop("allOf", None)) is not None:
        if len(parts) != 1:
            raise NotStrictError(
                f"The schema at {where} joins several parts by allOf: write them out."
            )
        node = {**parts[0], **node}
    kept = {key: node.pop(key) for key in dialect.kept if key in node}
    if "$defs" in node:
        kept["$defs"] = {
            name: _strict(part, dialect, f"{where}.{name}", depth + 1)
            for name, part in node.pop("$defs").items()
        }
    if "$ref" in node:
        # Strict backends refuse any keyword beside a reference.
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
    rest = ", ".join(f"{key}: {value}" for key, value in node.items() if not key.startswith("$"))
    if rest:
        kept["description"] = " ".join(filter(None, [kept.get("description"), f"({rest})"]))
    return kept


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


def sees_images(model: Any) -> bool:
    """Check whether a model is shown images: it takes them, or it is unknown whether it does.

    Args:
        model: a chat model, or its ``provider/name``. Rule-based baselines read only text.

    Raises:
        ModelError: the name is no model's.
    """
    if isinstance(model, str):
        model = resolve_model(model)
    return getattr(type(model), "takes_images", True) and not lacks_ability(model, "images")
