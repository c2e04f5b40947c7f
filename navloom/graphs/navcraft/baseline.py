"""Rule-based baselines for NavCraft: they read the prompt, call the tools, answer in JSON.

None is a language model. For whole answers, the heuristic prefers distant regions, the profile's
interests and destinations where ``tools/navcraft/belongs.yaml`` says an object belongs. The random
one draws names blindly and follows the paper's repair rule. For small choices, the heuristic picks
from the names in the last message, the random one from those the schema allows. All of them know
only the messages.
"""

from __future__ import annotations

import json
import random
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any
from uuid import UUID

from langchain_core.messages import AIMessage

from navloom.errors import ModelError
from navloom.models.builtin import PolicyRequest, ToolResult
from navloom.scenes.lexicon import word_table
from navloom.tools.navcraft.relay import COLLAB_TYPES, RelayAnswer, RelayChoice, relay_answer
from navloom.tools.navcraft.relay_task import can_hold, carry_grade, grade_plausibility
from navloom.tools.navcraft.task_paths import SoloTask, parse_fetch_asset, solo_task_answer

_CHECK_PATHS = "check_two_path_and_adjacency"
_CHECK_RELAY = "check_collab_path_efficient"
_RECOMMEND = "recommend"
_REGIONS = ("start_region", "target_region", "end_region")
_PLAN = re.compile(r"Object: (\S+)\. End asset: (\S+)\.")
_SHARP = 6
"""The power to which plausibility is raised when a place is drawn."""
_DRAWS = 20
"""Most attempts to draw a proposal that was not tried before."""
_LEAST = re.compile(r"at least (\d+) links apart")
Triple = tuple[str, str, str]
_THING = re.compile(r"[a-z0-9_]+ in [A-Z]\w*_\w+")
_ROOM = re.compile(r"\b[A-Z]\w*_\w+")
_TYPE = re.compile(r"Type-A[12]")
_KIND = re.compile(r"^- ([^:\n]+)", re.MULTILINE)
_PATTERNS = {"object": _THING, "room": _KIND, "end": _THING, "handoff": _THING, "type": _TYPE}
_HELPERS = re.compile(r"^robot_2 may start in: (.+)\.$", re.MULTILINE)
_SHOWN = re.compile(r"^(?P<handoff>.+ in .+) with (?P<type>Type-A[12]):", re.MULTILINE)
_ASKED_TYPE = re.compile(r"^Asked of this relay:.*the type is (Type-A[12])", re.MULTILINE)
_STARTS = re.compile(r"robot_2 could start in: (.+)\.$")
_PLACES = re.compile(r"Handoffs that do: (.+)\.$")
_SOONER = re.compile(r"^Asked of this relay:.*sooner than robot_1 alone", re.MULTILINE)
_NOT_FROM = re.compile(r"^Asked of this relay:.*robot_2 does not start in (\w+)", re.MULTILINE)
_THINGS = word_table("errand_things")


@dataclass(frozen=True)
class SceneFromPrompt:
    """Regions, links and items, parsed from the scene graph in a prompt."""

    links: dict[str, list[str]]
    assets: dict[str, list[str]] = field(default_factory=dict)
    objects: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, graph: dict[str, Any]) -> SceneFromPrompt:
        """Parse the JSON of CoNavBench A.10.1, floor by floor."""
        links: dict[str, list[str]] = {}
        assets: dict[str, list[str]] = {}
        objects: dict[str, list[str]] = {}
        for floor in graph.values():
            for region in floor["region"]:
                links.setdefault(region["id"], [])
            for item in floor["item"]:
                assets[item["region"]] = list(item["asset"])
                objects[item["region"]] = list(item["object"])
        for floor in graph.values():
            for link in floor["link"]:
                a, _, b = link.partition(" <-> ")
                links.setdefault(a, []).append(b)
                links.setdefault(b, []).append(a)
        return cls(links, assets, objects)

    @cached_property
    def regions(self) -> list[str]:
        """All region ids, in the prompt's order."""
        return list(self.links)

    def way(self, start: str, end: str) -> list[str]:
        """Return the transitions of a path with fewest links; none where there is no path."""
        left = self.hops(end)
        here, found = start, list[str]()
        while here != end and here in left:
            there = next(each for each in self.links[here] if left[each] == left[here] - 1)
            found.append(f"{here} -> {there}")
            here = there
        return found

    def hops(self, start: str) -> dict[str, int]:
        """Return the number of links from a region to each region reachable from it."""
        reached, queue = {start: 0}, deque([start])
        while queue:
            here = queue.popleft()
            for there in self.links[here]:
                if there not in reached:
                    reached[there] = reached[here] + 1
                    queue.append(there)
        return reached


def preferred_words(profile: dict[str, Any] | None) -> dict[str, int]:
    """Return weights of the words that a profile prefers: 2 for its own, 1 for related words."""
    if not profile:
        return {}
    text = f"{profile.get('Occupation', '')} {profile.get('Lifestyle Description', '')}"
    words = re.findall(r"[a-z]+", text.casefold())
    liked = {other: 1 for word in words for other in _THINGS.get(word, "").split()}
    return {**liked, **{word.removesuffix("s"): 2 for word in words if len(word) > 3}}


def preference_score(name: str, liked: dict[str, int]) -> int:
    """Return how well an object's name matches the preferred words."""
    return sum(liked.get(word.removesuffix("s"), 0) for word in name.split("_"))


def heuristic_single(request: PolicyRequest) -> AIMessage:
    """Return a ``phase_1`` answer: distant regions (by hops), an end where the object belongs."""
    return _single(request, _far_errand)


def random_single(request: PolicyRequest) -> AIMessage:
    """Return a ``phase_1`` answer with random names, repaired by the paper's rule."""
    return _single(request, _blind_errand)


def _single(request: PolicyRequest, propose: Any) -> AIMessage:
    home = SceneFromPrompt.read(request.json_block("Scene graph:"))
    calls = _answered(request, _CHECK_PATHS)
    plan = _last_plan(request)
    if calls and plan and calls[-1].result.get("valid") and not request.rejected:
        (obj, asset), result = plan, calls[-1].result
        start, target, end = (calls[-1].args[key] for key in _REGIONS)
        path = [*result["start_2_target"]["path"], *result["target_2_end"]["path"]]
        return AIMessage(
            json.dumps(solo_task_answer(SoloTask(start, target, obj, end, asset), path))
        )
    rng = turn_rng(request)
    proposal = propose(request, home, rng, plan)
    if proposal is None:
        return AIMessage("No errand in this home meets the rules.")
    obj, asset, triple = proposal
    if _CHECK_PATHS not in request.tools:
        start, target, end = triple
        path = [*home.way(start, target), *home.way(target, end)]
        return request.answer(solo_task_answer(SoloTask(start, target, obj, end, asset), path))
    return _call(
        rng,
        f"Object: {obj}. End asset: {asset}.",
        _CHECK_PATHS,
        dict(zip(_REGIONS, triple, strict=True)),
    )


def _last_plan(request: PolicyRequest) -> tuple[str, str] | None:
    """Return the object and end asset that the baseline stated with its last tool call."""
    for message in reversed(request.messages):
        if isinstance(message, AIMessage) and message.tool_calls:
            match = _PLAN.search(str(message.content))
            return (match.group(1), match.group(2)) if match else None
    return None


def _answered(request: PolicyRequest, tool: str) -> list[ToolResult]:
    """Return the calls that a tool answered with JSON, without those refused in words."""
    return [call for call in request.tool_results(tool) if isinstance(call.result, dict)]


def turn_rng(request: PolicyRequest) -> random.Random:
    """Return a generator seeded by the turn: a turn repeated after a crash repeats its choice."""
    return random.Random(f"{request.seed}:{len(request.messages)}")


def _choice_rng(request: PolicyRequest) -> random.Random:
    # Separate questions have equal message counts: seed by their text, so that draws differ.
    asked = f"{request.seed}:{len(request.messages)}:{request.job}:{request.human_texts[-1:]}"
    return random.Random(asked)


def _call(rng: random.Random, text: str, name: str, args: dict[str, Any]) -> AIMessage:
    call_id = f"call_{UUID(int=rng.getrandbits(128)).hex[:16]}"
    return AIMessage(text, tool_calls=[{"name": name, "args": args, "id": call_id}])


def _far_errand(
    request: PolicyRequest, home: SceneFromPrompt, rng: random.Random, _: Any
) -> tuple[str, str, Triple] | None:
    asked = _LEAST.search(str(request.messages[0].content))
    least = int(asked.group(1)) if asked else 2
    liked = preferred_words(request.json_block("User profile:"))
    objects = [(r, name) for r in home.regions for name in home.objects.get(r, [])]
    while objects:
        wanted = [carry_grade(n) * (1 + 4 * preference_score(n, liked)) for _, n in objects]
        target, obj = rng.choices(objects, wanted)[0]
        far = {r: h for r, h in home.hops(target).items() if h >= least}
        ends = [(r, a) for r in far for a in home.assets.get(r, []) if can_hold(a, obj)]
        if ends and len(far) > 1:
            end, asset = rng.choices(ends, [far[r] * _suits(obj, a, r) for r, a in ends])[0]
            starts = [r for r in far if r != end]
            start = rng.choices(starts, [far[r] ** 2 for r in starts])[0]
            return obj, asset, (start, target, end)
        objects = [pair for pair in objects if pair[0] != target]
    return None


def _suits(obj: str, asset: str, region: str) -> float:
    """Return how plausible it is to send an object to an asset of a region, sharpened."""
    room = region.rpartition("_")[0].replace("_", " ")
    return grade_plausibility(obj, asset, room).score ** _SHARP


def _blind_errand(
    request: PolicyRequest, home: SceneFromPrompt, rng: random.Random, plan: tuple[str, str] | None
) -> tuple[str, str, Triple] | None:
    calls = _answered(request, _CHECK_PATHS)
    tried = [tuple(call.args.get(key) for key in _REGIONS) for call in calls]
    last = calls[-1] if calls and not request.rejected else None
    # The paper's rule may keep two regions that no third one fits. Then draw all three again.
    for kept in (last, None):
        for _ in range(_DRAWS):
            drawn = _blind_draw(home, rng, kept, plan)
            if drawn is None or drawn[2] not in tried:
                return drawn
    return drawn


def _blind_draw(
    home: SceneFromPrompt, rng: random.Random, last: ToolResult | None, plan: tuple[str, str] | None
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


def heuristic_collab(request: PolicyRequest) -> AIMessage:
    """Return a ``phase_2`` reply: relays ranked by hops over the links, the best checked first.

    A tool that recommends relays is called before, and its recommendation is taken.
    """
    if _RECOMMEND in request.tools and not request.tool_results(_RECOMMEND):
        return _call(turn_rng(request), "What is recommended?", _RECOMMEND, {"k": 3})
    return _collab(request, _near_relay)


def random_collab(request: PolicyRequest) -> AIMessage:
    """Return a ``phase_2`` reply with a random helper, transfer asset and type."""
    return _collab(request, _blind_relay)


def _collab(request: PolicyRequest, propose: Any) -> AIMessage:
    home = SceneFromPrompt.read(request.json_block("Scene graph:"))
    given = request.json_block("Single agent task:")["phase_1"]
    errand = SoloTask(
        given["Single robot start region"]["robot_1"],
        given["Single robot target object region"]["robot_1"],
        given["Target object"],
        given["Single robot end region"]["robot_1"],
        parse_fetch_asset(given["Task instruction"]) or "",
    )
    calls = _answered(request, _CHECK_RELAY)
    if calls and calls[-1].result.get("efficient"):
        return AIMessage(json.dumps(relay_answer(errand, RelayChoice(**calls[-1].args))))
    rng = turn_rng(request)
    tried = {tuple(c.args.get(key) for key in RelayChoice._fields) for c in calls}
    tried |= {tuple(each) for each in _told_before(request)}
    relay = propose(request, home, errand, rng, tried)
    if relay is None:
        return AIMessage('{"phase_2": null}')
    if _CHECK_RELAY not in request.tools:
        return request.answer(relay_answer(errand, relay))
    return _call(rng, "Let me check this relay.", _CHECK_RELAY, relay._asdict())


def _told_before(request: PolicyRequest) -> list[RelayChoice]:
    """Return the relays that were answered before without a tool and rejected."""
    spoken = [m for m in request.messages if isinstance(m, AIMessage) and not m.tool_calls]
    said = (json.loads(str(message.content)) for message in spoken)
    return [RelayAnswer.model_validate(each["phase_2"]).choice for each in said]


def _near_relay(
    request: PolicyRequest,
    home: SceneFromPrompt,
    errand: SoloTask,
    rng: random.Random,
    tried: set[tuple[Any, ...]],
) -> RelayChoice | None:
    wanted, barred = (each.findall(request.first_human) for each in (_ASKED_TYPE, _NOT_FROM))
    if (advised := _recommended(request, rng)) and advised not in tried:
        return advised
    for call in _answered(request, _RECOMMEND):
        for each in call.result.get("recommended", ()):
            relay = RelayChoice(*(each[key] for key in RelayChoice._fields))
            if relay not in tried:
                return relay
    hurry = _SOONER.search(request.first_human)
    start, target, end = errand.start, errand.target, errand.end
    hops = {region: home.hops(region) for region in home.regions}
    to_start, to_target, to_end = hops[start], hops[target], hops[end]
    helpers = [r for r in to_target if to_start.get(r, 99) > 1 and r not in barred]
    places = [r for r in to_target if r != target and r in to_end and r in to_start]
    # Robot_1's path does not depend on robot_2's start.
    calls = _answered(request, _CHECK_RELAY)
    vain = {RelayChoice(**c.args)[1:] for c in calls if c.result.get("r1_efficient") is False}
    ranked = []
    for there, helper, kind in product(places, helpers, wanted or COLLAB_TYPES):
        assets = [a for a in home.assets.get(there, []) if can_hold(a)]
        if not assets or there == end:
            continue
        leg = to_target[there]
        if kind == "Type-A1":
            alone, other = to_start[there] + to_end[there], to_target[helper] + leg
            team = max(other, to_start[there]) + to_end[there]
        else:
            alone, other = to_start[target] + leg, hops[helper][there]
            team = max(alone, other) + to_end[there]
        tie, asset = rng.random(), rng.choice(assets)
        tie, asset = rng.random(), rng.choice(assets)
        in_all = team if hurry else alone + team
        ranked.append((in_all, tie, RelayChoice(helper, there, asset, kind)))
    for _, _, relay in sorted(ranked):
        if relay not in tried and relay[1:] not in vain:
            return relay
    return None


def _recommended(request: PolicyRequest, rng: random.Random) -> RelayChoice | None:
    """Return the tool's recommendation in place of the last relay it was asked about, or None."""
    calls = _answered(request, _CHECK_RELAY)
    if not calls:
        return None
    last, said = RelayChoice(**calls[-1].args), str(calls[-1].result.get("error"))
    if starts := _STARTS.search(said):
        return last._replace(robot_2_start_region=rng.choice(starts.group(1).split(", ")))
    if places := _PLACES.search(said):
        asset, _, region = rng.choice(places.group(1).split(", ")).rpartition(" in ")
        return last._replace(transfer_region=region, transfer_asset=asset)
    return None


def _blind_relay(
    request: PolicyRequest,  # noqa: ARG001  it asks for nothing that a blind draw could heed
    home: SceneFromPrompt,
    errand: SoloTask,
    rng: random.Random,
    tried: set[tuple[Any, ...]],
) -> RelayChoice | None:
    places = [r for r in home.regions if home.assets.get(r) and r != errand.target]
    if not places:
        return None
    for _ in range(_DRAWS):
        there = rng.choice(places)
        kind = rng.choice(COLLAB_TYPES)
        relay = RelayChoice(rng.choice(home.regions), there, rng.choice(home.assets[there]), kind)
        if relay not in tried:
            break
    return relay


def random_choice(request: PolicyRequest) -> AIMessage:
    """Choose any name that the schema allows."""
    return _chosen(request, _choice_rng(request).choice, from_list=False)


def heuristic_choice(request: PolicyRequest) -> AIMessage:
    """Return a random choice from the prompt's list of names, where the prompt has a list."""
    return _chosen(request, _choice_rng(request).choice, from_list=True)


def first_choice(request: PolicyRequest) -> AIMessage:
    """Return the choice of the first name in the list, whatever it is, as a control."""
    return _chosen(request, lambda names: names[0], from_list=True)


def _chosen(
    request: PolicyRequest, pick: Callable[[list[Any]], Any], *, from_list: bool
) -> AIMessage:
    fields = (request.schema or {}).get("properties", {})
    enums: dict[str, list[str]] = {name: held.get("enum", []) for name, held in fields.items()}
    choice: dict[str, str] = {}
    for name, options in enums.items():
        offered = _offered(request, name) if from_list else []
        known = [each for each in offered if each in options]
        if not (known or options):
            raise ModelError("A builtin model chooses from a schema's names: leave --constrain on.")
        choice[name] = pick(known or options)
    if from_list and "handoff" in choice:
        lines = [match.groupdict() for match in _SHOWN.finditer(request.first_human)]
        if shown := [line for line in lines if line["handoff"] in enums["handoff"]]:
            # Handoff and type of a line belong together.
            choice |= pick(shown)
    return request.answer(choice)


def _offered(request: PolicyRequest, name: str) -> list[str]:
    """Return the names that the last message offers for a choice, in order."""
    if name == "robot_2":
        shown = _HELPERS.search(request.first_human)
        text = shown.group(1) if shown else ""
    else:
        text = request.human_texts[-1] if request.human_texts else ""
    return _PATTERNS.get(name, _ROOM).findall(text)
