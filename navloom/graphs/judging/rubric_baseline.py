"""Baselines for the job ``judge_rubric``: rules that read the prompt alone.

The symbolic judge knows the three criteria of the rubric ``trace`` and leaves any other unscored.
It looks whether things that the reasoning says it sees are words of the options, whether the
reasoning denies or repeats the history, and whether the option it names is the one that was taken.
"""

from __future__ import annotations

import random
import re
from typing import Any

from langchain_core.messages import AIMessage

from navloom.models.policy import Request

__all__ = ["heuristic_rubric", "random_rubric"]

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


def heuristic_rubric(request: Request) -> AIMessage:
    """Grade what is known; leave out what is not."""
    parts = _parts(request)
    known = {"grounded": _grounded, "history": _history, "action_follows": _follows}
    wanted = _CRITERION.findall(parts["criteria"])
    return request.answer({name: known[name](parts) for name in wanted if name in known})


def random_rubric(request: Request) -> AIMessage:
    """Draw every grade."""
    rng = random.Random(f"{request.seed}:{request.first_human}")
    wanted = _CRITERION.findall(_parts(request)["criteria"])
    return request.answer(
        {name: _graded(rng.choice(("yes", "no", "na")), "drawn") for name in wanted}
    )


def _parts(request: Request) -> dict[str, str]:
    found = _PROMPT.search(request.first_human)
    names = ("criteria", "instruction", "history", "options", "action", "said")
    parts = found.groupdict() if found else dict.fromkeys(names, "")
    lines = parts["said"].strip().splitlines()
    if len(lines) >= 3 and lines[0].startswith("<<<") and lines[-1].endswith(">>>"):
        lines = lines[1:-1]
    return {**parts, "said": " ".join(lines)}


def _graded(grade: str, evidence: str) -> dict[str, Any]:
    return {"evidence": evidence[:160], "grade": grade}


def _grounded(parts: dict[str, str]) -> dict[str, Any]:
    there = set(_WORD.findall(f"{parts['options']} {parts['instruction']}".casefold()))
    seen = [word for words in _SEES.findall(parts["said"]) for word in _things(words)]
    absent = [word for word in seen if not {word, word.removesuffix("s"), f"{word}s"} & there]
    if absent:
        return _graded("no", f"not in the options: {', '.join(absent[:3])}")
    if seen:
        return _graded("yes", f"in the options: {', '.join(seen[:3])}")
    numbers = _OPTION.findall(parts["said"])
    return _graded("yes", f"option {numbers[0]}") if numbers else _graded("na", "it names nothing")


def _things(words: str) -> list[str]:
    return [word for word in _WORD.findall(words.casefold()) if word not in _PLAIN]


def _history(parts: dict[str, str]) -> dict[str, Any]:
    began = parts["history"].startswith("none")
    if _FIRST.search(parts["said"]):
        return _graded("yes" if began else "no", "it says that this is the first step")
    for step, option in _EARLIER.findall(parts["said"]):
        so = re.search(
            rf"^Step {step}: go to option {option}\b|^Step {step} - go to option {option}\b",
            parts["history"],
            re.MULTILINE,
        )
        return _graded("yes" if so else "no", f"step {step}, option {option}")
    return _graded("na", "it says nothing of earlier steps")


def _follows(parts: dict[str, str]) -> dict[str, Any]:
    said = _EARLIER.sub(" ", parts["said"])
    named = _OPTION.findall(said)
    if not named:
        return _graded("na", "it names no option")
    taken = _OPTION.findall(parts["action"])
    return _graded("yes" if taken == named[-1:] else "no", f"option {named[-1]}; {parts['action']}")
