"""Independent checker of NavCraft tasks: imports the standard library only and follows the paper.

``check(row, scene)`` takes one exported line and the scene as the JSON of a ``scene.json``. It
returns all errors as text. It is written to be readable, not fast.
"""

import itertools
import math
import re

PHASE_1 = {
    "Single robot start region",
    "Single robot target object region",
    "Target object",
    "Single robot end region",
    "Single robot travel path",
    "Task instruction",
}
PHASE_2 = {
    "Collaborative robot start region",
    "Collaborative type",
    "Transfer region",
    "Subtask instruction",
    "Subtask list",
}
NEAR_ENOUGH = 1e-6


def check(row, scene):
    """Return all errors of a row; an empty list if it is correct."""
    try:
        return list(_check(row, scene))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        return [f"the row has not the form of a task: {type(error).__name__} {error}"]


def _check(row, scene):
    if set(row) != {"scene", "profile", "phase_1", "phase_2", "navloom"}:
        yield f"keys of the row are {sorted(row)}"
    if row["scene"] != f"{scene['source']}:{scene['id']}":
        yield f"the scene is {row['scene']}"
    one, two, rest = row["phase_1"], row["phase_2"], row["navloom"]
    if set(one) != PHASE_1:
        yield f"keys of phase_1 are {sorted(one)}"
    wrong = list(check_single(one, rest, scene))
    yield from wrong
    if two is None or wrong:
        if not wrong:
            yield from check_numbers(one, None, rest, scene)
        return
    if set(two) != PHASE_2:
        yield f"keys of phase_2 are {sorted(two)}"
    wrong = list(check_relay(one, two, rest, scene))
    yield from wrong
    if not wrong:
        yield from check_numbers(one, two, rest, scene)


def only_robot_1(value):
    if set(value) != {"robot_1"}:
        raise ValueError(f"{value} is for robot_1 alone")
    return value["robot_1"]


def model_name(name):
    return re.sub(r"[^0-9a-z]+", "_", name.casefold()).strip("_")[:80].strip("_") or "item"


def things(scene, region, kind, name):
    return [
        item
        for item in scene["items"]
        if item["region"] == region and item["kind"] == kind and model_name(item["name"]) == name
    ]


def linked(scene, a, b):
    return any({link["a"], link["b"]} == {a, b} for link in scene["links"])


def hops_from(scene, region):
    """Return the hop distance to every reachable region, by breadth-first search."""
    reached, ring, distance = {region: 0}, {region}, 0
    while ring:
        distance += 1
        ring = {
            there
            for link in scene["links"]
            for here, there in ((link["a"], link["b"]), (link["b"], link["a"]))
            if here in ring and there not in reached
        }
        reached.update(dict.fromkeys(ring, distance))
    return reached


def check_single(one, rest, scene):
    start = only_robot_1(one["Single robot start region"])
    target = only_robot_1(one["Single robot target object region"])
    end = only_robot_1(one["Single robot end region"])
    thing = one["Target object"]
    regions = {region["id"] for region in scene["regions"]}
    for region in (start, target, end):
        if region not in regions:
            yield f"no region {region}"
            return
    if start == end:
        yield "start is end"
    least = max(2, rest.get("tau", 2))
    first = hops_from(scene, start).get(target, -1)
    second = hops_from(scene, target).get(end, -1)
    if first < least or second < least:
        yield f"legs of {first} and {second} hops; {least} are needed"
    if rest.get("legs", [first, second]) != [first, second]:
        yield f"legs are {first} and {second}, not {rest['legs']}"

    steps = [tuple(step.split(" -> ")) for step in only_robot_1(one["Single robot travel path"])]
    stops = [start, *(b for _, b in steps)]
    if [a for a, _ in steps] != stops[:-1]:
        yield "the path is not continuous from the start"
    if not all(linked(scene, a, b) for a, b in steps):
        yield "the path leaves the links"
    if len(steps) != first + second or stops[first] != target or stops[-1] != end:
        yield "the path is not a shortest one over target to end"

    if not things(scene, target, "object", thing):
        yield f"no object {thing} in {target}"
    assets = {
        model_name(i["name"]) for i in scene["items"] if i["region"] == end and i["kind"] == "asset"
    }
    fitting = [
        asset
        for asset in assets
        if one["Task instruction"] == f"Take the {thing} from {target} to the {asset} in {end}."
    ]
    if not fitting:
        yield "the instruction is not the template's, or its asset is not there"
        return
    if rest["end_asset"] != fitting[0]:
        yield "end_asset is not the instruction's"
    for key, region, kind, name in (
        ("object_id", target, "object", thing),
        ("end_asset_id", end, "asset", fitting[0]),
    ):
        if rest[key] not in [item["id"] for item in things(scene, region, kind, name)]:
            yield f"{key} is not a {name} of {region}"


def check_relay(one, two, rest, scene):
    start = one["Single robot start region"]["robot_1"]
    target = one["Single robot target object region"]["robot_1"]
    end = one["Single robot end region"]["robot_1"]
    thing, end_asset = one["Target object"], rest["end_asset"]
    starts, x, asset = (
        two["Collaborative robot start region"],
        two["Transfer region"],
        rest["transfer_asset"],
    )
    helper, kind = starts["robot_2"], two["Collaborative type"]
    if set(starts) != {"robot_1", "robot_2"} or starts["robot_1"] != start:
        yield "robot_1 starts elsewhere"
    if helper == start or linked(scene, helper, start):
        yield "robot_2 starts with or next to robot_1"
    if rest.get("strict_helper") and (linked(scene, helper, target) or linked(scene, helper, x)):
        yield "robot_2 starts next to the target or the transfer region"
    reach = hops_from(scene, helper)
    if target not in reach or x not in reach or x not in hops_from(scene, start):
        yield "somebody cannot get there"
    if x == target:
        yield "the transfer region is the target region"
    if (x, asset) == (end, end_asset):
        yield "the transfer asset is the end asset"
    found = things(scene, x, "asset", asset)
    if not found or rest["transfer_asset_id"] not in [item["id"] for item in found]:
        yield f"no such {asset} in {x}"
        return
    if not usable(scene, next(i for i in found if i["id"] == rest["transfer_asset_id"])):
        yield f"nothing can be put on the {asset} in {x}"

    def go(name, region):
        return f"Move_to('{name}_{region.split('_')[-1]}')"

    fetch = f"Take the {thing} from {target} to the {asset} in {x}."
    deliver = f"Take the {thing} from the {asset} in {x} to the {end_asset} in {end}."
    grab, release = f"Grab('{thing}')", f"Release('{thing}')"
    fetching = [go(thing, target), grab, go(asset, x), release]
    delivering = [go(asset, x), grab, go(end_asset, end), release]
    if kind not in ("Type-A1", "Type-A2"):
        yield f"no type {kind}"
        return
    fetcher, deliverer = ("robot_2", "robot_1") if kind == "Type-A1" else ("robot_1", "robot_2")
    if two["Subtask instruction"] != {fetcher: fetch, deliverer: deliver}:
        yield "the sentences are not the templates'"
    if two["Subtask list"] != {fetcher: fetching, deliverer: delivering}:
        yield "the lists of primitives are not the type's"


def usable(scene, item):
    if item["size"] is None:
        return True
    wide, high, deep = item["size"]
    if min(wide, deep) < 0.3:
        return False
    if not item["height_known"]:
        return True
    floor = next(r["floor"] for r in scene["regions"] if r["id"] == item["region"])
    bottom = next(f["height"] for f in scene["floors"] if f["id"] == floor)
    return 0.25 - 1e-6 <= item["position"][1] + high / 2 - bottom <= 1.4 + 1e-6


class Walk:
    """Shortest distances on G with 2-D lengths, relaxed until nothing gets shorter."""

    def __init__(self, scene):
        self.scene = scene
        self.at = {v["id"]: (v["position"][0], v["position"][2]) for v in scene["viewpoints"]}
        self.near = {v: {} for v in self.at}
        for edge in scene["edges"]:
            length = math.dist(self.at[edge["a"]], self.at[edge["b"]])
            self.near[edge["a"]][edge["b"]] = self.near[edge["b"]][edge["a"]] = length
        self.known = {}

    def _from(self, source):
        if source not in self.known:
            best, changed = {source: 0.0}, {source}
            while changed:
                here = changed.pop()
                for there, length in self.near[here].items():
                    if best[here] + length < best.get(there, math.inf):
                        best[there] = best[here] + length
                        changed.add(there)
            self.known[source] = best
        return self.known[source]

    def metres(self, a, b):
        return a[1] + self._from(a[0]).get(b[0], math.inf) + b[1]

    def _closest(self, point, regions):
        near = [v["id"] for v in self.scene["viewpoints"] if v["region"] in regions]
        ranked = sorted((math.dist(point, self.at[v]), v) for v in near)
        return [(v, d) for d, v in ranked if d <= ranked[0][0] + 1e-9][:4]

    def start(self, region):
        x, _, z = next(r["center"] for r in self.scene["regions"] if r["id"] == region)
        return [(viewpoint, 0.0) for viewpoint, _ in self._closest((x, z), {region})]

    def item(self, item_id):
        item = next(i for i in self.scene["items"] if i["id"] == item_id)
        point = (item["position"][0], item["position"][2])
        floor = {r["id"]: r["floor"] for r in self.scene["regions"]}
        beside = {region for region in floor if floor[region] == floor[item["region"]]}
        # Without a viewpoint in its room it hangs on the nearest of its floor.
        return self._closest(point, {item["region"]}) or self._closest(point, beside)


def check_numbers(one, two, rest, scene):
    """Check that the recorded numbers fit one choice among the viewpoints that tie."""
    walk = Walk(scene)
    start = one["Single robot start region"]["robot_1"]
    places = [walk.start(start), walk.item(rest["object_id"]), walk.item(rest["end_asset_id"])]
    if two is not None:
        places.append(walk.item(rest["transfer_asset_id"]))
        places.append(walk.start(two["Collaborative robot start region"]["robot_2"]))
    results = [list(_compare(walk, choice, two, rest)) for choice in itertools.product(*places)]
    yield from min(results, key=len, default=["a place has no viewpoint"])
    yield from _instances(walk, one, two, rest, scene)
    if two is not None:
        yield from _optimum(walk, one, rest, scene)


def _compare(walk, choice, two, rest):
    s, o, e = choice[:3]
    right = {"solo_metres": walk.metres(s, o) + walk.metres(o, e)}
    if two is not None:
        x, h = choice[3:]
        solo = right["solo_metres"]
        carried, on = walk.metres(o, x), walk.metres(x, e)
        a1 = (walk.metres(s, x) + on) / solo
        a2 = (walk.metres(s, o) + carried) / solo
        if two["Collaborative type"] == "Type-A1":
            alpha = a1
            ready = max(walk.metres(h, o) + carried, walk.metres(s, x))
        else:
            alpha = a2
            ready = max(walk.metres(s, o) + carried, walk.metres(h, x))
        g = (ready + on) / solo
        right |= {"alpha": alpha, "r1_rate": alpha, "g_rate": g}
        right |= {"gain_alpha": 1 - alpha, "gain_g": 1 - g, "alpha_other": a1 + a2 - alpha}
        right["best_alone"] = min(1, (walk.metres(h, o) + walk.metres(o, e)) / solo)
        if g < right["best_alone"] - NEAR_ENOUGH:
            yield f"g_rate {g} is below that of the better placed robot alone"
        if not alpha < 1 or walk.metres(h, o) == math.inf:
            yield f"alpha is {alpha}"
        # Of rates that were rounded to six decimals the quotient is not right to six.
        if not abs(rest["regret_g"] - (g / rest["best_g_rate"] - 1)) <= 3e-6:
            yield f"regret_g is not {rest['regret_g']}"
        right["regret_alpha"] = alpha - rest["best_alpha"]
    for key, value in right.items():
        if not abs(rest[key] - value) <= NEAR_ENOUGH:
            yield f"{key} is {value}, not {rest[key]}"


def _instances(walk, one, two, rest, scene):
    """Check that the recorded instance of a name adds least to the route."""
    start = one["Single robot start region"]["robot_1"]
    target = one["Single robot target object region"]["robot_1"]
    end = one["Single robot end region"]["robot_1"]

    def over(*stops):
        """Return the longest path over the stops; ties of viewpoints are allowed."""
        choices = itertools.product(*stops)
        return max(sum(itertools.starmap(walk.metres, itertools.pairwise(c))) for c in choices)

    routes = [
        over(walk.start(start), walk.item(o["id"]), walk.item(e["id"]))
        for o in things(scene, target, "object", one["Target object"])
        for e in things(scene, end, "asset", rest["end_asset"])
    ]
    if rest["solo_metres"] > min(routes) + NEAR_ENOUGH:
        yield "another instance makes a shorter route"
    if two is None:
        return
    o, e = walk.item(rest["object_id"]), walk.item(rest["end_asset_id"])
    found = things(scene, two["Transfer region"], "asset", rest["transfer_asset"])
    carried = {
        item["id"]: over(o, walk.item(item["id"]), e) for item in found if usable(scene, item)
    }
    mine = carried.get(rest["transfer_asset_id"], math.inf)
    if mine > min(carried.values()) + NEAR_ENOUGH:
        yield "another instance of the transfer asset is nearer"


def _optimum(walk, one, rest, scene):
    """Check the best over every helper start, transfer asset and type that keeps the guards.

    Where viewpoints tie somewhere in the home, the best is known only between two bounds.
    """
    start = one["Single robot start region"]["robot_1"]
    target = one["Single robot target object region"]["robot_1"]
    end = one["Single robot end region"]["robot_1"]
    s, o, e = walk.start(start), walk.item(rest["object_id"]), walk.item(rest["end_asset_id"])
    strict = rest.get("strict_helper")
    floor = [region["id"] for region in scene["regions"]]
    reach_1, reach_2 = hops_from(scene, start), hops_from(scene, target)
    helpers = {
        region: walk.start(region)
        for region in floor
        if region != start
        and not linked(scene, region, start)
        and region in reach_2
        and not (strict and linked(scene, region, target))
    }
    places = {}
    for item in scene["items"]:
        key = item["region"], model_name(item["name"])
        barred = key[0] == target or key == (end, rest["end_asset"])
        if item["kind"] != "asset" or barred or key[0] not in reach_1:
            continue
        if usable(scene, item):
            places.setdefault(key, []).append(walk.item(item["id"]))

    def way(pick, a, b):
        return pick([walk.metres(p, q) for p in a for q in b] or [math.inf])

    bounds = {"best_alpha": [], "best_g_rate": []}
    for pick in (min, max):
        alone = way(pick, s, o)
        solo = way(max if pick is min else min, s, o) + way(max if pick is min else min, o, e)
        alphas, rates = [math.inf], [math.inf]
        for (region, _), spots in places.items():
            x = min(spots, key=lambda spot: way(min, o, spot) + way(min, spot, e))
            come, carried, on = way(pick, s, x), way(pick, o, x), way(pick, x, e)
            for helper, h in helpers.items():
                fetch, meet = way(pick, h, o) + carried, way(pick, h, x)
                if max(fetch, meet, come) == math.inf:
                    continue
                if strict and linked(scene, helper, region):
                    continue
                alphas += [come + on, alone + carried]
                rates += [max(fetch, come) + on, max(alone + carried, meet) + on]
        bounds["best_alpha"].append(min(alphas) / solo)
        bounds["best_g_rate"].append(min(rates) / solo)
    for key, (low, high) in bounds.items():
        if not low - NEAR_ENOUGH <= rest[key] <= high + NEAR_ENOUGH:
            yield f"{key} is {low}, not {rest[key]}"
