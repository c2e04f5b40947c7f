"""Measure how often the estimate for links agrees with driving, body by body.

    python -m worlds.tests.motion.agree home:0-14

Results of homes that were driven before are read from the cache.
"""

from __future__ import annotations

import argparse
from collections import Counter

from navloom.scenes import load_scene
from navloom.scenes.bodies import builtin_bodies
from navloom.scenes.passability import link_faults
from navloom.scenes.scene_uri import list_scenes
from navloom_worlds.motion.link_driving import driven_ground_truth


def counted(spec: str) -> Counter[tuple[str, bool, str]]:
    """Count links by body, estimate and result of driving."""
    found: Counter[tuple[str, bool, str]] = Counter()
    for uri in list_scenes(spec):
        scene = load_scene(uri)
        for body, driven in driven_ground_truth(scene, builtin_bodies()).links:
            found[body.name, not link_faults(scene.links[driven.link], body), driven.result] += 1
        print(f"{uri}: done", flush=True)
    return found


def table(found: Counter[tuple[str, bool, str]]) -> str:
    """Format the counts in Markdown: links that are open by the estimate, and the others."""
    lines = [
        "| body | open by estimate: passed | blocked by estimate: not passed | gave up |",
        "| --- | ---: | ---: | ---: |",
    ]
    bodies = dict.fromkeys(body for body, _, _ in found)
    for names, label in [*(([body], body) for body in bodies), (list(bodies), "all")]:
        mine = {
            (open_, result): sum(found[body, open_, result] for body in names)
            for open_ in (True, False)
            for result in ("passed", "blocked", "gave up")
        }
        opened = [mine[True, "passed"], mine[True, "passed"] + mine[True, "blocked"]]
        closed = [mine[False, "blocked"], mine[False, "passed"] + mine[False, "blocked"]]
        said = [f"{one} of {of} ({one / max(of, 1):.1%})" for one, of in (opened, closed)]
        gave_up = mine[True, "gave up"] + mine[False, "gave up"]
        lines.append(f"| {label} | {said[0]} | {said[1]} | {gave_up} |")
    return "\n".join(lines)


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("spec")
    print(table(counted(given.parse_args().spec)))
