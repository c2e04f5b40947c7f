"""What a navigator reads at a step: the prompt's values from the state and the observation.

The layout of the human message is fixed (``navloom/prompts/navigation/navigator.yaml``), since the
rule-based baselines read it as a model does. Everything that a scene, a caption or a model said
stands in it as one bounded line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from navloom.graphs.navigation.memory import degrees, get_memory, relative
from navloom.prompts.load import Rendered, load_prompt
from navloom.sim.protocol import Captions, Observation, Path, SeenObject, turn_between
from navloom.tools.navigation.options import DIRECTIONS, Option, direction_of, render_options, shown
from navloom.tools.untrusted import paragraph

if TYPE_CHECKING:
    from navloom.graphs.navigation.navigator import Context

__all__ = ["PROMPT", "facing", "render", "shortest_words"]

PROMPT = "navigator"
MOST_CAPTION = 300
MOST_SUMMARY = 400
MOST_FAILURE = 4_000
_MOST_NEAR = 10
_MOST_HISTORY = 50
_STILL_TRUE = 3
"""Moves after which words about directions are no longer shown."""


def render(
    state: Mapping[str, Any],
    context: Context,
    observation: Observation,
    options: Sequence[Option],
    *,
    can_ask: bool,
    shortest: str | None,
    showing: int,
) -> Rendered:
    """Fill the prompt.

    Args:
        state: the navigator's.
        context: its settings.
        observation: what it perceives now.
        options: with the memory's notes.
        can_ask: whether it may ask.
        shortest: what it is shown of the shortest path; None for a fair navigator.
        showing: how many pictures go with the prompt.
    """
    pose, captions = observation.pose, observation.captions or Captions()
    front = facing(context, observation)
    memory = get_memory(context.memory)
    return load_prompt(PROMPT).render(
        **_settings(context, can_ask),
        seed=state.get("seed", 0),
        instruction=state["instruction"],
        history=_history(state.get("history", [])),
        map=memory.map_lines(state.get("seen", {}), observation, extra=context.plan),
        plan=state.get("plan") or "none yet",
        guidance=_guidance(state),
        dialogue=_dialogue(state),
        shortest=shortest,
        heading=degrees(relative(pose.heading)),
        elevation=degrees(pose.elevation),
        summary=shown(captions.summary, MOST_SUMMARY) or "nothing is known of this place",
        sides=_sides(captions, front),
        near=", ".join(_near(each, front) for each in captions.objects[:_MOST_NEAR]),
        pictures=_pictures(context.views, showing),
        options=render_options(options, ask=can_ask),
    )


def _settings(context: Context, can_ask: bool) -> dict[str, Any]:
    return {
        "memory": context.memory,
        "cot": context.cot,
        "reflect": context.reflect,
        "planning": context.plan,
        "act": context.act,
        "can_ask": can_ask,
        "failures": _failures(context.failures),
    }


@lru_cache(maxsize=32)
def _failures(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(paragraph(text, MOST_FAILURE) for text in texts)


def facing(context: Context, observation: Observation) -> float:
    """Which way is Front, in radians: with a strip of pictures it is its Front panel's middle."""
    from navloom.sim.views import quarter

    heading = observation.pose.heading
    strip = context.views == 4 and bool(observation.images.get("rgb"))
    return quarter(heading) if strip else heading


def shortest_words(path: Path | None, options: Sequence[Option]) -> str | None:
    """``option 3``, ``stop here``, or None where no option leads on along a path."""
    if path is None:
        return None
    if len(path.viewpoints) < 2:
        return "stop here"
    taken = [option.id for option in options if option.viewpoint == path.viewpoints[1]]
    return f"option {taken[0]}" if taken else None


def _history(lines: Sequence[str]) -> list[str]:
    left_out = len(lines) - _MOST_HISTORY
    if left_out <= 0:
        return ["Navigation starts.", *lines]
    return ["Navigation starts.", f"({left_out} earlier steps)", *lines[-_MOST_HISTORY:]]


def _guidance(state: Mapping[str, Any]) -> list[str]:
    return [
        f"{said['answer']}{_ago(moves)}"
        for said in state.get("guidance", [])
        if said["answer"] and (moves := _moves_since(state, said)) <= (0 if said["exact"] else 2)
    ]


def _dialogue(state: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {
            "question": f"{said['question']}{_ago(moves)}",
            "answer": said["answer"] or "(no answer)",
        }
        for said in state.get("dialogue", [])
        if (moves := _moves_since(state, said)) == 0 or not said["exact"]
    ]


def _moves_since(state: Mapping[str, Any], said: Mapping[str, Any]) -> int:
    return len(state["trajectory"]) - 1 - int(said["at"])


def _ago(moves: int) -> str:
    return f" (said {moves} move{'s' if moves > 1 else ''} ago)" if moves else ""


def _sides(captions: Captions, front: float) -> list[tuple[str, str]]:
    """Sector captions by direction, from left to right within one; equal ones once."""
    found: dict[str, list[tuple[float, str]]] = {name: [] for name in DIRECTIONS}
    for number, caption in enumerate(captions.sectors):
        turn = turn_between(front, number * 2 * math.pi / len(captions.sectors))
        side = direction_of(turn)
        order = turn if side != "Back" or turn > 0 else turn + 2 * math.pi
        text = shown(caption, MOST_CAPTION)
        if text:
            found[side].append((order, text))
    return [
        (side, " / ".join(dict.fromkeys(text for _, text in sorted(texts))))
        for side, texts in found.items()
        if texts
    ]


def _near(thing: SeenObject, front: float) -> str:
    side = direction_of(turn_between(front, thing.heading))
    # The list's own punctuation must not come from a name.
    name = shown(thing.name, 60).replace(",", " ").replace("(", " ").replace(")", " ")
    return f"{' '.join(name.split())} ({thing.distance:.1f} m, {side})"


def _pictures(views: int, showing: int) -> str:
    if not showing:
        return ""
    if views == 4:
        return "one strip of four views, Left, Front, Right and Back; green circles bear option IDs"
    return f"{showing} views, each with its direction above it; green circles bear option IDs"
