"""The one answerer: what the oracle assistant and the dialogue oracle say, and how it is checked.

Source: VLN-MME 4.4 (a stronger model guides a navigator that struggles) and VLNVerse 5.4 (a
navigator asks about its surroundings and the way).

Facts from the scene graph, the pose and the shortest path go to a model, which puts them into
words. Its words are a stranger's: one bounded paragraph that opens no section of a prompt. An
answer that names a viewpoint, an option's number or coordinates is sent back once with the exact
fault; one that does it again is redacted and counted. An ``exact`` oracle asks no model and names
the option itself: it knows the path, and is the bound that others are measured against.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from navloom.errors import UsageError, did_you_mean
from navloom.models.answer import MOST_CHARACTERS, message_text
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.models.registry import model_of
from navloom.prompts.load import load_prompt
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.sim.caption_sources import CaptionSource, captions_for
from navloom.tools.navigation.guide import MOST_TOWARDS, Facts, guide, way_to_goal
from navloom.tools.navigation.leaks import Leak, find_leaks, without_leaks
from navloom.tools.navigation.options import Option
from navloom.tools.navigation.remarks import outside
from navloom.tools.untrusted import paragraph

if TYPE_CHECKING:
    from navloom.sim.protocol import Simulator

__all__ = [
    "MODEL_SECONDS",
    "MOST_ANSWER",
    "MOST_INSTRUCTION",
    "MOST_QUESTION",
    "REASONS",
    "Advice",
    "Reason",
    "ask_oracle",
    "exact_words",
    "read_answer",
]

Reason: TypeAlias = Literal["loop", "off_course", "wrong_region", "plan", "question"]
REASONS: dict[Reason, str] = {
    "loop": "it goes round in circles and comes back to places it has been",
    "off_course": "it moves away from the goal",
    "wrong_region": "it went into a room that is not on the way",
    "plan": "it is about to go on and wants a plan of the rest of the way in two or three stages",
    "question": "it asks",
}
"""Why an oracle speaks, in words; the first four are not the navigator's own doing."""
MODEL_SECONDS = 1800.0
"""A node that asks the oracle may take so long, retries included."""
MOST_ANSWER = 400
"""Characters of an answer that a navigator reads."""
MOST_QUESTION = 300
MOST_INSTRUCTION = 2_000
_MOST_EARLIER = 4
_NOTE = re.compile(r"\s?\(node_\d{1,6}(?:, visited)?\)$")
_ASKS = 2
_LEAKY = {
    "id": "the id of a place",
    "option": "the number of an option or place",
    "coordinates": "coordinates",
}


class _Answered(TypedDict):
    answer: str
    """What the navigator may read; "" where the model said nothing that can be read."""
    leaked: bool
    """Whether a leak had to be withheld from the answer."""
    faults: list[str]
    """What was wrong with each answer that was sent back or redacted."""
    messages: list[AIMessage]
    """Every reply of the model, for its usage; none of an exact oracle."""


class Advice(_Answered):
    """What an oracle said, and how it came to it."""

    question: str | None
    """What was asked, as the oracle read it."""
    trigger: str
    """Why it was asked: a key of ``REASONS``."""
    facts: Facts
    """What it knew."""
    prompt: dict[str, Any] | None
    """The record of the prompt; None of an exact oracle."""


async def ask_oracle(
    *,
    scene: Scene | str,
    model: BaseChatModel | str,
    seed: int,
    instruction: str,
    viewpoint: str,
    heading: float,
    goals: Sequence[str],
    path: Sequence[str] = (),
    simulator: Simulator | None = None,
    question: str | None = None,
    history: Sequence[Mapping[str, Any]] = (),
    trigger: str | None = None,
    exact: bool = False,
    options: Sequence[Option] = (),
    captions: CaptionSource | None = None,
) -> Advice:
    """Ask the oracle once.

    Args:
        scene: the home, or its URI.
        model: who puts the facts into words; its calls have the role ``oracle``.
        seed: shown to the model; baselines draw upon it.
        instruction: the navigator's, untrusted.
        viewpoint: where the navigator stands.
        heading: where it looks, radians clockwise from -z: the middle of what it calls Front.
        goals: the viewpoints that count as the goal (ground truth).
        path: the reference path (ground truth); may be empty.
        simulator: its captions are used where it has any.
        question: the navigator's own, untrusted; None for advice.
        history: earlier ``{"question", "answer"}``, oldest first; the last few are shown.
        trigger: why it is asked; ``question`` where there is one and no trigger, else ``plan``.
        exact: name the option that the path takes; asks no model.
        options: the options of the navigator's step: what it reads of the way on is what the
            facts say, and an exact oracle names one of them.
        captions: words about places; None takes the simulator's, else the scene's own.

    Raises:
        UsageError: an unknown trigger, or a viewpoint that the scene does not have.
        ModelError: the model cannot be had.
    """
    home = scene_of(scene)
    asked = (paragraph(question, MOST_QUESTION) or None) if question is not None else None
    source = captions or _captions(simulator, home)
    facts = guide(home, viewpoint, heading, goals, path, captions=source)
    taken = _taken(home, viewpoint, goals, path, options)
    advice = Advice(
        answer="",
        leaked=False,
        question=asked,
        trigger=_reason(trigger, asked),
        facts=facts if taken is None else _as_read(facts, taken),
        faults=[],
        messages=[],
        prompt=None,
    )
    if exact:
        return {**advice, "answer": exact_words(facts, taken)}
    opening, record = _opening(advice, seed, instruction, history)
    answered = await _ask(model, opening, home)
    return {**advice, **answered, "prompt": record}


def exact_words(facts: Facts, taken: Option | None) -> str:
    """What an oracle says that knows the path and may name options: the bound.

    Args:
        facts: of the pose.
        taken: the option that the way to the goal takes; None where none does.
    """
    if facts["at_goal"]:
        return "Stop here: this is the goal."
    if taken is None:
        return "No option leads to the goal from here."
    return f"Take option {taken.id}, {taken.direction}."


def _taken(
    scene: Scene,
    viewpoint: str,
    goals: Sequence[str],
    path: Sequence[str],
    options: Sequence[Option],
) -> Option | None:
    way = way_to_goal(scene, viewpoint, goals, path)
    return next((each for each in options if len(way) > 1 and each.viewpoint == way[1]), None)


def _as_read(facts: Facts, taken: Option) -> Facts:
    """The facts in the words that the navigator reads of that option, without its map's names."""
    read = paragraph(_NOTE.sub("", taken.description), MOST_TOWARDS)
    towards = read or facts["towards"]
    return {**facts, "direction": taken.direction, "towards": towards}


def _reason(trigger: str | None, question: str | None) -> Reason:
    if trigger is None:
        return "plan" if question is None else "question"
    for reason in REASONS:
        if reason == trigger:
            return reason
    hint = did_you_mean(trigger, REASONS)
    raise UsageError(f"an oracle knows no trigger '{trigger[:80]}'.{hint}")


def _captions(simulator: Simulator | None, scene: Scene) -> CaptionSource:
    own = getattr(simulator, "captions", None)
    if isinstance(own, CaptionSource):
        return own
    return captions_for(scene)


def _opening(
    advice: Advice, seed: int, instruction: str, history: Sequence[Mapping[str, Any]]
) -> tuple[list[BaseMessage], dict[str, Any]]:
    """The messages that the conversation begins with, and the record of their prompt."""
    asked, reason = advice["question"], _reason(advice["trigger"], None)
    prompt = load_prompt("oracle" if reason != "question" else "dialogue_oracle")
    system, human = prompt.render(
        seed=seed,
        instruction=paragraph(instruction, MOST_INSTRUCTION),
        reason=f"{reason} - {REASONS[reason]}",
        question=_json(asked),
        earlier=_json(_earlier(history)),
        facts=_json(advice["facts"]),
    )
    return [SystemMessage(system), HumanMessage(human)], prompt.record


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _earlier(history: Sequence[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    return [
        {
            "question": paragraph(str(said["question"]), MOST_QUESTION)
            if said.get("question")
            else None,
            "answer": paragraph(str(said.get("answer") or ""), MOST_ANSWER),
        }
        for said in list(history)[-_MOST_EARLIER:]
    ]


async def _ask(model: BaseChatModel | str, opening: list[BaseMessage], scene: Scene) -> _Answered:
    """Ask, and once more where the answer is empty or gives something away."""
    bound = bind(model_of(model))
    conversation, faults, answer = list(opening), list[str](), ""
    leaks: list[Leak] = []
    for _ in range(_ASKS):
        reply = await acall(bound, conversation, role="oracle")
        answer = read_answer(message_text(reply.content))
        leaks = find_leaks(answer, scene)
        fault = _fault(answer, leaks)
        conversation.append(reply)
        if fault is None:
            break
        faults.append(fault)
        conversation.append(HumanMessage(fault))
    return {
        "answer": without_leaks(answer, leaks),
        "leaked": bool(leaks),
        "faults": faults,
        "messages": [each for each in conversation if isinstance(each, AIMessage)],
    }


def _fault(answer: str, leaks: Sequence[Leak]) -> str | None:
    if not answer:
        return "Your answer holds no words. Answer the robot in one or two sentences."
    if not leaks:
        return None
    named = "; ".join(f"{_LEAKY[leak.kind]} ('{leak.text[:60]}')" for leak in leaks[:3])
    return (
        f"Your answer gives away {named}. The robot must find the way itself. Say it again with"
        " directions, rooms, things and distances only."
    )


def read_answer(text: str) -> str:
    """The words of a reply: without thoughts, quotation marks around it and all but one line."""
    words = paragraph(outside(text[:MOST_CHARACTERS]), MOST_ANSWER)
    quoted = len(words) > 1 and words[0] == words[-1] == '"'
    return words[1:-1].strip() if quoted else words
