"""Baselines of the judges, which read the prompts alone.

The symbolic reasoning judge matches the claims of an explanation
(:mod:`navloom.judges.barrier_claims`) to the barriers that the prompt lists. If it cannot read a
claim, it answers in prose, which is no verdict, and the item is unscored. It is a lower baseline
for language models; docs/judges.md gives its accuracy.

The rubric judge knows the three criteria of the rubric ``trace`` and leaves others unscored. It
checks whether the objects that the reasoning claims to see occur in the options, whether the
reasoning contradicts the history, and whether the option it names is the one that was taken.

The preference judge takes the task that is more plausible by ``belongs.yaml``
(:mod:`navloom.tools.navcraft.relay_task`), and the first of equally plausible tasks.

For the failure cause there is only a random baseline. The rules for it read the scene and not the
prompt, and a run applies them itself (:mod:`navloom.evals.judging.labelling`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from navloom.judges.barrier_claims import read_claims
from navloom.judges.preference_items import match_room_types, parse_request
from navloom.judges.traversability import barrier_causes
from navloom.models.builtin import PolicyRequest
from navloom.tools.navcraft.relay_task import grade_plausibility

_SECTION = re.compile(
    r"^Agent: (?P<agent>[^\n]*)\n.*?^Barriers:\n(?P<barriers>.*?)\n"
    r"Open or unknown passages:\n(?P<others>.*?)\n\s*\n?"
    r"Explanation to grade[^\n]*\n(?P<said>.*)\n\nIs the explanation correct\?",
    re.DOTALL | re.MULTILINE,
)
_LINE = re.compile(r"^(?:(\d{1,4})\.|-) (.{1,400}?) -> (.{1,400}?): (.*)$")
_END = re.compile(r"^(\S{1,80}) \((.{1,200})\)$")
_MOST_SAID = 80


@dataclass(frozen=True)
class _Passage:
    number: int
    a: frozenset[str]
    b: frozenset[str]
    causes: frozenset[str]

    def is_at(self, places: frozenset[str]) -> bool:
        """Check whether names cover both ends of the passage, or only name one end."""
        ends = [end for end in (self.a, self.b) if end & places]
        return len(ends) == 2 or (len(ends) == 1 and places <= ends[0])


def heuristic_reasoning(request: PolicyRequest) -> AIMessage:
    """Match claims to barriers. Without a right claim, an unreadable one leaves no verdict.

    A claim is right if it has a cause of a barrier and names that barrier's place or no place. A
    claim that names an open passage is wrong.
    """
    barriers, others, said, agent = _read(request)
    passages = [*barriers, *others]
    ends = list(dict.fromkeys(end for p in passages for end in (p.a, p.b)))
    claims = [each for each in read_claims(said, ends, agent) if not each.hollow]
    named: set[int] = set()
    claimed, unread = [], []
    for claim in claims:
        placed = any(p.is_at(claim.places) for p in passages)
        there = [p for p in barriers if not placed or p.is_at(claim.places)]
        ok = {p.number for p in there if p.causes & claim.causes}
        if claim.others or not there or (claim.causes and not ok and any(p.causes for p in there)):
            claimed.append(claim.text[:_MOST_SAID])
        elif ok:
            named |= ok
        elif placed or len(claims) == 1:
            unread.append(claim.text)
    if unread and not named:
        return AIMessage(f"I cannot read this explanation: {'; '.join(unread)}")
    if not named and not claimed:
        return _answer(request, "It names neither a place nor a cause.", [], [])
    words = f"It names {len(named)} of {len(barriers)} barriers"
    return _answer(request, f"{words}, and {len(claimed)} that are none.", sorted(named), claimed)


def random_reasoning(request: PolicyRequest) -> AIMessage:
    """Return a random verdict, as a baseline that reads no explanation."""
    rng = random.Random(f"{request.seed}:{request.first_human}")
    numbers = [p.number for p in _read(request)[0]]
    named = sorted(rng.sample(numbers, rng.randint(1, len(numbers)))) if numbers else []
    return _answer(request, "A coin was tossed.", named if rng.random() < 0.5 else [], [])


def _answer(
    request: PolicyRequest, why: str, named: Sequence[int], claimed: Sequence[str]
) -> AIMessage:
    verdict: dict[str, Any] = {"explanation": why, "named": list(named), "false": list(claimed)[:3]}
    return request.answer({**verdict, "correct": bool(named)})


def _read(request: PolicyRequest) -> tuple[list[_Passage], list[_Passage], str, str]:
    found = _SECTION.search(request.first_human)
    if found is None:
        return [], [], "", ""
    barriers = [p for line in found["barriers"].splitlines() if (p := _passage(line))]
    others = [p for line in found["others"].splitlines() if (p := _passage(line))]
    return barriers, others, _unfenced(found["said"]), found["agent"]


def _unfenced(said: str) -> str:
    lines = said.strip().splitlines()
    is_fenced = len(lines) >= 3 and lines[0].startswith("<<<") and lines[-1].endswith(">>>")
    return "\n".join(lines[1:-1] if is_fenced else lines)


def _passage(line: str) -> _Passage | None:
    found = _LINE.match(line.strip())
    if found is None:
        return None
    number, a, b, note = found.groups()
    return _Passage(int(number or 0), _names(a), _names(b), barrier_causes(note))


def _names(end: str) -> frozenset[str]:
    """Return the names of a passage end: its id and its name."""
    found = _END.match(end)
    return frozenset(found.groups() if found else (end,))


_PROMPT = re.compile(
    r"^Criteria:\n(?P<criteria>.*?)\nInstruction: (?P<instruction>[^\n]*)\n"
    r"History:\n(?P<history>.*?)\nOptions:\n(?P<options>.*?)\nAction: (?P<action>[^\n]*)\n"
    r"\s*Reasoning to grade[^\n]*\n(?P<said>.*)\n\nWhat are the grades\?",
    re.DOTALL | re.MULTILINE,
)
_CRITERION = re.compile(r"^- ([a-z][a-z0-9_]{0,39}):", re.MULTILINE)
_OPTION = re.compile(r"\boption (\d{1,3})\b", re.IGNORECASE)
_SEES = re.compile(
    r"(?:\bI see (?:a|an|the)|\bthere is (?:a|an)|speaks of) ([^.;]{1,80})", re.IGNORECASE
)
_FIRST = re.compile(r"\bfirst step\b|\bnot moved yet\b", re.IGNORECASE)
_EARLIER = re.compile(r"\bin step (\d{1,4}) I chose option (\d{1,3})\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{3,}")
_PLAIN = frozenset(("the", "and", "ahead", "left", "right", "front", "back", "behind", "for"))


def heuristic_rubric(request: PolicyRequest) -> AIMessage:
    """Return grades of the criteria of the rubric ``trace``, and leave out other criteria."""
    parts = _parts(request)
    known = {"grounded": _grounded, "history": _history, "action_follows": _follows}
    wanted = _CRITERION.findall(parts["criteria"])
    return request.answer({name: known[name](parts) for name in wanted if name in known})


def random_rubric(request: PolicyRequest) -> AIMessage:
    """Return a random grade for each criterion."""
    rng = random.Random(f"{request.seed}:{request.first_human}")
    wanted = _CRITERION.findall(_parts(request)["criteria"])
    return request.answer({n: _graded(rng.choice(("yes", "no", "na")), "drawn") for n in wanted})


def random_failure(request: PolicyRequest) -> AIMessage:
    """Choose a random cause."""
    rng = random.Random(f"{request.seed}:{request.first_human}")
    cause = rng.choice(_CRITERION.findall(request.first_human))
    return request.answer({"why": "drawn", "cause": cause, "second": "none", "sure": False})


_TASKS = re.compile(r"^First task: (.*)\nSecond task: (.*)$", re.MULTILINE)


def heuristic_preference(request: PolicyRequest) -> AIMessage:
    """Choose the more plausible of two errands. Other tasks have plausibility 0."""
    found = _TASKS.search(request.first_human)
    first, second = map(_plausible, found.groups() if found else ("", ""))
    why = f"By what belongs where: first {first:.2f}, second {second:.2f}."
    return request.answer({"why": why, "choice": "second" if second > first else "first"})


def _plausible(said: str) -> float:
    if not (asked := parse_request(said)):
        return 0.0
    kinds = match_room_types(asked["room"]) or [asked["room"]]
    return max(grade_plausibility(asked["thing"], asked["asset"], kind).score for kind in kinds)


def random_preference(request: PolicyRequest) -> AIMessage:
    """Return the choice of one of two tasks at random."""
    rng = random.Random(f"{request.seed}:{request.first_human}")
    return request.answer({"why": "drawn", "choice": rng.choice(("first", "second"))})


def _parts(request: PolicyRequest) -> dict[str, str]:
    found = _PROMPT.search(request.first_human)
    names = ("criteria", "instruction", "history", "options", "action", "said")
    parts = found.groupdict() if found else dict.fromkeys(names, "")
    return {**parts, "said": " ".join(_unfenced(parts["said"]).splitlines())}


def _graded(grade: str, evidence: str) -> dict[str, Any]:
    return {"evidence": evidence[:160], "grade": grade}


def _grounded(parts: dict[str, str]) -> dict[str, Any]:
    there = set(_WORD.findall(f"{parts['options']} {parts['instruction']}".casefold()))
    words = _WORD.findall(" ".join(_SEES.findall(parts["said"])).casefold())
    seen = [word for word in words if word not in _PLAIN]
    absent = [word for word in seen if not {word, word.removesuffix("s"), f"{word}s"} & there]
    if absent:
        return _graded("no", f"not in the options: {', '.join(absent[:3])}")
    if seen:
        return _graded("yes", f"in the options: {', '.join(seen[:3])}")
    numbers = _OPTION.findall(parts["said"])
    return _graded("yes", f"option {numbers[0]}") if numbers else _graded("na", "it names nothing")


def _history(parts: dict[str, str]) -> dict[str, Any]:
    began = parts["history"].startswith("none")
    if _FIRST.search(parts["said"]):
        return _graded("yes" if began else "no", "it says that this is the first step")
    for step, option in _EARLIER.findall(parts["said"]):
        taken = rf"^Step {step}(?::| -) go to option {option}\b"
        so = re.search(taken, parts["history"], re.MULTILINE)
        return _graded("yes" if so else "no", f"step {step}, option {option}")
    return _graded("na", "it says nothing of earlier steps")


def _follows(parts: dict[str, str]) -> dict[str, Any]:
    said = _EARLIER.sub(" ", parts["said"])
    named = _OPTION.findall(said)
    if not named:
        return _graded("na", "it names no option")
    taken = _OPTION.findall(parts["action"])
    return _graded("yes" if taken == named[-1:] else "no", f"option {named[-1]}; {parts['action']}")
