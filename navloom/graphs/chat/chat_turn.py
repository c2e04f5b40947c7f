"""One turn of the chat: checks of the input, messages and tool calls, the robot's motion, and undo.

A model's tool calls are handled one at a time, and each is answered once.

Undo works by instruction. Words that stopped a walk and began none of their own ("stop", "where are
you?") belong to that walk, and both are undone together. Words that began another walk, or resumed
the walk, are an instruction of their own. After their undo the robot stands where they were said,
and the earlier walk is unfinished again.

A robot's body may stand off the graph. A pose in a conversation's state always names a viewpoint:
the one that the body stands on, or else the one nearby, with ``beside`` and its position. Its
observation and candidates are then those of that viewpoint, and a walk begins by driving onto it.
Without physics a body is always on a viewpoint.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langgraph.prebuilt import ToolNode
from langgraph.types import Overwrite

from navloom.errors import SimulatorError, UsageError
from navloom.files import join_some
from navloom.models.messages import answered_calls, message_text, tool_answer, with_images
from navloom.models.redaction import redact
from navloom.prompts.prompt_loader import load_prompt
from navloom.scenes.bodies import is_lift_or_stairs
from navloom.scenes.distances import heading_to, metre_table, turn_between, wrap_angle
from navloom.scenes.lexicon import room_types
from navloom.scenes.scene import Point3, Scene, distance_3d
from navloom.scenes.viewpoint_hints import viewpoint_hint
from navloom.sim.agent_handle import AgentHandle, pose_record, trajectory_entry
from navloom.sim.graph import nearest_viewpoint, region_of
from navloom.sim.protocol import Contact, DrivenSimulator, Forward, Observation, Pose, Waypoint
from navloom.sim.protocol import Turn as TurnBody
from navloom.tools.chat.places import RobotContext, Turn, floor_number, room_name
from navloom.tools.chat.tools import MOVING, chat_tools
from navloom.tools.model_output import sanitize_line

_STRIDE_M = 0.25
_LEAST_STRIDE = 0.5
"""A stride that covers less than this share of its length was blocked."""


@dataclass(frozen=True)
class MoveOutcome:
    """The outcome of one motion.

    Attributes:
        update: ``pose`` and ``simulator`` of the state.
        metres: the distance that the body moved.
        contacts: its contacts.
        arrived: whether it reached its target.
    """

    update: dict[str, Any]
    metres: float
    contacts: tuple[Contact, ...] = ()
    arrived: bool = True

    @property
    def pose(self) -> dict[str, Any]:
        """The new pose in the form of the graph's state."""
        pose: dict[str, Any] = self.update["pose"]
        return pose


def observe_robot(state: Mapping[str, Any], walker: AgentHandle) -> Observation:
    """Return the robot's observation at the pose in the state."""
    seen = walker.look(_exact(state, walker))
    if seen.pose.viewpoint is not None or not isinstance(walker.simulator, DrivenSimulator):
        return seen
    name = str(state["pose"]["viewpoint"])
    there = walker.simulator.seen_from(name)
    pose = replace(seen.pose, viewpoint=name)
    return replace(seen, pose=pose, candidates=there.candidates, captions=there.captions)


def robot_images(state: Mapping[str, Any], walker: AgentHandle) -> tuple[bytes, ...]:
    """Return the images (PNG) of the robot's view for the model."""
    return walker.pictures(_exact(state, walker))


def place_body(walker: AgentHandle, pose: Pose, seed: int) -> dict[str, Any]:
    """Place the robot in its home; return ``pose`` and ``simulator`` of the state."""
    return _stood(walker, walker.start(pose, seed))


def hop_body(state: Mapping[str, Any], walker: AgentHandle, viewpoint: str) -> MoveOutcome:
    """Move one hop, or back onto the graph, and return the outcome.

    Raises:
        SimulatorError: no edge leads there.
    """
    before, inner = state["pose"], _exact(state, walker)
    place = walker.scene.viewpoint_by_id[viewpoint]
    if before.get("beside"):
        try:
            seen = walker.step(inner, Waypoint(place.ground))
        except SimulatorError:
            # The body did not move. The walk's own code reports what blocks it.
            return MoveOutcome(_kept(state), 0.0, (), arrived=False)
    else:
        seen = walker.hop(inner, viewpoint)
        if seen.pose.viewpoint != viewpoint and _carries(walker, before["viewpoint"], viewpoint):
            heading = heading_to(_position(before, walker.scene), place.ground)
            seen = walker.place(inner, Pose(place.position, heading, 0.0, viewpoint))
    metres = distance_3d(_position(before, walker.scene), seen.pose.position)
    if not walker.has_contacts:
        here = walker.scene.viewpoint_by_id[before["viewpoint"]]
        metres = distance_3d(here.position, place.position)
    arrived = seen.pose.viewpoint == viewpoint
    return MoveOutcome(_stood(walker, seen), metres, seen.contacts, arrived)


def turn_body(state: Mapping[str, Any], walker: AgentHandle, heading: float) -> MoveOutcome:
    """Turn to a heading, on the spot or along the arc that the body needs; return the outcome.

    Raises:
        SimulatorError: no finite heading.
    """
    inner, pose = _exact(state, walker), state["pose"]
    if not walker.has_contacts:
        name = pose["viewpoint"]
        there = walker.scene.viewpoint_by_id[name].position
        seen = walker.place(inner, Pose(there, wrap_angle(heading), 0.0, name))
        return MoveOutcome(_stood(walker, seen), 0.0)
    seen = walker.step(inner, TurnBody(turn_between(pose["heading"], heading)))
    return MoveOutcome(_stood(walker, seen), 0.0, seen.contacts)


def drive_body(state: Mapping[str, Any], walker: AgentHandle, metres: float) -> MoveOutcome:
    """Drive ``metres`` straight on (negative: back) or until blocked, and return the outcome."""
    inner, contacts = dict(_exact(state, walker)), list[Contact]()
    begun, left, seen = _position(state["pose"], walker.scene), metres, None
    trail = list(inner["trajectory"])
    while abs(left) > 1e-9:
        step = math.copysign(min(abs(left), _STRIDE_M), left)
        before = Pose(_position(inner["pose"], walker.scene))
        seen = walker.step(inner, Forward(step))
        contacts += seen.contacts
        left -= step
        pose = walker.pose_record(seen.pose)
        trail = [*trail, trajectory_entry(pose)]
        inner |= {"pose": pose, **walker.saved(), "trajectory": trail}
        if distance_3d(before.position, seen.pose.position) < _LEAST_STRIDE * abs(step):
            break
    if seen is None:
        return MoveOutcome(_kept(state), 0.0)
    gone = distance_3d(begun, seen.pose.position)
    short = abs(metres) - gone
    return MoveOutcome(_stood(walker, seen), gone, tuple(contacts), arrived=short <= _STRIDE_M / 2)


def _carries(walker: AgentHandle, a: str, b: str) -> bool:
    return walker.has_contacts and is_lift_or_stairs(walker.scene, a, b, walker.embodiment)


def _stood(walker: AgentHandle, seen: Observation) -> dict[str, Any]:
    """Return the pose and the simulator's state after an action."""
    pose = seen.pose
    record = walker.pose_record(pose)
    if pose.viewpoint is None:
        record |= {"viewpoint": _by(walker.scene, pose), "beside": True}
    return {"pose": record, "simulator": None, **walker.saved()}


def _kept(state: Mapping[str, Any]) -> dict[str, Any]:
    return {"pose": state["pose"], "simulator": state.get("simulator")}


def _by(scene: Scene, pose: Pose) -> str:
    """Return the viewpoint nearest to a body off the graph, in its own room if that is known."""
    room = scene.viewpoints_by_region.get(region_of(scene, pose) or "", ())
    if not room:
        return nearest_viewpoint(scene, pose.position)[0]
    return min(room, key=lambda each: (distance_3d(each.ground, pose.position), each.id)).id


def _exact(state: Mapping[str, Any], walker: AgentHandle) -> Mapping[str, Any]:
    """Return the state as a walker reads it: a body beside a viewpoint has none."""
    pose = {name: value for name, value in state["pose"].items() if name != "beside"}
    if not walker.has_contacts:
        named = Pose((0.0, 0.0, 0.0), pose["heading"], pose["elevation"], pose["viewpoint"])
        return {**state, "pose": pose_record(named), "simulator": None}
    if state["pose"].get("beside"):
        pose["viewpoint"] = None
    return {**state, "pose": pose}


def _position(pose: Mapping[str, Any], scene: Scene) -> Point3:
    at = pose.get("position")
    if at is None:
        return scene.viewpoint_by_id[pose["viewpoint"]].ground
    x, y, z = at
    return x, y, z


MOST_SAID = 2_000
"""Most characters of one message of the person."""
MOST_ROOMS = 48
"""Most rooms of the home that the opening prompt lists."""
MOST_MESSAGES = 48
"""Most messages before this turn that a model is shown: the latest, from a person's message on."""
_MOST_ARGUMENTS = 2_000
_NOT_DONE = "Not done, since the call before it failed."
_NO_JSON = "The arguments are not valid JSON. Call again with a JSON object."
_TOO_LONG = f"The arguments are over {_MOST_ARGUMENTS} characters long. Pass plain words."
_BROKEN, _LISTENING = "broken", "I am listening."
_IDS = re.compile(r"[0-9A-Za-z]+")
_SENTENCE = re.compile(r"(?<=[.!?]) +")
_ASKS_IF = re.compile(r"(?:shall|should|may|can) i\b|(?:do|did|would) you (?:mean|want|like)\b")


def input_fault(words: Any) -> str | None:
    """Return a one-line reason why the person's words are rejected, or None."""
    if not isinstance(words, str) or not clean_text(words):
        return "Nothing was said. Say where to go, or ask what I see."
    if len(words) > MOST_SAID:
        return f"That has {len(words):,} characters; say it in at most {MOST_SAID:,}."
    return None


def clean_text(words: str) -> str:
    """Return words as one plain line without control characters and secrets."""
    return sanitize_line(redact(words), MOST_SAID)


def transcript_line(who: str, text: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of the transcript."""
    return {
        "who": who,
        "text": text,
        "turn": state.get("turn", 0),
        "at": len(state.get("trajectory", [])),
    }


def recent_messages(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return this turn's messages after the latest before it, at most ``MOST_MESSAGES`` of those.

    The first one is the person's.
    """
    spoken = [place for place, each in enumerate(messages) if isinstance(each, HumanMessage)]
    turn = spoken[-1] if spoken else len(messages)
    first = next((place for place in spoken if place >= turn - MOST_MESSAGES), turn)
    return list(messages[first:])


def opening_messages(now: RobotContext, pictures: Sequence[bytes] = ()) -> list[AnyMessage]:
    """Return the messages before the conversation: rules, home, and the robot's position now."""
    names = [room_name(now.scene, region.id) for region in now.scene.regions]
    captions = now.observation.captions
    summary = sanitize_line(captions.summary, 300) if captions else ""
    floor = floor_number(now.scene, now.viewpoint)
    rendered = load_prompt("chat").render(
        floors=len({region.floor for region in now.scene.regions}),
        rooms=join_some(names, MOST_ROOMS),
        now=f"in the {room_name(now.scene, now.room)}, floor {floor}. {summary}".strip(),
        pictures=bool(pictures),
    )
    # Some chat templates reject two human messages in a row.
    said: list[AnyMessage] = [SystemMessage(rendered.system), HumanMessage(rendered.human)]
    said.append(AIMessage(_LISTENING))
    return with_images(said, pictures) if pictures else said


def tool_message(call: Mapping[str, Any], answer: Mapping[str, Any]) -> ToolMessage:
    """Return the answer to a call as a tool message with JSON content."""
    text = json.dumps(answer, ensure_ascii=False)
    status: Any = "error" if "error" in answer else "success"
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status=status)


def _last(messages: Sequence[AnyMessage]) -> tuple[list[ToolCall], list[ToolMessage]]:
    """Return the calls of the last message, invalid ones included, and their answers so far."""
    answers: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answers.insert(0, message)
            continue
        if isinstance(message, AIMessage):
            broken = [
                ToolCall(name=each.get("name") or _BROKEN, args={_BROKEN: True}, id=each.get("id"))
                for each in message.invalid_tool_calls
            ]
            return [*message.tool_calls, *broken], answers
        break
    return [], []


def open_calls(messages: Sequence[AnyMessage]) -> list[ToolCall]:
    """Return the unanswered calls of the last message, in order."""
    calls, answers = _last(messages)
    # Some servers give several calls one id: answers are counted, not matched.
    return calls[len(answers) :]


def next_call(messages: Sequence[AnyMessage]) -> tuple[ToolCall, list[ToolMessage]]:
    """Return the first open call, and the answers to the calls before it."""
    return open_calls(messages)[0], _last(messages)[1]


def answer_call(
    call: ToolCall, earlier: Sequence[ToolMessage], now: RobotContext
) -> tuple[ToolMessage, dict[str, Any]]:
    """Run the tool that a call names.

    Args:
        call: the call.
        earlier: the answers to earlier calls of its message.
        now: the robot.

    Returns:
        The answer, and the action for the robot (:mod:`navloom.tools.chat.tools`).
    """
    refusal = _refusal(call, earlier)
    if refusal is not None:
        return tool_message(call, {"error": refusal}), {}
    node = ToolNode(chat_tools(now), handle_tool_errors=True)
    found = node.invoke({"messages": [AIMessage("", tool_calls=[call])]})
    message: ToolMessage = found["messages"][0]
    todo = message.artifact or {}
    return message.model_copy(update={"artifact": None}), todo


def _refusal(call: ToolCall, earlier: Sequence[ToolMessage]) -> str | None:
    if call["args"].get(_BROKEN):
        return _NO_JSON
    if len(json.dumps(call["args"], default=str)) > _MOST_ARGUMENTS:
        return _TOO_LONG
    failed = any(_failed(answer) for answer in earlier)
    return _NOT_DONE if failed and call["name"] in MOVING else None


def _failed(answer: ToolMessage) -> bool:
    if answer.status == "error":
        return True
    told = tool_answer(answer)
    return told is None or bool({"error", "which"} & set(told))


def answer_choices(question: str, messages: Sequence[AnyMessage]) -> list[str]:
    """Return suggested answers to a question, each worded as the person would say it.

    Args:
        question: the robot's question.
        messages: the conversation up to it.

    Returns:
        One for each of several places, or yes and no; none where any words may be an answer.
    """
    which: Sequence[Mapping[str, Any]] = ()
    for message in reversed(messages):
        told = tool_answer(message) if isinstance(message, ToolMessage) else None
        if isinstance(message, HumanMessage) or (told and told.get("arrived")):
            break
        if told and told.get("which"):
            which = told["which"]
            break
    if len(which) > 1:
        return [f"{each['about']} ({' '.join(_IDS.findall(each['place']))})" for each in which]
    asked = _SENTENCE.split(question.strip())[-1].casefold()
    return ["yes", "no"] if which or (_ASKS_IF.match(asked) and " or " not in asked) else []


def close_calls(
    calls: Sequence[ToolCall], walking: Mapping[str, Any] | None, where: str
) -> list[ToolMessage]:
    """Return answers to calls not carried out: the person spoke, or model calls are used up.

    Args:
        calls: the open calls; the first is the one under way.
        walking: the walk under way, if there is one.
        where: the room that the walk has reached.
    """
    answers = [tool_message(call, {"error": "Not done: the person spoke."}) for call in calls]
    if walking and calls:
        told = {
            "arrived": False,
            "stopped": "by the person",
            "place": walking["place"]["name"],
            "room": where,
            "metres": walking["walked"],
        }
        if walking["place"]["kind"] == "room":
            told["id"] = walking["place"]["id"]
        answers[0] = tool_message(calls[0], told)
    return answers


def start_pose(scene: Scene, viewpoint: str, heading: float) -> Pose:
    """Return the pose on a viewpoint with a heading.

    Args:
        scene: the home.
        viewpoint: "" means a viewpoint by the entrance.
        heading: radians.

    Raises:
        UsageError: no such viewpoint, no finite heading, or a home without known rooms.
    """
    if not scene.regions:
        raise UsageError(
            f"The rooms of {scene.uri} are not known, and the robot goes by rooms: give the scan's"
            " .house or region file (docs/formats/mp3d.md)."
        )
    name = viewpoint or _by_the_entrance(scene)
    if name not in scene.viewpoint_by_id:
        shown = str(name)[:100]
        raise UsageError(
            f"The start viewpoint '{shown}' is not in {scene.uri}, which has"
            f" {len(scene.viewpoints)}.{viewpoint_hint(scene, shown)}"
        )
    if not isinstance(heading, (int, float)) or not math.isfinite(heading):
        raise UsageError(f"The heading is {str(heading)[:40]}: expected radians.")
    return Pose(scene.viewpoint_by_id[name].position, wrap_angle(heading), 0.0, name)


def _by_the_entrance(scene: Scene) -> str:
    """Return a viewpoint that reaches most of the home, preferably in an entryway or hall."""
    table = metre_table(scene, "3d")

    def rank(viewpoint: str) -> tuple[int, int, str]:
        region = scene.viewpoint_by_id[viewpoint].region
        types = room_types(scene.region_by_id[region].label) if region else frozenset[str]()
        wanted = ("Entryway / Foyer", "Hallway / Corridor", "Living Room")
        kind = next((i for i, name in enumerate(wanted) if name in types), len(wanted))
        reached = int((table.metres[table.index[viewpoint]] < math.inf).sum())
        return -reached, kind, viewpoint

    return min(rank(viewpoint.id) for viewpoint in scene.viewpoints)[2]


def robot_context(
    state: Mapping[str, Any], walker: AgentHandle, whole: Scene | None = None
) -> RobotContext:
    """Return the robot's state and history for its tools.

    Args:
        state: the conversation.
        walker: its body.
        whole: the home with a slim body's graph, where its own graph has fewer edges.
    """
    return RobotContext(
        scene=walker.scene,
        observation=observe_robot(state, walker),
        whole=whole,
        body=walker.embodiment,
        beside=bool(state["pose"].get("beside")),
        drives=walker.has_contacts,
        past=state.get("past", []),
        begun=state.get("begun", []),
        goal=state.get("goal"),
        trail=[pose[0] for pose in state.get("trajectory", [])],
        turns=_turns(state.get("messages", [])),
    )


def _turns(messages: Sequence[AnyMessage]) -> list[Turn]:
    """Return the person's messages so far, each with the calls it led to."""
    starts = [place for place, each in enumerate(messages) if isinstance(each, HumanMessage)]
    return [
        (
            message_text(messages[start].content),
            [
                (call["name"], call["args"], tool_answer(answer) or {})
                for call, answer in answered_calls(messages[start:end])
            ],
        )
        for start, end in zip(starts, [*starts[1:], None], strict=False)
    ]


def stopped_goal(
    going: Mapping[str, Any], calls: Sequence[ToolCall], state: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the record of a stopped walk, from which it can be resumed.

    Args:
        going: the walk.
        calls: the open calls; the first is the walk's own.
        state: the conversation.
    """
    left = [{"name": call["name"], "args": call["args"]} for call in calls[1:]]
    return {
        "place": going["place"],
        "viewpoint": going["way"][-1] if going["way"] else state["pose"]["viewpoint"],
        "face": going["face"],
        "note": going["note"],
        "left": left + going.get("more", {}).get("left", []),
    }


_MOST_SHOWN = 2_000


def list_tool_calls(messages: Sequence[AnyMessage]) -> list[dict[str, Any]]:
    """Return every tool call that a model made, in order.

    Args:
        messages: the conversation as the model reads it.

    Returns:
        Of each call ``id``, its number in the conversation; ``turn``, how often the person had
        spoken; ``name``; ``args``, an object, or text where it is too long or invalid; ``answer``:
        an object, text where it is no JSON, or None as long as there is no answer.
    """
    found: list[dict[str, Any]] = []
    turn = waiting = 0
    for message in messages:
        turn += isinstance(message, HumanMessage)
        if isinstance(message, AIMessage):
            waiting = len(found)
            calls = [*message.tool_calls, *message.invalid_tool_calls]
            for call in calls:
                told = {"turn": turn, "name": str(call.get("name") or ""), "args": _args(call)}
                found.append({"id": len(found), **told, "answer": None})
        elif isinstance(message, ToolMessage) and waiting < len(found):
            # Some servers give several calls one id: answers are counted, not matched.
            text = message_text(message.content)
            found[waiting]["answer"] = tool_answer(message) or text[:_MOST_SHOWN]
            waiting += 1
    return found


def _args(call: Any) -> dict[str, Any] | str:
    args = call.get("args")
    if not isinstance(args, dict):
        return str(args or "")[:_MOST_SHOWN]
    text = json.dumps(args, default=str, ensure_ascii=False)
    return args if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN]


_GROWN = ("trajectory", "messages", "transcript", "past", "begun")
_KEPT = ("goal", "pose", "simulator")
_POSE = ("viewpoint", "heading", "elevation")


def undo_mark(state: Mapping[str, Any], *, cuts_in: bool) -> dict[str, Any]:
    """Return the snapshot that undo restores: lengths of growing lists, values of the rest.

    Args:
        state: the conversation before the words.
        cuts_in: whether the words stopped a walk.
    """
    sizes = {name: len(state.get(name, [])) for name in _GROWN}
    return {**sizes, **{name: state.get(name) for name in _KEPT}, "cuts_in": cuts_in}


def instruction_lines(state: Mapping[str, Any]) -> list[int]:
    """Return the transcript line with which each instruction begins, in order."""
    return [int(state["marks"][first]["transcript"]) for first in _firsts(state)]


def _firsts(state: Mapping[str, Any]) -> list[int]:
    """Return the index of the undo mark with which each instruction begins."""
    marks = state.get("marks") or []
    return [
        number
        for number, mark in enumerate(marks)
        if not number or not mark.get("cuts_in") or _moved(state["messages"], marks, number)
    ]


def undo_update(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the update that undoes an instruction; usage already paid for is kept.

    It undoes the instruction that the line ``undo_to`` of the transcript belongs to, else the last
    one. Before the first instruction there is nothing to undo.
    """
    update: dict[str, Any] = {"undo": False, "undo_to": None, "halt": False}
    update |= {"said": None, "over": False}
    marks, line = state.get("marks") or [], state.get("undo_to")
    firsts = _firsts(state)
    if line is not None:
        firsts = [each for each in firsts if marks[each]["transcript"] <= line]
    if not firsts:
        return update
    first = firsts[-1]
    mark = marks[first]
    # Marks of an older version have no pose: take it from the trajectory.
    stood = state["trajectory"][mark["trajectory"] - 1]
    return {
        **update,
        # A conversation of an older version has no "begun".
        **{name: Overwrite(state.get(name, [])[: mark.get(name, 0)]) for name in _GROWN},
        **{name: mark.get(name) for name in _KEPT},
        "marks": Overwrite(marks[:first]),
        "pose": mark.get("pose") or dict(zip(_POSE, stood, strict=False)),
        "turn": state["turn"] - (len(marks) - first),
        "thought": 0,
        "walk": None,
        "question": None,
    }


def _moved(messages: Sequence[AnyMessage], marks: Sequence[Mapping[str, Any]], number: int) -> bool:
    """Check whether the words of a mark began a walk or turned the robot."""
    start = marks[number]["messages"]
    end = marks[number + 1]["messages"] if number + 1 < len(marks) else None
    return any(
        call["name"] in MOVING and {"arrived", "turned"} & set(tool_answer(answer) or ())
        for call, answer in answered_calls(messages[start:end])
    )
