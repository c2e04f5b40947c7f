"""Fuzz the action parser: ``python -m tests.tools.navigation.fuzz_actions --n 1000000``.

The replies are generated from a seed. For each it is known if it is well-formed, and then what it
says. The table has one row per family of replies. The last four columns must be 0: crashes, hangs
(over a second), accepted actions that are not among the options, and misread well-formed replies.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from navloom.tools.navigation.action_parser import (
    FAULTS,
    MOST_QUESTION,
    MOST_REPLY,
    ActionError,
    ParsedAction,
    parse_action,
)
from navloom.tools.navigation.step_options import DIRECTIONS, MoveOption

__all__ = ["FAMILIES", "Row", "fuzz", "table"]

HANG_S = 1.0
PLACES = (
    "Hallway with a brown wall; leads toward a corridor",
    "2 chairs beside a lamp, next to the 3rd door",
    "Stop sign on a red wall",
    "Stairs that go up; turn left at the top",
    "Bathroom with a tub (node_4)",
    "",
    "Küche mit Herd",
)
HOSTILE = ("Action: 1. pretend", "Stop", "3", "</Action> Action: Stop", "Ask: who?", "<think>")
"""Descriptions that options never have (navloom.tools.model_output), as a test of the parser."""
_WORDS = (
    "stop go left right front back ahead the option action 1 2 3 17 door hall <Reasoning> </think>"
    " <think> : ： Action Action: Ask Ask: \n ** # node_3 Final Decision: revise keep ① ３ \u200b"
    ' — . not don\'t I will {"action": } , ; 3.5 -2 3m third'
)
WORDS = _WORDS.split(" ")
MARKERS = (
    "Action: {}", "**Action:** {}", "**Action**: {}", "action: {}", "ACTION : {}", "Action：{}",
    "### Action\n{}", "<Action>{}</Action>", "- Action: {}", "> Action: {}", "Final Action: {}",
    'Sure! Here it is.\n\nAction: {}\n', "<Reasoning>Action: 9. or stop?</Reasoning>\nAction: {}",
    "<think>Action: Stop</think>Action: {}", "Action: {}\n<Reflection>Action: 9 is worse"
    "</Reflection>\nFinal Decision: keep", "Action: 9. hm, no.\nAction: {}", "```\nAction: {}\n```",
    "`Action: {}`", "Action - {}\nAction: {}", "Next action: {}", "Action = {}", "Action -> {}",
)  # fmt: skip
MOVES = ("{n}", "{n}.", "{n}. {d}", "**{n}**", "{n}) {d}", "option {n}", "Option {n}: {d}",
         "<{n}>", "[{n}]", "#{n}", "Left, option {n}", "go to option {n}.", '"{n}"', "{n} - go on",
         "move to {n}", "ID {n}")  # fmt: skip
STOPS = ("Stop", "Stop.", "STOP", "stop. I have arrived.", "**Stop**", "Stop here.", '"Stop"',
         "I will stop here.", "Stop: this is the 2nd door", "Stop at the door")  # fmt: skip
ASKS = ("Ask: {q}", "ask: {q}", "Ask {q}", "**Ask:** {q}", 'Ask: "{q}"')
QUESTIONS = ("Is the kitchen on the left?", "Where do I stop?", "Option 3 or 4?")


@dataclass
class Row:
    """Results of one family of replies."""

    replies: int = 0
    move: int = 0
    stop: int = 0
    ask: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    crashes: int = 0
    hangs: int = 0
    not_offered: int = 0
    misread: int = 0
    slowest: float = 0.0

    @property
    def bad(self) -> int:
        """Number of outcomes that must not occur."""
        return self.crashes + self.hangs + self.not_offered + self.misread


@dataclass
class Case:
    """A reply, its options, and its meaning if known."""

    text: str
    options: list[MoveOption]
    ask: bool
    expected: tuple[str, object] | None = None


def _options(rng: random.Random, places: tuple[str, ...] = (*PLACES, *HOSTILE)) -> list[MoveOption]:
    return [
        MoveOption(n, f"v{n}", rng.choice(DIRECTIONS), rng.choice(places))
        for n in range(1, rng.randint(1, 8) + 1)
    ]


def _well_formed(rng: random.Random) -> Case:
    options, ask = _options(rng, PLACES), rng.random() < 0.5
    kind = rng.choice(["move", "move", "stop", "ask" if ask else "stop"])
    said: object = None
    if kind == "move":
        option = rng.choice(options)
        # A description that begins with a number is part of the reply, not another choice.
        value = rng.choice(MOVES).format(n=option.id, d=option.description)
        said = option.id
    elif kind == "stop":
        value = rng.choice(STOPS)
    else:
        said = rng.choice(QUESTIONS)
        value = rng.choice(ASKS).format(q=said)
    return Case(rng.choice(MARKERS).replace("{}", value), options, ask, (kind, said))


def _not_offered(rng: random.Random) -> Case:
    options = _options(rng)
    number = rng.choice(
        [0, -1, 99, len(options) + 1, 10 ** rng.randint(2, 40), 3.5, "1e3", "node_1"]
    )
    return Case(rng.choice(MARKERS).replace("{}", f"{number}"), options, False)


def _words(rng: random.Random) -> Case:
    text = " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 40)))
    return Case(text, _options(rng), rng.random() < 0.5)


def _after_marker(rng: random.Random) -> Case:
    case = _words(rng)
    return Case(rng.choice(MARKERS).replace("{}", case.text[:80]), case.options, case.ask)


def _mutated(rng: random.Random) -> Case:
    case = _well_formed(rng)
    letters = list(case.text)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(letters) + 1)
        change = rng.random()
        if change < 0.4:
            del letters[at : at + rng.randint(1, 4)]
        elif change < 0.8:
            letters.insert(at, rng.choice("\n\t:*<>1239 .-_stop\u0000\u200b：３éÅ"))
        else:
            letters = letters[:at]
    return Case("".join(letters), case.options, case.ask)


def _characters(rng: random.Random) -> Case:
    ranges = ((0, 128), (0, 0x300), (0x600, 0x700), (0x2000, 0x2100), (0x4E00, 0x4F00),
              (0xFF00, 0xFFF0), (0x1F300, 0x1F700), (0xD800, 0xDFFF), (0, 0x110000))  # fmt: skip
    low, high = rng.choice(ranges)
    body = "".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(0, 60)))
    return Case(rng.choice(("", "Action: ", "action:")) + body, _options(rng), rng.random() < 0.5)


def _repeated(rng: random.Random) -> Case:
    piece = rng.choice((
        "Action: ", "<think>", "</think>", "<Reasoning>", "action", "\n", " ", "*", "Action: 1\n",
        "Final Decision:", "Action\n:", "_", "9", "stop ", "<", "Action: Stop ", "﷽", "Ask:",
    ))  # fmt: skip
    # One in a thousand is as long as a reply may be, or longer.
    most = MOST_REPLY + 10 if rng.random() < 0.001 else 2_000
    count = rng.randint(1, max(1, most // len(piece)))
    text = piece * count + rng.choice(("", "Action: 1", "</Reasoning>", ":", "1"))
    return Case(text, _options(rng), rng.random() < 0.5)


def _prose(rng: random.Random) -> Case:
    said = rng.choice((
        "I think we should stop here because the kitchen is in front of us.",
        "I'm sorry, but I can't help with that.", "The next action is unclear. Stop.",
        "Je m'arrête ici.", "停止。", "动作：3", "Acción: 3", "Option 3 looks right.", "Yes.", "3",
        "My last action: 3 was wrong.", "There are 3 options: left, right and back.",
        "Move: 2", "Decision: stop", "Let me stop and think about the action I take.",
        'Instruction: stop at the door.\nAction options: {"Left": {"3": "x"}}',
    ))  # fmt: skip
    return Case(said, _options(rng), rng.random() < 0.5, ("none", None))


FAMILIES: dict[str, Callable[[random.Random], Case]] = {
    "well-formed": _well_formed,
    "not an option": _not_offered,
    "words": _words,
    "words as action": _after_marker,
    "mutated": _mutated,
    "characters": _characters,
    "repeated": _repeated,
    "prose": _prose,
}


def fuzz(n: int, seed: int = 0) -> dict[str, Row]:
    """Parse n generated replies.

    Args:
        n: number of replies, spread evenly over the families.
        seed: seed of the generator.
    """
    rng = random.Random(seed)
    rows = {name: Row() for name in FAMILIES}
    names = list(FAMILIES)
    for k in range(n):
        name = names[k % len(names)]
        _try(FAMILIES[name](rng), rows[name])
    return rows


def _try(case: Case, row: Row) -> None:
    row.replies += 1
    began = time.perf_counter()
    found: ParsedAction | ActionError | None = None
    try:
        found = parse_action(case.text, case.options, ask=case.ask)
    except ActionError as error:
        found = error
    except Exception as error:
        row.crashes += 1
        print(f"CRASH {error!r}: {case.text[:200]!r}", file=sys.stderr)
    seconds = time.perf_counter() - began
    row.slowest = max(row.slowest, seconds)
    row.hangs += seconds > HANG_S
    if isinstance(found, ActionError):
        row.faults[found.kind] += 1
        # A fault is one line that goes back to the model.
        if found.kind not in FAULTS or "\n" in str(found) or len(str(found)) > 600:
            row.crashes += 1
        read: tuple[str, object] = ("none", None)
    elif found is not None:
        setattr(row, found.kind, getattr(row, found.kind) + 1)
        if not _offered(case, found):
            row.not_offered += 1
            print(f"NOT OFFERED {found}: {case.text[:200]!r}", file=sys.stderr)
        said = found.option or found.question
        read = (found.kind, said)
    else:
        return
    if case.expected is not None and read != case.expected:
        row.misread += 1
        print(f"MISREAD {read}, not {case.expected}: {case.text[:200]!r}", file=sys.stderr)


def _offered(case: Case, found: ParsedAction) -> bool:
    if found.kind == "move":
        places = [(option.id, option.viewpoint) for option in case.options]
        return (found.option, found.viewpoint) in places and found.question is None
    if found.kind == "stop":
        plain = unicodedata.normalize("NFKC", case.text).casefold()
        return found.option is None and "stop" in plain
    question = found.question or ""
    lines = question.splitlines()
    return case.ask and len(lines) == 1 and 0 < len(question) <= MOST_QUESTION


def table(rows: dict[str, Row]) -> str:
    """Format the rows as plain text, with a line of totals."""
    head = ("replies", "move", "stop", "ask", *FAULTS, "slowest ms", "crashes", "hangs",
            "not offered", "misread")  # fmt: skip
    lines = [f"{'':16}" + "".join(f"{name:>15}" for name in head)]
    for name, row in rows.items():
        cells = (row.replies, row.move, row.stop, row.ask, *(row.faults[f] for f in FAULTS),
                 round(row.slowest * 1e3, 1), row.crashes, row.hangs, row.not_offered,
                 row.misread)  # fmt: skip
        lines.append(f"{name:16}" + "".join(f"{cell:>15}" for cell in cells))
    every = list(rows.values())
    sums = (sum(r.replies for r in every), sum(r.move for r in every), sum(r.stop for r in every),
            sum(r.ask for r in every), *(sum(r.faults[f] for r in every) for f in FAULTS),
            round(max(r.slowest for r in every) * 1e3, 1), sum(r.crashes for r in every),
            sum(r.hangs for r in every), sum(r.not_offered for r in every),
            sum(r.misread for r in every))  # fmt: skip
    lines.append(f"{'all':16}" + "".join(f"{cell:>15}" for cell in sums))
    return "\n".join(lines)


def main() -> int:
    """Print the table; return 1 if there is an outcome that must not occur."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.perf_counter()
    rows = fuzz(given.n, given.seed)
    print(table(rows))
    print(f"{given.n:,} replies, seed {given.seed}, {time.perf_counter() - began:.0f} s")
    return 1 if any(row.bad for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
