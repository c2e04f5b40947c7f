"""Rule-based baseline policies for team plans, and for plans built choice by choice.

No language model is used, and both baselines know only the messages. The heuristic counts links. It
enumerates the assignments of each object to one robot, or to two with a handoff, and tries the plan
that ends soonest by links and speeds. Robots reported as unable to reach a place are left out. The
random baseline samples carriers and handoffs. For small choices the heuristic picks the option with
the lowest value; blind picks and the control are NavCraft's.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from langchain_core.messages import AIMessage

from navloom.graphs.navcraft.baseline import SceneFromPrompt
from navloom.models.builtin import PolicyRequest
from navloom_worlds.teams.revise_route import IN
from navloom_worlds.teams.team_task import Assignment, assigned_legs

_CHECK = "check_team_plan"
_SHOWN = re.compile(r"^(.+): ([0-9.]+) (?:s|m)$", re.MULTILINE)
_FAR = 99
_HANDOFFS, _MOST, _MOST_PLANS = 5, 60, 60_000
"""Most handoffs of each pair, assignments of each errand, and plans enumerated."""


def heuristic_team(request: PolicyRequest) -> AIMessage:
    """Return the baseline's plan that ends soonest by links, of those not refused."""
    if (valid := _valid(request)) is not None:
        return valid
    team, checked = request.json_block("Team:"), request.tool_results(_CHECK)
    home = SceneFromPrompt.read(request.json_block("Scene graph:"))
    refused = [each.args.get("legs") for each in checked]
    # A region that a robot cannot reach from a place it reached, it cannot reach at all.
    cut_off = {
        (each.result["robot"], _region(each.result["place"]))
        for each in checked
        if isinstance(each.result, dict) and "place" in each.result
    }
    tried = len(refused) + sum(isinstance(each, AIMessage) for each in request.messages)
    for number, legs in enumerate(_sought(home, team, cut_off)):
        if legs in refused or (_CHECK not in request.tools and number < tried):
            continue
        return _said(request, legs)
    return request.answer({"legs": None})


def heuristic_choice(request: PolicyRequest) -> AIMessage:
    """Return the baseline's small choice: the option with the lowest value, the first of ties."""
    way, _ = min(_SHOWN.findall(request.first_human), key=lambda shown: float(shown[1]))
    return request.answer({"way": int(way) if way.isdigit() else way})


def random_team(request: PolicyRequest) -> AIMessage:
    """Return a baseline plan with carriers and handoffs sampled at random."""
    if (valid := _valid(request)) is not None:
        return valid
    team = request.json_block("Team:")
    # One seed a turn: a turn repeated after a crash repeats its choice.
    dice = random.Random(f"{request.seed}:{len(request.messages)}")
    names = [robot["name"] for robot in team["robots"]]
    ways = []
    for _ in team["errands"]:
        alone = len(names) < 2 or not team["handoff places"] or dice.random() < 0.5
        robots = tuple(dice.sample(names, 1 if alone else 2))
        ways.append(Assignment(robots, None if alone else dice.choice(team["handoff places"])))
    return _said(request, assigned_legs(team["errands"], ways))


def _valid(request: PolicyRequest) -> AIMessage | None:
    """Return the last checked plan as the answer, if it is valid."""
    last = next(reversed(request.tool_results(_CHECK)), None)
    if last is None or not isinstance(last.result, dict) or request.rejected:
        return None
    return request.answer({"legs": last.args["legs"]}) if last.result.get("valid") else None


def _said(request: PolicyRequest, legs: list[dict[str, str]]) -> AIMessage:
    if _CHECK in request.tools:
        return request.call(_CHECK, legs=legs)
    return request.answer({"legs": legs})


def _sought(
    home: SceneFromPrompt, team: Mapping[str, Any], cut_off: set[tuple[str, str]]
) -> Iterator[list[dict[str, str]]]:
    """Yield plans in the order in which they end, by links and speeds."""
    hops = {region: home.hops(region) for region in home.regions}
    robots = {each["name"]: each for each in team["robots"]}

    def links(a: str, b: str) -> int:
        return hops.get(_region(a), {}).get(_region(b), _FAR)

    def ends(ways: Sequence[Assignment]) -> tuple[float, float]:
        """Return when all errands are done, and the links travelled in all."""
        at = {name: str(each["starts in"]) for name, each in robots.items()}
        free, lies = dict.fromkeys(robots, 0.0), dict[str, float]()
        walked = 0.0
        for leg in assigned_legs(team["errands"], ways):
            name, thing = leg["robot"], leg["object"]
            come, on = links(at[name], leg["from"]), links(leg["from"], leg["to"])
            speed = float(robots[name]["metres a second"])
            takes = max(free[name] + come / speed, lies.get(thing, 0.0))
            free[name] = lies[thing] = takes + on / speed
            at[name] = leg["to"]
            walked += come + on
        return max(lies.values()), walked

    options = []
    for errand in team["errands"]:
        found = [Assignment((name,), None) for name in robots]
        for pair in product(robots, repeat=2):
            if pair[0] != pair[1]:
                there = sorted(
                    (
                        links(errand["object"], each) + links(each, errand["to"]),
                        links(str(robots[pair[1]]["starts in"]), each),
                        each,
                    )
                    for each in team["handoff places"]
                    if _region(each) != _region(errand["object"])
                )
                found += [Assignment(pair, each) for *_, each in there[:_HANDOFFS]]
        open_to = [
            way
            for way in found
            if not any(
                (leg["robot"], _region(leg[end])) in cut_off
                for leg in assigned_legs([errand], [way])
                for end in ("from", "to")
            )
        ]
        alone = {way: _alone(errand, way, robots, links) for way in open_to}
        options.append(sorted(open_to, key=lambda way: (alone[way], open_to.index(way)))[:_MOST])
    while math.prod(map(len, options)) > _MOST_PLANS:
        max(options, key=len).pop()
    plans = sorted((ends(ways), number, ways) for number, ways in enumerate(product(*options)))
    for _, _, ways in plans:
        yield assigned_legs(team["errands"], ways)


def _alone(
    errand: Mapping[str, str], way: Assignment, robots: Mapping[str, Any], links: Any
) -> float:
    """Return when one errand ends if its robots do nothing else."""
    lies = 0.0
    for leg in assigned_legs([errand], [way]):
        robot = robots[leg["robot"]]
        come = links(str(robot["starts in"]), leg["from"])
        speed = float(robot["metres a second"])
        lies = max(lies, come / speed) + links(leg["from"], leg["to"]) / speed
    return lies


def _region(place: str) -> str:
    return place.rpartition(IN)[2]
