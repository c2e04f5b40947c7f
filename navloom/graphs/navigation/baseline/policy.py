"""Baselines for the job ``navigator``: one action a prompt, by rules or by lot.

They see what a language model would see, the words of the prompt (`prompt_view`), and answer in the
form that it asks for: text, with reasoning and reflection where it wants them, or a tool call.

The heuristic follows a ``Shortest path:`` line to the letter, which makes it the shortest-path
navigator; else it follows the instruction (`follower`). Where it may ask, it asks when two ways
look alike, and before it stops. The random one draws: it stops with probability 1/6 from its second
step on, a walk of six steps in the mean, which is what R2R's longest paths have, and else goes any
way on, each as likely, those it came by too.

What the follower's weights were tuned on stands in `follower`.

``builtin/human``: a person at the terminal answers in the place of a model. The last human message
of the prompt is shown on stderr, without anything that could steer a terminal, and one line is read
from stdin. For a navigator the short forms ``3``, ``stop`` and ``ask QUESTION`` are put into the
form that is asked for; anything else is passed on as it was typed.
"""

from __future__ import annotations

import random
import re
import sys
from dataclasses import dataclass

from langchain_core.messages import AIMessage

from navloom.errors import ModelRefusedError
from navloom.graphs.navigation.baseline.follower import Follower
from navloom.graphs.navigation.baseline.prompt_view import Choice, WalkView, read_view
from navloom.models.answer import message_text
from navloom.models.builtin import Request

STOP_CHANCE = 1 / 6
_ASK_CHANCE = 1 / 10
_ARRIVED = "Have I arrived, and if not, which way is it?"
_WHICH_WAY = "Which way is it from here?"
_UNSURE = 0.4
"""Two ways on whose scores lie so near one another look alike."""
_SHOWN = re.compile(r"option (\d{1,4})")


@dataclass(frozen=True, slots=True)
class _Act:
    """What to do and why: a way on, a question, or to stop where there is neither."""

    choice: Choice | None = None
    question: str | None = None
    why: str = ""
    revise: bool = False


def heuristic_navigator(request: Request) -> AIMessage:
    """Follow the shortest path where it is shown, else the instruction.

    Raises:
        ModelError: where the prompt has no options that can be read.
    """
    view = read_view(request)
    shown = _shown(view)
    if shown is not None:
        return _said(request, shown, "the path that is shown")
    follower = Follower(view)
    return _said(request, _decided(request, follower), _plan(follower))


def random_navigator(request: Request) -> AIMessage:
    """Go any way on; see the module's docstring for when it stops.

    Raises:
        ModelError: where the prompt has no options that can be read.
    """
    view = read_view(request)
    steps, told = len(view.past), len(view.told)
    rng = random.Random(f"{request.seed}:{steps}:{told}:{len(request.messages)}")
    stops = bool(steps) and rng.random() < STOP_CHANCE
    if view.may_ask and rng.random() < _ASK_CHANCE:
        return _said(request, _Act(question="Which way is it?", why="It is drawn by lot."), "any")
    choice = rng.choice(view.choices) if view.choices and not stops else None
    return _said(request, _Act(choice, why="It is drawn by lot."), "any way on")


def _shown(view: WalkView) -> _Act | None:
    """What a ``Shortest path:`` line says to do."""
    if view.shown is None:
        return None
    named = _SHOWN.search(view.shown)
    if named is None:
        return _Act(why="The shortest path ends here.") if "stop" in view.shown else None
    way = next((c for c in view.choices if c.id == int(named.group(1))), None)
    return _Act(way, why="It is on the shortest path.") if way else None


def _decided(request: Request, follower: Follower) -> _Act:
    view, ranked = follower.view, [choice for _, choice in follower.ranked]
    faults = sum(isinstance(m, AIMessage) for m in request.messages)
    if not ranked:
        return _Act(why="There is no way on.")
    if follower.advice.option is not None:
        way = next((c for c in ranked if c.id == follower.advice.option), None)
        if way is not None:
            return _Act(way, why="The guidance names it.")
    arrived = follower.arrived
    if view.may_ask and not faults and not follower.advice.fresh and _unsure(follower, arrived):
        return _Act(
            question=_ARRIVED if arrived else _WHICH_WAY, why="It is not sure which way is right."
        )
    if arrived and not faults:
        return _Act(why="What is around fits the end of the instruction.")
    if faults:
        return _Act(_another(ranked, faults), why="The choice before it was not kept.")
    best = ranked[0]
    revise = best.visited and any(not choice.visited for choice in ranked)
    return _Act(best, why=follower.reason(best), revise=revise)


def _another(ranked: list[Choice], faults: int) -> Choice:
    """A choice that was turned down, or thought better of, is not made again at once."""
    fresh = [choice for choice in ranked if not choice.visited] or ranked
    again = fresh if fresh[0] is not ranked[0] else [*fresh[1:], *fresh[:1]]
    return again[(faults - 1) % len(again)]


def _unsure(follower: Follower, arrived: bool) -> bool:
    scores = [score for score, _ in follower.ranked[:2]]
    return (
        arrived
        or follower.ranked[0][1].visited
        or (len(scores) > 1 and scores[0] - scores[1] < _UNSURE)
    )


def _plan(follower: Follower) -> str:
    left = follower.route.clauses[follower.at :]
    steps = [" ".join(filter(None, (c.turn, c.climb, *sorted(c.words)))) for c in left]
    return "; ".join(step for step in steps if step) or "find where the instruction ends"


def _said(request: Request, act: _Act, plan: str) -> AIMessage:
    """An act in the form that the prompt asks for."""
    # Read from the system's words alone: an instruction must not ask for a form.
    wants = "\n".join(message_text(m.content) for m in request.messages if m.type == "system")
    tools = "move" in request.tools
    lines = [f"<Reasoning>{act.why}</Reasoning>"] if "<Reasoning>" in wants else []
    if "<Plan>" in wants:
        lines.append(f"<Plan>{plan}</Plan>")
    if not tools:
        lines.append(_action(act))
    if "<Reflection>" in wants:
        doubt = "It leads back to a visited place." if act.revise else "Nothing speaks against it."
        verdict = "revise" if act.revise else "keep"
        lines.append(f"<Reflection>{doubt}</Reflection>\nFinal Decision: {verdict}")
    if not tools:
        return AIMessage("\n".join(lines))
    call = _call(request, act)
    call.content = "\n".join(lines)
    return call


def _action(act: _Act) -> str:
    if act.question:
        return f"Action: Ask: {act.question}"
    if act.choice is None:
        return "Action: Stop. I have arrived."
    return f"Action: {act.choice.id}. {act.choice.text}"


def _call(request: Request, act: _Act) -> AIMessage:
    if act.question and "ask" in request.tools:
        return request.call("ask", question=act.question)
    if act.choice is None:
        return request.call("stop")
    return request.call("move", option=act.choice.id)


_MOST_TYPED = 2_000
_MOST_SHOWN = 20_000
_NUMBER = re.compile(r"#?(\d{1,4})\.?")
_ASK = re.compile(r"(?:ask\b[: ]*|\?\s*)(.+)", re.IGNORECASE)


def ask_person(request: Request) -> AIMessage:
    """Show the prompt's last human message and take a line as the answer.

    Raises:
        ModelRefusedError: where nobody can answer: no stdin, or its end.
    """
    return AIMessage(_typed(request, "answer> "))


def walking_person(request: Request) -> AIMessage:
    """As `ask_person`, for ``navigator``: a number, ``stop`` or ``ask QUESTION`` will do."""
    typed = _typed(request, "option number, stop, or ask QUESTION> ")
    number, asked = _NUMBER.fullmatch(typed), _ASK.fullmatch(typed)
    tools = "move" in request.tools
    if number:
        n = int(number.group(1))
        return request.call("move", option=n) if tools else AIMessage(f"Action: {n}.")
    if typed.casefold().rstrip(".!") in ("stop", "s"):
        return request.call("stop") if tools else AIMessage("Action: Stop.")
    if asked:
        question = asked.group(1)
        return (
            request.call("ask", question=question)
            if tools
            else AIMessage(f"Action: Ask: {question}")
        )
    return AIMessage(typed)


def _typed(request: Request, invitation: str) -> str:
    shown = request.humans[-1] if request.humans else ""
    try:
        sys.stderr.write(f"\n{_harmless(shown[:_MOST_SHOWN])}\n{invitation}")
        sys.stderr.flush()
        line = sys.stdin.readline(_MOST_TYPED) if sys.stdin is not None else ""
    except (OSError, ValueError, UnicodeError) as error:
        raise ModelRefusedError(f"builtin/human cannot read from stdin: {error}.") from None
    if not line:
        raise ModelRefusedError("builtin/human needs a person: stdin has ended.")
    return line.strip()


def _harmless(text: str) -> str:
    """Text for a terminal: what is in a prompt may come from a stranger's file."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)
