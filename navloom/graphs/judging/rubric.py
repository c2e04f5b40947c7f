"""The rubric judge: what is one step of a navigator's reasoning worth, by each criterion?

Source: VLN-MME 4.3, which finds by hand that what agents see, remember and do comes apart. The
criteria are a rubric's (:mod:`navloom.judges.rubric_file`), and each gets yes, no or na with the
evidence for it. The frame is that of :mod:`navloom.graphs.judging.reasoning`.

    START ──> prompt ──> grade ──> parse ──> END
                           ^         │
                           └─────────┘  the exact fault, at most ``max_reasks`` times

The last graded rubric of a reply wins. A criterion whose grade is off the menu is asked for again,
then unscored by itself; the others count.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer

from navloom.judges.fence import fence, neutralise
from navloom.judges.rubric_file import GRADES, Rubric, load_rubric
from navloom.judges.trace import Step
from navloom.judges.verdict import last_object
from navloom.models.answer import AnswerError, message_text
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.prompts.load import load_prompt
from navloom.tools.resolve import model_of

__all__ = ["Context", "State", "build_graph", "graph", "read_grades"]

PROMPT = "judge_rubric"
_MOST_OPTIONS, _MOST_LINE, _MOST_WORDS = 16, 160, 400
_MOST_EVIDENCE, _MOST_REPLY = 300, 4_000
_MODEL_SECONDS = 1800.0
Grades = dict[str, dict[str, Any]]


class Input(TypedDict):
    """What a caller gives."""

    seed: int
    """Drawn upon by baselines, and shown to every model."""
    step: dict[str, Any]
    """The step, as JSON of :class:`navloom.judges.trace.Step`; untrusted."""


class State(TypedDict, total=False):
    """What the graph knows between nodes."""

    seed: int
    """See :class:`Input`."""
    step: dict[str, Any]
    """See :class:`Input`."""
    conversation: list[AnyMessage]
    """What is being said."""
    faults: Annotated[list[str], operator.add]
    """What was wrong with each reply that could not be used whole."""
    messages: Annotated[list[AIMessage], operator.add]
    """Every reply of the judge, with its usage."""
    status: Literal["ok", "failed"]
    """``failed`` where no criterion is scored."""
    reason: str | None
    """``unscored``, or None."""
    message: str | None
    """The last fault, where nothing is scored."""
    result: dict[str, Any]
    """``criteria`` (each with ``grade``, None where unscored, and ``evidence``), ``faults``,
    ``prompt``, ``replies`` and ``asked_with``."""


@dataclass(frozen=True)
class Context:
    """What does not change during a run."""

    model: BaseChatModel | str
    """The judge, or its ``provider/name``."""
    rubric: Rubric | str = "trace"
    """The rubric, its name, or its file."""
    defences: bool = True
    """False shows the judge what was said as it is: for measuring, and for nothing else."""
    max_reasks: int = 1
    """How often a reply that cannot be used is asked for again."""
    constrain: bool = True
    """Whether to hold the model to the rubric's schema where its backend can."""


async def prompt(state: State, runtime: Runtime[Context]) -> State:
    """Write down the question."""
    rubric, step = _rubric(runtime.context.rubric), Step.model_validate(state["step"])
    system, human = _texts(state.get("seed", 0), rubric, step, runtime.context.defences)
    return {"conversation": [SystemMessage(system), HumanMessage(human)]}


async def grade(state: State, runtime: Runtime[Context]) -> State:
    """Ask the judge."""
    context = runtime.context
    schema = _rubric(context.rubric).answer_schema()
    bound = bind(model_of(context.model), schema=schema, constrain=context.constrain)
    answer = await acall(bound, state["conversation"], role="judge")
    return {"conversation": [*state["conversation"], answer], "messages": [answer]}


async def parse(state: State, runtime: Runtime[Context]) -> State:
    """Read the grades; say what is wrong with them while there are asks left, else leave it."""
    reply = message_text(state["conversation"][-1].content)
    rubric, context = _rubric(runtime.context.rubric), runtime.context
    grades, fault = read_grades(reply, rubric)
    faults = [fault] if fault else []
    if fault and len(state["messages"]) <= context.max_reasks:
        return {"conversation": [*state["conversation"], HumanMessage(fault)], "faults": faults}
    scored = any(each["grade"] for each in grades.values())
    return {
        "status": "ok" if scored else "failed",
        "reason": None if scored else "unscored",
        "message": None if scored else fault,
        "faults": faults,
        "result": {
            "criteria": grades,
            "faults": [*state.get("faults", ()), *faults],
            "prompt": [message_text(m.content) for m in state["conversation"][:2]],
            "replies": [message_text(m.content)[:_MOST_REPLY] for m in state["messages"]],
            "asked_with": {
                **load_prompt(PROMPT).record,
                "rubric": rubric.name,
                "rubric_version": rubric.version,
            },
        },
    }


def after_parse(state: State) -> Literal["grade", "__end__"]:
    """Ask again, or end."""
    return "__end__" if "result" in state else "grade"


def build_graph(
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """The graph, compiled.

    Args:
        checkpointer: where its steps are kept; nowhere by default.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("prompt", prompt)
    builder.add_node("grade", grade, timeout=_MODEL_SECONDS)
    builder.add_node("parse", parse)
    builder.add_edge(START, "prompt")
    builder.add_edge("prompt", "grade")
    builder.add_edge("grade", "parse")
    builder.add_conditional_edges("parse", after_parse)
    return builder.compile(checkpointer=checkpointer, name="rubric_judge")


def read_grades(text: str, rubric: Rubric) -> tuple[Grades, str | None]:
    """The grades in a reply, each criterion by itself.

    Args:
        text: what the judge said.
        rubric: whose criteria.

    Returns:
        Grade (None where there is none on the menu) and evidence of every criterion, and what is
        wrong, written for the model; None where nothing is.
    """
    nothing: Grades = {name: {"grade": None, "evidence": ""} for name in rubric.ids}
    said = None
    for name in rubric.ids:
        try:
            said = last_object(text, name)
            break
        except AnswerError:
            continue
    if said is None:
        return nothing, (
            f"The reply holds no JSON object with the criteria {', '.join(rubric.ids)}."
            " Answer with the JSON object alone."
        )
    grades = {name: _graded(said.get(name)) for name in rubric.ids}
    missing = [name for name, each in grades.items() if each["grade"] is None]
    menu = ", ".join(GRADES)
    return grades, f"{', '.join(missing)}: the grade must be one of {menu}." if missing else None


def _graded(value: Any) -> dict[str, Any]:
    given = value if isinstance(value, dict) else {"grade": value}
    grade = given.get("grade")
    word = grade.strip().casefold().replace("/", "") if isinstance(grade, str) else None
    evidence = given.get("evidence")
    words = " ".join(evidence[:2_000].split()) if isinstance(evidence, str) else ""
    return {"grade": word if word in GRADES else None, "evidence": words[:_MOST_EVIDENCE]}


def _texts(seed: int, rubric: Rubric, step: Step, defences: bool) -> tuple[str, str]:
    def clean(text: str, most: int) -> str:
        return neutralise(text, most) if defences else text[:_MOST_REPLY]

    options = [
        f"{o.id}. ({clean(o.direction, 20)}) {clean(o.description, _MOST_LINE)}"
        for o in step.options[:_MOST_OPTIONS]
    ]
    about = [seed, step.model_dump(mode="json", exclude={"reasoning"})]
    return load_prompt(PROMPT).render(
        seed=seed,
        criteria=rubric.text,
        instruction=clean(step.instruction, _MOST_WORDS) or "not told",
        history="\n".join(clean(line, _MOST_LINE) for line in step.history)
        or "none: this is step 1",
        options="\n".join(options) or "none",
        action=step.action_text,
        reasoning=fence(step.reasoning, about=about, defences=defences).text,
        fenced=defences,
    )


def _rubric(value: Rubric | str) -> Rubric:
    return _loaded(value) if isinstance(value, str) else value


@lru_cache(maxsize=16)
def _loaded(name: str) -> Rubric:
    return load_rubric(name)


graph = build_graph()
