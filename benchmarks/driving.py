"""Driving bodies through links: every link of a home, for every body of CapNav.

Reference: the promise, 15 s a home on one core, from a home that is loaded but has no mesh yet.
What a process does once, whatever the home, is told apart: code is imported.
"""

from __future__ import annotations

import time

from benchmarks import Claim
from navloom.scenes.bodies import builtin_bodies
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.motion.link_driving import LinkResult, drive_links

PROMISE_S = 15.0
HOMES = ("home:7", "home:8")


def claims() -> list[Claim]:
    """Time all five bodies at all links of homes, each home once, as for one who asks once."""
    out = []
    first, _, _ = driven(HOMES[0])
    for uri in HOMES:
        seconds, scene, found = driven(uri)
        links = f"{len(scene.links)} links, {len(builtin_bodies())} bodies"
        passed = sum(each.result == "passed" for each in found)
        note = f"{seconds:.1f} s of a processor; {passed} of {len(found)} passed"
        if uri == HOMES[0]:
            note += f"; {max(first - seconds, 0.0):.1f} s more where it is a process's first"
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


def driven(uri: str) -> tuple[float, Scene, tuple[LinkResult, ...]]:
    """Drive all bodies at all links of a home as if for the first time: seconds of a processor."""
    scene = load_scene(uri)
    began = time.process_time()
    found = drive_links(scene)
    return time.process_time() - began, scene, found
