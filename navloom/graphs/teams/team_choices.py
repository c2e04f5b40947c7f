"""A team's plan in small choices: for one errand after the other, one of a few ways to do it.

For models too small to write whole plans. A way is one robot, or two and the place where the thing
is handed over; it stands beside what the plan so far comes to with it. Ranked ways have numbers
alone, the least first; a blind list names some that will do, drawn and ordered by the seed. Only
ways that can be done after those chosen before are offered; a way after which nobody can do the
next errand is sent back, and not offered again. What is chosen is checked like anyone's plan.

See :mod:`navloom.graphs.navcraft.choices`; source: CoNavBench 3.1.3, made general.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any, Literal, NamedTuple

from navloom.graphs.navcraft.choices import Update, choice_field
from navloom.graphs.turns import TurnLimits, given_up, said, sent_back
from navloom.prompts.load import Rendered, load_prompt
from navloom.tools.forms import Violation, closed_object, listed, quoted
from navloom.tools.teams.team_task import TeamTask, Way, check_team_plan, legs_of

PROMPT = "navcraft_team_choices"
MOST_WAYS = 6
"""Ways that are shown of an errand."""
_LONGEST = 200
"""Characters that are read of a way."""
_MEASURES = {
    "makespan": ("when all is done", "soonest", "s"),
    "alpha": ("the metres that robot_1 walks", "shortest", "m"),
    "metres": ("the metres that all robots walk", "shortest", "m"),
    "longest": ("the metres of the robot that walks most", "shortest", "m"),
}
"""Words for what a plan is measured by, for little of it, and the unit."""


class _Worth(NamedTuple):
    """A way, and what the plan so far comes to with it."""

    value: float
    makespan_s: float
    way: Way


@dataclass(frozen=True)
class WayOffer:
    """What a model is offered to do the next errand by.

    Attributes:
        task: the team and its errands.
        picked: the ways of the errands before.
        choices: whether the ways are ranked, or some drawn blindly.
        seed: draws and orders a blind list.
        refused: what is not offered again, as :meth:`key` has it.
    """

    task: TeamTask
    picked: tuple[Way, ...]
    choices: Literal["ranked", "blind"]
    seed: int
    refused: tuple[str, ...] = ()

    @property
    def numbered(self) -> bool:
        """Whether a way is answered by its number."""
        return self.choices == "ranked"

    @cached_property
    def errand(self) -> Mapping[str, str]:
        """The errand: ``object`` and ``to``."""
        told: Mapping[str, str] = self.task.told()["errands"][len(self.picked)]
        return told

    @cached_property
    def ways(self) -> dict[str, _Worth]:
        """The ways, by number or in words."""
        there = [each for each in self._all() if self.key(each.way) not in self.refused]
        if self.numbered:
            ranked = sorted(there, key=lambda each: each[:2])[:MOST_WAYS]
            return {str(number): each for number, each in enumerate(ranked, 1)}
        dice = random.Random(f"{self.seed}:{len(self.picked)}")
        return {str(each.way): each for each in dice.sample(there, min(MOST_WAYS, len(there)))}

    def key(self, way: Way) -> str:
        """A way after those that were picked, to know it again by."""
        return json.dumps([*self.picked, way])

    def _all(self) -> Iterator[_Worth]:
        """Each robot alone, each two over their best handoff, or over one drawn blindly."""
        names = [robot.name for robot in self.task.robots]
        dice = random.Random(f"{self.seed}:{len(self.picked)}:handoffs")
        for name in names:
            yield from self._worth(Way((name,)))
        for pair in permutations(names, 2):
            over = [*self._places]
            if not self.numbered:
                dice.shuffle(over)
            worth = (each for place in over for each in self._worth(Way(pair, place)))
            found = min(worth, default=None) if self.numbered else next(worth, None)
            if found is not None:
                yield found

    @cached_property
    def _so_far(self) -> TeamTask:
        """The errands up to this one; that robot_1 has to carry something is asked of the last."""
        many, task = len(self.picked) + 1, self.task
        last = many == len(task.errands)
        by = "metres" if task.by == "alpha" and not last else task.by
        return replace(task, errands=task.errands[:many], by=by)

    @cached_property
    def _places(self) -> list[str]:
        ends = {self.errand["object"], self.errand["to"]}
        found = (self.task.name_of(x.node.removeprefix("item ")) for x in self._so_far.handoffs[-1])
        return [name for name in dict.fromkeys(found) if name not in ends]

    def _worth(self, way: Way) -> Iterator[_Worth]:
        """What the plan so far comes to; nothing where it cannot be done."""
        told = self.task.told()["errands"][: len(self.picked) + 1]
        found = check_team_plan(self._so_far, legs_of(told, [*self.picked, way]))
        if found["valid"]:
            alpha = self.task.by == "alpha"
            value = found["metres"][self.task.robots[0].name] if alpha else found["value"]
            yield _Worth(value, found["makespan_s"], way)

    def schema(self, *, constrain: bool) -> dict[str, Any]:
        """The schema of the answer: a number, or a way in words."""
        if self.numbered:
            held: dict[str, Any] = {"enum": [*map(int, self.ways)]} if constrain else {}
            return {"title": "team_choice", **closed_object({"way": {"type": "integer", **held}})}
        return {
            "title": "team_choice",
            **closed_object({"way": choice_field([*self.ways], constrain)}),
        }


def way_question(offer: WayOffer, *, constrain: bool) -> tuple[Rendered, dict[str, Any]]:
    """The question of the next errand, by itself, and the schema of its answer."""
    measure, least, unit = _MEASURES[offer.task.by]
    rendered = load_prompt(PROMPT).render(
        object=offer.errand["object"],
        end=offer.errand["to"],
        numbered=offer.numbered,
        ways="\n".join(f"{way}: {each.value:.1f} {unit}" for way, each in offer.ways.items()),
        measure=f"{measure} then",
        least=least,
    )
    return rendered, offer.schema(constrain=constrain)


def picked_ways(state: Mapping[str, Any]) -> tuple[Way, ...]:
    """The ways that were chosen so far."""
    return tuple(Way(tuple(robots), over) for robots, over in state.get("picked", []))


def chosen_way(
    answer: Mapping[str, Any], state: Mapping[str, Any], offer: WayOffer, limits: TurnLimits
) -> tuple[list[dict[str, str]] | None, Update]:
    """The legs, once each errand has its way; else what is asked next, or why not this way."""
    named = str(answer.get("way")).strip()[:_LONGEST]
    if named not in offer.ways:
        fault = f"There is no way {quoted(named)}. Answer with one of: {listed([*offer.ways])}."
        return None, sent_back(state, [Violation("way_not_there", fault)], limits)
    way = offer.ways[named].way
    ways = (*offer.picked, way)
    errands = offer.task.told()["errands"]
    if len(ways) == len(errands):
        return legs_of(errands, ways), {}
    after = replace(offer, picked=ways)
    if after.ways:
        return None, {"settled": len(said(state)), "picked": [[way.robots, way.over]]}
    fault = f"After that nobody can bring the {after.errand['object']} to the {after.errand['to']}."
    left = replace(offer, refused=(*offer.refused, offer.key(way)))
    if not left.ways:
        return None, given_up("no_way_on", fault)
    back = sent_back(state, [Violation("no_way_on", f"{fault} Choose another way.")], limits)
    return None, {**back, "refused": [offer.key(way)]}
