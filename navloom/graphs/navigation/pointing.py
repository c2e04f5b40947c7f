"""Pointing: selects, of the objects visible from the final viewpoint, the one that is meant.

Source: REVERIE (Qi et al. 2020): a task is done when the right object is named at its end. The
nodes are those of :mod:`navloom.graphs.tool_loop`, one question. The navigator calls this graph
after its walk, if its context gives the objects visible from each viewpoint.

The answer is one JSON object with the id of a listed object. Another id is sent back with a
sentence, ``max_reasks`` times, and is never replaced by the nearest match.

The baselines read only the question's words. The heuristic takes the object whose name is in the
instruction, of several the one named first, since the task's object comes before its location. The
random one draws.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent_graph import AgentGraph, ModelLike
from navloom.graphs.tool_loop import AskContext, ModelQuestion, QuestionState, question_builder
from navloom.models.builtin import PolicyRequest
from navloom.models.messages import AnswerError, opening_messages, read_json_object
from navloom.prompts.prompt_loader import load_prompt
from navloom.sim.caption_composer import one_line
from navloom.tools.model_output import object_schema
from navloom.tools.navigation.visible_objects import Things, object_lines

JOB = "which_thing"
_KEY = "thing"
_MOST_SUMMARY = 400
_NOTHING = "nothing is known of this place"


class Input(TypedDict, total=False):
    """Input of the pointing graph; ``instruction`` and ``things`` are required."""

    seed: int
    """Seed of the baselines; 0 where it is left out."""
    instruction: str
    """The navigator's instruction."""
    summary: str
    """Description of the place where it stopped; untrusted."""
    heading: float
    """Heading of the navigator, radians clockwise from -z."""
    things: Things
    """Objects visible from there; without any, no model is asked."""
    told: str | None
    """Ground truth: the id of the target object, shown to the model; for upper bounds alone."""


class State(Input, QuestionState, total=False):
    """State of the pointing graph between its nodes."""

    pointed: str | None
    """The id that was named; None where no answer named one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """Settings of the pointing graph, fixed during a run."""

    model: ModelLike = "builtin/heuristic"
    """The model, or its ``provider/name``; its calls have the role ``navigator``."""
    max_reasks: int = 2
    """How often an answer that names no listed object is sent back."""


def prompt(state: State, runtime: Runtime[Context]) -> State:  # noqa: ARG001
    """Return the state's update with the messages that ask which listed object is meant.

    There are no messages if no object is visible.
    """
    things = state.get("things", [])
    told = state.get("told")
    known = next((f"it is {each['id']}" for each in things if each["id"] == told), None)
    rendered = load_prompt("which_thing").render(
        instruction=one_line(state.get("instruction", ""), 20_000),
        summary=one_line(state.get("summary", ""), _MOST_SUMMARY) or _NOTHING,
        things=object_lines(things, state.get("heading", 0.0)),
        guidance=known,
    )
    return {"messages": opening_messages(rendered) if things else [], "pointed": None}


def question(state: State, context: Context) -> ModelQuestion:  # noqa: ARG001  all that ask give both
    """Build the question; without a valid answer no object is named."""
    ids = [each["id"] for each in state.get("things", [])]
    return ModelQuestion(
        job=JOB,
        read=lambda text: {"pointed": read_object_id(text, ids)},
        give_up=lambda _, error: {"faults": [str(error)]},
        schema=object_schema(
            {_KEY: {"type": "string", "enum": ids}}, JOB, "The thing that is meant."
        ),
        role="navigator",
    )


def read_object_id(text: str, ids: Sequence[str]) -> str:
    """Return the object id in a model's answer.

    Args:
        text: the model's answer.
        ids: the listed ids.

    Raises:
        AnswerError: there is no answer, or it names none of them; the message is for the model.
    """
    answer = read_json_object(text)
    said = answer.get(_KEY)
    if list(answer) != [_KEY] or isinstance(said, bool) or not isinstance(said, str | int):
        raise AnswerError(f'The JSON object must have the one key "{_KEY}" with the ID of a thing.')
    if str(said) not in ids:
        raise AnswerError(f"{one_line(str(said), 40)} is none of the IDs: {', '.join(ids)}.")
    return str(said)


def finish(state: State) -> State:
    """Return the update with the result; always ``ok``, since naming no object is a finding.

    Result keys: ``object`` (the id, or None), ``offered`` (id -> name), ``faults``, ``prompt``.
    """
    result = {
        "object": state.get("pointed"),
        "offered": {each["id"]: each["name"] for each in state.get("things", [])},
        "faults": state.get("faults", []),
        "prompt": load_prompt("which_thing").record,
    }
    return {"status": "ok", "result": result, "reason": None}


build_graph = question_builder(
    AgentGraph(State, Context, Input, "pointing"), question, prompt=prompt, finish=finish
)
graph = build_graph()


_LINE = re.compile(r"^- ([A-Za-z0-9_-]{1,40}): (.{1,80}) \([^()]{1,60}\)$", re.MULTILINE)
_WORD = re.compile(r"[a-z]+")


def heuristic_thing(request: PolicyRequest) -> AIMessage:
    """Choose the object whose name is first in the instruction; see the module."""
    text = request.first_human
    told = re.search(r"^Guidance: it is (\S+)$", text, re.MULTILINE)
    said = re.search(r"^Instruction: (.*)$", text, re.MULTILINE)
    words = _words(said[1] if said else "")
    things = _LINE.findall(text)
    best = min(things, key=lambda thing: _fit(_words(thing[1]), words), default=("", ""))[0]
    return request.answer({_KEY: told[1] if told else best})


def random_thing(request: PolicyRequest) -> AIMessage:
    """Choose any listed object with equal chance, fixed by the seed and the question."""
    ids = [name for name, _ in _LINE.findall(request.first_human)]
    draw = random.Random(f"{request.seed}:{request.first_human}")
    return request.answer({_KEY: draw.choice(ids) if ids else ""})


def _words(text: str) -> list[str]:
    return [word.removesuffix("s") for word in _WORD.findall(text.casefold())]


def _fit(name: Sequence[str], words: Sequence[str]) -> tuple[float, float]:
    """Return a rank, lower is better: the unmatched share of a name, then its first position."""
    places = [words.index(word) for word in name if word in words]
    return 1 - len(places) / max(1, len(name)), min(places, default=math.inf)
