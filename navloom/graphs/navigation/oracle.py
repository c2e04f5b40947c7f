"""Oracle: helps a navigator, unasked when it struggles, or by answering its questions.

Source: VLN-MME 4.4: "when the navigator struggled (e.g., looping, moving in a critically wrong
direction, or entering the wrong region), it was allowed to query the Oracle", which "provided
high-level reasoning guidance"; VLNVerse 5.4: "the agent could query an oracle LLM for environmental
information and navigational advice". Prompts and budgets are ours.

    START ──> prompt ──> ask <──> read ──> finish ──> END
                │                            ^
                └── all is well, or withheld ┘

If it is asked a question, it answers that. Otherwise it looks for a trigger at the end of the
trajectory (:mod:`navloom.tools.navigation.oracle_triggers`); with ``plan`` it plans where nothing
is wrong. The navigator calls this graph from its own nodes
(:mod:`navloom.graphs.navigation.subgraphs`).

``knows`` sets what the model is given, each level including the one before: ``model``, the
navigator's own view (the papers' oracle, another model); ``map``, facts from the scene: rooms, and
where the goal lies; ``path``, facts of the shortest path. Its words are untrusted: one bounded
paragraph that opens no section of a prompt. An answer that names a viewpoint, an option's number or
coordinates is sent back with the exact fault (:mod:`navloom.graphs.tool_loop`). If the next one
does it again, it is redacted and counted. Other information that an answer gives away is measured
(:mod:`navloom.tools.navigation.disclosures`).

With a checkpointer and one thread for each navigator, ``dialogue`` keeps the exchanges, and
``max_questions`` limits them.
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
from navloom.graphs import agent_graph
from navloom.graphs.tool_loop import ModelQuestion, QuestionState, failed_update, question_builder
from navloom.models.messages import MOST_CHARACTERS, AnswerError, opening_messages
from navloom.prompts.prompt_loader import load_prompt
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.sim.captions import captions_for
from navloom.sim.protocol import CaptionSource, Simulator
from navloom.tools.model_output import sanitize_line
from navloom.tools.navigation import oracle_facts
from navloom.tools.navigation.disclosures import asks_arrival, disclosed_kinds, find_arrival
from navloom.tools.navigation.leaks import Leak, find_leaks, merge_leaks, redact_leaks
from navloom.tools.navigation.oracle_triggers import detect_struggle, is_early_stop
from navloom.tools.navigation.step_options import MoveOption, strip_notes, strip_thoughts

Reason: TypeAlias = Literal["loop", "off_course", "wrong_region", "early_stop", "plan", "question"]
REASONS: dict[Reason, str] = {
    "loop": "it goes round in circles and comes back to places it has been",
    "off_course": "it moves away from the goal",
    "wrong_region": "it went into a room that is not on the way",
    "early_stop": "it is about to stop, and this is not the goal",
    "plan": "it is about to go on and wants a plan of the rest of the way in two or three stages",
    "question": "it asks",
}
"""Triggers of an oracle, in words; all but the last are not the navigator's own request."""
JOB = "oracle"
MOST_ANSWER = 400
"""Most characters of an answer that a navigator reads."""
MOST_QUESTION = 300
MOST_INSTRUCTION = 2_000
_MOST_EARLIER = 4
MOST_SEEN = 20_000
"""Most characters of the navigator's view that are shown."""
NOT_TOLD = "I cannot answer that."
"""The answer, given without a model call, where ``arrival`` must not be told."""
_UNSAID: dict[str, tuple[str, str]] = {
    "off_course": ("lost", "it may have lost its way"),
    "wrong_region": ("lost", "it may have lost its way"),
    "early_stop": ("stop", "it is about to stop here, which may be too early"),
}
"""Vaguer words, with ``knows="model"``, for triggers that only the ground truth shows."""
_LEAKY = {
    "id": "the id of a place",
    "option": "the number of an option or place",
    "coordinates": "coordinates",
    "arrival": "whether it has arrived",
}


class Input(TypedDict, total=False):
    """Input of the oracle; ``trajectory`` is required, ``instruction`` and ``goals`` to watch."""

    seed: int
    """Shown to the model; 0 where it is left out."""
    instruction: str
    """The navigator's instruction; untrusted."""
    question: str | None
    """The navigator's question; untrusted. None: it did not ask."""
    trigger: str | None
    """Reason to speak unasked, one of ``REASONS``; None looks for one."""
    trajectory: list[str]
    """The viewpoints it stood on, first to last; it stands on the last."""
    heading: float
    """The navigator's heading, radians clockwise from -z: the middle of its Front side; 0 where it
    is left out."""
    goals: list[str]
    """Ground truth; without it the path is unknown, and an answer describes the place alone."""
    path: list[str]
    """Ground truth: the reference path; optional."""
    since: int
    """Viewpoints to skip when looking for a trigger: those before the last advice."""
    plan: bool
    """Give a plan where nothing is wrong."""
    history: list[dict[str, Any]]
    """Earlier ``{"question", "answer"}``, oldest first; the last few are shown."""
    seen: str
    """The navigator's prompt here, line by line; untrusted. ``knows="model"`` requires it."""
    options: list[dict[str, Any]]
    """The options in the record of the navigator's step. The facts use the words that it reads of
    the next hop."""


class State(Input, QuestionState, total=False):
    """State of the oracle between its nodes."""

    advice: dict[str, Any] | None
    """The advice: ``trigger``, ``question``, ``facts``, ``prompt`` and finally ``answer``,
    ``leaked`` and ``told``; None where the oracle does not speak."""
    dialogue: agent_graph.Growing[dict[str, Any]]
    """All ``{"question", "answer", "leaked", "told"}`` so far, oldest first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(agent_graph.AgentContext):
    """Settings of the oracle, fixed during a run."""

    scene: agent_graph.SceneLike
    """The home, or its URI."""
    model: agent_graph.ModelLike = "builtin/heuristic"
    """The oracle's model, or its ``provider/name``; its calls have the role ``oracle``."""
    simulator: Annotated[Simulator | None, agent_graph.PythonField()] = None
    """The navigator's simulator: its captions are used, nothing in it is moved."""
    knows: Literal["model", "map", "path"] = "model"
    """Knowledge of the model: the navigator's view, also the map, also the shortest path."""
    arrival: bool = True
    """Let the oracle say whether this is the goal. If False, questions about that, and any question
    within 3 m of the goal, are answered by one neutral sentence, and the model's words on it are
    withheld."""
    pictures: Annotated[tuple[bytes, ...], agent_graph.PythonField()] = ()
    """Images that the navigator is shown beside the text."""
    max_questions: int = 3
    """Most questions of one thread that are answered."""
    max_reasks: int = 1
    """How often an empty or leaking answer is sent back."""
    visits: int = 3
    """Visits to one place that count as a loop
    (:func:`navloom.tools.navigation.oracle_triggers.detect_struggle`)."""
    worse_m: float = 3.0
    """Metres of added distance from the goal that count as off course."""
    away_m: float = 5.0
    """Metres off the reference path that count as off course."""


def prompt(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Decide whether to speak, collect the facts, render the prompt, and return the update."""
    context = runtime.context
    begun: dict[str, Any] = {"messages": [], "faults": Overwrite([]), "advice": None}
    begun |= {"status": "ok", "reason": None, "message": None}
    if not state.get("trajectory"):
        raise UsageError("the oracle needs a trajectory: the viewpoint that the navigator is on")
    asked, given = None, state.get("question")
    if given is not None:
        asked, most = sanitize_line(given, MOST_QUESTION), context.max_questions
        if not asked:
            return {**begun, **failed_update("no_question", "the question holds no words")}
        if len(state.get("dialogue", [])) >= most:
            return {**begun, **failed_update("no_turns_left", f"all {most} questions are asked")}
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
    if not context.arrival and _tells_arrival(state, get_scene(context.scene), asked):
        said = {"answer": NOT_TOLD, "leaked": False, "told": []}
        return {**begun, "advice": {**advice, **said}} if asked else begun
    told = load_prompt("oracle" if trigger != "question" else "dialogue_oracle")
    kind, why = str(trigger), REASONS[trigger]
    if context.knows == "model":
        kind, why = _UNSAID.get(trigger, (kind, why))
    rendered = told.render(
        knows=context.knows,
        arrival=context.arrival,
        instruction=sanitize_line(state.get("instruction", ""), MOST_INSTRUCTION),
        reason=f"{kind} - {why}",
        question=_json(asked),
        earlier=_json(_earlier([*state.get("history", ()), *state.get("dialogue", ())])),
        facts=_json(known) if known else None,
        seen=seen,
    )
    advice["prompt"] = told.record
    return {**begun, "advice": advice, "messages": opening_messages(rendered)}


def _known(state: State, context: Context) -> Mapping[str, Any] | None:
    """Return the facts of the knowledge level; None for ``model``."""
    scene, place = get_scene(context.scene), state["trajectory"][-1]
    heading, goals, path = state.get("heading", 0.0), state.get("goals", ()), state.get("path", ())
    if context.knows == "model":
        return None
    if context.knows == "map":
        return oracle_facts.map_facts(scene, place, heading, goals)
    facts = oracle_facts.route_facts(
        scene, place, heading, goals, path, captions=_captions(context, scene)
    )
    way = oracle_facts.path_to_goal(scene, place, goals, path)
    options = [MoveOption(**option) for option in state.get("options", ())]
    taken = next((o for o in options if len(way) > 1 and o.viewpoint == way[1]), None)
    return facts if taken is None else _as_read(facts, taken)


def _tells_arrival(state: State, scene: Scene, asked: str | None) -> bool:
    """Check whether any answer here would reveal arrival: it is asked for, or the goal is near."""
    goals = state.get("goals", ())
    near = bool(goals) and not is_early_stop(scene, state["trajectory"][-1], goals)
    return near or (asked is not None and asks_arrival(asked))


def _seen(text: str) -> list[str]:
    """Return the navigator's view as lines that open no section of the oracle's own prompt."""
    lines = text[:MOST_SEEN].splitlines()
    return ["".join(c if c.isprintable() else " " for c in line) for line in lines]


def question(state: State, context: Context) -> ModelQuestion:
    """Build the question to the model; an answer that leaks twice is redacted."""
    scene, advice = get_scene(context.scene), state["advice"] or {}
    options = [MoveOption(**option) for option in state.get("options", ())]

    def said(answer: str, given: str, *, leaked: bool) -> State:
        told = disclosed_kinds(given, options, scene)
        return {"advice": {**advice, "answer": answer, "leaked": leaked, "told": told}}

    def leaks_in(answer: str) -> list[Leak]:
        arrived = () if context.arrival else find_arrival(answer)
        return merge_leaks(answer, [*find_leaks(answer, scene), *arrived])

    def read(text: str) -> State:
        answer = read_answer(text)
        fault = _fault(answer, leaks_in(answer))
        if fault is not None:
            raise AnswerError(fault)
        return said(answer, answer, leaked=False)

    def give_up(text: str, error: AnswerError) -> State:
        answer = read_answer(text)
        leaks = leaks_in(answer)
        update = said(redact_leaks(answer, leaks), answer, leaked=bool(leaks))
        return {**update, "faults": [str(error)]}

    return ModelQuestion(
        job=JOB, read=read, give_up=give_up, role="oracle", pictures=lambda: context.pictures
    )


def finish(state: State) -> dict[str, Any]:
    """Return the update with the result; failed where a question got no answer or no words.

    Keys of the result: ``trigger``, ``question``, ``answer`` (None without an answer), ``leaked``,
    ``told`` (what it gives away, :mod:`navloom.tools.navigation.disclosures`), ``faults``,
    ``facts``, ``turns`` (questions of the thread so far), ``leaks`` (how many of those leaked)
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
        ended |= failed_update("no_words", "the oracle's model gave no words that can be read")
    return ended


build_graph = question_builder(
    agent_graph.AgentGraph(State, Context, Input, "oracle"), question, prompt=prompt, finish=finish
)


def read_answer(text: str) -> str:
    """Return a reply's words as one line, without reasoning and enclosing quotation marks."""
    words = sanitize_line(strip_thoughts(text[:MOST_CHARACTERS]), MOST_ANSWER)
    quoted = len(words) > 1 and words[0] == words[-1] == '"'
    return words[1:-1].strip() if quoted else words


def _trigger(state: State, context: Context, asked: str | None) -> Reason | None:
    """Return the reason to speak; None where there is none.

    Raises:
        UsageError: an unknown trigger is given, or the input needed to find one is missing.
    """
    given = state.get("trigger")
    if given is None and asked is not None:
        return "question"
    if given is None:
        if not (state.get("instruction") and state.get("goals")):
            raise UsageError("the oracle watches with an instruction and goals; give it both")
        found = detect_struggle(
            get_scene(context.scene),
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


def _as_read(facts: oracle_facts.OracleFacts, taken: MoveOption) -> oracle_facts.OracleFacts:
    """Return the facts in the words of an option that the navigator reads, without map notes."""
    read = sanitize_line(strip_notes(taken.description), oracle_facts.MOST_TOWARDS)
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
            "question": sanitize_line(str(said["question"]), MOST_QUESTION)
            if said.get("question")
            else None,
            "answer": sanitize_line(str(said.get("answer") or ""), MOST_ANSWER),
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
