"""Rubric judge: a model grades one step of a navigator's reasoning by each criterion of a rubric.

Source: VLN-MME 4.3, which finds by hand that perception, memory and action of agents diverge. The
criteria come from a rubric (:mod:`navloom.judges.trace_rubric`). Each gets the grade yes, no or na
with evidence. The graph is the question loop of :mod:`navloom.graphs.tool_loop`.

The last graded rubric of a reply counts. A criterion with an unknown grade is retried and then
unscored by itself; the others count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NotRequired

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent_graph import AgentGraph, PythonField
from navloom.graphs.tool_loop import AskContext, ModelQuestion, QuestionState, question_builder
from navloom.judges.injection import fence_text, neutralise
from navloom.judges.trace_rubric import GRADES, Rubric, TraceStep, load_rubric
from navloom.judges.verdict import finish_judging, last_object
from navloom.models.messages import AnswerError, opening_messages
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt

PROMPT = "judge_rubric"
_MOST_OPTIONS, _MOST_LINE, _MOST_WORDS = 16, 160, 400
_MOST_EVIDENCE, _MOST_SHOWN = 300, 4_000
Grades = dict[str, dict[str, Any]]


class Input(TypedDict):
    """Input of the graph."""

    seed: NotRequired[int]
    """Seed of baselines, also shown to every model; 0 if left out."""
    step: dict[str, Any]
    """The step, as JSON of :class:`navloom.judges.trace_rubric.TraceStep`; untrusted."""


class State(Input, QuestionState, total=False):
    """State of the graph."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """Settings that stay fixed during a run."""

    rubric: Annotated[Rubric | str, PythonField("trace")] = "trace"
    """The rubric, its name, or its file."""
    defences: bool = True
    """False shows the judge the raw reasoning, only to measure the effect of the defences."""


def prompt(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write the question as messages."""
    rubric, step = _rubric(runtime.context.rubric), TraceStep.model_validate(state["step"])
    rendered = _rendered(state.get("seed", 0), rubric, step, runtime.context.defences)
    return {"messages": opening_messages(rendered)}


def question(state: State, context: Context) -> ModelQuestion:
    """Return the question to the judge. Criteria without a grade in the end are unscored.

    Keys of the result: ``criteria`` (each with ``grade``, None if unscored, and ``evidence``),
    and those of :func:`navloom.judges.verdict.finish_judging`.
    """
    rubric = _rubric(context.rubric)

    def graded(grades: Grades, fault: str | None = None) -> dict[str, Any]:
        scored = any(each["grade"] for each in grades.values())
        told = {"rubric": rubric.name, "rubric_version": rubric.version}
        return finish_judging(state, PROMPT, {"criteria": grades}, fault, scored=scored, **told)

    def read(text: str) -> dict[str, Any]:
        grades, fault = read_grades(text, rubric)
        if fault:
            raise AnswerError(fault)
        return graded(grades)

    return ModelQuestion(
        job=PROMPT,
        read=read,
        give_up=lambda text, fault: graded(read_grades(text, rubric)[0], str(fault)),
        schema=rubric.answer_schema(),
        role="judge",
    )


build_graph = question_builder(
    AgentGraph(State, Context, Input, "rubric_judge"), question, prompt=prompt
)


def read_grades(text: str, rubric: Rubric) -> tuple[Grades, str | None]:
    """Parse the grades in a reply, each criterion by itself.

    Args:
        text: text of the reply.
        rubric: rubric of the criteria.

    Returns:
        Grade (None if missing or unknown) and evidence of each criterion, and the error message
        for the model, or None.
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


def _rendered(seed: int, rubric: Rubric, step: TraceStep, defences: bool) -> RenderedPrompt:
    def clean(text: str, most: int) -> str:
        return neutralise(text, most) if defences else text[:_MOST_SHOWN]

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
        reasoning=fence_text(step.reasoning, about=about, defences=defences),
        fenced=defences,
    )


def _rubric(value: Rubric | str) -> Rubric:
    return _loaded(value) if isinstance(value, str) else value


@lru_cache(maxsize=16)
def _loaded(name: str) -> Rubric:
    return load_rubric(name)


graph = build_graph()
