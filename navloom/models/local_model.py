"""Local models: any GGUF file as a LangChain chat model, run by llama.cpp in this process.

``local/smollm2`` is a language model of 135 million parameters from a PyPI package, without hub,
key or server. ``local/PATH.gguf`` is any other file.

Tools and a response schema are emulated for a model that only completes text, by a grammar, a note
in the prompt, and a parser of the reply. llama.cpp enforces a JSON schema but has no choice of
tools. So the tools and the answer become the branches of one ``anyOf``:

    {"tool": "check_path", "arguments": {"region_a": ..., "region_b": ...}}     a tool call
    {"phase_1": {...}}                                                          the answer itself

A note at the end of the system prompt describes both. It precedes the scene and is the same for
every turn and sample, so that the engine processes it once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from navloom.errors import ModelError, did_you_mean
from navloom.models.local_engine import Completion, LocalEngine, engine_for
from navloom.models.local_gguf import ModelFile, find_model_file
from navloom.models.messages import AnswerError, message_text, read_json_object
from navloom.models.model_spec import ModelOptions

_FEW_NAMES = 4
"""Maximum number of names that the note lists; longer lists are in the prompt anyway."""
LONGEST_TEXT = 600
"""Maximum characters of a string without a bound in its schema: a small model may never close its
quotation marks."""
MOST_ITEMS = 64
"""Maximum items of a list without a bound in its schema."""
_SEPARATORS = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class ReplyForms:
    """The forms that a reply may take: tool calls and the answer.

    Args:
        name: the model, for error messages.
        tools: tools in OpenAI's form.
        schema: the JSON schema of the final answer, or None if it is prose.
        choice: which tools may be called: None or "auto" (the model chooses), "any", "required" or
            True (one must be), "none", or a tool's name (that one).

    Raises:
        ModelError: the choice is no tool.
    """

    def __init__(
        self,
        name: str,
        tools: Sequence[Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
        choice: Any = None,
    ) -> None:
        functions: dict[str, Any] = {tool["function"]["name"]: tool["function"] for tool in tools}
        if isinstance(choice, Mapping):
            choice = choice.get("function", {}).get("name")
        if choice in functions:
            functions = {choice: functions[choice]}
        elif choice == "none":
            functions = {}
        elif choice not in (None, "auto", "any", "required", True):
            raise ModelError(
                f"{name}: no tool '{choice}' is bound.{did_you_mean(str(choice), functions)}"
            )
        self.functions = functions
        self.schema = dict(schema) if schema is not None else None
        self.answers = not functions or choice in (None, "auto")
        # Beside tools, prose needs its own key, and so does an answer that has a key "tool".
        properties = (schema or {}).get("properties", {})
        self.wraps = bool(functions) and (not properties or "tool" in properties)

    @property
    def allows_any_text(self) -> bool:
        """True if any text is a valid reply."""
        return not self.functions and self.schema is None

    def grammar(self) -> str:
        """Return the schema of a whole reply in llguidance's form, which llama.cpp enforces.

        Whitespace is fixed, so that a model cannot spend its tokens on it and its reply is
        reproduced exactly in the conversation. Keywords that the engine does not know are left to
        later validation.
        """
        shared: dict[str, Any] = {}
        branches = [_call_schema(f, shared) for f in self.functions.values()]
        if self.answers:
            schema = _closed(self.schema or {"type": "string"}, shared)
            branches.append(_object(answer=schema) if self.wraps else schema)
        whole: dict[str, Any] = {"anyOf": branches} if len(branches) > 1 else branches[0]
        whole = {**whole, "x-guidance": {**_SEPARATORS, "lenient": True}}
        if shared:
            whole["$defs"] = shared
        return f"%llguidance {{}}\nstart: %json {json.dumps(whole, ensure_ascii=False)}\n"

    def note(self) -> str:
        """Return the note of the system prompt on the tools and the form of a reply."""
        if not self.functions:
            return "Reply with one JSON object and nothing else."
        lines = ["How to reply: with one JSON object and nothing else.", "To call a tool:"]
        for name, function in self.functions.items():
            fields = (function.get("parameters") or {}).get("properties", {})
            blank = ", ".join(f'"{field}": ...' for field in fields)
            lines.append(f'{{"tool": "{name}", "arguments": {{{blank}}}}}')
            lines += [f"  {line}" for line in _told(function.get("description")).splitlines()]
            for field, told in fields.items():
                names = told.get("enum") or ()
                few = 0 < len(names) <= _FEW_NAMES
                listed = f"One of {', '.join(map(str, names))}." if few else ""
                about = _told(told.get("description")) or told.get("type", "any")
                lines.append(f"  {field}: {f'{about} {listed}'.strip()}")
        lines.append("Its result is the next message.")
        if self.answers:
            keys = ["answer"] if self.wraps else list((self.schema or {})["properties"])
            form = ", ".join(f'"{key}": ...' for key in keys)
            lines.append(f"To give the final answer, once nothing is left to check:\n{{{form}}}")
        return "\n".join(lines)


def _call_schema(function: Mapping[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    arguments = _closed(function.get("parameters") or {"type": "object"}, shared)
    return _object(tool={"const": function["name"]}, arguments=arguments)


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _closed(schema: Any, shared: dict[str, Any], depth: int = 0) -> Any:
    """Return a schema with closed objects and bounded values; add its ``$defs`` to ``shared``."""
    if depth > 64 or not isinstance(schema, Mapping):
        return schema
    shared.update({k: _closed(v, shared, depth + 1) for k, v in schema.get("$defs", {}).items()})
    new = {key: value for key, value in schema.items() if key != "$defs"}
    for key in ("items", "additionalProperties"):
        if key in new:
            new[key] = _closed(new[key], shared, depth + 1)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if key in new:
            new[key] = [_closed(part, shared, depth + 1) for part in new[key]]
    if new.get("type") == "object":
        parts = new.get("properties", {})
        new["properties"] = {k: _closed(v, shared, depth + 1) for k, v in parts.items()}
        new.setdefault("additionalProperties", False)
    elif new.get("type") == "string" and not new.keys() & {"enum", "const", "pattern", "format"}:
        new.setdefault("maxLength", LONGEST_TEXT)
    elif new.get("type") == "array":
        new.setdefault("maxItems", MOST_ITEMS)
    return new


def _told(text: Any) -> str:
    return "\n".join(" ".join(row.split()) for row in str(text or "").strip().splitlines() if row)


def to_chat_roles(
    name: str, messages: Sequence[BaseMessage], note: str = ""
) -> list[dict[str, str]]:
    """Write a conversation in the two or three roles that every chat template supports.

    Tool calls are written as the model wrote them, tool results as user messages, and consecutive
    messages of one role are merged: templates differ in all of this, and many refuse it.

    Args:
        name: the model, for error messages.
        messages: the conversation.
        note: text to append to the system prompt.

    Raises:
        ModelError: an image, or an unknown kind of message.
    """
    system = [_text(name, m) for m in messages if isinstance(m, SystemMessage)]
    told: list[dict[str, str]] = []
    called: dict[str | None, str] = {}
    for message in messages:
        if isinstance(message, SystemMessage):
            continue
        if isinstance(message, AIMessage):
            called |= {call["id"]: call["name"] for call in message.tool_calls}
            calls = [
                _dumps({"tool": c["name"], "arguments": c["args"]}) for c in message.tool_calls
            ]
            broken = [str(call["args"] or "") for call in message.invalid_tool_calls]
            role, text = "assistant", "\n".join([*calls, *broken]) or _text(name, message)
        elif isinstance(message, ToolMessage):
            tool = message.name or called.get(message.tool_call_id, "the tool")
            role, text = "user", f"Result of {tool}:\n{_text(name, message)}"
        elif isinstance(message, HumanMessage):
            role, text = "user", _text(name, message)
        else:
            raise ModelError(f"{name} takes no message of type '{message.type}'.")
        if told and told[-1]["role"] == role:
            told[-1]["content"] += f"\n\n{text}"
        else:
            told.append({"role": role, "content": text})
    opening = "\n\n".join(part for part in (*system, note) if part)
    return [{"role": "system", "content": opening}, *told] if opening else told


def _text(name: str, message: BaseMessage) -> str:
    content = message.content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and "text" not in block:
            kind = block.get("type", "unknown")
            raise ModelError(
                f"{name} reads text alone and was sent a part of type '{kind}'. Use a model that "
                "takes images, such as one of vllm, openai or anthropic."
            )
    return message_text(content)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_reply(text: str, forms: ReplyForms, *, calls_before: int = 0) -> AIMessage:
    """Parse a model's text into a message: a tool call, or content.

    Args:
        text: the model's text, constrained by a grammar or not.
        forms: the forms it was offered.
        calls_before: number of tool calls in the conversation so far, for the new call's id.

    Returns:
        A message with a tool call if the text holds one, else with the answer as its content.
    """
    if not forms.functions:
        return AIMessage(text)
    try:
        value = read_json_object(text)
    except AnswerError:
        return AIMessage(text)
    # Models trained on tools write "name" if no grammar requires "tool".
    called = value.get("tool", value.get("name") if "arguments" in value else None)
    if isinstance(called, str) and "arguments" in value:
        arguments = _arguments(value["arguments"])
        if arguments is not None:
            call = {"name": called, "args": arguments, "id": f"call_{calls_before + 1}"}
            return AIMessage("", tool_calls=[call])
    if forms.wraps and set(value) == {"answer"}:
        answer = value["answer"]
        return AIMessage(answer if isinstance(answer, str) else _dumps(answer))
    return AIMessage(text)


def _arguments(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


TEMPERATURE = 0.7
"""Default sampling temperature: at 0 a small model repeats what failed word for word."""
MAX_TOKENS = 1024
"""Default maximum of tokens of a reply."""
MOST_CONTEXT = 16_384
"""Default context in tokens, or less if the model was trained for less."""
_LEAST_CONTEXT = 256


class LocalChatModel(BaseChatModel):
    """A GGUF file behind LangChain's chat interface.

    The seed of a call is derived from its messages, so that the same messages get the same reply
    (exactly, for every file, with ``exact``; docs/local-models.md lists other influences). Models
    of one file with the same settings share an engine, which processes one call at a time.
    """

    in_process: ClassVar[bool] = True
    takes_images: ClassVar[bool] = False

    model_name: str
    """Name after ``local/``."""
    temperature: float = TEMPERATURE
    """Sampling temperature; 0 takes the most likely token."""
    max_tokens: int = MAX_TOKENS
    """Maximum tokens of a reply."""
    seed: int = 0
    """Combined with the messages into the seed of each call."""
    exact: bool = False
    """Process every prompt from its start, so that rounding does not depend on earlier calls."""

    _engine: LocalEngine = PrivateAttr()

    def __init__(self, engine: LocalEngine, **fields: Any) -> None:
        super().__init__(**fields)
        self._engine = engine

    @property
    def engine(self) -> LocalEngine:
        """Engine that answers, shared by models of the same file and settings."""
        return self._engine

    @property
    def _llm_type(self) -> str:
        return "local"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {
            "model": self.model_name,
            "size": self._engine.file.size,
            "n_ctx": self._engine.n_ctx,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "exact": self.exact,
        }

    def close(self) -> None:
        """Free the engine's memory; a later call loads the file again."""
        self._engine.close()

    def bind_agent(
        self,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
        constrain: bool = True,
    ) -> Runnable[Any, AIMessage]:
        """Return the model bound to tools and schema, as `structured_output.bind_schema` needs it.

        Args:
            tools: tools in OpenAI's form.
            schema: the JSON schema of the final answer; None if it is prose.
            constrain: enforce one of the tools' or the answer's schema. If False, the tools are
                described and a call is looked for in the reply.
        """
        bound: dict[str, Any] = {"constrain": constrain}
        if tools:
            bound["tools"] = [dict(tool) for tool in tools]
        if schema is not None:
            bound["response_format"] = dict(schema)
        return self.bind(**bound)

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        """Return the model with tools bound as by LangChain's agents; calls fit a tool's schema."""
        described = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=described, tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        request, forms = self._request(messages, stop, kwargs)
        return self._result(self._engine.ask(request), messages, forms)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        request, forms = self._request(messages, stop, kwargs)
        return self._result(await self._engine.ask_async(request), messages, forms)

    def _request(
        self, messages: list[BaseMessage], stop: list[str] | None, bound: Mapping[str, Any]
    ) -> tuple[dict[str, Any], ReplyForms]:
        name, constrain = f"local/{self.model_name}", bound.get("constrain", True)
        schema = bound.get("response_format")
        forms = ReplyForms(name, bound.get("tools", ()), schema, bound.get("tool_choice"))
        # Unconstrained, an answer without tools depends on the prompt, as with every backend.
        silent = forms.allows_any_text or (not constrain and not forms.functions)
        request: dict[str, Any] = {
            "messages": to_chat_roles(name, messages, "" if silent else forms.note()),
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "cache_prompt": not self.exact,
        }
        if stop:
            request["stop"] = stop
        if constrain and not forms.allows_any_text:
            request["grammar"] = forms.grammar()
        text = json.dumps([request, self.seed], sort_keys=True, ensure_ascii=False)
        first = hashlib.sha256(text.encode()).digest()[:4]
        request["seed"] = int.from_bytes(first, "big") & 0x7FFFFFFF
        return request, forms

    def _result(self, said: Completion, sent: list[BaseMessage], forms: ReplyForms) -> ChatResult:
        before = sum(len(m.tool_calls) for m in sent if isinstance(m, AIMessage))
        message = read_reply(said.text, forms, calls_before=before)
        message.usage_metadata = {
            "input_tokens": said.prompt_tokens,
            "output_tokens": said.completion_tokens,
            "total_tokens": said.prompt_tokens + said.completion_tokens,
            "input_token_details": {"cache_read": said.cached_tokens},
        }
        message.response_metadata = {
            "model_name": self.model_name,
            "model_provider": "local",
            "finish_reason": said.finish_reason,
            "prompt_ms": said.prompt_ms,
            "completion_ms": said.completion_ms,
        }
        return ChatResult(generations=[ChatGeneration(message=message)])


def make(name: str, options: ModelOptions) -> BaseChatModel:
    """Make the model ``local/NAME``; nothing is loaded before its first call.

    Args:
        name: ``smollm2`` or the path of a GGUF file.
        options: ``temperature``, ``max_tokens``, and in ``extra`` the context in tokens
            (``n_ctx``), ``threads`` (1), ``seed`` (0) and ``exact`` (0, or 1 to process every
            prompt from its start).

    Raises:
        ModelError: a package, a file or an option is missing or wrong.
        ModelRefusedError: the model would not fit into memory.
    """
    file = find_model_file(name)
    extra = _extra(name, options.extra or {}, file)
    engine = engine_for(f"local/{name}", file, n_ctx=extra["n_ctx"], threads=extra["threads"])
    given = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    return LocalChatModel(
        engine,
        model_name=name,
        seed=extra["seed"],
        exact=bool(extra["exact"]),
        **{key: value for key, value in given.items() if value is not None},
    )


def _extra(name: str, given: Mapping[str, Any], file: ModelFile) -> dict[str, int]:
    longest = file.n_ctx_train or MOST_CONTEXT
    limits = {
        "n_ctx": (_LEAST_CONTEXT, longest, min(longest, MOST_CONTEXT)),
        "threads": (1, max(os.cpu_count() or 1, 1), 1),
        "seed": (0, 2**31 - 1, 0),
        "exact": (0, 1, 0),
    }
    known = [*limits, "temperature", "max_tokens"]
    for key in given:
        if key not in limits:
            raise ModelError(
                f"local/{name} takes no option '{key}'.{did_you_mean(key, known)} It takes: "
                f"{', '.join(known)}."
            )
    chosen: dict[str, int] = {}
    for key, (low, high, default) in limits.items():
        value = given.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ModelError(
                f"local/{name}: {key} must be a whole number from {low} to {high}, got {value!r}."
            )
        chosen[key] = value
    return chosen
