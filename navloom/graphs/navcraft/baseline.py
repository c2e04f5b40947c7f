"""Rule-based baselines for NavCraft: they read the prompt, call the tools, answer in JSON.

Nothing here is a language model. The heuristic looks far and suits the profile; the random one
draws names blindly and follows the paper's repair rule. Both know only what the messages say.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from itertools import product
from typing import Any
from uuid import UUID

from langchain_core.messages import AIMessage

from navloom.graphs.navcraft.home_view import Home, likes, pick_weighted, suits_handoff, taste
from navloom.models.policy import Request, ToolResult

__all__ = ["heuristic_collab", "heuristic_single", "random_collab", "random_single"]

_CHECK_PATHS = "check_two_path_and_adjacency"
_CHECK_RELAY = "check_collab_path_efficient"
_REGIONS = ("start_region", "target_region", "end_region")
_RELAY = ("robot_2_start_region", "transfer_region", "transfer_asset", "collab_type")
_PLAN = re.compile(r"Object: (\S+)\. End asset: (\S+)\.")
_DRAWS = 20
"""How often a draw that was tried before is drawn again."""
_LEAST = re.compile(r"at least (\d+) links apart")
Triple = tuple[str, str, str]


def heuristic_single(request: Request) -> AIMessage:
    """Baseline for ``phase_1``: far regions by breadth-first search, objects to one's taste."""
    return _single(request, _far_errand)


def random_single(request: Request) -> AIMessage:
    """Baseline for ``phase_1``: names drawn at random, repaired by the paper's rule."""
    return _single(request, _blind_errand)


def _single(request: Request, propose: Any) -> AIMessage:
    home = Home.read(request.json_block("Scene graph:"))
    calls = _answered(request, _CHECK_PATHS)
    plan = _last_plan(request)
    if calls and plan and calls[-1].result.get("valid") and not request.rejected:
        return AIMessage(json.dumps(_phase_1(plan, calls[-1].args, calls[-1].result)))
    rng = _rng(request)
    proposal = propose(request, home, rng, plan)
    if proposal is None:
        return AIMessage("No errand in this home meets the rules.")
    obj, asset, triple = proposal
    return _call(
        rng,
        f"Object: {obj}. End asset: {asset}.",
        _CHECK_PATHS,
        dict(zip(_REGIONS, triple, strict=True)),
    )


def _last_plan(request: Request) -> tuple[str, str] | None:
    """What the baseline said it had in mind when it last called the tool."""
    for message in reversed(request.messages):
        if isinstance(message, AIMessage) and message.tool_calls:
            match = _PLAN.search(str(message.content))
            return (match.group(1), match.group(2)) if match else None
    return None


def _answered(request: Request, tool: str) -> list[ToolResult]:
    """The calls that a tool answered with JSON; a refusal in words is not looked at."""
    return [call for call in request.tool_results(tool) if isinstance(call.result, dict)]


def _rng(request: Request) -> random.Random:
    # A seed of its own for each turn: a turn that is repeated after a crash repeats its choice.
    return random.Random(f"{request.seed}:{len(request.messages)}")


def _call(rng: random.Random, text: str, name: str, args: dict[str, Any]) -> AIMessage:
    call_id = f"call_{UUID(int=rng.getrandbits(128)).hex[:16]}"
    return AIMessage(text, tool_calls=[{"name": name, "args": args, "id": call_id}])


def _far_errand(
    request: Request, home: Home, rng: random.Random, _: Any
) -> tuple[str, str, Triple] | None:
    least = _least_hops(request)
    liked = likes(request.json_block("User profile:"))
    objects = [(r, name) for r in home.regions for name in home.objects.get(r, [])]
    while objects:
        target, obj = pick_weighted(rng, objects, [1 + 4 * taste(n, liked) for _, n in objects])
        far = {r: h for r, h in home.hops(target).items() if h >= least}
        ends = [r for r in far if home.assets.get(r)]
        if ends and len(far) > 1:
            end = pick_weighted(rng, ends, [far[r] ** 2 for r in ends])
            starts = [r for r in far if r != end]
            start = pick_weighted(rng, starts, [far[r] ** 2 for r in starts])
            return obj, _place(home.assets[end], rng), (start, target, end)
        objects = [pair for pair in objects if pair[0] != target]
    return None


def _least_hops(request: Request) -> int:
    match = _LEAST.search(str(request.messages[0].content))
    return int(match.group(1)) if match else 2


def _place(assets: Sequence[str], rng: random.Random) -> str:
    return rng.choice([a for a in assets if suits_handoff(a)] or list(assets))


def _blind_errand(
    request: Request, home: Home, rng: random.Random, plan: tuple[str, str] | None
) -> tuple[str, str, Triple] | None:
    calls = _answered(request, _CHECK_PATHS)
    tried = [tuple(call.args.get(key) for key in _REGIONS) for call in calls]
    last = calls[-1] if calls and not request.rejected else None
    # The paper's rule may keep two regions that no third fits: then all three are drawn anew.
    for kept in (last, None):
        for _ in range(_DRAWS):
            drawn = _blind_draw(home, rng, kept, plan)
            if drawn is None or drawn[2] not in tried:
                return drawn
    return drawn


def _blind_draw(
    home: Home, rng: random.Random, last: ToolResult | None, plan: tuple[str, str] | None
) -> tuple[str, str, Triple] | None:
    targets = [r for r in home.regions if home.objects.get(r)]
    ends = [r for r in home.regions if home.assets.get(r)]
    if not targets or not ends:
        return None
    if last is not None and plan is not None and last.result.get("s2t_valid"):
        start, target, obj = last.args["start_region"], last.args["target_region"], plan[0]
        end = rng.choice(ends)
    elif last is not None and plan is not None and last.result.get("t2e_valid"):
        target, end = last.args["target_region"], last.args["end_region"]
        return plan[0], plan[1], (rng.choice(home.regions), target, end)
    else:
        target, obj = rng.choice([(r, n) for r in targets for n in home.objects[r]])
        start, end = rng.choice(home.regions), rng.choice(ends)
    return obj, rng.choice(home.assets[end]), (start, target, end)


def _phase_1(plan: tuple[str, str], args: dict[str, str], result: dict[str, Any]) -> dict[str, Any]:
    obj, asset = plan
    start, target, end = (args[key] for key in _REGIONS)
    path = [*result["start_2_target"]["path"], *result["target_2_end"]["path"]]
    return {
        "phase_1": {
            "Single robot start region": {"robot_1": start},
            "Single robot target object region": {"robot_1": target},
            "Target object": obj,
            "Single robot end region": {"robot_1": end},
            "Single robot travel path": {"robot_1": path},
            "Task instruction": f"Take the {obj} from {target} to the {asset} in {end}.",
        }
    }


def heuristic_collab(request: Request) -> AIMessage:
    """Baseline for ``phase_2``: ranks relays by hops read from the links, asks the best first."""
    return _collab(request, _near_relay)


def random_collab(request: Request) -> AIMessage:
    """Baseline for ``phase_2``: helper, transfer asset and type drawn at random."""
    return _collab(request, _blind_relay)


def _collab(request: Request, propose: Any) -> AIMessage:
    home = Home.read(request.json_block("Scene graph:"))
    errand = request.json_block("Single agent task:")["phase_1"]
    calls = _answered(request, _CHECK_RELAY)
    if calls and calls[-1].result.get("efficient"):
        return AIMessage(json.dumps(_phase_2(errand, calls[-1].args)))
    rng = _rng(request)
    tried = {tuple(c.args.get(key) for key in _RELAY) for c in calls}
    relay = propose(home, errand, rng, tried)
    if relay is None:
        return AIMessage('{"phase_2": null}')
    return _call(
        rng, "Let me check this relay.", _CHECK_RELAY, dict(zip(_RELAY, relay, strict=True))
    )


def _near_relay(
    home: Home, errand: dict[str, Any], rng: random.Random, tried: set[tuple[Any, ...]]
) -> tuple[str, ...] | None:
    start, target, end = _errand_regions(errand)
    hops = {region: home.hops(region) for region in home.regions}
    to_start, to_target, to_end = hops[start], hops[target], hops[end]
    helpers = [r for r in to_target if to_start.get(r, 99) > 1]
    places = [r for r in to_target if r != target and r in to_end and r in to_start]
    ranked = []
    for there, helper, kind in product(places, helpers, ("Type-A1", "Type-A2")):
        assets = [a for a in home.assets.get(there, []) if suits_handoff(a)]
        if not assets or there == end:
            continue
        leg = to_target[there]
        if kind == "Type-A1":
            alone, other = to_start[there] + to_end[there], to_target[helper] + leg
            team = max(other, to_start[there]) + to_end[there]
        else:
            alone, other = to_start[target] + leg, hops[helper][there]
            team = max(alone, other) + to_end[there]
        ranked.append((alone + team, rng.random(), (helper, there, rng.choice(assets), kind)))
    for _, _, relay in sorted(ranked):
        if relay not in tried:
            return relay
    return None


def _blind_relay(
    home: Home, errand: dict[str, Any], rng: random.Random, tried: set[tuple[Any, ...]]
) -> tuple[str, ...] | None:
    target = _errand_regions(errand)[1]
    places = [r for r in home.regions if home.assets.get(r) and r != target]
    if not places:
        return None
    for _ in range(_DRAWS):
        there = rng.choice(places)
        kind = rng.choice(("Type-A1", "Type-A2"))
        relay = (rng.choice(home.regions), there, rng.choice(home.assets[there]), kind)
        if relay not in tried:
            break
    return relay


def _errand_regions(errand: dict[str, Any]) -> Triple:
    return (
        errand["Single robot start region"]["robot_1"],
        errand["Single robot target object region"]["robot_1"],
        errand["Single robot end region"]["robot_1"],
    )


def _phase_2(errand: dict[str, Any], relay: dict[str, str]) -> dict[str, Any]:
    start, target, end = _errand_regions(errand)
    helper, there, asset, kind = (relay[key] for key in _RELAY)
    obj = errand["Target object"]
    end_asset = errand["Task instruction"].rsplit(" to the ", 1)[1].split(" in ", 1)[0]
    fetch = f"Take the {obj} from {target} to the {asset} in {there}."
    deliver = f"Take the {obj} from the {asset} in {there} to the {end_asset} in {end}."

    def at(entity: str, region: str) -> str:
        return f"Move_to('{entity}_{region.rsplit('_', 1)[-1]}')"

    grab, release = f"Grab('{obj}')", f"Release('{obj}')"
    fetching = [at(obj, target), grab, at(asset, there), release]
    delivering = [at(asset, there), grab, at(end_asset, end), release]
    one, two = ("robot_2", "robot_1") if kind == "Type-A1" else ("robot_1", "robot_2")
    return {
        "phase_2": {
            "Collaborative robot start region": {"robot_1": start, "robot_2": helper},
            "Collaborative type": kind,
            "Transfer region": there,
            "Subtask instruction": {one: fetch, two: deliver},
            "Subtask list": {one: fetching, two: delivering},
        }
    }
