"""The oracle: somebody helps a navigator, unasked where it struggles, or asked.

Source: VLN-MME 4.4: "when the navigator struggled (e.g., looping, moving in a critically wrong
direction, or entering the wrong region), it was allowed to query the Oracle", which "provided
high-level reasoning guidance"; VLNVerse 5.4: "the agent could query an oracle LLM for environmental
information and navigational advice". Prompts and budgets are ours.

    START ──> prompt ──> ask <──> read ──> finish ──> END
                │                            ^
                └── all is well, or withheld ┘

Asked a question, it answers that. Else it looks for a trigger at the end of the trajectory
(:mod:`navloom.tools.navigation.triggers`); with ``plan`` it plans where nothing is wrong. The
navigator calls this graph from within its own nodes (:mod:`navloom.graphs.navigation.consult`).

``knows`` says what the model is given, each level all of the one before it: ``model``, what the
navigator itself reads (the papers' oracle, another model); ``map``, facts from the scene: rooms,
and where the goal lies; ``path``, facts of the shortest way. Its words are a stranger's: one
bounded paragraph that opens no section of a prompt. An answer that names a viewpoint, an option's
number or coordinates is sent back with the exact fault (:mod:`navloom.graphs.turns`); one that does
it again is redacted and counted. What else an answer gives away is measured
(:mod:`navloom.tools.navigation.giveaways`).

With a checkpointer and one thread a navigator, ``dialogue`` keeps what was said, and
``max_questions`` bounds it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from navloom.errors import UsageError, did_you_mean
from navloom.graphs.agent import AgentContext, AgentGraph, FromPython, Growing, ModelLike, SceneLike
from navloom.graphs.turns import Asking, Question, asking
from navloom.models.messages import MOST_CHARACTERS, AnswerError, opening
from navloom.prompts.load import load_prompt
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.sim.captions import captions_for
from navloom.sim.protocol import CaptionSource, Simulator
from navloom.tools.forms import paragraph
from navloom.tools.navigation.giveaways import arrival_in, asks_arrival, gives_away
from navloom.tools.navigation.guide import MOST_TOWARDS, Facts, guide, map_facts, way_to_goal
from navloom.tools.navigation.leaks import Leak, find_leaks, joined, without_leaks
from navloom.tools.navigation.options import Option, outside, without_notes
from navloom.tools.navigation.triggers import stops_early, struggling

Reason: TypeAlias = Literal["loop", "off_course", "wrong_region", "early_stop", "plan", "question"]
REASONS: dict[Reason, str] = {
    "loop": "it goes round in circles and comes back to places it has been",
    "off_course": "it moves away from the goal",
    "wrong_region": "it went into a room that is not on the way",
    "early_stop": "it is about to stop, and this is not the goal",
    "plan": "it is about to go on and wants a plan of the rest of the way in two or three stages",
    "question": "it asks",
}
"""Why an oracle speaks, in words; all but the last are not the navigator's own doing."""
JOB = "oracle"
MOST_ANSWER = 400
"""Characters of an answer that a navigator reads."""
MOST_QUESTION = 300
MOST_INSTRUCTION = 2_000
_MOST_EARLIER = 4
MOST_SEEN = 20_000
"""Characters of what the navigator reads that are shown."""
NOT_TOLD = "I cannot answer that."
"""What is said, and no model asked, where ``arrival`` is not to be told."""
_UNSAID: dict[str, tuple[str, str]] = {
    "off_course": ("lost", "it may have lost its way"),
    "wrong_region": ("lost", "it may have lost its way"),
    "early_stop": ("stop", "it is about to stop here, which may be too early"),
}
"""What a model alone is told of triggers that only the ground truth shows."""
_LEAKY = {
    "id": "the id of a place",
    "option": "the number of an option or place",
    "coordinates": "coordinates",
    "arrival": "whether it has arrived",
}


class Input(TypedDict, total=False):
    """What a caller gives; ``trajectory`` is needed, and ``instruction`` and ``goals`` to watch."""

    seed: int
    """Shown to the model; 0 where it is left out."""
    instruction: str
    """The navigator's; untrusted."""
    question: str | None
    """The navigator's words; untrusted. None: it did not ask."""
    trigger: str | None
    """Why it is to speak unasked, one of ``REASONS``; None looks for a reason."""
    trajectory: list[str]
    """The viewpoints it stood on, first to last; it stands on the last."""
    heading: float
    """Where it looks, radians clockwise from -z: the middle of what it calls Front; 0 where it is
    left out."""
    goals: list[str]
    """Ground truth; without it nobody knows the way, and an answer is about the place alone."""
    path: list[str]
    """Ground truth; may be left out."""
    since: int
    """Viewpoints to pass over when looking for a reason: those before the last advice."""
    plan: bool
    """Give a plan where nothing is wrong."""
    history: list[dict[str, Any]]
    """Earlier ``{"question", "answer"}``, oldest first; the last few are shown."""
    seen: str
    """What the navigator reads where it stands, line by line; untrusted. A model alone needs it."""
    options: list[dict[str, Any]]
    """The options of the navigator's step as its record keeps them: what it reads of the way on
    is what the facts say."""


class State(Input, Asking, total=False):
    """What the graph knows between nodes."""

    advice: dict[str, Any] | None
    """What is said: ``trigger``, ``question``, ``facts``, ``prompt`` and, in the end, ``answer``,
    ``leaked`` and ``told``; None where nothing is."""
    dialogue: Growing[dict[str, Any]]
    """Every ``{"question", "answer", "leaked", "told"}`` so far, oldest first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AgentContext):
    """What does not change during a run."""

    scene: SceneLike
    """The home, or its URI."""
    model: ModelLike = "builtin/heuristic"
    """Who puts the facts into words, or its ``provider/name``; its calls have the role
    ``oracle``."""
    simulator: Annotated[Simulator | None, FromPython()] = None
    """Where the navigator walks: its captions are used, nothing in it is moved."""
    knows: Literal["model", "map", "path"] = "model"
    """What the model is given: what the navigator sees, also the map, also the shortest way."""
    arrival: bool = True
    """Whether it may say if this is the goal. If not, questions of that kind, and any within 3 m of
    the goal, are answered by one sentence that says nothing, and what a model says of it is
    withheld."""
    pictures: Annotated[tuple[bytes, ...], FromPython()] = ()
    """What the navigator is shown beside the text."""
    max_questions: int = 3
    """How many questions of one thread are answered."""
    max_reasks: int = 1
    """How often an answer without words, or one that gives something away, is sent back."""
    visits: int = 3
    """So often at one place is a loop (:func:`navloom.tools.navigation.triggers.struggling`)."""
    worse_m: float = 3.0
    """So many metres farther from the goal than it was is off course."""
    away_m: float = 5.0
    """So many metres off the reference path is off course."""


def prompt(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Find out whether to speak and what is known, and write down the question."""
    context = runtime.context
    begun: dict[str, Any] = {"messages": [], "faults": Overwrite([]), "advice": None}
    begun |= {"status": "ok", "reason": None, "message": None}
    if not state.get("trajectory"):
        raise UsageError("the oracle needs a trajectory: the viewpoint that the navigator is on")
    asked, given = None, state.get("question")
    if given is not None:
        asked, most = paragraph(given, MOST_QUESTION), context.max_questions
        if not asked:
            return {**begun, **_failed("no_question", "the question holds no words")}
        if len(state.get("dialogue", [])) >= most:
            return {**begun, **_failed("no_turns_left", f"all {most} questions are asked")}
    trigger = _trigger(state, context, asked)
    if trigger is None:
        return begun
    known, seen = _known(state, context), _seen(state.get("seen", ""))
    if context.knows == "model" and not seen:
        raise UsageError(
            "an oracle that knows='model' sees what the navigator reads: give it as `seen`, or"
            " choose knows='map' or 'path'"
        )
    advice: dict[str, Any] = {"trigger": trigger, "question": asked, "facts": known, "prompt": None}
    if not context.arrival and _tells_arrival(state, scene_of(context.scene), asked):
        said = {"answer": NOT_TOLD, "leaked": False, "told": []}
        return {**begun, "advice": {**advice, **said}} if asked else begun
    told = load_prompt("oracle" if trigger != "question" else "dialogue_oracle")
    kind, why = str(trigger), REASONS[trigger]
    if context.knows == "model":
        kind, why = _UNSAID.get(trigger, (kind, why))
    rendered = told.render(
        knows=context.knows,
        arrival=context.arrival,
        instruction=paragraph(state.get("instruction", ""), MOST_INSTRUCTION),
        reason=f"{kind} - {why}",
        question=_json(asked),
        earlier=_json(_earlier([*state.get("history", ()), *state.get("dialogue", ())])),
        facts=_json(known) if known else None,
        seen=seen,
    )
    advice["prompt"] = told.record
    return {**begun, "advice": advice, "messages": opening(rendered)}


def _known(state: State, context: Context) -> Mapping[str, Any] | None:
    """The facts of a level; a model alone has none."""
    scene, place = scene_of(context.scene), state["trajectory"][-1]
    heading, goals, path = state.get("heading", 0.0), state.get("goals", ()), state.get("path", ())
    if context.knows == "model":
        return None
    if context.knows == "map":
        return map_facts(scene, place, heading, goals)
    facts = guide(scene, place, heading, goals, path, captions=_captions(context, scene))
    way = way_to_goal(scene, place, goals, path)
    options = [Option(**option) for option in state.get("options", ())]
    taken = next((o for o in options if len(way) > 1 and o.viewpoint == way[1]), None)
    return facts if taken is None else _as_read(facts, taken)


def _tells_arrival(state: State, scene: Scene, asked: str | None) -> bool:
    """Whether any answer here would say if this is the goal: it is asked, or it is so near."""
    goals = state.get("goals", ())
    near = bool(goals) and not stops_early(scene, state["trajectory"][-1], goals)
    return near or (asked is not None and asks_arrival(asked))


def _seen(text: str) -> list[str]:
    """What the navigator reads, as lines that open no section of the oracle's own prompt."""
    lines = text[:MOST_SEEN].splitlines()
    return ["".join(c if c.isprintable() else " " for c in line) for line in lines]


def question(state: State, context: Context) -> Question:
    """What the model is asked; an answer that gives something away twice is redacted."""
    scene, advice = scene_of(context.scene), state["advice"] or {}
    options = [Option(**option) for option in state.get("options", ())]

    def said(answer: str, given: str, *, leaked: bool) -> State:
        told = gives_away(given, options, scene)
        return {"advice": {**advice, "answer": answer, "leaked": leaked, "told": told}}

    def leaks_in(answer: str) -> list[Leak]:
        arrived = () if context.arrival else arrival_in(answer)
        return joined(answer, [*find_leaks(answer, scene), *arrived])

    def read(text: str) -> State:
        answer = read_answer(text)
        fault = _fault(answer, leaks_in(answer))
        if fault is not None:
            raise AnswerError(fault)
        return said(answer, answer, leaked=False)

    def give_up(text: str, error: AnswerError) -> State:
        answer = read_answer(text)
        leaks = leaks_in(answer)
        update = said(without_leaks(answer, leaks), answer, leaked=bool(leaks))
        return {**update, "faults": [str(error)]}

    return Question(
        job=JOB, read=read, give_up=give_up, role="oracle", pictures=lambda: context.pictures
    )


def finish(state: State) -> dict[str, Any]:
    """Put the result together; failed where a question was not answered, or no words were had.

    Its keys: ``trigger`` and ``question``, ``answer`` (None where there is none), ``leaked``,
    ``told`` (what it gives away, :mod:`navloom.tools.navigation.giveaways`), ``faults``,
    ``facts``, ``turns`` (questions of the thread so far), ``leaks`` (of those, how many had one)
    and ``prompt``.
    """
    advice = state.get("advice") or {}
    asked = advice.get("question") is not None
    turn = [{key: advice[key] for key in ("question", "answer", "leaked", "told")}] if asked else []
    said = [*state.get("dialogue", []), *turn]
    result = {
        "trigger": advice.get("trigger"),
        "question": advice.get("question"),
        "answer": advice.get("answer"),
        "leaked": advice.get("leaked", False),
        "told": advice.get("told", []),
        "faults": state.get("faults", []),
        "facts": advice.get("facts"),
        "turns": len(said),
        "leaks": sum(each["leaked"] for each in said),
        "prompt": advice.get("prompt"),
    }
    ended: dict[str, Any] = {"result": result, "dialogue": turn}
    if advice and not advice["answer"]:
        ended |= _failed("no_words", "the oracle's model gave no words that can be read")
    return ended


build_graph = asking(
    AgentGraph(State, Context, Input, "oracle"), question, prompt=prompt, finish=finish
)


def read_answer(text: str) -> str:
    """The words of a reply: without thoughts, quotation marks around it and all but one line."""
    words = paragraph(outside(text[:MOST_CHARACTERS]), MOST_ANSWER)
    quoted = len(words) > 1 and words[0] == words[-1] == '"'
    return words[1:-1].strip() if quoted else words


def _failed(reason: str, message: str) -> dict[str, Any]:
    return {"status": "failed", "reason": reason, "message": message}


def _trigger(state: State, context: Context, asked: str | None) -> Reason | None:
    """Why to speak; None where there is no reason.

    Raises:
        UsageError: an unknown trigger is given, or what is needed to find one is not.
    """
    given = state.get("trigger")
    if given is None and asked is not None:
        return "question"
    if given is None:
        if not (state.get("instruction") and state.get("goals")):
            raise UsageError("the oracle watches with an instruction and goals; give it both")
        found = struggling(
            scene_of(context.scene),
            state["trajectory"],
            state["goals"],
            state.get("path", ()),
            since=state.get("since", 0),
            visits=context.visits,
            worse_m=context.worse_m,
            away_m=context.away_m,
        )
        return found or ("plan" if state.get("plan") else None)
    for reason in REASONS:
        if reason == given:
            return reason
    hint = did_you_mean(given, REASONS)
    raise UsageError(f"an oracle knows no trigger '{given[:80]}'.{hint}")


def _as_read(facts: Facts, taken: Option) -> Facts:
    """The facts in the words that the navigator reads of that option, without its map's names."""
    read = paragraph(without_notes(taken.description), MOST_TOWARDS)
    towards = read or facts["towards"]
    return {**facts, "direction": taken.direction, "towards": towards}


def _captions(context: Context, scene: Scene) -> CaptionSource:
    own = getattr(context.simulator, "captions", None)
    if isinstance(own, CaptionSource):
        return own
    return captions_for(scene)


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


graph = build_graph()
