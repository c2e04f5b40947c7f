"""Rule-based chat models without key, download or GPU: baselines, not language models.

``builtin/heuristic`` decides by rules over the prompt's content, ``builtin/random`` samples from
it, and ``builtin/human`` asks the person at the terminal. All reply like a language model, in text,
tool calls and JSON. A policy is a function `policy(Request) -> AIMessage`. It sees only what a
language model would see: the messages, the tools and the response schema. `Request` helps to read
them. The authors of a prompt declare its policies as ``POLICIES`` of the subject's package in
``navloom.graphs``: model -> job -> ``module:function``. Another package declares one in its own
pyproject.toml:

    [project.entry-points."navloom.policies"]
    "heuristic.my_job" = "my_package:policy"
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, SkipValidation

from navloom.errors import ModelError, did_you_mean
from navloom.models.messages import answered_calls, message_text
from navloom.plugins import find_plugins

if TYPE_CHECKING:
    from navloom.models.model_spec import ModelOptions

_FENCE = re.compile(r"[ \t]*\n?\s*(?:```(?:json)?\s*)?")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """An answered tool call.

    Attributes:
        name: the tool.
        args: the call's arguments.
        result: the answer, parsed if it is JSON, else the text.
    """

    name: str
    args: dict[str, Any]
    result: Any


@dataclass(frozen=True)
class PolicyRequest:
    """One call to a rule-based model, as a policy reads it.

    Attributes:
        messages: the conversation.
        tools: the parameters' JSON schema of every bound tool, by name.
        schema: the response schema, or None.
        job: the job's name; None if the caller bound none.
        seed: the random seed; 0 if the caller bound none.
    """

    messages: list[BaseMessage]
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    schema: dict[str, Any] | None = None
    job: str | None = None
    seed: int = 0

    @cached_property
    def human_texts(self) -> list[str]:
        """Texts of the human messages, first to last."""
        return [message_text(m.content) for m in self.messages if isinstance(m, HumanMessage)]

    @property
    def first_human(self) -> str:
        """First human message: the task and the scene."""
        return self.human_texts[0] if self.human_texts else ""

    @property
    def rejected(self) -> bool:
        """True if the last answer was rejected: a human message follows the model's."""
        spoke = any(isinstance(m, AIMessage) for m in self.messages)
        return spoke and isinstance(self.messages[-1], HumanMessage)

    def json_block(self, after: str) -> Any:
        """Return the JSON that follows a heading, directly or in a fence.

        Args:
            after: the heading as it is written, such as ``Scene graph:``; the first human message
                that contains it is read.

        Raises:
            ModelError: no message has the heading, or no JSON follows it.
        """
        text = next((text for text in self.human_texts if after in text), None)
        if text is None:
            raise ModelError(f"A builtin model needs the heading '{after}' in its prompt.")
        start = text.index(after) + len(after)
        fence = _FENCE.match(text, start)
        try:
            value, _ = json.JSONDecoder().raw_decode(text, fence.end() if fence else start)
        except (ValueError, RecursionError):
            raise ModelError(f"No JSON follows '{after}' in a builtin model's prompt.") from None
        return value

    @cached_property
    def _results(self) -> list[ToolResult]:
        return [
            ToolResult(call["name"], dict(call["args"]), _parsed(message_text(answer.content)))
            for call, answer in answered_calls(self.messages)
        ]

    def tool_results(self, name: str | None = None) -> list[ToolResult]:
        """Return the answered tool calls in the order of their answers; of one tool if named."""
        return [r for r in self._results if name is None or r.name == name]

    def call(self, name: str, **args: Any) -> AIMessage:
        """Return a message that calls a tool; its id counts the calls of the conversation."""
        before = sum(len(m.tool_calls) for m in self.messages if isinstance(m, AIMessage))
        return AIMessage(
            content="", tool_calls=[{"name": name, "args": args, "id": f"call_{before + 1}"}]
        )

    def answer(self, value: Mapping[str, Any]) -> AIMessage:
        """Return a message that gives the final answer as JSON."""
        return AIMessage(content=json.dumps(value, ensure_ascii=False))


Policy: TypeAlias = Callable[[PolicyRequest], AIMessage]
"""Policy of a rule-based model: it calls a tool, or answers."""


class InProcessModel(BaseChatModel):
    """Base of chat models that answer immediately in this process, by their method `said`."""

    in_process: ClassVar[bool] = True

    def said(self, messages: list[BaseMessage], bound: Mapping[str, Any]) -> AIMessage:
        """Return the reply to messages, given the bound and passed arguments."""
        raise NotImplementedError

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Return the model with tools bound to it, in OpenAI's form."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        said = self.said(messages, {"stop": stop, **kwargs} if stop else kwargs)
        return ChatResult(generations=[ChatGeneration(message=said)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        # Without this, LangChain would start a thread for a call of a millisecond.
        return self._generate(messages, stop, None, **kwargs)


class BuiltinChatModel(InProcessModel):
    """Rule-based baseline with a chat model's interface. It is not a language model.

    The policy is chosen by the job that the caller binds. Token counts are estimates, a quarter of
    the characters, and marked as such in ``response_metadata``. A call costs nothing.
    """

    takes_job: ClassVar[bool] = True
    takes_images: ClassVar[bool] = False

    model_name: str
    """"heuristic" or "random", or the name of another set of policies."""

    policies: Annotated[Mapping[str, Any], SkipValidation] = Field(exclude=True, repr=False)
    """The policy for each job."""

    @property
    def _llm_type(self) -> str:
        return f"builtin-{self.model_name}"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def said(self, messages: list[BaseMessage], bound: Mapping[str, Any]) -> AIMessage:
        """Return the reply of the bound job's policy."""
        tools = bound.get("tools") or []
        request = PolicyRequest(
            list(messages),
            {t["function"]["name"]: t["function"].get("parameters") or {} for t in tools},
            _bare_schema(bound.get("response_format")),
            bound.get("job"),
            bound.get("seed") or 0,
        )
        reply = self._policy(request.job)(request)
        return add_usage(reply, messages, self.model_name, tools)

    def _policy(self, job: str | None) -> Policy:
        if job is None or job not in self.policies:
            raise ModelError(
                f"builtin/{self.model_name} knows no job '{job}'."
                f"{did_you_mean(job or '', self.policies)} Its caller binds one of "
                f"{', '.join(self.policies)}."
            )
        policy: Policy = self.policies[job]
        return policy


def estimate_tokens(messages: Sequence[BaseMessage], tools: Sequence[Any] = ()) -> int:
    """Estimate the tokens of messages as a quarter of their characters, with tools and calls."""
    characters = len(json.dumps(tools)) if tools else 0
    for message in messages:
        characters += len(message_text(message.content))
        for call in getattr(message, "tool_calls", ()):
            characters += len(call["name"]) + len(json.dumps(call["args"], default=str))
    return math.ceil(characters / 4)


def add_usage(
    reply: AIMessage, messages: Sequence[BaseMessage], name: str, tools: Sequence[Any] = ()
) -> AIMessage:
    """Add estimated token counts to a reply without counts, and mark the counts as estimates."""
    if reply.usage_metadata is not None:
        return reply
    read, written = estimate_tokens(messages, tools), estimate_tokens([reply])
    reply.usage_metadata = {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": read + written,
    }
    reply.response_metadata = {
        "model_name": name,
        "usage_estimated": True,
        **reply.response_metadata,
    }
    return reply


def _bare_schema(response_format: Any) -> dict[str, Any] | None:
    if not isinstance(response_format, Mapping):
        return None
    if response_format.get("type") != "json_schema":
        return dict(response_format)
    named = response_format.get("json_schema", {})
    return {"title": named.get("name"), **named.get("schema", {})}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


GROUP = "navloom.policies"
_SUBJECTS = "navloom.graphs"


class _Lazy(Mapping[str, Policy]):
    """A model's policies by job, ours before those of plugins; each is imported on first use."""

    def __init__(self, model: str) -> None:
        self._where: dict[str, str | EntryPoint] = {**_plugged(model), **_declared(model)}

    def __getitem__(self, job: str) -> Policy:
        where = self._where[job]
        if isinstance(where, EntryPoint):
            return where.load()  # type: ignore[no-any-return]
        module, _, function = where.partition(":")
        policy: Policy = getattr(import_module(module), function)
        return policy

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._where))

    def __len__(self) -> int:
        return len(self._where)


@cache
def _declared(model: str) -> Mapping[str, str]:
    """Return job -> ``module:function``, as the subjects' packages declare them."""
    found: dict[str, str] = {}
    for subject in iter_modules(import_module(_SUBJECTS).__path__, f"{_SUBJECTS}."):
        if subject.ispkg:
            found |= getattr(import_module(subject.name), "POLICIES", {}).get(model, {})
    return found


def _plugged(model: str) -> Mapping[str, EntryPoint]:
    named = ((name.partition("."), each) for name, each in find_plugins(GROUP).items())
    return {job: each for (whose, _, job), each in named if whose == model}


def make(name: str, options: ModelOptions) -> BuiltinChatModel:  # noqa: ARG001
    """Return the builtin model of a name, such as "heuristic" or "random"."""
    return BuiltinChatModel(model_name=name, policies=_Lazy(name))
