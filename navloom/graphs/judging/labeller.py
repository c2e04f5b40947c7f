"""The labeller: why did a walk leave the right way, by one of given causes?

Source: VLN-MME E.2, which sorts failures by hand. A model is shown what a reader who labels walks
is shown: an account in words, and what each cause means. What the rules say it never sees.

The last label of a reply wins; a cause off the menu is asked for again, then the walk is unscored.
The nodes are those of :mod:`navloom.graphs.turns`. There is no such agent to open by itself:
accounts are made by a run (:mod:`navloom.evals.judging.labelling`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NotRequired

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent import AgentGraph, ModelLike
from navloom.graphs.turns import AskContext, Asking, Question, asking
from navloom.judges.verdict import ended, last_object, read_flag
from navloom.models.messages import AnswerError, opening
from navloom.prompts.load import load_prompt
from navloom.tools.forms import closed_object

PROMPT = "judge_failure"
NO_SECOND = "none"
_MOST_ACCOUNT, _MOST_WHY = 40_000, 300
_NO_LABEL: dict[str, Any] = {"cause": None, "second": None, "sure": False, "why": ""}


class Input(TypedDict):
    """What a caller gives."""

    seed: NotRequired[int]
    """Drawn upon by baselines; 0 where it is left out."""
    account: str
    """The walk in words; untrusted."""
    causes: dict[str, str]
    """Each cause that may be given, and when it is."""


class State(Input, Asking, total=False):
    """What the graph knows between nodes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """What does not change during a run."""

    model: ModelLike = "builtin/random"
    """The labeller, or its ``provider/name``."""


def prompt(state: State, _: Runtime[Context]) -> dict[str, Any]:
    """Write down the question."""
    account = state["account"]
    if len(account) > _MOST_ACCOUNT:
        account = f"{account[:_MOST_ACCOUNT]}\n[cut here]"
    return {
        "messages": opening(load_prompt(PROMPT).render(causes=state["causes"], account=account))
    }


def question(state: State, context: Context) -> Question:
    """What the labeller is asked.

    Keys of the result: ``cause`` (None where unscored), ``second``, ``sure``, ``why``, and those of
    :func:`navloom.judges.verdict.ended`.
    """
    del context
    causes = state["causes"]
    return Question(
        job=PROMPT,
        read=lambda text: ended(state, PROMPT, read_label(text, causes)),
        give_up=lambda _, fault: ended(state, PROMPT, _NO_LABEL, str(fault)),
        schema=label_schema(causes),
        role="judge",
    )


build_graph = asking(AgentGraph(State, Context, Input, "labeller"), question, prompt=prompt)


def label_schema(causes: Iterable[str]) -> dict[str, Any]:
    """What a label looks like; the reason comes first, so that it may decide the cause."""
    names = list(causes)
    properties = {
        "why": {"type": "string", "description": "One sentence.", "maxLength": _MOST_WHY},
        "cause": {"type": "string", "enum": names},
        "second": {"type": "string", "enum": [*names, NO_SECOND]},
        "sure": {"type": "boolean"},
    }
    return closed_object(properties, PROMPT, "Why a walk left the right way.")


def read_label(text: str, causes: Iterable[str]) -> dict[str, Any]:
    """The last label in a reply: ``why``, ``cause``, ``second`` (None for none) and ``sure``.

    Raises:
        AnswerError: there is none, or a cause is off the menu; written for the model.
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
    """A cause as it may be written: in any case, with spaces or hyphens."""
    return "_".join(str(value)[:80].casefold().replace("-", " ").split())
