"""Local models: any GGUF file as a LangChain chat model, run by llama.cpp in this process.

``local/smollm2`` is a real language model of 135 million parameters that arrives as a PyPI package:
no hub, no key, no server. ``local/PATH.gguf`` is any other file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from navloom.errors import ModelError, did_you_mean
from navloom.models.local_engine import Completion, Engine, engine_for
from navloom.models.local_gguf import ModelFile, model_file
from navloom.models.local_talk import Forms, chat, read_reply
from navloom.models.spec import Options

TEMPERATURE = 0.7
"""Sampling temperature, unless told: at 0 a small model repeats what failed word for word."""
MAX_TOKENS = 1024
"""The most tokens of a reply, unless told."""
MOST_CONTEXT = 16_384
"""The context in tokens, unless told: this, or less where the model was trained for less."""
_LEAST_CONTEXT = 256


class LocalChatModel(BaseChatModel):
    """A model file behind LangChain's chat interface.

    The seed of a call is made of its messages, so that the same messages get the same reply (to the
    letter for every file where ``exact``; docs/local-models.md says what else it depends on).
    Models of one file and the same settings share an engine, which answers call after call.
    """

    in_process: ClassVar[bool] = True
    takes_images: ClassVar[bool] = False

    model_name: str
    """What stands after ``local/``."""
    temperature: float = TEMPERATURE
    """Sampling temperature; 0 takes the likeliest token."""
    max_tokens: int = MAX_TOKENS
    """The most tokens of a reply."""
    seed: int = 0
    """Mixed with the messages into the seed of each call."""
    exact: bool = False
    """Read every prompt from its start, so that no rounding depends on what was said before."""

    _engine: Engine = PrivateAttr()

    def __init__(self, engine: Engine, **fields: Any) -> None:
        super().__init__(**fields)
        self._engine = engine

    @property
    def engine(self) -> Engine:
        """The engine that answers, shared with models of the same file and settings."""
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
        """Give the engine's memory back; a later call loads the file again."""
        self._engine.close()

    def bind_agent(
        self,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
        constrain: bool = True,
    ) -> Runnable[Any, AIMessage]:
        """Bind tools and the answer's schema together; what `navloom.models.binding.bind` calls.

        Args:
            tools: tools in OpenAI's form.
            schema: the JSON schema of the final answer; None where it is prose.
            constrain: hold the reply to one of the tools' or the answer's schema. Where False the
                tools are described and a call is looked for in the reply.
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
        """Bind tools the way LangChain's own agents do; every call is held to a tool's schema."""
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
        return self._result(await self._engine.aask(request), messages, forms)

    def _request(
        self, messages: list[BaseMessage], stop: list[str] | None, bound: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Forms]:
        name, constrain = f"local/{self.model_name}", bound.get("constrain", True)
        schema = bound.get("response_format")
        forms = Forms(name, bound.get("tools", ()), schema, bound.get("tool_choice"))
        # Unconstrained, an answer without tools is left to the prompt, as with every backend.
        silent = forms.is_plain or (not constrain and not forms.functions)
        request: dict[str, Any] = {
            "messages": chat(name, messages, "" if silent else forms.note()),
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "cache_prompt": not self.exact,
        }
        if stop:
            request["stop"] = stop
        if constrain and not forms.is_plain:
            request["grammar"] = forms.grammar()
        text = json.dumps([request, self.seed], sort_keys=True, ensure_ascii=False)
        first = hashlib.sha256(text.encode()).digest()[:4]
        request["seed"] = int.from_bytes(first, "big") & 0x7FFFFFFF
        return request, forms

    def _result(self, said: Completion, messages: list[BaseMessage], forms: Forms) -> ChatResult:
        before = sum(len(m.tool_calls) for m in messages if isinstance(m, AIMessage))
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


def make(name: str, options: Options) -> BaseChatModel:
    """The model ``local/NAME``; nothing is loaded before its first call.

    Args:
        name: ``smollm2`` or the path of a GGUF file.
        options: ``temperature``, ``max_tokens``, and in ``extra`` the context in tokens
            (``n_ctx``), ``threads`` (1), ``seed`` (0) and ``exact`` (0, or 1 to read every prompt
            from its start).

    Raises:
        ModelError: one line, for a package, a file or an option that is missing or wrong.
        ModelRefusedError: where the model would not fit into memory.
    """
    file = model_file(name)
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
