"""What a listener is told of a call to a model once it has ended (`CallSettings.on_call`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables.config import var_child_runnable_config


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedCall:
    """One call that has ended: well, from the cache, or with an error.

    Attributes:
        model: ``provider/name``.
        role: what it was used for.
        node: the graph's node that asked, ``outer/inner`` for a graph within a graph; empty where
            no graph did.
        step: which step of that graph it was, as LangGraph counts; None where no graph asked.
        messages: the conversation that was sent.
        bound: tools, schema and whatever else was bound to the model, as it was sent.
        reply: with its stamp (`navloom.models.usage`); None where there was an error.
        error: what the last attempt raised, without secrets; None where there is a reply.
        began: when, in seconds since the epoch.
        seconds: how long, waits between attempts included.
        retries: attempts that failed and were made again.
        cached: whether the reply came from the cache.
    """

    model: str
    role: str
    node: str
    step: int | None
    messages: Sequence[BaseMessage]
    bound: Mapping[str, Any]
    reply: AIMessage | None
    error: BaseException | None
    began: float
    seconds: float
    retries: int
    cached: bool

    @property
    def tools(self) -> Any:
        """The tools as the model's server is sent them; None where there are none."""
        return self.bound.get("tools") or None

    @property
    def schema(self) -> Any:
        """The form of the reply as the model's server is sent it; None where it is left free."""
        beside = self.bound.get("extra_body") or {}
        config = self.bound.get("output_config") or {}
        asked = self.bound.get("response_format") or beside.get("response_format")
        return asked or config.get("format") or None


def asking_node() -> tuple[str, int | None]:
    """The node of a graph that asks here and now, and its step; "" and None where none does.

    LangGraph puts them into the metadata of what langchain-core keeps in a context variable, with
    the names of the nodes around it: ``outer:TASK|inner:TASK``, where a task that calls a graph
    more than once has numbers between.
    """
    said: Mapping[str, Any] = (var_child_runnable_config.get() or {}).get("metadata") or {}
    around = str(said.get("langgraph_checkpoint_ns") or "").split("|")
    names = [each.partition(":")[0] for each in around]
    step = said.get("langgraph_step")
    return "/".join(n for n in names if not n.isdigit()), step if isinstance(step, int) else None
