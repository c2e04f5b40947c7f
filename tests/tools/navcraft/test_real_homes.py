"""The tools on real homes, against plain networkx."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import pytest

from benchmarks.reference import Collab
from navloom.scenes.scene_uri import iter_scenes, load_scene
from navloom.tools.navcraft.relay import check_collab_path_efficient
from navloom.tools.navcraft.relay_optimum import all_relays
from navloom.tools.navcraft.relay_schedule import schedule_relay
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.task_paths import admissible_triples, check_path_and_adjacency
from tests.tools.navcraft.test_relay_optimum import bounded_by_one_robot
from tests.tools.navcraft.worlds import near

pytestmark = [pytest.mark.realdata, pytest.mark.slow]
TASKS, RELAYS = 4, 6


def test_every_pair_of_rooms_of_every_home(data_dir: Path) -> None:
    """HM3D homes; 16 of the 35 are in parts."""
    in_parts = 0
    for scene in iter_scenes(f"hm3d:{data_dir}/hm3d"):
        graph = scene.region_graph()
        in_parts += not nx.is_connected(graph)
        hops = dict(nx.all_pairs_shortest_path_length(graph))
        for a in graph:
            for b in graph:
                answer = check_path_and_adjacency(scene, a, b)
                assert answer["connect"] is (b in hops[a])
                assert answer["path_length"] == hops[a].get(b, 0)
                assert answer["adjacency"] is graph.has_edge(a, b)
    assert in_parts == 16


@pytest.mark.parametrize(
    "uri",
    [
        "hm3d:{}/hm3d/00009-vLpv2VX547B",
        "hm3d:{}/hm3d/00033-oPj9qMxrDEa",
        "mp3d:{}/mp3d/B6ByNegPMKs",
    ],
)
def test_relays_of_real_homes(data_dir: Path, uri: str) -> None:
    scene = load_scene(uri.format(data_dir))
    draw = random.Random(7)
    checked = 0
    for start, target, end in draw.sample(list(admissible_triples(scene)), k=TASKS):
        thing = draw.choice(scene.items_in(target, "object")).name
        asset = draw.choice(scene.items_in(end, "asset")).name
        task = RelayTask(scene, start, target, thing, end, asset)
        reference = Collab(scene, start, task.object_item, task.end_item)
        assert task.solo_metres == near(reference.solo)
        relays = all_relays(task)
        bounded_by_one_robot(relays)
        for row in draw.sample(range(len(relays)), k=min(RELAYS, len(relays))):
            relay = relays.relay(row)
            names = (relay.robot_2_start_region, relay.transfer_region, relay.transfer_asset)
            ours = check_collab_path_efficient(task, *names, relay.collab_type)
            item = scene.item_by_id[relay.transfer_asset_id]
            theirs = reference.check(names[0], item, relay.collab_type)
            assert {key: ours[key] for key in theirs} == near(theirs)
            schedule = schedule_relay(task, *names, relay.collab_type)
            assert schedule.makespan_s == near(relay.makespan_s)
            checked += 1
    assert checked > TASKS
