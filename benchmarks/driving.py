"""Driving bodies through links: every link of two homes, with every built-in body.

The reference is the promised 15 s of processor time per home, for a home that is loaded but has no
mesh yet. The first home is driven once before, so that one-off costs of a process, such as imports,
are reported separately.
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
    """Time all bodies on all links of each home, without a mesh built beforehand."""
    out = []
    first, _, _ = drive_home(HOMES[0])
    for uri in HOMES:
        seconds, scene, found = drive_home(uri)
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


def drive_home(uri: str) -> tuple[float, Scene, tuple[LinkResult, ...]]:
    """Drive all bodies through all links of a freshly loaded home.

    Returns:
        Processor time in seconds, the scene, and the results.
    """
    scene = load_scene(uri)
    began = time.process_time()
    found = drive_links(scene)
    return time.process_time() - began, scene, found
