"""Failure labeller: a model assigns one of the given causes to a failed trajectory.

Source: VLN-MME E.2, which sorts failures by hand. The model is shown the same as a human labeller:
a description in words, and the definition of each cause. It never sees the result of the rules.

The last label of a reply counts. A cause that is not in the list is rejected, and after the retries
the trajectory is unscored. The graph is the question loop of :mod:`navloom.graphs.tool_loop`. The
agent is not in ``langgraph.json``: a run makes its input (:mod:`navloom.evals.judging.labelling`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NotRequired

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent_graph import AgentGraph, ModelLike
from navloom.graphs.tool_loop import AskContext, ModelQuestion, QuestionState, question_builder
from navloom.judges.verdict import finish_judging, last_object, read_flag
from navloom.models.messages import AnswerError, opening_messages
from navloom.prompts.prompt_loader import load_prompt
from navloom.tools.model_output import object_schema

PROMPT = "judge_failure"
NO_SECOND = "none"
_MOST_ACCOUNT, _MOST_WHY = 40_000, 300
_NO_LABEL: dict[str, Any] = {"cause": None, "second": None, "sure": False, "why": ""}


class Input(TypedDict):
    """Input of the graph."""

    seed: NotRequired[int]
    """Seed of baselines; 0 if left out."""
    account: str
    """Description of the trajectory; untrusted."""
    causes: dict[str, str]
    """Allowed cause -> its definition."""


class State(Input, QuestionState, total=False):
    """State of the graph."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """Settings that stay fixed during a run."""

    model: ModelLike = "builtin/random"
    """The labeller, or its ``provider/name``."""


def prompt(state: State, _: Runtime[Context]) -> dict[str, Any]:
    """Write the question as messages."""
    account = state["account"]
    if len(account) > _MOST_ACCOUNT:
        account = f"{account[:_MOST_ACCOUNT]}\n[cut here]"
    rendered = load_prompt(PROMPT).render(causes=state["causes"], account=account)
    return {"messages": opening_messages(rendered)}


def question(state: State, context: Context) -> ModelQuestion:
    """Return the question to the labeller.

    Keys of the result: ``cause`` (None if unscored), ``second``, ``sure``, ``why``, and those of
    :func:`navloom.judges.verdict.finish_judging`.
    """
    del context
    causes = state["causes"]
    return ModelQuestion(
        job=PROMPT,
        read=lambda text: finish_judging(state, PROMPT, read_label(text, causes)),
        give_up=lambda _, fault: finish_judging(state, PROMPT, _NO_LABEL, str(fault)),
        schema=label_schema(causes),
        role="judge",
    )


build_graph = question_builder(
    AgentGraph(State, Context, Input, "labeller"), question, prompt=prompt
)


def label_schema(causes: Iterable[str]) -> dict[str, Any]:
    """Return the JSON schema of a label, in which the reason precedes the cause."""
    names = list(causes)
    properties = {
        "why": {"type": "string", "description": "One sentence.", "maxLength": _MOST_WHY},
        "cause": {"type": "string", "enum": names},
        "second": {"type": "string", "enum": [*names, NO_SECOND]},
        "sure": {"type": "boolean"},
    }
    return object_schema(properties, PROMPT, "Why a walk left the right way.")


def read_label(text: str, causes: Iterable[str]) -> dict[str, Any]:
    """Parse the last label in a reply: ``why``, ``cause``, ``second`` (or None) and ``sure``.

    Raises:
        AnswerError: there is no label, or a cause is unknown. The message is for the model.
    """
    said, menu = last_object(text, "cause"), list(causes)
    cause, second = _word(said["cause"]), _word(said.get("second") or NO_SECOND)
    for key, word, allowed in (("cause", cause, menu), ("second", second, [*menu, NO_SECOND])):
        if word not in allowed:
            raise AnswerError(f'"{key}" is {word[:40]!r}; it must be one of {", ".join(allowed)}.')
    why = said.get("why")
    return {
        "cause": cause,
        "second": None if second in (NO_SECOND, cause) else second,
        "sure": read_flag(said.get("sure", False), "sure"),
        "why": " ".join(why.split())[:_MOST_WHY] if isinstance(why, str) else "",
    }


def _word(value: Any) -> str:
    """Return a cause in normal form, from any case and with spaces or hyphens."""
    return "_".join(str(value)[:80].casefold().replace("-", " ").split())
