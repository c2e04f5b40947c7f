"""Baselines for ``marker_captions`` and ``viewpoint_summary``, which read the prompts alone.

They are rules, not language models, and every table says so.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage

from navloom.errors import ModelError
from navloom.models.builtin import PolicyRequest

_MOST = 100
_MOST_SUMMARY = 300
_NOTHING = "an open way"
_EMPTY = ("nothing of note",)


def heuristic_markers(request: PolicyRequest) -> AIMessage:
    """Return a caption of each candidate: its room, if known, and the facts that distinguish it."""
    markers = _object(request, "Markers:")
    parts = {number: _parts(str(way.get("known") or "")) for number, way in markers.items()}
    every = [part for said in parts.values() for part in set(said)]
    return request.answer({n: _caption(way, parts[n], every) for n, way in markers.items()})


def random_markers(request: PolicyRequest) -> AIMessage:
    """Return a caption of each candidate: the description of a random candidate."""
    rng = random.Random(f"{request.seed}:{len(request.messages)}")
    markers = _object(request, "Markers:")
    known = [str(way.get("known") or _NOTHING)[:_MOST] for way in markers.values()]
    return request.answer({number: rng.choice(known) for number in markers})


def heuristic_summary(request: PolicyRequest) -> AIMessage:
    """Return a viewpoint's summary: its overall description, else its views without repeats."""
    views = _object(request, "Views:")
    around = str(views.get("around") or "").strip()
    return request.answer({"summary": _sentence(around or ", ".join(_views(views, list)))})


def random_summary(request: PolicyRequest) -> AIMessage:
    """Return a viewpoint's summary: the description of a random view."""
    rng = random.Random(f"{request.seed}:{len(request.messages)}")
    said = _views(_object(request, "Views:"), sorted)
    return request.answer({"summary": _sentence(rng.choice(said or [""]))})


def _object(request: PolicyRequest, heading: str) -> dict[str, Any]:
    value = request.json_block(heading)
    if not isinstance(value, dict):
        raise ModelError(f"A builtin model needs a JSON object after '{heading}' in its prompt.")
    return value


def _parts(known: str) -> list[str]:
    return [part.strip() for part in re.split(r"[;,.]", known) if part.strip()]


def _caption(way: dict[str, Any], parts: list[str], every: list[str]) -> str:
    """Return a caption: facts that no other candidate has come first, shared facts last."""
    room = way.get("room")
    ranked = sorted(dict.fromkeys(parts), key=every.count)
    own = [p for p in ranked if p not in (f"leads to the {room}", f"further in the {room}")]
    said = ([str(room)] if room else []) + own
    if way.get("goes") in ("up", "down"):
        said.append(f"goes {way['goes']}")
    return _joined(said, _MOST) or _NOTHING


def _views(views: dict[str, Any], order: Callable[[Any], list[str]]) -> list[str]:
    said = [str(view).strip(" .") for view in views.get("views") or ()]
    return order(dict.fromkeys(view for view in said if view and view not in _EMPTY))


def _sentence(words: str) -> str:
    text = _joined(_parts(words), _MOST_SUMMARY) or "A place without anything of note"
    return f"{text[0].upper()}{text[1:]}."


def _joined(parts: list[str], most: int) -> str:
    """Join as many whole parts as fit in ``most`` characters."""
    kept = ""
    for part in parts:
        longer = f"{kept}, {part}" if kept else part[:most]
        if len(longer) > most:
            break
        kept = longer
    return kept
