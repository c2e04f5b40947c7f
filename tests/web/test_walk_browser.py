"""A scripted rater (called so) walks in Chromium; the server is killed half-way and comes back."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from navloom.evals.people.study_folder import (
    WALKS,
    PeopleStudy,
    read_people_study,
    read_rater_tokens,
)
from navloom.evals.run_folder import read_samples
from navloom.evals.tasks.episode import Episode
from navloom.graphs.agent_graph import open_saver
from navloom.graphs.navigation import navigator
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import heading_to, metre_table, turn_between
from navloom.scenes.scene_uri import load_scene
from navloom.sim.agent_handle import AgentHandle
from navloom.sim.protocol import Pose
from navloom.sim.registry import get_simulator
from navloom_worlds.walks.walk_run import create_run
from tests.evals.people.walkers import study
from tests.web.browsing import Watched, browser, needs_browser, page_of

pytestmark = [pytest.mark.browser, needs_browser]


class Server:
    """`navloom view` of a study, as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "navloom", "view", str(self.folder), "--no-open"]
        command += ["--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("the server does not listen")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def link(self, rater: str) -> str:
        return f"http://127.0.0.1:{self.port}/#rater={read_rater_tokens(self.folder)[rater]}"


class Rater:
    """A scripted rater, who knows the shortest way and presses keys."""

    def __init__(self, people: PeopleStudy, server: Server, page: Watched) -> None:
        self.people, self.server, self.watched, self.page = people, server, page, page.page

    def ready(self) -> None:
        """Wait until the walk is seen."""
        self.page.wait_for_function(
            "() => document.querySelector('.walk-veil')?.hidden && "
            "document.querySelector('.walk-view img').src.startsWith('blob:')",
            timeout=120_000,
        )

    def end(self) -> None:
        """Say that it is there, and once more."""
        self.page.locator(".walk-view").focus()
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("text=It ended here", timeout=60_000)

    def next(self) -> None:
        """On to the next."""
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("text=It ended here", state="detached")

    @property
    def steps(self) -> int:
        return int(self.page.inner_text(".walk-status").split(", ")[1].split()[0])

    def hop(self, item: str, most: int = 100) -> None:
        """Hop along the shortest way by the numbers of its circles, from where it stands."""
        episode = Episode.model_validate(self.people.items[item].task["episode"])
        scene = load_scene(episode.scene)
        way = metre_table(scene, "3d").path(episode.start, episode.path[-1]) or []
        walker = AgentHandle(get_simulator("embedded", scene), "eye")
        for here, there in list(pairwise(way))[self.steps :][:most]:
            seen = walker.start(Pose((0.0, 0.0, 0.0), viewpoint=here), 0)
            number = next(k for k, c in enumerate(seen.candidates, 1) if c.viewpoint == there)
            before = self.steps
            self.page.locator(".walk-view").focus()
            self.page.keyboard.press(str(number))
            self.page.wait_for_function(
                "said => document.querySelector('.walk-status').innerText.includes(said)",
                arg=f", {before + 1} step",
                timeout=30_000,
            )

    def drive(self, item: str, most: int = 1_000) -> None:
        """Drive along the shortest way on foot, by turns and straight stretches."""
        episode = Episode.model_validate(self.people.items[item].task["episode"])
        scene = load_scene(episode.scene)
        simulator: Any = get_simulator("embedded", scene, physics="slide")
        self.page.locator(".walk-view").focus()
        for _ in range(most):
            x, y, z, heading = self.pose(episode.id)
            way = simulator.floor_path(
                Pose((x, y, z), heading), [episode.path[-1]], DEFAULT_BODY
            ).points
            ahead = [p for p in way[1:] if math.hypot(p[0] - x, p[2] - z) > 0.15]
            if not ahead:
                return
            turn = turn_between(heading, heading_to((x, y, z), ahead[0]))
            metres = math.hypot(ahead[0][0] - x, ahead[0][2] - z)
            if abs(turn) > 0.1:
                self.hold("d" if turn > 0 else "a", abs(turn) / DEFAULT_BODY.turn_speed)
            else:
                self.hold("w", min(metres, 3.0) / DEFAULT_BODY.speed)

    def hold(self, key: str, seconds: float) -> None:
        self.page.keyboard.down(key)
        time.sleep(max(seconds - 0.03, 0.01))
        self.page.keyboard.up(key)
        # A step of the graph is half a second: then the last pose is on the disk.
        time.sleep(0.7)

    def pose(self, name: str) -> tuple[float, float, float, float]:
        """Where the body is, by the server's checkpoints: the page knows no place."""

        async def read() -> list[float]:
            path = self.people.path / WALKS / "checkpoints.sqlite"
            async with open_saver(path) as saver:
                graph = navigator.build_graph(saver)
                state = await graph.aget_state({"configurable": {"thread_id": name}})
                poses: list[list[float]] = state.values["poses"]
                return poses[-1]

        # Playwright has a loop of its own on this thread.
        with ThreadPoolExecutor(1) as aside:
            _, x, y, z, heading = aside.submit(asyncio.run, read()).result()
        return x, y, z, heading


@contextmanager
def rating(people: PeopleStudy, width: int = 1280) -> Iterator[Rater]:
    """A rater who has agreed, and is through the practice."""
    create_run(people)
    server = Server(people.path)
    try:
        with (
            browser() as opened,
            page_of(opened, f"http://127.0.0.1:{server.port}", width=width) as page,
        ):
            page.page.goto(server.link(people.raters[0]))
            page.page.click("text=I agree, begin")
            rater = Rater(people, server, page)
            page.page.wait_for_selector("text=practice, not counted")
            rater.ready()
            yield rater
    finally:
        server.kill()


def practised(rater: Rater) -> None:
    rater.page.locator(".walk-view").focus()
    rater.page.keyboard.press("Enter")
    rater.page.keyboard.press("Enter")
    rater.page.wait_for_selector("text=practice, not counted", state="detached", timeout=30_000)
    rater.ready()


def test_a_walk_at_360_pixels_by_keyboard_alone_and_axe_finds_nothing(tmp_path: Path) -> None:
    people = study(tmp_path / "s", "hops", "demo:flat", 1)
    with rating(people, width=360) as rater:
        assert rater.watched.violations() == []
        assert rater.page.evaluate("document.documentElement.scrollWidth") <= 360
        practised(rater)
        for _ in range(3):
            rater.page.keyboard.press("d")
        rater.page.keyboard.press("w")
        rater.page.keyboard.press("Enter")
        assert rater.watched.violations() == []
        rater.page.keyboard.press("Escape")
        rater.end()
        assert rater.watched.violations() == []
        rater.page.keyboard.press("Enter")
        rater.page.wait_for_function("() => location.hash.endsWith('/end')")
        assert rater.watched.wrong == []
    (line,) = read_samples(people.path / WALKS)
    assert line["result"]["end"] == "stop"


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_ten_walks_by_hops_with_a_kill_half_way(tmp_path: Path) -> None:
    people = study(tmp_path / "s", "hops", "home:0-3", 10)
    with rating(people) as rater:
        practised(rater)
        for number, item in enumerate(people.file.raters[0].items):
            rater.ready()
            if number == 5:
                rater.hop(item, most=3)
                rater.server.kill()
                rater.server.start()
                rater.page.reload()
                rater.ready()
                assert rater.steps == 3
            rater.hop(item)
            rater.end()
            rater.next()
    lines = read_samples(people.path / WALKS)
    assert [line["result"]["scores"]["SR"] for line in lines] == [1.0] * 10
    assert all(line["result"]["scores"]["SPL"] == pytest.approx(1) for line in lines)
    said = read_people_study(people.path).counted()["r1"]
    assert len(said) == 10


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_driving_with_a_kill_half_way_keeps_a_pose_every_50_ms(tmp_path: Path) -> None:
    people = study(tmp_path / "s", "continuous", "home:2", 2)
    with rating(people) as rater:
        practised(rater)
        for number, item in enumerate(people.file.raters[0].items):
            rater.ready()
            if number == 1:
                rater.drive(item, most=3)
                before = rater.pose(Episode.model_validate(people.items[item].task["episode"]).id)
                rater.server.kill()
                rater.server.start()
                rater.page.reload()
                rater.ready()
                name = Episode.model_validate(people.items[item].task["episode"]).id
                gone = np.subtract(rater.pose(name), before)
                assert np.abs(gone).max() < 0.05
            rater.drive(item)
            rater.end()
            rater.next()
    for line in read_samples(people.path / WALKS):
        assert line["result"]["scores"]["SR"] == 1
        every = np.diff([pose[0] for pose in line["result"]["poses"]])
        print(line["id"], line["seconds"], len(every), np.percentile(every, [0, 5, 50, 95, 100]))
        assert np.median(every) == pytest.approx(0.05, abs=0.01)
