"""Records of a navigator's steps and trajectory, contact messages, and jumps back.

Everything that analyses a finished episode (scores, failures, reports, judges of its reasons) reads
it through these models. A file may come from anyone: invalid parts are dropped, and reading raises
nothing.

A navigator that may jump (NavGPT) chooses among its candidates and every viewpoint it has visited.
It gets there on the shortest path, in metres, over the candidates offered at visited viewpoints,
without a map. A jump is one step, but every metre of it counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import networkx as nx
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from navloom.files import join_some
from navloom.scenes.scene import Point3, Scene
from navloom.sim.caption_composer import one_line
from navloom.sim.protocol import Contact, displacing_contacts
from navloom.tools.navigation.action_parser import FAULTS, ParsedAction
from navloom.tools.navigation.step_options import MoveOption

_MOST_NAMED = 3
_MOST_NAME = 60
_OWN = {"wall": "a wall", "step": "a step", "edge": "the edge of the floor"}


def contact_names(contacts: Sequence[Contact], scene: Scene) -> str:
    """Name what the contacts were with, the largest displacement first: ``a wall, the chair``.

    Args:
        contacts: contacts of one move.
        scene: the scene that has the items' names.

    Returns:
        "" if nothing was touched.
    """
    worst = sorted(displacing_contacts(contacts), key=lambda each: -each.displacement)
    named = list(dict.fromkeys(_name(each.what, scene) for each in worst))
    return join_some(named, _MOST_NAMED)


def contact_message(bumped: str, *, missed: bool) -> str:
    """Return one line for the agent: what it bumped into, and whether it arrived.

    Args:
        bumped: the result of :func:`contact_names`.
        missed: whether it did not arrive.
    """
    if not missed:
        return f"You bumped into {bumped}"
    why = f": you bumped into {bumped}" if bumped else ""
    return f"You did not get there{why}"


def _name(what: str, scene: Scene) -> str:
    if what in scene.item_by_id:
        return f"the {one_line(scene.item_by_id[what].name, _MOST_NAME)}"
    return _OWN.get(what) or one_line(what, _MOST_NAME)


GENERATION = FAULTS
"""Kinds of fault of a reply."""
NOTHING = ParsedAction("none")
"""The action of a step without one."""
_MOST = 10_000
_FAR_M = 1e6
_FULL_TURN = 2 * math.pi


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)

    @classmethod
    def read(cls, value: Any) -> Self:
        """Read a record from a file's value; invalid fields are dropped."""
        given = dict(value) if isinstance(value, Mapping) else {}
        while True:
            try:
                return cls.model_validate(given)
            except ValidationError as error:
                for fault in error.errors(include_url=False, include_context=False):
                    given.pop(fault["loc"][0], None)

    def record(self) -> dict[str, Any]:
        """Return the record as plain JSON, as the state and ``samples.jsonl`` store it."""
        return self.model_dump()


_OPTION = TypeAdapter(MoveOption)


def _each(read: Any) -> BeforeValidator:
    """Return a validator of a list that drops the entries it cannot read."""

    def kept(value: Any) -> list[Any]:
        found = []
        for each in value[:_MOST] if isinstance(value, list | tuple) else ():
            try:
                found.append(read(each))
            except ValidationError:
                continue
        return [each for each in found if each is not None]

    return BeforeValidator(kept)


def _said(fault: Any) -> str | None:
    """Return a fault as a line; old runs stored an object."""
    said = fault.get("kind") if isinstance(fault, Mapping) else fault
    return said if isinstance(said, str) else None


class OracleAnswer(_Record):
    """Oracle's answer to a navigator's question."""

    question: str | None = None
    answer: str | None = None
    leaked: bool = False
    """Whether a leak was withheld."""
    told: list[str] | None = None
    """Kinds of information it discloses, withheld or not; None if not measured
    (:mod:`navloom.tools.navigation.disclosures`)."""


class OracleGuidance(_Record):
    """Advice that the oracle gave unasked."""

    trigger: str | None = None
    """Trigger of the advice; ``bound`` if the oracle speaks at every step."""
    question: str | None = None
    answer: str | None = None
    leaked: bool = False
    told: list[str] | None = None


class RevokedChoice(_Record):
    """A choice that was revoked after a reflection, or after an oracle advised on a stop."""

    action: ParsedAction = NOTHING
    reflection: str | None = None
    reply: str = ""


_BODILY = ("bumped", "missed")


class NavStep(_Record):
    """Record of one step: what was offered, said and done."""

    step: int = 0
    """Its number, from 1."""
    bumped: str | None = None
    """What its move touched, in words; no key if nothing was touched."""
    missed: bool = False
    """Whether its move did not arrive; no key if it did."""
    viewpoint: str | None = None
    """The agent's viewpoint; None off the graph."""
    heading: float | None = None
    """Radians clockwise from -z."""
    options: Annotated[list[MoveOption], _each(_OPTION.validate_python)] = []
    reply: str = ""
    """The model's words and tool calls, bounded."""
    reasoning: str | None = None
    reflection: str | None = None
    decision: str | None = None
    """``keep`` or ``revise``, after a reflection."""
    plan: str | None = None
    action: ParsedAction = NOTHING
    faults: Annotated[list[str], _each(_said)] = []
    """Fault of each unusable reply: ``KIND: what``."""
    revised: int = 0
    """Number of choices revoked after a reflection."""
    revisions: Annotated[list[RevokedChoice], _each(RevokedChoice.read)] = []
    oracle: OracleGuidance | None = None
    asked: OracleAnswer | None = None
    media: list[str] = []
    """Names of the images shown."""

    @property
    def move_target(self) -> str | None:
        """Viewpoint that the step's move leads to; None if there is no move."""
        return self.action.viewpoint if self.action.kind == "move" else None

    @property
    def jumped(self) -> bool:
        """True if the step's move leads back over several hops."""
        there = (o.hops for o in self.options if o.id == self.action.option)
        return self.action.kind == "move" and next(there, 1) > 1

    def record(self) -> dict[str, Any]:
        """Return the step as plain JSON; fields on contacts are omitted if empty."""
        told = super().record()
        return {key: told[key] for key in told if key not in _BODILY or told[key]}

    def copy_with(self, **changes: Any) -> NavStep:
        """Return a copy with some fields changed."""
        return self.model_copy(update=changes)

    def revoke_choice(self) -> NavStep:
        """Return a copy of the step without its choice, which moves to ``revisions``."""
        back = RevokedChoice(action=self.action, reflection=self.reflection, reply=self.reply)
        return self.copy_with(action=NOTHING, revisions=[*self.revisions, back])


@dataclass(frozen=True)
class ReplyFault:
    """A reply that could not be used: the index of its step, and the kind of fault."""

    step: int
    kind: str


@dataclass(frozen=True)
class Trajectory:
    """Trajectory of an episode, with the steps decided on it.

    Attributes:
        poses: every viewpoint it stood on with its heading in radians, None if unknown; turns on
            the spot repeat a viewpoint.
        steps: the steps, in order.
        stopped: whether the agent itself chose to stop.
        end: ``stop``, ``max_steps``, ``unparsed``, ``dead_end``, ``collision`` or "".
        touched: metres by which each contact displaced the body.
        points: floor point under the body at each pose, metres; None if it is its viewpoint's.
        bumps: points of contact.
    """

    poses: tuple[tuple[str, float | None], ...]
    steps: tuple[NavStep, ...]
    stopped: bool
    end: str
    touched: tuple[float, ...] = ()
    points: tuple[Point3 | None, ...] = ()
    bumps: tuple[Point3, ...] = ()

    @classmethod
    def read(cls, result: Any) -> Trajectory:
        """Read a navigator's result; invalid parts are dropped."""
        given = result if isinstance(result, Mapping) else {}
        end = given.get("end")
        return cls(
            poses=tuple(_poses(_list(given.get("trajectory")))),
            steps=tuple(
                NavStep.read(each)
                for each in _list(given.get("steps"))
                if isinstance(each, Mapping)
            ),
            stopped=given.get("stopped") is True,
            end=end if isinstance(end, str) else "",
            touched=tuple(_touches(_list(given.get("contacts")))),
            points=floor_points(given.get("trajectory")),
            bumps=tuple(_bumps(_list(given.get("contacts")))),
        )

    @cached_property
    def _stands(self) -> list[tuple[str, float | None]]:
        kept: list[tuple[str, float | None]] = []
        for viewpoint, heading in self.poses:
            if kept and kept[-1][0] == viewpoint:
                kept.pop()
            kept.append((viewpoint, heading))
        return kept

    @cached_property
    def viewpoints(self) -> tuple[str, ...]:
        """Visited viewpoints, without consecutive repeats (turns on the spot)."""
        return tuple(viewpoint for viewpoint, _ in self._stands)

    @cached_property
    def headings(self) -> tuple[float | None, ...]:
        """Headings in radians at which the agent left its viewpoints; None if unknown."""
        return tuple(heading for _, heading in self._stands)

    @cached_property
    def hop_steps(self) -> tuple[int, ...]:
        """For each hop, the 0-based index of the step that made it, else the hop's own index.

        A step makes one hop, or those of a jump, which ends at the step's target.
        """
        numbers: list[int] = []
        at = 0
        for there in self.viewpoints[1:]:
            moves = [k for k, s in enumerate(self.steps[at:], at) if s.move_target and not s.missed]
            if moves and self.steps[moves[0]].jumped and self.steps[moves[0]].move_target != there:
                numbers.append(moves[0])
                continue
            found = next((k for k in moves if self.steps[k].move_target == there), None)
            if found is None:
                return tuple(range(max(0, len(self.viewpoints) - 1)))
            numbers.append(found)
            at = found + 1
        return tuple(numbers)

    @cached_property
    def faults(self) -> tuple[ReplyFault, ...]:
        """Replies that could not be used, recovered or not."""
        return tuple(
            ReplyFault(number, _fault_kind(fault))
            for number, step in enumerate(self.steps)
            for fault in step.faults
        )

    @property
    def last_step(self) -> int:
        """Index of the last step, from 0; 0 if there is none."""
        return max(len(self.steps) - 1, 0, *self.hop_steps)

    def step_at(self, hop: int) -> int:
        """Return the index of the step that made a hop; beyond the last hop, of the last step."""
        return self.hop_steps[hop] if hop < len(self.hop_steps) else self.last_step


def _list(value: Any) -> list[Any]:
    return list(value[:_MOST]) if isinstance(value, list | tuple) else []


def _poses(trajectory: Iterable[Any]) -> Iterable[tuple[str, float | None]]:
    for pose in filter(_is_pose, trajectory):
        if isinstance(pose, str):
            yield pose, None
        else:
            yield pose[0], _angle(pose[1] if len(pose) > 1 else None)


def _is_pose(pose: Any) -> bool:
    if isinstance(pose, str):
        return True
    return isinstance(pose, list | tuple) and bool(pose) and isinstance(pose[0], str)


def floor_points(trajectory: Any) -> tuple[Point3 | None, ...]:
    """Return the floor point under the body at each pose, as in :class:`Trajectory`.

    Args:
        trajectory: the trajectory of a file: ``[viewpoint, heading, elevation]`` a pose, followed
            by ``x, y, z`` if the body was beside its viewpoint.
    """
    return tuple(_point(pose) for pose in _list(trajectory) if _is_pose(pose))


def _point(pose: Any) -> Point3 | None:
    numbers = pose[3:6] if isinstance(pose, list | tuple) else ()
    if len(numbers) < 3 or not all(_is_metres(value) for value in numbers):
        return None
    x, y, z = map(float, numbers)
    return x, y, z


def _is_metres(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _FAR_M


def _bumps(contacts: Iterable[Any]) -> Iterable[Point3]:
    for contact in contacts:
        point = contact.get("point") if isinstance(contact, Mapping) else None
        found = _point([None, None, None, *point]) if isinstance(point, list | tuple) else None
        if found is not None and contact.get("displacement") != 0:
            yield found


def _touches(contacts: Iterable[Any]) -> Iterable[float]:
    for contact in contacts:
        metres = contact.get("displacement") if isinstance(contact, Mapping) else None
        if isinstance(metres, int | float):
            yield float(metres)


def _angle(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) % _FULL_TURN if math.isfinite(value) else None
    except OverflowError:
        return None


def _fault_kind(said: str) -> str:
    head = said[:80].casefold().replace(" ", "_").replace("-", "_")
    return next((kind for kind in GENERATION if head.startswith(kind)), "other")


Ending = Literal["stop", "max_steps", "unparsed", "dead_end", "collision"]


def count_steps(steps: Sequence[Mapping[str, Any]], ask_cost: int = 0) -> int:
    """Count the steps taken: moves, the stop, and the cost of each question."""
    asked = [step["action"]["kind"] for step in steps].count("ask")
    return len(steps) - asked + ask_cost * asked


def episode_result(
    state: Mapping[str, Any], prompt: Mapping[str, Any], ask_cost: int = 0
) -> dict[str, Any]:
    """Return the result of a finished episode as plain JSON, as ``samples.jsonl`` stores it.

    Args:
        state: the navigator's state: ``trajectory``, ``ending``, ``steps`` and ``contacts``.
        prompt: the record of the prompt that was used.
        ask_cost: steps that a question costs.
    """
    steps, contacts = state.get("steps", []), state.get("contacts", [])
    return {
        "trajectory": state["trajectory"],
        "stopped": state["ending"] == "stop",
        "end": state["ending"],
        "steps": steps,
        "counts": {
            "steps": count_steps(steps, ask_cost),
            **_counts([NavStep(**step) for step in steps], state["ending"], len(contacts)),
        },
        "contacts": contacts,
        "prompt": prompt,
    }


def _counts(steps: Sequence[NavStep], ending: str, contacts: int) -> dict[str, int]:
    faults = [fault.partition(":")[0] for step in steps for fault in step.faults]
    said = [words for step in steps for words in (step.oracle, step.asked) if words]
    return {
        # If an episode ends by a fault, the model is not reprompted for that last one.
        "reprompts": len(faults) - (ending == "unparsed"),
        **{kind: faults.count(kind) for kind in FAULTS},
        "revisions": sum(step.revised for step in steps),
        "questions": sum(step.asked is not None for step in steps),
        "oracle_calls": sum(step.oracle is not None for step in steps),
        "leaks": sum(words.leaked for words in said),
        "contacts": contacts,
    }


MOST_JUMPS = 20
"""Maximum number of places offered, the latest first."""


def jump_options(steps: Sequence[NavStep], now: NavStep) -> list[MoveOption]:
    """Return the visited places it may jump back to, numbered after this step's options.

    Args:
        steps: the steps made so far.
        now: the current step, with its candidates as options.

    Returns:
        One option for each visited place, the latest first, without the current viewpoint and its
        candidates. A description says which step of the history led there.
    """
    beside, graph = {option.viewpoint for option in now.options}, _known([*steps, now])
    here, found = now.viewpoint or "", list[MoveOption]()
    metres = nx.single_source_dijkstra_path_length(graph, here)
    ways = nx.single_source_dijkstra_path(graph, here)
    for viewpoint, words in reversed(_stood(steps).items()):
        if viewpoint in beside or viewpoint == here or viewpoint not in ways:
            continue
        hops = len(ways[viewpoint]) - 1
        text = f"back to {words}, {hops} moves and {metres[viewpoint]:.1f} m from here"
        number = len(now.options) + len(found) + 1
        found.append(MoveOption(number, viewpoint, "Back", text, hops=hops))
    return found[:MOST_JUMPS]


def jump_path(steps: Sequence[NavStep], now: NavStep, viewpoint: str) -> list[str]:
    """Return the viewpoints on the path of one of :func:`jump_options`, without the current one."""
    way: list[str] = nx.dijkstra_path(_known([*steps, now]), now.viewpoint or "", viewpoint)
    return way[1:]


def _stood(steps: Sequence[NavStep]) -> dict[str, str]:
    """Return each visited place with the last step that led there, in words."""
    found, moves = dict[str, str](), 0
    for step in steps:
        if not moves and step.viewpoint:
            found.setdefault(step.viewpoint, "where you started")
        if step.action.kind == "move" and step.action.viewpoint:
            moves += 1
            found.pop(step.action.viewpoint, None)
            found[step.action.viewpoint] = f"where step {moves} led"
    return found


def _known(steps: Sequence[NavStep]) -> nx.Graph[str]:
    """Build the graph of visited places and their candidates, weighted in metres if known."""
    graph: nx.Graph[str] = nx.Graph()
    for step in steps:
        graph.add_node(step.viewpoint or "")
        for option in step.options:
            if option.hops == 1:
                metres = 1.0 if option.distance is None else option.distance
                graph.add_edge(step.viewpoint or "", option.viewpoint, weight=metres)
    return graph
