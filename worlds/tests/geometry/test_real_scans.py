"""Real scans: the frames agree with what others measured in them, and every place has words."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import turn_between
from navloom.scenes.formats.mp3d_observations import read_observations
from navloom.sim import Hop, Pose, get_simulator
from navloom.sim.captions import MatterportCaptions, captions_for
from navloom.sim.conformance import run_suite
from navloom.sim.graph import candidates_of

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def unseen(data: Path) -> list[str]:
    return sorted({path["scan"] for path in read(data / "mp3d/r2r/R2R_val_unseen.json")})


def on(viewpoint: str) -> tuple[Pose, Any]:
    return Pose((0, 0, 0), viewpoint=viewpoint), DEFAULT_BODY


def test_every_place_of_the_val_unseen_scans_has_words(data_dir: Path) -> None:
    scans = unseen(data_dir)
    assert len(scans) == 11
    for scan in scans:
        uri = f"mp3d:{data_dir}/mp3d/{scan}"
        scene = load_scene(uri)
        assert isinstance(captions_for(scene), MatterportCaptions)
        simulator = get_simulator("graph", uri)
        for viewpoint in scene.viewpoint_by_id:
            seen = simulator.reset({"a": on(viewpoint)})["a"]
            assert seen.captions is not None
            assert seen.captions.summary[0].isupper()
            assert all(len(text) > 20 for text in seen.captions.sectors)
            assert len(seen.captions.sectors) == 8
            assert all(way.description for way in seen.candidates)


def test_hops_along_every_edge_are_what_the_observations_say(data_dir: Path) -> None:
    """``navigable`` was written by another simulator: heading, elevation, metres of each hop."""
    scan = "EU6Fwq7SyZv"
    simulator = get_simulator("graph", f"mp3d:{data_dir}/mp3d/{scan}")
    navigable = read(data_dir / f"mp3d/observations/navigable/{scan}.json")
    hops = 0
    for viewpoint, neighbours in navigable.items():
        here = simulator.reset({"a": on(viewpoint)})["a"]
        assert {way.viewpoint for way in here.candidates} == set(neighbours)
        distance = {way.viewpoint: way.distance for way in here.candidates}
        for neighbour, theirs in neighbours.items():
            simulator.reset({"a": on(viewpoint)})
            pose = simulator.step({"a": Hop(neighbour)})["a"].pose
            assert abs(turn_between(pose.heading, theirs["heading"])) < 1e-4
            assert pose.elevation == pytest.approx(theirs["elevation"], abs=1e-4)
            assert distance[neighbour] == pytest.approx(theirs["distance"], abs=1e-4)
            hops += 1
    assert hops == 2 * len(simulator.scene.edges)


def test_the_candidates_of_all_scans_are_what_the_observations_say(data_dir: Path) -> None:
    pairs = 0
    for path in sorted((data_dir / "mp3d/observations/navigable").glob("*.json")):
        ways = candidates_of(load_scene(f"mp3d:{data_dir}/mp3d/{path.stem}"))
        for viewpoint, neighbours in read(path).items():
            assert {way.viewpoint for way in ways[viewpoint]} == set(neighbours)
            for way in ways[viewpoint]:
                theirs = neighbours[way.viewpoint]
                assert abs(turn_between(way.heading, theirs["heading"])) < 1e-4
                assert abs(way.elevation - theirs["elevation"]) < 1e-4
                assert abs(way.distance - theirs["distance"]) < 1e-4
                pairs += 1
    assert pairs == 10_274


def boxed(data: Path, scan: str) -> Iterator[tuple[str, str, float]]:
    """Viewpoint, name and heading in degrees of what REVERIE's boxes show once and whole.

    A box lies in the view ``visible_pos`` of 36: twelve headings 30 degrees apart, the level ones
    being 12 to 23; 640 x 480 pixels, 60 degrees high.
    """
    focal = 240 / math.tan(math.radians(30))
    for viewpoint, objects in read(data / f"mp3d/reverie/BBox/{scan}.json").items():
        count = Counter(each["name"] for each in objects.values())
        for each in objects.values():
            east = north = 0.0
            for view, (x, _, width, _) in zip(each["visible_pos"], each["bbox2d"], strict=True):
                if 12 <= view < 24 and x > 2 and x + width < 638:
                    turn = math.atan((x + width / 2 - 320) / focal)
                    angle = math.radians(view % 12 * 30) + turn
                    east, north = east + width * math.sin(angle), north + width * math.cos(angle)
            if (east or north) and count[each["name"]] == 1:
                name = each["name"].replace("#", " ")
                yield viewpoint, name, math.degrees(math.atan2(east, north))


def test_caption_k_is_centred_on_k_times_45_degrees(data_dir: Path) -> None:
    """What a caption names lies where REVERIE's boxes have it; a mirrored order would not fit."""
    fits = {1: (0.0, 0.0, 0), -1: (0.0, 0.0, 0)}
    for path in sorted((data_dir / "mp3d/reverie/BBox").glob("*.json")):
        scene = load_scene(f"mp3d:{data_dir}/mp3d/{path.stem}")
        seen = read_observations(data_dir / "mp3d", path.stem, scene.viewpoint_by_id)
        for viewpoint, name, heading in boxed(data_dir, path.stem):
            if viewpoint not in seen:
                continue
            word = re.compile(rf"\b{re.escape(name)}s?\b")
            told = [k for k, s in enumerate(seen[viewpoint].sectors) if word.search(s.lower())]
            if len(told) in (1, 2):
                for sign, (east, north, count) in fits.items():
                    off = [math.radians(sign * 45 * k - heading) for k in told]
                    fits[sign] = (
                        east + sum(map(math.sin, off)) / len(off),
                        north + sum(map(math.cos, off)) / len(off),
                        count + 1,
                    )
    east, north, count = fits[1]
    assert count > 400
    assert abs(math.degrees(math.atan2(east, north))) < 3
    assert math.hypot(east, north) / count > 0.7
    assert math.hypot(*fits[-1][:2]) / count < 0.1


@pytest.mark.parametrize("uri", ["mp3d:2azQ1b91cZZ", "mp3d:gZ6f7yhEvPG", "hm3d:00009-vLpv2VX547B"])
def test_the_suite_passes_in_real_homes(data_dir: Path, uri: str) -> None:
    kind, _, name = uri.partition(":")
    scene = load_scene(f"{kind}:{data_dir}/{kind}/{name}")
    results = run_suite(lambda each: get_simulator("graph", each), scene)
    assert [str(result) for result in results if result.status == "failed"] == []


def test_a_disconnected_home_has_no_way_between_its_parts(data_dir: Path) -> None:
    for path in sorted((data_dir / "mp3d/connectivity").glob("*_connectivity.json")):
        uri = f"mp3d:{data_dir}/mp3d/{path.name.removesuffix('_connectivity.json')}"
        scene = load_scene(uri)
        alone = [v for v, ways in candidates_of(scene).items() if not ways]
        if alone:
            simulator = get_simulator("graph", scene)
            assert simulator.reset({"a": on(alone[0])})["a"].candidates == ()
            goals = [v for v in scene.viewpoint_by_id if v != alone[0]]
            assert simulator.geodesic(alone[0], goals, DEFAULT_BODY) is None
            return
    pytest.fail("expected a scan with a viewpoint that no edge leads to")
