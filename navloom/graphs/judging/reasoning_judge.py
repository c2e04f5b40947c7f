"""Reasoning judge: a model checks whether an explanation names the real barriers of a path.

Source: CapNav, supplementary C: a language model gets the explanation and the whole traversability
record of the path, and answers whether the one captures the other. We add the share of the barriers
that are named, the false claims, and a fence that treats the explanation as untrusted text
(:mod:`navloom.judges.injection`).

The graph is the question loop of :mod:`navloom.graphs.tool_loop`. An empty explanation needs no
model call. The last verdict of a reply counts. A reply without one is retried, and then the item is
unscored, never wrong. The prompt and all replies are recorded with the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NotRequired

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent_graph import AgentGraph
from navloom.graphs.tool_loop import AskContext, ModelQuestion, QuestionState, question_builder
from navloom.judges.injection import fence_text, is_blank, neutralise
from navloom.judges.traversability import PathEdge, PathRecord, read_record
from navloom.judges.verdict import Verdict, finish_judging, read_verdict, reasoning_schema
from navloom.models.messages import AnswerError, opening_messages
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt

PROMPT = "judge_reasoning"
MOST_BARRIERS = 20
MOST_OTHERS = 25
_MOST_NAME, _MOST_NOTE = 60, 120
_MOST_SHOWN = 4_000
_ID = re.compile(r"[A-Za-z0-9_-]{1,60}")
NOTHING_SAID = "No explanation was given."


class Input(TypedDict):
    """Input of the graph."""

    seed: NotRequired[int]
    """Seed of baselines, also shown to every model; 0 if left out."""
    explanation: str
    """Explanation of why the path cannot be used; untrusted."""
    record: dict[str, Any]
    """The path's traversability record (:mod:`navloom.judges.traversability`)."""


class State(Input, QuestionState, total=False):
    """State of the graph."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """Settings that stay fixed during a run."""

    defences: bool = True
    """False shows the judge the raw explanation, only to measure the effect of the defences."""


def prompt(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write the question as messages, or the verdict for an empty explanation."""
    said, record = state["explanation"], read_record(state["record"])
    if is_blank(said):
        partial = 0.0 if record.barriers else None
        return finish_judging(state, PROMPT, Verdict(False, NOTHING_SAID, partial).record())
    rendered = _rendered(state.get("seed", 0), said, record, runtime.context.defences)
    return {"messages": opening_messages(rendered)}


def question(state: State, context: Context) -> ModelQuestion:  # noqa: ARG001  all that ask give both
    """Return the question to the judge, unscored if the last reply has no verdict.

    The result is :meth:`Verdict.record` with the keys of
    :func:`navloom.judges.verdict.finish_judging`.
    """
    record = read_record(state["record"])
    shown = [edge.name for edge in shown_barriers(record)]

    def read(text: str, *, strict: bool = True) -> dict[str, Any]:
        verdict = read_verdict(text, shown, strict=strict)
        if len(record.barriers) > len(shown) and verdict.partial is not None:
            verdict = replace(verdict, partial=len(verdict.named) / len(record.barriers))
        return finish_judging(state, PROMPT, verdict.record())

    def give_up(text: str, _: AnswerError) -> dict[str, Any]:
        try:
            return read(text, strict=False)
        except AnswerError as error:
            unscored = Verdict(None, str(error)).record()
            return finish_judging(state, PROMPT, unscored, str(error))

    return ModelQuestion(
        job=PROMPT, read=read, give_up=give_up, schema=reasoning_schema(len(shown)), role="judge"
    )


build_graph = question_builder(
    AgentGraph(State, Context, Input, "reasoning_judge"), question, prompt=prompt
)


async def judge_reason(
    *,
    model: BaseChatModel | str,
    explanation: str,
    record: Mapping[str, Any],
    seed: int = 0,
    defences: bool = True,
    max_reasks: int = 1,
    constrain: bool = True,
) -> Verdict:
    """Grade one explanation and return the verdict.

    Args:
        model: the judge, or its ``provider/name``.
        explanation: reason that the path cannot be used; untrusted, of any length.
        record: the path's traversability record.
        seed: seed of random baselines.
        defences: False only to measure the effect of the defences.
        max_reasks: maximum number of retries after an unusable reply.
        constrain: constrain the reply to the verdict's schema if the backend can.

    Raises:
        DataError: the record is invalid.
        ModelError: the judge is not available.
    """
    context = Context(model=model, defences=defences, max_reasks=max_reasks, constrain=constrain)
    given: Any = {"seed": seed, "explanation": explanation, "record": dict(record)}
    graded = await graph.ainvoke(given, context=context)
    return Verdict.of(graded["result"], graded.get("usage", ()))


def shown_barriers(record: PathRecord) -> tuple[PathEdge, ...]:
    """Return the barriers that a judge is shown, in the order of their numbers."""
    return record.barriers[:MOST_BARRIERS]


def _rendered(seed: int, said: str, record: PathRecord, defences: bool) -> RenderedPrompt:
    ids = {node for edge in record.edges for node in (edge.a, edge.b) if _ID.fullmatch(node)}

    def clean(text: str, most: int) -> str:
        return neutralise(text, most, ids) if defences else text[:_MOST_SHOWN]

    barriers = shown_barriers(record)
    others = [edge for edge in record.edges if not edge.is_barrier]
    hidden = len(record.barriers) - len(barriers), max(0, len(others) - MOST_OTHERS)
    about = [seed, record.model_dump(mode="json")]
    return load_prompt(PROMPT).render(
        seed=seed,
        agent=clean(record.agent or "not told", _MOST_NAME),
        counts=f"{len(record.edges)} passages, {len(record.barriers)} of them barriers",
        barriers=_lines([_barrier(n, e, clean) for n, e in enumerate(barriers, 1)], hidden[0]),
        others=_lines([_other(edge, clean) for edge in others[:MOST_OTHERS]], hidden[1]),
        explanation=fence_text(said, about=about, known=ids, defences=defences),
        fenced=defences,
    )


def _barrier(number: int, edge: PathEdge, clean: Any) -> str:
    note = clean(edge.truth.note or "", _MOST_NOTE) or "cannot be passed, cause not noted"
    return f"{number}. {_ends(edge, clean)}: {note}"


def _other(edge: PathEdge, clean: Any) -> str:
    known = "open" if edge.truth.traversable else "nobody labelled it"
    return f"- {_ends(edge, clean)}: {known}"


def _ends(edge: PathEdge, clean: Any) -> str:
    def end(node: str, name: str | None) -> str:
        node, name = clean(node, _MOST_NAME), clean(name or "", _MOST_NAME)
        return f"{node} ({name})" if name and name != node else node

    return f"{end(edge.a, edge.from_name)} -> {end(edge.b, edge.to_name)}"


def _lines(lines: list[str], hidden: int) -> str:
    more = [f"- {hidden} more, not shown"] if hidden else []
    return "\n".join([*lines, *more]) or "none"


graph = build_graph()
