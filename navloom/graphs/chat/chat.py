"""Chat graph: a person talks to a robot in a home, which looks around, walks and answers.

    START -> begin -> listen -> agent -> speak -> listen ... -> END   (words, an answer; leaving)
                                ^   |
                                |   v
                                |  tools --> ask (the person answers) --+
                                |   ^  |                               |
                                |   |  +---> walk -> walk ... (a hop)  |
                                +---+------------+---------------------+

``listen`` and ``ask`` wait by ``interrupt``; the person's words come back by
``Command(resume=words)``. A walk runs its node once for each hop, so that it is checkpointed, can
be watched and can be stopped. A run that is given new words (``{"said": words}``, or ``{"halt":
True}`` without any) during a walk ends the walk where the robot stands. ``{"undo": True}`` undoes
the last instruction. ``Command(resume={"leave": True})`` ends the conversation. Without a
checkpointer one call is one exchange: ``{"said": "go to the kitchen"}``.

The person's words, captions and the model's output are untrusted data: bounded, and never executed.
The robot moves only by the tools of :mod:`navloom.tools.chat.tools`, along edges of the navigation
graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, interrupt

from navloom.errors import ModelRefusedError, UsageError
from navloom.graphs.agent_graph import AgentGraph, run_off_loop
from navloom.graphs.chat import chat_turn
from navloom.graphs.chat.state import Context, Input, State
from navloom.graphs.tool_loop import Asked, ask_model
from navloom.models.messages import cut_calls_notice, tool_answer
from navloom.models.model_call import model_name
from navloom.models.model_registry import resolve_model
from navloom.models.structured_output import bind_schema, lacks_ability
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene_uri import get_scene
from navloom.sim.agent_handle import AgentHandle, get_agent_handle, trajectory_entry
from navloom.tools.chat.direction_resolver import path_around
from navloom.tools.chat.obstructions import contact_records, contact_summary
from navloom.tools.chat.places import room_name
from navloom.tools.chat.tools import chat_tools

MOST_BARRED = 6
"""Blocked edges that a walk may detour around before it gives up."""
_BLIND = "takes no images: it is told in words what there is."
_LOST = "I could not work that out. Please say it in another way."


def begin(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Place the robot, or end what an existing conversation has under way; return the update."""
    walker = get_agent_handle(runtime)
    if not state.get("pose"):
        return _fresh(state, walker)
    home = walker.scene.uri
    if state["home"] != home:
        raise UsageError(
            f"This conversation is in {state['home']}, not in {home}: open it with its own scene."
        )
    own = state.get("body", DEFAULT_BODY.name)
    if own != walker.embodiment.name:
        raise UsageError(
            f"This conversation has the body {own}, not {walker.embodiment.name}: open it with its"
            " own body."
        )
    if state.get("undo"):
        return chat_turn.undo_update(state)
    calls, walking = chat_turn.open_calls(state["messages"]), state.get("walk")
    update: dict[str, Any] = {"walk": None, "question": None, "halt": False, "over": False}
    update |= {"stopped": bool(walking), "back": False}
    last, said = state["messages"][-1:], ""
    if calls:
        where = room_name(walker.scene, chat_turn.robot_context(state, walker).room)
        said = f"I have stopped in the {where}." if walking else "I leave that."
        update["messages"] = [*chat_turn.close_calls(calls, walking, where), AIMessage(said)]
        if walking:
            update["goal"] = chat_turn.stopped_goal(walking, calls, state)
    elif last and isinstance(last[0], HumanMessage):
        # The model's call failed, so it never answered. Roles have to alternate.
        said = "I had no answer to that."
        update["messages"] = [AIMessage(said)]
    if said and state.get("back"):
        told = f"I was cut off. {said}" + (' Say "keep going" and I go on.' if walking else "")
        update["transcript"] = [chat_turn.transcript_line("robot", told, state)]
    elif said and walking and state.get("halt"):
        update["transcript"] = [chat_turn.transcript_line("robot", said, state)]
    return {**update, "said": None if state.get("halt") else state.get("said")}


def _fresh(state: State, walker: AgentHandle) -> dict[str, Any]:
    seed = int(state.get("seed") or 0)
    pose = chat_turn.start_pose(walker.scene, state.get("start") or "", state.get("heading") or 0.0)
    stood = chat_turn.place_body(walker, pose, seed)
    first = trajectory_entry(stood["pose"])
    grown = ("messages", "transcript", "past", "begun", "usage", "marks")
    return {
        "seed": seed,
        "said": state.get("said"),
        "home": walker.scene.uri,
        **stood,
        "body": walker.embodiment.name,
        "trajectory": Overwrite([first]),
        **{name: Overwrite([]) for name in grown},
        "turn": 0,
        "thought": 0,
        "walk": None,
        "question": None,
        "goal": None,
        "undo": False,
        "over": False,
        "status": "ok",
        "reason": None,
        "message": None,
        "result": _result({"pose": stood["pose"], "trajectory": [first], "seed": seed}, walker, ""),
    }


def _result(state: Mapping[str, Any], walker: AgentHandle, said: str) -> dict[str, Any]:
    return {
        "home": walker.scene.uri,
        "pose": state["pose"],
        "room": room_name(walker.scene, chat_turn.robot_context(state, walker).room),
        "turn": state.get("turn", 0),
        "said": said,
    }


def listen(state: State) -> dict[str, Any]:
    """Wait for the person's words, unless the state already holds some; return the update."""
    given = state.get("said")
    words = given if given is not None else interrupt({"kind": "listen"})
    if isinstance(words, dict) and words.get("leave"):
        return {"over": True}
    fault = chat_turn.input_fault(words)
    if fault:
        note = chat_turn.transcript_line("note", fault, state)
        return {"said": None, "thought": -1, "transcript": [note]}
    text, turn = chat_turn.clean_text(words), state["turn"] + 1
    heard = chat_turn.transcript_line("person", text, {**state, "turn": turn})
    mark = chat_turn.undo_mark(state, cuts_in=given is not None and bool(state.get("stopped")))
    return {
        "said": None,
        "turn": turn,
        "thought": 0,
        "transcript": [heard],
        "messages": [HumanMessage(text)],
        "marks": [mark],
    }


async def agent(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Ask the model for tool calls or a reply (no images if refused), and return the update."""
    model, blind = resolve_model(runtime.context.model), []
    knew = lacks_ability(model, "images")
    try:
        reply, paid = await ask_model(_prepared, state, runtime)
    except ModelRefusedError:
        if knew or not lacks_ability(model, "images"):
            raise
        blind = [chat_turn.transcript_line("note", f"{model_name(model)} {_BLIND}", state)]
        reply, paid = await ask_model(_prepared, state, runtime)
    return {"messages": [reply], "thought": state["thought"] + 1, "transcript": blind, **paid}


def _prepared(state: State, runtime: Runtime[Context]) -> Asked:
    walker = get_agent_handle(runtime)
    blind = lacks_ability(resolve_model(runtime.context.model), "images")
    pictures = () if blind else chat_turn.robot_images(state, walker)
    talk = chat_turn.recent_messages(state["messages"])
    asked = [*chat_turn.opening_messages(chat_turn.robot_context(state, walker), pictures), *talk]
    spoken = next((each for each in reversed(talk) if isinstance(each, AIMessage)), None)
    if isinstance(talk[-1], ToolMessage) and spoken and (note := cut_calls_notice(spoken)):
        asked.append(HumanMessage(note))
    bound = bind_schema(
        runtime.context.model,
        tools=chat_tools(None),
        images=bool(pictures),
        job="chat",
        seed=state["seed"],
    )
    return bound, asked, "navigator"


def tools(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Answer the first tool call that has no answer yet, and return the state's update.

    A call that asks for a walk begins it. A call that asks the person something stores the
    question. Both are answered later, by other nodes.
    """
    walker = get_agent_handle(runtime)
    call, past = chat_turn.next_call(state["messages"])
    whole = None if runtime.context.whole is None else get_scene(runtime.context.whole)
    message, todo = chat_turn.answer_call(call, past, chat_turn.robot_context(state, walker, whole))
    if "drive" in todo:
        return _driven(state, walker, call, todo["drive"])
    if "walk" in todo:
        return _set_out(state, call, todo)
    if "question" in todo:
        text = todo["question"]
        asked = [chat_turn.transcript_line("robot", text, state)]
        offered = chat_turn.answer_choices(text, state["messages"])
        question = {"call": call, "text": text, "choices": offered}
        return {"question": question, "transcript": asked}
    if "turn" in todo:
        moved = chat_turn.turn_body(state, walker, todo["turn"])
        if touched := contact_summary(contact_records(moved.contacts), walker.scene):
            answer = {**(tool_answer(message) or {}), "touched": touched}
            message = chat_turn.tool_message(call, answer)
        return {**moved.update, "trajectory": [trajectory_entry(moved.pose)], "messages": [message]}
    given_up = {"goal": None} if todo.get("give_up") else {}
    return {"messages": [message], "past": _talked(state, todo), **given_up}


def _talked(state: State, todo: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**each, "turn": state["turn"]} for each in todo.get("talked", ())]


def _set_out(state: State, call: Any, todo: dict[str, Any]) -> dict[str, Any]:
    """Return the update that begins a walk; only one to a named place discards a stopped walk."""
    walk = {"call": call, **todo["walk"], "walked": 0.0, "hops": 0, "touched": []}
    resumed, aside = bool(walk.get("more")), walk["place"]["kind"] == "spot"
    return {
        "walk": walk,
        "past": _talked(state, todo),
        "begun": [] if resumed else [state["pose"]["viewpoint"]],
        "goal": state.get("goal") if aside and not resumed else None,
    }


async def walk(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Walk one hop, or at the end turn and answer the call; return the state update."""
    going = state["walk"]
    assert going is not None  # noqa: S101  only a walk leads here
    if going["way"] and runtime.context.before_hop is not None:
        await runtime.context.before_hop()
    return await run_off_loop(_hopped, state, runtime, going)


def _hopped(state: State, runtime: Runtime[Context], going: dict[str, Any]) -> dict[str, Any]:
    walker, left = get_agent_handle(runtime), list(going["way"])
    if not left:
        return _arrived(state, walker, going)
    moved = chat_turn.hop_body(state, walker, left.pop(0))
    walked = {
        **going,
        "way": left,
        "walked": round(going["walked"] + moved.metres, 2),
        "hops": going["hops"] + (moved.metres > 0),
        "touched": [*going.get("touched", []), *contact_records(moved.contacts)],
    }
    poses = [trajectory_entry(moved.pose)] if moved.metres or left else []
    stood = {**state, **moved.update, "trajectory": [*state["trajectory"], *poses]}
    if not moved.arrived and not _is_in(stood, walker, walked):
        barred = [*going.get("barred", []), [moved.pose["viewpoint"], going["way"][0]]]
        round_it = path_around(walker.scene, barred[-1][0], going["way"][-1], barred)
        if round_it is None or len(barred) > MOST_BARRED:
            message = _barred(stood, walker, walked)
            return {**moved.update, "trajectory": poses, "walk": None, "messages": [message]}
        walked |= {"way": round_it, "barred": barred}
        left = round_it
    elif not moved.arrived:
        left = []
    if left:
        return {**moved.update, "trajectory": poses, "walk": walked}
    ended = _arrived(stood, walker, walked)
    return {**moved.update, **ended, "trajectory": [*poses, *ended["trajectory"]]}


def _arrived(state: Mapping[str, Any], walker: AgentHandle, walk: dict[str, Any]) -> dict[str, Any]:
    """Turn towards the destination, answer the call, and return the state update."""
    update: dict[str, Any] = {"trajectory": []}
    touched = list(walk.get("touched", []))
    if walk["face"] is not None:
        moved = chat_turn.turn_body(state, walker, walk["face"])
        touched += contact_records(moved.contacts)
        update = {**moved.update, "trajectory": [trajectory_entry(moved.pose)]}
    trail = [*state["trajectory"], *update["trajectory"]]
    now = chat_turn.robot_context({**state, **update, "trajectory": trail}, walker)
    told = {
        "arrived": True,
        "place": walk["place"]["name"],
        "room": room_name(now.scene, now.room),
        "metres": walk["walked"],
        **({"note": walk["note"]} if walk["note"] else {}),
        **walk.get("more", {}),
    }
    if said := contact_summary(touched, now.scene):
        told["touched"] = said
    return {**update, "walk": None, "messages": [chat_turn.tool_message(walk["call"], told)]}


def _is_in(state: Mapping[str, Any], walker: AgentHandle, walked: Mapping[str, Any]) -> bool:
    """Check whether the robot is in the destination room, if not on the exact viewpoint."""
    here = walker.scene.viewpoint_by_id[state["pose"]["viewpoint"]].region
    place = walked["place"]
    return bool(place["kind"] == "room" and place["id"] == here)


def _barred(state: Mapping[str, Any], walker: AgentHandle, walked: dict[str, Any]) -> Any:
    """Return the tool message that the body did not get through, with its contacts and position."""
    room = room_name(walker.scene, chat_turn.robot_context(state, walker).room)
    hits = contact_summary(walked["touched"], walker.scene)
    against = f" because of {hits[0]['what']}" if hits else ""
    why = f"I did not get through to the {walked['place']['name']}{against}. I am in the {room}."
    told = {"error": why, "barred": True, "room": room, "metres": walked["walked"], "touched": hits}
    return chat_turn.tool_message(walked["call"], told)


def _driven(state: State, walker: AgentHandle, call: Any, drive: dict[str, Any]) -> dict[str, Any]:
    """Drive off the graph, answer the call, and return the state update."""
    stood: dict[str, Any] = dict(state)
    poses, contacts = list[list[Any]](), list[Any]()
    if drive["heading"] is not None:
        moved = chat_turn.turn_body(stood, walker, drive["heading"])
        poses, contacts = [trajectory_entry(moved.pose)], [*moved.contacts]
        stood |= {**moved.update, "trajectory": [*state["trajectory"], *poses]}
    moved = chat_turn.drive_body(stood, walker, drive["metres"])
    poses.append(trajectory_entry(moved.pose))
    contacts += moved.contacts
    after = {**stood, **moved.update, "trajectory": [*state["trajectory"], *poses]}
    room = room_name(walker.scene, chat_turn.robot_context(after, walker).room)
    told: dict[str, Any] = {
        "arrived": True,
        "place": drive["place"],
        "room": room,
        "metres": round(moved.metres, 2),
    }
    if touched := contact_summary(contact_records(contacts), walker.scene):
        told["touched"] = touched
    if drive["metres"] < 0:
        told["backwards"] = True
    if not moved.arrived:
        told["stopped_by"] = touched[0]["what"] if touched else "something"
    return {
        **moved.update,
        "trajectory": poses,
        "begun": [state["pose"]["viewpoint"]],
        "messages": [chat_turn.tool_message(call, told)],
    }


def ask(state: State) -> dict[str, Any]:
    """Wait for the person's answer to a question, and return the state update."""
    question = state["question"]
    assert question is not None  # noqa: S101  only a question leads here
    told = {"kind": "question", "question": question["text"]}
    if choices := question.get("choices"):
        told["choices"] = choices
    words = interrupt(told)
    fault = chat_turn.input_fault(words)
    if fault:
        return {"transcript": [chat_turn.transcript_line("note", fault, state)]}
    text = chat_turn.clean_text(words)
    return {
        "question": None,
        "transcript": [chat_turn.transcript_line("person", text, state)],
        "messages": [chat_turn.tool_message(question["call"], {"answer": text})],
    }


def speak(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Send the model's reply to the person, and return the state update."""
    last = state["messages"][-1]
    assert isinstance(last, AIMessage)  # noqa: S101  only the agent leads here
    calls = chat_turn.open_calls(state["messages"])
    text = _LOST if calls else chat_turn.clean_text(last.text) or _LOST
    undone = [*chat_turn.close_calls(calls, None, ""), AIMessage(text)] if calls else []
    return {
        "transcript": [chat_turn.transcript_line("robot", text, state)],
        "messages": undone,
        "result": _result(state, get_agent_handle(runtime), text),
    }


def after_listen(state: State) -> Literal["agent", "listen", "__end__"]:
    """Route to the agent, back to listen after invalid input, or to the end on leaving."""
    if state.get("over"):
        return "__end__"
    return "listen" if state["thought"] < 0 else "agent"


def after_agent(state: State, runtime: Runtime[Context]) -> Literal["tools", "speak"]:
    """Route to the tools while model calls are left, else speak the reply."""
    last = state["messages"][-1]
    calls = isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls)
    return "tools" if calls and state["thought"] < runtime.context.max_turns else "speak"


def after_tools(state: State) -> Literal["walk", "ask", "tools", "agent"]:
    """Route to the walk or question that was begun, to the next open call, or back to the model."""
    if state.get("walk"):
        return "walk"
    if state.get("question"):
        return "ask"
    return "tools" if chat_turn.open_calls(state["messages"]) else "agent"


builder = AgentGraph(State, Context, Input, "chat")
builder.add_node("begin", begin)
builder.add_node("listen", listen)
builder.add_node("agent", agent)
builder.add_node("tools", tools)
builder.add_node("walk", walk)
builder.add_node("ask", ask)
builder.add_node("speak", speak)
builder.add_edge(START, "begin")
builder.add_edge("begin", "listen")
builder.add_conditional_edges("listen", after_listen)
builder.add_conditional_edges("agent", after_agent)
builder.add_conditional_edges("tools", after_tools)
builder.add_conditional_edges("walk", after_tools)
builder.add_conditional_edges("ask", after_tools)
builder.add_edge("speak", "listen")
build_graph = builder.compile
"""Compiles the graph; takes the checkpointer for its steps, none by default."""


graph = build_graph()
