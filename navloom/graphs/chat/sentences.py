"""What the rule-based robot says: one sentence or two about what its tools returned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from navloom.graphs.chat.asked import Intent
from navloom.graphs.chat.recalled import recalled
from navloom.graphs.chat.wordings import wordings
from navloom.models.builtin import ToolResult
from navloom.scenes.lexicon import known_words
from navloom.sim.words import enumerated, with_article
from navloom.tools.chat.english import is_english
from navloom.tools.chat.wishes import words_of

NOTHING = "nothing of note"
_SIDE_WORDS = {
    "left": "On my left", "right": "On my right", "ahead": "Ahead", "behind": "Behind me",
}  # fmt: skip
_MOST_NAMED = 12
_BUMP_CM = 10
"""Centimetres from which a brush is a bump."""
_IT = ("it", "that", "them", "there")


def failed(result: ToolResult) -> str | None:
    """Why a call failed, where it did."""
    if isinstance(result.result, Mapping):
        error = result.result.get("error")
        return str(error) if error else None
    return str(result.result)


def asks_which(result: ToolResult) -> bool:
    """Whether a call left it open which place is meant."""
    return isinstance(result.result, Mapping) and bool(result.result.get("which"))


def report(done: Sequence[ToolResult], intents: Sequence[Intent]) -> str:
    """What came of some calls.

    Args:
        done: the calls and their answers.
        intents: what was asked for.
    """
    if intents and intents[0].words in ("closer", "farther"):
        return _compared(done, intents[0].words)
    said: list[str] = []
    told = [r for r in done if not _is_silent(r)]
    walks = [r for r in told if _arrives(r)]
    told = [r for r in told if r.name != "stop" or not walks or r is done[-1]]
    for result in told:
        why = failed(result)
        like = [i for i in intents if i.tool == result.name]
        intent = next((i for i in like if i.args == result.args), (like or [Intent(None)])[0])
        if why is not None and intent.words == "guess" and not _told_of(result):
            said.append(wordings().answers["talk"] if len(told) == 1 else "")
        elif why is not None:
            said.append(f"{why} Where to, then?" if why.startswith("There is only one") else why)
        elif result in walks[:-1]:
            # Of several walks in a row the last says where it is.
            if result is walks[-2]:
                said.append(_passed(walks[:-1]))
        else:
            said.append(_sentence(result, intent))
    return " ".join(dict.fromkeys(each for each in said if each)) or "Done."


def _told_of(result: ToolResult) -> bool:
    """Whether words that may name a place do: something is like it, or they are no plain talk."""
    said = words_of(str(result.args.get("place", "")))
    named = set(said) & known_words() or not all(is_english(word) for word in said)
    return bool(named or result.result.get("alike"))


def _is_silent(result: ToolResult) -> bool:
    not_done = "Not done" in (failed(result) or "")
    return result.name == "ask_person" or asks_which(result) or not_done


def _arrives(result: ToolResult) -> bool:
    return isinstance(result.result, Mapping) and bool(result.result.get("arrived"))


def _passed(walks: Sequence[ToolResult]) -> str:
    places = dict.fromkeys(str(walk.result.get("place")) for walk in walks)
    return f"I have been to the {enumerated([*places])}."


def _sentence(result: ToolResult, intent: Intent) -> str:
    told: Mapping[str, Any] = result.result
    match result.name:
        case "look":
            return _seen(told, intent.words)
        case "where":
            return _where(told, intent.words)
        case "find":
            return _found(told, intent)
        case "rooms":
            return _rooms(told, intent.words)
        case "describe":
            return _described(told, intent.words)
        case "recall":
            return recalled(told, intent.words)
        case "turn":
            towards, side = result.args.get("towards"), result.args.get("direction")
            if towards:
                thing = re.sub("^the ", "", str(towards))
                what = "it" if thing in _IT else f"the {thing}"
                return f"I look at {what} now.{_touched(told)}"
            return f"I turned {side}.{_touched(told)}" if side else f"I turned.{_touched(told)}"
        case "stop":
            return f"I stay here, in the {told.get('room')}."
    return _arrived(told, result.name, intent)


def _arrived(told: Mapping[str, Any], tool: str, intent: Intent) -> str:
    place, room = str(told.get("place", "")), str(told.get("room", ""))
    if told.get("already_there"):
        return f"I am already in the {room}."
    note = f" ({told['note']})" if told.get("note") else ""
    if place.startswith("a place "):
        on = "back" if told.get("backwards") else "on"
        return f"I went {told.get('metres')} m {on}; I am in the {room}.{_touched(told)}"
    named = tool in ("go_to", "go_on") and place not in (room, "")
    at = f"at the {place} in the {room}" if named else f"in the {room}"
    carry = " I cannot carry it, though." if intent.words == "fetch" else ""
    return f"I am {at} now{note}.{carry}{_touched(told)}"


def _touched(told: Mapping[str, Any]) -> str:
    """What the body touched on its way, in a sentence."""
    by = f" The way was barred by {told['stopped_by']}." if told.get("stopped_by") else ""
    touched = told.get("touched") or []
    brushed = [str(e["what"]) for e in touched if e["centimetres"] < _BUMP_CM]
    bumped = [str(e["what"]) for e in touched if e["centimetres"] >= _BUMP_CM]
    if by and not brushed and len(bumped) < 2:
        return by
    said = [f"bumped into {enumerated(bumped)}"] if bumped else []
    said += [f"brushed {enumerated(brushed)}"] if brushed else []
    return f" I {' and '.join(said)}.{by}" if said else by


def _seen(told: Mapping[str, Any], side: str) -> str:
    sides = told.get("sides") or {}
    if side:
        return f"{_SIDE_WORDS[side]}: {sides.get(side, NOTHING)}."
    parts = [f"{_SIDE_WORDS[s]}: {text}." for s, text in sides.items() if "nothing" not in text]
    return " ".join([str(told.get("summary", "")), *parts]).strip()


def _where(told: Mapping[str, Any], asked: str) -> str:
    floors = int(told.get("floors", 1))
    if asked == "floors":
        count = "one floor" if floors == 1 else f"{floors} floors"
        return f"This home has {count}; I am on floor {told.get('floor')}."
    if asked == "floor":
        return f"I am on floor {told.get('floor')} of {floors}, in the {told.get('room')}."
    floor = f", on floor {told.get('floor')}" if floors > 1 else ""
    beside = [f"the {room} ({side})" for room, side in (told.get("next_to") or {}).items()]
    on = f" From here one gets to {', '.join(beside)}." if beside else ""
    return f"I am in the {told.get('room')}{floor}.{on}"


def _found(told: Mapping[str, Any], intent: Intent) -> str:
    found = told.get("found") or []
    if not found:
        return str(told.get("error", "I know of none."))
    first, asked = found[0], intent.words
    if asked == "is":
        where = "" if first.get("kind") == "room" else f" {_in(first)}"
        return f"Yes, that is so of the {first['name']}{where}."
    if asked == "rooms":
        return f"There is {with_article(str(first['name']))} in the {enumerated(told['rooms'])}."
    if asked in ("count", "only", "more") or (asked == "all" and int(told.get("count", 1)) > 1):
        return _counted(told, asked)
    if asked == "cannot":
        return f"{wordings().answers['can_not'].partition('.')[0]}. {_found(told, Intent('find'))}"
    if first.get("metres") is None:
        return f"There is {with_article(str(first['name']))} {_in(first)}, but no way leads there."
    name, metres = str(first["name"]), float(first["metres"])
    if asked == "floor" and first.get("floor") is not None:
        return f"The {name} is on floor {first['floor']}."
    if asked == "far":
        near = "close" if metres <= 5 else "not far" if metres <= 12 else "far"
        return f"The {name} is {metres:.0f} m from here; that is {near}."
    if first.get("kind") == "room":
        if first.get("here"):
            return f"Yes, this is the {name}."
        passed = first.get("through") if asked == "way" else None
        through = f" through the {enumerated(passed)}" if passed else ""
        more = f" I know of {told['count']} in all." if _is_asked_for(told, intent) else ""
        return (
            f"The {name} is {metres:.0f} m from here{through}; the way begins {_at(first)}.{more}"
        )
    more = f" I know of {told.get('count')} in all." if told.get("count", 1) > 1 else ""
    way = f"; the way begins {_at(first)}" if asked == "way" else ""
    head = "Yes, there is" if first.get("here") or first.get("near") else "The nearest is"
    return f"{head} {with_article(name)} {_in(first)}, {metres:.0f} m from here{way}.{more}"


def _is_asked_for(told: Mapping[str, Any], intent: Intent) -> bool:
    nearest = re.search(r"est\b", str(intent.args.get("thing", "")))
    return told.get("count", 1) > 1 and not nearest


def _in(found: Mapping[str, Any]) -> str:
    if found.get("kind") == "room":
        return f"(the {found.get('name')})"
    if found.get("here"):
        return f"here in the {found.get('room')}, {_at(found)}"
    return f"in the {found.get('room')}"


def _counted(told: Mapping[str, Any], asked: str) -> str:
    found, count = told["found"], int(told.get("count", 1))
    name = str(found[0]["name"])
    rooms = found[0].get("kind") == "room"
    if count == 1:
        where = "" if rooms else f" {_in(found[0])}"
        if asked == "only":
            return f"Yes, it is the only {name} that I know of{where}."
        head = "No, there" if asked == "more" else "There"
        return f"{head} is only one {name} that I know of{where}."
    more = ", ..." if count > len(found) else ""
    if rooms:
        listed = enumerated(
            [f"{each['metres']:.0f} m away" for each in found if each["metres"] is not None]
        )
    else:
        listed, more = f"in the {enumerated(told['rooms'])}", ""
    head = {"only": "No: there are", "more": "Yes: there are"}.get(asked, "There are")
    return f"{head} {count} of them ({name}): {listed}{more}."


def _compared(done: Sequence[ToolResult], asked: str) -> str:
    """Which of what was found is closer, or farther away."""
    told = [r.result for r in done if r.name == "find" and isinstance(r.result, Mapping)]
    found = [each["found"][0] for each in told if each.get("found")]
    missing = [str(each["error"]) for each in told if each.get("error")]
    reached = sorted(
        (each for each in found if each.get("metres") is not None), key=lambda each: each["metres"]
    )
    if missing or not reached:
        return " ".join(missing) or "No way leads to either."
    first = reached[-1] if asked == "farther" else reached[0]
    listed = enumerated([f"{e['metres']:.0f} m to the {e['name']}" for e in reached])
    return f"The {first['name']} is {asked}: it is {listed}."


def _rooms(told: Mapping[str, Any], asked: str) -> str:
    rooms = told.get("rooms") or []
    floor = _floor_asked(rooms, asked)
    if floor is not None:
        rooms = [each for each in rooms if each["floor"] == floor]
    names: dict[str, int] = {}
    for each in rooms:
        names[each["name"]] = names.get(each["name"], 0) + 1
    listed = enumerated([name if n == 1 else f"{n} {name}s" for name, n in names.items()])
    where = f" on floor {floor}" if floor is not None else ""
    return f"There are {len(rooms)} rooms{where}: {listed}."


def _floor_asked(rooms: Sequence[Mapping[str, Any]], asked: str) -> int | None:
    """The floor that "upstairs" or "the second floor" means from where the robot is."""
    if not asked or asked == "count" or not rooms:
        return None
    floors = sorted({each["floor"] for each in rooms})
    here = next((each["floor"] for each in rooms if each.get("here")), floors[0])
    numbers = {"first": 1, "ground": floors[0], "second": 2, "third": 3, "top": floors[-1]}
    if asked.split()[0] in ("this", "the", "your", "my", "our"):
        return int(here)
    for word in asked.split():
        if word.isdigit() or word in numbers:
            return int(word) if word.isdigit() else numbers[word]
    lower = asked.startswith(("down", "lower"))
    # Who asks on the ground floor what is downstairs means the ground floor.
    beyond = [floor for floor in floors if (floor < here if lower else floor > here)] or [here]
    return int(beyond[-1] if lower else beyond[0])


def _described(told: Mapping[str, Any], asked: str) -> str:
    if asked in ("largest", "smallest"):
        size = f", with {told['square_metres']} square metres" if "square_metres" in told else ""
        return f"The {asked} room is the {told.get('room')}{size}."
    if asked == "size":
        metres, room = told.get("square_metres"), told.get("room")
        unknown = f"How large the {room} is I do not know."
        return f"The {room} has {metres} square metres." if metres else unknown
    if "thing" in told:
        return _thing(told, asked)
    where = "Here" if told.get("here") else f"In the {told.get('room')}"
    beside = told.get("next_to") or []
    if asked == "beside":
        names = enumerated([*dict.fromkeys(beside)])
        return (
            f"Next to the {told.get('room')}: the {names}." if beside else "Nothing that I know of."
        )
    things = told.get("things") or []
    more = ", and more" if len(things) > _MOST_NAMED else ""
    here = f"{where} in the {told.get('room')}" if told.get("here") else where
    return f"{here} I know of: {', '.join(things[:_MOST_NAMED]) or 'nothing'}{more}."


def _thing(told: Mapping[str, Any], asked: str) -> str:
    head = f"The {told['thing']} is in the {told.get('room')}"
    on = f", on the {told['stands_on']}" if told.get("stands_on") else ""
    held = told.get("on_it") or []
    near = told.get("near") or []
    if asked != "beside" and held:
        return f"{head}{on}. On it: {', '.join(held[:_MOST_NAMED])}."
    beside = f" Near it: {', '.join(near[:6])}." if near else ""
    return f"{head}{on}.{beside}"


def _at(found: Mapping[str, Any]) -> str:
    side = str(found.get("side") or found.get("way") or "ahead")
    return {"left": "on my left", "right": "on my right", "behind": "behind me"}.get(side, "ahead")
