"""The preference judge: which of two tasks would a person sooner give?

A pair is asked about in both orders, since models lean to what they are shown first (or last): who
names one task in both has a choice, who does not has none, and which place it leant to is kept.
The choice comes after the reason, so that the reason may decide it; the last choice of a reply
wins. The nodes are those of :mod:`navloom.graphs.turns`, two questions a pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent import AgentGraph, Growing
from navloom.graphs.turns import AskContext, Asking, Question, asking
from navloom.judges.fence import neutralise
from navloom.judges.verdict import last_object
from navloom.models.messages import AnswerError, opening
from navloom.prompts.load import load_prompt
from navloom.tools.forms import closed_object

PROMPT = "judge_preference"
Order = Literal["ab", "ba"]
ORDERS: tuple[Order, Order] = ("ab", "ba")
"""Each pair as it is shown: the task that comes first, then the other."""
PLACES = ("first", "second")
_SAID = {"1": "first", "2": "second", **{place: place for place in PLACES}}
_MOST_TASK, _MOST_WHY = 500, 160

SCHEMA = closed_object(
    {
        "why": {"type": "string", "description": "One sentence.", "maxLength": _MOST_WHY},
        "choice": {"type": "string", "enum": list(PLACES)},
    },
    PROMPT,
    "Which of two tasks a person would sooner give.",
)


class Input(TypedDict):
    """What a caller gives."""

    seed: NotRequired[int]
    """Drawn upon by baselines; 0 where it is left out."""
    a: str
    """A task in words; untrusted."""
    b: str
    """Another."""


class State(Input, Asking, total=False):
    """What the graph knows between nodes."""

    said: Growing[dict[str, Any]]
    """Of each order that was asked, ``order``, ``took`` (a, b, None where unscored) and ``why``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """What does not change during a run."""


def prompt(state: State, _: Runtime[Context]) -> dict[str, Any]:
    """Write down the question in the next order, as long as there is one."""
    if len(state.get("said", ())) == len(ORDERS):
        return {"messages": []}
    tasks = {"a": state["a"], "b": state["b"]}
    first, second = (neutralise(tasks[name], _MOST_TASK) for name in _order(state))
    return {"messages": opening(load_prompt(PROMPT).render(first=first, second=second))}


def question(state: State, _: Context) -> Question:
    """What is asked in this order; unscored where no answer names a task."""
    order = _order(state)

    def took(choice: str | None, why: str, faults: list[str]) -> dict[str, Any]:
        task = None if choice is None else order[PLACES.index(choice)]
        return {"said": [{"order": order, "took": task, "why": why}], "faults": faults}

    return Question(
        job=PROMPT,
        read=lambda text: took(*read_choice(text), []),
        give_up=lambda _, error: took(None, "", [f"{order}: {error}"]),
        schema=SCHEMA,
        role="judge",
        about=f"{order}: ",
    )


def finish(state: State) -> dict[str, Any]:
    """Put the result together: ``failed`` where an order is unscored.

    Its keys: ``choice`` (a, b, ``tie`` where the orders disagree, None where unscored), ``said``,
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
    """The last choice of a reply, ``first`` or ``second``, and why.

    Raises:
        AnswerError: there is none, or it is off the menu; written for the model.
    """
    found = last_object(text, "choice")
    said, why = str(found["choice"])[:80].strip().casefold(), found.get("why")
    if said not in _SAID:
        raise AnswerError(f'"choice" is {said!r}; it must be first or second.')
    return _SAID[said], " ".join(why.split())[:_MOST_WHY] if isinstance(why, str) else ""


build_graph = asking(
    AgentGraph(State, Context, Input, "preference_judge"),
    question,
    prompt=prompt,
    finish=finish,
    many=True,
)
graph = build_graph()
