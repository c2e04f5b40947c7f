"""Rule-based baselines for two-robot tasks made in one step (CoNavBench A.13.1).

Neither is a language model, and both know only the messages. The heuristic draws errands between
distant rooms and plans the relay by hops, by the constraints of its prompt. The random one draws
every name blindly. Paths have the fewest links. Where there are tools, both call them before they
answer, until the tool finds a relay efficient.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice, product
from typing import NamedTuple

from langchain_core.messages import AIMessage

from navloom.graphs.navcraft.baseline import SceneFromPrompt, turn_rng
from navloom.models.builtin import PolicyRequest
from navloom.tools.navcraft.direct_plan import Variant, direct_answer
from navloom.tools.navcraft.relay import COLLAB_TYPES, RelayChoice, RobotName, roles_of
from navloom.tools.navcraft.relay_task import can_hold, carry_grade
from navloom.tools.navcraft.task_paths import SoloTask

_CHECK = "check_collab_path_efficient"
_ERRANDS, _RELAYS = 60, 400
"""Numbers of errands that are drawn, and of relays planned for each."""
_FAR = 99


class _Task(NamedTuple):
    """An errand and its relay."""

    errand: SoloTask
    relay: RelayChoice


def heuristic_v1(request: PolicyRequest) -> AIMessage:
    """Return a version 1 answer: distant regions, a handoff between, the better robot fetches."""
    return _heuristic(request, "v1")


def heuristic_v2(request: PolicyRequest) -> AIMessage:
    """Return a version 2 answer like `heuristic_v1`, within the constraints on five regions."""
    return _heuristic(request, "v2")


def random_v1(request: PolicyRequest) -> AIMessage:
    """Return a version 1 answer with random names."""
    return _answered(request, "v1", _blind(request, "v1"))


def random_v2(request: PolicyRequest) -> AIMessage:
    """Return a version 2 answer with random names."""
    return _answered(request, "v2", _blind(request, "v2"))


def _heuristic(request: PolicyRequest, variant: Variant) -> AIMessage:
    home = SceneFromPrompt.read(request.json_block("Scene graph:"))
    asked = {tuple(call.args.values()) for call in request.tool_results(_CHECK)}
    for task in islice(_sought(home, turn_rng(request), variant), len(asked) + _ERRANDS):
        if tuple(_arguments(task).values()) not in asked:
            return _answered(request, variant, task)
    return AIMessage("No task of two robots in this home meets the rules.")


def _answered(request: PolicyRequest, variant: Variant, task: _Task | None) -> AIMessage:
    """Return the answer, or the tool call that comes before it."""
    calls = request.tool_results(_CHECK)
    last = calls[-1] if calls and isinstance(calls[-1].result, dict) else None
    if last is not None and last.result.get("efficient") and not request.rejected:
        task = _confirmed(last.args)
    elif _CHECK in request.tools and task is not None:
        return request.call(_CHECK, **_arguments(task))
    if task is None:
        return AIMessage("This home has no object, or nothing to put one on.")
    home = SceneFromPrompt.read(request.json_block("Scene graph:"))
    return request.answer(direct_answer(variant, *task, _paths(home, task)))


def _arguments(task: _Task) -> dict[str, str]:
    names = ("start_region", "target_region", "object", "end_region", "end_asset")
    return {**dict(zip(names, task.errand, strict=True)), **task.relay._asdict()}


def _confirmed(args: dict[str, str]) -> _Task:
    start, target, end = (args[f"{part}_region"] for part in ("start", "target", "end"))
    errand = SoloTask(start, target, args["object"], end, args["end_asset"])
    return _Task(errand, RelayChoice(*(args[name] for name in RelayChoice._fields)))


def _paths(home: SceneFromPrompt, task: _Task) -> dict[RobotName, list[str]]:
    """Return each robot's transitions, via the object or the handoff."""
    errand, relay = task
    fetcher, deliverer = roles_of(relay.collab_type)
    starts = {"robot_1": errand.start, "robot_2": relay.robot_2_start_region}
    there = relay.transfer_region
    to_object, on = home.way(starts[fetcher], errand.target), home.way(errand.target, there)
    come, bring = home.way(starts[deliverer], there), home.way(there, errand.end)
    return {fetcher: [*to_object, *on], deliverer: [*come, *bring]}


def _blind(request: PolicyRequest, variant: Variant) -> _Task | None:
    home, rng = SceneFromPrompt.read(request.json_block("Scene graph:")), turn_rng(request)
    objects = [(r, name) for r in home.regions for name in home.objects.get(r, [])]
    assets = [(r, name) for r in home.regions for name in home.assets.get(r, [])]
    if not objects or not assets:
        return None
    (target, thing), (end, asset) = rng.choice(objects), rng.choice(assets)
    there, handoff = rng.choice(assets)
    kind = rng.choice(COLLAB_TYPES) if variant == "v1" else "Type-A2"
    one, two = rng.choice(home.regions), rng.choice(home.regions)
    return _Task(SoloTask(one, target, thing, end, asset), RelayChoice(two, there, handoff, kind))


def _sought(home: SceneFromPrompt, rng: random.Random, variant: Variant) -> Iterator[_Task]:
    """Yield candidate tasks: for each drawn errand its best relay by hops."""
    hops = {region: home.hops(region) for region in home.regions}
    objects = [(r, name) for r in home.regions for name in home.objects.get(r, [])]
    for _ in range(_ERRANDS if objects else 0):
        target, thing = rng.choices(objects, [carry_grade(name) for _, name in objects])[0]
        ends = [
            (region, asset)
            for region, far in hops[target].items()
            for asset in home.assets.get(region, [])
            if far > 1 and can_hold(asset, thing)
        ]
        if not ends:
            continue
        end, asset = rng.choices(ends, [hops[target][region] ** 2 for region, _ in ends])[0]
        best = _best_relay(home, hops, rng, variant, (target, thing, end, asset))
        if best is not None:
            yield best


def _best_relay(
    home: SceneFromPrompt,
    hops: dict[str, dict[str, int]],
    rng: random.Random,
    variant: Variant,
    what: tuple[str, str, str, str],
) -> _Task | None:
    target, thing, end, asset = what
    regions = rng.sample(home.regions, len(home.regions))
    kinds = COLLAB_TYPES if variant == "v1" else COLLAB_TYPES[1:]
    found: list[tuple[float, int, _Task]] = []
    for there, one, two, kind in product(regions, regions, regions, kinds):
        handoffs = [each for each in home.assets.get(there, []) if can_hold(each, thing)]
        if not handoffs or there in (target, end) or end == one:
            continue
        fetcher, deliverer = (one, two) if kind == "Type-A2" else (two, one)
        if not _fits(hops, (fetcher, target, there, deliverer, end), variant):
            continue
        # Robot_1's hops in the relay, compared with its hops alone.
        alone = hops[one][target] + hops[target][end]
        share = hops[one][target] + hops[target][there]
        if kind == "Type-A1":
            share = hops[one][there] + hops[there][end]
        if hops[one][target] < 2 or share >= alone:
            continue
        relay = RelayChoice(two, there, rng.choice(handoffs), kind)
        task = _Task(SoloTask(one, target, thing, end, asset), relay)
        found.append((share / alone, len(found), task))
        if len(found) >= _RELAYS:
            break
    return min(found)[2] if found else None


def _fits(hops: dict[str, dict[str, int]], places: tuple[str, ...], variant: Variant) -> bool:
    """Check whether the regions of a relay keep the distances that the prompt requires.

    Args:
        hops: hops between regions; unreachable ones are missing.
        places: regions of the fetcher's start, the object, the handoff, the deliverer's start and
            the destination.
        variant: version of the prompt; ``v2`` has more rules on distances.
    """
    a, b, x, y, c = places

    def far(one: str, two: str) -> int:
        return hops[one].get(two, _FAR)

    if far(a, y) < 2 or a in (b, x) or y in (x, c) or far(b, x) == _FAR or far(a, b) == _FAR:
        return False
    if far(y, x) == _FAR:
        return False
    if variant == "v1":
        return True
    apart = far(x, b) != 1 and far(x, c) != 1
    near_b = all(far(a, each) >= far(a, b) for each in (x, y, c))
    near_c = all(far(y, each) >= far(y, c) for each in (x, a, b))
    return apart and near_b and near_c
