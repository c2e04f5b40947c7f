"""Measure the share of written dialogues that the chat follows.

python -m tests.graphs.chat.dialogues FILE [--model provider/name] [--only ID] [--show]

The format is in :mod:`tests.graphs.chat.dialogue_file`. A dialogue is followed if all of its turns
are. For each other one, the first turn that was not followed is printed with the reason.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import re
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.graphs.chat.chat_driver import ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import open_thread
from navloom.models.model_registry import get_model
from navloom.sim.registry import get_simulator
from tests.graphs.chat.dialogue_file import Dialogue, Expect, read_dialogues
from tests.graphs.chat.dialogue_sitting import SAME, After, Sitting, View

__all__ = ["Verdict", "follow", "shares"]

_ARM, _SLACK = 1.6, 0.5
"""Distance in metres that counts as near, and the slack where no viewpoint is that near."""
_LOST = ("not understand", "didn't understand", "could not work that out")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Verdict:
    """Result of a dialogue: followed, or the first turn (from 1) that was not, and why."""

    dialogue: Dialogue
    turn: int | None = None
    why: str = ""
    script: tuple[str, ...] = ()

    @property
    def followed(self) -> bool:
        """True if all turns were followed."""
        return self.turn is None


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[-_\s]+", " ", re.sub("['’]", "", text.casefold())).split())


def _has(text: str, word: str) -> bool:
    """Check that a text contains a word; longer words match as prefixes."""
    word = _plain(word)
    end = r"(?!\w)" if len(word) < 4 or word.isdigit() else ""
    return re.search(rf"(?<!\w){re.escape(word)}{end}", _plain(text)) is not None


def _numbers(text: str) -> list[float]:
    found = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", text)]
    return found + [
        float(n) for n, word in enumerate(_WORDS) if re.search(rf"\b{word}\b", text.casefold())
    ]


def _is_near(names: Sequence[str], after: After) -> bool:
    def flat(a: Sequence[float], b: Sequence[float]) -> float:
        return math.dist((a[0], a[2]), (b[0], b[2]))

    here = after.scene.viewpoint_by_id[after.now.viewpoint].position
    places = [v.position for v in after.scene.viewpoints if v.region == after.room]
    things = [i.position for i in after.scene.items if i.name in names and i.region == after.room]
    best = [min(flat(place, thing) for place in places) for thing in things]
    return any(
        flat(here, thing) <= max(_ARM, least + _SLACK)
        for thing, least in zip(things, best, strict=True)
    )


def _in_order(wanted: Sequence[str], way: Sequence[str | None]) -> bool:
    left = iter(way)
    return all(any(room == each for room in left) for each in wanted)


def _turn_of(after: After) -> str:
    angle = math.remainder(after.now.heading - after.before.heading, math.tau)
    side = "right" if angle > 0 else "left"
    return "around" if abs(angle) > math.radians(130) else side if abs(angle) > SAME else "not"


def _told(expect: Expect) -> dict[str, Any]:
    return {name: getattr(expect, name) for name in expect.model_fields_set}


def _wrong(expect: Expect, after: After) -> str | None:
    """Return the first condition that does not hold, in a few words."""
    scene, reply, room = after.scene, after.reply, after.room
    rooms = [scene.viewpoint_by_id[each].region for each in (after.before.viewpoint, *after.way)]
    moved = any(each != after.before.viewpoint for each in (*after.way, after.now.viewpoint))
    label = scene.region_by_id[room].label if room else None
    named = {region.label for region in scene.regions if _has(reply, region.label)}
    asks = after.now.asked or "?" in reply
    kinds = len({region.label for region in scene.regions})
    most = kinds - 1 if expect.rooms_at_most is None else expect.rooms_at_most
    checks: list[tuple[bool, str]] = [
        (not expect.in_ or room in expect.in_, f"it stands in {room}"),
        (room not in expect.not_in, f"it stands in {room}"),
        (not expect.in_type or label in expect.in_type, f"it stands in {room}"),
        (_in_order(expect.visits, rooms), f"it went by {list(dict.fromkeys(rooms))}"),
        (not set(expect.avoids) & set(rooms[1:]), f"it went by {list(dict.fromkeys(rooms))}"),
        (expect.moved in (None, moved), "it moved" if moved else "it did not move"),
        (expect.turned in (None, _turn_of(after)), f"it turned {_turn_of(after)}"),
        (not expect.near or _is_near(expect.near, after), f"not near {expect.near}, in {room}"),
        (expect.asks in (None, asks), "it asks" if asks else "it does not ask"),
        *((any(_has(reply, w) for w in each), f"it does not say {each}") for each in expect.says),
        *((not _has(reply, word), f"it says {word!r}") for word in expect.says_not),
        (len(named) <= most, f"it names {len(named)} kinds of room"),
        (expect.lost or asks or not any(_has(reply, w) for w in _LOST), "it is lost"),
        (
            expect.metres is None
            or any(expect.metres[0] <= n <= expect.metres[1] for n in _numbers(reply)),
            f"no number within {expect.metres}",
        ),
        (
            expect.undone in (None, after.undone),
            "it is not as before" if expect.undone else "undone",
        ),
        (expect.ends in (None, after.ended), "it ended" if after.ended else "it goes on"),
    ]
    wrong = next((why for holds, why in checks if not holds), None)
    shared = {"lost": expect.lost, "rooms_at_most": most}
    others = [
        _wrong(each.model_copy(update={**shared, **_told(each)}), after) for each in expect.any_of
    ]
    if wrong is None and others and all(others):
        return "none of: " + "; ".join(str(each) for each in others)
    return wrong


async def follow(dialogue: Dialogue, model: str = "builtin/heuristic") -> Verdict:
    """Run a dialogue as the command line does, until a turn is not followed."""
    context = Context(model=get_model(model), simulator=get_simulator("graph", dialogue.home))
    view = View()
    # /save writes to a temporary folder.
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        async with open_thread(None) as saver:
            talk = ChatDriver(context, saver, view)
            await talk.open(**({"start": dialogue.start} if dialogue.start else {}))
            verdict = await _followed(dialogue, Sitting(talk, view))
            await talk.close()
    return verdict


async def _followed(dialogue: Dialogue, sitting: Sitting) -> Verdict:
    script: list[str] = []
    for number, (turn, later) in enumerate(
        zip(dialogue.turns, (*dialogue.turns[1:], None), strict=True), 1
    ):
        if turn.cuts_in_after_hops:
            continue  # It was taken with the turn before.
        cut = later if later is not None and later.cuts_in_after_hops else None
        came, fault = await sitting.take(turn, cut)
        stopped = turn.interrupt_after_hops
        script.append(f"> {turn.say}" + (f" (stopped after {stopped} hops)" if stopped else ""))
        script += [f"> (while it walks) {cut.say}"] if cut else []
        script.append(f"  [{came.room}] {came.reply}")
        at = number + bool(cut)
        why = fault or _wrong(cut or turn, came)
        if why is None and came.ended and at < len(dialogue.turns):
            why = "it ended before the last turn"
        if why is not None:
            return Verdict(dialogue, at, why, tuple(script))
    return Verdict(dialogue, script=tuple(script))


def shares(verdicts: Sequence[Verdict]) -> dict[str, tuple[int, int]]:
    """Return, by kind and in ``total``, the number of followed dialogues and of all."""
    every: dict[str, tuple[int, int]] = {}
    for each in verdicts:
        for name in (each.dialogue.kind, "total"):
            followed, of = every.pop(name, (0, 0)) if name == "total" else every.get(name, (0, 0))
            every[name] = (followed + each.followed, of + 1)
    return every


def main() -> None:
    """Print each dialogue and the shares."""
    parser = argparse.ArgumentParser(description="The share of written dialogues that is followed.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="builtin/heuristic")
    parser.add_argument("--only", help="of a dialogue: its id, or how it begins")
    parser.add_argument("--show", action="store_true", help="what was said, too")
    given = parser.parse_args()
    verdicts = []
    for dialogue in read_dialogues(given.file):
        if given.only and not dialogue.id.startswith(given.only):
            continue
        verdict = asyncio.run(follow(dialogue, given.model))
        verdicts.append(verdict)
        print(f"{'followed' if verdict.followed else 'NOT':8}  {dialogue.id} ({dialogue.home})")
        if given.show:
            print("\n".join(f"    {line}" for each in verdict.script for line in each.splitlines()))
        if verdict.turn is not None:
            said = dialogue.turns[verdict.turn - 1].say
            print(f"          turn {verdict.turn}, {said!r}: {verdict.why}")
    print()
    for name, (followed, of) in shares(verdicts).items():
        print(f"{name:12} {followed:3} of {of:3}  {followed / of:.2f}")


if __name__ == "__main__":
    main()
