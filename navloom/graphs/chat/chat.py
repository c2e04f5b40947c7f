"""The chat: a person and a robot in a home; the person speaks, the robot looks, walks and answers.

    START -> begin -> listen -> agent -> speak -> listen ...      (a person's words, an answer)
                                ^   |
                                |   v
                                |  tools --> ask (the person answers) --+
                                |   ^  |                               |
                                |   |  +---> walk -> walk ... (a hop)  |
                                +---+------------+---------------------+

``listen`` and ``ask`` wait by ``interrupt``; what the person says comes back by
``Command(resume=words)``. A walk is one node execution a hop, so that it is checkpointed, can be
watched and can be stopped: a run that is given new words (``{"said": words}``, or ``{"halt":
True}`` without any) while a walk is under way ends it where the robot stands. Without a
checkpointer one call is one exchange: ``{"said": "go to the kitchen"}``.

The person's words, captions and what a model says are data: bounded, and never run. The robot moves
by the tools of :mod:`navloom.tools.chat.tools` alone, along edges of the navigation graph.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Overwrite, interrupt

from navloom.errors import UsageError
from navloom.graphs.ask import MODEL_SECONDS
from navloom.graphs.chat.exchange import (
    answer_call,
    cleaned,
    closed,
    fault_of,
    kept_messages,
    next_call,
    now_of,
    open_calls,
    opening,
    pose_at,
    said_by,
    step_to,
    tool_message,
    turned,
)
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Simulator
from navloom.sim.walker import Walker, pose_record, walker_of
from navloom.tools.chat.places import room_name
from navloom.tools.chat.tools import chat_tools

_MOST_STEPS = 100_000
_LOST = "I could not work that out. Please say it in another way."


class Input(TypedDict, total=False):
    """What a caller gives; nothing is needed."""

    seed: int
    """Drawn upon by baselines; 0 where it is left out."""
    said: str | None
    """What the person says; without it the graph waits for words."""
    halt: bool
    """Stop a walk that is under way, and listen."""
    start: str
    """The viewpoint a new conversation starts on; by default one by the entrance."""
    heading: float
    """Where the robot looks at the start, radians clockwise from -z."""


class State(Input, total=False):
    """What a conversation remembers: ids and text, never a frame or a scene."""

    home: str
    """The scene's portable name: a conversation stays in its home."""
    pose: dict[str, Any]
    """Where the robot is: viewpoint, heading and elevation (radians)."""
    trajectory: Annotated[list[list[Any]], add]
    """Every pose it stood in, the start first: [viewpoint, heading, elevation]."""
    messages: Annotated[list[AnyMessage], add]
    """The conversation as the model reads it, without its opening; the latest part of it."""
    transcript: Annotated[list[dict[str, Any]], add]
    """The conversation as people read it: ``who`` (person, robot, note), ``text``, ``turn``, and
    ``at``, how many poses the robot had stood in."""
    past: Annotated[list[dict[str, Any]], add]
    """Rooms and things it was sent to."""
    came_from: str | None
    """Where its last walk began."""
    walk: dict[str, Any] | None
    """The walk under way: the call it answers, the way left, the place."""
    question: dict[str, Any] | None
    """The question the person is to answer, and the call it answers."""
    turn: int
    """How often the person has spoken."""
    thought: int
    """Model calls in this turn."""
    tokens: Annotated[int, add]
    """Tokens of every model call, in and out, where the backend counts them."""
    status: Literal["ok"]
    """Always ``ok``: whether the person is content is for the person to say."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """What does not change during a run. Two contexts are equal only if they are one.

    Raises:
        UsageError: a bound that makes no sense.
    """

    simulator: Simulator | None = None
    """Where it walks; each run under way needs its own. None makes one from ``scene``."""
    scene: Scene | str | None = None
    """The scene or its URI, for a simulator on its navigation graph, without pictures."""
    agent: str = "robot"
    """What it is called in its simulator."""
    model: BaseChatModel | str = "builtin/heuristic"
    """Who thinks, or its ``provider/name``."""
    embodiment: Embodiment = DEFAULT_BODY
    """Whose body it is."""
    views: Literal[0, 4] = 4
    """4 shows the model a strip of pictures where the simulator has any."""
    max_turns: int = 10
    """Model calls an instruction, at most."""
    before_hop: Callable[[], Awaitable[None]] | None = None
    """Awaited before each hop, when the one before is on disk: for displays that show each."""

    def __post_init__(self) -> None:
        if not 1 <= self.max_turns <= 100:
            raise UsageError(f"max_turns is {self.max_turns}: expected 1 to 100.")
        if self.views not in (0, 4):
            raise UsageError(f"views is {self.views}: expected 0 or 4.")


async def begin(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Stand at the start of a new conversation; in an old one, end what is under way."""
    walker = walker_of(runtime)
    if not state.get("pose"):
        return _fresh(state, walker)
    home = walker.scene.uri
    if state["home"] != home:
        raise UsageError(
            f"This conversation is in {state['home']}, not in {home}: open it with its own scene."
        )
    calls, walking = open_calls(state["messages"]), state.get("walk")
    update: dict[str, Any] = {"walk": None, "question": None, "halt": False}
    last = state["messages"][-1:]
    if calls:
        where = room_name(walker.scene, now_of(state, walker).room)
        stopped = f"I have stopped in the {where}." if walking else "I leave that."
        update["messages"] = [*closed(calls, walking, where), AIMessage(stopped)]
        if walking and state.get("halt"):
            update["transcript"] = [said_by("robot", stopped, state)]
    elif last and isinstance(last[0], HumanMessage):
        # The model never answered, for its call broke: speakers have to take turns.
        update["messages"] = [AIMessage("I had no answer to that.")]
    return {**update, "said": None if state.get("halt") else state.get("said")}


def _fresh(state: State, walker: Walker) -> dict[str, Any]:
    seed = int(state.get("seed") or 0)
    asked = pose_at(walker.scene, state.get("start") or "", state.get("heading") or 0.0)
    pose = pose_record(walker.start(asked, seed).pose)
    grown = ("messages", "transcript", "past")
    return {
        "seed": seed,
        "said": state.get("said"),
        "home": walker.scene.uri,
        "pose": pose,
        "trajectory": Overwrite([list(pose.values())]),
        **{name: Overwrite([]) for name in grown},
        "tokens": Overwrite(0),
        "turn": 0,
        "thought": 0,
        "walk": None,
        "question": None,
        "came_from": None,
        "status": "ok",
    }


async def listen(state: State) -> dict[str, Any]:
    """Wait for the person's words, unless some are there."""
    given = state.get("said")
    words = given if given is not None else interrupt({"kind": "listen"})
    fault = fault_of(words)
    if fault:
        return {"said": None, "thought": -1, "transcript": [said_by("note", fault, state)]}
    text, turn = cleaned(words), state["turn"] + 1
    heard = said_by("person", text, {**state, "turn": turn})
    return {
        "said": None,
        "turn": turn,
        "thought": 0,
        "transcript": [heard],
        "messages": Overwrite([*kept_messages(state["messages"]), HumanMessage(text)]),
    }


async def agent(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Ask the model what to do or to say."""
    walker = walker_of(runtime)
    pictures = walker.pictures(state)
    asked = [*opening(now_of(state, walker), state["seed"], pictures), *state["messages"]]
    bound = bind(
        runtime.context.model,
        tools=chat_tools(None),
        images=bool(pictures),
        job="chat",
        seed=state["seed"],
    )
    reply = await acall(bound, asked, role="navigator")
    counted = reply.usage_metadata and not reply.response_metadata.get("usage_estimated")
    used = reply.usage_metadata["total_tokens"] if counted and reply.usage_metadata else 0
    return {"messages": [reply], "thought": state["thought"] + 1, "tokens": used}


async def tools(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Answer the first tool call that is open, or begin the walk or question it asks for."""
    walker = walker_of(runtime)
    call, earlier = next_call(state["messages"])
    message, todo = await answer_call(call, earlier, now_of(state, walker))
    if "walk" in todo:
        walk = {"call": call, **todo["walk"], "walked": 0.0, "hops": 0}
        named = [walk["place"]] if walk["place"]["kind"] != "spot" else []
        return {"walk": walk, "past": named, "came_from": state["pose"]["viewpoint"]}
    if "question" in todo:
        text = todo["question"]
        asked = [said_by("robot", text, state)]
        return {"question": {"call": call, "text": text}, "transcript": asked}
    if "turn" in todo:
        pose = turned(state, walker, todo["turn"])
        return {"pose": pose, "trajectory": [list(pose.values())], "messages": [message]}
    return {"messages": [message]}


async def walk(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Go one hop; at the end look at what was named, and answer the call."""
    context, walker, going = runtime.context, walker_of(runtime), state["walk"]
    assert going is not None  # noqa: S101  only a walk leads here
    left, pose, metres = list(going["way"]), state["pose"], 0.0
    if left and context.before_hop is not None:
        await context.before_hop()
    if left:
        pose, metres = step_to(state, walker, left.pop(0))
    walked = {
        **going,
        "way": left,
        "walked": round(going["walked"] + metres, 2),
        "hops": going["hops"] + (metres > 0),
    }
    if left:
        return {"pose": pose, "trajectory": [list(pose.values())], "walk": walked}
    poses = [list(pose.values())] if metres else []
    if going["face"] is not None:
        stood = {**state, "pose": pose, "trajectory": [*state["trajectory"], *poses]}
        pose = turned(stood, walker, going["face"])
        poses.append(list(pose.values()))
    now = now_of({**state, "pose": pose, "trajectory": [*state["trajectory"], *poses]}, walker)
    arrived = tool_message(
        walked["call"],
        {
            "arrived": True,
            "place": walked["place"]["name"],
            "room": room_name(now.scene, now.room),
            "metres": walked["walked"],
            **({"note": walked["note"]} if walked["note"] else {}),
        },
    )
    return {"pose": pose, "trajectory": poses, "walk": None, "messages": [arrived]}


async def ask(state: State) -> dict[str, Any]:
    """Wait for the person's answer to a question."""
    question = state["question"]
    assert question is not None  # noqa: S101  only a question leads here
    words = interrupt({"kind": "question", "question": question["text"]})
    fault = fault_of(words)
    if fault:
        return {"transcript": [said_by("note", fault, state)]}
    text = cleaned(words)
    return {
        "question": None,
        "transcript": [said_by("person", text, state)],
        "messages": [tool_message(question["call"], {"answer": text})],
    }


async def speak(state: State) -> dict[str, Any]:
    """Say the model's words to the person."""
    last = state["messages"][-1]
    assert isinstance(last, AIMessage)  # noqa: S101  only the agent leads here
    calls = open_calls(state["messages"])
    text = _LOST if calls else cleaned(last.text) or _LOST
    undone = [*closed(calls, None, ""), AIMessage(text)] if calls else []
    return {"transcript": [said_by("robot", text, state)], "messages": undone}


def after_listen(state: State) -> Literal["agent", "listen"]:
    """To the model with words it can be shown; else listen again."""
    return "listen" if state["thought"] < 0 else "agent"


def after_agent(state: State, runtime: Runtime[Context]) -> Literal["tools", "speak"]:
    """Tool calls are answered while there are turns left; anything else is said."""
    last = state["messages"][-1]
    calls = isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls)
    return "tools" if calls and state["thought"] < runtime.context.max_turns else "speak"


def after_tools(state: State) -> Literal["walk", "ask", "tools", "agent"]:
    """Do what the call asked for, go on to the next one, or back to the model."""
    if state.get("walk"):
        return "walk"
    if state.get("question"):
        return "ask"
    return "tools" if open_calls(state["messages"]) else "agent"


def build_graph(
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """The graph, compiled.

    Args:
        checkpointer: where a conversation is kept; without one, each call is a new one.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("begin", begin)
    builder.add_node("listen", listen)
    builder.add_node("agent", agent, timeout=MODEL_SECONDS)
    builder.add_node("tools", tools)
    builder.add_node("walk", walk)
    builder.add_node("ask", ask)
    builder.add_node("speak", speak)
    builder.add_edge(START, "begin")
    builder.add_edge("begin", "listen")
    builder.add_conditional_edges("listen", after_listen)
    builder.add_conditional_edges("agent", after_agent)
    for node in ("tools", "walk", "ask"):
        builder.add_conditional_edges(node, after_tools)
    builder.add_edge("speak", "listen")
    compiled = builder.compile(checkpointer=checkpointer, name="chat")
    # A walk has more nodes than LangGraph's default limit; its way and max_turns bound it.
    return compiled.with_config(recursion_limit=_MOST_STEPS)


graph = build_graph()
