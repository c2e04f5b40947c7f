"""Preference judge: a model chooses which of two tasks a person would sooner give.

A pair is asked about in both orders, since models prefer what they are shown first (or last). A
judge that names the same task in both orders has a choice, else the pair is a tie. The answers of
both orders are recorded. The choice comes after the reason, so that the reason can decide it, and
the last choice of a reply counts. The graph is the question loop of
:mod:`navloom.graphs.tool_loop`, with two questions a pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent_graph import AgentGraph, Growing
from navloom.graphs.tool_loop import AskContext, ModelQuestion, QuestionState, question_builder
from navloom.judges.injection import neutralise
from navloom.judges.verdict import last_object
from navloom.models.messages import AnswerError, opening_messages
from navloom.prompts.prompt_loader import load_prompt
from navloom.tools.model_output import object_schema

PROMPT = "judge_preference"
Order = Literal["ab", "ba"]
ORDERS: tuple[Order, Order] = ("ab", "ba")
"""Orders in which a pair is shown."""
PLACES = ("first", "second")
_SAID = {"1": "first", "2": "second", **{place: place for place in PLACES}}
_MOST_TASK, _MOST_WHY = 500, 160

SCHEMA = object_schema(
    {
        "why": {"type": "string", "description": "One sentence.", "maxLength": _MOST_WHY},
        "choice": {"type": "string", "enum": list(PLACES)},
    },
    PROMPT,
    "Which of two tasks a person would sooner give.",
)


class Input(TypedDict):
    """Input of the graph."""

    seed: NotRequired[int]
    """Seed of baselines; 0 if left out."""
    a: str
    """A task in words; untrusted."""
    b: str
    """Another task in words; untrusted."""


class State(Input, QuestionState, total=False):
    """State of the graph."""

    said: Growing[dict[str, Any]]
    """For each asked order: ``order``, ``took`` (a, b, None if unscored) and ``why``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """Settings that stay fixed during a run."""


def prompt(state: State, _: Runtime[Context]) -> dict[str, Any]:
    """Write the question in the next order, or no messages after the last order."""
    if len(state.get("said", ())) == len(ORDERS):
        return {"messages": []}
    tasks = {"a": state["a"], "b": state["b"]}
    first, second = (neutralise(tasks[name], _MOST_TASK) for name in _order(state))
    return {"messages": opening_messages(load_prompt(PROMPT).render(first=first, second=second))}


def question(state: State, _: Context) -> ModelQuestion:
    """Return the question in the current order, unscored if no answer names a task."""
    order = _order(state)

    def took(choice: str | None, why: str, faults: list[str]) -> dict[str, Any]:
        task = None if choice is None else order[PLACES.index(choice)]
        return {"said": [{"order": order, "took": task, "why": why}], "faults": faults}

    return ModelQuestion(
        job=PROMPT,
        read=lambda text: took(*read_choice(text), []),
        give_up=lambda _, error: took(None, "", [f"{order}: {error}"]),
        schema=SCHEMA,
        role="judge",
        about=f"{order}: ",
    )


def finish(state: State) -> dict[str, Any]:
    """Build the result. The status is ``failed`` if an order is unscored.

    Its keys: ``choice`` (a, b, ``tie`` if the orders disagree, None if unscored), ``said``,
    ``faults`` and ``asked_with``.
    """
    said = state.get("said", [])
    took = {each["took"] for each in said}
    scored = None not in took
    faults = state.get("faults", [])
    return {
        "status": "ok" if scored else "failed",
        "reason": None if scored else "unscored",
        "message": None if scored else faults[-1],
        "result": {
            "choice": None if not scored else took.pop() if len(took) == 1 else "tie",
            "said": said,
            "faults": faults,
            "asked_with": load_prompt(PROMPT).record,
        },
    }


def _order(state: State) -> Order:
    return ORDERS[len(state.get("said", ()))]


def read_choice(text: str) -> tuple[str, str]:
    """Parse the last choice of a reply, ``first`` or ``second``, and its reason.

    Raises:
        AnswerError: there is no choice, or it is unknown. The message is for the model.
    """
    found = last_object(text, "choice")
    said, why = str(found["choice"])[:80].strip().casefold(), found.get("why")
    if said not in _SAID:
        raise AnswerError(f'"choice" is {said!r}; it must be first or second.')
    return _SAID[said], " ".join(why.split())[:_MOST_WHY] if isinstance(why, str) else ""


builder = AgentGraph(State, Context, Input, "preference_judge")
build_graph = question_builder(builder, question, prompt=prompt, finish=finish, many=True)
graph = build_graph()
