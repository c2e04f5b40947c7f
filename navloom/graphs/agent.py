"""What every graph here is: what it takes, what it gives, where its work is done.

An agent is a :class:`AgentGraph`, LangGraph's ``StateGraph`` with three things settled:

- it takes its ``Input`` and gives an :class:`Outcome` and nothing else, so that it can be a node of
  another graph; what is wrong with input or context is said in one line before anything is done;
- a node that is a plain function is run on a thread of the house, never on the event loop: scenes
  load there, prompts are rendered there, simulators move and draw there. It is one thread, so that
  nothing in a scene or simulator is used from two at once. A node that asks a model is ``async``
  and does what precedes the call by :func:`off_loop`;
- values that grow are kept by what is added to them (:data:`Growing`, :data:`Merging`): a
  checkpoint holds a step, not everything before it. LangGraph rebuilds them from the checkpoints
  before, which therefore must not be pruned.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, lru_cache, partial
from inspect import iscoroutinefunction, signature
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_type_hints

from langchain_core.language_models import BaseChatModel
from langgraph.channels import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer
from langgraph.typing import ContextT, InputT, StateT
from pydantic import (
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    with_config,
)
from pydantic_core import core_schema
from typing_extensions import TypedDict

from navloom.errors import UsageError
from navloom.scenes.checked_files import first_problem
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Simulator
from navloom.sim.walker import Leases

_MOST_STEPS = 1_000_000
"""LangGraph's default limit has fewer steps than a home has questions; contexts bound them."""
_DOCUMENTED = ConfigDict(use_attribute_docstrings=True)
T = TypeVar("T")
K = TypeVar("K")


def _extended(old: list[Any], new: Sequence[list[Any]]) -> list[Any]:
    return [*old, *chain.from_iterable(new)]


def _merged(old: dict[Any, Any], new: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
    merged = dict(old)
    for each in new:
        merged |= each
    return merged


Growing = Annotated[list[T], DeltaChannel(_extended)]
"""A list in a state: nodes give what is to be added."""
Merging = Annotated[dict[str, T], DeltaChannel(_merged)]
"""A mapping in a state: nodes give what is to be added or replaced."""


class FromPython:
    """In a schema, a field that takes an object: from JSON its name, or nothing at all.

    Args:
        named: what a name of it looks like; None where only Python can give it.
    """

    def __init__(self, named: str | None = None) -> None:
        self.named = named

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Anything from Python; a text, or null, from JSON."""
        del source, handler
        text, nothing = core_schema.str_schema(), core_schema.none_schema()
        return core_schema.json_or_python_schema(
            json_schema=nothing if self.named is None else text,
            python_schema=core_schema.any_schema(),
            metadata={"pydantic_js_updates": {"examples": [self.named]} if self.named else {}},
        )


SceneLike = Annotated[Scene | str, FromPython("home:7")]
"""A scene, or its URI."""
ModelLike = Annotated[BaseChatModel | str, FromPython("builtin/heuristic")]
"""A chat model, or its ``provider/name``."""
SimulatorLike = Annotated[Simulator | Callable[[], Simulator] | str, FromPython("graph")]
"""A simulator, what makes one for each run, or the name of a backend."""
Picture = Annotated[
    bytes,
    BeforeValidator(lambda given: b64decode(given) if isinstance(given, str) else given),
    WithJsonSchema({"type": "string", "contentEncoding": "base64"}),
]
"""A PNG or JPEG file; from JSON in base64."""


@with_config(_DOCUMENTED)
class Outcome(TypedDict, total=False):
    """What every graph gives."""

    result: dict[str, Any]
    """What came of it; each graph says what is in it."""
    status: Literal["ok", "failed"]
    """``failed``: the agent did not manage. Where the machinery breaks, an exception is raised."""
    reason: str | None
    """Where it failed: the code to count it under."""
    message: str | None
    """Where it failed: one line for a person."""
    paid: Growing[dict[str, Any]]
    """What each call of a model came to (:class:`navloom.models.usage.ModelUsage`), also of graphs
    within this one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AgentContext:
    """What does not change during a run. Two contexts are equal only if they are one.

    Values are checked when it is made, those of JSON brought into the field's type.

    Raises:
        UsageError: a value that a field cannot take.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _DOCUMENTED

    def __post_init__(self) -> None:
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        where = f"{type(self).__module__}.{type(self).__qualname__}"
        kind: Any = type(self)
        for name, value in checked(_fields(kind), given, where).items():
            object.__setattr__(self, name, value)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """The schema that servers and clients fill, inherited fields described as well."""
        made = handler(schema)
        properties = handler.resolve_ref_schema(made)["properties"]
        for base in cls.__mro__[1:]:
            if is_dataclass(base):
                inherited = TypeAdapter(base).json_schema().get("properties", {})
                for name, each in inherited.items():
                    properties[name].setdefault("description", each.get("description"))
        return made

    @cached_property
    def leases(self) -> Leases:
        """The simulators that were made for it."""
        return Leases()


@lru_cache(maxsize=64)
def _fields(kind: Any) -> TypeAdapter[Any]:
    hints = get_type_hints(kind, include_extras=True)
    named = {each.name: hints[each.name] for each in fields(kind)}
    made = TypedDict(kind.__name__, named)  # type: ignore[misc]
    return TypeAdapter(made)


def checked(
    kind: TypeAdapter[Any], given: Mapping[str, Any], where: str, *, strict: bool = False
) -> dict[str, Any]:
    """The values of a mapping, as its schema has them.

    Args:
        kind: of a TypedDict.
        given: by name; names that the schema does not know are left out.
        where: whose they are, for the error.
        strict: take nothing for what it is not, such as '5' for a number.

    Raises:
        UsageError: the first that is wrong: where, what it is, what was expected.
    """
    try:
        found: dict[str, Any] = kind.validate_python(dict(given), strict=strict)
    except ValidationError as error:
        raise UsageError(f"{where}: {first_problem(error)}") from None
    return found


class AgentGraph(StateGraph[StateT, ContextT, InputT, Any]):
    """A ``StateGraph`` of the house; see the module.

    Args:
        state: its state, which holds an `Outcome`.
        context: its context, an `AgentContext`.
        input: what a caller gives.
        name: what it is called.
        output: what it gives; an `Outcome` by default.
    """

    def __init__(
        self,
        state: type[StateT],
        context: type[ContextT],
        input: Any,  # noqa: A002  LangGraph's own word
        name: str,
        *,
        output: Any = Outcome,
    ) -> None:
        input.__pydantic_config__ = _DOCUMENTED
        super().__init__(state, context_schema=context, input_schema=input, output_schema=output)
        self.name = name
        self._first: frozenset[str] = frozenset()

    def add_node(self, node: Any, action: Any = None, **settings: Any) -> Any:
        """Add a node: a plain function is run off the event loop, an ``async`` one on it."""
        if not callable(action):
            return super().add_node(node, action, **settings)
        return super().add_node(node, self._guarded(node, action), **settings)

    def _guarded(self, node: str, action: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        both, waits = len(signature(action).parameters) > 1, iscoroutinefunction(action)
        inner = getattr(action, "runs_graph", None)

        async def guarded(state: Any, runtime: Runtime[Any]) -> Any:
            self.check_context(runtime.context)
            if node in self._first:
                await off_loop(self._check_input, state)
            if inner is not None:  # LangGraph finds it by its name here, as in `as_node` itself.
                return await action(state, runtime)
            given = (state, runtime) if both else (state,)
            return await (action(*given) if waits else off_loop(action, *given))

        return guarded

    def check_context(self, context: Any) -> None:
        """Say what to give where a context is none, or another graph's.

        Raises:
            UsageError: it is not this graph's.
        """
        kind: Any = self.context_schema
        if not isinstance(context, kind):
            given = type(context)
            found = "no context" if context is None else f"a {given.__module__}.{given.__name__}"
            needs = ", ".join(each.name for each in fields(kind))
            raise UsageError(
                f"{self.name} was given {found}: give context={kind.__module__}.Context(...), of"
                f" {needs}; within a graph of yours put it by as_node({self.name}, context=...)."
            )

    def _check_input(self, state: Mapping[str, Any]) -> None:
        kind: Any = self.input_schema
        known = {key: state[key] for key in kind.__annotations__ if state.get(key) is not None}
        checked(_adapter(kind), known, f"{self.name}'s input", strict=True)

    def compile(self, checkpointer: Checkpointer = None, **settings: Any) -> Any:
        """The graph, to be run.

        Args:
            checkpointer: where its steps are kept; nowhere by default.
            settings: LangGraph's own.
        """
        branches = self.branches.get(START, {}).values()
        ends = chain.from_iterable((branch.ends or {}).values() for branch in branches)
        self._first = frozenset({*ends, *(end for start, end in self.edges if start == START)})
        made = super().compile(checkpointer=checkpointer, name=self.name, **settings)
        return made.with_config(recursion_limit=_MOST_STEPS)


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


_HOUSE = ThreadPoolExecutor(1, thread_name_prefix="navloom.house")


def is_off_loop() -> bool:
    """Whether this is the thread of the house."""
    return threading.current_thread().name.startswith("navloom.house")


async def off_loop(work: Callable[..., T], *given: Any) -> T:
    """Do what takes time, or touches the disk, on the thread of the house.

    Args:
        work: what to do; it does not wait for another graph.
        given: its arguments.
    """
    if is_off_loop():
        return work(*given)
    call = partial(contextvars.copy_context().run, work, *given)
    return await asyncio.get_running_loop().run_in_executor(_HOUSE, call)
