"""Check that mends are the cheapest: apply and drive every cheaper single change.

    python -m worlds.tests.mend.brute_force 'home:100-119?rooms=5' --minutes 5

For each home and body, one pair of linked rooms that is blocked and mended is checked. The changes
are: doors open, sliding, without sills, with ramps, or wider in steps; removal of every item that
stands on a floor or hangs; and every lift. A cheaper single change is printed, with exit code 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress

from navloom.errors import SceneError
from navloom.scenes import Scene, load_scene
from navloom.scenes.bodies import Embodiment, builtin_bodies
from navloom.scenes.scene_uri import list_scenes
from navloom_worlds.mend.building_changes import max_door_width
from navloom_worlds.mend.home_changes import (
    ChangeCosts,
    HomeChange,
    apply_changes,
    opening_change,
    ramp_change,
    removal_change,
    sill_change,
    sliding_change,
    widening_change,
)
from navloom_worlds.mend.mend_search import find_mend, lift_sites
from navloom_worlds.mend.route_drive import drive_route

_WIDER = 0.05


def singles(
    scene: Scene, body: Embodiment, costs: ChangeCosts, rooms: Collection[str] = ()
) -> Iterator[HomeChange]:
    """Yield every single change of a home, or of some of its rooms."""
    for number, link in enumerate(scene.links):
        if rooms and not {link.a, link.b} & {*rooms}:
            continue
        if link.door not in (None, "open"):
            yield opening_change(scene, number, costs)
        if link.leaf not in (None, "sliding"):
            yield sliding_change(scene, number, costs)
        if link.threshold:
            yield sill_change(scene, number, costs)
        with suppress(SceneError):
            yield ramp_change(scene, number, costs)
        most, width = max_door_width(scene, link), (link.width or 0.0) + _WIDER
        while link.width is not None and width < most:
            yield widening_change(scene, number, width, costs)
            width += _WIDER
    for item in scene.items:
        if item.on is None and item.size is not None and (not rooms or item.region in rooms):
            yield removal_change(scene, item.id, costs)
    for lift, gone, _ in lift_sites(scene, body, costs):
        if not gone:
            yield lift


def cheaper(
    scene: Scene, body: Embodiment, ends: tuple[str, str], most: float, rooms: Collection[str] = ()
) -> tuple[HomeChange | None, int]:
    """Return the cheapest single change below a cost, if any, and the number of tries."""
    every = sorted(singles(scene, body, ChangeCosts(), rooms), key=lambda each: each.cost)
    tried = 0
    for change in every:
        if change.cost > most - 0.01:
            break
        tried += 1
        try:
            if drive_route(apply_changes(scene, [change]), body, *ends).arrived:
                return change, tried
        except SceneError:
            continue
    return None, tried


def main() -> int:
    """Check mends one by one."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("spec")
    said.add_argument("--minutes", type=float, default=1e9, help="of CPU, then stop")
    said.add_argument("--near", action="store_true", help="change the rooms of the way alone")
    asked = said.parse_args()
    todo = [(uri, body) for uri in list_scenes(asked.spec) for body in builtin_bodies()]
    random.Random(6).shuffle(todo)
    mends, drives, beaten = 0, 0, 0
    for uri, body in todo:
        if time.process_time() > 60 * asked.minutes:
            break
        scene = load_scene(uri)
        ends = dict.fromkeys((link.a, link.b) for link in scene.links)
        for pair in ends:
            found = find_mend(scene, body, *pair)
            if not found.proven or found.cost <= ChangeCosts().open:
                continue
            better, tried = cheaper(scene, body, pair, found.cost, found.path if asked.near else ())
            mends, drives, beaten = mends + 1, drives + tried, beaten + (better is not None)
            what = "; ".join(each.words for each in found.changes)
            end = f"BEATEN by {better.words} ({better.cost:,.0f})" if better else "cheapest"
            print(f"{uri} {body.name} {pair}: {what} ({found.cost:,.0f}), {tried}: {end}")
            sys.stdout.flush()
            break
    print(f"{mends} mends, {drives} homes changed and driven, {beaten} beaten by one change")
    return int(beaten > 0)


if __name__ == "__main__":
    sys.exit(main())
