"""Values of the navigator's prompt, and its memory strategies.

The layout of the human message is fixed (``navloom/prompts/navigation/navigator.yaml``), since the
rule-based baselines parse it like a model. All text from scenes, captions and models appears in it
as one bounded line.

A memory is a history in words, or that and a map in words. Sources: VLN-MME D.3 (NavGPT: each move
as turn, displacement and description) and D.5 (MapGPT: the current node and its description, node
connections, visited and unvisited nodes). A strategy holds no state: its knowledge is in the
graph's state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from navloom.errors import UsageError, one_of
from navloom.graphs.navigation.context import Context
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt
from navloom.scenes.distances import turn_between
from navloom.sim.agent_handle import AgentHandle
from navloom.sim.protocol import Candidate, Captions, Observation, Path, Pose, SeenObject
from navloom.tools.model_output import sanitize_line
from navloom.tools.navigation.step_options import (
    DIRECTIONS,
    MoveOption,
    caption_text,
    direction_of,
    render_options,
    turn_text,
)

Seen: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The known places by viewpoint: ``node`` (its name on the map), ``description``, and ``joined``,
its neighbours, which is None until it is visited."""
MOST_DESCRIPTION = 200
MOST_PLACES = 80
"""Most lines of connections, and names in a list, that a prompt shows: the latest. The rest is
counted, as ``(3 more)``."""
MOST_SUPPLEMENTARY = 20


class MemoryStrategy(Protocol):
    """A memory strategy."""

    name: str

    def look(self, seen: Seen, observation: Observation) -> dict[str, dict[str, Any]]:
        """Return the places that an observation adds or changes."""
        ...

    def step(self, number: int, before: Pose, after: Pose, towards: Candidate, seen: Seen) -> str:
        """Return the history's line for a move."""
        ...

    def jump(self, number: int, back: MoveOption) -> str:
        """Return the history's line for a jump."""
        ...

    def notes(self, seen: Seen) -> dict[str, str]:
        """Return the notes in brackets after the options' descriptions, by viewpoint."""
        ...

    def map_lines(self, seen: Seen, observation: Observation, *, extra: bool) -> list[str]:
        """Return the map as lines, possibly none; ``extra`` adds the supplementary places."""
        ...


class HistoryMemory:
    """Text history of moves (NavGPT)."""

    name = "history"

    def look(self, seen: Seen, observation: Observation) -> dict[str, dict[str, Any]]:  # noqa: ARG002
        """Return no places, as there is no map."""
        return {}

    def step(
        self,
        number: int,
        before: Pose,
        after: Pose,
        towards: Candidate,
        seen: Seen,  # noqa: ARG002
    ) -> str:
        """Return ``Step 1: Turning heading direction -37.78 degrees from right 36.90 to ...``."""
        turned = turn_between(before.heading, after.heading)
        what = caption_text(towards.description, MOST_DESCRIPTION) or "a place without description"
        return (
            f"Step {number}: Turning heading direction {format_degrees(turned)} degrees"
            f" from {_side(before.heading)} to {_side(after.heading)},"
            f" and forward {towards.distance:.2f} meters towards {what}"
        )

    def jump(self, number: int, back: MoveOption) -> str:
        """Return ``Step 4: Going back to where step 2 led, 2 moves and 4.1 m from here``."""
        return f"Step {number}: Going {back.description}"

    def notes(self, seen: Seen) -> dict[str, str]:  # noqa: ARG002
        """Return no notes."""
        return {}

    def map_lines(
        self,
        seen: Seen,  # noqa: ARG002
        observation: Observation,  # noqa: ARG002
        *,
        extra: bool,  # noqa: ARG002
    ) -> list[str]:
        """Return no lines."""
        return []


class MapMemory(HistoryMemory):
    """Text history of moves, and a topological map that grows with every place (MapGPT).

    Places are named ``node_0``, ``node_1``, ... in the order they are first seen, those of one
    step in the order of its options.
    """

    name = "map"

    def look(self, seen: Seen, observation: Observation) -> dict[str, dict[str, Any]]:
        """Return the current place as visited, and its neighbours."""
        here, captions = observation.pose.viewpoint or "", observation.captions
        summary = caption_text(captions.summary, MOST_DESCRIPTION) if captions else ""
        known = seen.get(here)
        added: dict[str, dict[str, Any]] = {
            here: {
                "node": known["node"] if known else f"node_{len(seen)}",
                "description": summary or (known["description"] if known else ""),
                "joined": [candidate.viewpoint for candidate in observation.candidates],
            }
        }
        count = len(seen) + (known is None)
        for candidate in observation.candidates:
            if candidate.viewpoint not in seen and candidate.viewpoint not in added:
                text = caption_text(candidate.description, MOST_DESCRIPTION)
                node = {"node": f"node_{count}", "description": text, "joined": None}
                added[candidate.viewpoint] = node
                count += 1
        return added

    def step(self, number: int, before: Pose, after: Pose, towards: Candidate, seen: Seen) -> str:
        """Return the history's line with the node that the move led to."""
        line = super().step(number, before, after, towards, seen)
        return f"{line} ({seen[towards.viewpoint]['node']})"

    def notes(self, seen: Seen) -> dict[str, str]:
        """Return notes such as ``node_4`` or ``node_1, visited``."""
        return {
            viewpoint: f"{place['node']}, visited" if place["joined"] is not None else place["node"]
            for viewpoint, place in seen.items()
        }

    def map_lines(self, seen: Seen, observation: Observation, *, extra: bool) -> list[str]:
        """Return lines of the current place, connections, visited and unvisited places."""
        here = seen[observation.pose.viewpoint or ""]
        visited = [place for place in seen.values() if place["joined"] is not None]
        unvisited = [place for place in seen.values() if place["joined"] is None]
        lines = [f"Current place: {here['node']} - {here['description'] or 'no description'}"]
        lines += [
            f"{place['node']} is connected to"
            f" {', '.join(seen[each]['node'] for each in place['joined']) or 'nothing'}"
            for place in visited[-MOST_PLACES:]
        ] + _more(visited, MOST_PLACES)
        lines.append(f"Visited: {_names(visited)}")
        lines.append(f"Unvisited: {_names(unvisited)}")
        return lines + (_supplementary(seen, here) if extra else [])


def _supplementary(seen: Seen, here: Mapping[str, Any]) -> list[str]:
    """Return the places it saw but cannot reach in one step from here (MapGPT)."""
    left = [
        f"- {place['node']}: {place['description'] or 'no description'}"
        for viewpoint, place in seen.items()
        if place["joined"] is None and viewpoint not in here["joined"]
    ]
    lines = [*left[-MOST_SUPPLEMENTARY:], *_more(left, MOST_SUPPLEMENTARY)]
    return ["Supplementary places:", *lines] if left else []


def _names(places: list[Mapping[str, Any]]) -> str:
    names = ", ".join(place["node"] for place in places[-MOST_PLACES:]) or "none"
    return " ".join([names, *_more(places, MOST_PLACES)])


def _more(every: Sequence[Any], most: int) -> list[str]:
    """Return a line with the number of entries left out, or nothing."""
    return [f"({len(every) - most} more)"] if len(every) > most else []


def signed_heading(heading: float) -> float:
    """Return a heading in radians wrapped to (-pi, pi]; right of -z is positive."""
    return turn_between(0.0, heading)


def format_degrees(radians: float) -> str:
    """Format an angle in degrees with two decimals."""
    # Adding 0.0 makes -0.0 plain zero.
    return f"{round(math.degrees(radians), 2) + 0.0:.2f}"


def _side(heading: float) -> str:
    angle = round(math.degrees(signed_heading(heading)), 2)
    return f"left {-angle:.2f}" if angle < 0 else f"right {angle + 0.0:.2f}"


MEMORIES: dict[str, MemoryStrategy] = {each.name: each for each in (HistoryMemory(), MapMemory())}


def get_memory(name: str) -> MemoryStrategy:
    """Return the memory strategy of a name.

    Raises:
        UsageError: there is no such strategy.
    """
    if name not in MEMORIES:
        raise UsageError(f"'{name}' is not a memory: {one_of(name, MEMORIES)}")
    return MEMORIES[name]


PROMPTS = {"navloom": "navigator", "paper": "navigator_paper"}
"""Name of the prompt, by ``Context.prompts``."""
MOST_CAPTION = 300
MOST_SUMMARY = 400
MOST_FAILURE = 4_000
_MOST_NEAR = 10
_MOST_HISTORY = 50
MOST_THOUGHT = 500
_MOST_THOUGHTS = 10
"""Most moves, the latest, whose reasoning is shown."""
_HELPERS = {
    "model": "an assistant that reads what you read",
    "map": "somebody who has a map of the building",
    "path": "somebody who knows the building",
}
"""Description of the oracle for its navigator, by the oracle's knowledge."""
_STILL_TRUE = 3
"""Moves after which the oracle's directions are no longer shown."""


def render_prompt(
    state: Mapping[str, Any],
    context: Context,
    observation: Observation,
    options: Sequence[MoveOption],
    *,
    can_ask: bool,
    shortest: str | None,
    showing: int,
) -> RenderedPrompt:
    """Return the navigator's prompt with its variables filled in.

    Args:
        state: the navigator's.
        context: its settings.
        observation: its present observation.
        options: with the memory's notes.
        can_ask: whether it may ask.
        shortest: hint on the shortest path; None for a fair navigator.
        showing: number of images sent with the prompt.
    """
    pose, captions = observation.pose, observation.captions or Captions()
    front = front_heading(context, observation)
    helper = _HELPERS[context.oracle_knows]
    memory, paper = get_memory(context.memory), context.prompts == "paper"
    values = {
        "memory": context.memory,
        "cot": context.cot,
        "reflect": context.reflect,
        "planning": context.plans,
        "thoughts": context.keeps_thoughts,
        "act": context.act,
        "can_ask": can_ask,
        "jumps": context.jump,
        "failures": _failures(context.failures),
        "helped": context.oracle == "assistant",
        "helper": helper,
        "helper_knows": context.oracle_knows != "model",
        "instruction": state["instruction"],
        "history": _history(state, thoughts=context.keeps_thoughts),
        "map": memory.map_lines(state.get("seen", {}), observation, extra=context.plans),
        "plan": state.get("plan") or "none yet",
        "guidance": _guidance(state),
        "dialogue": [
            {
                "question": f"{said['question']}{_ago(_moves_since(state, said))}",
                "answer": said["answer"] or "(no answer)",
            }
            for said in state.get("dialogue", [])
        ],
        "shortest": shortest,
        "heading": format_degrees(signed_heading(pose.heading)),
        "elevation": format_degrees(pose.elevation),
        "summary": caption_text(captions.summary, MOST_SUMMARY) or "nothing is known of this place",
        "sides": _sides(captions, front),
        "near": ", ".join(_near(each, front) for each in captions.objects[:_MOST_NEAR]),
        "pictures": _pictures(context.views, showing, _hidden(options, observation, showing)),
        "options": render_options(options, helper if can_ask else None, paper=paper),
    }
    prompt = load_prompt(PROMPTS[context.prompts])
    return prompt.render(**{name: values[name] for name in prompt.variables})


def get_observation(walker: AgentHandle, state: Mapping[str, Any], context: Context) -> Observation:
    """Return the simulator's :class:`Observation` of the present state, not a text.

    With ``blank_options``, the candidates' descriptions are empty.
    """
    seen = walker.look(state)
    if not context.blank_options:
        return seen
    return replace(seen, candidates=tuple(replace(w, description="") for w in seen.candidates))


@lru_cache(maxsize=32)
def _failures(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sanitize_line(text, MOST_FAILURE) for text in texts)


def front_heading(context: Context, observation: Observation) -> float:
    """Return the heading called Front, radians: the middle of the Front panel of an image strip."""
    from navloom.sim.views import quarter_heading

    heading = observation.pose.heading
    # Without a strip the prompt must not depend on the simulator's images.
    strip = context.shown_views == 4 and bool(observation.images.get("rgb"))
    return quarter_heading(heading) if strip else heading


def shortest_hint(path: Path | None, options: Sequence[MoveOption]) -> str | None:
    """Return ``option 3``, ``stop here``, or None where no option continues along a path."""
    if path is None:
        return None
    if len(path.viewpoints) < 2:
        return "stop here"
    taken = [option.id for option in options if option.viewpoint == path.viewpoints[1]]
    return f"option {taken[0]}" if taken else None


def _history(state: Mapping[str, Any], *, thoughts: bool) -> list[str]:
    lines = list(state.get("history", []))
    if thoughts:
        moves = [step for step in state["steps"] if step["action"]["kind"] == "move"]
        for at in range(max(0, len(lines) - _MOST_THOUGHTS), min(len(lines), len(moves))):
            thought = sanitize_line(moves[at]["reasoning"] or "", MOST_THOUGHT)
            lines[at] = f"Thought: {thought}\n{lines[at]}" if thought else lines[at]
    left_out = len(lines) - _MOST_HISTORY
    if left_out <= 0:
        return ["Navigation starts.", *lines]
    return ["Navigation starts.", f"({left_out} earlier steps)", *lines[-_MOST_HISTORY:]]


def _guidance(state: Mapping[str, Any]) -> list[str]:
    return [
        f"{said['answer']}{_ago(moves)}"
        for said in state.get("guidance", [])
        if said["answer"] and (moves := _moves_since(state, said)) < _STILL_TRUE
    ]


def _moves_since(state: Mapping[str, Any], said: Mapping[str, Any]) -> int:
    return len(state["trajectory"]) - 1 - int(said["at"])


def _ago(moves: int) -> str:
    return f" (said {moves} move{'s' if moves > 1 else ''} ago)" if moves else ""


def _sides(captions: Captions, front: float) -> list[tuple[str, str, str]]:
    """Return direction, bearing and caption of each sector, by direction and from left to right."""
    found: list[tuple[int, float, tuple[str, str, str]]] = []
    for number, caption in enumerate(captions.sectors):
        turn = turn_between(front, number * 2 * math.pi / len(captions.sectors))
        side = direction_of(turn)
        order = turn if side != "Back" or turn > 0 else turn + 2 * math.pi
        text = caption_text(caption, MOST_CAPTION)
        if text:
            found.append((DIRECTIONS.index(side), order, (side, turn_text(turn), text)))
    return [line for _, _, line in sorted(found)]


def _near(thing: SeenObject, front: float) -> str:
    side = direction_of(turn_between(front, thing.heading))
    # The list's own punctuation must not come from a name.
    name = caption_text(thing.name, 60).replace(",", " ").replace("(", " ").replace(")", " ")
    return f"{' '.join(name.split())} ({thing.distance:.1f} m, {side})"


def _hidden(options: Sequence[MoveOption], observation: Observation, showing: int) -> list[int]:
    """Return the numbers of the options that are hidden in the images."""
    if not showing:
        return []
    from navloom.sim.views import hidden_candidates

    hidden = hidden_candidates(observation)
    return [option.id for option in options if option.hops == 1 and option.viewpoint in hidden]


def _pictures(views: int, showing: int, hidden: Sequence[int]) -> str:
    if not showing:
        return ""
    what = f"{showing} views, each with its direction above it; green circles bear option IDs"
    if views == 4:
        what = "one strip of four views, Left, Front, Right and Back; green circles bear option IDs"
    if not hidden:
        return what
    ids = ", ".join(map(str, hidden))
    return f"{what}; white circles, options that something hides from here: {ids}"
