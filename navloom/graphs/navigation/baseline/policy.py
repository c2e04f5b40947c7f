"""Baselines for the jobs ``navigator`` and ``oracle``: one rule-based or random answer per prompt.

They see what a language model would see, the text of the prompt (`prompt_parser`). They answer in
the requested form: text, with reasoning and reflection where asked for, or a tool call.

The heuristic follows a ``Shortest path:`` line exactly, which makes it the shortest-path navigator;
otherwise it follows the instruction (`follower`). If questions are allowed, it asks when two
options score alike, and before it stops. The random one stops with probability 1/6 from its second
step on (a mean of six steps, the length of R2R's longest paths), and otherwise takes any option
with equal chance, the one back included.

`follower` says on which data its weights were tuned.

``builtin/human``: a person at the terminal answers in place of a model. The last human message of
the prompt is shown on stderr, without terminal control characters, and one line is read from stdin.
For a navigator the short forms ``3``, ``stop`` and ``ask QUESTION`` are converted to the requested
form; anything else is passed on as typed.

The oracles give one or two sentences. The heuristic states the ``Facts:``, of the path or of the
map, and never names an id, since the facts hold none. Without facts it sees the navigator's view
and follows the instruction by the rules of the rule-based navigator, to which it therefore tells
nothing new. The random one knows nothing and names any direction.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from navloom.errors import ModelError, ModelRefusedError
from navloom.graphs.navigation.baseline import prompt_parser
from navloom.graphs.navigation.baseline.follower import (
    NO_LENGTH,
    TUNED,
    Follower,
    FollowerWeights,
    climb_direction,
)
from navloom.models.builtin import PolicyRequest
from navloom.models.messages import message_text

STOP_CHANCE = 1 / 6
_ASK_CHANCE = 1 / 10
_ARRIVED = "Have I arrived, and if not, which way is it?"
_WHICH_WAY = "Which way is it from here?"
_UNSURE = 0.4
"""Two options whose scores differ by less than this score alike."""
_SHOWN = re.compile(r"option (\d{1,4})")


@dataclass(frozen=True, slots=True)
class _Act:
    """An action and its reason: an option, a question, or to stop where there is neither."""

    choice: prompt_parser.PromptOption | None = None
    question: str | None = None
    why: str = ""
    revise: bool = False


def heuristic_navigator(request: PolicyRequest) -> AIMessage:
    """Return the move along the shortest path where it is shown, else by the instruction.

    Raises:
        ModelError: where the prompt has no options that can be read.
    """
    return _by_rules(request, TUNED)


def no_length_navigator(request: PolicyRequest) -> AIMessage:
    """Return a move like `heuristic_navigator`, without knowing the length of R2R's paths.

    Raises:
        ModelError: where the prompt has no options that can be read.
    """
    return _by_rules(request, NO_LENGTH)


def _by_rules(request: PolicyRequest, weights: FollowerWeights) -> AIMessage:
    view = prompt_parser.read_view(request)
    shown = _shown(view)
    if shown is not None:
        return _said(request, shown, "the path that is shown")
    follower = Follower(view, weights)
    return _said(request, _decided(request, follower), _plan(follower))


def random_navigator(request: PolicyRequest) -> AIMessage:
    """Return a random option; the module's docstring says when this baseline stops.

    Raises:
        ModelError: where the prompt has no options that can be read.
    """
    view = prompt_parser.read_view(request)
    steps, told = len(view.past), len(view.told)
    rng = random.Random(f"{request.seed}:{steps}:{told}:{len(request.messages)}")
    stops = bool(steps) and rng.random() < STOP_CHANCE
    if view.may_ask and rng.random() < _ASK_CHANCE:
        return _said(request, _Act(question="Which way is it?", why="It is drawn by lot."), "any")
    choice = rng.choice(view.choices) if view.choices and not stops else None
    return _said(request, _Act(choice, why="It is drawn by lot."), "any way on")


def _shown(view: prompt_parser.PromptView) -> _Act | None:
    """Return the action that a ``Shortest path:`` line names, or None."""
    if view.shown is None:
        return None
    named = _SHOWN.search(view.shown)
    if named is None:
        return _Act(why="The shortest path ends here.") if "stop" in view.shown else None
    way = next((c for c in view.choices if c.id == int(named.group(1))), None)
    return _Act(way, why="It is on the shortest path.") if way else None


def _decided(request: PolicyRequest, follower: Follower) -> _Act:
    view, ranked = follower.view, [choice for _, choice in follower.ranked]
    faults = sum(isinstance(m, AIMessage) for m in request.messages)
    if not ranked:
        return _Act(why="There is no way on.")
    arrived = follower.arrived
    if view.may_ask and not faults and not follower.advice.fresh and _unsure(follower, arrived):
        question = _ARRIVED if arrived else _WHICH_WAY
        return _Act(question=question, why="It is not sure which way is right.")
    if arrived and not faults:
        return _Act(why="What is around fits the end of the instruction.")
    if faults:
        return _Act(_another(ranked, faults), why="The choice before it was not kept.")
    best = ranked[0]
    revise = best.visited and any(not choice.visited for choice in ranked)
    return _Act(best, why=follower.reason(best), revise=revise)


def _another(ranked: list[prompt_parser.PromptOption], faults: int) -> prompt_parser.PromptOption:
    """Return a choice other than the one that was just rejected or revised."""
    fresh = [choice for choice in ranked if not choice.visited] or ranked
    again = fresh if fresh[0] is not ranked[0] else [*fresh[1:], *fresh[:1]]
    return again[(faults - 1) % len(again)]


def _unsure(follower: Follower, arrived: bool) -> bool:
    scores = [score for score, _ in follower.ranked[:2]]
    close = len(scores) > 1 and scores[0] - scores[1] < _UNSURE
    return arrived or follower.ranked[0][1].visited or close


def _plan(follower: Follower) -> str:
    left = follower.route.clauses[follower.at :]
    steps = [" ".join(filter(None, (c.turn, c.climb, *sorted(c.words)))) for c in left]
    return "; ".join(step for step in steps if step) or "find where the instruction ends"


def _said(request: PolicyRequest, act: _Act, plan: str) -> AIMessage:
    """Return an action in the form that the prompt asks for."""
    # Read from the system message alone: an instruction must not set the form.
    wants = "\n".join(message_text(m.content) for m in request.messages if m.type == "system")
    tools = "move" in request.tools
    lines = [_thought(act, plan)] if "<Reasoning>" in wants else []
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


def _thought(act: _Act, plan: str) -> str:
    """Return the reasoning, in the three parts of VLN-MME's chain of thought."""
    then = "move on" if act.choice else "ask" if act.question else "stop"
    return (
        f"<Reasoning>\n1. Progress estimate: what is left is {plan}.\n"
        f"2. Further analysis: {act.why}\n3. Prediction: {then}.\n</Reasoning>"
    )


def _action(act: _Act) -> str:
    if act.question:
        return f"Action: Ask: {act.question}"
    if act.choice is None:
        return "Action: Stop. I have arrived."
    return f"Action: {act.choice.id}. {act.choice.text}"


def _call(request: PolicyRequest, act: _Act) -> AIMessage:
    if act.question and "ask" in request.tools:
        return request.call("ask", question=act.question)
    if act.choice is None:
        return request.call("stop")
    return request.call("move", option=act.choice.id)


_MOST_TYPED = 2_000
_MOST_SHOWN = 20_000
_NUMBER = re.compile(r"#?(\d{1,4})\.?")
_ASK = re.compile(r"(?:ask\b[: ]*|\?\s*)(.+)", re.IGNORECASE)


def ask_person(request: PolicyRequest) -> AIMessage:
    """Show the prompt's last human message, and return a typed line as the answer.

    Raises:
        ModelRefusedError: stdin is missing or has ended.
    """
    return AIMessage(_typed(request, "answer> "))


def pointing_person(request: PolicyRequest) -> AIMessage:
    """Return a typed answer to ``which_thing``, as `ask_person` does; a bare id is accepted."""
    typed = _typed(request, "ID of the thing> ")
    return AIMessage(typed) if "{" in typed else request.answer({"thing": typed})


def walking_person(request: PolicyRequest) -> AIMessage:
    """Return a typed move: an option's number, ``stop``, ``ask QUESTION`` or a whole answer."""
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
        if tools:
            return request.call("ask", question=question)
        return AIMessage(f"Action: Ask: {question}")
    return AIMessage(typed)


def _typed(request: PolicyRequest, invitation: str) -> str:
    shown = request.human_texts[-1][:_MOST_SHOWN] if request.human_texts else ""
    # The prompt may hold untrusted text: remove terminal control characters.
    harmless = "".join(c if c.isprintable() or c == "\n" else " " for c in shown)
    try:
        sys.stderr.write(f"\n{harmless}\n{invitation}")
        sys.stderr.flush()
        line = sys.stdin.readline(_MOST_TYPED) if sys.stdin is not None else ""
    except (OSError, ValueError, UnicodeError) as error:
        raise ModelRefusedError(f"builtin/human cannot read from stdin: {error}.") from None
    if not line:
        raise ModelRefusedError("builtin/human needs a person: stdin has ended.")
    return line.strip()


_MOVES = {
    "Left": "Go left",
    "Front": "Go straight on",
    "Right": "Go right",
    "Back": "Turn around and go back",
}
_MOST_WORDS = 14
_MOST_ROOMS = 3
_STOP_HERE = "You have arrived: stop here."
_LOST = "I know no way to the goal from here."
_SEEN = "\nThe robot reads:\n"
_QUESTION = re.compile(r"^Question:[ \t]*(.{0,500})", re.MULTILINE)
_ASKS_FAR = re.compile(r"\b(?:how far|distance|how many)\b")
_ASKS_END = re.compile(r"\b(?:arrived|stop|goal|destination|reached|there yet|right place)\b")
_ASKS_ROOM = re.compile(r"\b(?:where am i|which room|what room|this room)\b")
_ASKS_FLOOR = re.compile(r"\b(?:floor|storey|level|stairs|upstairs|downstairs)\b")


def heuristic_oracle(request: PolicyRequest) -> AIMessage:
    """Return an answer to a question, then where the next step or goal lies and what follows.

    Raises:
        ModelError: where the prompt holds neither facts nor the navigator's view.
    """
    # A rejected answer gave something away: a name, or whether it has arrived.
    plain = request.rejected
    if "\nFacts: " not in request.first_human and _SEEN in request.first_human:
        return AIMessage(_by_sight(request, plain=plain))
    facts = _Facts(request)
    if facts.is_true("at_goal"):
        return AIMessage(_STOP_HERE)
    way = "direction" if facts.text("direction") else "goal_direction"
    if facts.text(way) not in _MOVES:
        return AIMessage(_LOST)
    said = ["" if plain else _answer(request, facts)]
    if way == "direction":
        said += [_next(facts, plain=plain), "" if plain else _later(facts)]
    else:
        said += [_bearing(facts, plain=plain)]
    return AIMessage(" ".join(part for part in said if part))


def _by_sight(request: PolicyRequest, *, plain: bool) -> str:
    """Return the advice that the navigator's rules derive from its own view."""
    lines = request.first_human.partition(_SEEN)[2].splitlines()
    view = prompt_parser.parse_view("\n".join(line.removeprefix("| ") for line in lines))
    follower = Follower(view)
    if follower.arrived and not plain:
        return _STOP_HERE
    if not follower.ranked:
        return _LOST
    way = follower.ranked[0][1]
    said = _MOVES[way.side]
    if climb := climb_direction(way.text):
        said += f", {climb}"
    asked = "" if plain or not _ASKS_END.search(_question(request)) else "No, not yet. "
    return f"{asked}{said}." if plain else f"{asked}{said}, towards: {_named(way.text)}."


def _bearing(facts: _Facts, *, plain: bool) -> str:
    """Return a sentence on the goal's direction and straight-line distance."""
    far, level = facts.metres("goal_m"), facts.text("goal_up_down")
    said = f"{_MOVES[facts.text('goal_direction')]}: the goal lies that way"
    if far is not None:
        said += f", about {far} m off in a straight line"
    if level in ("up", "down"):
        said += f", further {level}"
    room, thing = facts.text("goal_region"), facts.text("goal_landmark")
    if not plain:
        said += (f", in the {room}" if room else "") + (f", by the {thing}" if thing else "")
    return f"{said}."


def random_oracle(request: PolicyRequest) -> AIMessage:
    """Name any direction, as a control that knows nothing."""
    rng = random.Random(f"{request.seed}:{len(request.messages)}:{request.first_human}")
    return AIMessage(f"{rng.choice(list(_MOVES.values()))}.")


class _Facts:
    """Facts of a prompt; a value of an unexpected type counts as unknown."""

    def __init__(self, request: PolicyRequest) -> None:
        read = request.json_block("Facts:")
        if not isinstance(read, Mapping):
            raise ModelError("A builtin oracle needs a JSON object after 'Facts:' in its prompt.")
        self._read: Mapping[str, Any] = read

    def is_true(self, key: str) -> bool:
        return self._read.get(key) is True

    def text(self, key: str) -> str:
        """Return a fact in words, without the number of a region's id; "" where it is unknown."""
        value = self._read.get(key)
        return _named(value) if isinstance(value, str) else ""

    def metres(self, key: str) -> int | None:
        value = self._read.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
            return None
        return max(1, round(value))

    def texts(self, key: str) -> list[str]:
        value = self._read.get(key)
        listed = value if isinstance(value, list) else []
        named = [_named(each) for each in listed if isinstance(each, str)]
        return [each for each in named if each]


def _named(value: str) -> str:
    words = re.sub(r"_\d{1,9}\b", "", value[:400]).replace("_", " ").split()
    return " ".join(words[:_MOST_WORDS]).rstrip(" .,;")


def _question(request: PolicyRequest) -> str:
    found = _QUESTION.search(request.first_human)
    question = found.group(1).strip().strip('"').casefold() if found else ""
    return "" if question in ("null", "none") else question


def _answer(request: PolicyRequest, facts: _Facts) -> str:
    question = _question(request)
    if "\nAsked because: early_stop" in request.first_human:
        return "Not yet."
    if not question:
        return ""
    far, here = facts.metres("distance_m"), facts.text("here")
    if _ASKS_FAR.search(question) and far is not None:
        return f"It is about {far} m."
    if _ASKS_ROOM.search(question) and here:
        return f"You are in the {here}."
    if _ASKS_END.search(question):
        return "No, not yet."
    if _ASKS_FLOOR.search(question):
        level = facts.text("goal_up_down")
        return {"up": "It is further up.", "down": "It is further down."}.get(level, "")
    return ""


def _next(facts: _Facts, *, plain: bool) -> str:
    said = _MOVES[facts.text("direction")]
    level = facts.text("up_down")
    if level in ("up", "down"):
        said += f", {level}"
    goal = facts.text("landmark") or facts.text("next_region")
    towards = facts.text("towards").split("; ")[0] or goal
    return said + (f", towards: {towards}." if towards and not plain else ".")


def _later(facts: _Facts) -> str:
    rooms = list(dict.fromkeys(facts.texts("regions_ahead")))[:_MOST_ROOMS]
    parts = [f"through the {', then the '.join(rooms)}"] if rooms else []
    far = facts.metres("distance_m")
    if far is not None:
        end = facts.text("goal_landmark")
        parts.append(f"about {far} m to go" + (f", to the {end}" if end else ""))
    return f"Then {'; '.join(parts)}." if parts else ""
