"""Driving bodies through links: every link of a home, for every body of CapNav.

Reference: the promise, 5 s a home on one core, from a home that is loaded but has no mesh yet.
"""

from __future__ import annotations

import time

from benchmarks import Claim
from navloom.scenes.bodies import builtin_bodies
from navloom.scenes.traverse.driven import drive_edges
from navloom.scenes.uri import load_scene

PROMISE_S = 5.0
HOMES = ("home:7", "home:8")


def claims() -> list[Claim]:
    """Time all five bodies at all links of homes, each home once, as for one who asks once."""
    out = []
    for uri in HOMES:
        scene = load_scene(uri)
        began = time.process_time()
        found = drive_edges(scene)
        seconds = time.process_time() - began
        links = f"{len(scene.links)} links, {len(builtin_bodies())} bodies"
        passed = sum(each.result == "passed" for each in found)
        note = f"{seconds:.1f} s of a processor; {passed} of {len(found)} passed"
        out.append(
            Claim(
                f"bodies driven through all links of {uri}",
                f"the promise, {PROMISE_S:g} s; {links}, mesh included",
                PROMISE_S / seconds,
                1.0,
                note=note,
            )
        )
    return out
